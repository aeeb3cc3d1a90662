"""Safetensors images and LRAX/1 frames: the messages between a model and ``lra-probe``.

A frame is ``LRAX``, a version, and one safetensors image whose ``__metadata__`` holds the message
(``op`` and ``id``).  This file needs the standard library and numpy, and can be copied alone.
Everything that is read is checked before it is used: lengths before memory is allocated, offsets
against the size of the image, keys against duplicates.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import sys
from typing import Any, BinaryIO, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

MAGIC = b"LRAX"
VERSION = 1
MAX_PAYLOAD = 4 << 30
MAX_HEADER = 16 << 20
MAX_FRAME_HEADER = 1 << 20
MAX_TENSORS = 64
_LARGEST = 1 << 48

_NUMPY = {
    "BOOL": "|b1",
    "U8": "|u1",
    "I8": "|i1",
    "U16": "<u2",
    "I16": "<i2",
    "F16": "<f2",
    "BF16": "<u2",
    "U32": "<u4",
    "I32": "<i4",
    "F32": "<f4",
    "U64": "<u8",
    "I64": "<i8",
    "F64": "<f8",
    "C64": "<c8",
}
_NAMES = {np.dtype(v): k for k, v in _NUMPY.items() if k != "BF16"}
_UNREADABLE = {"F8_E5M2", "F8_E4M3", "F4", "F6_E2M3", "F6_E3M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"}

Tensors = Dict[str, np.ndarray]
Meta = Dict[str, str]


class FrameError(ValueError):
    """Raised for bytes that are not a safetensors image or an LRAX/1 frame.  The message states the first error."""


# ---- safetensors ---------------------------------------------------------------------------------


def _pairs(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        names = [k for k, _ in pairs]
        twice = next(k for k in names if names.count(k) > 1)
        raise FrameError(f"key '{twice[:80]}' occurs twice in the header")
    return out


def _integer(text: str) -> int:
    if text.startswith("-") or len(text) > 15 or int(text) > _LARGEST:
        raise FrameError(f"the header holds the number {text[:40]}, expected 0 to 2^48")
    return int(text)


def _no_number(text: str) -> Any:
    raise FrameError(f"the header holds the number {text[:40]}, expected an integer")


def _header(raw: bytes) -> Dict[str, Any]:
    """The JSON object of a header; each kind of error has its own message."""
    if raw[:1] != b"{":
        raise FrameError("the header does not begin with '{'")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        raise FrameError("the header is not UTF-8") from e
    try:
        out = json.loads(
            text.rstrip(" "),
            object_pairs_hook=_pairs,
            parse_int=_integer,
            parse_float=_no_number,
            parse_constant=_no_number,
        )
    except FrameError:
        raise
    except RecursionError as e:
        raise FrameError("the header is nested too deeply") from e
    except ValueError as e:
        raise FrameError(f"the header is not JSON: {e}") from e
    if not isinstance(out, dict):
        raise FrameError("the header is not a JSON object")
    return out


def _entry(name: str, entry: Any) -> Tuple[str, List[int], int, int]:
    """dtype, shape, begin and end of one tensor of the header, checked."""
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise FrameError(f"tensor '{name[:80]}': expected dtype, shape and data_offsets")
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if isinstance(dtype, str) and dtype in _UNREADABLE:
        raise FrameError(f"tensor '{name[:80]}' has dtype {dtype}; cast it to F32")
    if not isinstance(dtype, str) or dtype not in _NUMPY:
        raise FrameError(f"tensor '{name[:80]}' has the unknown dtype {str(dtype)[:40]!r}")
    if (
        not isinstance(shape, list)
        or len(shape) > 8
        or not all(type(d) is int and d <= 1 << 40 for d in shape)
    ):
        raise FrameError(f"tensor '{name[:80]}': the shape is not a list of at most 8 integers up to 2^40")
    if not isinstance(offsets, list) or len(offsets) != 2 or not all(type(d) is int for d in offsets):
        raise FrameError(f"tensor '{name[:80]}': data_offsets are not two integers")
    size = np.dtype(_NUMPY[dtype]).itemsize
    for d in shape:
        size *= d
    begin, end = offsets
    if begin > end or end - begin != size:
        raise FrameError(f"tensor '{name[:80]}' needs {size} bytes, its data_offsets are {begin} to {end}")
    return dtype, shape, begin, end


def _array(name: str, raw: memoryview, dtype: str, shape: List[int]) -> np.ndarray:
    a = np.frombuffer(raw, _NUMPY[dtype]).reshape(shape)
    if dtype == "BOOL" and a.size and int(a.view("|u1").max()) > 1:
        raise FrameError(f"tensor '{name[:80]}' is BOOL and holds a byte that is neither 0 nor 1")
    if dtype == "BF16":
        return (a.astype("<u4") << 16).view("<f4")
    return a


def decode(
    image: Union[bytes, bytearray, memoryview], max_header: int = MAX_HEADER, max_tensors: int = 100_000
) -> Tuple[Meta, Tensors]:
    """Metadata and tensors of a safetensors image.

    BF16 becomes float32.  The arrays are views of ``image``.  Raises FrameError.
    """
    view = memoryview(image)
    if len(view) < 8:
        raise FrameError(f"{len(view)} bytes, expected at least 8")
    n = struct.unpack_from("<Q", view)[0]
    if n > max_header or 8 + n > len(view):
        raise FrameError(f"a header of {n} bytes in an image of {len(view)} bytes (at most {max_header})")
    head = _header(bytes(view[8 : 8 + n]))
    meta = head.pop("__metadata__", {})
    if not isinstance(meta, dict) or not all(isinstance(v, str) for v in meta.values()):
        raise FrameError("__metadata__ is not an object of strings")
    if len(head) > max_tensors:
        raise FrameError(f"{len(head)} tensors, at most {max_tensors} are read")
    entries = [(name, *_entry(name, e)) for name, e in head.items()]
    at = 0
    for name, _, _, begin, end in sorted(entries, key=lambda t: (t[3], t[4])):
        if begin != at:
            raise FrameError(f"tensor '{name[:80]}' begins at byte {begin} of the data, expected {at}")
        at = end
    if at != len(view) - 8 - n:
        raise FrameError(f"the tensors end at byte {at} of the data, which has {len(view) - 8 - n}")
    data = view[8 + n :]
    return meta, {name: _array(name, data[b:e], dtype, shape) for name, dtype, shape, b, e in entries}


def encode(tensors: Mapping[str, Any], meta: Optional[Mapping[str, Any]] = None) -> bytes:
    """A safetensors image: tensors by descending element size, then by name; metadata as strings."""
    head: Dict[str, Any] = {}
    if meta:
        head["__metadata__"] = {k: str(v) for k, v in sorted(meta.items())}
    arrays = []
    for name, value in tensors.items():
        a = np.asarray(value)
        if a.dtype.name == "bfloat16":
            dtype, a = "BF16", a.view(np.uint16)
        else:
            a = a.astype(a.dtype.newbyteorder("<"), copy=False)
            if a.dtype not in _NAMES:
                raise TypeError(f"tensor '{name}' has dtype {a.dtype}, which safetensors does not hold")
            dtype = _NAMES[a.dtype]
        arrays.append((name, dtype, a))
    at, body = 0, []
    for name, dtype, a in sorted(arrays, key=lambda t: (-t[2].dtype.itemsize, t[0])):
        head[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        body.append(a.tobytes())
        at += a.nbytes
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *body])


def load(path: Union[str, "os.PathLike[str]"]) -> Tuple[Meta, Tensors]:
    """Metadata and tensors of a safetensors file."""
    with open(path, "rb") as f:
        image = f.read()
    try:
        return decode(image)
    except FrameError as e:
        raise FrameError(f"{os.fspath(path)}: {e}") from e


def save(
    path: Union[str, "os.PathLike[str]"], tensors: Mapping[str, Any], meta: Optional[Mapping[str, Any]] = None
) -> None:
    """Writes a safetensors file: complete, or not at all."""
    temporary = f"{os.fspath(path)}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as f:
            f.write(encode(tensors, meta))
            f.flush()
            os.fsync(f.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


# ---- frames --------------------------------------------------------------------------------------


class Channel:
    """One end of an LRAX/1 connection: two binary streams, or one socket."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO, max_payload: int = MAX_PAYLOAD) -> None:
        self._reader, self._writer, self.max_payload = reader, writer, max_payload
        self._socket: Optional[socket.socket] = None

    @classmethod
    def of_socket(cls, end: socket.socket) -> "Channel":
        out = cls(end.makefile("rb"), end.makefile("wb"))  # type: ignore[arg-type]
        out._socket = end
        return out

    @classmethod
    def of_stdio(cls) -> "Channel":
        """stdin and stdout of this process.  From here on ``print()`` writes to stderr."""
        sys.stdout.flush()
        out = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        return cls(sys.stdin.buffer, out)

    def _exact(self, n: int) -> bytes:
        """Reads n bytes, or fewer at the end of the stream; memory is allocated as the bytes arrive."""
        parts: List[bytes] = []
        left = n
        while left:
            part = self._reader.read(min(left, 16 << 20))
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def receive(self) -> Optional[Tuple[Meta, Tensors]]:
        """The next message; None at the end of the stream.  Raises FrameError."""
        head = self._exact(16)
        if not head:
            return None
        if head[:4] != MAGIC[: len(head)]:
            more = head + self._exact(184) if len(head) == 16 else head
            raise FrameError(
                f"text in place of a frame: {more.decode('utf-8', 'replace')!r}; send prints to stderr"
            )
        if len(head) < 16:
            raise FrameError(f"the stream ended after {len(head)} of 16 bytes of a frame")
        _, version, flags, n = struct.unpack("<4sHHQ", head)
        if version != VERSION or flags:
            raise FrameError(
                f"a frame of version {version} with flags {flags}, expected version 1 and no flags"
            )
        if n > self.max_payload:
            raise FrameError(f"a frame of {n} bytes, at most {self.max_payload} are accepted")
        payload = self._exact(n)
        if len(payload) < n:
            raise FrameError(f"the stream ended after {len(payload)} of {n} bytes of a frame")
        meta, tensors = decode(payload, MAX_FRAME_HEADER, MAX_TENSORS)
        if "op" not in meta or "id" not in meta:
            raise FrameError("a frame without 'op' and 'id' in its metadata")
        return meta, tensors

    def send(self, meta: Mapping[str, Any], tensors: Optional[Mapping[str, Any]] = None) -> None:
        """Sends one message.  Raises OSError if the other end is closed."""
        payload = encode(tensors or {}, meta)
        if len(payload) > self.max_payload:
            raise FrameError(f"an answer of {len(payload)} bytes, a frame holds at most {self.max_payload}")
        self._writer.write(struct.pack("<4sHHQ", MAGIC, VERSION, 0, len(payload)))
        self._writer.write(payload)
        self._writer.flush()

    def close(self) -> None:
        """Ends the connection, also for processes that were forked meanwhile and have inherited it."""
        if self._socket is not None:
            try:
                self._writer.flush()
                self._socket.shutdown(socket.SHUT_RDWR)
            except (OSError, ValueError):
                pass
            self._socket.close()
        for stream in (self._writer, self._reader):
            try:
                stream.close()
            except OSError:
                pass


