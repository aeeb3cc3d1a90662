"""A model of tests/probes/adapter_test.c, behind the shortest client of LRAX/1: numpy and 60 lines.

h[i] = table[token[i]], logits = mean of h over the positions below length, d h[i] / d h[i] = 1.
"""
import json, os, struct, sys
import numpy as np

_out = os.fdopen(os.dup(1), "wb"); os.dup2(2, 1)   # frames own stdout; print() now goes to stderr
_in = sys.stdin.buffer
_NP = {"F32": "<f4", "F64": "<f8", "F16": "<f2", "I32": "<i4", "I64": "<i8", "U8": "|u1", "BOOL": "|b1"}
_ST = {np.dtype(v): k for k, v in _NP.items()}

def _exact(n):
    b = _in.read(n)
    if len(b) < n:
        sys.exit(0 if not b else "lrax: input ended inside a frame")
    return b

def recv():
    magic, version, _, n = struct.unpack("<4sHHQ", _exact(16))
    if magic != b"LRAX" or version != 1:
        sys.exit("lrax: not an LRAX version 1 frame")
    p = _exact(n)
    h = struct.unpack_from("<Q", p)[0]
    head = json.loads(p[8:8 + h])
    meta = head.pop("__metadata__", {})
    return meta, {k: np.frombuffer(p, _NP[v["dtype"]], int(np.prod(v["shape"])),
                                   8 + h + v["data_offsets"][0]).reshape(v["shape"])
                  for k, v in head.items()}

def send(meta, **tensors):
    head, body, at = {"__metadata__": {k: str(v) for k, v in meta.items()}}, [], 0
    for name, a in sorted(tensors.items(), key=lambda t: (-np.asarray(t[1]).itemsize, t[0])):
        a = np.asarray(a); a = np.ascontiguousarray(a, a.dtype.newbyteorder("<")).reshape(a.shape)
        head[name] = {"dtype": _ST[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        body.append(a.tobytes()); at += a.nbytes
    j = json.dumps(head).encode(); j += b" " * (-len(j) % 8)
    _out.write(struct.pack("<4sHHQ", b"LRAX", 1, 0, 8 + len(j) + at) + struct.pack("<Q", len(j)) + j)
    _out.write(b"".join(body)); _out.flush()

def serve(ready, **ops):
    """ready: dict of strings.  ops: name -> function(meta, tensors) -> dict of arrays."""
    meta, _ = recv()
    if meta.get("op") != "hello":
        sys.exit("lrax: expected 'hello'")
    send({"op": "ready", "id": meta["id"], "protocol": "1", "ops": " ".join(ops), **ready})
    while True:
        meta, tensors = recv()
        if meta["op"] == "bye":
            return
        if meta["op"] not in ops:
            send({"op": "error", "id": meta["id"], "code": "unsupported", "text": meta["op"]})
            continue
        try:
            out = ops[meta["op"]](meta, tensors)
        except Exception as e:
            oom = isinstance(e, MemoryError) or "out of memory" in str(e).lower()
            send({"op": "error", "id": meta["id"], "code": "out_of_memory" if oom else "internal",
                  "text": f"{type(e).__name__}: {e}"})
            continue
        send({"op": "result", "id": meta["id"]}, **out)


VOCAB, CLASSES = 12, 3
TABLE = (np.arange(VOCAB)[:, None] * 7 + np.arange(CLASSES) * 3) % 11 / np.float32(11)


def hidden(t):
    inside = np.arange(t["tokens"].shape[1]) < t["length"][:, None]
    return np.where(inside[:, :, None], TABLE[t["tokens"]], 0).astype("f4")


def forward(meta, t):
    if len(t["length"]) > 4:
        raise MemoryError("more than 4 rows")
    return {"logits": (hidden(t).sum(1) / t["length"][:, None]).astype("f4")}


def features(meta, t):
    return {"features": hidden(t)}


def vjp(meta, t):
    at = np.arange(t["tokens"].shape[1]) == t["position"][:, None]
    return {"grad_sq": (at * (t["cotangent"] ** 2).sum(1)[:, None]).astype("f4")}


print("a line on stdout", flush=True)
serve(
    {"model": "table", "framework": "numpy", "classes": CLASSES, "vocab": VOCAB, "max_length": "0", "max_batch": "0",
     "mask": "0", "causal": "1", "layers": ""},
    forward=forward, features=features, vjp=vjp)
