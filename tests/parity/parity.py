"""Models against references in PyTorch, in float64: the loss, every logit, and every gradient relative to the largest
of its parameter (or, where a parameter has none, of the model).

    cmake --build build/release --target parity_dump
    python3 tests/parity/parity.py build/release/tests/parity_dump [MODEL...]

Needs PyTorch.  A reference is tests/parity/MODEL.py: CASES, changes of settings to go through, and
encode(P, x, length, config, T_max), written from the paper with parameters P by path.  Every change is gone through at
three lengths of a batch, whose second and third row are shorter.
"""
import importlib
import json
import pathlib
import subprocess
import sys

import torch
import torch.nn.functional as F

TOLERANCE = 1e-9
STEPS = "13", "37", "40"  # of a batch; T_max is 40


def network(encoder, P, tokens, length, config, T_max):
    """Embedding, encoder, mean over the true length, classifier."""
    x = encoder(P, P["embed/table"][tokens], length, config, T_max)
    keep = (torch.arange(tokens.shape[1])[None] < length[:, None]).to(x.dtype)
    pooled = (x * keep[..., None]).sum(1) / length[:, None]
    if "hidden/w" in P:
        pooled = F.relu(pooled @ P["hidden/w"] + P["hidden/b"])
    return pooled @ P["head/w"] + P["head/b"]


def distance(ours, theirs, floor=0.0):
    most = max(float(theirs.abs().max()), floor)
    return float((ours - theirs).abs().max()) / most if most else 0.0


def compare(name, changes, steps, program):
    dump = json.loads(subprocess.run([program, name, changes, steps], check=True, capture_output=True, text=True).stdout)
    length, label = (torch.tensor(dump[k]).long() for k in ("length", "label"))
    tokens = torch.tensor(dump["tokens"]).long().reshape(len(length), -1)
    P, grad = {}, {}
    for path, p in dump["params"].items():
        P[path] = torch.tensor(p["value"], dtype=torch.float64).reshape(p["shape"]).requires_grad_()
        grad[path] = torch.tensor(p["grad"], dtype=torch.float64).reshape(p["shape"])
    reference = importlib.import_module(name).encode
    logits = network(reference, P, tokens, length, dump["config"], dump["T_max"])
    loss = F.cross_entropy(logits, label)
    loss.backward()
    loss = float(loss.detach())
    floor = 1e-6 * max(float(p.grad.abs().max()) for p in P.values())
    off = {path: distance(grad[path], p.grad, floor) for path, p in P.items()}
    worst = max(off, key=off.get)
    errors = [abs(dump["loss"][0] - loss) / loss,
              distance(torch.tensor(dump["output"], dtype=torch.float64).reshape(logits.shape), logits.detach()),
              off[worst]]
    ok = all(e <= TOLERANCE for e in errors)
    print(f"{name} {changes or '(tiny)'}, {steps} steps: loss {errors[0]:.1e}, logits {errors[1]:.1e}, {len(off)} gradients "
          f"{errors[2]:.1e} ({worst}){'' if ok else '  FAILED'}")
    return ok


def main():
    here = pathlib.Path(__file__).parent
    sys.path.insert(0, str(here))
    names = sys.argv[2:] or sorted(p.stem for p in here.glob("*.py") if p.stem not in ("parity", "common", "arena"))
    ok = [compare(name, changes, steps, sys.argv[1])
          for name in names for changes in importlib.import_module(name).CASES for steps in STEPS]
    return 0 if all(ok) else 1


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main())