Op = Callable[[Meta, Tensors], Mapping[str, Any]]


class Unsupported(Exception):
    """Raised by an op for a request that the model cannot answer: measurements that need it are skipped."""


class BadRequest(ValueError):
    """Raised for a request that is malformed, or that does not fit the model: the audit ends."""


def error_code(e: BaseException) -> str:
    """The LRAX/1 code of an exception."""
    if isinstance(e, (Unsupported, NotImplementedError)):
        return "unsupported"
    if isinstance(e, MemoryError) or "out of memory" in str(e).lower():
        return "out_of_memory"
    return "bad_request" if isinstance(e, BadRequest) else "internal"


Ops = Mapping[str, Op]


def answer(
    ready: Union[Mapping[str, Any], Callable[[Meta], Mapping[str, Any]]],
    ops: Union[Ops, Callable[[], Ops]],
    channel: Optional[Channel] = None,
    on_request: Optional[Callable[[Meta], None]] = None,
) -> None:
    """Answers requests until ``bye`` or the end of the stream.

    ready: metadata of the answer to ``hello`` (model, framework, classes, vocab, ...), or a function
    of the hello message that returns it.  ops: name -> function(meta, tensors) -> dict of arrays, or
    a function that returns it, which is called after ``ready``.
    channel: stdin and stdout by default.  Exceptions of an op become ``error`` answers; those that are
    no Exception (KeyboardInterrupt) pass through.
    """
    channel = channel or Channel.of_stdio()
    first = channel.receive()
    if first is None:
        return
    meta, _ = first
    if meta["op"] != "hello":
        raise FrameError(f"the first message is '{meta['op'][:40]}', expected 'hello'")
    try:
        facts = ready(meta) if callable(ready) else ready
        known = ops() if callable(ops) else ops
    except Exception as e:
        _send_error(channel, meta, error_code(e), str(e))
        raise
    channel.send({"op": "ready", "id": meta["id"], "protocol": "1", "ops": " ".join(known), **facts})
    while True:
        message = channel.receive()
        if message is None or message[0]["op"] == "bye":
            return
        meta, tensors = message
        if on_request:
            on_request(meta)
        if meta["op"] not in known:
            _send_error(channel, meta, "unsupported", f"the model does not answer '{meta['op'][:80]}'")
            continue
        try:
            out = known[meta["op"]](meta, tensors)
            size = sum(np.asarray(a).nbytes for a in out.values())
            if size > channel.max_payload - MAX_FRAME_HEADER:
                raise MemoryError(f"out of memory: an answer of {size} bytes does not fit a frame")
        except Exception as e:  # the model's own code: any exception is an answer
            _send_error(channel, meta, error_code(e), f"{type(e).__name__}: {e}")
            continue
        channel.send({"op": "result", "id": meta["id"]}, out)


def _send_error(channel: Channel, meta: Meta, code: str, text: str) -> None:
    channel.send({"op": "error", "id": meta["id"], "code": code, "text": text[:4000]})


def pair() -> Tuple[Channel, socket.socket]:
    """A channel and the socket of its other end (to hand to a child process)."""
    ours, theirs = socket.socketpair()
    return Channel.of_socket(ours), theirs
