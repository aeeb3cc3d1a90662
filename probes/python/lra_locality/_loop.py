"""The training loop of ``fit()``: that of ``lra-probe train``, in torch.

AdamW with decoupled weight decay (none for biases, norms and position tables), gradients clipped to a global norm,
learning rates and batches given by the C program, the best epoch selected on the validation split and tested once.
"""

from __future__ import annotations

import os
import re
import sys
import time
import warnings
from typing import Any, Dict, List, Tuple, Union

import numpy as np
import torch
from torch import nn

from ._model import Array, Model, pick_output
from .fit import Data, FitError, Pairs, Plan

MAX_SKIPPED = 5  # consecutive updates that are not finite
CHECKPOINT, BEST = "checkpoint.pt", "best.pt"
POSITIONS = re.compile(r"(^|[._])pos(ition)?(s|[._]|$)")  # names of position tables


def to_device(model: nn.Module, device: Any) -> nn.Module:
    if device is None:
        return model
    if torch.device(device).type == "cuda" and not torch.cuda.is_available():
        raise FitError(
            f"device={device!r}, but torch {torch.__version__} finds no CUDA device; device='cpu' trains here"
        )
    return model.to(device)


def groups(model: nn.Module, decay: float) -> List[Dict[str, Any]]:
    """Parameter groups: no weight decay for biases, norms, vectors and position tables.

    ``p._optim = {"lr": .., "weight_decay": ..}`` of a parameter replaces the rate (as a factor of the schedule) or the decay.
    """
    without = {
        id(p) for m in model.modules() if "Norm" in type(m).__name__ for p in m.parameters(recurse=False)
    }
    out: List[Dict[str, Any]] = []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        own = getattr(p, "_optim", {})
        plain = (
            p.dim() > 1 and id(p) not in without and not name.endswith("bias") and not POSITIONS.search(name)
        )
        group = {"weight_decay": own.get("weight_decay", decay if plain else 0.0), "own_rate": own.get("lr")}
        same = next((g for g in out if all(g[k] == v for k, v in group.items())), None)
        if same is None:
            out.append({"params": [p], **group})
        else:
            same["params"].append(p)
    return out


# ---- outputs, loss, metric -------------------------------------------------------------------------


def _checked(m: Union[Model, Pairs], value: Any, n: int, expected: int) -> torch.Tensor:
    """(n, expected) outputs in a return value of the model."""
    y = pick_output(value, m.output)
    y = y[:, None] if torch.is_tensor(y) and y.dim() == 1 and expected == 1 else y
    if not torch.is_tensor(y) or tuple(y.shape) != (n, expected):
        found = tuple(y.shape) if torch.is_tensor(y) else type(y).__name__
        raise FitError(
            f"the model '{m.name}' returned {found} for a batch of {n}, expected ({n}, {expected})"
        )
    return y


def outputs(m: Union[Model, Pairs], x: Array, length: Array, expected: int) -> torch.Tensor:
    """(B, expected) outputs with gradients; examples of a model without mask and lengths are grouped by length."""
    if isinstance(m, Pairs):
        return _checked(m, m.call(x, length), len(x), expected)
    out: List[Any] = [None] * len(x)
    net: Any = m  # a TorchModel
    for index, n in m.batches(length):
        part = m._fit(x[index], n)
        value = net._call(net._tensor(m._shaped(part)), m._extra(length[index], part.shape[1], None))
        y = _checked(m, value, len(index), expected)
        if len(index) == len(x):
            return y
        for k, row in zip(index, y):
            out[k] = row
    return torch.stack(out)


def centre_head(m: Model, mean: Array, x: Array, length: Array) -> bool:
    """Sets the bias of the last linear layer of a regression to the means of the targets, as the built-in models do.

    The layer is the ``nn.Linear`` with a bias whose output is the output of the model.  False: there is none.
    """
    last: List[Tuple[Any, torch.Tensor]] = []
    net: Any = m  # a TorchModel

    def keep(module: nn.Module, args: Any, out: Any) -> None:
        last.append((module, out))

    linear = [k for k in m.model.modules() if isinstance(k, nn.Linear)]
    handles = [k.register_forward_hook(keep) for k in linear]
    try:
        with m.session(), torch.no_grad():
            value = net._call(net._tensor(m._shaped(m._fit(x, 0))), m._extra(length, x.shape[1], None))
            y = pick_output(value, m.output)
    finally:
        for h in handles:
            h.remove()
    for layer, out in reversed(last):
        if layer.bias is not None and len(layer.bias) == len(mean) and out.numel() == y.numel():
            if torch.equal(out.reshape(-1), y.reshape(-1)):
                with torch.no_grad():
                    layer.bias.copy_(torch.from_numpy(np.asarray(mean)).to(layer.bias))
                return True
    return False


