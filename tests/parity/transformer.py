"""transformer: Vaswani et al. 2017; rotary positions of Su et al. 2021 on neighbouring pairs of channels."""
import math

import torch
import torch.nn.functional as F

import arena
import dropout
from common import layer_norm, linear

CASES = ["", "width=32 heads=4 hidden=64 positions=none", "positions=rotary-half act=relu head=mlp",
         "positions=sinusoidal norm=post", "positions=learned causal=1 pool=last", "pool=cls positions=learned",
         "pool=max", "positions=rotary-half-fast", "norm=arena qkv=6 heads=3 base=10",
         "norm=arena positions=sinusoidal causal=1", "qkv=12 heads=3 positions=none", "attention-dropout=0.2 causal=1", "norm=arena attention-dropout=0.1"]


def zero(config):
    """Parameters without effect: a key bias adds the same number to all scores of a row, unless rotary positions rotate it."""
    return () if config["positions"].startswith("rotary") else ("*/k/b",)


def angles(T, width, base):
    speed = base ** (-2 * torch.arange((width + 1) // 2, dtype=torch.float64) / width)
    return torch.arange(T, dtype=torch.float64)[:, None] * speed, speed


def turn(x, base, half):
    """Applies rotary positions to x (B,H,T,K)."""
    T, K = x.shape[-2:]
    angle, _ = angles(T, K, base)
    if half == "rotary-half":
        angle[:, K // 4:] = 0
    if half == "rotary-half-fast":
        angle[:, :K // 4] = 0
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], K // 2, 2)) * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(z).reshape(x.shape)


def positions(P, x, kind, T_max):
    T, D = x.shape[1:]
    if kind == "learned":
        assert P["positions/table"].shape == (T_max, D)
        return x + P["positions/table"][:T]
    if kind == "sinusoidal":
        angle, _ = angles(T, D, 10000.0)
        return x + torch.stack([angle.sin(), angle.cos()], -1).reshape(T, -1)[:, :D]
    return x


def attend(P, u, length, config, name):
    B, T, D = u.shape
    H = int(config["heads"])
    q, k, v = (linear(P, u, name + s).view(B, T, H, -1).transpose(1, 2) for s in "qkv")
    if config["positions"].startswith("rotary"):
        base, half = float(config["base"]), config["positions"]
        q, k = turn(q, base, half), turn(k, base, half)
    seen = (torch.arange(T)[None] < length[:, None])[:, None, None, :].expand(B, 1, T, T)
    if config["causal"] == "1":
        seen = seen & torch.ones(T, T, dtype=torch.bool).tril()
    score = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf)
    a = dropout.of_attention(P, score.softmax(-1), config, name + "attention")
    return linear(P, (a @ v).transpose(1, 2).reshape(B, T, -1), name + "out")


def arena_mix(P, u, length, config, name, layer):
    T = u.shape[1]
    q, k, v = (arena.heads(P, u, name + s, int(config["heads"])) for s in "qkv")
    if config["positions"].startswith("rotary"):
        base, half = float(config["base"]), config["positions"]
        q, k = turn(q, base, half), turn(k, base, half)
    causal = torch.ones(T, T, dtype=torch.bool).tril() if config["causal"] == "1" else torch.ones(1, 1, dtype=torch.bool)
    return arena.out(P, arena.attention(P, q, k, v, arena.real(length, T) & causal, config, name), name)


def blocks(P, x, length, config, T_max, mix, norm=layer_norm, act=F.gelu):
    """Layers of mix(u, name) and an MLP of two linear layers, with a norm before each, or after the sum (norm=post)."""
    x = positions(P, x, config["positions"], T_max)
    pre = config["norm"] == "pre"
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        for n, f in ((1, lambda u: mix(u, name)), (2, lambda u: linear(P, act(linear(P, u, name + "up")), name + "down"))):
            x = x + f(norm(P, x, f"{name}norm{n}") if pre else x)
            x = x if pre else norm(P, x, f"{name}norm{n}")
    return norm(P, x, "encoder/norm") if pre else x


def encode(P, x, length, config, T_max):
    if config["norm"] == "arena":
        return arena.encode(P, x, length, config, T_max, arena_mix)
    return blocks(P, x, length, config, T_max, lambda u, name: attend(P, u, length, config, name),
                  act=F.relu if config["act"] == "relu" else F.gelu)
