"""A wrapped model: one interface for all frameworks.

Shapes: B examples, T positions, C classes, V vocabulary, D features, F values per position, H heads.
Subclasses implement ``_invoke`` (one call of the model) and, where the framework allows it, gradients,
features and attention maps.  This file decides how padding is passed, and finds it out by experiment.
"""

from __future__ import annotations

import contextlib
import inspect
import random
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np

from ._kernels import read_kernels
from .frames import Unsupported

Array = np.ndarray
OPS = ("forward", "features", "vjp", "attn", "kernels")
MASK_NAMES = (
    "attention_mask",
    "src_key_padding_mask",
    "key_padding_mask",
    "padding_mask",
    "pad_mask",
    "mask",
)
LENGTH_NAMES = ("lengths", "length", "seq_lengths", "seq_lens", "seq_len", "lens", "input_lengths")


class WrapError(ValueError):
    """Raised if a model cannot be wrapped.  The message states the found value and the argument to pass."""


def nearest(name: str, names: Sequence[str]) -> str:
    """A hint for a wrong name: the closest ones of ``names``."""
    import difflib

    close = difflib.get_close_matches(name, names, 3, 0.4)
    return (
        f"; nearest: {', '.join(close)}" if close else f"; there are {', '.join(list(names)[:12]) or 'none'}"
    )


def is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype")


def _fields(value: Any) -> Optional[Dict[str, Any]]:
    """Names and values of a dictionary, dataclass or named tuple; None for anything else."""
    if hasattr(value, "items") and callable(value.items):
        return {str(k): v for k, v in value.items()}
    if hasattr(value, "__dataclass_fields__"):
        return {k: getattr(value, k) for k in value.__dataclass_fields__}
    if hasattr(value, "_fields"):
        return {k: getattr(value, k) for k in value._fields}
    return None


def pick_output(value: Any, output: Any = None) -> Any:
    """Returns the array of logits in the return value of a model.

    output: None (array, ``.logits``, ``["logits"]``, first element), a key, an index, or a function.
    Raises WrapError that lists the names that were found.
    """
    if callable(output):
        return output(value)
    fields = _fields(value)
    if output is not None:
        if isinstance(output, int) and isinstance(value, (tuple, list)):
            return value[output]
        if fields is not None and output in fields:
            return fields[output]
        if hasattr(value, str(output)):
            return getattr(value, str(output))
        raise WrapError(f"output={output!r} is not in the model's output, which is {_describe(value)}")
    if is_array(value):
        return value
    if fields is not None:
        if fields.get("logits") is not None:
            return fields["logits"]
        arrays = [k for k, v in fields.items() if is_array(v)]
        if len(arrays) == 1 and not hasattr(value, "last_hidden_state"):
            return fields[arrays[0]]
        raise WrapError(f"the model returned {_describe(value)} without 'logits'; pass output=NAME")
    if getattr(value, "logits", None) is not None:
        return value.logits
    if isinstance(value, (tuple, list)) and value:
        return pick_output(value[0])
    raise WrapError(
        f"the model returned {_describe(value)}, expected an array of logits; pass output=FUNCTION"
    )


def _describe(value: Any) -> str:
    fields = _fields(value)
    if fields is not None:
        kind = "a dictionary" if isinstance(value, dict) else f"a {type(value).__name__}"
        return f"{kind} with {', '.join(map(repr, fields)) or 'no keys'}"
    if isinstance(value, (tuple, list)):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def random_states() -> Callable[[], None]:
    """Saves the random states of numpy and Python; the result restores them."""
    numpy_state, python_state = np.random.get_state(), random.getstate()

    def restore() -> None:
        np.random.set_state(numpy_state)
        random.setstate(python_state)

    return restore


def window_of(width: Union[int, Tuple[int, int]], T: int) -> Array:
    """(T,T) bool: the pairs of a window, a number of tokens to each side of the query, or (before, after) it."""
    before, after = width if isinstance(width, tuple) else (width, width)
    distance = np.arange(T)[:, None] - np.arange(T)
    return (distance <= before) & (-distance <= after)


