"""``fit()`` and ``ladder()``: a model of the user, trained by the protocol of the built-in models.

``lra-probe fit`` gives the batches, in the order of the C program, the learning rate of every step and all settings, and
writes the result file; the training loop is ``_loop.py``.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import inspect
import json
import os
import platform
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import frames, programs
from ._identity import settings_of, source_of
from ._model import LENGTH_NAMES, MASK_NAMES, Array, Model, random_states
from .audit import Audit, audit as audit_model
from .results import Record, Table, figure
from .rows import Rows
from .task import _rows as rows_of_arrays
from .task import task as open_task
from .wrap import wrap as wrap_model

Build = Callable[..., Any]


class FitError(RuntimeError):
    """Raised if a model cannot be trained: no parameters, outputs of the wrong shape, losses that are not finite."""


class Plan:
    """Batches, learning rates and settings of one run, as ``lra-probe fit --batches`` writes them."""

    def __init__(self, path: str) -> None:
        self.meta, arrays = frames.load(path)
        self.arrays = {name: np.array(a) for name, a in arrays.items()}
        self.folder = self.meta["folder"]
        self.epochs, self.steps = int(self.meta["epochs"]), int(self.meta["steps"])
        self.goal, self.metric = self.meta["goal"], self.meta["metric"]
        self.outputs = int(self.meta["classes" if self.goal == "class" else "targets"])
        self.lower = self.meta["lower-is-better"] == "1"
        self.towers = int(self.meta.get("towers", "1"))
        self.words: List[str] = []  # of "lra-probe fit", which writes the inputs of an epoch if they change

    def number(self, key: str) -> float:
        """A setting of training, such as "decay" or "clip"."""
        return float(self.meta[f"train.{key}"])

    def batches(self, split: str, epoch: int = 0) -> Iterator[Tuple[Array, int]]:
        """Row indices and padded length of each batch of an epoch; rows of -1, which fill the last batch, are left out."""
        row, length = self.arrays[f"{split}/row"], self.arrays[f"{split}/length"]
        if split == "train":
            row, length = row[epoch], length[epoch]
        for index, T in zip(row, length):
            yield index[index >= 0], int(T)

    def rate(self, epoch: int, step: int, plateau: float) -> float:
        """Learning rate of a step; plateau: product of the reductions of schedule 'plateau'."""
        rate = float(self.arrays["rate"][epoch, step])
        if plateau < 1:
            peak, least = self.number("rate"), self.number("min-rate")
            rate *= max(peak * plateau, min(least, peak)) / peak
        return float(np.float32(rate))

    def is_final(self, epoch: int) -> bool:
        """Whether the epoch is one of the last ones, in which schedule 'plateau' only decreases the rate."""
        share = self.number("final-share") if "train.final-share" in self.meta else 0
        return share > 0 and epoch >= int(np.ceil((1 - share) * self.epochs - 1e-9))


class Data:
    """The rows of a split as padded arrays; of pairs, (B,2,T) and lengths (B,2)."""

    def __init__(self, rows: Rows, plan: Plan) -> None:
        self.rows, self.plan = rows, plan
        self.kind = "values" if rows.kind == "values" else "tokens"
        self.split = {name: rows.index(name) for name in ("train", "val", "test")}
        label = np.asarray(rows.label)
        self.target = label.astype(np.int64) if plan.goal == "class" else label.astype(np.float32)
        if plan.goal == "value" and self.target.ndim == 1:
            self.target = self.target[:, None]
        self._epoch = -1  # epoch of the inputs that are loaded
        self._drawn: Dict[str, Array] = {}

    def batch(self, split: str, index: Array, T: int) -> Tuple[Array, Array, Array]:
        """Inputs (B,T) or (B,T,F) padded with zeros, lengths (B) and targets (B) or (B,numbers)."""
        at = self.split[split][index]
        rows: List[Array] = [self.rows.x[i] for i in at]
        if self.plan.towers == 2:
            assert self.rows.middle is not None
            cuts = self.rows.middle[at]
            rows = [r[:m] for r, m in zip(rows, cuts)] + [r[m:] for r, m in zip(rows, cuts)]
        return (*self._padded(rows, T), self.target[at])

    def train_batch(self, epoch: int, i: int, index: Array, T: int) -> Tuple[Array, Array, Array]:
        """As batch(), for batch i of an epoch: augmented inputs, if training has them."""
        if self.plan.meta.get("inputs", "rows") == "rows":
            return self.batch("train", index, T)
        if self._epoch != epoch:
            self._load(epoch)
        B = len(index)
        first = i * B * self.plan.towers
        start, flat = self._drawn["start"], self._drawn[self.kind]
        rows = [flat[start[k] : start[k + 1]] for k in range(first, first + B * self.plan.towers)]
        own = self._drawn["label" if self.plan.goal == "class" else "target"][i * B : (i + 1) * B]
        return (*self._padded(rows, T), own.astype(np.int64) if self.plan.goal == "class" else own)

    def _load(self, epoch: int) -> None:
        """Inputs of the training batches of an epoch, as the C program augments them."""
        self._drawn = {}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "inputs.safetensors")
            programs.run([*self.plan.words, "--inputs", path, "--epoch", str(epoch)])
            self._drawn = {name: np.array(a) for name, a in frames.load(path)[1].items()}
        self._epoch = epoch

    def _padded(self, rows: Sequence[Array], T: int) -> Tuple[Array, Array]:
        length = np.array([len(r) for r in rows], np.int64)
        shape = (len(rows), max(T, int(length.max()))) + rows[0].shape[1:]
        x = np.zeros(shape, np.int64 if self.kind == "tokens" else np.float32)
        for i, row in enumerate(rows):
            x[i, : len(row)] = row
        if self.plan.towers == 1:
            return x, length
        B = len(rows) // 2  # the first documents of all pairs, then the second ones
        return np.stack([x[:B], x[B:]], 1), np.stack([length[:B], length[B:]], 1)


class Run:
    """A trained model: its folder, its weights of the selected epoch, and its measurements."""

    def __init__(self, folder: str, out: str, seed: int, model: Any, rows: Rows, name: str) -> None:
        self.folder, self.out, self.seed, self.model, self.rows, self.name = (
            folder,
            out,
            seed,
            model,
            rows,
            name,
        )
        self.audit: Optional[Audit] = None

    def __repr__(self) -> str:
        return f"Run({self.folder!r}, seed={self.seed})"


class Runs(List[Run]):
    """The runs of ``fit()``, one for each seed."""

    @property
    def folders(self) -> List[str]:
        return [r.folder for r in self]

    def table(self, name: str = "tasks") -> Table:
        """A table of ``lra-report list`` for these runs; a run without a measurement of the table is left out."""
        return Table(name, self.folders, self[0].out)

    def records(self) -> List[Record]:
        return self.table("locality").records()

    def frame(self) -> Any:
        """One row per model: accuracy and locality, with intervals over examples and seeds (pandas)."""
        return self.table("locality").frame()

    def __str__(self) -> str:
        return str(self.table())


class Ladder(Runs):
    """The rungs of ``ladder()``, each with its seeds."""

    def table(self, name: str = "ladder") -> Table:
        return super().table(name)

    @property
    def facts(self) -> Dict[str, Any]:
        """Values of the ladder, such as ``li``, ``radius_1`` and ``reach_sufficient_1`` (reports/FORMAT.md)."""
        return dict(self.table().document["tables"][0]["facts"])

    def records(self) -> List[Record]:
        return self.table().records()

    def frame(self) -> Any:
        return self.table().frame()

    def figure(self, path: str, name: str = "loc-t1") -> str:
        """Draws accuracy against reach into a .pdf, .svg or .png file; needs gnuplot."""
        return figure(name, path, self.folders, self[0].out)


def fit(
    build: Build,
    task: Union[str, Rows],
    preset: str = "quick",
    *,
    seeds: Union[int, Sequence[int]] = 3,
    name: Optional[str] = None,
    like: str = "resconv",
    reach: Optional[int] = None,
    out: str = "lra-out",
    device: Any = None,
    wrap: Optional[Mapping[str, Any]] = None,
    measure: bool = True,
    audit: Optional[Mapping[str, Any]] = None,
    checkpoint_every: float = 300,
    quiet: bool = False,
    **settings: Any,
) -> Runs:
    """Trains a torch model as ``lra-probe train`` trains the built-in ones, and measures its locality.

    build:    function(task, seed) that returns a ``torch.nn.Module`` with outputs (B, task.classes); torch's random
              numbers are seeded before the call.  ``task`` has ``vocab``, ``classes``, ``width`` and ``length``.
    task:     name of a task of ``lra-probe list tasks``, or ``rows()`` with labels.  With pairs of documents, the model
              takes x (B,2,T) and ``lengths`` (B,2) or a mask (B,2,T).
    preset:   quick, small or paper: data, epochs, batch and schedule.
    seeds:    number of seeds, or a list of them.     name: name of the model in tables (default: its class).
    like:     the built-in model whose learning rate and weight decay of this preset are used.
    settings: settings of task or training by name, such as rate=0.002, decay=0.1, epochs=5, augment=True
              (``lra-probe list settings``).
    reach:    one-sided reach of the model in tokens, if it is limited; stored with the result.
    wrap:     arguments of ``ll.wrap``, such as {"features": "encoder"}.     device: "cpu", "cuda".
    measure:  measure locality after training;        audit: arguments of ``ll.audit`` for it, which measures
              "jacobian" (distances; needs features) and "keep" (context) unless it has other ``parts``.

    Results are folders ``OUT/runs/TASK-user.NAME-HASH``.  The hash covers the source text of the model's classes, its
    settings and shapes, the data, the seed and the settings of training.  A finished run is not trained again; an
    interrupted one continues from its last checkpoint.  Raises FitError.
    """
    torch = _torch()
    rows, numbers = _open(task, preset, seeds, out, settings)
    runs = Runs()
    with tempfile.TemporaryDirectory() as folder:
        options, rows = _data(rows, preset, folder, out)
        for seed in numbers:
            runs.append(
                _fit_one(
                    torch,
                    lambda s: build(rows, s),
                    rows,
                    [*options, *_words(settings), "--model", like],
                    seed=seed,
                    name=name,
                    reach=reach,
                    rung=False,
                    family=None,
                    folder=folder,
                    out=out,
                    device=device,
                    wrap=dict(wrap or {}),
                    checkpoint_every=checkpoint_every,
                    quiet=quiet,
                )
            )
            if measure and rows.middle is not None:
                if not quiet:
                    print(f"{runs[-1].name}: locality is not measured: the rows are pairs", file=sys.stderr)
            elif measure:
                fresh = functools.partial(_build, torch, functools.partial(build, rows), seed)
                _measure(runs[-1], fresh, dict(wrap or {}), dict(audit or {}), quiet)
    return runs


def ladder(
    build: Build,
    task: Union[str, Rows],
    preset: str = "quick",
    *,
    reach: Sequence[int],
    seeds: Union[int, Sequence[int]] = 3,
    name: Optional[str] = None,
    like: str = "resconv",
    out: str = "lra-out",
    device: Any = None,
    wrap: Optional[Mapping[str, Any]] = None,
    checkpoint_every: float = 300,
    quiet: bool = False,
    **settings: Any,
) -> Ladder:
    """Trains models of growing reach; the table gives the locality index and the sufficient reach.

    build: function(task, seed, reach) that returns a model whose features at a position depend on at most ``reach``
           tokens to each side.  With wrap={"features": MODULE} the gradients are checked for this.
    reach: one-sided reaches of the rungs, in tokens, at least 1.     Other arguments: those of ``fit()``.
    """
    torch = _torch()
    if not reach or min(reach) < 1:
        raise ValueError(f"reach={list(reach)!r}, expected one-sided reaches of at least 1 token")
    rows, numbers = _open(task, preset, seeds, out, settings)
    rungs = Ladder()
    with tempfile.TemporaryDirectory() as folder:
        options, rows = _data(rows, preset, folder, out)
        family = _family(torch, build, rows, min(reach))
        for r in sorted(set(int(v) for v in reach)):
            for seed in numbers:
                rungs.append(
                    _fit_one(
                        torch,
                        lambda s, r=r: build(rows, s, r),  # type: ignore[misc]
                        rows,
                        [*options, *_words(settings), "--model", like],
                        seed=seed,
                        name=name,
                        reach=r,
                        rung=True,
                        family=family,
                        folder=folder,
                        out=out,
                        device=device,
                        wrap=dict(wrap or {}),
                        checkpoint_every=checkpoint_every,
                        quiet=quiet,
                    )
                )
    return rungs


# ---- data and settings -----------------------------------------------------------------------------


def _torch() -> Any:
    try:
        import torch
    except ImportError as e:
        raise ImportError("fit() and ladder() train torch models: pip install torch") from e
    return torch


def _open(
    task: Union[str, Rows],
    preset: str,
    seeds: Union[int, Sequence[int]],
    out: str,
    settings: Mapping[str, Any],
) -> Tuple[Rows, List[int]]:
    """The rows of a task or of the user, and the list of seeds."""
    if isinstance(task, str):
        task = open_task(task, preset, out=out, **_task_settings(task, settings))
    return task, list(range(seeds)) if isinstance(seeds, int) else [int(s) for s in seeds]


def _words(settings: Mapping[str, Any]) -> List[str]:
    """Settings as options of lra-probe."""
    words: List[str] = []
    for key, value in settings.items():
        words += ["--set", f"{key.replace('_', '-')}={int(value) if isinstance(value, bool) else value}"]
    return words


def _task_settings(task: str, settings: Mapping[str, Any]) -> Dict[str, Any]:
    """The settings that are parameters of the task's data."""
    listed = json.loads(programs.run(["list", "parameters", "--json"]).stdout)["parameters"]
    own = {p["name"] for p in listed if p["of"] == f"task {task}"}
    return {k: v for k, v in settings.items() if k.replace("_", "-") in own}


