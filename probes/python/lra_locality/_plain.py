"""Objects with ``predict_proba`` (scikit-learn) and functions ``f(batch) -> array``."""

from __future__ import annotations

import inspect
import sys
from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from ._model import Array, Model, WrapError

FIRST_BYTE = 4  # ids of text: 0 padding, 1 unknown, 2 end, 3 mask, then the bytes


def text_of(ids: Array, n: Optional[int] = None) -> str:
    """The text of a row of byte ids (its first n)."""
    ids = ids if n is None else ids[:n]
    return bytes(int(i) - FIRST_BYTE for i in ids if i >= FIRST_BYTE).decode("utf-8", "replace")


def _converter(make: Callable[[Array], Any]) -> Callable[[Array], Any]:
    return lambda a: make(np.array(a))


class FunctionModel(Model):
    """A function of a batch; takes numpy arrays, or tensors of the framework that it was written for."""

    def __init__(
        self,
        model: Any,
        *,
        attention: Optional[Callable[..., Any]] = None,
        features: Optional[Callable[..., Any]] = None,
        **options: Any,
    ) -> None:
        if features is not None and not callable(features):
            raise WrapError("features= of a function is a function(batch) -> (batch, length, D)")
        if attention is not None and not callable(attention):
            raise WrapError(
                "attention= of a function is a function(batch) -> (batch, heads, length, length) by layer"
            )
        super().__init__(model, **options)
        self._features_of, self._attention_of = features, attention
        self._form: Optional[Callable[[Array], Any]] = None
        self._layers: Any = None  # observed attention

    def _forms(self) -> List[Callable[[Array], Any]]:
        forms: List[Callable[[Array], Any]] = [np.array]
        for name, make in (("torch", "from_numpy"), ("jax.numpy", "asarray")):
            if name in sys.modules:
                forms.append(_converter(getattr(sys.modules[name], make)))
        return forms

    def _shaped(self, x: Array) -> Any:
        if self.inputs == "text":
            return [text_of(row, len(row)) for row in x]
        return super()._shaped(x)

    def _invoke(self, x: Array, extra: Dict[str, Array]) -> Any:
        shaped = self._shaped(x)
        if isinstance(shaped, list):
            return self.model(shaped, **extra)
        if self._form is not None:
            return self.model(self._form(shaped), **{k: self._form(v) for k, v in extra.items()})
        first: Optional[Exception] = None
        for form in self._forms():
            try:
                out = self.model(form(shaped), **{k: form(v) for k, v in extra.items()})
            except Exception as e:  # a function of tensors
                first = first or e
                continue
            self._form = form
            return out
        assert first is not None
        raise first

    def _numpy(self, value: Any) -> Array:
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if value.is_floating_point() else value
        return np.asarray(value)

    def _inspect(self, x: Array, length: Array) -> None:
        x, length = (x[:1], length[:1]) if self.max_batch == 1 else (x, length)
        x = self._fit(x, 0)
        self.missing["vjp"] = "no gradients of a function: occlusion is used"
        if self._features_of is not None:
            self.layers = ["features"]
        elif self.kind == "position":
            self.layers = ["logits"]
        else:
            self.missing["features"] = "pass features=function(batch) -> (batch, length, D)"
        if self._attention_of is not None:
            self.attention_layers = list(self._maps(x, length))
        else:
            self._find_layers(x, length)
        if not self.attention_layers:
            self.missing["attn"] = "pass attention=function(batch) -> (batch, heads, length, length) by layer"

    def _features_are_outputs(self, layer: str) -> bool:
        return self._features_of is None

    def _features(self, x: Array, length: Array, layer: str) -> Array:
        assert self._features_of is not None
        return self._numpy(self._features_of((self._form or np.array)(self._shaped(x))))

    def _maps(self, x: Array, length: Array) -> Dict[str, Any]:
        """Maps by layer: those of attention=, or observed ones of a function of torch tensors."""
        if self._attention_of is not None:
            return self._named_maps(self._attention_of((self._form or np.array)(self._shaped(x))))
        assert self._layers is not None
        return self._layers.maps(self._observe(x, length), len(x))

    def _observe(self, x: Array, length: Array) -> List[Any]:
        """Attention weights that are observed during one call of a function of torch tensors."""
        from ._maps import observing

        with sys.modules["torch"].no_grad(), observing() as seen:
            self._invoke(x, self._extra(length, x.shape[1], None))
        return seen

    def _find_layers(self, x: Array, length: Array) -> None:
        """Layers of attention of a function of torch tensors."""
        torch = sys.modules.get("torch")
        if torch is None or self._form is None or not torch.is_tensor(self._form(x)):
            return
        from ._maps import Layers

        found = Layers()
        found.find(
            lambda order, n: self._observe(np.ascontiguousarray(x[order, :n]), np.minimum(length[order], n)),
            len(x),
            x.shape[1],
            shorter=self.padding != "fixed",
        )
        if found.form:
            self._layers, self.attention_layers = found, list(found.form)

    def _attention(self, x: Array, length: Array, layer: str) -> Tuple[Array, Optional[Array]]:
        return self._pair(self._remembered(x, length, lambda: self._maps(x, length))[layer])


class SklearnModel(FunctionModel):
    """An estimator: logits are logarithms of ``predict_proba``, or the numbers of ``predict``."""

    framework = "scikit-learn"

    def __init__(self, model: Any, **options: Any) -> None:
        super().__init__(model, **options)
        n = getattr(model, "n_features_in_", None)
        if n is not None and self.inputs != "text":
            self.padding = "fixed"
            if self.inputs == "tokens":
                if self.length not in (None, n):
                    raise WrapError(f"length={self.length}, and the estimator was fitted with {n} features")
                self.length = n

    def _default_name(self) -> str:
        return type(self.model).__name__

    def _signature(self) -> Dict[str, inspect.Parameter]:
        return {}

    def _invoke(self, x: Array, extra: Dict[str, Array]) -> Any:
        batch = self._shaped(x)
        if not isinstance(batch, list):
            batch = np.asarray(batch).reshape(len(batch), -1)
        if hasattr(self.model, "predict_proba"):
            return np.log(np.maximum(self.model.predict_proba(batch), 1e-12))
        return np.asarray(self.model.predict(batch), np.float64)
