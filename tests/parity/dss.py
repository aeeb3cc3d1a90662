"""dss: Gupta et al. 2022, arXiv:2203.14343: diagonal state spaces, kernels by their definition."""
import math

import torch

import common

CASES = ["", "kernel=exp", "kernel=exp init=lin causal=0 gate=1 norm=post", "causal=0 norm-kind=batch",
         "init=lin state=5 dt-min=0.0001 dt-max=0.01"]
zero = common.blocks_zero


def skew(N):
    """Initial angles of init=skew.  Their rounding errors are relative to the largest angle, which for N = 64 is 22,000 times
    the smallest one."""
    n = torch.arange(2 * N, dtype=torch.float64)
    size = ((2 * n[:, None] + 1) * (2 * n + 1)).sqrt() / 2
    angle = torch.linalg.eigvalsh(-1j * (size.triu(1) - size.tril(-1)))
    return angle[angle > 0].sort(descending=True).values


def encode(P, x, length, config, T_max):
    width, T, N = x.shape[2], x.shape[1], int(config["state"])
    sides = 1 if config["causal"] == "1" else 2

    def kernels(P, path):
        re, im = -P[path + "log_decay"].exp().reshape(N), P[path + "turn"].reshape(N)
        lam = torch.complex(re, im)
        start = skew(N) if config["init"] == "skew" else math.pi * torch.arange(N, dtype=torch.float64)
        near = dict(rtol=1e-6) if x.dtype == torch.float32 else dict(rtol=1e-13, atol=1e-14 * float(start.max()))
        assert torch.allclose(P.start[path + "turn"].reshape(N).double(), start.double(), **near), "angles start elsewhere"
        w = torch.complex(P[path + "w"][0], P[path + "w"][1])  # (sides width, N)
        assert w.shape == (sides * width, N)
        if config["kernel"] == "exp":
            step = P[path + "log_dt"][0].exp().repeat(sides)[:, None] * lam
            w = w * (step.exp() - 1) / lam
        else:
            dt = P[path + "log_dt"].exp()[..., None]
            step = torch.complex(dt[0] * re, dt[1] * im)
            step = step.repeat(sides, 1)
            w = w / lam / (step[..., None] * torch.arange(T_max)).exp().sum(-1)
        k = (w[..., None] * (step[..., None] * torch.arange(T)).exp()).sum(1).real
        return k.reshape(sides, width, T)

    return common.blocks(P, x, length, config, "ssm", kernels)
