"""Fast forms of the references of tests/parity, for tests/bench/models.py: the references follow the definitions, these forms
use the fast operations of PyTorch.  `models.py --check` compares both.

prepare(name) replaces parts of a reference (PARTS; peers_attention.py); FAST contains complete encoders.  References in
neither list are already fast (linear layers, convolutions of torch, Vandermonde kernels).
"""
import functools
import importlib
import sys

import torch
import torch.nn.functional as F

import common
import peers_attention as attention

CHUNK = 64  # tokens in a chunk of a scan; models.py tries several values


def fft_convolve(u, k):
    """common.convolve() with Fourier transforms of twice the length."""
    T = u.shape[1]
    n = 2 * T
    both = F.pad(k[0], (0, T))
    if len(k) == 2:
        both = both + F.pad(k[1].flip(-1), (T, 0))
    y = torch.fft.irfft(torch.fft.rfft(u.transpose(1, 2), n=n) * torch.fft.rfft(both, n=n), n=n)
    return y[..., :T].transpose(1, 2)


def batch_norm(P, x, length, name):
    """common.batch_norm() for examples of full length."""
    return F.batch_norm(x.reshape(-1, x.shape[-1]), None, None, P[name + "/gain"], P[name + "/bias"], True).view(x.shape)


def scan(lam, u, length=None, back=False):
    """x[t] = lam x[t-1] + u[t] in chunks: matrix products within a chunk, a recurrence over chunks; u: (B,T,N), complex."""
    if back:
        return scan(lam, u.flip(1)).flip(1)
    B, T, N = u.shape
    c = min(CHUNK, T)
    more = -T % c
    u = F.pad(u, (0, 0, 0, more)).reshape(B, -1, c, N)
    log = lam.log()
    t = torch.arange(c, device=u.device)
    lag = t[:, None] - t
    inside = torch.exp(log[:, None, None] * lag.clamp(min=0)) * (lag >= 0)
    y = (inside[:, None] @ u.permute(3, 0, 2, 1)).permute(1, 3, 2, 0)  # (N,1,c,c) (N,B,c,n)
    whole, state, before = torch.exp(log * c), torch.zeros_like(u[:, 0, 0]), []
    for i in range(y.shape[1]):
        before.append(state)
        state = whole * state + y[:, i, -1]
    y = y + torch.exp(log * (t[:, None] + 1)) * torch.stack(before, 1)[:, :, None]
    return y.reshape(B, -1, N)[:, :T]


# ---- encoders ---------------------------------------------------------------------------------------------------------


def lstm(P, x, length, config, T_max):
    both = config["directions"] == "2"
    for i in range(int(config["layers"])):
        w = []
        for side in ("past", "future")[:1 + both]:
            p = f"encoder/layer{i}/{side}/"
            w += [P[p + "w"].T, P[p + "u"].T, P[p + "b"], P[p + "c"]]
        zero = x.new_zeros(1 + both, len(x), w[1].shape[1])
        x = torch._VF.lstm(x, (zero, zero), [a.contiguous() for a in w], True, 1, 0.0, True, both, True)[0]
    return x


def gmlp(P, x, length, config, T_max):
    T, H, C = x.shape[1], int(config["hidden"]), int(config["kernels"])
    H = H // 2 if config["halves"] == "split" else H
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        z1, z2 = F.gelu(common.linear(P, common.layer_norm(P, x, name + "norm"), name + "in")).split(H, -1)
        if config["gate-norm"] == "1":
            z2 = common.layer_norm(P, z2, name + "gate/norm")
        k = P[name + "gate/taps"][torch.arange(H) % C, T_max - T:T_max + T - 1]  # lags -(T-1) .. T-1
        x = x + common.linear(P, z1 * (toeplitz(z2, k) + P[name + "gate/b"][:T, None]), name + "out")
    return common.layer_norm(P, x, "encoder/norm")


def toeplitz(u, k):
    """Convolution with kernels k (H, 2 T - 1) at lags -(T-1) .. T-1."""
    T = u.shape[1]
    n = 2 * T
    y = torch.fft.irfft(torch.fft.rfft(u.transpose(1, 2), n=n) * torch.fft.rfft(F.pad(k, (0, 1)).roll(1 - T, -1), n=n), n=n)
    return y[..., :T].transpose(1, 2)


def toeplitz_by_lag(v, entries, causal):
    lag = torch.arange(1 - v.shape[1], v.shape[1])[:, None]
    return toeplitz(v, (entries * (lag >= 0) if causal else entries).T)


