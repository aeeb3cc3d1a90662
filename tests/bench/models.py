#!/usr/bin/env python3
"""Compares a training step of every model with PyTorch: forward, backward, AdamW, on random tokens of full length.

    tests/bench/models.py [BUILD] [--models A,B] [--threads 1,2] [--modes eager,compile] [--length 1024] [--batch 16]
    tests/bench/models.py [BUILD] --out FILE    the same, appended to FILE line by line; rows that FILE contains are not measured again
    tests/bench/models.py [BUILD] --check       compares the peers with the references that they replace, in float64

Needs PyTorch.  The peer of a model is a PyTorch implementation with the same equations and weights (exported by lra-probe): a
reference of tests/parity, or a faster form of it in peers.py.  The engine ("ours") and the peer run alternately, each in a
separate process, `--rounds` times; times are medians.  ratio: time of the engine over the shorter time of the peer.  MiB: for
the engine workspace, weights and moments; for the peer the growth of its process during the steps.  LRA_BENCH_PREFIX is put
before every timed command.  torch.compile may take `--limit` seconds (60) before the measurement; "-" means that it or the peer
failed (reasons are printed to stderr).  Scans in torch are computed in chunks: the fastest chunk size is compared, and the
times of all chunk sizes are printed below the row.
"""
import argparse
import contextlib
import json
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SECONDS, LONG = 2.0, 8.0
CHUNKS = {"lru": (16, 64, 256), "s5": (16, 64, 256)}
# Settings for --check with which a peer has several blocks, of which the last one is incomplete.
CHECK = {"longformer": ["window=64"], "bigbird": ["block=16"], "local": ["block=40"], "mega-chunk": ["chunk=50"]}
LIMIT = 1e-8


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build", nargs="?", default=str(HERE.parent.parent / "build" / "release"))
    p.add_argument("--models", default="", help="of the registry, by commas; default: all")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--modes", default="eager,compile")
    for name, value in dict(length=1024, batch=16, width=128, layers=0, rounds=1, memory=12, limit=60).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--out", help="where the table is kept; default: stdout")
    p.add_argument("--check", action="store_true")
    p.add_argument("--peer", help=argparse.SUPPRESS)
    p.add_argument("--file", help=argparse.SUPPRESS)
    p.add_argument("--chunk", type=int, default=64, help=argparse.SUPPRESS)
    return p.parse_args()


# ---- the peer, in a process of its own -----------------------------------------------------------------------------------


def read(path, dtype):
    sys.path[:0] = [str(HERE.parent / "parity"), str(HERE)]
    import torch
    import batch as batches
    b = batches.Batch(path, lines=True)
    P = b.weights(getattr(torch, dtype))
    return b, {p: x.detach().requires_grad_(x.requires_grad) for p, x in P.items()}, P.start


def weights_of(P, start):
    import batch as batches
    W = batches.Weights(P)
    W.start = start
    return W


def peer(a):
    b, P, start = read(a.file, "float32")
    import torch
    import torch.nn.functional as F
    import peers
    peers.CHUNK = a.chunk
    torch.set_num_threads(int(a.threads))
    encode = peers.prepare(a.peer)
    W = weights_of(P, start)
    length = torch.full((a.batch,), a.length)
    tokens, label = torch.randint(256, (a.batch, a.length)), torch.randint(10, (a.batch,))

    def forward(tokens):
        x = encode(W, W["embed/table"][tokens], length, b.config, a.length).mean(1)
        if "hidden/w" in W:
            x = (F.relu if "head/b" in W else F.gelu)(F.linear(x, W["hidden/w"].T, W["hidden/b"]))
        return F.linear(x, W["head/w"].T, W.get("head/b"))

    run = torch.compile(forward) if a.modes == "compile" else forward
    adamw = torch.optim.AdamW([x for x in P.values() if x.requires_grad], lr=1e-3, weight_decay=0.01, fused=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def step():
        adamw.zero_grad(set_to_none=True)
        F.cross_entropy(run(tokens), label).backward()
        adamw.step()

    step()
    if a.rounds == 0:  # only compiles, for the cache of torch.compile
        return 0
    seconds, begin = [], time.perf_counter()
    while (spent := time.perf_counter() - begin) < SECONDS or (len(seconds) < 3 and spent < LONG):
        s = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - s)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(dict(median_s=statistics.median(seconds), runs=len(seconds), mib=(after - before) / 1024)))
    return 0


