"""Code that references share: norms, convolution by its definition, and the block in which S4 and related models use a
convolution (Gu et al. 2022, arXiv:2111.00396)."""
import torch
import torch.nn.functional as F

import dropout


def linear(P, x, name):
    return F.linear(x, P[name + "/w"].T, P.get(name + "/b"))


def layer_norm(P, x, name):
    return F.layer_norm(x, x.shape[-1:], P[name + "/gain"], P[name + "/bias"], 1e-5)


def tokens(x, length):
    """(B,T,1): true for tokens, false for padding."""
    return (torch.arange(x.shape[1])[None] < length[:, None])[..., None]


def batch_norm(P, x, length, name):
    """Batch norm in training mode: statistics over the tokens of all examples, without padding."""
    seen = x[tokens(x, length)[..., 0]]
    mean, var = seen.mean(0), seen.var(0, unbiased=False)
    return (x - mean) / (var + 1e-5).sqrt() * P[name + "/gain"] + P[name + "/bias"]


def convolve(u, k):
    """y[t] = sum_(s<=t) k[0][t-s] u[s] + sum_(s>t) k[1][s-t-1] u[s];  u: (B,T,D), k: (1 or 2,D,T)"""
    T = u.shape[1]
    t = torch.arange(T)
    lag = t[:, None] - t[None]
    matrix = k[0][:, lag.clamp(min=0)] * (lag >= 0)
    if len(k) == 2:
        matrix = matrix + k[1][:, (-lag - 1).clamp(min=0)] * (lag < 0)
    return torch.einsum("dts,bsd->btd", matrix, u)


def blocks_zero(config):
    """Without a gate, a batch norm removes the bias of the layer before it, so that its gradient is 0."""
    return ("*/mix/b",) if config["norm-kind"] == "batch" and config["gate"] == "0" else ()


def blocks(P, x, length, config, scope, kernels):
    """The layers of S4; kernels(P, path) returns the kernels (1 or 2, C D, T) of a layer."""
    def norm(x, name):
        batch = config["norm-kind"] == "batch"
        return batch_norm(P, x, length, name) if batch else layer_norm(P, x, name)

    pre = config["norm"] == "pre"
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        k = kernels(P, f"{name}{scope}/")
        u = norm(x, name + "norm") if pre else x
        u = (u * tokens(x, length)).repeat(1, 1, k.shape[1] // x.shape[2])
        h, rate = convolve(u, k) + P[f"{name}{scope}/skip"] * u, float(config["dropout"])
        if config.get("early-dropout") == "1":
            h = dropout.drop(P, h, rate, f"{name}{scope}/dropout")
        h = linear(P, dropout.drop(P, F.gelu(h), rate, name + "dropout", tied=True), name + "mix")
        h = F.glu(h, -1) if config["gate"] == "1" else h
        x = x + dropout.drop(P, h, rate, name + "dropout.1", tied=True)
        if not pre:
            x = norm(x, name + "norm")
    return norm(x, "encoder/norm") if pre else x
