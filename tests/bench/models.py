#!/usr/bin/env python3
"""One training step of every model beside PyTorch: forward, backward, AdamW, on random tokens of full length.

    tests/bench/models.py [BUILD] [--models A,B] [--threads 1,2] [--modes eager,compile] [--length 1024] [--batch 16]
    tests/bench/models.py [BUILD] --check       the peers against the references they stand for

Needs PyTorch.  The peer has the same equations and weights (exported by lra-probe): a reference of tests/parity, or its fair
form in peers.py.  Ours and the peer run in turn, each in a process of its own, `--rounds` times; medians.  ratio: ours over
the faster of the peer's.  MiB: of ours workspace, weights and moments; of the peer what its process grew to, less what it
was before the first step.  LRA_BENCH_PREFIX stands in front of every timed command.  torch.compile has a minute, before it
is timed, and "-" stands where it or the peer fails (the reasons are on stderr).
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
SECONDS, MINUTE = 2.0, 60


def options():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("build", nargs="?", default=str(HERE.parent.parent / "build" / "release"))
    p.add_argument("--models", default="", help="of the registry, by commas; default: all")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--modes", default="eager,compile")
    for name, value in dict(length=1024, batch=16, width=128, rounds=1, memory=12).items():
        p.add_argument("--" + name, type=int, default=value)
    p.add_argument("--check", action="store_true")
    p.add_argument("--peer", help=argparse.SUPPRESS)
    p.add_argument("--file", help=argparse.SUPPRESS)
    return p.parse_args()


# ---- the peer, in a process of its own -----------------------------------------------------------------------------------


def read(path):
    sys.path[:0] = [str(HERE.parent / "parity"), str(HERE)]
    import torch
    import batch as batches
    b = batches.Batch(path, lines=True)
    P = b.weights(torch.float32)
    return b, {p: x.detach().requires_grad_(x.requires_grad) for p, x in P.items()}, P.start


def weights_of(P, start):
    import batch as batches
    W = batches.Weights(P)
    W.start = start
    return W


def peer(a):
    b, P, start = read(a.file)
    import torch
    import torch.nn.functional as F
    import peers
    torch.set_num_threads(int(a.threads))
    encode = peers.prepare(a.peer)
    W = weights_of(P, start)
    length = torch.full((a.batch,), a.length)
    tokens, label = torch.randint(256, (a.batch, a.length)), torch.randint(10, (a.batch,))

    def forward(tokens):
        x = encode(W, W["embed/table"][tokens], length, b.config, a.length).mean(1)
        if "hidden/w" in W:
            x = F.relu(F.linear(x, W["hidden/w"].T, W["hidden/b"]))
        return F.linear(x, W["head/w"].T, W["head/b"])

    run = torch.compile(forward) if a.modes == "compile" else forward
    adamw = torch.optim.AdamW([x for x in P.values() if x.requires_grad], lr=1e-3, weight_decay=0.01, fused=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def step():
        adamw.zero_grad(set_to_none=True)
        F.cross_entropy(run(tokens), label).backward()
        adamw.step()

    best = {}
    chunks = (16, 64, 256) if a.peer in ("lru", "s5") and a.modes == "eager" else (64,)
    for peers.CHUNK in chunks:
        step()
        if a.rounds == 0:  # to compile
            return 0
        seconds, begin = [], time.perf_counter()
        while len(seconds) < 3 or time.perf_counter() - begin < SECONDS:
            s = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - s)
        best[peers.CHUNK] = statistics.median(seconds)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps(dict(median_s=min(best.values()), chunk=min(best, key=best.get), mib=(after - before) / 1024)))
    return 0


def check(a, name, file):
    """The peer's logits and gradients, relative, from the reference's."""
    b, P, start = read(file)
    import importlib
    import torch
    import peers
    tokens, length = b.arrays["input/tokens"].long(), torch.full((a.batch,), a.length)
    import batch as batches
    found = []
    encode = importlib.import_module(name).encode
    for fast in (False, True):
        W = weights_of({p: x.detach().clone().requires_grad_(x.requires_grad) for p, x in P.items()}, start)
        encode = peers.prepare(name) if fast else encode
        with contextlib.nullcontext() if fast else batches.Single():
            y = encode(W, W["embed/table"][tokens], length, b.config, a.length)
        (y * y.detach().sin()).sum().backward()
        found.append([y.detach()] + [x.grad for x in W.values() if x.requires_grad and x.grad is not None])
    most = max(float(g.abs().max()) for g in found[0][1:])
    off = max(float((x - y).abs().max()) / max(float(x.abs().max()), 1e-3 * most) for x, y in zip(*found))
    print(f"{name:20} {off:.1e}{'' if off < 1e-3 else '  FAILED'}")
    return 0 if off < 1e-3 else 1


# ---- the table -------------------------------------------------------------------------------------------------------------


def limit(gib):
    resource.setrlimit(resource.RLIMIT_AS, (gib << 30, gib << 30))


def command(a, words, seconds=MINUTE, quiet=True):
    """Its stdout, or None with the reason on stderr."""
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


def ours(a, name, threads):
    out = command(a, [f"{a.build}/lra-probe", "bench", "step", "--model", name, "--set", f"width={a.width}", "--json", "--threads",
                      str(threads), "--length", str(a.length), "--batch", str(a.batch), "--seconds", str(SECONDS)])
    if not out:
        return None
    whole, ops = json.loads(out)["tables"]
    total = sum(r["median_s"] for r in ops["rows"])
    size = {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024}
    mib = sum(float(n) * size[u] for n, u in re.findall(r"(?:workspace|moments) ([0-9.]+) ([KMG]iB)", whole["title"]))
    top = ", ".join(f"{r['name']} {100 * r['median_s'] / total:.0f} %" for r in ops["rows"][:3])
    return dict(median_s=whole["rows"][0]["median_s"], mib=mib, top=top)


def theirs(a, name, threads, mode, file):
    words = [sys.executable, "-O", __file__, "--peer", name, "--file", file, "--threads", str(threads), "--modes", mode, "--length",
             str(a.length), "--batch", str(a.batch)]
    if mode == "compile" and command(a, [*words, "--rounds", "0"], quiet=False) is None:  # fills the compiler's cache
        return None
    out = command(a, words)
    return json.loads(out.splitlines()[-1]) if out else None


def export(a, name, folder, batch):
    file = f"{folder}/{name}.safetensors"
    words = [f"{a.build}/lra-probe", "export", "--gradients", "--model", name, "--set", f"width={a.width}", "--batch", str(batch),
             "--length", str(a.length), "--vocab", "256", "--force", file]
    return file if command(a, words, 600, quiet=False) is not None else None


def middle(all_, key):
    found = [r[key] for r in all_ if r]
    return statistics.median(found) if found else None


def show(x, digits=1):
    return "-" if x is None else f"{x:.{digits}f}"


def row(a, name, threads, folder):
    file, mine, other = export(a, name, folder, 1), [], {m: [] for m in a.modes.split(",")}
    for _ in range(a.rounds):
        mine.append(ours(a, name, threads))
        for mode in other:
            other[mode].append(theirs(a, name, threads, mode, file) if file and is_reference(name) else None)
    s = middle(mine, "median_s")
    peer_s = {m: middle(r, "median_s") for m, r in other.items()}
    best = min((t for t in peer_s.values() if t), default=None)
    mib = middle(other.get("eager", []), "mib")
    print(f"{name:20}{threads:8}{show(s and 1e3 * s):>10}" + "".join(f"{show(t and 1e3 * t):>11}" for t in peer_s.values())
          + f"{show(s / best if s and best else None, 2):>8}{show(middle(mine, 'mib'), 0):>8}{show(mib, 0):>8}   "
          + next((r["top"] for r in mine if r), "-"), flush=True)


def is_reference(name):
    return (HERE.parent / "parity" / f"{name}.py").exists()


def main():
    a = options()
    if a.peer:
        a.batch, a.length = (3, 150) if a.check else (a.batch, a.length)
        return check(a, a.peer, a.file) if a.check else peer(a)
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode:
        print(f"models.py: skipped: '{sys.executable}' has no torch", file=sys.stderr)
        return 77
    listed = subprocess.run([f"{a.build}/lra-probe", "list", "models", "--json"], check=True, capture_output=True, text=True).stdout
    names = a.models.split(",") if a.models else [m["name"] for m in json.loads(listed)["models"]]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TORCHINDUCTOR_CACHE_DIR"] = f"{folder}/compiled"
        if a.check:
            a.batch, a.length = 3, 150
            words = [sys.executable, "-O", __file__, "--check", "--peer"]
            return max(subprocess.run([*words, n, "--file", export(a, n, folder, 3)]).returncode for n in names if is_reference(n))
        print("command    " + " ".join(["tests/bench/models.py", *(w for w in sys.argv[1:] if w != a.build)]))
        print(f"batch {a.batch}, length {a.length}, width {a.width}, other settings the models' own; float32; medians of {a.rounds} "
              f"round{'s' * (a.rounds != 1)} in turn")
        print(subprocess.run([f"{a.build}/lra-probe", "--version"], capture_output=True, text=True).stdout.split("compiler")[0].strip().replace("\n", ", "))
        print(subprocess.run(["sh", "-c", "grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'; nproc | sed 's/$/ processors/'"],
                             capture_output=True, text=True).stdout.strip().replace("\n", ", "))
        print(subprocess.run([sys.executable, "-c", "import torch; print('PyTorch', torch.__version__)"], capture_output=True,
                             text=True).stdout.strip())
        print(f"{'model':20}{'threads':>8}{'ours ms':>10}" + "".join(f"{m + ' ms':>11}" for m in a.modes.split(","))
              + f"{'ratio':>8}{'MiB':>8}{'peer':>8}   what ours does")
        for name in names:
            for threads in a.threads.split(","):
                row(a, name, int(threads), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
