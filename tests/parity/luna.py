"""luna: Ma et al. 2021, arXiv:2106.01540: attention packs the inputs into a memory and unpacks them from it."""
import math

import torch
import torch.nn.functional as F

import dropout
from common import layer_norm

CASES = ["", "share=1 positions=learned layers=3", "positions=none width=32 heads=4 memory=50",
         "share=1 layers=1 width=10 hidden=7 memory=2", "attention-dropout=0.2 layers=3"]


def zero(config):
    """Parameters without effect: a key bias adds the same number to all scores of a row."""
    return ("*/pack_k/b", "*/unpack_k/b")


def linear(P, x, name):
    return F.linear(x, P[name + "/w"].T, P[name + "/b"])


def waves(first, n, D):
    half = D // 2
    speed = torch.exp(-math.log(10000) * torch.arange(half, dtype=torch.float64) / (half - 1))
    angle = (first + torch.arange(n))[:, None] * speed
    return torch.cat([angle.sin(), angle.cos()], 1)


def attend(P, a, c, seen, config, name, number):
    """Attention of a to c; seen (B,1,1,keys): valid keys; number: how many attentions precede this one."""
    H = int(config["heads"])
    q, k, v = (linear(P, x, name + s).view(*x.shape[:2], H, -1).transpose(1, 2) for x, s in ((a, "q"), (c, "k"), (c, "v")))
    score = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf)
    w = dropout.of_attention(P, score.softmax(-1), config, f"encoder/attention.{number}" if number else "encoder/attention")
    return (w @ v).transpose(1, 2).reshape(a.shape)


def encode(P, x, length, config, T_max):
    B, T, D = x.shape
    layers = int(config["layers"])
    p = P["encoder/memory"]
    assert p.shape == (int(config["memory"]), D)
    if config["positions"] == "learned":
        x = x + P["positions/table"][:T]
    if config["positions"] == "sinusoidal":
        x = x * math.sqrt(D) + waves(1, T, D).to(x.dtype)
        p = p * math.sqrt(D) + waves(0, len(p), D).to(x.dtype)
    p = p.expand(B, -1, -1)
    tokens = (torch.arange(T)[None] < length[:, None])[:, None, None]
    rows = torch.ones(B, 1, 1, p.shape[1], dtype=torch.bool)
    for i in range(layers):
        name = f"encoder/layer{0 if config['share'] == '1' else i}/"
        yp = attend(P, p, x, tokens, config, name + "pack_", 2 * i)
        yx = linear(P, attend(P, x, yp, rows, config, name + "unpack_", 2 * i + 1), name + "out")
        x = layer_norm(P, x + yx, name + "norm1")
        if i + 1 < layers:
            p = layer_norm(P, p + yp, name + "norm_memory")
        x = layer_norm(P, x + linear(P, F.relu(linear(P, x, name + "up")), name + "down"), name + "norm2")
    return x
