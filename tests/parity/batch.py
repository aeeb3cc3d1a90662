"""One batch of a model, written by parity_dump, and the outputs, gradients and losses of a PyTorch reference on it."""
import contextlib
import json
import pathlib
import subprocess
import tempfile

import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

RATE = float(torch.tensor(1e-2, dtype=torch.float32))  # the engine stores learning rates in float32
KINDS = {"F64": torch.float64, "F32": torch.float32, "I32": torch.int32}


class Weights(dict):
    """Arrays by path; `start`: their values before the first step; `step`: seed and number of the current step."""
    start, step = None, (0, 0)


class Batch:
    """A file of `lra-probe export --gradients`: weights and gradients in the layout of the C code."""

    def __init__(self, path, lines=False):
        """lines: also reads the settings from the lines of metadata `config`, as lra-probe writes them."""
        data = pathlib.Path(path).read_bytes()
        end = 8 + int.from_bytes(data[:8], "little")
        header = json.loads(data[8:end])
        self.config = header.pop("__metadata__")
        turned = self.config["lra.reversed"].split()
        if lines:
            self.config.update(line.split("=", 1) for line in self.config["config"].splitlines())
        self.arrays = {}
        for name, a in header.items():
            begin, stop = a["data_offsets"]
            x = torch.frombuffer(bytearray(data[end + begin:end + stop]), dtype=KINDS[a["dtype"]]).reshape(a["shape"])
            kind, _, path = name.partition("/")
            if path in turned and kind in ("param", "grad"):
                x = x.permute(*reversed(range(x.dim()))).contiguous()
            self.arrays[name] = x
        self.T_max = int(self.config.get("lra.T_max", 0))
        self.loss, self.output = float(self.arrays["loss"].reshape(())), self.arrays["output"].double()

    def all(self, kind):
        """The arrays of a kind ("param", "grad", ..) by path."""
        return {n[len(kind) + 1:]: x for n, x in self.arrays.items() if n.startswith(kind + "/")}

    def weights(self, dtype):
        """A copy of the weights, with gradients, and of constants and states, without gradients."""
        P = Weights({p: x.to(dtype).clone().requires_grad_() for p, x in self.all("param").items()})
        for kind in ("constant", "state"):
            P.update({p: x.to(dtype) for p, x in self.all(kind).items()})
        P.start = {p: x.detach().clone() for p, x in P.items()}
        return P


class Single(TorchFunctionMode):
    """Replaces float64 by float32 in the calls of a reference; complex numbers are made from float32, not from bf16."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if kwargs.get("dtype") is torch.float64:
            kwargs["dtype"] = torch.float32
        if kwargs.get("dtype") is torch.complex128:
            kwargs["dtype"] = torch.complex64
        if func in (torch.complex, torch.polar):
            args = [a.float() for a in args]
        return func(*args, **kwargs)


def pool(P, x, length, kind):
    keep = (torch.arange(x.shape[1])[None] < length[:, None])[..., None]
    if kind == "max":
        return x.masked_fill(~keep, -torch.inf).amax(1)
    if kind == "last":
        return x[torch.arange(len(x)), length - 1]
    return (x * keep).sum(1) / length[:, None]


def network(encode, P, batch, kind):
    """The logits: embedding, encoder, pool, classifier."""
    tokens, length = (batch.arrays["input/" + n].long() for n in ("tokens", "length"))
    x, T_max = P["embed/table"][tokens], batch.T_max
    if kind == "cls":
        x = torch.cat([P["cls/vector"].expand(len(x), 1, -1), x], 1)
        pooled = encode(P, x, length + 1, batch.config, T_max + 1)[:, 0]
    else:
        pooled = pool(P, encode(P, x, length, batch.config, T_max), length, kind)
    if "hidden/w" in P:
        act = F.relu if "head/b" in P else F.gelu  # without bias it is the head of MEGA, with GELU
        pooled = act(F.linear(pooled, P["hidden/w"].T, P["hidden/b"]))
    return F.linear(pooled, P["head/w"].T, P.get("head/b"))


def gradients(encode, batch, kind, precision=torch.float64):
    """Logits, loss and gradients in float64, in float32, or in float32 under autocast to bf16."""
    P = batch.weights(torch.float64 if precision == torch.float64 else torch.float32)
    with contextlib.ExitStack() as stack:
        if precision != torch.float64:
            stack.enter_context(Single())
        if precision == torch.bfloat16:
            stack.enter_context(torch.autocast("cpu", torch.bfloat16))
        logits = network(encode, P, batch, kind)
    loss = F.cross_entropy(logits.to(P["head/w"].dtype), batch.arrays["input/label"].long())
    loss.backward()
    grad = {p: (x.grad if x.grad is not None else torch.zeros_like(x)).double() for p, x in P.items() if x.requires_grad}
    return logits.detach().double(), float(loss.detach()), grad


def losses(encode, batch, kind):
    """The loss before each step of AdamW, with the learning rates and weight decays of the file."""
    P = batch.weights(torch.float64)
    groups = []
    for path, (factor, decay) in ((p, g.tolist()) for p, g in batch.all("group").items()):
        P[path].requires_grad_(factor > 0)
        if factor > 0:
            groups.append(dict(params=[P[path]], lr=RATE * factor, weight_decay=decay))
    adamw = torch.optim.AdamW(groups, betas=(0.9, 0.999), eps=1e-8)
    out = []
    for i in range(batch.arrays["losses"].numel()):
        P.step = 1, i
        loss = F.cross_entropy(network(encode, P, batch, kind), batch.arrays["input/label"].long())
        out.append(float(loss.detach()))
        adamw.zero_grad()
        loss.backward()
        adamw.step()
    return torch.tensor(out, dtype=torch.float64)


def pool_of(changes):
    return next((c[5:] for c in changes.split() if c.startswith("pool=")), "mean")


def dump(program, name, changes, steps, draw=0):
    """The batch in float64, float32 and bf16.  Each draw has other weights; draws from 1 on have no losses."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, folder, str(steps), name, changes, str(draw)], check=True)
        return [Batch(f"{folder}/{p}.safetensors") for p in ("f64", "f32", "bf16")]


def references():
    """Names of the files in this folder that define CASES."""
    return sorted(p.stem for p in pathlib.Path(__file__).parent.glob("*.py") if "\nCASES = " in p.read_text())
