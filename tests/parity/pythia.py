"""pythia: GPT-NeoX (Black et al. 2022, arXiv:2204.06745): attention and MLP of a layer in parallel; rotary positions on the
first r channels of a head, which rotate the channels i and i + r/2 together."""
import math

import torch
import torch.nn.functional as F

import dropout
from common import layer_norm, linear, tokens

CASES = ["", "rotary=1 base=100", "rotary=0", "width=64 heads=4 hidden=32 layers=3", "width=32 heads=1 rotary=0.5", "attention-dropout=0.2"]


def turn(x, r, base):
    """Applies rotary positions to the first r channels of x (B,H,T,K)."""
    if r == 0:
        return x
    T = x.shape[2]
    angle = torch.arange(T, dtype=torch.float64)[:, None] * base ** (-2 * torch.arange(r // 2, dtype=torch.float64) / r)
    a, b = x[..., :r // 2], x[..., r // 2:r]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., r:]], -1)


def attend(P, u, length, config, name):
    B, T, D = u.shape
    H = int(config["heads"])
    K, base = D // H, float(config["base"])
    r = int(K * float(config["rotary"]))
    q, k, v = linear(P, u, name + "qkv").view(B, T, H, 3, K).permute(3, 0, 2, 1, 4)
    q, k = turn(q, r, base), turn(k, r, base)
    seen = torch.ones(T, T, dtype=torch.bool).tril()
    score = (q @ k.transpose(-1, -2) / math.sqrt(K)).masked_fill(~seen, -math.inf)
    y = (dropout.of_attention(P, score.softmax(-1), config, name + "attention") @ v).transpose(1, 2).reshape(B, T, D)
    return linear(P, y * tokens(y, length), name + "out")


def encode(P, x, length, config, T_max):
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        y = attend(P, layer_norm(P, x, name + "norm1"), length, config, name)
        x = x + y + linear(P, F.gelu(linear(P, layer_norm(P, x, name + "norm2"), name + "up")), name + "down")
    return layer_norm(P, x, "encoder/norm")
