"""``wrap()``: any model as one interface."""

from __future__ import annotations

import sys
from typing import Any, Callable, Optional, Sequence, Tuple, Union

from ._model import Model, WrapError

INPUTS = ("tokens", "values", "image", "text")


def wrap(
    model: Any,
    inputs: str = "tokens",
    *,
    vocab: Optional[int] = None,
    classes: Optional[int] = None,
    length: Optional[Union[int, Tuple[int, int]]] = None,
    output: Union[None, str, int, Callable[[Any], Any]] = None,
    embedding: Any = None,
    features: Any = None,
    attention: Any = None,
    allowed: Any = None,
    kernels: Any = None,
    renormalise: bool = False,
    mask: Union[None, bool, str] = None,
    lengths: Union[None, bool, str] = None,
    pad: Optional[int] = None,
    batch: Optional[int] = None,
    device: Any = None,
    name: Optional[str] = None,
    bos: Optional[int] = None,
    positions: Optional[bool] = None,
    quiet: bool = False,
) -> Model:
    """A model that can be checked, served and audited.  The model itself is not modified.

    model:     a ``torch.nn.Module``; a Hugging Face model; a JAX pair ``(f, params)`` with ``f(params, x)``; an
               estimator with ``predict_proba`` or ``predict``; any function ``f(batch) -> array``.
    inputs:    ``tokens`` (B,T) integers, ``values`` (B,T,F) numbers, ``image`` (B,F,height,width; JAX: F last),
               ``text`` a list of strings.
    vocab:     number of token ids; default: that of the first embedding or of the configuration.
    classes:   expected number of outputs; default: as the model returns.
    length:    the only length that the model takes (images: (height, width)); default: any.
    output:    key, index or function that picks the logits; default: the array, ``[0]``, ``.logits``, ``["logits"]``.
    embedding: module whose output gradients refer to; default: the module that receives the tokens.
    features:  module(s) whose output is (B,T,D); JAX and functions: a function.
    attention: function(model, batch) -> maps (B,H,T,T) by layer; module(s) that compute or return them; or a dictionary
               of module names (``"blocks.*.attn"``) and functions(module, its inputs ...) -> maps.  For "maps", a
               function can return a pair (maps, allowed).  Default: Hugging Face models are asked; in other torch code,
               ``scaled_dot_product_attention``, ``nn.MultiheadAttention`` and each softmax over pairs of positions are
               observed; in JAX code, each softmax over pairs of positions.  JAX: function(params, batch).
    allowed:   pairs of positions that the model's attention can connect: a number of tokens to each side of the query
               (a window), (before, after), or a function(T) -> bool (T,T) or (H,T,T), true where the query (row) may attend
               to the key; or a dictionary of these by layer.  The null value of uniform weights uses these pairs only.
               Default: the masks of observed attention, if there are any.
    kernels:   convolution kernels (channels, lags), lag 0 first: a function of the model (or of nothing) that returns
               one array or a dictionary by layer, or the name of a safetensors file with arrays ``kernel/LAYER``;
               ``LAYER/back`` looks ahead, complex numbers are allowed.
    renormalise: accept attention weights of any sign whose rows have any sum (linear attention, gates); magnitudes
               are divided by the sum of their row.
    mask:      name of the mask argument, ``"~name"`` if 1 means hidden, False for none; default: found by experiment.
    lengths:   name of the argument that takes lengths, False for none; default: found by experiment.
    pad:       token id of padding (default 0, or that of the configuration).
    batch:     largest batch (default any).
    device:    device of the inputs; default: that of the model.
    bos:       token id that begins a row of a language model: it stays in front when the row is shortened and is not
               counted as context (default: that of the configuration; no effect on rows that begin otherwise).

    positions: False if the model adds no absolute positions, so that a part of a row can be evaluated alone as it is
               within the row (default: it may add them).

    Raises WrapError with what was found and what to pass.
    """
    if inputs not in INPUTS:
        raise WrapError(f"inputs={inputs!r}, expected one of {', '.join(INPUTS)}")
    if vocab is not None and vocab < 2:
        raise WrapError(f"vocab={vocab}, expected at least 2")
    options = {
        "inputs": inputs,
        "vocab": vocab,
        "classes": classes,
        "length": length,
        "output": output,
        "mask": mask,
        "lengths": lengths,
        "pad": pad,
        "batch": batch,
        "name": name,
        "bos": bos,
        "kernels": kernels,
        "renormalise": renormalise,
        "allowed": allowed,
        "positions": positions,
    }
    wrapped = _of_framework(model, options, embedding, features, attention, device)
    wrapped._like = lambda other: _of_framework(
        other, {**options, "vocab": wrapped.vocab}, embedding, features, attention, device
    )
    if wrapped.inputs == "text" and wrapped.vocab is None:
        wrapped.vocab = 260
    if wrapped.inputs == "tokens" and wrapped.vocab:
        wrapped.probe()
    if not quiet:
        print(wrapped, file=sys.stderr)
    return wrapped


def _of_framework(
    model: Any, options: dict, embedding: Any, features: Any, attention: Any, device: Any
) -> Model:
    torch = sys.modules.get("torch")
    if isinstance(model, Model):
        raise WrapError("the model is wrapped already")
    if torch is not None and isinstance(model, torch.nn.Module):
        from ._torch import TorchModel

        return TorchModel(
            model, embedding=embedding, features=features, attention=attention, device=device, **options
        )
    if embedding is not None:
        raise WrapError("embedding= names a module of a torch model")
    if isinstance(model, tuple) and len(model) == 2 and callable(model[0]):
        try:
            import jax  # noqa: F401
        except ImportError as e:
            raise WrapError(
                "a pair (f, params) is a JAX model, and jax is not installed (pip install jax)"
            ) from e
        from ._jax import JaxModel

        return JaxModel(model[0], model[1], features=features, attention=attention, **options)
    from ._plain import FunctionModel, SklearnModel

    if hasattr(model, "predict_proba") or (hasattr(model, "predict") and hasattr(model, "fit")):
        return SklearnModel(model, features=features, attention=attention, **options)
    if callable(model):
        return FunctionModel(model, features=features, attention=attention, **options)
    raise WrapError(
        f"a {type(model).__name__} is no model: expected a torch module, a pair (f, params), an estimator "
        "or a function of a batch"
    )


def attention_weights(query: Any, key: Any, attn_mask: Any = None, **options: Any) -> Tuple[Any, Any]:
    """Softmax attention weights of queries and keys (..., length, width), and the pairs that the mask allows (None: all).

    For functions of ``attention=``: a layer with a kernel of its own, such as FlashAttention, has no weights, but queries and
    keys.  Arguments as of ``torch.nn.functional.scaled_dot_product_attention`` (is_causal, scale, enable_gqa).
    """
    from ._maps import attention_weights as weights

    return weights(query, key, attn_mask, **options)