def _data(rows: Rows, preset: str, folder: str, out: str) -> Tuple[List[str], Rows]:
    """Options of lra-probe for the data, and the rows as that program holds them."""
    if rows.label is None:
        raise FitError(f"'{rows.name}' has no labels; fit() trains classifiers and regressions")
    if rows.task is not None:
        return [*rows.task, *([] if "--preset" in rows.task else ["--preset", preset])], rows
    options = rows.save(os.path.join(folder, f"{rows.name}.jsonl"))
    path = os.path.join(folder, "own.safetensors")
    words = [w for w in options if w not in ("--task", "file")]
    programs.run(["data", "file", *words, "--out", out, "--arrays", path, "--quiet"])
    meta, arrays = frames.load(path)
    own = rows_of_arrays(rows.name, meta, arrays)
    own.meta = meta
    own.task = options
    return [*options, "--preset", preset], own


# ---- one run ---------------------------------------------------------------------------------------


def _build(torch: Any, build: Callable[[int], Any], seed: int) -> Any:
    torch.manual_seed(seed)
    model = build(seed)
    if not isinstance(model, torch.nn.Module):
        raise FitError(f"build returned a {type(model).__name__}, expected a torch.nn.Module")
    if not any(p.requires_grad for p in model.parameters()):
        raise FitError(
            f"'{type(model).__name__}' has no parameters that require gradients: there is nothing to train"
        )
    return model


