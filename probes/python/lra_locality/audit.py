"""``audit()``: the C program measures a wrapped model, which stays in this process and answers its requests."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import programs
from ._model import Model
from .check import CheckTable, check as check_model
from .frames import BadRequest, Channel, FrameError
from .results import Figure, Record, Table, embedded, html as write_page, page
from .rows import Rows
from .serve import serve

STOP_SECONDS = 15  # between a signal to the child and SIGKILL


class AuditError(RuntimeError):
    """Raised if the audit is not completed: a check failed, or the program ended with this message."""


class _Child:
    """lra-probe as a child, and the connection to it; its messages are passed on and kept.

    lra-probe starts ``_relay.py`` as the external program, which connects to a socket in a private folder.
    """

    def __init__(self, arguments: Sequence[str], folder: str, quiet: bool) -> None:
        path, name = programs.command("lra-probe")
        self.lines: List[str] = []
        self.output: List[str] = []
        at = os.path.join(folder, "model")
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_relay.py")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(at)
            listener.listen(1)
            try:
                self.process = subprocess.Popen(
                    [name, *arguments, "--", sys.executable, "-I", "-S", relay, at],
                    executable=path,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as e:
                raise programs.explain_exec(path, e) from e
            self._threads = [
                threading.Thread(target=self._read, args=args, daemon=True)
                for args in (
                    (self.process.stderr, self.lines, not quiet),
                    (self.process.stdout, self.output, False),
                )
            ]
            for t in self._threads:
                t.start()
            self.channel: Optional[Channel] = None
            try:
                self.channel = self._accept(listener)
            except BaseException:
                self.stop()
                raise

    def _accept(self, listener: socket.socket) -> Optional[Channel]:
        """The connection; None if the program has ended without connecting to the model."""
        listener.settimeout(0.05)
        while True:
            try:
                return Channel.of_socket(listener.accept()[0])
            except socket.timeout:
                if self.process.poll() is not None:
                    return None

    def _read(self, stream: Any, to: List[str], show: bool) -> None:
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            to.append(line)
            if show:
                print(line, file=sys.stderr)
        stream.close()

    def wait(self) -> int:
        code = self.process.wait()
        for t in self._threads:
            t.join()
        return code

    def stop(self) -> None:
        """Ends the child: sends a signal, after which it saves its results, then SIGKILL; leaves no process."""
        if self.channel is not None:
            self.channel.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.wait()


def _messages(lines: Sequence[str]) -> str:
    text = [line for line in lines if line.startswith("lra-probe:")] or list(lines)[-3:]
    return "\n".join(text)


class Audit:
    """Results of an audit: numbers, tables, figures and files.  ``print(audit)`` shows the table, a notebook the page."""

    def __init__(self, run: str, out: str, checks: Optional[CheckTable], messages: Sequence[str]) -> None:
        self.run, self.out, self.checks, self.messages = run, out, checks, list(messages)

    def table(self, name: str = "influence") -> Table:
        """A table of lra-report about this audit: records(), frame(), markdown(), latex(), csv()."""
        return Table(name, [self.run], self.out)

    def figure(self, name: str = "jacobian") -> Figure:
        """A figure of ``lra-report list`` about this audit, such as "jacobian", "inputs", "erf" (needs gnuplot)."""
        return Figure(name, [self.run], self.out)

    def html(self, path: Union[str, "os.PathLike[str]"] = "report.html", force: bool = False) -> str:
        """Writes one page that needs no other file: verdict, tables, figures, methods and caveats.  Returns its path."""
        return write_page(path, [self.run], self.out, force)

    def _repr_html_(self) -> str:
        return embedded(page([self.run], self.out))

    def records(self) -> List[Record]:
        """One dictionary per measurement: part, layer, head, id, value, lo, hi, unit, null values, examples, flags."""
        return self.table().records()

    def frame(self) -> Any:
        """The same as a pandas DataFrame."""
        return self.table().frame()

    def value(self, part: str, id: str) -> Optional[float]:
        """One measurement of the model as a whole, such as ("jacobian", "dist.mean"); None: not measured."""
        found = next((r for r in self.records() if r["part"] == part and r["id"] == id), None)
        return None if found is None or found["value"] is None else float(found["value"])

    @property
    def verdict(self) -> List[str]:
        return self.table().verdict

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__


def audit(
    m: Model,
    rows: Rows,
    *,
    name: Optional[str] = None,
    parts: Union[None, str, Sequence[str]] = None,
    examples: Optional[int] = None,
    budget: Union[None, str, int] = None,
    seed: Optional[int] = None,
    out: str = "lra-out",
    record: Optional[str] = None,
    check: bool = True,
    options: Sequence[str] = (),
    quiet: bool = False,
) -> Audit:
    """Measures how local a wrapped model is on rows.

    name:     of the model in tables (default: its class).
    parts:    measurements, such as ["keep", "jacobian"]; default: all that the model offers.
    examples: test examples per part.   budget: longest time, such as "10 min", or a number of passes.   seed: number of the model's seed.
    out:      folder of results.        record: file that keeps all requests and answers.
    check:    try the model first, and stop if a failed check makes every number meaningless.
    options:  further options of ``lra-probe audit``.

    The program is a child of this process and is gone when this function returns, also after an exception or
    KeyboardInterrupt; the measurements made until then are kept, and the next call continues.
    """
    checks = check_model(m, rows) if check else None
    if checks is not None and not quiet:
        print(checks, file=sys.stderr)
    if checks is not None and "everything" in checks.disabled:
        failed = [r for r in checks.rows if "everything" in r.disables]
        raise AuditError(
            "; ".join(
                f"check '{r.name}' failed: {r.found} (usually: {r.means}; cure: {r.cure})" for r in failed
            )
        )
    passes = None if budget is None else _passes(budget, checks, m, rows)
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["audit", *_data_options(rows, folder, out), "--name", name or m.name, "--out", out]
        arguments += [] if check else ["--no-check"]
        for option, value in (
            ("parts", parts if parts is None or isinstance(parts, str) else ",".join(parts)),
            ("examples", examples),
            ("budget", passes),
            ("seed", seed),
            ("record", record),
        ):
            if value is not None:
                arguments += [f"--{option}", str(value)]
        lines, output = _converse(m, [*arguments, *options], folder, quiet)
    return Audit(_run_of(output, lines), out, checks, lines)


def _passes(budget: Union[str, int], checks: Optional[CheckTable], m: Model, rows: Rows) -> int:
    """A budget such as "10 min" as a number of examples that the model evaluates in this time."""
    if isinstance(budget, int):
        return budget
    number, _, unit = budget.strip().partition(" ")
    scale = {"s": 1, "sec": 1, "min": 60, "h": 3600}.get(unit.rstrip("s") or "s")
    try:
        seconds = float(number) * (scale or 0)
    except ValueError:
        seconds = 0
    if not seconds > 0:
        raise ValueError(
            f"budget={budget!r}, expected a time such as '30 s', '10 min' or '2 h', or a number of passes"
        )
    rate = (checks or check_model(m, rows)).examples_per_second
    return max(1, int(seconds * rate))


def _data_options(rows: Rows, folder: str, out: str) -> List[str]:
    """Options of lra-probe that name the data: a prepared task, or a file that is written."""
    if rows.task is not None:
        return list(rows.task)
    return rows.save(os.path.join(folder, f"{rows.name}.jsonl"))


def _converse(m: Model, arguments: Sequence[str], folder: str, quiet: bool) -> Tuple[List[str], List[str]]:
    """Runs the program and answers its requests until it ends; its messages and its output."""
    child = _Child(arguments, folder, quiet)
    fault: Optional[BaseException] = None
    try:
        if child.channel is not None:
            serve(m, child.channel)
            child.channel.close()
        code = child.wait()
    except (OSError, FrameError, BadRequest) as e:  # the program ends, and its own message says why
        fault = e
        if child.channel is not None:
            child.channel.close()
        code = child.wait()
    except BaseException:
        child.stop()
        raise
    if code != 0:
        raise AuditError(_messages(child.lines) or f"lra-probe ended with status {code}") from fault
    return child.lines, child.output


def _run_of(output: Sequence[str], lines: Sequence[str]) -> str:
    """The folder of the run, which the program prints."""
    for line in reversed([*lines, *output]):
        for word in line.replace("'", " ").split():
            if "/runs/" in word or word.startswith("runs/"):
                return word.rstrip(".,:;").split("/influence.h5")[0]
    raise AuditError("lra-probe named no folder of results:\n" + "\n".join([*lines, *output][-5:]))


def version() -> Mapping[str, str]:
    """Versions of the package and of the program."""
    from ._version import __version__

    first: Dict[str, str] = {"lra_locality": __version__}
    for line in programs.run(["--version"]).stdout.splitlines():
        key, _, value = line.partition(" ")
        first[key] = value.strip()
    return first
