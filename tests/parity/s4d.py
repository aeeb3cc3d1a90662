"""s4d: Gu et al. 2022, arXiv:2206.11893, kernels by their definition."""
import torch

import common
import s4

CASES = ["", "width=16 state=16 ssm-copies=4", "causal=1 ssm-copies=2 init=inv", "init=real norm=post norm-kind=batch", "init=legs", "init=legs state=8 discrete=bilinear", "discrete=bilinear dt-max=1"]
zero = common.blocks_zero


def encode(P, x, length, config, T_max):
    width, T = x.shape[2], x.shape[1]

    def kernels(P, path):
        a = torch.complex(-P[path + "log_decay"].exp()[0], -P[path + "turn"][0])  # (copies, modes)
        b = torch.complex(P[path + "b_re"][0], P[path + "b_im"][0])
        if config["init"] == "legs":
            start, (lam, B, _) = P.start, s4.legs(int(config["state"]), clip=True)
            for found, wanted in zip((start[path + "turn"], start[path + "b_re"], start[path + "b_im"]), (-lam.imag, B.real, B.imag)):
                assert torch.allclose(found[0].double(), wanted.expand_as(found[0]), rtol=1e-6, atol=1e-6)
        c = torch.complex(P[path + "c"][0], P[path + "c"][1])
        channel = torch.arange(c.shape[0]) % width
        copy = channel % a.shape[0]
        dt, a, b = P[path + "log_dt"].exp()[channel][:, None], a[copy], b[copy]
        weight = c * b * ((dt * a).exp() - 1) / a
        if config["discrete"] == "bilinear":
            z = dt * a
            step = (1 + z / 2) / (1 - z / 2)
            return 2 * ((c * b * dt / (1 - z / 2))[..., None] * step[..., None] ** torch.arange(T)).sum(1).real.reshape(-1, width, T)
        powers = (dt * a)[..., None] * torch.arange(T)
        return 2 * (weight[..., None] * powers.exp()).sum(1).real.reshape(-1, width, T)

    return common.blocks(P, x, length, config, "ssm", kernels)
