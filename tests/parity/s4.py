"""s4: Gu et al. 2022, arXiv:2111.00396: kernels of a diagonal-plus-low-rank state space, computed by the recurrence
with full matrices."""
import torch
import torch.nn.functional as F

import common

CASES = ["", "ssm-copies=2 state=8", "version=v3 norm=post gate=0", "version=v1 norm=post", "version=v1 causal=0 gate=1",
         "causal=1 norm-kind=batch dt-max=1", "dropout=0.2", "dropout=0.2 early-dropout=1"]
zero = common.blocks_zero


def both(x):
    """The stored entries followed by their conjugates."""
    return torch.cat([x, x.conj()], -1)


def pair(re, im):
    """A complex128 number: kernels are computed in double for any type of the model."""
    return torch.complex(re, im).cdouble()


def legs(N, clip):
    """HiPPO-LegS in normal form: eigenvalues with negative imaginary part, B and P."""
    i = torch.arange(N).double()
    size = ((2 * i[:, None] + 1) * (2 * i + 1)).sqrt() / 2
    mu, V = torch.linalg.eigh(-1j * (size.triu(1) - size.tril(-1)))
    mu, V = mu[:N // 2], V[:, :N // 2].cdouble()
    V = V * (V[0].conj() / V[0].abs())
    B = V.conj().T @ (2 * i + 1).sqrt().to(V.dtype)
    P = V.conj().T @ (i + 0.5).sqrt().to(V.dtype)
    if clip:
        B = B.real + 1j * B.imag.clamp(-2, 2)
    return -0.5 + 1j * mu, B, P


def kernels(P, path, version, sides, width, T, T_max):
    """The kernels (sides,width,T) from the parameters at `path`."""
    L, v1 = T_max + T_max % 2, version == "v1"

    def parts(Q):
        """Returns Lambda, B, P, conj Q."""
        re = Q[path + "decay"] if v1 else -Q[path + "log_decay"].exp()
        low = pair(*Q[path + "p"])
        return pair(re, -Q[path + "turn"])[0], pair(*Q[path + "b"]), low, (pair(*Q[path + "q"]) if v1 else low).conj()

    lam, B, low, right = parts(P)
    N = 2 * lam.shape[-1]
    eye = torch.eye(N).cdouble()
    for found, wanted in zip(parts(P.start), legs(N, version == "v4")):
        assert torch.allclose(found, wanted.expand_as(found), rtol=1e-6, atol=1e-6), (found, wanted)
    C, step = pair(*P[path + "c"]), P[path + "dt"].double()
    dt = torch.log1p(step.exp()) if version == "v4" else step.exp()
    assert C.shape == (sides * width, N // 2) and dt.shape == (width,)
    rows = []
    for r in range(sides * width):
        h = r % width
        copy = [h % t.shape[0] for t in (lam, B, low, right)]
        A = torch.diag(both(lam[copy[0]])) - torch.outer(both(low[copy[2]]), both(right[copy[3]]))
        less = eye - dt[h] / 2 * A
        Ab = torch.linalg.solve(less, eye + dt[h] / 2 * A)
        state = torch.linalg.solve(less, dt[h] * both(B[copy[1]]))
        # the parameter is C (1 - Ab^L)
        c = torch.linalg.solve((eye - torch.linalg.matrix_power(Ab, L)).T, both(C[r]))
        k = []
        for _ in range(T):
            k.append((c @ state).real)
            state = Ab @ state
        rows.append(torch.stack(k))
    return torch.stack(rows).reshape(sides, width, T)


def encode(P, x, length, config, T_max):
    def of_layer(Q, path):
        sides = 1 if config["causal"] == "1" else 2
        return kernels(Q, path, config["version"], sides, x.shape[2], x.shape[1], T_max).to(x.dtype)

    return common.blocks(P, x, length, config, "ssm", of_layer)