def loss_of(goal: str, y: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy in nats, or mean squared error over the targets that are numbers."""
    if goal == "class":
        return nn.functional.cross_entropy(y.float(), target)
    known = ~torch.isnan(target)
    return (y.float() - target)[known].square().mean()


class Sums:
    """Sums over answers, of which the metric is a function: number, correct, loss, targets, squares of targets."""

    def __init__(self, values: Any = (0, 0, 0.0, 0.0, 0.0)) -> None:
        self.n, self.right, self.loss, self.target, self.square = values

    def add(self, goal: str, y: Array, target: Array) -> None:
        y = y.astype(np.float64)
        if goal == "class":
            top = y.max(1, keepdims=True)
            nats = np.log(np.exp(y - top).sum(1)) + top[:, 0] - y[np.arange(len(y)), target]
            self.n += len(y)
            self.right += int((y.argmax(1) == target).sum())
            self.loss += float(nats.sum())
            return
        known = ~np.isnan(target)
        t = target.astype(np.float64)[known]
        self.n += len(t)
        self.loss += float(((y[known] - t) ** 2).sum())
        self.target += float(t.sum())
        self.square += float((t**2).sum())

    def value(self, metric: str) -> float:
        if metric == "accuracy":
            return self.right / self.n if self.n else 0.0
        if not self.n:
            return float("nan")
        if metric == "rmse":
            return float(np.sqrt(self.loss / self.n))
        if metric == "r2":
            spread = self.square - self.target**2 / self.n
            return 1 - self.loss / spread if spread > 0 else float("nan")
        raise FitError(f"metric '{metric}' is not available to fit()")

    def state(self) -> Tuple[Any, ...]:
        return self.n, self.right, self.loss, self.target, self.square


def evaluate(m: Union[Model, Pairs], data: Data, plan: Plan, split: str) -> Tuple[Array, Sums]:
    """Outputs (rows, C) in the order of the split, and their sums."""
    out = np.zeros((len(data.split[split]), plan.outputs), np.float32)
    sums = Sums()
    m.model.eval()
    with torch.no_grad():
        for index, T in plan.batches(split):
            x, length, target = data.batch(split, index, T)
            y = outputs(m, x, length, plan.outputs).float().cpu().numpy()
            out[index] = y
            sums.add(plan.goal, y, target)
    return out, sums


# ---- checkpoints -----------------------------------------------------------------------------------


def _write(path: str, content: Dict[str, Any]) -> None:
    temporary = f"{path}.{os.getpid()}.tmp"
    with open(temporary, "wb") as f:
        torch.save(content, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(temporary, path)


def load_best(model: nn.Module, folder: str) -> bool:
    """Loads the weights of the selected epoch; False: the folder has none."""
    path = os.path.join(folder, BEST)
    if not os.path.exists(path):
        return False
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True)["model"])
    return True


def remove_checkpoint(folder: str) -> None:
    path = os.path.join(folder, CHECKPOINT)
    if os.path.exists(path):
        os.remove(path)


# ---- training --------------------------------------------------------------------------------------


class Training:
    """State of a run between two steps; all of it is in a checkpoint."""

    def __init__(self, m: Union[Model, Pairs], plan: Plan) -> None:
        self.m, self.plan = m, plan
        self.optimizer = torch.optim.AdamW(
            groups(m.model, plan.number("decay")),
            lr=1.0,
            betas=(plan.number("beta1"), plan.number("beta2")),
            eps=plan.number("eps"),
        )
        self.epoch = self.step = self.skipped = self.in_a_row = self.bad = 0
        self.plateau, self.best_score, self.seconds = 1.0, -np.inf, 0.0
        self.best_epoch, self.best_value = 0, float("nan")
        self.history: List[List[float]] = []
        self.sums, self.loss_sum = Sums(), 0.0
        self.losses: List[float] = []  # losses of the steps since this process started

    COUNTS = (
        "epoch",
        "step",
        "skipped",
        "in_a_row",
        "bad",
        "plateau",
        "best_score",
        "best_epoch",
        "best_value",
        "loss_sum",
    )

    def save(self, seconds: float) -> None:
        state = {k: getattr(self, k) for k in self.COUNTS}
        cuda = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []
        _write(
            os.path.join(self.plan.folder, CHECKPOINT),
            {
                **state,
                "best_score": float(self.best_score),
                "config": self.plan.meta["config"],
                "history": self.history,
                "sums": list(self.sums.state()),
                "seconds": seconds,
                "model": self.m.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "random": torch.get_rng_state(),
                "cuda": cuda,
            },
        )

    def load(self) -> bool:
        path = os.path.join(self.plan.folder, CHECKPOINT)
        if not os.path.exists(path):
            return False
        state = torch.load(path, map_location="cpu", weights_only=True)
        if state["config"] != self.plan.meta["config"]:
            raise FitError(f"'{path}' is of another configuration; remove it to train from the start")
        for k in self.COUNTS:
            setattr(self, k, state[k])
        self.history, self.sums, self.seconds = state["history"], Sums(state["sums"]), state["seconds"]
        self.m.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        if state["cuda"] and torch.cuda.is_available():
            torch.cuda.set_rng_state_all(state["cuda"])
        return True

    def update(self, x: Array, length: Array, target: Array) -> float:
        """One step: forward, backward, clipping, AdamW; an update that is not finite is skipped.  Returns the loss."""
        plan, m = self.plan, self.m
        rate = plan.rate(self.epoch, self.step % plan.steps, self.plateau)
        for g in self.optimizer.param_groups:
            g["lr"] = rate if g["own_rate"] is None else g["own_rate"] * rate / plan.number("rate")
        y = outputs(m, x, length, plan.outputs)
        loss = loss_of(plan.goal, y, torch.from_numpy(target).to(y.device))
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        grads = [p.grad for g in self.optimizer.param_groups for p in g["params"] if p.grad is not None]
        if not grads:
            raise FitError(f"no parameter of '{m.name}' influences the outputs: there are no gradients")
        norm = float(torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in grads])))
        value = float(loss.detach())
        self.step += 1
        if not np.isfinite([value, norm]).all():
            self.skipped, self.in_a_row = self.skipped + 1, self.in_a_row + 1
            if self.in_a_row >= MAX_SKIPPED:
                raise FitError(
                    f"step {self.step}: loss {value:g}, gradient norm {norm:g}: {MAX_SKIPPED} consecutive updates were not "
                    "finite; try a lower rate=, or a smaller initialisation"
                )
            return value
        self.in_a_row = 0
        clip = plan.number("clip")
        if clip > 0 and norm > clip:
            torch._foreach_mul_(grads, clip / norm)
        self.optimizer.step()
        self.sums.add(plan.goal, y.detach().float().cpu().numpy(), target)
        known = len(target) if plan.goal == "class" else int((~np.isnan(target)).sum())
        self.loss_sum += value * known
        return value

    def end_epoch(self, val: Sums, seconds: float) -> bool:
        """Appends the epoch to the history and reduces the rate on a plateau.  True: the best epoch so far."""
        plan = self.plan
        value = val.value(plan.metric)
        n = max(self.sums.n, 1)
        rate = plan.rate(self.epoch, plan.steps - 1, self.plateau)
        self.history.append(
            [
                self.step,
                self.loss_sum / n,
                self.sums.value(plan.metric),
                val.loss / max(val.n, 1),
                value,
                rate,
                seconds,
            ]
        )
        score = -value if plan.lower else value
        if plan.meta["train.schedule"] == "plateau":
            if score > self.best_score + plan.number("threshold"):
                self.best_score, self.bad = score, 0
            elif not plan.is_final(self.epoch):
                self.bad += 1
                if self.bad > plan.number("patience"):
                    self.plateau, self.bad = self.plateau * plan.number("factor"), 0
        better = self.best_epoch == 0 or (value < self.best_value if plan.lower else value > self.best_value)
        if better:
            self.best_epoch, self.best_value = self.epoch + 1, value
        self.epoch += 1
        self.sums, self.loss_sum = Sums(), 0.0
        return better

    def is_stuck(self) -> bool:
        patience = int(self.plan.number("early-stop"))
        return 0 < patience <= self.epoch - self.best_epoch


class Progress:
    """One line on a terminal, or one line per epoch elsewhere."""

    def __init__(self, title: str, t: Training, quiet: bool) -> None:
        self.title, self.t, self.quiet = title, t, quiet
        self.started = self.shown = time.monotonic()
        self.first = t.step
        self.live = sys.stderr.isatty()

    def show(self, force: bool = False) -> None:
        now, t = time.monotonic(), self.t
        if self.quiet or not self.live or (now - self.shown < 0.5 and not force):
            return
        self.shown = now
        total = t.plan.epochs * t.plan.steps
        done = max(t.step - self.first, 1)
        left = (now - self.started) / done * (total - t.step)
        loss = t.loss_sum / max(t.sums.n, 1)
        print(
            f"\r{self.title}: epoch {t.epoch + 1} of {t.plan.epochs}  loss {loss:.3f}  {left:.0f} s left   ",
            end="",
            file=sys.stderr,
        )

    def epoch(self) -> None:
        if self.quiet:
            return
        h = self.t.history[-1]
        clear = "\r\033[K" if self.live else ""
        print(
            f"{clear}{self.title}: epoch {len(self.t.history)} of {self.t.plan.epochs}: loss {h[1]:.4f}, "
            f"{self.t.plan.metric} {h[2]:.4f}, validation {h[4]:.4f}, {h[6]:.0f} s",
            file=sys.stderr,
        )


def _check_norms(m: Union[Model, Pairs], data: Data) -> None:
    if isinstance(m, Pairs):
        return
    names = [n for n, k in m.model.named_modules() if "BatchNorm" in type(k).__name__]
    if not names:
        return
    ragged = len({len(r) for r in data.rows.x}) > 1
    if ragged and m.padding == "trim":
        raise FitError(
            f"'{names[0]}' computes statistics of a batch, but examples of different lengths are called separately; "
            "give forward() an argument `lengths` or `mask`, or use LayerNorm"
        )
    if ragged:
        warnings.warn(
            f"'{names[0]}': the statistics of a batch include padding, if the module ignores the mask",
            stacklevel=4,
        )


def train(
    m: Union[Model, Pairs], data: Data, plan: Plan, title: str, checkpoint_every: float, quiet: bool
) -> Dict[str, Any]:
    """Trains a wrapped model; returns history and outputs of the selected weights, which the model has afterwards."""
    _check_norms(m, data)
    t = Training(m, plan)
    best = os.path.join(plan.folder, BEST)
    if t.load() and not quiet:
        print(f"{title}: resumes at step {t.step}", file=sys.stderr)
    progress = Progress(title, t, quiet)
    started = saved = time.monotonic()

    def seconds() -> float:
        return t.seconds + time.monotonic() - started

    try:
        while t.epoch < plan.epochs and not t.is_stuck():
            m.model.train()
            for i, (index, T) in enumerate(plan.batches("train", t.epoch)):
                if i < t.step - t.epoch * plan.steps:
                    continue
                t.losses.append(t.update(*data.train_batch(t.epoch, i, index, T)))
                progress.show()
                if time.monotonic() - saved > checkpoint_every:
                    t.save(seconds())
                    saved = time.monotonic()
            val = evaluate(m, data, plan, "val")[1]
            if t.end_epoch(val, seconds()):
                _write(best, {"model": m.model.state_dict(), "epoch": t.best_epoch})
            progress.epoch()
            t.save(seconds())
            saved = time.monotonic()
    except KeyboardInterrupt:
        if not quiet:
            print(f"\n{title}: stopped; the same call continues from the last checkpoint", file=sys.stderr)
        raise
    load_best(m.model, plan.folder)
    sample = np.zeros((len(plan.arrays["sample"]), plan.outputs), np.float32)
    m.model.eval()
    with torch.no_grad():
        size = int(plan.number("batch"))
        for at in range(0, len(sample), size):
            x, length, _ = data.batch("train", plan.arrays["sample"][at : at + size], 1)
            sample[at : at + size] = outputs(m, x, length, plan.outputs).float().cpu().numpy()
    return {
        "history": t.history,
        "steps": t.step,
        "skipped": t.skipped,
        "best_epoch": t.best_epoch,
        "seconds": seconds(),
        "losses": t.losses,
        "train": sample,
        "val": evaluate(m, data, plan, "val")[0],
        "test": evaluate(m, data, plan, "test")[0],
    }
