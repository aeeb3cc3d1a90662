"""mamba2: Dao & Gu 2024, arXiv:2405.21060: the state space recurrence, token by token."""
import torch
import torch.nn.functional as F

import states
from common import linear

CASES = ["", "causal=1", "ssd.conv=0 ssd.expand=1", "hidden=8 ssd.heads=4 ssd.state=5 layers=3 causal=1 pool=last"]


def step(S, x, B, C, decay, dt):
    """x (H,V), B, C (H,N), decay, dt (H,1)"""
    new = (dt * x)[..., None] * B[:, None]
    S = new if S is None else decay[..., None] * S + new
    return S, (S * C[:, None]).sum(-1)


def mix(P, u, length, config, name):
    H, N = int(config["ssd.heads"]), int(config["ssd.state"])
    inner = states.expand(config, "ssd")
    z, rest, dt = torch.split(linear(P, u, name + "in"), [inner, inner + 2 * N, H], -1)
    rest = states.conv(P, rest, length, config, name + "conv", int(config["ssd.conv"]))
    x, B, C = torch.split(rest, [inner, N, N], -1)
    decay, dt = states.decay(P, dt, name)
    x = states.heads(x, H)
    B, C = (s[:, :, None].expand(-1, -1, H, -1) for s in (B, C))
    y = states.state(step, length, config, x, B, C, decay[..., None], dt[..., None]) + P[name + "skip"] * x
    y = states.rms_norm(P, y.reshape(*u.shape[:2], -1) * F.silu(z), name + "norm")
    return linear(P, y, name + "out")


def encode(P, x, length, config, T_max):
    return states.blocks(P, x, config, {"ssd": lambda u, name: mix(P, u, length, config, name)})
