"""The C programs ``lra-probe`` and ``lra-report``: where they are, and how they are run."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import List, NoReturn, Sequence, Tuple

_HERE = Path(__file__).resolve().parent


class ProgramError(RuntimeError):
    """Raised if a program is missing, does not start on this machine, or failed; contains its error message."""


def _folders() -> List[Path]:
    """Folders that may hold the programs, in the order of search."""
    out = []
    if os.environ.get("LRA_BIN"):
        out.append(Path(os.environ["LRA_BIN"]))
        return out  # explicit: no other folder is searched
    out.append(_HERE / "bin")
    checkout = _HERE / "checkout.txt"  # written by pip install of a source checkout
    roots = [Path(checkout.read_text(encoding="utf-8").strip())] if checkout.is_file() else []
    if len(_HERE.parents) > 2 and (_HERE.parents[2] / "bootstrap").is_file():
        roots.append(_HERE.parents[2])
    out += [root / "build" / build for root in roots for build in ("release", "static")]
    return out


def command(name: str = "lra-probe") -> Tuple[str, str]:
    """Path of a program, and the name by which it is called (``argv[0]``).

    Searched: the folder ``LRA_BIN`` if that variable is set, otherwise the folder ``bin`` of the
    package (wheel), then ``build/release`` of the source checkout.  The wheel holds both programs in
    one file, which is lra-report when it is called so.  Raises ProgramError.
    """
    folders = _folders()
    for folder in folders:
        for file in (name, "lra-probe") if folder == _HERE / "bin" else (name,):
            path = folder / file
            if path.is_file() and os.access(path, os.X_OK):
                return str(path), str(path) if file == name else name
    tried = ", ".join(str(f) for f in folders)
    raise ProgramError(
        f"the program '{name}' is in none of these folders: {tried}; install the wheel, build it with "
        "'./bootstrap build', or set LRA_BIN to the folder that holds it"
    )


def explain_exec(path: str, e: OSError) -> ProgramError:
    """The message for a program that the system refuses to start."""
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return ProgramError(
            f"'{path}' is a Linux program for x86_64, this is {sys.platform} on {platform.machine()}; "
            "build the programs here ('./bootstrap build') and set LRA_BIN"
        )
    return ProgramError(f"'{path}' does not start: {e}")


def run(
    arguments: Sequence[str], program: str = "lra-probe", check: bool = True
) -> "subprocess.CompletedProcess[str]":
    """Runs a program to its end; stdout and stderr are text.  Raises ProgramError with its message."""
    path, name = command(program)
    try:
        done = subprocess.run(
            [name, *arguments],
            executable=path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    except OSError as e:
        raise explain_exec(path, e) from e
    if check and done.returncode != 0:
        said = done.stderr.strip() or f"exit status {done.returncode}"
        raise ProgramError(f"{program} {' '.join(arguments)}: {said}")
    return done


def _become(name: str) -> NoReturn:
    path = ""
    try:
        path, called = command(name)
        os.execv(path, [called, *sys.argv[1:]])
    except OSError as e:
        sys.exit(f"{name}: {explain_exec(path, e)}")
    except ProgramError as e:
        sys.exit(f"{name}: {e}")


def probe() -> NoReturn:
    """Console script lra-probe."""
    _become("lra-probe")


def report() -> NoReturn:
    """Console script lra-report."""
    _become("lra-report")
