"""gss: Mehta et al. 2022, arXiv:2206.13947: a narrow diagonal state space between gates."""
import torch
import torch.nn.functional as F

import common

CASES = ["", "width=12 state=5", "narrow=3 hidden=9", "layers=3 causal=0 state=1"]


def encode(P, x, length, config, T_max):
    T, D = x.shape[1:]
    sides = 1 if config["causal"] == "1" else 2
    E, W = int(config["narrow"]), int(config["hidden"])
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        h = common.layer_norm(P, x, name + "norm")
        u, v = F.gelu(h @ P[name + "u/w"]), F.gelu(h @ P[name + "v/w"])
        assert u.shape[-1] == E and v.shape[-1] == W
        lam = torch.complex(-P[name + "ssm/log_decay"].exp(), P[name + "ssm/log_turn"].exp()).reshape(-1)
        w = torch.complex(P[name + "ssm/w"][0], P[name + "ssm/w"][1]) * (lam.exp() - 1) / lam
        k = (w @ (lam[:, None] * torch.arange(T)).exp()).real.reshape(sides, E, T)
        u = u * common.tokens(x, length)
        y = common.convolve(u, k) + P[name + "ssm/skip"] * u
        x = x + common.linear(P, (y @ P[name + "back/w"]) * v, name + "out")
        for s in ("u", "v", "back"):
            assert name + s + "/b" not in P
    return common.layer_norm(P, x, "encoder/norm")
