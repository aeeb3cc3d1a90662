"""las and related models: attention whose scores decrease with distance and whose weights are averaged ("Viewing
Transformers Through the Lens of Long Convolution Layers", equations 2 to 4; Press et al. 2022, arXiv:2108.12409),
computed with complete attention maps."""
import math

import torch

import common
import transformer

SMOOTHING = ["smoothing=causal average=5", "smoothing=centred-remask", "smoothing=centred-remask average=5 chunk=7", "smoothing=centred average=5", "smoothing=centred-renorm average=3",
             "smoothing=centred-renorm average=5 chunk=3"]
ALPHA = ["", "heads=4 alpha=scale bound=0.5", "heads=4 alpha=geo", "alpha=geo bound=0.0001 norm=post norm-kind=batch chunk=5"]
CASES = ALPHA + SMOOTHING + ["alpha=geo positions=sinusoidal " + SMOOTHING[3], "alpha=scale positions=learned " + SMOOTHING[4]]


def zero(config):
    """Parameters without effect: without decay, a key bias adds the same number to all scores of a row; a batch norm
    removes a bias that is added to all tokens; a moving average at least as wide as the chunk makes all weights equal."""
    names = [] if "alpha" in config else ["*/k/b"]
    if config.get("smoothing") in ("centred-renorm", "centred-remask") and 0 < int(config["chunk"]) <= (int(config["average"]) + 1) // 2:
        names += ["*/q/*", "*/k/*"]
    if config["norm-kind"] == "batch":
        whole = config.get("smoothing", "centred-renorm") in ("centred-renorm", "centred-remask")
        names += ["*/out/b", "*/down/b"] + (["*/v/b"] if whole else [])
    return names


def decay(config, h):
    """The decay rates alpha_c of heads c = 0 .. h-1."""
    B = float(config["bound"])
    c = torch.arange(1, h, dtype=torch.float64)
    kept = {"literal": B * c / max(h - 1, 1), "scale": 1 - (1 - math.exp(-B)) * c / max(h - 1, 1),
            "geo": (-(2.0 ** (-8 * c / h))).exp()}[config["alpha"]]
    return torch.cat([torch.zeros(1, dtype=torch.float64), -kept.log()])


def average(a, P, kind, same):
    """Moving average along the last axis of the maps a (B,H,T,T); same (B,T,T): true where column k contributes to column j."""
    T = a.shape[-1]
    j, k = torch.arange(T)[:, None], torch.arange(T)[None]
    near = (k >= j) & (k < j + P) if kind == "causal" else (k - j).abs() <= (P - 1) // 2
    spread = (near & same).to(a.dtype) / P  # (B, new column j, old column k)
    a = torch.einsum("bhik,bjk->bhij", a, spread)
    if kind == "centred-remask":
        a = a * torch.ones(T, T, dtype=torch.bool).tril()
    return a / a.sum(-1, keepdim=True).clamp(min=1e-30) if kind in ("centred-renorm", "centred-remask") else a


def attend(P, u, length, config, name):
    B, T, D = u.shape
    H = int(config["heads"])
    K, chunk = D // H, int(config["chunk"])
    q, k, v = (common.linear(P, u, name + s).view(B, T, H, K).transpose(1, 2) for s in "qkv")
    t = torch.arange(T)
    apart = (t[:, None] - t[None]).to(u.dtype)
    block = t // chunk if chunk else torch.zeros(T)
    token = common.tokens(u, length)[..., 0]
    same = (block[:, None] == block[None]) & token[:, None, :] & token[:, :, None]
    score = q @ k.transpose(-1, -2) / math.sqrt(K)
    if "alpha" in config:
        score = score * (-decay(config, H)[:, None, None] * apart.abs()).exp()
    if "alibi" in config:
        m = 2.0 ** (-8 * torch.arange(1, H + 1, dtype=torch.float64) / H)
        m = m / math.sqrt(K) if config["alibi"] == "paper" else m
        score = score - m[:, None, None] * apart.abs()
    seen = (same & (apart >= 0))[:, None]
    a = score.masked_fill(~seen, -math.inf).softmax(-1).nan_to_num(0.0)
    if "smoothing" in config:
        a = average(a, int(config["average"]), config["smoothing"], same)
    return common.linear(P, (a @ v).transpose(1, 2).reshape(B, T, D), name + "out")


def encode(P, x, length, config, T_max):
    def norm(P, x, name):
        batch = config["norm-kind"] == "batch"
        return common.batch_norm(P, x, length, name) if batch else common.layer_norm(P, x, name)

    return transformer.blocks(P, x, length, config, T_max, lambda u, name: attend(P, u, length, config, name), norm)
