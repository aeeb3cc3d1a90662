"""Compares audits of served built-in models with their own probes.

    python3 tests/bench/served.py BUILD [MODEL...]     all models take about 80 s

Each model is trained for one epoch on a small ListOps.  ``lra-probe influence`` measures the run; ``lra-probe audit``
measures ``lra-probe serve RUN`` on the same examples.  Prints the largest relative difference of each model over all
measurements of the parts below, |a - b| / (0.001 + |a|), and exits with code 1 if one exceeds 1e-4.
"""

import json
import os
import subprocess
import sys
import tempfile

DATA = ["--task", "listops", "--set", "train=320", "--set", "val=64", "--set", "test=64"]
PARTS = ["--parts", "jacobian,occlusion,keep,order-in,position", "--examples", "16", "--json", "-q"]
DONORS = 64  # rows that exchange tokens: the batch of the runs


def values(document, path=()):
    """All measurements of a JSON document: a dictionary from (unit, id) to the value."""
    found = {}
    if isinstance(document, dict):
        if "id" in document and "value" in document:
            found[path, document.get("part"), document["id"]] = document["value"]
        for key, value in document.items():
            found.update(values(value, path if isinstance(value, list) else path + (key,)))
    elif isinstance(document, list):
        for value in document:
            found.update(values(value, path))
    return found


def difference(a, b):
    """Largest relative difference; infinite if a value exists in one document only."""
    worst = 0.0
    for key in set(a) | set(b):
        x, y = a.get(key, "missing"), b.get(key, "missing")
        if isinstance(x, (int, float)) and isinstance(y, (int, float)):
            worst = max(worst, abs(x - y) / (1e-3 + abs(x)))
        elif x != y:
            return float("inf")
    return worst


def compare(probe, model):
    run = lambda *words: subprocess.run([probe, *words], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as out:
        run("train", "--model", model, *DATA, "--set", "epochs=1", "--precision", "f32", "--out", out, "-q")
        folder = os.path.join(out, "runs", os.listdir(os.path.join(out, "runs"))[0])
        own = run("influence", folder, *PARTS)
        serve = ["--", probe, "serve", folder, "-q"]
        name = ["--name", model, "--no-check", "--donors", str(DONORS), "--out", os.path.join(out, "audit")]
        served = run("audit", *DATA, *name, *PARTS, *serve)
    a, b = values(json.loads(own)), values(json.loads(served))
    return len(a), difference(a, b)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    probe = os.path.join(os.path.abspath(sys.argv[1]), "lra-probe")
    listed = json.loads(subprocess.check_output([probe, "list", "models", "--json"]))["models"]
    worst = 0.0
    for model in sys.argv[2:] or [m["name"] for m in listed]:
        n, largest = compare(probe, model)
        worst = max(worst, largest)
        print(f"{model:20} {n} measurements, largest relative difference {largest:.1e}", flush=True)
    sys.exit(worst > 1e-4)


if __name__ == "__main__":
    main()
