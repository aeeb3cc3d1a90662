"""hybrid: blocks with different mixers; attention of Vaswani et al. 2017 with rotary positions and a window."""
import importlib
import math

import torch

import deltanet
import mamba2
import states
from common import linear
from transformer import turn

CASES = ["", "causal=1", "mixers=delta,ssd causal=1 delta.conv=2 ssd.conv=2",
         "mixers=attention attention.window=2 attention.positions=none"]


def attend(P, u, length, config, name):
    B, T, D = u.shape
    q, k, v = (states.heads(linear(P, u, name + s), int(config["attention.heads"])).transpose(1, 2) for s in "qkv")
    if config["attention.positions"] == "rotary":
        q, k = turn(q, 10000.0, "rotary"), turn(k, 10000.0, "rotary")
    seen = (torch.arange(T)[None] < length[:, None])[:, None, None, :].expand(B, 1, T, T)
    apart = torch.arange(T)[:, None] - torch.arange(T)[None]
    window = int(config["attention.window"])
    if config["causal"] == "1":
        seen = seen & (apart >= 0)
    if window:
        seen = seen & (apart.abs() <= window)
    # padding after an example may see no key at all: its row is not read
    score = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~seen, -1e9)
    y = (score.softmax(-1) @ v).transpose(1, 2).reshape(B, T, -1)
    return linear(P, y, name + "out")


def encode(P, x, length, config, T_max):
    gated = importlib.import_module("gated-deltanet")
    mixers = {"attention": attend, "gated-delta": gated.mix, "delta": deltanet.mix, "ssd": mamba2.mix}
    return states.blocks(P, x, config, {m: lambda u, name, f=f: f(P, u, length, config, name) for m, f in mixers.items()})
