"""Makes lra_locality/reference.json, the reference results of the built-in models, from saved tables 'locality'.

    python3 probes/python/reference.py            from the tables of reports/measured/locality
    python3 probes/python/reference.py NEW.csv    the tables given (lra-report tables --table locality --format csv) replace
                                                  the rows of their task and preset

The table of a task is made by ``tests/bench/locality.sh BUILD OUT TASK``: each model at its quick size, three seeds.
Measurements of an older definition are left out; accuracies stay. ``text-distances.csv`` and ``smnist-distances.csv`` have
distances of today (PROBES=jacobian, JACOBIAN=48 and 32 test examples).
"""

import csv
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MEASURED = HERE.parents[1] / "reports" / "measured" / "locality"
TARGET = HERE / "lra_locality" / "reference.json"
MADE = (
    "lra-probe train --task TASK --preset quick --precision bf16 --model MODEL --seed 0, 1, 2, then lra-probe kernels, "
    "attention and influence (tests/bench/locality.sh BUILD OUT TASK); one processor of an EPYC (Zen 4), level avx512bf16; "
    "95 % intervals over test examples and seeds"
)
IDENTITY = ("model", "task", "preset", "precision", "data", "run", "metric", "mask")
ALWAYS = ("max_length", "seeds", "value", "value_lo", "value_hi", "chance")


def number(text):
    return None if text == "" else float(f"{float(text):.6g}")


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            today = "dist_mean_rel" in row  # distances without the own token
            out = {k: row[k] for k in IDENTITY if k in row}
            for key, text in row.items():
                keep = key in ALWAYS or (
                    today and key not in (*IDENTITY, "decay", "missing", "table", "flags", "label")
                )
                if keep and number(text) is not None:
                    out[key] = number(text)
            out.setdefault("mask", "unknown")
            yield out


def main():
    names = ("listops", "text", "smnist", "smnist-causal", "smnist-attention", "text-distances", "smnist-distances")
    default = [MEASURED / f"{name}.csv" for name in names]  # of a model in two files, the row of the later file counts
    if sys.argv[1:]:
        rows = {key(r): r for r in json.loads(TARGET.read_text(encoding="utf-8"))["tables"][0]["rows"]}
    else:
        rows = {}
    for path in map(Path, sys.argv[1:] or default):
        rows.update({key(r): r for r in rows_of(path)})
    lines = ",\n".join(json.dumps(rows[k], separators=(",", ":")) for k in sorted(rows))
    TARGET.write_text(
        f'{{"schema": 1, "made": {json.dumps(MADE)},\n"tables": [{{"title": "Reference results", "rows": [\n{lines}\n]}}]}}\n',
        encoding="utf-8",
    )
    print(f"wrote {TARGET}: {len(rows)} rows, {TARGET.stat().st_size} bytes")


def key(row):
    return row["task"], row["preset"], row["data"], row["model"]


if __name__ == "__main__":
    main()