def _family(torch: Any, build: Build, rows: Rows, least: int) -> str:
    """Settings that all rungs share: those of the model of reach 1, or of the smallest reach."""
    restore = random_states()
    try:
        for r in (1, least):
            try:
                return settings_of(_build(torch, lambda s: build(rows, s, r), 0))
            except FitError:
                raise
            except Exception:
                if r == least:
                    raise
    finally:
        restore()
    raise AssertionError("unreachable")


def _fit_one(
    torch: Any,
    build: Callable[[int], Any],
    rows: Rows,
    options: List[str],
    *,
    seed: int,
    name: Optional[str],
    reach: Optional[int],
    rung: bool,
    family: Optional[str],
    folder: str,
    out: str,
    device: Any,
    wrap: Dict[str, Any],
    checkpoint_every: float,
    quiet: bool,
) -> Run:
    from . import _loop

    restore = random_states()
    try:
        model = _build(torch, build, seed)
        title = name or type(model).__name__
        words = ["fit", *options, "--seed", str(seed), "--out", out, "--name", title, "--quiet"]
        words += ["--source", source_of(model), "--settings", family or settings_of(model)]
        words += ["--reach", str(reach)] if reach is not None else []
        words += ["--rung"] if rung else []
        path = os.path.join(folder, "batches.safetensors")
        programs.run([*words, "--batches", path])
        plan = Plan(path)
        plan.words = words
        model = _loop.to_device(model, device)
        run = Run(plan.folder, out, seed, model, rows, title)
        with _locked(plan.folder):
            if os.path.exists(os.path.join(plan.folder, "result.h5")):
                if not quiet:
                    print(f"{title} seed {seed}: already trained, {plan.folder}", file=sys.stderr)
                _loop.load_best(model, plan.folder)
                return run
            m: Union[Model, Pairs]
            if plan.towers == 2:
                m = Pairs(model, wrap, title)
            else:
                m = _wrapped(model, rows, plan, wrap)
                if reach is not None:
                    _check_reach(m, rows, reach)
                if plan.goal == "value":
                    _loop.centre_head(m, plan.arrays["mean"], *_sample(rows))
            trained = _loop.train(
                m, Data(rows, plan), plan, f"{plan.meta['task']} {title} seed {seed}", checkpoint_every, quiet
            )
        path = os.path.join(folder, "trained.safetensors")
        _save(path, trained, plan, model)
        programs.run([*words, "--import", path])
        _loop.remove_checkpoint(plan.folder)
        return run
    finally:
        restore()


