"""Convolution kernels that a user passes to ``wrap(kernels=)``: a function, a dictionary, or a safetensors file."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Mapping

import numpy as np

from .frames import FrameError, load

Array = np.ndarray
SUFFIXES = {"": "kernel", "/back": "kernel_back", "/im": "kernel_im", "/back/im": "kernel_back_im"}


def _call(function: Callable[..., Any], model: Any) -> Any:
    """Calls function(), or function(model) if it has a parameter without a default."""
    try:
        inspect.signature(function).bind()
    except TypeError:
        return function(model)
    return function()


def _named(value: Any) -> Dict[str, Any]:
    """Arrays by name: a dictionary, one array, or one array for each layer."""
    if isinstance(value, Mapping):
        return {str(k)[7:] if str(k).startswith("kernel/") else str(k): v for k, v in value.items()}
    if getattr(value, "ndim", 0) in (2, 3):
        return {"layer0": value}
    if value is None or hasattr(value, "ndim"):
        return {} if value is None else {"layer0": value}
    return {f"layer{i}": v for i, v in enumerate(value)}


def read_kernels(
    request: Any, model: Any, numpy: Callable[[Any], Array], error: Callable[[str], Exception]
) -> Dict[str, Dict[str, Array]]:
    """Arrays of the protocol (kernel, kernel_back, ..) by layer; error: makes the exception that is raised."""
    if isinstance(request, str):
        try:
            found = {k: v for k, v in load(request)[1].items() if k.startswith("kernel/")}
        except (OSError, FrameError) as e:
            raise error(f"kernels={request!r}: {e}") from e
        if not found:
            raise error(f"kernels={request!r}: the file has no array 'kernel/LAYER' of (channels, lags)")
        arrays = _named(found)
    else:
        arrays = _named(_call(request, model) if callable(request) else request)
    if not arrays:
        raise error("kernels= gave no arrays; expected (channels, lags) for each layer, lag 0 first")
    layers: Dict[str, Dict[str, Array]] = {}
    for name, value in arrays.items():
        suffix = next((s for s in sorted(SUFFIXES, key=len, reverse=True) if s and name.endswith(s)), "")
        layer = name[: len(name) - len(suffix)]
        a = np.asarray(numpy(value))
        if a.ndim not in (2, 3) or a.dtype.kind not in "fiuc" or 0 in a.shape:
            raise error(
                f"kernels= gave {a.dtype} of shape {a.shape} for layer '{layer}'; expected real or complex numbers "
                "(channels, lags) or (channels, inputs, lags)"
            )
        if not np.isfinite(a).all():
            raise error(f"kernels= gave numbers that are not finite for layer '{layer}'")
        own = layers.setdefault(layer.replace(" ", "-"), {})
        own[SUFFIXES[suffix]] = np.ascontiguousarray(a.real, np.float32)
        if a.dtype.kind == "c" and suffix in ("", "/back"):
            own[SUFFIXES[suffix] + "_im"] = np.ascontiguousarray(a.imag, np.float32)
    for layer, own in layers.items():
        if "kernel" not in own:
            raise error(f"kernels= gave {', '.join(own)} for layer '{layer}', and no kernel that looks back")
    return layers
