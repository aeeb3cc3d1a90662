"""local: attention inside blocks of neighbouring tokens (Tay et al. 2021, arXiv:2011.04006)."""
import torch

import arena

CASES = ["", "block=3 positions=none", "block=7 positions=learned qkv=6 heads=3", "block=50"]


def mix(P, u, length, config, name, layer):
    t = torch.arange(u.shape[1]) // int(config["block"])
    return arena.attend(P, u, length, config, name, t[:, None] == t[None])


def encode(P, x, length, config, T_max):
    return arena.encode(P, x, length, config, T_max, mix)