@contextlib.contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Holds the lock of a run's folder, as the C program does; fails if another process trains the run."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "a+b") as f:
        try:
            fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as e:
            raise FitError(f"'{folder}' is in use: another process trains this run") from e
        yield


def _wrapped(model: Any, rows: Rows, plan: Plan, options: Dict[str, Any]) -> Model:
    options.setdefault("inputs", "values" if rows.kind == "values" else "tokens")
    if rows.kind != "values":
        options.setdefault("vocab", rows.vocab)
    m = wrap_model(model, quiet=True, **options)
    if not m.probed:
        m.probe(*_sample(rows))
    return m


class Pairs:
    """A model of pairs of documents, forward(x (B,2,T), lengths (B,2)) or forward(x, mask (B,2,T)), as ``_loop`` calls it."""

    def __init__(self, model: Any, options: Mapping[str, Any], name: str) -> None:
        unknown = sorted(set(options) - {"lengths", "mask", "output", "features"})
        if unknown:
            raise FitError(f"wrap={{{unknown[0]!r}: ...}} has no effect on a model of pairs")
        self.model, self.name, self.output = model, name, options.get("output")
        names = list(inspect.signature(model.forward).parameters)[1:]
        self.lengths = options.get("lengths") or next((n for n in LENGTH_NAMES if n in names), None)
        mask = options.get("mask") or next((n for n in MASK_NAMES if n in names), None)
        self.mask = None if self.lengths else mask
        if not self.lengths and not self.mask:
            raise FitError(
                f"'{name}' is trained on pairs of documents of different lengths, padded to (B,2,T): forward() needs an "
                "argument `lengths` (B,2) or `mask` (B,2,T; true: a token)"
            )

    def call(self, x: Array, length: Array) -> Any:
        """The model's return value for a batch of pairs."""
        import torch

        device = next(self.model.parameters()).device
        if self.lengths:
            extra = {self.lengths: torch.from_numpy(length)}
        else:
            name = str(self.mask)
            visible = np.arange(x.shape[2]) < length[:, :, None]
            hidden = name.startswith("~") or "pad" in name
            extra = {name.lstrip("~"): torch.from_numpy(~visible if hidden else visible).to(device)}
        return self.model(torch.from_numpy(x).to(device), **extra)


