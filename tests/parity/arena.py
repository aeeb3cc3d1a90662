"""The Transformer of the Long Range Arena (Tay et al. 2021, arXiv:2011.04006, and its code).  Its models differ in the
attention; this file has the code that their references share."""
import math

import torch
import torch.nn.functional as F

import common
import dropout


def norm(P, x, name):
    return F.layer_norm(x, x.shape[-1:], P[name + "/gain"], P[name + "/bias"], 1e-6)


def positions(P, x, kind, T_max):
    T, D = x.shape[1:]
    if kind == "learned":
        assert P["positions/table"].shape == (T_max, D)
        return x + P["positions/table"][:T]
    if kind == "sinusoidal":
        angle = torch.arange(T)[:, None] * 10000.0 ** (-2 * torch.arange((D + 1) // 2, dtype=x.dtype) / D)
        return x + torch.stack([angle.sin(), angle.cos()], -1).reshape(T, -1)[:, :D]
    return x


def heads(P, u, name, H):
    """Projects u (B,T,D) and splits it into heads: (B,H,T,K)."""
    assert name + "/b" not in P
    B, T = u.shape[:2]
    return (u @ P[name + "/w"]).view(B, T, H, -1).transpose(1, 2)


def attention(P, q, k, v, seen, config, name):
    """Softmax attention over the visible keys, seen (..,T,T); 0 for a query without visible keys."""
    score = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).masked_fill(~seen, -math.inf)
    return dropout.of_attention(P, score.softmax(-1).nan_to_num(0.0), config, name + "attention") @ v


def real(length, T):
    """(B,1,1,T): true where a key is a token, false for padding."""
    return (torch.arange(T)[None] < length[:, None])[:, None, None]


def out(P, y, name):
    """Merges heads (B,H,T,K) and applies the output projection: (B,T,D)."""
    B, H, T, K = y.shape
    return y.transpose(1, 2).reshape(B, T, H * K) @ P[name + "out/w"]


def encode(P, x, length, config, T_max, mix):
    """The encoder; mix(P, u, length, config, scope, layer) is the attention of a layer, (B,T,D)."""
    x = positions(P, x, config["positions"], T_max)
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        x = x + mix(P, norm(P, x, name + "norm1"), length, config, name, i)
        h = F.gelu(common.linear(P, norm(P, x, name + "norm2"), name + "up"), approximate="tanh")
        x = x + common.linear(P, h, name + "down")
    return norm(P, x, "encoder/norm")


def attend(P, u, length, config, name, seen):
    """mix() with softmax attention; seen (..,T,T): visible pairs of tokens.  Padding is never a key."""
    H, T = int(config["heads"]), u.shape[1]
    q, k, v = (heads(P, u, name + s, H) for s in "qkv")
    return out(P, attention(P, q, k, v, seen & real(length, T), config, name), name)


def weighted(q, k, v, seen, least):
    """Attention with weights q k divided by their sum; least(sum) returns a sum that is not 0."""
    w = (q @ k.transpose(-1, -2)) * seen.to(q.dtype)
    return (w @ v) / least(w.sum(-1, keepdim=True))


def whole(encode, P, x, length, config, T_max, mix, unmasked):
    """encode(); if `unmasked`, inputs are first padded to T_max with token 0, and the padding is not masked."""
    T = x.shape[1]
    if unmasked:
        x = torch.cat([x, P["embed/table"][0].expand(len(x), T_max - T, -1)], 1)
        length = torch.full_like(length, T_max)
    return encode(P, x, length, config, T_max, mix)[:, :T]
