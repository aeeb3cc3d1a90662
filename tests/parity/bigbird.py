"""bigbird: attention between blocks (Zaheer et al. 2020, arXiv:2007.14062).  Random blocks are drawn by
Philox4x32-10 (Salmon et al. 2011) with key (layer, head) and counter (query block, number of blocks of the example,
draw/4, 0).  If n blocks are not yet visible, a word w selects number floor(w n / 2^32) of them in ascending order."""
import torch

import arena

CASES = ["", "block=3 random=2", "block=3 random=0 positions=none", "block=2 random=6 positions=learned qkv=6 heads=3",
         "block=64 random=3", "block=4 attention-dropout=0.2"]


def philox(key, counter):
    k, c = list(key), list(counter)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


assert philox((0, 0), (0, 0, 0, 0)) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def blocks(i, n, layer, head, random):
    """The key blocks, of n, to which query block i attends."""
    if i in (0, n - 1):
        return set(range(n))
    seen = {0, i - 1, i, i + 1, n - 1}
    for r in range(random):
        rest = sorted(set(range(n)) - seen)
        if not rest:
            break
        word = philox((layer, head), (i, n, r // 4, 0))[r % 4]
        seen.add(rest[word * len(rest) >> 32])
    return seen


def mix(P, u, length, config, name, layer):
    B, T = u.shape[:2]
    H, block = int(config["heads"]), int(config["block"])
    seen = torch.zeros(B, H, T, T, dtype=torch.bool)
    for b in range(B):
        n = -(-int(length[b]) // block)
        for h in range(H):
            for i in range(n):
                for j in blocks(i, n, layer, h, int(config["random"])):
                    seen[b, h, i * block:(i + 1) * block, j * block:(j + 1) * block] = True
    return arena.attend(P, u, length, config, name, seen)


def encode(P, x, length, config, T_max):
    return arena.encode(P, x, length, config, T_max, mix)