def _sample(rows: Rows) -> Tuple[Array, Array]:
    """Two training examples of one length, and their lengths."""
    index = rows.index("train")[:2]
    T = min(len(rows.x[i]) for i in index)
    return np.stack([rows.x[i][:T] for i in index]), np.full(len(index), T, np.int64)


def _check_reach(m: Model, rows: Rows, reach: int) -> None:
    """Fails if features depend on tokens beyond the declared reach, for models that give features and gradients."""
    if "features" not in m.offers() or "vjp" not in m.offers():
        return
    i = max(rows.index("train")[:200], key=lambda k: len(rows.x[k]))
    x = np.asarray(rows.x[i])[None]
    T = x.shape[1]
    position = T // 2
    D = m.features(x, np.array([T])).shape[-1]
    cotangent = np.random.default_rng(0).standard_normal((1, D)).astype(np.float32)
    grad = m.vjp(x, np.array([T]), np.array([position]), cotangent)[0]
    far = np.abs(np.flatnonzero(grad > 0) - position)
    if len(far) and far.max() > reach:
        raise FitError(
            f"declared reach {reach}, but the features at position {position} depend on a token {far.max()} positions away"
        )


def _save(path: str, trained: Dict[str, Any], plan: Plan, model: Any) -> None:
    """Writes what was trained for ``lra-probe fit --import``."""
    import torch

    device = next(model.parameters()).device
    meta = {
        "fingerprint": plan.meta["fingerprint"],
        "parameters": str(sum(p.numel() for p in model.parameters() if p.requires_grad)),
        "device": str(device) if device.type != "cuda" else f"cuda:{device.index or 0}",
        "device_name": torch.cuda.get_device_name(device)
        if device.type == "cuda"
        else platform.processor() or "cpu",
        "libraries": f"PyTorch {torch.__version__}, numpy {np.__version__}, Python {platform.python_version()}",
        "threads": str(torch.get_num_threads()),
    }
    meta.update({k: str(trained[k]) for k in ("steps", "skipped", "best_epoch", "seconds")})
    arrays = {f"{s}/output": np.ascontiguousarray(trained[s], np.float32) for s in ("train", "val", "test")}
    frames.save(path, {"history": np.asarray(trained["history"], np.float64), **arrays}, meta)


def _measure(
    run: Run, fresh: Callable[[], Any], wrap: Dict[str, Any], options: Dict[str, Any], quiet: bool
) -> None:
    """Measures the locality of a trained model into the folder of its run, beside those of the initial weights."""
    wrap.setdefault("inputs", "values" if run.rows.kind == "values" else "tokens")
    if run.rows.kind != "values":
        wrap.setdefault("vocab", run.rows.vocab)
    options.setdefault("quiet", quiet)
    options.setdefault("initial", fresh)
    m = wrap_model(run.model, quiet=True, name=run.name, **wrap)
    extra = list(options.pop("options", ()))
    if not m.probed:
        m.probe(*_sample(run.rows))
    if "features" in m.offers():
        options.setdefault("parts", "jacobian,keep")
    else:
        options.setdefault("parts", "keep")
        if not quiet:
            print(f"{run.name}: distances are not measured: {m.missing.get('features', '')}", file=sys.stderr)
    run.audit = audit_model(
        m, run.rows, name=run.name, out=run.out, options=[*extra, "--into", run.folder], **options
    )
