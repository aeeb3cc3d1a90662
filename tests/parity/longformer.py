"""longformer: attention to the tokens in a window (Beltagy et al. 2020, arXiv:2004.05150)."""
import torch

import arena

CASES = ["", "window=4 layers=2 positions=none", "window=14 positions=learned qkv=6 heads=3", "window=512", "attention-dropout=0.2"]


def mix(P, u, length, config, name, layer):
    half, t = int(config["window"]) // 2, torch.arange(u.shape[1])
    ahead = t[None] - t[:, None]
    return arena.attend(P, u, length, config, name, (ahead > -half) & (ahead <= half))


def encode(P, x, length, config, T_max):
    return arena.encode(P, x, length, config, T_max, mix)
