"""s4d: Gu et al. 2022, arXiv:2206.11893, with zero-order hold; kernels by their definition, convolution as a matrix."""
import torch
import torch.nn.functional as F

CASES = ["", "width=16 state=16 copies=4", "causal=1 copies=2 init=inv", "init=real"]


def norm(P, x, name):
    return F.layer_norm(x, x.shape[-1:], P[name + "/gain"], P[name + "/bias"], 1e-5)


def kernels(P, name, width, T):
    """(sides, width, T)"""
    a = torch.complex(-P[name + "log_decay"].exp()[0], -P[name + "turn"][0])  # (copies, modes)
    b = torch.complex(P[name + "b_re"][0], P[name + "b_im"][0])
    c = torch.complex(P[name + "c"][0], P[name + "c"][1])
    channel = torch.arange(c.shape[0]) % width
    copy = channel % a.shape[0]
    dt, a, b = P[name + "log_dt"].exp()[channel][:, None], a[copy], b[copy]
    weight = c * b * ((dt * a).exp() - 1) / a
    powers = (dt * a)[..., None] * torch.arange(T)
    return 2 * (weight[..., None] * powers.exp()).sum(1).real.reshape(-1, width, T)


def convolve(u, k):
    """y[t] = sum_(s<=t) k[0][t-s] u[s] + sum_(s>t) k[1][s-t-1] u[s]"""
    T = u.shape[1]
    t = torch.arange(T)
    lag = t[:, None] - t[None]
    matrix = k[0][:, lag.clamp(min=0)] * (lag >= 0)
    if len(k) == 2:
        matrix = matrix + k[1][:, (-lag - 1).clamp(min=0)] * (lag < 0)
    return torch.einsum("dts,bsd->btd", matrix, u)


def encode(P, x, length, config, T_max):
    T, width = x.shape[1:]
    real = (torch.arange(T)[None] < length[:, None])[..., None]
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        u = norm(P, x, name + "norm")
        y = convolve(u * real, kernels(P, name + "ssm/", width, T))
        h = F.gelu(y + P[name + "ssm/skip"] * u) @ P[name + "mix/w"] + P[name + "mix/b"]
        x = x + F.glu(h, -1)
    return norm(P, x, "encoder/norm")
