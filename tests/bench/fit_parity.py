"""Compares training by ll.fit with training by the C program: built-in models on ListOps quick, in PyTorch as references (tests/parity).

    LRA_BIN=build/release PYTHONPATH=probes/python:tests/python python3 tests/bench/fit_parity.py [OUT [SEEDS]]

Both start from the same initial weights of each seed, in float32.  Prints test accuracies, and the mean difference with its 95 % interval
by Student's t over the paired seeds and by Welch's t over independent seeds.  A repeated call continues an interrupted one.
"""

import json
import os
import sys

import numpy as np

import lra_locality as ll
from lra_locality import programs
from parity_models import Reference

T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306}
OUT, SEEDS = (sys.argv[1] if sys.argv[1:] else "lra-out"), int(sys.argv[2]) if sys.argv[2:] else 5


def value(folder):
    words = ["show", "--json", os.path.join(folder, "result.h5")]
    return json.loads(programs.run(words, "lra-report").stdout)["results"][0]["value"]


def built_in(model, seed):
    words = ["--set", "kernel=7"] if model == "resconv" else []
    words += ["--precision", "f32", "--threads", "1", "--seed", str(seed), "--out", OUT]
    done = programs.run(["train", "--task", "listops", "--model", model, *words])
    line = next(line for line in done.stdout.splitlines() if line.startswith("wrote "))
    return value(os.path.dirname(line.split()[1]))


def fitted(model, seed):
    def build(task, s):
        return Reference(model, s, task.vocab, task.classes, OUT)

    return value(
        ll.fit(build, "listops", seeds=[seed], like=model, name=model, out=OUT, measure=False)[0].folder
    )


def main():
    import torch

    torch.set_num_threads(1)
    os.makedirs(OUT, exist_ok=True)
    for model in ("resconv", "transformer"):
        pairs = np.array([(built_in(model, s), fitted(model, s)) for s in range(SEEDS)]) * 100
        for s, (a, b) in enumerate(pairs):
            print(
                f"{model} seed {s}: C program {a:.2f} %, ll.fit {b:.2f} %, difference {b - a:+.2f}",
                flush=True,
            )
        d = pairs[:, 1] - pairs[:, 0]
        sd = pairs.std(0, ddof=1)
        half = T95[SEEDS - 1] * d.std(ddof=1) / SEEDS**0.5
        welch = T95[min(2 * SEEDS - 2, 8)] * (sd**2 / SEEDS).sum() ** 0.5
        print(
            f"{model}: C program {pairs[:, 0].mean():.2f} % (sd {sd[0]:.2f}), ll.fit {pairs[:, 1].mean():.2f} % (sd {sd[1]:.2f}); "
            f"difference {d.mean():+.2f} ({d.mean() - half:+.2f} to {d.mean() + half:+.2f}, paired; "
            f"{d.mean() - welch:+.2f} to {d.mean() + welch:+.2f}, Welch), {SEEDS} seeds"
        )


main()
