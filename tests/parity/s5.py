"""s5: Smith et al. 2023, arXiv:2208.04933: one state space with several inputs and outputs, computed step by step."""
import torch
import torch.nn.functional as F

import common
from lru import project, read, recur

CASES = ["", "act=half-glu1 causal=1", "act=half-glu2 stable=1 c-start=complex", "act=gelu discrete=bilinear c-start=trunc",
         "state=8 blocks=2 groups=nobcdecay", "groups=bandcdecay dt-group=global", "groups=bfastandcdecay c-start=complex"]


def hippo(n):
    """Negative imaginary parts of the eigenvalues of the normal part of HiPPO-LegS."""
    i = torch.arange(n).double()
    size = ((2 * i[:, None] + 1) * (2 * i + 1)).sqrt() / 2
    mu, V = torch.linalg.eigh(-1j * (size.triu(1) - size.tril(-1)))
    return mu[:n // 2]


def encode(P, x, length, config, T_max):
    D, N = x.shape[2], int(config["state"]) // 2
    sides = 1 if config["causal"] == "1" else 2
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        u = common.batch_norm(P, x, length, name + "norm")
        q = {k: P[f"{name}s5/{k}"] for k in ("decay", "turn", "b", "c", "skip", "log_dt")}
        lam = torch.complex(q["decay"], -q["turn"]).reshape(N)
        blocks = int(config["blocks"])
        assert (P.start[name + "s5/decay"] == -0.5).all()
        turn = hippo(2 * N // blocks).repeat(blocks)
        assert torch.allclose(-P.start[name + "s5/turn"].reshape(N).double(), turn, rtol=1e-6 if x.dtype != torch.float64 else 1e-12)
        if config["stable"] == "1":
            lam = torch.complex(lam.real.clamp(max=-1e-4), lam.imag)
        dt = q["log_dt"].exp()
        if config["discrete"] == "zoh":
            bar = (lam * dt).exp()
            weight = (bar - 1) / lam
        else:
            weight = dt / (1 - lam * dt / 2)
            bar = (1 + lam * dt / 2) / (1 - lam * dt / 2)
        assert q["b"].shape == (2, D, N) and q["c"].shape == (2, sides * N, D)
        v = weight * project(u, q["b"])
        states = torch.cat([recur(bar, v, length, back) for back in (False, True)[:sides]], -1)
        y = 2 * read(states, q["c"]) + q["skip"] * u
        a = F.gelu(y, approximate="tanh")
        if config["act"] == "full-glu":
            a = common.linear(P, a, name + "value") * common.linear(P, a, name + "gate").sigmoid()
        elif config["act"] == "half-glu1":
            a = a * common.linear(P, a, name + "gate").sigmoid()
        elif config["act"] == "half-glu2":
            a = y * common.linear(P, a, name + "gate").sigmoid()
        x = x + a
    return x