def h3(P, x, length, config, T_max):
    T, N = x.shape[1], int(config["state"])

    def shift(path):
        c = torch.fft.rfft(P[path + "c"], n=2 * N)
        k = torch.fft.irfft(c * torch.fft.rfft(P[path + "b"], n=2 * N).conj(), n=2 * N)[:, :N]
        return F.pad(k, (0, max(0, T - N)))[None, :, :T]

    def diagonal(path):
        a = torch.complex(-P[path + "log_decay"].exp(), -P[path + "turn"])[0]
        b = torch.complex(P[path + "b_re"], P[path + "b_im"])[0]
        c = torch.complex(P[path + "c"][0], P[path + "c"][1])
        z = P[path + "log_dt"].exp()[:, None] * a / 2
        weight = c * b * P[path + "log_dt"].exp()[:, None] / (1 - z)
        powers = ((1 + z) / (1 - z)).log()[..., None] * torch.arange(T)
        return 2 * (weight[..., None] * powers.exp()).sum(1).real[None]

    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        q, k, v = (common.linear(P, common.layer_norm(P, x, name + "norm"), name + s) for s in "qkv")
        kv = (fft_convolve(k, shift(name + "shift/")) + P[name + "shift/skip"] * k) * v
        x = x + common.linear(P, q * (fft_convolve(kv, diagonal(name + "ssm/")) + P[name + "ssm/skip"] * kv), name + "out")
    return common.layer_norm(P, x, "encoder/norm")


FAST = {"local": attention.local, "lstm": lstm, "gmlp": gmlp, "h3": h3}


# ---- what references share --------------------------------------------------------------------------------------------


def mega_convolve(x, k, causal):
    D, T = x.shape[2], x.shape[1]
    k = F.pad(k, (0, T - k.shape[1]))
    if causal:
        return fft_convolve(x, k[None])
    # lag 0 is part of both directions
    ahead = F.pad(k[D:, 1:], (0, 1))
    return fft_convolve(x, torch.stack([torch.cat([k[:D, :1] + k[D:, :1], k[:D, 1:]], 1), ahead]))


def s4_kernels(P, path, version, sides, width, T, T_max):
    """Kernels of S4: C (1 - Ab z)^-1 Bb at the roots z^L = 1 by the Woodbury identity, with D = 1 - z - h diag(A) and h = dt (1 + z)/2, then an inverse FFT."""
    L, v1 = T_max + T_max % 2, version == "v1"
    re = P[path + "decay"] if v1 else -P[path + "log_decay"].exp()
    lam, b, p, c = (torch.complex(*P[path + n]) if n else torch.complex(re, -P[path + "turn"])[0] for n in ("", "b", "p", "c"))
    q = (torch.complex(*P[path + "q"]) if v1 else p).conj()
    lam, b, p, q = (x.repeat(width // x.shape[0], 1) for x in (lam, b, p, q))
    dt = F.softplus(P[path + "dt"]) if version == "v4" else P[path + "dt"].exp()
    z = torch.exp(-2j * torch.pi * torch.arange(L // 2 + 1, dtype=dt.dtype) / L).to(c.dtype)
    h = dt[:, None] * (1 + z) / 2
    left = torch.cat([c.view(sides, width, -1), q[None]])
    # a mode and its conjugate: (left, right, width, modes) by (width, modes, frequencies)
    top = left[:, None] * torch.stack([b, p])[None]
    down = [1 / (1 - z - h[:, None] * x[..., None]) for x in (lam, lam.conj())]
    n = sides + 1
    sums = torch.cat([top, top.conj()], -1).permute(2, 0, 1, 3).reshape(width, 2 * n, -1) @ torch.cat(down, 1)
    sums = sums.view(width, n, 2, -1)
    cb, cp, qb, qp = sums[:, :-1, 0], sums[:, :-1, 1], sums[:, -1:, 0], sums[:, -1:, 1]
    k = dt[:, None, None] * (cb - h[:, None] * cp * qb / (1 + h[:, None] * qp))
    return torch.fft.irfft(k, n=L)[..., :T].transpose(0, 1)


PARTS = {"lru": {"recur": scan}, "s5": {"recur": scan}, "s4": {"kernels": s4_kernels},
         "tnn": {"toeplitz": toeplitz_by_lag},
         "mega": {"convolve": mega_convolve, "attend": attention.mega}} | attention.PARTS
CONSTANTS = (("dss", "skew"), ("s5", "hippo"))


def prepare(name):
    """Replaces parts of the reference by fast forms; returns its encoder."""
    common.convolve, common.batch_norm = fft_convolve, batch_norm
    module = importlib.import_module(name)
    for shared, what in PARTS.items():
        own = sys.modules.get(shared)
        for key, fast in what.items():
            if own and hasattr(own, key):
                attention.WRITTEN.setdefault((shared, key), getattr(own, key))
                setattr(own, key, fast)
    for shared, key in CONSTANTS:
        own = sys.modules.get(shared)
        if own:
            setattr(own, key, functools.cache(getattr(own, key)))
    return FAST.get(name, module.encode)
