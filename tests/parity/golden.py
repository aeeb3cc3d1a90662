"""Writes tests/golden/parity/MODEL.txt, the results of the references, with which parity_test.c compares without PyTorch.

    golden.py DUMP [MODEL...]     tests/parity/run.sh --golden

For every change, with rows of 37 tokens and in float64: the model's largest gradient; the loss; for the logits and for
the gradient of every parameter the product with a random vector and the largest element, and "zero" if the gradient
consists of rounding errors and zero() names it.  Only the initial weights come from the engine.  The line "start"
identifies them, so that a changed initialisation is distinguished from an error.
"""
import importlib
import pathlib
import sys

import numpy
import torch

import batch as batches
from parity import zeros

STEPS = 37
FOLDER = pathlib.Path(__file__).parent.parent / "golden" / "parity"


def philox(key, n):
    """The first n words of Philox4x32-10 (Salmon et al. 2011), with counters 0, 1, .."""
    c = [numpy.arange((n + 3) // 4, dtype=numpy.uint64)] + [numpy.zeros((n + 3) // 4, dtype=numpy.uint64) for _ in range(3)]
    low, k = numpy.uint64(0xFFFFFFFF), list(key)
    for _ in range(10):
        p, q = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [(q >> numpy.uint64(32)) ^ c[1] ^ numpy.uint64(k[0]), q & low, (p >> numpy.uint64(32)) ^ c[3] ^ numpy.uint64(k[1]), p & low]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return numpy.stack(c, 1).reshape(-1)[:n]


def project(name, x):
    """Returns sum r_i x_i; r is uniform in [-1,1) and depends only on the name (FNV-1a)."""
    key = 0x811C9DC5
    for byte in name.encode():
        key = ((key ^ byte) * 0x01000193) & 0xFFFFFFFF
    r = torch.from_numpy(philox((key, 0x70617269), x.numel()).astype(numpy.float64)) * 2.0 ** -31 - 1
    return float(r @ x.reshape(-1).double())


def case(name, changes, program):
    f64 = batches.dump(program, name, changes, STEPS)[0]
    logits, loss, grad = batches.gradients(importlib.import_module(name).encode, f64, batches.pool_of(changes))
    yield f"case {changes}".rstrip()
    start = f64.all("param")
    yield "start %.15g %.6g" % (sum(project(p, x) for p, x in start.items()), sum(float(x.abs().sum()) for x in start.values()))
    most = max(float(g.abs().max()) for g in grad.values())
    yield "most %.15g" % most
    yield "loss %.15g" % loss
    none, unsaid = zeros(importlib.import_module(name), f64.config, grad)
    for path, x in [("logits", logits), *sorted(grad.items())]:
        largest = float(x.abs().max())
        zero = path in none and path not in unsaid
        yield "%s %.12g %.6g%s" % (path, project(path, x), largest, " zero" if zero else "")


def main():
    FOLDER.mkdir(exist_ok=True)
    torch.set_num_threads(1)
    for name in sys.argv[2:] or batches.references():
        lines = [line for changes in importlib.import_module(name).CASES for line in case(name, changes, sys.argv[1])]
        (FOLDER / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"wrote {FOLDER / name}.txt: {len(lines)} lines")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
