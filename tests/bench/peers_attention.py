"""Attention in peers.py: scaled_dot_product_attention for softmax where weights are not needed, windows in blocks of queries,
and maps that do not depend on the inputs computed once."""
import functools
import math

import torch
import torch.nn.functional as F

import common

WRITTEN = {}  # (module, name): the replaced function of a reference


def sdpa(q, k, v, seen=None):
    return F.scaled_dot_product_attention(q, k, v, attn_mask=seen)


def split(x, H):
    return x.view(*x.shape[:2], H, -1).transpose(1, 2)


def join(y):
    return y.transpose(1, 2).reshape(y.shape[0], y.shape[2], -1)


def arena_attention(P, q, k, v, seen, config, name):
    return sdpa(q, k, v, seen)


def weighted(q, k, v, seen, divisor):
    """arena.weighted() computed with sums over the keys, without the matrix of weights."""
    k = k * seen.transpose(-1, -2)
    return (q @ (k.transpose(-1, -2) @ v)) / divisor((q * k.sum(-2, keepdim=True)).sum(-1, keepdim=True))


def windowed(q, k, v, before, after):
    """Softmax over keys i - before .. i + after, in blocks of max(before, after) queries."""
    (B, H, T, K), c = q.shape, max(before, after)
    if T <= 2 * c:
        n, c = 1, T
        keys = (k, v)
    else:
        n = -(-T // c)
        keys = (F.pad(z, (0, 0, c, (n + 1) * c - T)).unfold(2, 3 * c, c).transpose(-1, -2).reshape(B * H, n, 3 * c, K) for z in (k, v))
        q = F.pad(q, (0, 0, 0, n * c - T)).reshape(B * H, n, c, K)
    return sdpa(q, *keys, near(T, n, c, before, after)).reshape(B, H, n * c, K)[:, :, :T]


@functools.cache
def near(T, n, c, before, after):
    i = torch.arange(n * c).view(n, c, 1)
    j = i[:, :1] + torch.arange(-c * (n > 1), c * (1 + (n > 1)))
    seen = (j >= i - before) & (j <= i + after) & (j >= 0) & (j < T)
    return (seen | (i >= T) if n > 1 else seen)[None]


# ---- parts of references, by their names -------------------------------------------------------------------------------


@functools.cache
def waves(T, width, base, dtype, first=0):
    speed = base ** (-2 * torch.arange((width + 1) // 2, dtype=torch.float64) / width)
    angle = (first + torch.arange(T, dtype=torch.float64))[:, None] * speed
    return angle.cos().to(dtype), angle.sin().to(dtype)


def turn(x, base, half):
    """transformer.turn() without complex numbers, which torch.compile does not optimise."""
    if half in ("rotary-half", "rotary-half-fast"):
        return WRITTEN["transformer", "turn"](x, base, half).to(x.dtype)
    cos, sin = waves(*x.shape[-2:], base, x.dtype)
    a, b = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)


def positions(P, x, kind, T_max):
    if kind != "sinusoidal":
        return WRITTEN["transformer", "positions"](P, x, kind, T_max)
    cos, sin = waves(*x.shape[1:], 10000.0, x.dtype)
    return x + torch.stack([sin, cos], -1).flatten(-2)[:, :x.shape[2]]


def transformer(P, u, length, config, name):
    q, k, v = (split(common.linear(P, u, name + s), int(config["heads"])) for s in "qkv")
    if config["positions"].startswith("rotary"):
        q, k = (turn(z, float(config["base"]), config["positions"]) for z in (q, k))
    return common.linear(P, join(F.scaled_dot_product_attention(q, k, v, is_causal=config["causal"] == "1")), name + "out")


def spt_local(P, u, length, config, name):
    if u.shape[1] > 2 * int(config["block"]):
        return WRITTEN["spt-local", "attend"](P, u, length, config, name)
    return transformer(P, u, length, dict(config, base="10000", causal="0"), name)


def pythia_turn(x, r, base):
    cos, sin = waves(x.shape[2], r, base, x.dtype)
    a, b = x[..., :r // 2], x[..., r // 2:r]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., r:]], -1)


def pythia(P, u, length, config, name):
    (B, T, D), H = u.shape, int(config["heads"])
    q, k, v = common.linear(P, u, name + "qkv").view(B, T, H, 3, D // H).permute(3, 0, 2, 1, 4)
    r = int(D // H * float(config["rotary"]))
    q, k = (pythia_turn(z, r, float(config["base"])) for z in (q, k))
    return common.linear(P, join(F.scaled_dot_product_attention(q, k, v, is_causal=True)), name + "out")


def luna(P, a, c, seen, config, name, number):
    q, k, v = (split(common.linear(P, x, name + s), int(config["heads"])) for x, s in ((a, "q"), (c, "k"), (c, "v")))
    return join(sdpa(q, k, v))


def of_window(P, u, config, name, before, after):
    import arena
    q, k, v = (arena.heads(P, u, name + s, int(config["heads"])) for s in "qkv")
    return arena.out(P, windowed(q, k, v, before, after), name)


def longformer(P, u, length, config, name, layer):
    half = int(config["window"]) // 2
    return of_window(P, u, config, name, half, half - 1)


def spade_local(P, u, length, config, name):
    radius = int(config["radius"])
    return of_window(P, u, config, name, radius, 0 if config["causal"] == "1" else radius)


@functools.cache
def bigbird_seen(T, layer, H, block, random):
    import bigbird as own
    n, seen = -(-T // block), torch.zeros(1, H, T, T, dtype=torch.bool)
    for h in range(H):
        for i in range(n):
            for j in own.blocks(i, n, layer, h, random):
                seen[0, h, i * block:(i + 1) * block, j * block:(j + 1) * block] = True
    return seen


def bigbird(P, u, length, config, name, layer):
    """Complete maps with a mask: at length 1024 half of all pairs are visible, so gathering blocks is not faster."""
    import arena
    H = int(config["heads"])
    q, k, v = (arena.heads(P, u, name + s, H) for s in "qkv")
    return arena.out(P, sdpa(q, k, v, bigbird_seen(u.shape[1], layer, H, int(config["block"]), int(config["random"]))), name)


def reformer(P, u, length, config, name, layer):
    import arena
    if config["form"] == "arena":
        return WRITTEN["reformer", "mix"](P, u, length, config, name, layer)
    H, (B, T, _) = int(config["heads"]), u.shape
    q, v = (arena.heads(P, u, name + s, H) for s in "qv")
    K, c = q.shape[-1], -(-T // int(config["chunks"]))
    n = -(-T // c)
    p = q.detach() @ P[name + "rotations"].detach()
    order = torch.cat([p, -p], -1).argmax(-1).sort(stable=True).indices[..., None].expand(-1, -1, -1, K)
    k, v = (F.pad(z.gather(2, order), (0, 0, 0, n * c - T)).reshape(B * H, n, c, K) for z in (q, v))
    both = (torch.cat([z, z.roll(1, 1)], 2) for z in (k, v))
    y = sdpa(k, *both, chunks_seen(T, n, c, k.dtype)).view(B, H, n * c, K)[:, :, :T]
    return arena.out(P, torch.zeros_like(y).scatter(2, order, y), name)


@functools.cache
def chunks_seen(T, n, c, dtype):
    own = (torch.arange(n * c).view(n, 1, c) < T).expand(n, c, c)
    both = torch.cat([own, own.roll(1, 0) & (n > 1)], -1)
    return (both.to(dtype).log() - 1e5 * torch.eye(c, 2 * c, dtype=dtype))[None]


def local(P, x, length, config, T_max):
    import arena

    def mix(P, u, length, config, name, layer):
        (B, T, _), H, block = u.shape, int(config["heads"]), int(config["block"])
        more = -T % block
        q, k, v = (F.pad(arena.heads(P, u, name + s, H), (0, 0, 0, more)) for s in "qkv")
        q, k, v = (z.reshape(B * H, -1, block, z.shape[-1]) for z in (q, k, v))
        seen = None
        if more:
            seen = (torch.arange(T + more) < T).view(1, -1, 1, block)
        return arena.out(P, sdpa(q, k, v, seen).reshape(B, H, T + more, -1)[:, :, :T], name)

    return arena.encode(P, x, length, config, T_max, mix)


def mega(P, q, k, v, bias, length, config, name):
    """Softmax in chunks; the laplace variant of the reference is used unchanged."""
    (B, T, _), R = q.shape, (len(bias) + 1) // 2
    c = int(config["chunk"]) or T
    if config["attention"] == "laplace" or T % c or config["causal"] == "1":
        return WRITTEN["mega", "attend"](P, q, k, v, bias, length, config, name)
    t = torch.arange(c)
    rel = bias[(t[None] - t[:, None] + R - 1).clamp(0, 2 * R - 2)]
    q, k, v = (z.reshape(B, T // c, c, -1) for z in (q, k, v))
    return sdpa(q, k, v, rel).reshape(B, T, -1)


@functools.cache
def las_maps(T, H, alpha, alibi, bound, K, dtype):
    """(factors of the scores, numbers added to them), each (H,T,T)."""
    import las as own
    apart = (torch.arange(T)[:, None] - torch.arange(T)).double()
    times, plus = None, torch.zeros(T, T, dtype=torch.float64)
    if alpha:
        times = (-own.decay(dict(alpha=alpha, bound=bound), H)[:, None, None] * apart.abs()).exp().to(dtype)
    if alibi:
        m = 2.0 ** (-8 * torch.arange(1, H + 1, dtype=torch.float64) / H) / (math.sqrt(K) if alibi == "paper" else 1)
        plus = -m[:, None, None] * apart
    return times, plus.masked_fill(apart < 0, -math.inf).to(dtype)


def las(P, u, length, config, name):
    """las with complete maps if scores decay.  Since (a S) v = a (S v), values are averaged instead of weights."""
    if config["chunk"] != "0" or config.get("smoothing", "causal") != "causal":
        return WRITTEN["las", "attend"](P, u, length, config, name)
    T, H = u.shape[1], int(config["heads"])
    q, k, v = (split(common.linear(P, u, name + s), H) for s in "qkv")
    times, plus = las_maps(T, H, config.get("alpha"), config.get("alibi"), config.get("bound"), q.shape[-1], u.dtype)
    if "smoothing" in config:
        n = int(config["average"])
        v = F.avg_pool1d(F.pad(v.transpose(-1, -2).flatten(0, 1), (n - 1, 0)), n, 1).view(*v.shape[:2], -1, T).transpose(-1, -2)
    if times is None:
        y = sdpa(q, k, v.contiguous(), plus.expand(1, H, T, T).contiguous())
    else:
        y = ((q @ (k / math.sqrt(q.shape[-1])).transpose(-1, -2)) * times + plus).softmax(-1) @ v
    return common.linear(P, join(y), name + "out")


PARTS = {"arena": {"attention": arena_attention, "weighted": weighted}, "transformer": {"turn": turn, "positions": positions, "attend": transformer},
         "spt-local": {"attend": spt_local}, "pythia": {"attend": pythia}, "luna": {"attend": luna}, "longformer": {"mix": longformer},
         "spade": {"local": spade_local}, "bigbird": {"mix": bigbird}, "reformer": {"mix": reformer}, "las": {"attend": las}}
