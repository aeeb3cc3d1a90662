"""gated-deltanet: Yang et al. 2024, arXiv:2412.06464: the state decays, then the delta rule writes."""
import torch
import torch.nn.functional as F

import states
from common import linear
from deltanet import parts

CASES = ["", "causal=1", "gated-delta.conv=0 gated-delta.expand=2 hidden=0",
         "width=12 gated-delta.heads=3 gated-delta.conv=3 layers=3 causal=1 pool=last"]


def mix(P, u, length, config, name):
    q, k, v, beta = parts(P, u, length, config, name, "gated-delta")
    w, _ = states.decay(P, linear(P, u, name + "a"), name)
    y = states.state(states.erase_and_write, length, config, q, k, v, w[..., None].expand(*k.shape), beta)
    y = states.rms_norm(P, y, name + "norm").reshape(*u.shape[:2], -1)
    return linear(P, F.silu(linear(P, u, name + "gate")) * y, name + "out")


def encode(P, x, length, config, T_max):
    return states.blocks(P, x, config, {"gated-delta": lambda u, name: mix(P, u, length, config, name)})
