"""Builds the wheel with the standard library alone (PEP 517): no network, no setuptools, no compiler.

As a backend (``pip install ./probes/python``) it packs the Python sources and the path of the checkout,
whose build/release holds the programs.  As a program, ``build_backend.py FOLDER PROGRAM...`` packs the
static programs as well (./bootstrap wheel).
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
NAME = "lra_locality"
CLASSIFIERS = [
    "Intended Audience :: Science/Research",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: Python :: 3",
    "Typing :: Typed",
]


def _version() -> str:
    text = (HERE / NAME / "_version.py").read_text(encoding="utf-8")
    return re.search(r'__version__ = "([^"]+)"', text).group(1)


def _metadata() -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {NAME}",
        f"Version: {_version()}",
        "Summary: How local are long-sequence models and benchmarks: measures any model, from any framework, on any data",
        "License: Apache-2.0 (the programs in the wheel: GPL-3.0-or-later)",
        "Requires-Python: >=3.9",
        "Requires-Dist: numpy",
        *(f"Classifier: {c}" for c in CLASSIFIERS),
        "Description-Content-Type: text/markdown",
        "",
    ]
    return "\n".join(lines) + "\n" + (HERE / "README.md").read_text(encoding="utf-8")


def _tag(platform: str) -> str:
    return f"Wheel-Version: 1.0\nGenerator: {NAME}\nRoot-Is-Purelib: {str(platform == 'any').lower()}\nTag: py3-none-{platform}\n"


SCRIPTS = (
    "[console_scripts]\nlra-probe = lra_locality.programs:probe\nlra-report = lra_locality.programs:report\n"
)


class _Wheel:
    """A wheel under construction: files with fixed times (so that builds are reproducible) and their RECORD."""

    def __init__(self, folder: str, platform: str) -> None:
        self.name = f"{NAME}-{_version()}-py3-none-{platform}.whl"
        self.info = f"{NAME}-{_version()}.dist-info"
        self.path = Path(folder) / self.name
        self.temporary = Path(folder) / (self.name + ".tmp")
        self.zip = zipfile.ZipFile(self.temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=9)
        self.records = []
        self.add(f"{self.info}/METADATA", _metadata().encode())
        self.add(f"{self.info}/WHEEL", _tag(platform).encode())
        self.add(f"{self.info}/entry_points.txt", SCRIPTS.encode())

    def add(self, name: str, data: bytes, mode: int = 0o644) -> None:
        entry = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self.records.append(f"{name},sha256={digest},{len(data)}")

    def close(self) -> str:
        record = f"{self.info}/RECORD"
        self.zip.writestr(
            zipfile.ZipInfo(record, (2020, 1, 1, 0, 0, 0)), "\n".join([*self.records, f"{record},,"]) + "\n"
        )
        self.zip.close()
        os.replace(self.temporary, self.path)
        return self.name


def _sources(wheel: _Wheel) -> None:
    for path in sorted((HERE / NAME).rglob("*")):
        if (
            path.is_file()
            and "__pycache__" not in path.parts
            and path.suffix in (".py", ".typed", ".csv", ".json")
        ):
            wheel.add(path.relative_to(HERE).as_posix(), path.read_bytes())


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 517: Python sources; the programs are those of this checkout, or of LRA_BIN."""
    wheel = _Wheel(wheel_directory, "any")
    _sources(wheel)
    wheel.add(f"{NAME}/checkout.txt", str(HERE.parent.parent).encode())
    return wheel.close()


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """PEP 660: a path file that names this folder."""
    wheel = _Wheel(wheel_directory, "any")
    wheel.add(f"{NAME}.pth", f"{HERE}\n".encode())
    return wheel.close()


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("there is no source package: the wheel is made from a checkout (./bootstrap wheel)")


def main(folder: str, programs: list) -> None:
    """Packs sources and programs: FOLDER/lra_locality-VERSION-py3-none-manylinux_2_17_x86_64.whl."""
    os.makedirs(folder, exist_ok=True)
    wheel = _Wheel(folder, "manylinux_2_17_x86_64")
    _sources(wheel)
    for program in programs:
        wheel.add(f"{NAME}/bin/{os.path.basename(program)}", Path(program).read_bytes(), 0o755)
    print(Path(folder) / wheel.close())


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: build_backend.py FOLDER PROGRAM...")
    main(sys.argv[1], sys.argv[2:])
