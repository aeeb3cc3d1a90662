"""xxh3-64 of bytes: the hash by which the C programs divide examples into splits."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

try:
    from xxhash import xxh3_64_intdigest as _fast
except ImportError:
    _fast = None

_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_M64 = (1 << 64) - 1
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P64_1, _P64_2, _P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P64_4, _P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def _u64(b: bytes, at: int) -> int:
    return int.from_bytes(b[at : at + 8], "little")


def _u32(b: bytes, at: int) -> int:
    return int.from_bytes(b[at : at + 4], "little")


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product & _M64) ^ (product >> 64)


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & _M64
    return h ^ (h >> 32)


def _avalanche_64(h: int) -> int:
    h ^= h >> 33
    h = h * _P64_2 & _M64
    h ^= h >> 29
    h = h * _P64_3 & _M64
    return h ^ (h >> 32)


def _rotate(h: int, k: int) -> int:
    return (h << k | h >> (64 - k)) & _M64


def _mix(b: bytes, at: int, secret: int) -> int:
    return _fold(_u64(b, at) ^ _u64(_SECRET, secret), _u64(b, at + 8) ^ _u64(_SECRET, secret + 8))


def _short(b: bytes) -> int:
    """Hash of at most 16 bytes."""
    n = len(b)
    if n > 8:
        low = _u64(b, 0) ^ _u64(_SECRET, 24) ^ _u64(_SECRET, 32)
        high = _u64(b, n - 8) ^ _u64(_SECRET, 40) ^ _u64(_SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche((n + swapped + high + _fold(low, high)) & _M64)
    if n >= 4:
        h = (_u32(b, n - 4) + (_u32(b, 0) << 32)) ^ _u64(_SECRET, 8) ^ _u64(_SECRET, 16)
        h ^= _rotate(h, 49) ^ _rotate(h, 24)
        h = h * 0x9FB21C651E98DF25 & _M64
        h ^= (h >> 35) + n
        h = h * 0x9FB21C651E98DF25 & _M64
        return h ^ (h >> 28)
    if n:
        combined = b[0] << 16 | b[n >> 1] << 24 | b[n - 1] | n << 8
        return _avalanche_64(combined ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4))
    return _avalanche_64(_u64(_SECRET, 56) ^ _u64(_SECRET, 64))


def _middle(b: bytes) -> int:
    """Hash of 17 to 240 bytes."""
    n = len(b)
    acc = n * _P64_1
    if n <= 128:
        for k in range((n - 1) // 32, -1, -1):
            acc += _mix(b, 16 * k, 32 * k) + _mix(b, n - 16 * (k + 1), 32 * k + 16)
        return _avalanche(acc & _M64)
    for k in range(8):
        acc += _mix(b, 16 * k, 16 * k)
    acc = _avalanche(acc & _M64)
    for k in range(8, n // 16):
        acc += _mix(b, 16 * k, 16 * (k - 8) + 3)
    acc += _mix(b, n - 16, 136 - 17)
    return _avalanche(acc & _M64)


_KEYS = np.stack([np.frombuffer(_SECRET, "<u8", 8, 8 * k) for k in range(16)])
_LAST_KEY = np.frombuffer(_SECRET[192 - 64 - 7 :], "<u8", 8)
_SCRAMBLE = np.frombuffer(_SECRET[192 - 64 :], "<u8", 8)
_SWAP = np.array([1, 0, 3, 2, 5, 4, 7, 6])


def _accumulate(acc: Any, stripes: Any, keys: Any) -> Any:
    """Returns the accumulators acc (8) after the stripes (n,8)."""
    keyed = stripes ^ keys
    product = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
    return acc + product.sum(0, dtype=np.uint64) + stripes[:, _SWAP].sum(0, dtype=np.uint64)


def _long(b: bytes) -> int:
    """Hash of more than 240 bytes."""
    n = len(b)
    acc = np.array([_P32_3, _P64_1, _P64_2, _P64_3, _P64_4, _P32_2, _P64_5, _P32_1], np.uint64)
    blocks = (n - 1) // 1024
    words = np.frombuffer(b, "<u8", n // 8)
    for k in range(blocks):
        acc = _accumulate(acc, words[128 * k : 128 * (k + 1)].reshape(16, 8), _KEYS)
        acc = (acc ^ (acc >> np.uint64(47)) ^ _SCRAMBLE) * np.uint64(_P32_1)
    stripes = (n - 1 - 1024 * blocks) // 64
    rest = words[128 * blocks : 128 * blocks + 8 * stripes].reshape(stripes, 8)
    acc = _accumulate(acc, rest, _KEYS[:stripes])
    acc = _accumulate(acc, np.frombuffer(b[n - 64 :], "<u8", 8)[None], _LAST_KEY)
    out = n * _P64_1
    for k in range(4):
        out += _fold(
            int(acc[2 * k]) ^ _u64(_SECRET, 11 + 16 * k), int(acc[2 * k + 1]) ^ _u64(_SECRET, 19 + 16 * k)
        )
    return _avalanche(out & _M64)


def xxh3_64(b: bytes, fast: Optional[bool] = None) -> int:
    """xxh3-64 with seed 0.  fast: use the package xxhash (default: if it is installed)."""
    if _fast is not None and fast is not False:
        return int(_fast(b))
    return _short(b) if len(b) <= 16 else _middle(b) if len(b) <= 240 else _long(b)
