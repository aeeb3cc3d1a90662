"""local: attention within blocks of adjacent tokens, or of tokens at a fixed stride (Tay et al. 2021, arXiv:2011.04006)."""
import torch

import arena

CASES = ["", "block=3 positions=none", "block=7 positions=learned qkv=6 heads=3", "block=50", "layout=strided",
         "layout=strided block=4 positions=learned", "layout=strided block=50",
         "attention-dropout=0.2"]


def encode(P, x, length, config, T_max):
    def mix(P, u, length, config, name, layer):
        block, t = int(config["block"]), torch.arange(u.shape[1])
        if config["layout"] == "strided":
            # The published code pads to `most` positions (by at least one) and attends along the first axis of (block, most/block).
            apart = (T_max + block - T_max % block) // block
            own = t % apart
        else:
            own = t // block
        return arena.attend(P, u, length, config, name, own[:, None] == own[None])

    return arena.encode(P, x, length, config, T_max, mix)
