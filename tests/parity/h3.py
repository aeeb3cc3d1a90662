"""h3: Fu et al. 2022, arXiv:2212.14052: two state-space layers between gates; kernels by their definition."""
import torch

import common

CASES = ["", "state=7", "layers=3 dt-min=0.01 dt-max=2", "state=50"]


def encode(P, x, length, config, T_max):
    T, D = x.shape[1:]
    N, modes = int(config["state"]), int(config["state"]) // 2

    def shift(P, path):
        """Kernel of a shift state space: K_l = sum_n C_(n+l) B_n."""
        b, c = P[path + "b"], P[path + "c"]
        assert b.shape == c.shape == (D, N)
        k = torch.stack([(c[:, l:] * b[:, :N - l]).sum(1) if l < N else torch.zeros(D, dtype=x.dtype) for l in range(T)], 1)
        return k[None]

    def diagonal(P, path):
        a = torch.complex(-P[path + "log_decay"].exp(), -P[path + "turn"])[0]
        b = torch.complex(P[path + "b_re"], P[path + "b_im"])[0]
        c = torch.complex(P[path + "c"][0], P[path + "c"][1])
        assert a.shape == b.shape == c.shape == (D, modes)
        z = P[path + "log_dt"].exp()[:, None] * a / 2
        base, weight = (1 + z) / (1 - z), c * b * P[path + "log_dt"].exp()[:, None] / (1 - z)
        power, k = torch.ones_like(base), []
        for _ in range(T):
            k.append(2 * (weight * power).sum(1).real)
            power = power * base
        return torch.stack(k, 1)[None]

    def mix(u, name):
        q, k, v = (common.linear(P, u, name + s) for s in ("q", "k", "v"))
        k = k * common.tokens(x, length)
        k = common.convolve(k, shift(P, name + "shift/")) + P[name + "shift/skip"] * k
        kv = k * v * common.tokens(x, length)
        y = q * (common.convolve(kv, diagonal(P, name + "ssm/")) + P[name + "ssm/skip"] * kv)
        return common.linear(P, y, name + "out")

    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        x = x + mix(common.layer_norm(P, x, name + "norm"), name)
    return common.layer_norm(P, x, "encoder/norm")
