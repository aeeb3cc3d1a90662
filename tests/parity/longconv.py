"""longconv: Fu et al. 2023, arXiv:2302.06646: kernels are parameters, smoothed and soft-thresholded towards 0."""
import math

import torch
import torch.nn.functional as F

import common
import dropout

CASES = ["", "causal=0 norm=post", "norm-kind=batch smooth=average kernels=1", "smooth=frequency start=double-exp",
         "causal=0 smooth=frequency norm=post gate=0 kernels=3", "kernel-dropout=0.2"]
zero = common.blocks_zero


def smooth(k, kind):
    if kind == "average":
        return F.avg_pool1d(k, 7, stride=1, padding=3)
    if kind == "frequency":
        f = torch.fft.rfft(k, dim=-1)
        g = torch.tensor([[[math.exp(-(i - 3) ** 2 / 2) for i in range(7)]]], dtype=k.dtype)
        def correlate(v):
            return F.conv1d(v.reshape(-1, 1, v.shape[-1]), g, padding=3).reshape(v.shape)
        return torch.fft.irfft(torch.complex(correlate(f.real), correlate(f.imag)), n=k.shape[-1], dim=-1)
    return k


def encode(P, x, length, config, T_max):
    width, sides = x.shape[2], 1 if config["causal"] == "1" else 2

    def kernels(P, path):
        k = P[path + "taps"]
        assert k.shape == (sides, int(config["kernels"]) * width, T_max)
        k = smooth(k, config["smooth"])
        k = (k.sign() * F.relu(k.abs() - float(config["squash"])))[..., :x.shape[1]]
        return dropout.drop(P, k, float(config["kernel-dropout"]), path + "dropout")

    return common.blocks(P, x, length, config, "conv", kernels)
