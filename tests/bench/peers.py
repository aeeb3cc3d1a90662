"""Fair peers for tests/bench/models.py: the references of tests/parity as one would write them for speed in PyTorch, where
they are written by definition.  `models.py --check` compares both.

prepare(name) exchanges what references share; FAST holds encoders of their own.  A reference in neither is as fast as it
is written (linear layers, convolutions of torch, Vandermonde kernels).
"""
import importlib
import sys

import torch
import torch.nn.functional as F

import common

CHUNK = 64  # of a scan; models.py goes through several


def fft_convolve(u, k):
    """common.convolve() by one FFT of twice the length."""
    T = u.shape[1]
    n = 2 * T
    both = F.pad(k[0], (0, T))
    if len(k) == 2:
        both = both + F.pad(k[1].flip(-1), (T, 0))
    y = torch.fft.irfft(torch.fft.rfft(u.transpose(1, 2), n=n) * torch.fft.rfft(both, n=n), n=n)
    return y[..., :T].transpose(1, 2)


def batch_norm(P, x, length, name):
    """common.batch_norm() where all examples are of full length."""
    return F.batch_norm(x.reshape(-1, x.shape[-1]), None, None, P[name + "/gain"], P[name + "/bias"], True).view(x.shape)


def scan(lam, u, length=None, back=False):
    """x[t] = lam x[t-1] + u[t], by chunks: products inside, a short recurrence between; u: (B,T,N), complex"""
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


def sdpa(q, k, v, seen=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def arena_attention(P, q, k, v, seen, config, name):
    return sdpa(q, k, v, seen)


def weighted(q, k, v, seen, divisor):
    """arena.weighted() by sums over the keys."""
    k = k * seen.transpose(-1, -2)
    return (q @ (k.transpose(-1, -2) @ v)) / divisor((q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True))


# ---- encoders ---------------------------------------------------------------------------------------------------------


def transformer(P, x, length, config, T_max):
    import transformer as own

    def attend(P, u, length, config, name):
        B, T, D = u.shape
        H = int(config["heads"])
        q, k, v = (own.linear(P, u, name + s).view(B, T, H, D // H).transpose(1, 2) for s in "qkv")
        if config["positions"].startswith("rotary"):
            q, k = (own.turn(z, float(config["base"]), config["positions"] == "rotary-half").to(v.dtype) for z in (q, k))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=config["causal"] == "1")
        return own.linear(P, y.transpose(1, 2).reshape(B, T, D), name + "out")

    kept, own.attend = own.attend, attend
    try:
        return own.encode(P, x, length, config, T_max)
    finally:
        own.attend = kept


def local(P, x, length, config, T_max):
    import arena

    def mix(P, u, length, config, name, layer):
        (B, T, _), H, block = u.shape, int(config["heads"]), int(config["block"])
        more = -T % block
        q, k, v = (F.pad(arena.heads(P, u, name + s, H), (0, 0, 0, more)) for s in "qkv")
        q, k, v = (z.reshape(B, H, -1, block, z.shape[-1]) for z in (q, k, v))
        seen = None
        if more:
            seen = (torch.arange(T + more) < T).view(-1, 1, block)
        return arena.out(P, sdpa(q, k, v, seen).reshape(B, H, T + more, -1)[:, :, :T], name)

    return arena.encode(P, x, length, config, T_max, mix)


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
    """k: (H, 2 T - 1) by lag from -(T-1)."""
    T = u.shape[1]
    n = 2 * T
    y = torch.fft.irfft(torch.fft.rfft(u.transpose(1, 2), n=n) * torch.fft.rfft(F.pad(k, (0, 1)).roll(1 - T, -1), n=n), n=n)
    return y[..., :T].transpose(1, 2)


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


FAST = {"transformer": transformer, "local": local, "lstm": lstm, "gmlp": gmlp, "h3": h3}


# ---- what references share --------------------------------------------------------------------------------------------


def mega_convolve(x, k, causal):
    D, T = x.shape[2], x.shape[1]
    k = F.pad(k, (0, T - k.shape[1]))
    if causal:
        return fft_convolve(x, k[None])
    # both directions have lag 0
    ahead = F.pad(k[D:, 1:], (0, 1))
    return fft_convolve(x, torch.stack([torch.cat([k[:D, :1] + k[D:, :1], k[:D, 1:]], 1), ahead]))


def mega_attend(P, q, k, v, bias, length, config, name):
    """Softmax by scaled_dot_product_attention, chunk by chunk; laplace as it is written."""
    (B, T, _), R = q.shape, (len(bias) + 1) // 2
    c = int(config["chunk"]) or T
    if config["attention"] == "laplace" or T % c or config["causal"] == "1":
        return sys.modules["mega"].written(P, q, k, v, bias, length, config, name)
    t = torch.arange(c)
    rel = bias[(t[None] - t[:, None] + R - 1).clamp(0, 2 * R - 2)]
    q, k, v = (z.reshape(B, T // c, c, -1) for z in (q, k, v))
    return sdpa(q, k, v, rel).reshape(B, T, -1)


def prepare(name):
    """Exchanges what is shared by definition for what is fast; returns the encoder."""
    common.convolve, common.batch_norm = fft_convolve, batch_norm
    module = importlib.import_module(name)
    for shared, what in (("arena", {"attention": arena_attention, "weighted": weighted}), ("lru", {"recur": scan}), ("s5", {"recur": scan}),
                         ("mega", {"convolve": mega_convolve, "attend": mega_attend})):
        own = sys.modules.get(shared)
        for key, fast in what.items():
            if own and hasattr(own, key):
                if key == "attend":
                    own.written = own.attend
                setattr(own, key, fast)
    return FAST.get(name, module.encode)
