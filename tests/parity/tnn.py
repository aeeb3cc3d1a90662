"""tnn: Qin et al. 2023, arXiv:2305.04749: Toeplitz matrices whose entries a small network computes from the lag."""
import torch
import torch.nn.functional as F

import common

CASES = ["", "rpe-layers=3 gamma=0.9", "norm=post norm-kind=layer causal=1", "expand=2 hidden=5 gamma=0.6 rpe=7",
         "columns=5 gamma=0.9", "columns=8 causal=1 norm=post norm-kind=layer", "columns=50 expand=2", "columns=1"]


def zero(config):
    """Parameters without effect: batch norm removes a bias that is added to all tokens; if there is a single lag, 0, the first
    layer has the input 0."""
    one = {"1": ("*/rows/rpe/first/w",), "50": ("*/columns/rpe/first/w",)}.get(config["columns"], ())
    return one + (("*/gtu/out/b", "*/glu/down/b") if config["norm-kind"] == "batch" else ())


def rms(x):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-8)


def apply(matrix, v, causal):
    """y_t = sum_s matrix_ts v_s for each channel."""
    t = torch.arange(v.shape[1])
    if causal:
        matrix = matrix * (t[:, None] >= t)[..., None]
    return torch.einsum("tsc,bsc->btc", matrix, v)


def toeplitz(v, entries, causal):
    """Applies the Toeplitz matrix with these entries, (lags -(T-1) .. T-1, channels)."""
    t = torch.arange(v.shape[1])
    return apply(entries[t[:, None] - t + v.shape[1] - 1], v, causal)


def encode(P, x, length, config, T_max):
    T = x.shape[1]

    def norm(x, name):
        return common.batch_norm(P, x, length, name) if config["norm-kind"] == "batch" else common.layer_norm(P, x, name)

    def entries(name):
        """The entries of the Toeplitz matrix, (lags -(T-1) .. T-1, channels)."""
        k = torch.arange(1 - T, T, dtype=x.dtype)[:, None]
        h = common.linear(P, k, name + "first")
        for i in range(int(config["rpe-layers"])):
            h = common.linear(P, F.relu(rms(h)), f"{name}hidden{i}")
        return common.linear(P, F.relu(rms(h)), name + "last") * float(config["gamma"]) ** k.abs()

    def gtu(x, name):
        u, v = F.silu(common.linear(P, x, name + "u")), F.silu(common.linear(P, x, name + "v"))
        assert u.shape[-1] == int(config["expand"]) * x.shape[-1]
        v = v * common.tokens(x, length)
        t, N, causal = torch.arange(T), int(config["columns"]), config["causal"] == "1"
        if N:  # images: along the rows, and along the columns
            row, column = t // N, t % N
            down = entries(name + "columns/rpe/")[row[:, None] - row + T - 1] * (column[:, None] == column)[..., None]
            along = entries(name + "rows/rpe/")[column[:, None] - column + T - 1]
            y = apply(down + along * (row[:, None] == row)[..., None], v, causal)
        else:
            y = toeplitz(v, entries(name + "rpe/"), causal)
        return common.linear(P, u * y, name + "out")

    def glu(x, name):
        return common.linear(P, F.silu(common.linear(P, x, name + "gate")) * common.linear(P, x, name + "up"), name + "down")

    for i in range(int(config["layers"])):
        for part, name in ((gtu, "gtu"), (glu, "glu")):
            name = f"encoder/layer{i}/{name}/"
            x = x + (part(norm(x, name + "norm"), name) if config["norm"] == "pre" else norm(part(x, name), name + "norm"))
    return norm(x, "encoder/norm") if config["norm"] == "pre" else x
