"""JAX functions ``f(params, x)``: gradients by the inputs, or by the embedding found among the parameters."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Optional, Tuple

import jax
import jax.numpy as jnp
import numpy as np

from ._model import Array, Model, WrapError, pick_output


class JaxModel(Model):
    """A pair of a function and its parameters (any tree of arrays); see ``wrap()``.

    Gradients by embeddings: the array of shape (vocab, D) among the parameters is replaced by one row for each
    position of the batch, and the tokens by the numbers of these rows.  The output must stay the same.
    """

    framework = "jax"

    def __init__(
        self,
        f: Callable[..., Any],
        params: Any,
        *,
        attention: Optional[Callable[..., Any]] = None,
        features: Optional[Callable[..., Any]] = None,
        **options: Any,
    ) -> None:
        if features is not None and not callable(features):
            raise WrapError("features= of a JAX model is a function(params, batch) -> (batch, length, D)")
        if attention is not None and not callable(attention):
            raise WrapError(
                "attention= of a JAX model is a function(params, batch) -> (batch, heads, length, length) by layer"
            )
        self.f, self.params = f, params
        self._features_of, self._attention_of = features, attention
        self._table: Optional[int] = None  # index of the embedding among the leaves of params
        super().__init__(f, **options)

    def _signature(self) -> Dict[str, inspect.Parameter]:
        try:
            return dict(list(inspect.signature(self.f).parameters.items())[1:])
        except (TypeError, ValueError):
            return {}

    def _shaped(self, x: Array) -> Array:
        if self.inputs == "image":
            return np.ascontiguousarray(super()._shaped(x).transpose(0, 2, 3, 1))
        return x

    def _input(self, x: Array) -> Any:
        return jnp.asarray(self._shaped(x), jnp.int32 if self.inputs == "tokens" else jnp.float32)

    def _invoke(self, x: Array, extra: Dict[str, Array]) -> Any:
        return self.f(self.params, self._input(x), **extra)

    def _numpy(self, value: Any) -> Array:
        value = jnp.asarray(value)
        return np.asarray(value.astype(jnp.float32) if jnp.issubdtype(value.dtype, jnp.floating) else value)

    def _inspect(self, x: Array, length: Array) -> None:
        x, length = (x[:1], length[:1]) if self.max_batch == 1 else (x, length)
        x = self._fit(x, 0)
        if self._features_of is not None:
            self.layers = ["features"]
        elif self.kind == "position":
            self.layers = ["logits"]
        else:
            self.missing["features"] = "pass features=function(params, batch) -> (batch, length, D)"
        if self._attention_of is not None:
            self.attention_layers = list(self._maps(x))
        else:
            self.missing["attn"] = (
                "pass attention=function(params, batch) -> (batch, heads, length, length) by layer"
            )
        if self.inputs == "tokens":
            self._find_table(x, length)
        else:
            self.gradient = "by the inputs"

    def _find_table(self, x: Array, length: Array) -> None:
        """The embedding among the parameters: exchanging it with one row per position keeps the output."""
        leaves = jax.tree_util.tree_leaves(self.params)
        expected = self._raw(x, length, None)
        tables = [
            i
            for i, a in enumerate(leaves)
            if getattr(a, "ndim", 0) == 2
            and a.shape[0] == self.vocab
            and jnp.issubdtype(jnp.asarray(a).dtype, jnp.floating)
        ]
        for i in tables:
            rows, numbers = self._rows(i, x)
            try:
                out = pick_output(
                    self.f(self._with(i, rows), numbers, **self._extra(length, x.shape[1], None)), self.output
                )
            except Exception:  # the array has another use
                continue
            if self._same(expected, self._numpy(out)) and bool((rows[0] != rows[-1]).any()):
                self._table = i
                self.gradient = f"by the embedding among the parameters, {tuple(leaves[i].shape)}"
                return
        self.missing["vjp"] = (
            f"no array of {self.vocab} rows among the parameters is an embedding of the tokens: occlusion is "
            "used instead of gradients"
        )

    def _rows(self, i: int, x: Array) -> Tuple[Any, Any]:
        table = jnp.asarray(jax.tree_util.tree_leaves(self.params)[i])
        return table[jnp.asarray(x.reshape(-1))], jnp.arange(x.size, dtype=jnp.int32).reshape(x.shape)

    def _with(self, i: int, rows: Any) -> Any:
        leaves, tree = jax.tree_util.tree_flatten(self.params)
        return jax.tree_util.tree_unflatten(tree, [rows if k == i else a for k, a in enumerate(leaves)])

    def _features_are_outputs(self, layer: str) -> bool:
        return self._features_of is None

    def _features(self, x: Array, length: Array, layer: str) -> Array:
        assert self._features_of is not None
        return self._numpy(self._features_of(self.params, self._input(x)))

    def _target(
        self,
        params: Any,
        batch: Any,
        extra: Dict[str, Array],
        length: Array,
        position: Array,
        cotangent: Array,
    ) -> Any:
        rows = jnp.arange(len(position))
        if (position < 0).all() or self._features_of is None:
            h = jnp.asarray(pick_output(self.f(params, batch, **extra), self.output))
            h = h[:, None] if h.ndim == 1 else h
            if h.ndim == 3:
                h = h[rows, jnp.asarray(np.where(position < 0, length - 1, position))]
        else:
            h = self._features_of(params, batch)[rows, jnp.asarray(position)]
        return (h.astype(jnp.float32) * jnp.asarray(cotangent)).sum()

    def _vjp(self, x: Array, length: Array, position: Array, cotangent: Array, layer: str) -> Array:
        extra = self._extra(length, x.shape[1], None)
        if self.inputs != "tokens":
            g = self._numpy(
                jax.grad(lambda v: self._target(self.params, v, extra, length, position, cotangent))(
                    self._input(x)
                )
            )
            return np.square(g).reshape(len(x), x.shape[1], -1).sum(-1)
        assert self._table is not None
        table = self._table
        rows, numbers = self._rows(table, x)
        g = jax.grad(
            lambda r: self._target(self._with(table, r), numbers, extra, length, position, cotangent)
        )(rows)
        return np.square(self._numpy(g)).sum(-1).reshape(x.shape)

    def gradient_check(self, x: Array, length: Array) -> Tuple[float, float]:
        x, length = x[:1], length[:1]
        x = self._fit(x, int(length[0]) if self.padding == "trim" else 0)
        extra = self._extra(length, x.shape[1], None)
        cotangent = np.random.default_rng(1).standard_normal((1, self.classes or 1)).astype(np.float32)
        none = np.full(1, -1)

        def target(v: Any) -> Any:
            if self._table is None:
                return self._target(self.params, v, extra, length, none, cotangent)
            numbers = self._rows(self._table, x)[1]
            return self._target(self._with(self._table, v), numbers, extra, length, none, cotangent)

        at = self._input(x) if self._table is None else self._rows(self._table, x)[0]
        direction = jnp.asarray(np.random.default_rng(0).standard_normal(at.shape), at.dtype)
        expected = float((jax.grad(target)(at) * direction).sum())
        scale = float(jnp.sqrt(jnp.square(at).mean())) or 1.0
        found = []
        for e in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3):
            step = scale * e
            found.append(float(target(at + step * direction) - target(at - step * direction)) / (2 * step))
        return min(found, key=lambda f: abs(f - expected)), expected

    def _maps(self, x: Array) -> Dict[str, Any]:
        assert self._attention_of is not None
        maps = self._attention_of(self.params, self._input(x))
        if isinstance(maps, dict):
            return {str(k): v for k, v in maps.items()}
        parts: List[Any] = [maps] if getattr(maps, "ndim", 0) == 4 else list(maps)
        return {f"layer.{i}": m for i, m in enumerate(parts)}

    def _attention(self, x: Array, length: Array, layer: str) -> Array:
        return self._numpy(self._remembered(x, length, lambda: self._maps(x))[layer])
