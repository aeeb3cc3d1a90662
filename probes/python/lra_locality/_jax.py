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
        self._observed: Dict[str, str] = {}  # layer -> leading axis of its matrix, "batch" or "head"
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
            self.attention_layers = list(self._maps(x, length))
        else:
            self._find_observed(x)
        if not self.attention_layers:
            self.missing.setdefault(
                "attn",
                "the function computes no softmax over pairs of positions; pass attention=function(params, batch) -> "
                "(batch, heads, length, length) by layer",
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

    def _maps(self, x: Array, length: Array) -> Dict[str, Any]:
        """Maps by layer: those of attention=, or the observed ones."""
        if self._attention_of is not None:
            return self._named_maps(self._attention_of(self.params, self._input(x)))
        return {
            name: self._read(a, form, len(x))
            for (name, form), a in zip(self._observed.items(), self._observe(x, length))
        }

    def _observe(self, x: Array, length: Array) -> List[Any]:
        """Matrices with rows of sum 1 that a call computes, as softmax does, in their order."""
        batch, extra = self._input(x), self._extra(length, x.shape[1], None)
        closed = jax.make_jaxpr(lambda b: self.f(self.params, b, **extra))(batch)
        return squares(closed, [batch], x.shape[1])

    @staticmethod
    def _read(a: Any, form: str, B: int) -> Any:
        n = a.shape[-1]
        if form == "head":
            return a.reshape(-1, B, n, n).swapaxes(0, 1)
        return a.reshape(B, -1, n, n)

    def _find_observed(self, x: Array) -> None:
        """Layers of attention among the observed matrices: those whose rows follow the examples, at two lengths."""
        T, B = x.shape[1], len(x)
        full = np.full(B, T, np.int64)
        try:
            first, turned = self._observe(x, full), self._observe(np.ascontiguousarray(x[::-1]), full)
            more = self.padding != "fixed" and T > 2
            short = self._observe(np.ascontiguousarray(x[:, : T - 1]), full - 1) if more else first
        except Exception as e:  # code that runs outside of JAX
            self.missing["attn"] = (
                f"attention is not observed ({type(e).__name__}: {str(e)[:120]}); pass attention="
            )
            return
        if not len(first) == len(turned) == len(short):
            return
        for k, (a, b) in enumerate(zip(first, turned)):
            for form in ("batch", "head"):
                if np.allclose(self._read(a, form, B), self._read(b, form, B)[::-1], rtol=1e-3, atol=1e-4):
                    self._observed[f"layer.{k}"] = form
                    break
            else:
                self._observed.clear()
                return
        self.attention_layers = list(self._observed)

    def _attention(self, x: Array, length: Array, layer: str) -> Tuple[Array, Optional[Array]]:
        return self._pair(self._remembered(x, length, lambda: self._maps(x, length))[layer])


def squares(closed: Any, values: List[Any], n: int) -> List[Any]:
    """Evaluates a traced function and returns each quotient (..., n, n) that is not negative and whose rows sum to 1."""
    seen: List[Any] = []

    def run(jaxpr: Any, constants: Any, arguments: Any) -> List[Any]:
        env: Dict[Any, Any] = {}
        env.update(zip(jaxpr.constvars, constants))
        env.update(zip(jaxpr.invars, arguments))

        def value(v: Any) -> Any:
            return v.val if hasattr(v, "val") else env[v]

        for eqn in jaxpr.eqns:
            given = [value(v) for v in eqn.invars]
            made = call(eqn, given)
            env.update(zip(eqn.outvars, made))
            if eqn.primitive.name == "div":
                keep(made[0])
        return [value(v) for v in jaxpr.outvars]

    def call(eqn: Any, given: List[Any]) -> List[Any]:
        name, p = eqn.primitive.name, eqn.params
        inner = p.get("jaxpr") or p.get("call_jaxpr") or p.get("fun_jaxpr")
        if name == "scan" and not p["reverse"]:
            return scan(p, given)
        if inner is not None and name not in ("scan", "while", "cond") and not p.get("linear", False):
            if hasattr(inner, "consts"):
                return run(inner.jaxpr, inner.consts, given)
            return run(inner, (), given)
        bound = eqn.primitive.get_bind_params(p)  # of older versions of JAX: (functions, parameters)
        functions, parameters = bound if isinstance(bound, tuple) else ((), bound)
        out = eqn.primitive.bind(*functions, *given, **parameters)
        return list(out) if eqn.primitive.multiple_results else [out]

    def scan(p: Dict[str, Any], given: List[Any]) -> List[Any]:
        """A loop over layers, one iteration after the other."""
        c, k = p["num_consts"], p["num_carry"]
        fixed, carry, xs = given[:c], given[c : c + k], given[c + k :]
        rows: List[List[Any]] = []
        for i in range(p["length"]):
            out = run(p["jaxpr"].jaxpr, p["jaxpr"].consts, [*fixed, *carry, *(a[i] for a in xs)])
            carry = out[:k]
            rows.append(out[k:])
        return [*carry, *(jnp.stack(column) for column in zip(*rows))]

    def keep(a: Any) -> None:
        if getattr(a, "ndim", 0) < 3 or a.shape[-2:] != (n, n) or not jnp.issubdtype(a.dtype, jnp.floating):
            return
        if bool((a >= 0).all()) and bool(jnp.abs(a.sum(-1) - 1).max() < 1e-2):
            seen.append(a)

    run(closed.jaxpr, closed.consts, values)
    return seen
