#!/usr/bin/env python3
"""Measures the cost of an audit of a PyTorch model, relative to the model's own cost for the same requests.

A small Transformer encoder is audited on random tokens by ``lra_locality.audit`` (no check), and all requests are
recorded. The own cost is the time of forward passes, and of forward and backward passes for gradients, of the bare
module on the recorded inputs, without frames and without lra-probe. Times are CPU seconds (user and system) of
this process and of lra-probe; the wall time is printed, too. Each number is the median of --repeat measurements.

    LRA_BIN=build/release PYTHONPATH=probes/python python3 tests/bench/audit.py
"""

import argparse
import os
import resource
import statistics
import tempfile
import time

import numpy as np
import torch
from torch import nn

import lra_locality as ll
from lra_locality import frames

VOCAB, CLASSES = 64, 4


class Encoder(nn.Module):
    def __init__(self, width, layers, longest):
        super().__init__()
        self.token = nn.Embedding(VOCAB, width)
        self.position = nn.Embedding(longest, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, CLASSES)

    def embed(self, x):
        return self.token(x) + self.position(torch.arange(x.shape[1]))

    def encode(self, e, hidden):
        return self.encoder(e, src_key_padding_mask=hidden)

    def pool(self, h, hidden):
        seen = (~hidden).unsqueeze(-1).float()
        return self.head((h * seen).sum(1) / seen.sum(1).clamp(min=1))

    def forward(self, x, src_key_padding_mask=None):
        hidden = torch.zeros_like(x, dtype=torch.bool) if src_key_padding_mask is None else src_key_padding_mask
        return self.pool(self.encode(self.embed(x), hidden), hidden)


def cpu():
    """User and system seconds of this process and of its ended children."""
    total = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        use = resource.getrusage(who)
        total += use.ru_utime + use.ru_stime
    return total


def requests(path):
    """(op, tensors) of the requests of a recording."""
    with open(path, "rb") as f:
        channel = frames.Channel(f, None)
        while True:
            message = channel.receive()
            if message is None:
                return
            if message[0]["op"] in ("forward", "vjp", "features"):
                yield message[0]["op"], message[1]


def own(model, asked):
    """CPU and wall seconds of the module alone on the recorded inputs."""
    inputs = []
    for op, t in asked:
        x, n = torch.from_numpy(t["tokens"].astype(np.int64)), torch.from_numpy(t["length"].astype(np.int64))
        hidden = torch.arange(x.shape[1])[None] >= n[:, None].clamp(min=1)
        v = torch.from_numpy(np.array(t["cotangent"])) if op == "vjp" else None
        at = torch.from_numpy(t["position"].astype(np.int64)) if op == "vjp" else None
        inputs.append((op, x, hidden, at, v))
    begin, wall = cpu(), time.perf_counter()
    for op, x, hidden, at, v in inputs:
        if op == "vjp":
            e = model.embed(x).detach().requires_grad_()
            h = model.encode(e, hidden)
            torch.autograd.grad((h[torch.arange(len(x)), at] * v).sum(), e)
        else:
            with torch.no_grad():
                h = model.encode(model.embed(x), hidden)
                if op == "forward":
                    model.pool(h, hidden)
    return cpu() - begin, time.perf_counter() - wall


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--batch", type=int, nargs="+", default=[16, 64], help="rows of a request")
    p.add_argument("--length", type=int, nargs="+", default=[256, 1024], help="tokens of an example")
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--examples", type=int, default=32)
    p.add_argument("--budget", type=int, default=600, help="most passes of an audit")
    p.add_argument("--parts", default="jacobian,position,order-in")
    p.add_argument("--repeat", type=int, default=5)
    p.add_argument("--threads", type=int, default=1)
    a = p.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    print(f"{'length':>6} {'batch':>5} {'requests':>8} {'audit':>8} {'own':>8} {'ratio':>6} {'wall':>6}", flush=True)
    for T in a.length:
        n = 5 * max(a.examples, max(a.batch))
        x = rng.integers(1, VOCAB, (n, T))
        split = np.array(["test"] * (2 * n // 5) + ["train"] * (n - 2 * n // 5))
        rows = ll.rows({"tokens": list(x), "label": rng.integers(0, CLASSES, n), "split": split}, split="split")
        model = Encoder(a.width, a.layers, T).eval()
        for batch in a.batch:
            ratios, walls, audits, owns = [], [], [], []
            for _ in range(a.repeat):
                with tempfile.TemporaryDirectory() as folder:
                    m = ll.wrap(model, vocab=VOCAB, length=None, batch=batch, quiet=True)
                    tape = os.path.join(folder, "tape")
                    options = ["--batch", str(batch), "--examples", str(a.examples), "--budget", str(a.budget)]
                    kw = dict(parts=a.parts, out=folder, check=False, quiet=True)
                    ll.audit(m, rows, options=options, record=tape, **kw)
                    asked = list(requests(tape))
                    begin, wall = cpu(), time.perf_counter()
                    ll.audit(m, rows, options=[*options, "--force"], **kw)
                    audits.append(cpu() - begin)
                    walls.append(time.perf_counter() - wall)
                    c, w = own(model, asked)
                    owns.append(c)
                    ratios.append(audits[-1] / c)
                    walls[-1] /= w
            med = statistics.median
            print(
                f"{T:>6} {batch:>5} {len(asked):>8} {med(audits):>8.2f} {med(owns):>8.2f} {med(ratios):>6.2f} {med(walls):>6.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
