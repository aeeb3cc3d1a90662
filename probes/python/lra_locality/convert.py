"""Parquet files as jsonl: ``python -m lra_locality.convert x.parquet x.jsonl`` (needs pyarrow).

Each row becomes one object; a folder gives one file per Parquet file below it.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, List, Sequence, Tuple


def _plain(value: Any) -> Any:
    """A value that JSON does not have: bytes as UTF-8 text, others (dates, decimals) as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def convert(source: str, to: str) -> int:
    """Writes the rows of a Parquet file as jsonl: complete, or not at all.  Returns the number of rows."""
    import pyarrow.parquet as parquet

    temporary = f"{to}.{os.getpid()}.tmp"
    n = 0
    try:
        with open(temporary, "w", encoding="utf-8") as f:
            for batch in parquet.ParquetFile(source).iter_batches():
                for row in batch.to_pylist():
                    f.write(json.dumps(row, default=_plain) + "\n")
                    n += 1
        os.replace(temporary, to)
    finally:
        if os.path.exists(temporary):
            os.unlink(temporary)
    return n


def _pairs(source: Path, to: Path) -> List[Tuple[Path, Path]]:
    if not source.is_dir():
        return [(source, to)]
    to.mkdir(parents=True, exist_ok=True)
    return [(f, to / f"{f.stem}.jsonl") for f in sorted(source.rglob("*.parquet"))]


def main(arguments: Sequence[str]) -> int:
    """The command; returns its exit status."""
    if len(arguments) not in (1, 2) or arguments[0].startswith("-"):
        print("usage: python -m lra_locality.convert FILE.parquet [FILE.jsonl]", file=sys.stderr)
        return 2
    source = Path(arguments[0])
    to = Path(arguments[1]) if len(arguments) > 1 else source.with_suffix("" if source.is_dir() else ".jsonl")
    try:
        pairs = _pairs(source, to)
        if not pairs:
            raise OSError(f"there is no .parquet file below '{source}'")
        for parquet, jsonl in pairs:
            print(f"{jsonl}: {convert(str(parquet), str(jsonl))} rows")
    except ImportError:
        print("convert: Parquet files need pyarrow (pip install pyarrow)", file=sys.stderr)
        return 1
    except (OSError, ValueError) as e:
        print(f"convert: '{source}': {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
