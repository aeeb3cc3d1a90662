"""resconv: residual convolutions over time; "On the locality bias and results in the Long Range Arena", section 8."""
import torch.nn.functional as F

import common

CASES = ["", "pool=max", "pool=last causal=1 dilation=4 layers=3 kernel=3", "groups=2 kernel=3 dilation=2", "kernel=1 hidden=5"]


def encode(P, x, length, config, T_max):
    K, G, most = int(config["kernel"]), int(config["groups"]), int(config["dilation"])
    for i in range(int(config["layers"])):
        name, step = f"encoder/layer{i}/", min(most, K ** i)
        u = common.layer_norm(P, x, name + "norm") * common.tokens(x, length)
        span = step * (K - 1)
        before = span if config["causal"] == "1" else span // 2
        w = P[name + "conv/kernel"].permute(2, 1, 0)  # (H, D/G, K)
        u = F.pad(u.transpose(1, 2), (before, span - before))
        h = F.relu(F.conv1d(u, w, P[name + "conv/b"], dilation=step, groups=G)).transpose(1, 2)
        x = x + common.linear(P, h, name + "linear")
    return common.layer_norm(P, x, "encoder/norm")