def check(a, name, file):
    """Prints the largest relative error of the peer's outputs and gradients with respect to the reference."""
    b, P, start = read(file, "float64")
    import importlib
    import peers
    import torch
    tokens, length = b.arrays["input/tokens"].long(), torch.full((a.batch,), a.length)
    found = []
    for prepare in (lambda n: importlib.import_module(n).encode, peers.prepare):
        W = weights_of({p: x.detach().clone().requires_grad_(x.requires_grad) for p, x in P.items()}, start)
        y = prepare(name)(W, W["embed/table"][tokens], length, b.config, a.length)
        (y * y.detach().sin()).sum().backward()
        found.append([y.detach()] + [x.grad for x in W.values() if x.requires_grad and x.grad is not None])
    most = max(float(g.abs().max()) for g in found[0][1:])
    off = max(float((x - y).abs().max()) / max(float(x.abs().max()), 1e-3 * most) for x, y in zip(*found, strict=True))
    print(f"{name:20} {off:.1e}{'' if off < LIMIT else '  FAILED'}", flush=True)
    return 0 if off < LIMIT else 1


# ---- the table -------------------------------------------------------------------------------------------------------------


def limit(gib):
    resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))


def command(a, words, seconds=0, quiet=True):
    """Runs a command and returns its stdout; on failure returns None and prints the reason to stderr."""
    seconds = seconds or a.limit
    prefix = os.environ.get("LRA_BENCH_PREFIX", "").split() if quiet else []
    try:
        r = subprocess.run(prefix + words, capture_output=True, text=True, timeout=seconds + 600 * bool(prefix),
                           preexec_fn=lambda: limit(a.memory))
    except subprocess.TimeoutExpired:
        print(f"  {' '.join(words[:6])} ..: more than {seconds} s", file=sys.stderr)
        return None
    if r.returncode == 0:
        return r.stdout
    print(f"  {' '.join(words[:6])} ..: {(r.stderr.strip().splitlines() or ['exit %d' % r.returncode])[-1][:150]}", file=sys.stderr)
    return None


def settings(a, name):
    changes = [f"width={a.width}"] + [f"layers={a.layers}"] * (a.layers > 0) + CHECK.get(name, []) * a.check
    return [w for c in changes for w in ("--set", c)]


def ours(a, name, threads):
    out = command(a, [f"{a.build}/lra-probe", "bench", "step", "--model", name, *settings(a, name), "--json", "--threads", str(threads),
                      "--length", str(a.length), "--batch", str(a.batch), "--seconds", str(SECONDS)])
    if not out:
        return None
    whole, ops = json.loads(out)["tables"]
    total = sum(r["median_s"] for r in ops["rows"])
    size = {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}
    mib = sum(float(n) * size[u] for n, u in re.findall(r"(?:workspace|moments) ([0-9.]+) ([KMG]iB)", whole["title"]))
    top = ", ".join(f"{r['name']} {100 * r['median_s'] / total:.0f} %" for r in ops["rows"][:3])
    return dict(median_s=whole["rows"][0]["median_s"], mib=mib, top=top)


def theirs(a, name, threads, mode, file, chunk):
    words = [sys.executable, "-O", __file__, "--peer", name, "--file", file, "--threads", str(threads), "--modes", mode, "--length",
             str(a.length), "--batch", str(a.batch), "--chunk", str(chunk)]
    if mode == "compile" and command(a, [*words, "--rounds", "0"], quiet=False) is None:  # the first process fills the compiler's cache
        return None
    out = command(a, words)
    return json.loads(out.splitlines()[-1]) if out else None


def export(a, name, folder, batch):
    file = f"{folder}/{name}.safetensors"
    words = [f"{a.build}/lra-probe", "export", "--gradients", "--model", name, *settings(a, name), "--batch", str(batch),
             "--length", str(a.length), "--vocab", "256", "--force", file]
    return file if command(a, words, 600, quiet=False) is not None else None


