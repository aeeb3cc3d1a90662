"""mega, mega-chunk: Ma et al. 2022, arXiv:2209.10655: a damped moving average, gated attention of one head, feed-forward."""
import math

import torch
import torch.nn.functional as F

import common
import dropout

CASES = ["norm=pre", "norm=post", "norm=post norm-kind=scale width=7 queries=5", "norm=pre norm-kind=batch ema-length=6 state=2",
         "norm=pre chunk=8 layers=3", "chunk=64 norm=post", "causal=1 hidden=11", "causal=1 chunk=8 norm-kind=scale",
         "attention=laplace", "attention=laplace chunk=8 norm=pre", "attention=laplace norm=pre norm-kind=batch",
         "attention=laplace causal=1 chunk=16", "attention-dropout=0.2 norm=pre",
         "attention=laplace attention-dropout=0.2 chunk=8"]

ILL = {change: "of norm1/gain: behind one scale norm and in front of another a gain changes little but what eps does, a millionth "
       "of what its terms are" for change in ("norm=post norm-kind=scale width=7 queries=5", "causal=1 chunk=8 norm-kind=scale")}


def zero(config):
    """Parameters (nearly) without effect: batch norm removes a bias that is added to all rows.  With small initial weights
    the attention scale has almost no gradient after a scale norm, or if a causal model has few tokens."""
    none = ["*/down/b"] if config["norm-kind"] == "batch" else []
    return none + (["*/scale"] if config["norm-kind"] == "scale" or config["causal"] == "1" else [])


def average(P, path, T, most):
    """Kernels (sides,D,L) by lag of the recurrence h = q h + p beta x, y = gamma h / sqrt(n)."""
    p, a = P[path + "delta"].sigmoid(), P[path + "alpha"].sigmoid()
    q = 1 - p * a
    weight = P[path + "gamma"] * P[path + "beta"] * p / math.sqrt(p.shape[-1])
    lags = torch.arange(min(T, most))
    return (weight[..., None] * q[..., None] ** lags).sum(-2)


def convolve(x, k, causal):
    """Convolution with the kernels of both directions, each of which includes lag 0."""
    T, D = x.shape[1:]
    lag = torch.arange(T)[:, None] - torch.arange(T)
    def matrix(k, lag):
        near = (lag >= 0) & (lag < k.shape[1])
        return k[:, lag.clamp(0, k.shape[1] - 1)] * near
    m = matrix(k[:D], lag)
    if not causal:
        m = m + matrix(k[D:], -lag)
    return torch.einsum("dts,bsd->btd", m, x)


def attend(P, q, k, v, bias, length, config, name):
    """Attention by its formulas; bias: entry j - i + R - 1 belongs to the pair (i,j)."""
    T, R = q.shape[1], (len(bias) + 1) // 2
    chunk, causal = int(config["chunk"]), config["causal"] == "1"
    i, j = torch.arange(T)[:, None], torch.arange(T)[None]
    seen = (j < length[:, None, None]) & (i < length[:, None, None])
    if chunk:
        seen = seen & (i // chunk == j // chunk)
    if causal:
        seen = seen & (j <= i)
    rel = bias[(j - i + R - 1).clamp(0, 2 * R - 2)]
    if config["attention"] == "laplace":
        n = seen.sum(-1, keepdim=True).clamp(min=1)
        s = q @ k.transpose(1, 2) / n + rel
        weight = (1 + torch.erf((s - 0.707107) / (0.282095 * math.sqrt(2)))) / 2 * seen
    else:
        s = (q @ k.transpose(1, 2) / math.sqrt(q.shape[-1]) + rel).masked_fill(~seen, -math.inf)
        weight = s.softmax(-1).nan_to_num(0) * seen
    return dropout.of_attention(P, weight[:, None], config, name + "attention")[:, 0] @ v


def encode(P, x, length, config, T_max):
    T, D = x.shape[1:]
    Z, V, pre = int(config["queries"]), int(config["hidden"]), config["norm"] == "pre"

    def norm(x, name):
        kind = config["norm-kind"]
        if kind == "batch":
            return common.batch_norm(P, x, length, name)
        if kind == "layer":
            return common.layer_norm(P, x, name)
        assert P[name + "/gain"].shape == ()
        return P[name + "/gain"] * x / ((x * x).mean(-1, keepdim=True) + 1e-5).sqrt()

    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        u = norm(x, name + "norm1") if pre else x
        v = F.silu(common.linear(P, u, name + "v"))
        k = average(P, name + "ema/", T, int(config["ema-length"]))
        m = convolve(u * common.tokens(x, length), k, config["causal"] == "1")
        m = F.silu(m + P[name + "ema/omega"] * u)
        phi, zr, h = common.linear(P, m, name + "mix").split([D, Z + V, D], -1)
        z, r = F.silu(zr).split([Z, V], -1)
        g, b = P[name + "scale"], P[name + "shift"]
        assert P[name + "bias"].shape == (1, 2 * (int(config["chunk"]) or T_max) - 1)
        o = attend(P, z * g[0] + b[0], z * g[1] + b[1], v, P[name + "bias"][0], length, config, name)
        h = F.silu(h + common.linear(P, o * r, name + "out"))
        x = x + phi.sigmoid() * (h - x)
        if not pre:
            x = norm(x, name + "norm1")
        u = norm(x, name + "norm2") if pre else x
        x = x + common.linear(P, F.silu(common.linear(P, u, name + "up")), name + "down")
        if not pre:
            x = norm(x, name + "norm2")
    return norm(x, "encoder/norm") if pre else x
