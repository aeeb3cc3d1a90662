"""linformer: Wang et al. 2020, arXiv:2006.04768: one matrix mixes keys and values along the length."""
import math

import arena
import dropout

CASES = ["", "positions=learned qkv=6 heads=3 rank=3", "positions=none rank=50 layers=1", "masked=0", "attention-dropout=0.2"]


def mix(P, u, length, config, name, layer):
    H, T = int(config["heads"]), u.shape[1]
    q, k, v = (arena.heads(P, u, name + s, H) for s in "qkv")
    keep = arena.real(length, T).transpose(-1, -2).to(u.dtype)
    E = P[name + "mixture"][:T].to(u.dtype)
    k, v = E.T @ (k * keep), E.T @ (v * keep)
    a = (q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])).softmax(-1)
    return arena.out(P, dropout.of_attention(P, a, config, name + "attention") @ v, name)


def encode(P, x, length, config, T_max):
    assert P["encoder/layer0/mixture"].shape == (T_max, int(config["rank"]))
    return arena.whole(arena.encode, P, x, length, config, T_max, mix, config["masked"] == "0")
