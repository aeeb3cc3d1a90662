"""Dropout as in the engine: random words of Philox4x32-10 (Salmon et al. 2011) with key (seed, XXH32 of the node's path)
and counter (step, number of the draw).  An element with the word w is dropped if floor(w/2^8) < rate 2^24."""
import math

import numpy
import torch

MASK = 0xFFFFFFFF


def xxh32(text):
    """XXH32 of fewer than 2^32 bytes with seed 0 (public specification of xxHash)."""
    a, b, c, d, e = 2654435761, 2246822519, 3266489917, 668265263, 374761393

    def turn(x, n):
        x &= MASK
        return (x << n | x >> 32 - n) & MASK

    data, at = text.encode(), 0
    h = e
    if len(data) >= 16:
        v = [a + b & MASK, b, 0, -a & MASK]
        while at + 16 <= len(data):
            for i in range(4):
                v[i] = turn(v[i] + int.from_bytes(data[at + 4 * i:at + 4 * i + 4], "little") * b, 13) * a & MASK
            at += 16
        h = sum(turn(x, n) for x, n in zip(v, (1, 7, 12, 18)))
    h += len(data)
    for at in range(at, len(data) - 3, 4):
        h = turn(h + int.from_bytes(data[at:at + 4], "little") * c, 17) * d & MASK
    for byte in data[len(data) // 4 * 4:]:
        h = turn(h + byte * e, 11) * a & MASK
    h &= MASK
    h = (h ^ h >> 15) * b & MASK
    h = (h ^ h >> 13) * c & MASK
    return h ^ h >> 16


assert (xxh32(""), xxh32("a"), xxh32("Nobody inspects the spammish repetition")) == (0x02CC5D05, 0x550D7456, 0xE2293B2F)


def words(path, step, draws):
    """The four random words of each draw: (..,4)."""
    seed, number = step
    stream, low = xxh32(path), numpy.uint64(MASK)
    k = [(seed ^ stream * 0x9E3779B9) & MASK, (seed >> 32 ^ stream) & MASK]
    at = numpy.asarray(draws, dtype=numpy.uint64)
    c = [numpy.full_like(at, number & MASK), numpy.full_like(at, number >> 32), at & low, at >> numpy.uint64(32)]
    for _ in range(10):
        p, q = c[0] * numpy.uint64(0xD2511F53), c[2] * numpy.uint64(0xCD9E8D57)
        c = [q >> numpy.uint64(32) ^ c[1] ^ numpy.uint64(k[0]), q & low, p >> numpy.uint64(32) ^ c[3] ^ numpy.uint64(k[1]), p & low]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return numpy.stack(c, -1)


def factors(words, rate):
    return torch.from_numpy((words >> numpy.uint64(8) >= math.ceil(rate * 2 ** 24)) / (1 - rate))


def of_attention(P, a, config, path):
    return weights(P, a, float(config.get("attention-dropout", 0)), path)


def drop(P, x, rate, path, tied=False):
    """Dropout of x: element e uses word e % 4 of draw e/4.  tied: all positions of (B,T,D) share one word per channel."""
    if rate == 0:
        return x
    shape = (x.shape[0], 1, x.shape[-1]) if tied else x.shape
    n = math.prod(shape)
    factor = factors(words(path, P.step, numpy.arange((n + 3) // 4)).reshape(-1)[:n], rate)
    return x * factor.reshape(shape).to(x.dtype)


def weights(P, a, rate, path):
    """Dropout of attention weights (B,H,queries,keys): weight (i,j) uses word i % 4 of draw
    ((b H + h) keys + j) ceil(queries/4) + i/4."""
    if rate == 0:
        return a
    B, H, I, J = a.shape
    some = -(-I // 4)
    draw = (numpy.arange(B * H)[:, None, None] * J + numpy.arange(J)[:, None]) * some + numpy.arange(some)
    factor = factors(words(path, P.step, draw).reshape(B, H, J, 4 * some)[..., :I], rate)
    return a * factor.transpose(-1, -2).to(a.dtype)
