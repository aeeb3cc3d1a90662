"""sgconv: Li et al. 2022, arXiv:2210.09298: kernels composed of upsampled sub-kernels whose weight decreases with
distance."""
import math

import torch
import torch.nn.functional as F

import common

CASES = ["", "causal=1 norm=post factor-max=3", "factors=learned part=8", "factors=learned causal=1 gate=0", "norm-kind=batch",
         "part=64", "part=2"]
zero = common.blocks_zero


def encode(P, x, length, config, T_max):
    width, s = x.shape[2], int(config["part"])
    sides = 1 if config["causal"] == "1" else 2
    n = 1 + max(0, math.ceil(math.log2(T_max / s)))

    def whole(P, path):
        w = P[path + "parts"]
        assert w.shape == (n, sides * width, s)
        parts = []
        for i in range(n):
            stretch = 2 ** max(0, i - 1)
            part = w[i][None] if stretch == 1 else F.interpolate(w[i][None], scale_factor=stretch, mode="linear")
            if config["factors"] == "fixed":
                m = torch.linspace(float(config["factor-min"]), float(config["factor-max"]), width, dtype=x.dtype)
                parts.append(part[0] * m.repeat(sides)[:, None] ** (n - 1 - i))
            else:
                parts.append(part[0] * P[path + "alpha"][0] ** i)
        k = torch.cat(parts, -1)
        assert k.shape[-1] == s * 2 ** (n - 1)
        return k

    def kernels(P, path):
        k = whole(P, path)
        if config["factors"] == "fixed":
            k = k / whole(P.start, path).norm(dim=-1, keepdim=True)
        return F.pad(k, (0, max(0, x.shape[1] - k.shape[-1])))[:, :x.shape[1]].reshape(sides, width, -1)

    return common.blocks(P, x, length, config, "conv", kernels)
