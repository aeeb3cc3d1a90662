"""spade: Zuo et al. 2022, arXiv:2212.08136: the first layer has an S4 kernel (without the layers after it) and local attention in parallel."""
import torch
import torch.nn.functional as F

import arena
import common
import s4

CASES = ["", "frozen=0", "causal=1 radius=3 frozen=0", "layers=3 heads=4 state=6 hidden=5 frozen=0", "causal=1 layers=1 radius=40"]


def local(P, u, length, config, name):
    t = torch.arange(u.shape[1])
    back = t[:, None] - t[None]
    seen = back.abs() <= int(config["radius"])
    return arena.attend(P, u, length, config, name, seen & (back >= 0) if config["causal"] == "1" else seen)


def encode(P, x, length, config, T_max):
    B, T, D = x.shape
    sides = 1 if config["causal"] == "1" else 2
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        u = common.layer_norm(P, x, name + "norm1")
        y = local(P, u, length, config, name)
        if i == 0:
            k = s4.kernels(P, name + "ssm/", "v4", sides, D, T, T_max).to(x.dtype)
            s = common.convolve(u * common.tokens(u, length), k) + P[name + "ssm/skip"] * u
            both = common.layer_norm(P, s, name + "norm-ssm"), common.layer_norm(P, y, name + "norm-local")
            y = common.linear(P, torch.cat(both, -1), name + "join")
        else:
            assert name + "ssm/skip" not in P
        x = x + y
        h = common.layer_norm(P, x, name + "norm2")
        x = x + common.linear(P, F.relu(common.linear(P, h, name + "up")), name + "down")
    return common.layer_norm(P, x, "encoder/norm")
