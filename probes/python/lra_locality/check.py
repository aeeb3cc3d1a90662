"""``check()``: tests whether a wrapped model has the properties that the measurements assume."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ._model import Array, Model
from .frames import error_code

TOLERANCE = 1e-4  # relative, of float32


@dataclass
class Check:
    """The result of one check.  state: ok, note, failed, or skipped."""

    name: str
    state: str
    found: str
    means: str = ""
    remedy: str = ""
    disables: Tuple[str, ...] = ()


@dataclass
class CheckTable:
    """The results of the checks in the order in which they ran.  ``print(table)`` shows them."""

    model: str
    rows: List[Check] = field(default_factory=list)
    noise: float = 0.0
    examples_per_second: float = 0.0

    @property
    def ok(self) -> bool:
        """True if no check failed."""
        return all(r.state != "failed" for r in self.rows)

    @property
    def disabled(self) -> Tuple[str, ...]:
        """Names of the measurements that failed checks disable."""
        return tuple(dict.fromkeys(d for r in self.rows if r.state == "failed" for d in r.disables))

    def row(self, name: str) -> Check:
        for r in self.rows:
            if r.name == name:
                return r
        raise KeyError(f"no check '{name}'; there are {', '.join(r.name for r in self.rows)}")

    def records(self) -> List[Dict[str, Any]]:
        """The rows as dictionaries, for a DataFrame."""
        return [dict(r.__dict__) for r in self.rows]

    def __str__(self) -> str:
        wide = max((len(r.name) for r in self.rows), default=0)
        lines = [f"check of {self.model}"]
        for r in self.rows:
            lines.append(f"  {r.state:8}{r.name:{wide}}  {r.found}")
            if r.state == "failed":
                lines += [f"  {'':8}{'':{wide}}  usual cause: {r.means}", f"  {'':8}{'':{wide}}  remedy: {r.remedy}"]
                if r.disables:
                    lines.append(f"  {'':8}{'':{wide}}  disables: {', '.join(r.disables)}")
        return "\n".join(lines)

    __repr__ = __str__


def relative(a: Array, b: Array) -> float:
    """Largest difference of two arrays, relative to the largest magnitude."""
    a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if a.shape != b.shape:
        return float("inf")
    scale = max(float(np.abs(a).max(initial=0)), 1e-30)
    return float(np.abs(a - b).max(initial=0)) / scale


class _Checker:
    def __init__(
        self, m: Model, x: Array, length: Array, label: Optional[Array], causal: Optional[bool]
    ) -> None:
        self.m, self.x, self.length, self.label, self.causal = m, x, length, label, causal
        self.table = CheckTable(m.name)
        self.B = min(len(x), 8)
        self.tolerance = TOLERANCE * m._tolerance()

    def add(
        self, name: str, state: str, found: str, means: str = "", remedy: str = "", disables: Sequence[str] = ()
    ) -> None:
        self.table.rows.append(Check(name, state, found, means, remedy, tuple(disables)))

    def verdict(
        self, name: str, good: bool, found: str, means: str, remedy: str, disables: Sequence[str]
    ) -> None:
        self.add(
            name, "ok" if good else "failed", found, *(("", "", ()) if good else (means, remedy, disables))
        )

    def batch(self, k: int = 0) -> Tuple[Array, Array]:
        index = (np.arange(self.B) + k * self.B) % len(self.x)
        return self.x[index], self.length[index]

    # ---- rows of the table, in their order

    def shapes(self) -> bool:
        """Three batches: shapes and finite values."""
        shapes, bad = set(), 0
        try:
            for k in range(3):
                out = self.m.outputs(*self.batch(k))
                shapes.add(out.shape[1:])
                bad += int((~np.isfinite(out)).sum())
        except Exception as e:  # the model's own code
            self.add(
                "shapes",
                "failed",
                f"{type(e).__name__}: {str(e)[:300]}",
                "inputs of another kind or length than the model takes",
                "compare inputs=, vocab= and length= of wrap() with the model",
                ("everything",),
            )
            return False
        self.add(
            "shapes",
            "ok",
            f"{self.B} examples -> {', '.join(map(str, sorted((self.B, *s) for s in shapes)))}",
        )
        self.verdict(
            "finite",
            bad == 0,
            "all outputs are finite" if not bad else f"{bad} outputs are NaN or infinite",
            "overflow in half precision, or a row that is hidden completely",
            "run the model in float32",
            ("everything",),
        )
        return bad == 0

    def evaluation(self, training: Sequence[str]) -> None:
        if training:
            names = ", ".join(training[:3]) + (" ..." if len(training) > 3 else "")
            self.add(
                "evaluation",
                "note",
                f"found in training mode: {names}; evaluation mode is set during calls and restored",
            )
        else:
            self.add("evaluation", "ok", "evaluation mode")

    def weights(self, before: Optional[float], after: Optional[float]) -> None:
        if before is None:
            return
        self.verdict(
            "weights",
            before == after,
            "calls leave the weights unchanged" if before == after else "calls change the weights",
            "running statistics or a cache that forward() writes",
            "write no state in forward() in evaluation mode",
            ("everything",),
        )

    def deterministic(self) -> None:
        x, length = self.batch()
        d = relative(self.m.outputs(x, length), self.m.outputs(x, length))
        self.table.noise = d
        self.verdict(
            "deterministic",
            d <= self.tolerance,
            "equal" if d == 0 else f"two calls differ by {d:.1e} (the noise floor)",
            "dropout or sampling that evaluation mode does not switch off",
            "use self.training, or seed inside forward()",
            ("effects below the noise floor",),
        )

    def batch_invariance(self) -> None:
        x, length = self.batch()
        together, worst = self.m.outputs(x, length), 0.0
        for k in range(min(4, len(x))):
            alone = self.m.outputs(x[k : k + 1], length[k : k + 1])
            n = int(length[k])
            a, b = (together[k, :n], alone[0, :n]) if together.ndim == 3 else (together[k], alone[0])
            worst = max(worst, relative(a, b))
        self.verdict(
            "batch",
            worst <= self.tolerance,
            f"alone and with batch mates: difference {worst:.1e}",
            "the first axis is time, batch statistics, or padding that leaks",
            "wrap a function that transposes to the order of the model; batch_first=True; batch=1",
            ("everything",),
        )

    def padding(self) -> None:
        m = self.m
        if m.padding == "trim":
            self.add("padding", "ok", "no padding is passed: examples of equal length are called together")
            return
        if m.padding == "fixed":
            self.add(
                "padding",
                "note",
                f"the model takes inputs of {m.length or self.x.shape[1]} positions alone; 'keep', 'bag' and "
                "'length', which shorten inputs, are not measured",
            )
            return
        x, length = self.batch()
        length = np.minimum(length, max(1, x.shape[1] - max(1, x.shape[1] // 4)))
        changed = x.copy()
        other = m._other(x)
        hidden = np.arange(x.shape[1])[None] >= length[:, None]
        changed[hidden] = other[hidden]
        n = int(length.max())
        a, b, c = m.outputs(x, length), m.outputs(changed, length), m.outputs(x[:, :n], length)
        if a.ndim == 3:
            visible = ~hidden[:, :n, None]
            a, b, c = a[:, :n] * visible, b[:, :n] * visible, c * visible
        d = max(relative(a, b), relative(a, c))
        self.verdict(
            "padding",
            d <= self.tolerance,
            f"other padding and less padding: difference {d:.1e}",
            "the mask is ignored",
            "pass mask= or lengths= to wrap()",
            ("length", "keep"),
        )
        self.add(
            "keep",
            "ok" if m.keep_honoured else "note",
            "hidden positions have no effect"
            if m.keep_honoured
            else "single positions cannot be hidden; crop and swap are used instead",
        )

    def causality(self) -> None:
        m = self.m
        if m.causal is None:
            self.add("causal", "skipped", "no outputs of positions")
        elif self.causal is not None and m.causal != self.causal:
            self.add(
                "causal",
                "failed",
                f"declared {self.causal}, found {m.causal}",
                "a wrong or missing mask",
                "compare the model's mask",
                ("direction",),
            )
        else:
            self.add(
                "causal",
                "ok",
                "outputs depend on earlier tokens only" if m.causal else "outputs depend on later tokens too",
            )

    def gradient(self) -> None:
        m = self.m
        if "vjp" in m.missing:
            self.add("gradient", "note", m.missing["vjp"])
            return
        if m._tolerance() > 1:
            self.add("gradient", "skipped", "half precision: differences are too coarse")
            return
        x, length = self.batch()
        try:
            found, expected = m.gradient_check(x[:2], length[:2])
        except Exception as e:  # the model's own code
            self.add(
                "gradient",
                "failed",
                f"{type(e).__name__}: {str(e)[:200]}",
                "an op without a gradient",
                "embedding=MODULE, or leave it: occlusion is used",
                ("jacobian", "erf"),
            )
            return
        d = abs(found - expected) / max(abs(found), abs(expected), 1e-30)
        self.verdict(
            "gradient",
            d <= 0.03,
            f"gradient {expected:.4g}, central difference {found:.4g}",
            "a detached graph, or another layer",
            "embedding= names the module whose output is differentiated",
            ("jacobian", "erf"),
        )

    def attention(self) -> None:
        """Attention maps: shape, finite, not negative, rows sum to 1, no weight on padding or on later tokens."""
        m = self.m
        if "attn" in m.missing:
            if m._attention_wanted():
                self.add("attention", "skipped", m.missing["attn"])
            return
        x, length = self.batch()
        x, length = x[:4], np.maximum(1, length[:4] // 2)
        T, heads, text = x.shape[1], 0, ""
        for layer in m.attention_layers:
            try:
                maps = m.attention(x, length, layer)
            except Exception as e:  # the model's own code
                text = f"layer '{layer}': {type(e).__name__}: {str(e)[:200]}"
                break
            heads += maps.shape[1]
            text = text or _wrong_maps(maps, length, T, bool(m.causal), m.renormalise, layer)
        self.verdict(
            "attention",
            not text,
            text or f"{len(m.attention_layers)} layers, {heads} heads",
            "scores instead of weights, a missing mask, or maps of other positions",
            "return the weights after the softmax, (batch, heads, query, key); renormalise=True accepts any sums",
            ("attention",),
        )

    def kernels(self) -> None:
        m = self.m
        if not m.kernel_layers:
            return
        channels = [len(m.kernels(layer)["kernel"]) for layer in m.kernel_layers]
        zero = [layer for layer in m.kernel_layers if not m.kernels(layer)["kernel"].any()]
        self.verdict(
            "kernels",
            not zero,
            f"layer '{zero[0]}' is 0 everywhere" if zero else f"{len(channels)} layers, {sum(channels)} channels",
            "a buffer that the first call fills",
            "call the model before kernels= reads it",
            ("kernels",),
        )

    def accuracy(self) -> None:
        if self.label is None or self.m.kind != "class":
            self.add(
                "accuracy",
                "skipped",
                "no labels" if self.label is None else f"the output is {self.m._output_text()}",
            )
            return
        n = min(200, len(self.x))
        label = np.asarray(self.label[:n], np.int64)
        classes = self.m.classes or 0
        if label.max(initial=0) >= classes or label.min(initial=0) < 0:
            self.add(
                "accuracy",
                "failed",
                f"labels {label.min()} to {label.max()}, the model has {classes} outputs",
                "another task than the model's",
                "compare classes= and the labels",
                ("gains",),
            )
            return
        predicted = self.m.logits(self.x[:n], self.length[:n]).argmax(1)
        right = int((predicted == label).sum())
        chance = int(np.bincount(label, minlength=classes).max())
        text = f"{100 * right / n:.1f} % of {n} examples (most frequent label: {100 * chance / n:.1f} %)"
        order = _other_order(predicted, label, classes)
        if order is not None:
            self.add(
                "accuracy",
                "failed",
                f"{text}; with the labels in another order it would be {100 * order[0]:.0f} %: {order[1]}",
                "the labels of the rows and of the model are in another order",
                "reorder the outputs: output=FUNCTION",
                ("gains",),
            )
        elif right <= chance + 2 * (n * 0.25) ** 0.5 * (chance < n) - (chance == n):
            self.add("accuracy", "note", f"{text}: not above chance; gains are not defined")
        else:
            self.add("accuracy", "ok", text)

    def speed(self, parts: Sequence[str]) -> None:
        x, length = self.batch()
        repeats = max(1, 16 // max(1, len(x)))
        x, length = np.concatenate([x] * repeats), np.concatenate([length] * repeats)
        start, n = time.perf_counter(), 0
        while n == 0 or (time.perf_counter() - start < 0.2 and n < 64 * len(x)):
            self.m.outputs(x, length)
            n += len(x)
        rate = n / (time.perf_counter() - start)
        self.table.examples_per_second = rate
        self.add(
            "speed",
            "ok",
            f"{rate:.0f} examples a second at batch {len(x)}; 10,000 calls: {10000 / rate:.0f} s",
        )


def _wrong_maps(
    maps: Array, length: Array, T: int, causal: bool, any_sum: bool, layer: str
) -> str:
    """What is wrong with attention maps (B,H,T,T), with the first place; "": nothing."""

    def place(bad: Array) -> str:
        b, h, i = (int(v) for v in np.argwhere(bad)[0][:3])
        return f"layer '{layer}', head {h}, row {i}"

    if maps.shape[2:] != (T, T):
        return f"layer '{layer}' has maps of {maps.shape[2]} x {maps.shape[3]}, the input has {T} positions"
    at = np.arange(T)
    rows = np.broadcast_to((at[None] < length[:, None])[:, None, :], maps.shape[:3])
    hidden = (at[None] >= length[:, None])[:, None, None, :]
    values = np.where(rows[..., None], maps, 0)
    if not np.isfinite(values).all():
        return f"{place(~np.isfinite(values))}: a weight is {values[~np.isfinite(values)][0]}"
    if not any_sum and (values < -1e-2).any():
        return f"{place(values < -1e-2)}: a weight is {values.min():.3g}"
    padding = np.abs(values * hidden).sum(-1)
    if (padding > 1e-2).any():
        return f"{place(padding > 1e-2)}: weight {padding.max():.3g} on padding"
    later = np.abs(values * (at[None, :] > at[:, None])).sum(-1)
    if causal and (later > 1e-2).any():
        return f"{place(later > 1e-2)}: weight {later.max():.3g} on later tokens of a causal model"
    sums = values.sum(-1)
    wrong = rows & (np.abs(sums - 1) > 1e-2) & (sums != 0)
    if not any_sum and wrong.any():
        return f"{place(wrong)}: the weights sum to {sums[wrong][0]:.4g}, expected 1"
    return ""


def _other_order(predicted: Array, label: Array, classes: int) -> Optional[Tuple[float, str]]:
    """(accuracy, text) of a permutation of labels that fits clearly better, chosen on half and tested on the other half."""
    if classes > 64 or len(label) < 40:
        return None
    counts = np.zeros((classes, classes))
    np.add.at(counts, (predicted[::2], label[::2]), 1)
    order = np.full(classes, -1)
    free = counts.copy()
    for _ in range(classes):  # greedy: the most frequent pair first
        p, y = np.unravel_index(free.argmax(), free.shape)
        order[p], free[p, :], free[:, y] = y, -1, -1
    other, own = order[predicted[1::2]] == label[1::2], predicted[1::2] == label[1::2]
    gain = float(other.mean() - own.mean())
    error = float(np.sqrt(max(np.var(other.astype(float) - own), 1e-12) / len(other)))
    chance = np.bincount(label, minlength=classes).max() / len(label)
    if gain < 5 * error or other.mean() < chance + 0.1:
        return None
    moved = [f"{p}->{int(y)}" for p, y in enumerate(order) if p != y]
    return float(other.mean()), ", ".join(moved[:6]) + (" ..." if len(moved) > 6 else "")


def check(
    m: Model, rows: Any = None, *, causal: Optional[bool] = None, parts: Sequence[str] = ()
) -> CheckTable:
    """Checks a wrapped model and returns a table: outcome of each check, and the parts that a failure disables.

    rows:   from ``rows()`` or ``task()``; a pair (x, length); None: made-up tokens.
    causal: what the model is declared to be; default: as found.
    """
    x, length, label = _examples(m, rows)
    if not m.probed:
        m._ready(x[:4], length[:4])
    c = _Checker(m, x, length, label, causal)
    training = m.training_modules()
    before = m.fingerprint()
    with m.session():
        if c.shapes():
            c.evaluation(training)
            c.weights(before, m.fingerprint())
            steps: List[Callable[[], None]] = [
                c.deterministic,
                c.batch_invariance,
                c.padding,
                c.causality,
                c.gradient,
                c.attention,
                c.kernels,
                c.accuracy,
                lambda: c.speed(parts),
            ]
            for step in steps:
                try:
                    step()
                except Exception as e:  # the model's own code
                    name = getattr(step, "__name__", "speed")
                    c.add(
                        name,
                        "failed",
                        f"{error_code(e)}: {type(e).__name__}: {str(e)[:200]}",
                        "the model fails for some inputs",
                        "call the model with the same batch",
                        (name,),
                    )
    return c.table


def _examples(m: Model, rows: Any) -> Tuple[Array, Array, Optional[Array]]:
    if rows is None:
        T = m.length or 32
        x = m.sample(T, 16)
        length = np.full(16, T)
        if m.padding != "fixed":
            length[1::2] = np.maximum(1, T - np.arange(1, 9) * T // 10)
        return x, length, None
    if hasattr(rows, "examples"):
        x, length, label = rows.examples("test", 200)
        return x, length, label
    x, length = rows
    return np.asarray(x), np.asarray(length), None
