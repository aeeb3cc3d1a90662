"""Layers around a matrix state, token by token, and the blocks around them (Yang et al. 2024, arXiv:2412.06464)."""
import torch
import torch.nn.functional as F

import dropout
from common import linear


def rms_norm(P, x, name=None, eps=1e-5):
    y = x.float() if x.dtype == torch.bfloat16 else x
    y = y * torch.rsqrt((y * y).mean(-1, keepdim=True) + eps)
    return y * P[name + "/gain"] if name else y


def unit(x):
    y = x.float() if x.dtype == torch.bfloat16 else x
    return y * torch.rsqrt((y * y).sum(-1, keepdim=True) + 1e-6)


def heads(x, n):
    return x.reshape(*x.shape[:2], n, -1)


def recur(step, length, back, *arrays):
    """y_t of each example; step(S, one vector per array) -> (S, y); arrays (B,T,H,..)"""
    rows = []
    for b, n in enumerate(length.tolist()):
        out, S = [None] * n, None
        for t in reversed(range(n)) if back else range(n):
            S, out[t] = step(S, *(a[b, t] for a in arrays))
        y = torch.stack(out)
        rows.append(torch.cat([y, torch.zeros_like(arrays[0][b, n:, :, :1]).expand(-1, -1, y.shape[-1]).to(y.dtype)]))
    return torch.stack(rows)


def state(step, length, config, *arrays):
    """The recurrence; without causal=1 in both directions, added."""
    y = recur(step, length, False, *arrays)
    return y if config["causal"] == "1" else y + recur(step, length, True, *arrays)


def erase_and_write(S, q, k, v, w, beta):
    """S <- S diag(w); then the value that S returns for k moves towards v by beta.  q, k, w (H,K), v (H,V), beta (H,1)"""
    q, k, v, w, beta = (x if x.dtype == torch.float64 else x.float() for x in (q, k, v, w, beta))
    if S is None:
        S = torch.zeros(*v.shape, k.shape[-1], dtype=v.dtype)
    S = S * w[:, None]
    old = torch.einsum("hvk,hk->hv", S, k)
    S = S + torch.einsum("hv,hk->hvk", beta * (v - old), k)
    return S, torch.einsum("hvk,hk->hv", S, q)


def write(S, q, k, v, w):
    """S <- S diag(w) + v k^T"""
    if S is None:
        S = torch.zeros(*v.shape, k.shape[-1], dtype=v.dtype)
    S = S * w[:, None] + torch.einsum("hv,hk->hvk", v, k)
    return S, torch.einsum("hvk,hk->hv", S, q)


def conv(P, x, length, config, name, taps):
    """Depthwise convolution and SiLU.  Kernel (taps,1,D); the last tap is the present token, or the middle one."""
    if taps == 0:
        return F.silu(x)
    w = P[name + "/kernel"]
    seen = (torch.arange(x.shape[1])[None] < length[:, None])[..., None]
    before = taps - 1
    after = 0 if config["causal"] == "1" else taps - 1
    padded = F.pad(x * seen, (0, 0, before, after))
    y = sum(padded[:, i:i + x.shape[1]] * w[i, 0] for i in range(w.shape[0]))
    assert w.shape[0] == before + after + 1
    return F.silu(y + P[name + "/b"] if name + "/b" in P else y)


def decay(P, x, name):
    """exp(-exp(a) softplus(x + shift)) (B,T,H), and softplus(..)"""
    a, shift = P[name + "decay"]
    x = x.float() if x.dtype == torch.bfloat16 else x
    dt = F.softplus(x + shift)
    return torch.exp(-torch.exp(a) * dt), dt


def expand(config, name):
    return round(float(config[name + ".expand"]) * int(config["width"]))


def blocks(P, x, config, mixers):
    """mixers: name -> f(u, path); the list of the setting `mixers`, repeated."""
    order = []
    for entry in config["mixers"].split(","):
        name, _, n = entry.partition("*")
        order += [name] * int(n or 1)
    rate = float(config["dropout"])
    for i in range(int(config["layers"])):
        path, name = f"encoder/layer{i}/", order[i % len(order)]
        u = mixers[name](rms_norm(P, x, path + "norm1").to(x.dtype), f"{path}{name}/")
        x = x + dropout.drop(P, u, rate, path + "dropout")
        if int(config["hidden"]):
            u = rms_norm(P, x, path + "norm2").to(x.dtype)
            h = F.silu(linear(P, u, path + "gate")) * linear(P, u, path + "up")
            h = linear(P, dropout.drop(P, h, rate, path + "dropout.1"), path + "down")
            x = x + dropout.drop(P, h, rate, path + "dropout.2")
    return rms_norm(P, x, "encoder/norm")
