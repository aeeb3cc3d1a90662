"""performer: Choromanski et al. 2021, arXiv:2009.14794, computed with the complete matrix of weights.  Random
directions are not redrawn (redraw=0), because this reference cannot reproduce the draws; the tests of the op check them."""
import math

import torch
import torch.nn.functional as F

import arena

SOFTMAX = "kernel=softmax redraw=0 "
CASES = ["", "positions=none qkv=6 heads=3", SOFTMAX + "positions=learned qkv=6 heads=3 features=5",
         SOFTMAX + "features=2", "masked=0", SOFTMAX + "masked=0 features=9"]


def features(x, W, seen, keys):
    """The positive random features (B,H,T,features) of x (B,H,T,K)."""
    x = x / x.shape[-1] ** 0.25
    p = x @ W.T.to(x.dtype)
    most = p.amax(-1, keepdim=True)
    if keys:
        most = most.masked_fill(~seen.transpose(-1, -2), -math.inf).amax(-2, keepdim=True)
    e = p - (x * x).sum(-1, keepdim=True) / 2 - most
    return (e.exp() + 1e-6) / math.sqrt(len(W))


def mix(P, u, length, config, name, layer):
    H, T = int(config["heads"]), u.shape[1]
    q, k, v = (arena.heads(P, u, name + s, H) for s in "qkv")
    seen = arena.real(length, T)
    if config["kernel"] == "relu":
        q, k = F.relu(q) + 1e-3, F.relu(k) + 1e-3
    else:
        W = P[name + "directions"].detach()
        K = W.shape[1]
        for i in range(0, len(W), K):  # rows are orthogonal, with the lengths of normal vectors: |w|^2 has mean K
            G = (W[i:i + K, None] * W[None, i:i + K]).sum(-1)
            assert float((G - G.diag().diag()).abs().max()) < 1e-5 * K and float(G.diag().min()) > 0
        q, k = features(q, W, seen, False), features(k, W, seen, True)
    y = arena.weighted(q, k, v, seen, lambda n: n + 2e-6 * (n <= 1e-6))
    return arena.out(P, y, name)


def encode(P, x, length, config, T_max):
    return arena.whole(arena.encode, P, x, length, config, T_max, mix, config["masked"] == "0")
