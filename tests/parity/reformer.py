"""reformer: Kitaev et al. 2020, arXiv:2001.04451: the pairs that interact are computed for each example, as a matrix."""
import math

import torch

import arena
import dropout

CASES = ["", "positions=learned qkv=6 heads=3 buckets=2 chunks=3", "chunks=10 buckets=10 width=32",
         "positions=none chunks=13 layers=3", "form=arena", "form=arena chunks=10 buckets=10 width=32 heads=4 layers=3", "attention-dropout=0.2"]


def zero(config):
    """Parameters without effect: in chunks of one token, the only visible key has the weight 1."""
    return ["*/q/w"] if config["form"] != "arena" and config["chunks"] == "13" else []


def order(q, R):
    """Indices of the tokens sorted by LSH bucket; tokens of one bucket keep their order.  q: (n,K)"""
    p = q @ R
    return torch.cat([p, -p], -1).argmax(-1).sort(stable=True).indices


def meetings(n, chunks):
    """(n,n) in sorted order: true if the row attends to the column; chunks have ceil(n/chunks) tokens."""
    c = -(-n // chunks)
    chunk, used = torch.arange(n) // c, -(-n // c)
    return (chunk[:, None] == chunk[None]) | ((chunk[:, None] - 1) % used == chunk[None])


def drop(P, a, row, T, chunks, rate, path):
    """Dropout of the weights a (n,n) in sorted order; row: index of the pair (example, head).  Draws are numbered by chunk,
    then by key (the chunk's own tokens before those of the previous chunk); a chunk of the longest example has
    ceil(T/chunks) tokens."""
    n, C = len(a), -(-T // chunks)
    c = -(-n // chunks)
    at = torch.arange(n)
    chunk, own = at // c, torch.bincount(at // c)
    place = torch.where(chunk[:, None] == chunk[None], 0, own[chunk][:, None]) + (at % c)[None]
    draw = ((row * chunks + chunk)[:, None] * 2 * C + place) * -(-C // 4) + (at % c)[:, None] // 4
    words = dropout.words(path, P.step, draw.numpy())[torch.arange(n)[:, None], torch.arange(n)[None], (at % c)[:, None] % 4]
    return a * dropout.factors(words, rate).to(a.dtype)


def mix(P, u, length, config, name, layer):
    H, (B, T, D) = int(config["heads"]), u.shape
    arena_form, chunks = config["form"] == "arena", int(config["chunks"])
    q, v = (arena.heads(P, u, name + s, H) for s in "qv")
    K = q.shape[-1]
    if arena_form:
        more = chunks - T % chunks
        q, v = (torch.cat([a, a.new_zeros(B, H, more, K)], 2) for a in (q, v))
        length = torch.full((B,), T + more)
    R = P["encoder/layer0/rotations" if arena_form else name + "rotations"].detach()
    assert R.shape == (1 if arena_form else H, K, int(config["buckets"]) // 2)
    y = torch.zeros_like(v)
    for b in range(B):
        n = int(length[b])
        seen = meetings(n, chunks)
        for h in range(H):
            at = order(q[b, h, :n].detach(), R[h % len(R)].to(q.dtype))
            s = q[b, h, at] @ q[b, h, at].T
            s = s * math.sqrt(K) if arena_form else s / math.sqrt(K) - 1e5 * torch.eye(n, dtype=s.dtype)
            a, rate = s.masked_fill(~seen, -math.inf).softmax(-1), float(config["attention-dropout"])
            a = drop(P, a, b * H + h, q.shape[2], chunks, rate, name + "attention") if rate else a
            y[b, h, at] = a @ v[b, h, at]
    if arena_form:
        return y[:, :, :T].reshape(B, T, D)
    return arena.out(P, y, name)


def encode(P, x, length, config, T_max):
    return arena.whole(arena.encode, P, x, length, config, T_max, mix, config["form"] == "arena")