def middle(all_, key):
    found = [r[key] for r in all_ if r]
    return statistics.median(found) if found else None


def show(x, digits=1):
    return "-" if x is None else f"{x:.{digits}f}"


def row(a, name, threads, folder):
    file, mine = export(a, name, folder, 1), []
    chunks, modes = CHUNKS.get(name, (64,)), a.modes.split(",")
    other = {(m, c): [] for m in modes for c in chunks}
    for _ in range(a.rounds):
        mine.append(ours(a, name, threads))
        for (mode, chunk), found in other.items():
            found.append(theirs(a, name, threads, mode, file, chunk) if file and is_reference(name) else None)
    s = middle(mine, "median_s")
    peer_s = {k: middle(r, "median_s") for k, r in other.items()}
    best = min((t for t in peer_s.values() if t), default=None)
    of_mode = {m: min((t for (k, _), t in peer_s.items() if k == m and t), default=None) for m in modes}
    mib = middle([r for k, found in other.items() if k[0] == "eager" for r in found], "mib")
    print(f"{name:20}{threads:8}{a.layers or 'own':>8}{show(s and 1e3 * s):>10}" + "".join(f"{show(t and 1e3 * t):>11}" for t in of_mode.values())
          + f"{show(s / best if s and best else None, 2):>8}{show(middle(mine, 'mib'), 0):>8}{show(mib, 0):>8}   "
          + next((r["top"] for r in mine if r), "-"), flush=True)
    if len(chunks) > 1:
        print("    torch's scan, chunks of " + ", ".join(f"{c} {m}: {show(t and 1e3 * t)} ms" for (m, c), t in peer_s.items()), flush=True)


def is_reference(name):
    return (HERE.parent / "parity" / f"{name}.py").exists()


def said(*words):
    return subprocess.run(words, capture_output=True, text=True).stdout


def head(a):
    print(f"batch {a.batch}, length {a.length}, width {a.width}, other settings the models' own; float32; medians")
    print(said(f"{a.build}/lra-probe", "--version").split("compiler")[0].strip().replace("\n", ", "))
    print(said("sh", "-c", "grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'; nproc | sed 's/$/ processors/'").strip().replace("\n", ", "))
    print(said(sys.executable, "-c", "import torch; print('PyTorch', torch.__version__)").strip())
    print(f"{'model':20}{'threads':>8}{'layers':>8}{'ours ms':>10}" + "".join(f"{m + ' ms':>11}" for m in a.modes.split(","))
          + f"{'ratio':>8}{'MiB':>8}{'peer':>8}   what ours does")


def table(a, names, folder):
    """Measures all models and prints the table; rows that the file already contains are skipped."""
    before = pathlib.Path(a.out).read_text().splitlines() if a.out and pathlib.Path(a.out).exists() else []
    known = {tuple(line.split()[:2]) for line in before}
    with open(a.out, "a") if a.out else contextlib.nullcontext(sys.stdout) as out, contextlib.redirect_stdout(out):
        line = "command    " + " ".join(["tests/bench/models.py", *(w for w in sys.argv[1:] if w != a.build)])
        if line not in before:
            print(line)
        if not before:
            head(a)
        for threads in a.threads.split(","):
            for name in names:
                if (name, threads) not in known:
                    row(a, name, int(threads), folder)


def main():
    a = options()
    if a.peer:
        a.batch, a.length = (3, 150) if a.check else (a.batch, a.length)
        return check(a, a.peer, a.file) if a.check else peer(a)
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode:
        print(f"models.py: skipped: '{sys.executable}' has no torch", file=sys.stderr)
        return 77
    names = a.models.split(",") if a.models else [m["name"] for m in json.loads(said(f"{a.build}/lra-probe", "list", "models", "--json"))["models"]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/compiled"
        if a.check:
            a.batch, a.length, a.layers = 3, 150, a.layers or 2
            words = [sys.executable, "-O", __file__, "--check", "--peer"]
            return max(subprocess.run([*words, n, "--file", export(a, n, folder, 3)]).returncode for n in names if is_reference(n))
        table(a, names, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
