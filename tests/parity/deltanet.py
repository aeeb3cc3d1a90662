"""deltanet: Yang et al. 2024, arXiv:2406.06484: the delta rule, token by token."""
import math

import torch

import states
from common import linear

CASES = ["", "causal=1", "delta.conv=0 delta.expand=2 hidden=0", "width=12 delta.heads=3 delta.conv=3 layers=3 causal=1 pool=last"]


def parts(P, u, length, config, name, mixer):
    """q (scaled), k (lengths 1), v, beta (B,T,H,1)"""
    H, taps = int(config[mixer + ".heads"]), int(config[mixer + ".conv"])
    q, k, v = (states.heads(states.conv(P, linear(P, u, name + s), length, config, name + "conv-" + s, taps), H) for s in "qkv")
    beta = torch.sigmoid(linear(P, u, name + "beta"))[..., None]
    q, k = states.unit(q), states.unit(k)
    return q / math.sqrt(q.shape[-1]), k, v, beta


def mix(P, u, length, config, name):
    q, k, v, beta = parts(P, u, length, config, name, "delta")
    y = states.state(states.erase_and_write, length, config, q, k, v, torch.ones_like(k), beta)
    y = states.rms_norm(P, y, name + "norm").reshape(*u.shape[:2], -1)
    return linear(P, y, name + "out")


def encode(P, x, length, config, T_max):
    return states.blocks(P, x, config, {"delta": lambda u, name: mix(P, u, length, config, name)})
