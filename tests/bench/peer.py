#!/usr/bin/env python3
"""The same training step in PyTorch, for tests/bench/report.sh: one JSON line with the median.

Classifier of residual convolutions as in models/resconv.c: token table -> L x (LayerNorm, Conv1d "same",
ReLU, Linear, added to the stream) -> LayerNorm -> mean -> Linear; cross-entropy, AdamW.
Data are random tokens made before the clock starts.
"""
import argparse
import json
import os
import resource
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width, hidden, kernel, groups):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.conv = nn.Conv1d(width, hidden, kernel, padding="same", groups=groups)
        self.linear = nn.Linear(hidden, width)

    def forward(self, x):
        y = self.conv(self.norm(x).transpose(1, 2)).transpose(1, 2)
        return x + self.linear(F.relu(y))


class Classifier(nn.Module):
    def __init__(self, a):
        super().__init__()
        self.table = nn.Embedding(a.vocab, a.width)
        self.layers = nn.Sequential(*(Layer(a.width, a.hidden, a.kernel, a.groups) for _ in range(a.layers)))
        self.norm = nn.LayerNorm(a.width)
        self.head = nn.Linear(a.width, a.classes)

    def forward(self, tokens):
        return self.head(self.norm(self.layers(self.table(tokens))).mean(1))


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, value in dict(batch=16, length=1024, layers=6, width=128, hidden=256, kernel=5, groups=1,
                            vocab=256, classes=10, threads=len(os.sched_getaffinity(0)), warm=2,
                            least=3).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--seconds", type=float, default=5.0, help="measures for so long, --least times at least")
    p.add_argument("--precision", choices=["f32", "bf16"], default="f32")
    p.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    p.add_argument("--compile", nargs="?", const="default", default="", metavar="MODE", help="torch.compile the model")
    return p.parse_args()


def main():
    a = options()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    model = Classifier(a).to(a.device)
    adamw = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01, fused=True)
    run = torch.compile(model, mode=a.compile) if a.compile else model
    tokens = torch.randint(a.vocab, (a.batch, a.length), device=a.device)
    label = torch.randint(a.classes, (a.batch,), device=a.device)

    def step():
        adamw.zero_grad(set_to_none=True)
        with torch.autocast(a.device, torch.bfloat16, enabled=a.precision == "bf16"):
            logits = run(tokens)
        F.cross_entropy(logits.float(), label).backward()
        adamw.step()
        if a.device == "cuda":
            torch.cuda.synchronize()

    for _ in range(a.warm):
        step()
    seconds, begin = [], time.perf_counter()
    while len(seconds) < a.least or time.perf_counter() - begin < a.seconds:
        start = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - start)
    peak = torch.cuda.max_memory_allocated() if a.device == "cuda" else \
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(dict(torch=torch.__version__, compiled=a.compile, precision=a.precision,
                          kernel=a.kernel, groups=a.groups, median_s=statistics.median(seconds),
                          runs=len(seconds),
                          peak_bytes=peak)))


if __name__ == "__main__":
    main()
