"""spt-local: the Transformer of self-pretraining for long inputs (Amos et al. 2024, arXiv:2310.02980)."""
import math

import torch
import torch.nn.functional as F

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
    x = transformer.positions(P, x, config["positions"], T_max)
    pre = config["norm"] == "pre"
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        for n, f in ((1, lambda u: attend(P, u, length, config, name)),
                     (2, lambda u: common.linear(P, F.gelu(common.linear(P, u, name + "up")), name + "down"))):
            x = x + f(common.layer_norm(P, x, f"{name}norm{n}") if pre else x)
            x = x if pre else common.layer_norm(P, x, f"{name}norm{n}")
    return common.layer_norm(P, x, "encoder/norm") if pre else x