class Model:
    """A model that can be asked for logits, features, gradients and attention maps.

    Made by ``wrap()``.  ``print(model)`` states what was found out, what is offered, and how to get the rest.
    """

    framework = "function"

    def __init__(
        self,
        model: Any,
        *,
        inputs: str = "tokens",
        vocab: Optional[int] = None,
        classes: Optional[int] = None,
        length: Optional[Union[int, Tuple[int, int]]] = None,
        output: Any = None,
        mask: Any = None,
        lengths: Any = None,
        pad: Optional[int] = None,
        batch: Optional[int] = None,
        name: Optional[str] = None,
        bos: Optional[int] = None,
        kernels: Any = None,
        renormalise: bool = False,
        allowed: Any = None,
        positions: Optional[bool] = None,
    ) -> None:
        self.model = model
        self._allowed_request = allowed
        self.positions = positions  # False: the model adds no absolute positions
        self.head_works = False  # outputs follow from given features: head()
        self.limits = (
            False  # the distance between positions that attention connects can be limited: limited()
        )
        self.limit_layers: List[str] = []
        self.renormalise = renormalise
        self._kernels_request = kernels
        self._kernels: Optional[Dict[str, Dict[str, Array]]] = None
        self._memo: Optional[Tuple[Any, Any]] = None  # inputs and attention maps of the previous call
        self.inputs = inputs
        self.vocab = vocab
        self.classes = classes
        self.grid = tuple(length) if isinstance(length, (tuple, list)) else None
        self.length: Optional[int] = int(np.prod(length)) if length is not None else None
        self.output = output
        self.pad = 0 if pad is None else pad
        self.max_batch = batch or 0
        self.bos = bos  # begin-of-sequence token, which stays in front of shortened rows
        self.takes_positions = False  # position ids of the tokens can be passed
        self.name = name or self._default_name()
        self.kind = ""  # "class", "position" or "value", once the model has been called
        self.causal: Optional[bool] = None
        self.padding = ""  # "mask", "lengths", "trim" or "fixed"
        self.keep_honoured = False
        self.probed = False
        self.notes: List[str] = []
        self.missing: Dict[str, str] = {}  # op -> reason and remedy
        self.layers: List[str] = []
        self.attention_layers: List[str] = []
        self.gradient = "occlusion"
        self._mask_request, self._length_request = mask, lengths
        self._mask: Optional[Tuple[str, Callable[[Array], Array]]] = None
        self._lengths: Optional[str] = None
        self._depth = 0
        self._like: Optional[Callable[[Any], "Model"]] = None  # set by wrap()

    def like(self, model: Any) -> "Model":
        """Another model, wrapped with the same options."""
        if self._like is None:
            raise WrapError("only models made by wrap() can be repeated")
        return self._like(model)

    # ---- what a subclass provides ------------------------------------------------------------------

    def _default_name(self) -> str:
        return getattr(self.model, "__name__", None) or type(self.model).__name__

    def _signature(self) -> Dict[str, inspect.Parameter]:
        """Parameters of the function that is called, by name."""
        try:
            return dict(inspect.signature(self.model).parameters)
        except (TypeError, ValueError):
            return {}

    def _invoke(self, x: Array, extra: Dict[str, Array]) -> Any:
        """Calls the model with one batch; ``extra``: arguments by name (mask or lengths)."""
        return self.model(self._shaped(x), **extra)

    def _numpy(self, value: Any) -> Array:
        return np.asarray(value)

    def _inspect(self, x: Array, length: Array) -> None:
        """Finds out what else the model offers, after the first successful call."""

    @contextlib.contextmanager
    def _evaluating(self) -> Iterator[None]:
        yield

    # ---- sessions ----------------------------------------------------------------------------------

    @contextlib.contextmanager
    def session(self) -> Iterator["Model"]:
        """Evaluation mode and unchanged random state until the end of the block; may be nested."""
        if self._depth:
            self._depth += 1
            try:
                yield self
            finally:
                self._depth -= 1
            return
        restore = random_states()
        self._depth, self._kernels = 1, None  # the weights may have changed since the last session
        try:
            with self._evaluating():
                yield self
        finally:
            self._depth = 0
            self._memo = None
            restore()

    # ---- one call ----------------------------------------------------------------------------------

    def _shaped(self, x: Array) -> Array:
        """A batch in the model's own shape: images (B,F,height,width) from (B,T,F)."""
        if self.inputs != "image":
            return x
        height, width = self._grid_of(x.shape[1])
        return np.ascontiguousarray(x.reshape(len(x), height, width, -1).transpose(0, 3, 1, 2))

    def _grid_of(self, n: int) -> Tuple[int, int]:
        if self.grid:
            return self.grid  # type: ignore[return-value]
        side = int(round(n**0.5))
        if side * side != n:
            raise WrapError(f"images of {n} pixels are not square; pass length=(height, width)")
        return side, side

    def _extra(self, length: Array, T: int, keep: Optional[Array]) -> Dict[str, Array]:
        """Arguments that tell the model which positions exist."""
        if self._mask is not None:
            name, form = self._mask
            visible = np.arange(T)[None, :] < length[:, None]
            return {name: form(visible if keep is None else visible & keep)}
        if self._lengths is not None:
            return {self._lengths: length}
        return {}

    def _raw(self, x: Array, length: Array, keep: Optional[Array]) -> Array:
        """Output array of one call: (B,C), (B,T,V), (B,1) or (B)."""
        out = self._numpy(pick_output(self._invoke(x, self._extra(length, x.shape[1], keep)), self.output))
        if out.ndim == 0 or out.ndim > 3 or len(out) != len(x):
            raise WrapError(
                f"the model '{self.name}' returned shape {tuple(out.shape)} for a batch of {len(x)}; expected "
                "(batch, classes), (batch, length, vocabulary) or (batch); pass output= to choose another output"
            )
        if out.dtype.kind not in "fiub":
            raise WrapError(f"the model '{self.name}' returned {out.dtype}, expected real numbers")
        return out.astype(np.float32, copy=False)

    def batches(self, length: Array) -> Iterator[Tuple[Array, int]]:
        """(indices, length of the input) of the calls that a batch is divided into.

        Without mask and lengths, examples of equal length are called together without padding.
        """
        if self.padding == "trim":
            groups = [(np.flatnonzero(length == n), int(n)) for n in np.unique(length)]
        else:
            groups = [(np.arange(len(length)), 0)]
        for index, n in groups:
            step = self.max_batch or len(index)
            for at in range(0, len(index), step):
                yield index[at : at + step], n

    def _fit(self, x: Array, n: int) -> Array:
        """Examples cut to n positions (0: all), or padded to the fixed length."""
        if n:
            return np.ascontiguousarray(x[:, :n])
        if self.padding == "fixed" and self.length and x.shape[1] != self.length:
            if x.shape[1] > self.length:
                raise WrapError(
                    f"an input of {x.shape[1]} positions, the model '{self.name}' takes {self.length}"
                )
            more = np.full((x.shape[0], self.length - x.shape[1], *x.shape[2:]), self.pad, x.dtype)
            return np.concatenate([x, more], 1)
        return x

    def _ready(self, x: Any, length: Any) -> Tuple[Array, Array]:
        """Batch and lengths as arrays, after the model has been tried."""
        x = np.asarray(x)
        x = (
            x.astype(np.int64, copy=False)
            if self.inputs in ("tokens", "text")
            else x.astype(np.float32, copy=False)
        )
        if self.inputs not in ("tokens", "text") and x.ndim == 2:
            x = x[:, :, None]
        length = (
            np.full(len(x), x.shape[1], np.int64) if length is None else np.asarray(length).astype(np.int64)
        )
        if len(length) != len(x) or (len(x) and (length.min() < 1 or length.max() > x.shape[1])):
            raise ValueError(
                f"lengths of {len(length)} examples up to {length.max(initial=0)}, the batch is {x.shape[:2]}"
            )
        if not self.probed:
            self.probe(x, length)
        return x, length

    # ---- public calls ------------------------------------------------------------------------------

    def outputs(self, x: Any, length: Any = None, keep: Any = None) -> Array:
        """Outputs as the model gives them: (B,C), (B,T,V) padded with zeros, or (B,1); float32."""
        x, length = self._ready(x, length)
        keep = None if keep is None else np.asarray(keep, bool)
        if keep is not None and not self.keep_honoured:
            raise Unsupported(f"'{self.name}' has no mask that hides positions")
        out: Optional[Array] = None
        with self.session():
            for index, n in self.batches(length):
                part = self._raw(self._fit(x[index], n), length[index], None if keep is None else keep[index])
                part = part[:, None] if part.ndim == 1 else part
                if out is None:
                    shape = (len(x), x.shape[1], part.shape[2]) if part.ndim == 3 else (len(x), part.shape[1])
                    out = np.zeros(shape, np.float32)
                if part.ndim == 3:
                    used = min(part.shape[1], x.shape[1])
                    out[index, :used] = part[:, :used]
                else:
                    out[index] = part
        assert out is not None, "an empty batch"
        return out

    def logits(self, x: Any, length: Any = None, keep: Any = None, place: Any = None) -> Array:
        """(B,C) float32; a model with an output at every position: that of the last position of each example.

        place (B): position id of the first token, for models with ``takes_positions``; default 0.
        """
        x, length = self._ready(x, length)
        if self.kind != "position":
            return self.outputs(x, length, keep)
        keep = None if keep is None else np.asarray(keep, bool)
        if keep is not None and not self.keep_honoured:
            raise Unsupported(f"'{self.name}' has no mask that hides positions")
        out = np.zeros((len(x), self.classes or 0), np.float32)
        with self.session():
            for index, n in self._next_batches(length):
                T = n or x.shape[1]
                hidden = None if keep is None else keep[index, :T]
                at = None if place is None else np.asarray(place, np.int64)[index]
                out[index] = self._last(self._fit(x[index], n), length[index], hidden, at)
        return out

    def logprob(self, x: Any, length: Any, target: Any) -> Array:
        """(B,T) float32: ln of the probability of target[b,t] after the tokens 0..t; 0 where the target is -1."""
        if not self.next_token:
            raise Unsupported(f"'{self.name}' does not predict the next token")
        x, length = self._ready(x, length)
        target = np.asarray(target, np.int64)
        out = np.zeros(x.shape[:2], np.float32)
        with self.session():
            for index, n in self._next_batches(length):
                T = n or x.shape[1]
                part = self._logprob(self._fit(x[index], n), length[index], target[index, :T])
                out[index, :T] = part[:, :T]
        return out

    @property
    def next_token(self) -> bool:
        """Whether the model is a causal language model: logits of the next token at every position."""
        return bool(
            self.kind == "position"
            and self.causal
            and self.inputs == "tokens"
            and self.vocab
            and (self.classes or 0) >= self.vocab
        )

    def _next_batches(self, length: Array) -> Iterator[Tuple[Array, int]]:
        """As batches(); the padding after an example has no effect on the positions before it in a causal model."""
        if not (self.causal and self.padding == "trim"):
            yield from self.batches(length)
            return
        step = self.max_batch or len(length)
        order = np.argsort(length, kind="stable")
        for at in range(0, len(order), step):
            index = order[at : at + step]
            yield index, int(length[index].max())

    def _last(self, x: Array, length: Array, keep: Optional[Array], place: Optional[Array]) -> Array:
        """(B,C): output at the last position of each example."""
        if place is not None and place.any():
            raise Unsupported(f"'{self.name}' takes no position ids")
        return self._raw(x, length, keep)[np.arange(len(x)), length - 1]

    def _logprob(self, x: Array, length: Array, target: Array) -> Array:
        logits = self._raw(x, length, None).astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        log_sum = np.log(np.exp(logits).sum(-1))
        chosen = np.take_along_axis(logits, np.maximum(target, 0)[:, :, None], 2)[:, :, 0]
        return np.where(target >= 0, chosen - log_sum, 0).astype(np.float32)

    def features(self, x: Any, length: Any = None, layer: str = "") -> Array:
        """(B,T,D) float32: features before pooling, or after the named layer."""
        self._require("features")
        if self._features_are_outputs(layer):
            return self.outputs(x, length)
        x, length = self._ready(x, length)
        return self._gather(x, length, lambda part, lens: self._features(part, lens, layer))

    def head(self, x: Any, length: Any, features: Any) -> Array:
        """(B,C) float32: outputs of the model if the features of its positions, before the pooling, are those given (B,T,D).

        features(x) gives logits(x).  What the model computes from the inputs alone (masks, lengths) stays that of x.
        """
        x, length = self._ready(x, length)
        if not self.head_works:
            raise Unsupported(f"'{self.name}' gives no outputs of given features")
        features = np.asarray(features, np.float32)
        if features.ndim != 3 or features.shape[:2] != x.shape[:2]:
            raise ValueError(f"features of shape {features.shape}, expected ({len(x)}, {x.shape[1]}, D)")
        out: Optional[Array] = None
        with self.session():
            for index, n in self.batches(length):
                given = features[index, : n or x.shape[1]]
                part = self._head(self._fit(x[index], n), length[index], given)
                part = part[:, None] if part.ndim == 1 else part
                out = np.zeros((len(x), part.shape[1]), np.float32) if out is None else out
                out[index] = part
        assert out is not None, "an empty batch"
        return out

    @contextlib.contextmanager
    def limited(self, limit: int, layer: str = "") -> Iterator[None]:
        """In this block, position i of each layer of attention (or of ``layer`` alone) uses only positions j with |i - j| <= limit."""
        if not self.limits:
            raise Unsupported(f"'{self.name}' takes no distance limit: {self.missing.get('limits', '')}")
        if limit < 0 or (layer and layer not in self.limit_layers):
            raise ValueError(
                f"limit={limit} layer={layer!r}, expected at least 0, and one of {', '.join(self.limit_layers)}"
            )
        with self._limited(limit, layer):
            yield

    def _limited(self, limit: int, layer: str) -> Any:
        raise Unsupported("limits")

    def _find_limits(self, x: Array, T: int) -> None:
        """Whether a distance limit works: with a limit of 0 the features of a position depend on its token alone, and with
        one of the length they are those of the model.
        """
        if T < 4 or not self.layers or not self.limit_layers:
            return
        x = x[:1] if self.max_batch == 1 else x
        full, at = np.full(len(x), T, np.int64), T // 2
        changed = self._other(x).copy()
        changed[:, at] = x[:, at]
        if np.array_equal(changed, x):
            return

        def features(v: Array, limit: Optional[int]) -> Array:
            with contextlib.nullcontext() if limit is None else self._limited(limit, ""):
                a = self._raw_all(v, full, None) if self.layers == ["logits"] else self._features(v, full, "")
            return a

        try:
            plain, whole, a, b = features(x, None), features(x, T), features(x, 0), features(changed, 0)
            self.limits = (
                self._same(plain, whole) and self._same(a[:, at], b[:, at]) and not self._same(plain, a)
            )
        except Exception:  # features of another shape, or a mask of another form
            self.limits = False

    def _head(self, x: Array, length: Array, features: Array) -> Array:
        raise Unsupported("head")

    def _find_head(self, x: Array, T: int) -> None:
        """Whether the outputs are those of the features: those of given features are compared."""
        if self.kind == "position" or not self.layers or self.padding == "fixed":
            return
        x = x[:1] if self.max_batch == 1 else x
        full, y = np.full(len(x), T, np.int64), self._other(x)
        y = np.ascontiguousarray(x[:, ::-1]) if np.array_equal(x, y) else y
        try:
            out, turned = self._raw(x, full, None), self._raw(y, full, None)
            same = self._head(x, full, self._features(x, full, ""))
            other = self._head(x, full, self._features(y, full, ""))
            self.head_works = (
                self._same(out, same) and self._same(turned, other) and not self._same(out, other)
            )
        except Exception:  # features of another shape, or a module whose output is not used
            self.head_works = False

    def vjp(self, x: Any, length: Any, position: Any, cotangent: Any, layer: str = "") -> Array:
        """(B,T) float32: squared norm over the embedding of d(cotangent . h[position]) / d e_j.

        position (B): -1 for the gradient of the logits; cotangent (B,D) or (B,C).
        """
        self._require("vjp")
        x, length = self._ready(x, length)
        position, cotangent = np.asarray(position, np.int64), np.asarray(cotangent, np.float32)
        out = np.zeros(x.shape[:2], np.float32)
        with self.session():
            for index, n in self.batches(length):
                part = self._vjp(
                    self._fit(x[index], n), length[index], position[index], cotangent[index], layer
                )
                used = min(part.shape[1], x.shape[1])
                out[index, :used] = part[:, :used]
        return out

    def attention(
        self, x: Any, length: Any = None, layer: str = "", rows: Optional[Tuple[int, int]] = None
    ) -> Array:
        """(B,H,b-a,T) float32: attention maps of a layer, rows a to b (default all); zero in padding."""
        return self.attention_pairs(x, length, layer, rows)[0]

    def attention_pairs(
        self, x: Any, length: Any = None, layer: str = "", rows: Optional[Tuple[int, int]] = None
    ) -> Tuple[Array, Optional[Array]]:
        """Attention maps as ``attention()``, and a bool array of the same shape: false where the model's mask excludes
        a pair of positions (a window, the future); None if no pair is known to be excluded.
        """
        self._require("attn")
        x, length = self._ready(x, length)
        if layer and layer not in self.attention_layers:
            raise Unsupported(
                f"'{self.name}' has no attention in '{layer}'{nearest(layer, self.attention_layers)}"
            )
        (a, b), T = rows or (0, x.shape[1]), x.shape[1]
        out: Optional[Array] = None
        pairs: Optional[Array] = None
        layer = layer or self.attention_layers[0]
        with self.session():
            for index, n in self.batches(length):
                part, allowed = self._attention(self._fit(x[index], n), length[index], layer)
                used = min(part.shape[-1], T)
                if out is None:
                    out = np.zeros((len(x), part.shape[1], T, T), np.float32)
                out[index, :, :used, :used] = part[:, :, :used, :used]
                if allowed is not None:
                    pairs = np.ones(out.shape, bool) if pairs is None else pairs
                    pairs[index, :, :used, :used] = np.broadcast_to(allowed, part.shape)[:, :, :used, :used]
        assert out is not None, "an empty batch"
        pairs = self._declared(pairs, layer, out.shape)
        if pairs is not None:
            self._check_pairs(out, pairs, length, layer)
            pairs = np.ascontiguousarray(pairs[:, :, a:b])
        return np.ascontiguousarray(out[:, :, a:b]), pairs

    def _declared(self, pairs: Optional[Array], layer: str, shape: Tuple[int, ...]) -> Optional[Array]:
        """The pairs of positions that ``allowed=`` declares, and those found in the model, for maps of this shape."""
        own = self._allowed_request
        own = own.get(layer) if isinstance(own, dict) else own
        own = own(shape[-1]) if callable(own) else own
        own = own.get(layer) if isinstance(own, dict) else own
        if own is None:
            return pairs
        if isinstance(own, (int, tuple)) and not isinstance(own, bool):
            own = window_of(own, shape[-1])
        own = np.asarray(own)
        if own.dtype != bool or own.ndim > 3 or (own.ndim and own.shape[-2:] != shape[-2:]):
            raise WrapError(
                f"allowed= gave {own.dtype} of shape {own.shape}, expected bool of shape ({shape[-1]}, {shape[-1]}) or "
                f"({shape[1]}, {shape[-1]}, {shape[-1]}): query, key"
            )
        return np.array(np.broadcast_to(own, shape)) if pairs is None else pairs & own

    def _check_pairs(self, maps: Array, pairs: Array, length: Array, layer: str) -> None:
        """Fails if a pair that is declared as excluded has a weight."""
        outside = np.where(pairs, 0, np.abs(maps))
        for i, n in enumerate(length):
            outside[i, :, n:] = 0
        if outside.max(initial=0) > 1e-3:
            b, h, i, j = (int(v) for v in np.unravel_index(outside.argmax(), outside.shape))
            raise WrapError(
                f"layer '{layer}', head {h}: weight {outside[b, h, i, j]:.3g} of position {i} on {j}, a pair that is "
                "declared as excluded; allowed= is true where a query may attend to a key"
            )

    def _remembered(self, x: Array, length: Array, maps: Callable[[], Any]) -> Any:
        """Attention maps of all layers; those of the previous call if the inputs are equal."""
        key = (x.shape, x.tobytes(), length.tobytes())
        if self._memo is None or self._memo[0] != key:
            self._memo = None
            self._memo = (key, maps())
        return self._memo[1]

    # ---- kernels

    def kernels(self, layer: str = "", lags: int = 0) -> Dict[str, Array]:
        """Arrays of a layer's convolution kernels: kernel (channels, lags), lag 0 first, and optionally kernel_back
        (looking ahead), kernel_im and kernel_back_im; at most ``lags`` lags (0: all)."""
        self._require("kernels")
        known = self._read_kernels()
        if layer and layer not in known:
            raise Unsupported(f"'{self.name}' has no kernels in '{layer}'{nearest(layer, list(known))}")
        own = known[layer or next(iter(known))]
        return {k: np.ascontiguousarray(a[..., : lags or None]) for k, a in own.items()}

    @property
    def kernel_layers(self) -> List[str]:
        """Names of the layers with kernels."""
        return [] if self._kernels_request is None else list(self._read_kernels())

    def _read_kernels(self) -> Dict[str, Dict[str, Array]]:
        if self._kernels is None:
            self._kernels = read_kernels(
                self._kernels_request, getattr(self, "params", self.model), self._numpy, WrapError
            )
        return self._kernels

    def _gather(self, x: Array, length: Array, call: Callable[[Array, Array], Array]) -> Array:
        out: Optional[Array] = None
        with self.session():
            for index, n in self.batches(length):
                part = call(self._fit(x[index], n), length[index])
                if out is None:
                    out = np.zeros((len(x), x.shape[1], part.shape[2]), np.float32)
                used = min(part.shape[1], x.shape[1])
                out[index, :used] = part[:, :used]
        assert out is not None, "an empty batch"
        return out

    def gradient_check(self, x: Array, length: Array) -> Tuple[float, float]:
        """Derivative along one random direction: (by central difference, by the gradient)."""
        raise Unsupported("gradients")

    def longest(self) -> int:
        """Longest input; 0: any."""
        return self.length or 0 if self.padding == "fixed" else 0

    def weights_text(self) -> str:
        """Identification of the weights, stored with results."""
        number = self.fingerprint()
        return "" if number is None else f"{number:.17g}"

    def training_modules(self) -> List[str]:
        """Names of modules that are in training mode and behave differently there."""
        return []

    def fingerprint(self) -> Optional[float]:
        """A number that changes with the weights; None if they are not known."""
        return None

    def _attention_wanted(self) -> bool:
        """Whether maps were expected: attention= was passed, or the model has attention of its own."""
        return (
            getattr(self, "_attention_request", None) is not None
            or getattr(self, "_config", None) is not None
        )

    def _features_are_outputs(self, layer: str) -> bool:
        return False

    def _features(self, x: Array, length: Array, layer: str) -> Array:
        raise Unsupported("features")

    def _vjp(self, x: Array, length: Array, position: Array, cotangent: Array, layer: str) -> Array:
        raise Unsupported("vjp")

    def _attention(self, x: Array, length: Array, layer: str) -> Tuple[Array, Optional[Array]]:
        """Maps of a layer, and the pairs that its mask allows (None: all)."""
        raise Unsupported("attn")

    def _pair(self, value: Any) -> Tuple[Array, Optional[Array]]:
        """Maps, or a pair (maps, allowed), as arrays."""
        if isinstance(value, (tuple, list)) and len(value) == 2:
            allowed = value[1]
            return self._numpy(value[0]), None if allowed is None else self._numpy(allowed).astype(bool)
        return self._numpy(value), None

    def _named_maps(self, maps: Any) -> Dict[str, Any]:
        """Layers of the result of ``attention=``: an array, a list, or a dictionary, of maps or pairs (maps, allowed)."""
        if isinstance(maps, dict):
            return {str(k): v for k, v in maps.items()}
        if getattr(maps, "ndim", 0) == 4:
            return {"layer.0": maps}
        return {f"layer.{i}": m for i, m in enumerate(maps if maps is not None else ())}

    def _require(self, op: str) -> None:
        if self.probed and op in self.missing:
            raise Unsupported(f"'{self.name}': {self.missing[op]}")

    def offers(self) -> List[str]:
        """Names of the requests that the model answers, in the order of LRAX/1."""
        return [op for op in OPS if op not in self.missing]

    # ---- finding out -------------------------------------------------------------------------------

    def sample(self, T: int, B: int = 2, seed: int = 0) -> Array:
        """Made-up examples (B,T) of random tokens other than padding."""
        assert self.vocab
        rng = np.random.default_rng(seed)
        ids = np.array([i for i in range(min(self.vocab, 4096)) if i != self.pad] or [0])
        return ids[rng.integers(0, len(ids), (B, T))]

    def probe(self, x: Optional[Array] = None, length: Optional[Array] = None) -> None:
        """Calls the model with a few examples and finds out everything that was not passed to ``wrap()``.

        x: examples of the shape that the model takes; made up if None (tokens with a known vocabulary).
        """
        if x is None:
            x = self.sample(self.length or 32)
        T = int(x.shape[1])
        x = x[:2] if len(x) > 1 else np.concatenate([x, x])
        full = np.full(len(x), T, np.int64)
        self.probed = True
        try:
            with self.session():
                out = self._try_batch(x, full)
                self._found_output(out, T)
                self._find_padding(x, T)
                self._find_causal(x, T)
                self._inspect(x, full)
                self._find_causal_features(x, T)
                self._find_head(x, T)
                self._find_limits(x, T)
        except BaseException:
            self.probed = False
            raise
        if self._kernels_request is not None:
            with self.session():
                self._read_kernels()
        for op in ("features", "vjp", "attn", "kernels"):
            if not self._implements(op):
                self.missing.setdefault(op, self._why_missing(op))

    def _implements(self, op: str) -> bool:
        return op not in self.missing and (op != "kernels" or self._kernels_request is not None)

    def _why_missing(self, op: str) -> str:
        return {
            "features": "no features of positions: pass features=",
            "vjp": "no gradients: the model is a function of numbers; occlusion is used",
            "attn": "no attention maps: pass attention=",
            "kernels": "no convolution kernels: pass kernels=FUNCTION or a safetensors file",
        }[op]

    def _try_batch(self, x: Array, length: Array) -> Array:
        """The first call.  A model that takes one example at a time is remembered as such."""
        self._default_extras()
        try:
            return self._raw(self._fit(x, 0), length, None)
        except WrapError:
            raise
        except Exception as e:  # the model's own code
            if self.max_batch == 1:
                raise WrapError(self._call_failed(x, e)) from e
            try:
                out = self._raw(self._fit(x[:1], 0), length[:1], None)
            except Exception as e1:
                raise WrapError(self._call_failed(x, e1)) from e1
            self.max_batch = 1
            self.notes.append(
                f"one example at a time: a batch of {len(x)} raises {type(e).__name__}: {str(e)[:160]}"
            )
            return out

    def _call_failed(self, x: Array, e: BaseException) -> str:
        shape = "x".join(map(str, self._shape_of_call(x)))
        return (
            f"the model '{self.name}' raises {type(e).__name__} for a batch of shape {shape}: {str(e)[:300]}\n"
            "pass inputs= (tokens, values or image), vocab=, length= (fixed length) as the model takes them"
        )

    def _shape_of_call(self, x: Array) -> Tuple[int, ...]:
        shaped = self._shaped(self._fit(x, 0))
        return tuple(getattr(shaped, "shape", (len(x),)))

    def _default_extras(self) -> None:
        """Required arguments of the signature (lengths, masks) are passed from the first call on."""
        parameters = self._signature()
        for name, p in parameters.items():
            required = p.default is inspect.Parameter.empty and p.kind in (
                p.POSITIONAL_OR_KEYWORD,
                p.KEYWORD_ONLY,
            )
            if (
                required
                and name in LENGTH_NAMES
                and self._length_request is None
                and list(parameters)[0] != name
            ):
                self._lengths = name

    def _found_output(self, out: Array, T: int) -> None:
        if out.ndim == 3:
            self.kind, found = "position", out.shape[2]
        elif out.ndim == 1 or out.shape[1] == 1:
            self.kind, found = "value", 1
        else:
            self.kind, found = "class", out.shape[1]
        if self.classes is not None and self.classes != found:
            raise WrapError(f"classes={self.classes}, and the model '{self.name}' returns {found}")
        self.classes = found

    # -- padding

    def _same(self, a: Array, b: Array) -> bool:
        """Equal up to rounding."""
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
            return False
        return bool(
            np.abs(a - b).max(initial=0) <= 1e-4 * max(1e-6, np.abs(a).max(initial=0)) * self._tolerance()
        )

    def _tolerance(self) -> float:
        return 1.0

    def _other(self, x: Array) -> Array:
        """A batch of the same shape with other contents: random tokens, or the given values in reverse order."""
        return (
            x[:, ::-1][::-1]
            if self.inputs != "tokens" or not self.vocab
            else self.sample(x.shape[1], len(x), 1)
        )

    def _ignores_padding(self, x: Array, T: int) -> bool:
        """Whether the outputs of a short example stay as they are when its padding changes."""
        half = max(1, T // 2)
        length = np.full(len(x), half, np.int64)
        changed = x.copy()
        changed[:, half:] = self._other(x)[:, half:]
        if np.array_equal(changed, x):
            changed[:, half:] = (
                changed[:, half:] + 1 if self.inputs != "tokens" else changed[:, half:][:, ::-1]
            )
        try:
            a, b = (self._raw_all(v, length, None) for v in (x, changed))
        except Exception:  # this form of the argument is not accepted by the model
            return False
        if a.ndim == 3:
            a, b = a[:, :half], b[:, :half]
        return self._same(a, b)

    def _raw_all(self, x: Array, length: Array, keep: Optional[Array]) -> Array:
        step = self.max_batch or len(x)
        parts = [
            self._raw(x[k : k + step], length[k : k + step], None if keep is None else keep[k : k + step])
            for k in range(0, len(x), step)
        ]
        return np.concatenate(parts)

    def _mask_candidates(self) -> List[Tuple[str, Callable[[Array], Array]]]:
        """Arguments that may be the mask, each with its forms: visible = 1, or hidden = True."""

        def visible_int(m: Array) -> Array:
            return m.astype(np.int64)

        def visible(m: Array) -> Array:
            return m

        def hidden(m: Array) -> Array:
            return ~m

        request = self._mask_request
        if request is False or self.inputs == "image":
            return []
        if isinstance(request, str):
            name = request.lstrip("~")
            return [(name, hidden)] if request.startswith("~") else [(name, visible_int), (name, visible)]
        names = [n for n in MASK_NAMES if n in self._signature()]
        forms: List[Tuple[str, Callable[[Array], Array]]] = []
        for name in names:
            order = (
                (visible_int, visible)
                if name == "attention_mask"
                else (hidden, visible)
                if "pad" in name
                else (visible, hidden, visible_int)
            )
            forms += [(name, form) for form in order]
        return forms

    def _find_padding(self, x: Array, T: int) -> None:
        if T < 2 or self.padding:
            self.padding = self.padding or "trim"
            return
        required = self._lengths
        self._lengths = None
        for candidate in self._mask_candidates():
            self._mask = candidate
            if self._ignores_padding(x, T):
                self.padding = "mask"
                self._find_keep(x, T)
                return
        self._mask = None
        names = (
            [self._length_request]
            if isinstance(self._length_request, str)
            else []
            if self._length_request is False
            else [n for n in LENGTH_NAMES if n in list(self._signature())[1:]]
        )
        for name in names:
            self._lengths = name
            if self._ignores_padding(x, T):
                self.padding = "lengths"
                return
        self._lengths = required
        if isinstance(self._mask_request, str) or isinstance(self._length_request, str):
            raise WrapError(
                f"the model '{self.name}' ignores mask={self._mask_request!r} lengths={self._length_request!r}: "
                "its output changes with the padding, or it refuses the argument"
            )
        half = np.ascontiguousarray(x[:, : max(1, T // 2)])
        try:
            self._raw_all(half, np.full(len(x), half.shape[1], np.int64), None)
            self.padding = "trim"
        except Exception:  # a model of one fixed length
            self.padding = "fixed"
            self.length = T
            self.notes.append(f"fixed length {T}: shorter examples are padded with {self.pad}")

    def _find_keep(self, x: Array, T: int) -> None:
        """Tests whether the mask hides positions other than padding.  It hides the same positions as
        the check of `lra-probe audit`: every third one from the second on."""
        at = np.flatnonzero(np.arange(T) % 3 == 1)
        keep = np.ones((len(x), T), bool)
        keep[:, at] = False
        changed = x.copy()
        changed[:, at] = self._other(x)[:, at]
        if np.array_equal(changed, x):
            return
        full = np.full(len(x), T, np.int64)
        try:
            a, b = (self._raw_all(v, full, keep) for v in (x, changed))
        except Exception:
            return
        if a.ndim == 3:
            a, b = np.delete(a, at, 1), np.delete(b, at, 1)
        self.keep_honoured = self._same(a, b)

    def _find_causal(self, x: Array, T: int) -> None:
        """Whether outputs of positions depend on later tokens."""
        if self.kind != "position" or T < 4:
            return
        at = T // 2
        changed = x.copy()
        changed[:, at:] = self._other(x)[:, at:]
        full = np.full(len(x), T, np.int64)
        a, b = (self._raw_all(v, full, None) for v in (x, changed))
        n = min(at, a.shape[1])
        self.causal = self._same(a[:, :n], b[:, :n])

    def _find_causal_features(self, x: Array, T: int) -> None:
        """Whether features of positions depend on later tokens, for models with one output per input."""
        if self.kind == "position" or T < 4 or not self.layers:
            return
        at = T // 2
        changed = x.copy()
        changed[:, at:] = self._other(x)[:, at:]
        if np.array_equal(changed, x):
            return
        full = np.full(len(x), T, np.int64)
        try:
            a, b = (self._features(v, full, "") for v in (x, changed))
        except Exception:  # a fixed length, or features of another shape: unknown
            return
        if a.ndim == 3 and a.shape[1] == T:
            self.causal = self._same(a[:, :at], b[:, :at])

    # ---- text --------------------------------------------------------------------------------------

    def _padding_text(self) -> str:
        return {
            "mask": f"mask '{self._mask[0]}'" if self._mask else "",
            "lengths": f"lengths '{self._lengths}'",
            "trim": "none: examples of equal length are called together",
            "fixed": f"to {self.length} positions",
            "": "not tried yet",
        }[self.padding]

    def _output_text(self) -> str:
        return {
            "class": f"{self.classes} classes",
            "position": f"{self.classes} at every position",
            "value": "one number",
            "": "not tried yet",
        }[self.kind]

    def __str__(self) -> str:
        takes = {
            "tokens": f"tokens of a vocabulary of {self.vocab}",
            "values": "numbers",
            "image": "images",
            "text": "text",
        }[self.inputs]
        lines = [
            f"{self.name} ({self.framework}): {takes} -> {self._output_text()}",
            f"  padding    {self._padding_text()}",
        ]
        if not self.probed:
            return "\n".join(lines + ["  the rest is found out with the first batch"])
        if self.causal is not None:
            lines.append(f"  causal     {'yes' if self.causal else 'no'}")
        if self.next_token:
            more = "" if self.bos is None else f"; a first token {self.bos} stays in front"
            ids = "position ids as in the whole row" if self.takes_positions else "position ids from 0"
            lines.append(f"  language   logits of the next token; shortened rows have {ids}{more}")
        lines.append(f"  gradients  {self.gradient}")
        if self.layers:
            head = "; outputs follow from given features" if self.head_works else ""
            lines.append(
                f"  features   {', '.join(self.layers[:4])}{' ...' if len(self.layers) > 4 else ''}{head}"
            )
        if self.attention_layers:
            more = "; distances can be limited" if self.limits else ""
            lines.append(f"  attention  {len(self.attention_layers)} layers{more}")
        if self.kernel_layers:
            lines.append(f"  kernels    {len(self.kernel_layers)} layers")
        lines += [f"  note       {n}" for n in self.notes]
        lines += [f"  left out   {op}: {why}" for op, why in self.missing.items() if op != "kernels"]
        return "\n".join(lines)

    __repr__ = __str__
