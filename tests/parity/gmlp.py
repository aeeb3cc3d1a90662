"""gmlp: Liu et al. 2021, arXiv:2105.08050, with a Toeplitz matrix over positions, computed as a full matrix."""
import torch
import torch.nn.functional as F

import common

CASES = ["", "kernels=4 hidden=12", "gate-norm=0 halves=split", "kernels=1 layers=3"]


def encode(P, x, length, config, T_max):
    T, H, C = x.shape[1], int(config["hidden"]), int(config["kernels"])
    H = H // 2 if config["halves"] == "split" else H
    t = torch.arange(T)
    lag = t[:, None] - t[None]
    for i in range(int(config["layers"])):
        name = f"encoder/layer{i}/"
        z = F.gelu(common.linear(P, common.layer_norm(P, x, name + "norm"), name + "in"))
        z1, z2 = z[..., :H], z[..., H:]
        if config["gate-norm"] == "1":
            z2 = common.layer_norm(P, z2, name + "gate/norm")
        z2 = z2 * common.tokens(x, length)
        k, b = P[name + "gate/taps"], P[name + "gate/b"]
        assert k.shape == (C, 2 * T_max - 1) and b.shape == (T_max,)
        toeplitz = k[:, lag + T_max - 1][torch.arange(H) % C]
        z2 = torch.einsum("hts,bsh->bth", toeplitz, z2) + b[:T, None]
        x = x + common.linear(P, z1 * z2, name + "out")
    return common.layer_norm(P, x, "encoder/norm")
