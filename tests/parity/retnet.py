"""retnet: Sun et al. 2023, arXiv:2307.08621: retention in its recurrent form."""
import math

import torch
import torch.nn.functional as F

import states
from common import linear
from transformer import turn

CASES = ["", "causal=1", "retention.expand=2 hidden=0", "width=12 retention.heads=3 layers=3 causal=1 pool=last"]


def mix(P, u, length, config, name):
    H = int(config["retention.heads"])
    q, k, v = (states.heads(linear(P, u, name + s), H) for s in "qkv")
    q, k = (turn(x.transpose(1, 2), 10000.0, "rotary").transpose(1, 2) for x in (q, k))
    w = (1 - 2.0 ** (-5 - torch.arange(H, dtype=torch.float64)))[:, None].to(v.dtype).expand(*k.shape)
    y = states.rms_norm(P, states.state(states.write, length, config, q, k / math.sqrt(k.shape[-1]), v, w))
    y = y.reshape(*u.shape[:2], -1)
    return linear(P, F.silu(linear(P, u, name + "gate")) * y, name + "out")


def encode(P, x, length, config, T_max):
    return states.blocks(P, x, config, {"retention": lambda u, name: mix(P, u, length, config, name)})
