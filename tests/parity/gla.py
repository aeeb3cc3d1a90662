"""gla: Yang et al. 2023, arXiv:2312.06635: a decay for every token and channel."""
import math

import torch
import torch.nn.functional as F

import states
from common import linear

CASES = ["", "causal=1", "gla.expand=0.5 gla.rank=3 hidden=0", "width=12 gla.heads=3 layers=3 causal=1 pool=last"]


def mix(P, u, length, config, name):
    H = int(config["gla.heads"])
    q, k, v = (states.heads(linear(P, u, name + s), H) for s in "qkv")
    z = linear(P, linear(P, u, name + "decay1"), name + "decay2")
    z = z.float() if z.dtype == torch.bfloat16 else z
    w = torch.exp(F.logsigmoid(states.heads(z, H)) / 16)
    y = states.state(states.write, length, config, q / math.sqrt(q.shape[-1]), k, v, w)
    y = states.rms_norm(P, y, name + "norm").reshape(*u.shape[:2], -1)
    return linear(P, F.silu(linear(P, u, name + "gate")) * y, name + "out")


def encode(P, x, length, config, T_max):
    return states.blocks(P, x, config, {"gla": lambda u, name: mix(P, u, length, config, name)})
