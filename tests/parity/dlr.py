"""dlr: Gupta et al. 2022, arXiv:2212.00768: diagonal linear recurrences, which need no discretisation."""
import torch

import common

CASES = ["", "init=random", "causal=1 norm=post", "state=9 gate=0", "norm-kind=batch"]
zero = common.blocks_zero


def encode(P, x, length, config, T_max):
    width, T, N = x.shape[2], x.shape[1], int(config["state"])
    sides = 1 if config["causal"] == "1" else 2

    def kernels(P, path):
        lam = torch.complex(-P[path + "root"].reshape(N) ** 2, P[path + "turn"].reshape(N))
        w = torch.complex(P[path + "w"][0], P[path + "w"][1])
        powers = (lam[:, None] * torch.arange(T)).exp()
        return (w @ powers).real.reshape(sides, width, T)

    return common.blocks(P, x, length, config, "ssm", kernels)
