"""spt-local: the Transformer of self-pretraining for long inputs (Amos et al. 2024, arXiv:2310.02980)."""
import math

import torch

import common
import transformer

CASES = ["", "positions=rotary norm=post", "positions=learned block=7", "positions=none block=64"]


def zero(config):
    return transformer.zero(config)


def attend(P, u, length, config, name):
    B, T, D = u.shape
    H = int(config["heads"])
    q, k, v = (common.linear(P, u, name + s).view(B, T, H, D // H).transpose(1, 2) for s in "qkv")
    if config["positions"] == "rotary":
        q, k = transformer.turn(q, 10000.0, None), transformer.turn(k, 10000.0, None)
    own = torch.arange(T) // int(config["block"])
    seen = ((own[:, None] - own[None]).abs() <= 1) & common.tokens(u, length)[:, None, None, :, 0]
    score = (q @ k.transpose(-1, -2) / math.sqrt(D // H)).masked_fill(~seen, -math.inf)
    return common.linear(P, (score.softmax(-1).nan_to_num(0.0) @ v).transpose(1, 2).reshape(B, T, D), name + "out")


def encode(P, x, length, config, T_max):
    return transformer.blocks(P, x, length, config, T_max, lambda u, name: attend(P, u, length, config, name))
