"""Gated delta rule: the ops matrix_state and matrix_state_grad and the chunked form of arXiv:2412.06464 in PyTorch.

    matrix_state.py [BUILD [THREADS]]     BUILD: a release build, default build/release

Forward and backward pass, float32, B 16, T 1024, four heads, D 128 (K = V = 32).  PyTorch: the best of chunks of 32, 64 and
128 tokens, eager and compiled; both forms are first compared with the recurrence, token by token.  Medians of 5.
"""
import os
import re
import statistics
import subprocess
import sys
import time

import torch

B, T, H, K = 16, 1024, 4, 32


def chunked(q, k, v, beta, g, C):
    """q, k, v (B,H,T,K), beta, g (B,H,T): g is the logarithm of the decay"""
    n = q.shape[2] // C
    q, k, v = (x.reshape(*x.shape[:2], n, C, -1) for x in (q, k, v))
    beta, total = beta.reshape(*beta.shape[:2], n, C, 1), g.reshape(*g.shape[:2], n, C).cumsum(-1)
    decay = (total[..., :, None] - total[..., None, :]).tril().exp().tril()
    within = (beta * k) @ k.transpose(-1, -2) * decay
    right = torch.cat([beta * v, beta * total.exp()[..., None] * k], -1)
    solved = torch.linalg.solve_triangular(torch.eye(C) + within.tril(-1), right, upper=False, unitriangular=True)
    u, w = solved.split([v.shape[-1], k.shape[-1]], -1)
    score = q @ k.transpose(-1, -2) * decay
    last = total[..., -1:, None].exp()
    q, k = q * total.exp()[..., None], k * (total[..., -1:] - total).exp()[..., None]
    S, out = q.new_zeros(*q.shape[:2], k.shape[-1], v.shape[-1]), []
    for i in range(n):
        new = u[:, :, i] - w[:, :, i] @ S
        out.append(q[:, :, i] @ S + score[:, :, i] @ new)
        S = last[:, :, i] * S + k[:, :, i].transpose(-1, -2) @ new
    return torch.cat(out, 2)


def recurrence(q, k, v, beta, g):
    S, out = q.new_zeros(*q.shape[:2], q.shape[-1], v.shape[-1]), []
    for t in range(q.shape[2]):
        S = S * g[:, :, t, None, None].exp()
        new = beta[:, :, t, None] * (v[:, :, t] - torch.einsum("bhkv,bhk->bhv", S, k[:, :, t]))
        S = S + k[:, :, t, :, None] * new[:, :, None]
        out.append(torch.einsum("bhkv,bhk->bhv", S, q[:, :, t]))
    return torch.stack(out, 2)


def inputs(batch, length, dtype):
    torch.manual_seed(1)
    q, k = (torch.nn.functional.normalize(torch.randn(batch, H, length, K, dtype=dtype), dim=-1) for _ in range(2))
    v, beta = torch.randn(batch, H, length, K, dtype=dtype), torch.rand(batch, H, length, dtype=dtype)
    g = -0.1 * torch.rand(batch, H, length, dtype=dtype)
    return [x.requires_grad_() for x in (q, k, v, beta, g)]


def seconds(f, x, grad):
    times = []
    for _ in range(6):
        start = time.perf_counter()
        f(*x).backward(grad)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def peer():
    torch.set_default_dtype(torch.float64)
    x = inputs(1, 64, torch.float64)
    worst = max(float((chunked(*x, C) - recurrence(*x)).detach().abs().max()) for C in (16, 32, 64))
    assert worst < 1e-12, worst
    torch.set_default_dtype(torch.float32)
    x = inputs(B, T, torch.float32)
    grad = torch.randn(B, H, T, K)
    rows = []
    for C in (32, 64, 128):
        for name, make in (("eager", lambda f: f), ("compiled", torch.compile)):
            try:
                f = make(lambda *a, C=C: chunked(*a, C))
                rows.append((seconds(f, x, grad), f"{name}, chunks of {C}"))
            except Exception as error:  # no compiler for torch.compile
                print(f"{name}, chunks of {C}: not measured: {type(error).__name__}", file=sys.stderr)
    return min(rows)


def ours(build, threads):
    text = subprocess.run([f"{build}/lra-probe", "bench", "step", "--model", "gated-deltanet", "--set", "layers=1", "--set",
                           "width=128", "--set", "causal=1", "--threads", str(threads), "--seconds", "2"],
                          check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"^(matrix_state\w*) +1 +([0-9.]+)", text, re.M))
    return [float(found[name]) / 1e3 for name in ("matrix_state", "matrix_state_grad")]


if __name__ == "__main__":
    build, threads = (sys.argv[1:] + ["build/release"])[0], int((sys.argv[2:] + ["1"])[0])
    os.environ["OMP_NUM_THREADS"] = str(threads)
    torch.set_num_threads(threads)
    forward, backward = ours(build, threads)
    best, name = peer()
    print(f"lra-probe  {1e3 * forward:.1f} ms forward, {1e3 * backward:.1f} ms backward, {threads} thread(s)")
    print(f"PyTorch {torch.__version__}  {1e3 * best:.1f} ms forward and backward, {name}")
    print(f"ratio  {(forward + backward) / best:.2f}")
