"""lru: Orvieto et al. 2023, arXiv:2303.06349: a linear recurrence, computed step by step."""
import torch
import torch.nn.functional as F

import common

CASES = ["", "state=5 r-min=0.5", "width=9 layers=3 r-max=0.999 max-phase=0.1"]


def recur(lam, u, length, back=False):
    """The recurrence x[t] = lam x[t-1] + u[t] (back: x[t+1]) within each example; u: (B,T,N), complex."""
    rows = []
    for b, n in enumerate(length.tolist()):
        x, out = torch.zeros_like(u[b, 0]), [None] * n
        for t in reversed(range(n)) if back else range(n):
            x = lam * x + u[b, t]
            out[t] = x
        rows.append(torch.cat([torch.stack(out), torch.zeros_like(u[b, n:])]))
    return torch.stack(rows)


def project(u, B):
    """u B for real u and complex B, as two dense layers."""
    return torch.complex(F.linear(u, B[0].T).to(B.dtype), F.linear(u, B[1].T).to(B.dtype))


def read(h, C):
    """Re(h C), as one dense layer."""
    return F.linear(torch.cat([h.real, h.imag], -1), torch.cat([C[0], -C[1]]).T)


def start_is_right(ring, config):
    """Checks the initial values of nu, theta and gamma."""
    size = torch.exp(-torch.exp(ring[0]))
    assert (size >= float(config["r-min"]) - 1e-6).all() and (size <= float(config["r-max"]) + 1e-6).all()
    assert (torch.exp(ring[1]) <= float(config["max-phase"]) + 1e-6).all()
    assert torch.allclose(ring[2], 0.5 * torch.log(1 - size ** 2), rtol=1e-4, atol=1e-6)


def encode(P, x, length, config, T_max):
    D, N = x.shape[2], int(config["state"])
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        u = common.batch_norm(P, x, length, name + "norm")
        nu, theta, gamma = P[name + "lru/ring"]
        start_is_right(P.start[name + "lru/ring"], config)
        lam = torch.exp(torch.complex(-torch.exp(nu), torch.exp(theta)))
        B, C = P[name + "lru/b"], P[name + "lru/c"]
        assert B.shape == (2, D, N) and C.shape == (2, N, D)
        h = recur(lam, torch.exp(gamma) * project(u, B), length)
        y = read(h, C) + P[name + "lru/skip"] * u
        y = F.gelu(y, approximate="tanh")
        x = x + F.glu(common.linear(P, y, name + "mix"), -1)
    return x
