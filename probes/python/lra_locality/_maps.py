"""Attention weights of PyTorch code: calls of softmax and of the attention functions of torch are observed.

``Observer`` is active during one call of a model.  It records the weights of ``F.scaled_dot_product_attention`` (computed
again from queries and keys), of ``F.multi_head_attention_forward`` (``nn.MultiheadAttention``) and of each ``softmax`` over the last
axis of a square matrix, with the pairs of positions that their masks exclude.  The results of the model do not change.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Container, Dict, Iterator, List, NamedTuple, Optional, Tuple

import torch
import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

MASKED_BELOW = 5000.0  # a score that is lower than the largest one of its row by more than this is a mask


class Seen(NamedTuple):
    """Weights (..., queries, keys) of one call; allowed: bool of the same shape, None if no pair is excluded."""

    name: str
    weights: torch.Tensor
    allowed: Optional[torch.Tensor]


def attention_weights(
    query: torch.Tensor,
    key: torch.Tensor,
    attn_mask: Optional[torch.Tensor] = None,
    is_causal: bool = False,
    scale: Optional[float] = None,
    enable_gqa: bool = False,
) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
    """softmax(query key' scale + mask) of (..., length, width), float32, and the pairs that the mask allows (None: all).

    Arguments as of ``torch.nn.functional.scaled_dot_product_attention``: a boolean mask is true for allowed pairs, numbers
    are added; default scale: 1 / sqrt(width).
    """
    if enable_gqa:
        key = key.repeat_interleave(query.size(-3) // key.size(-3), -3)
    scores = (
        query.float() @ key.float().transpose(-2, -1) * (query.size(-1) ** -0.5 if scale is None else scale)
    )
    allowed: Optional[torch.Tensor] = None
    if is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
    if attn_mask is not None:
        mask, number = _allowed_of_mask(attn_mask)
        allowed = mask if allowed is None else allowed & mask
        if number is not None:
            scores = scores + number.float()
    if allowed is None:
        return scores.softmax(-1), None
    scores = scores.masked_fill(~allowed, float("-inf"))
    return scores.softmax(-1).nan_to_num(0.0), allowed.expand(
        scores.shape
    )  # a row without allowed pairs is 0


def _allowed_of_mask(mask: torch.Tensor) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
    """Pairs that a mask allows, and the numbers that it adds to the scores."""
    if mask.dtype == torch.bool:
        return mask, None
    return mask > -MASKED_BELOW, mask


class Observer(TorchFunctionMode):
    """Records attention weights in ``seen`` while it is active.  name(): name of the module that is being called."""

    def __init__(self, name: Callable[[], str]) -> None:
        super().__init__()
        self.seen: List[Seen] = []
        self._name = name

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.multi_head_attention_forward:
            return self._multi_head(func, args, kwargs)
        out = func(*args, **kwargs)
        if func is F.scaled_dot_product_attention:
            self._dot_product(*args, **kwargs)
        elif func in (F.softmax, torch.softmax, torch.Tensor.softmax):
            self._softmax(out, *args, **kwargs)
        return out

    def _dot_product(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: Any = 0,
        is_causal: bool = False,
        **more: Any,
    ) -> None:
        weights, allowed = attention_weights(query, key, attn_mask, is_causal, **more)
        self.seen.append(Seen(self._name(), weights.detach(), allowed))

    def _softmax(self, out: Any, scores: Any, dim: Any = None, *rest: Any, **more: Any) -> None:
        if not _is_square(scores, dim):
            return
        scores = scores.detach().float()
        allowed = scores >= scores.amax(-1, keepdim=True) - MASKED_BELOW
        self.seen.append(Seen(self._name(), out.detach().float(), None if allowed.all() else allowed))

    def _multi_head(self, func: Any, args: Any, kwargs: Dict[str, Any]) -> Any:
        """The call with weights of each head; the caller receives what it asked for."""
        wanted, average = kwargs.get("need_weights", True), kwargs.get("average_attn_weights", True)
        out, weights = func(*args, **{**kwargs, "need_weights": True, "average_attn_weights": False})
        maps = (weights if weights.dim() == 4 else weights[None]).detach().float()
        mask, allowed = kwargs.get("attn_mask"), None
        if mask is not None:  # (T,T) or (B H,T,T); true: excluded
            allowed = ~mask if mask.dtype == torch.bool else mask > -MASKED_BELOW
            allowed = allowed.reshape(-1, maps.shape[1] if mask.dim() == 3 else 1, *mask.shape[-2:]).expand(
                maps.shape
            )
        self.seen.append(Seen(self._name(), maps, allowed))
        return out, (weights.mean(-3) if average else weights) if wanted else None


def _is_square(scores: Any, dim: Any) -> bool:
    """Whether a softmax is one over pairs of positions."""
    if not torch.is_tensor(scores) or scores.dim() < 3 or dim not in (-1, scores.dim() - 1):
        return False
    return bool(scores.shape[-1] == scores.shape[-2] > 1)


class Limiter(TorchFunctionMode):
    """While it is active, position i uses only positions j with |i - j| <= limit in some of the calls that Observer counts."""

    def __init__(self, limit: int, calls: Container[int]) -> None:
        super().__init__()
        self.limit, self.calls, self.count = limit, calls, 0

    def _next(self) -> bool:
        """Whether the next call is limited."""
        self.count += 1
        return self.count - 1 in self.calls

    def _far(self, queries: int, keys: int, device: Any) -> torch.Tensor:
        at = torch.arange(max(queries, keys), device=device)
        return (at[:queries, None] - at[:keys]).abs() > self.limit

    def _mask(self, mask: Optional[torch.Tensor], far: torch.Tensor, excludes: bool) -> torch.Tensor:
        """A mask and the limit; excludes: a boolean mask is true for excluded pairs, otherwise for allowed ones."""
        if mask is None:
            return far if excludes else ~far
        if mask.dtype == torch.bool:
            return mask | far if excludes else mask & ~far
        return mask.masked_fill(far, float("-inf"))

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Optional[Dict[str, Any]] = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is F.multi_head_attention_forward and self._next():
            kwargs = {**kwargs, "is_causal": False}
            far = self._far(args[0].shape[0], args[1].shape[0], args[0].device)
            kwargs["attn_mask"] = self._mask(kwargs.get("attn_mask"), far, True)
        elif func is F.scaled_dot_product_attention and self._next():
            args, kwargs = self._dot_product(*args, **kwargs)
        elif func in (F.softmax, torch.softmax, torch.Tensor.softmax):
            names = dict(zip(("scores", "dim"), args))
            scores: Any = names.get("scores", kwargs.get("input"))
            dim = names.get("dim", kwargs.get("dim"))
            if _is_square(scores, dim) and self._next():
                far = self._far(scores.shape[-2], scores.shape[-1], scores.device)
                scores = scores.masked_fill(far, torch.finfo(scores.dtype).min)
                args, kwargs = (scores, *args[1:]), {k: v for k, v in kwargs.items() if k != "input"}
        return func(*args, **kwargs)

    def _dot_product(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        dropout_p: Any = 0.0,
        is_causal: bool = False,
        **more: Any,
    ) -> Tuple[Any, Dict[str, Any]]:
        far = self._far(query.shape[-2], key.shape[-2], query.device)
        if is_causal:
            far = far | ~torch.ones_like(far).tril()
        return (query, key, value, self._mask(attn_mask, far, False), dropout_p), more


@contextlib.contextmanager
def limiting(limit: int, calls: Container[int]) -> Iterator[None]:
    """Limits distances in the calls with these numbers, in their order within each call of the model."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with Limiter(limit, calls):
            yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)


@contextlib.contextmanager
def observing(modules: Optional[Dict[str, nn.Module]] = None) -> Iterator[List[Seen]]:
    """Observes the calls of a block; names are those of the innermost module of ``modules`` (name -> module)."""
    stack: List[str] = []
    handles = []
    for name, module in (modules or {}).items():
        if name and not isinstance(module, (nn.Softmax, nn.Dropout)):
            handles.append(module.register_forward_pre_hook(lambda m, a, name=name: stack.append(name)))
            handles.append(
                module.register_forward_hook(lambda m, a, o: stack.pop() and None, always_call=True)
            )
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    observer = Observer(lambda: stack[-1] if stack else "")
    try:
        with observer:
            yield observer.seen
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        for h in handles:
            h.remove()


# ---- which of the observed matrices are attention maps ------------------------------------------------------------------


def _readings(a: torch.Tensor, B: int) -> List[Tuple[str, torch.Tensor]]:
    """The arrays (B,H,T,T) that a tensor (..., T, T) may be, by name."""
    n = a.shape[-1]
    if a.dim() == 3 and a.shape[0] % B == 0:
        heads = a.shape[0] // B
        first = [("batch", a.reshape(B, heads, n, n))]
        return first if heads == 1 else [*first, ("head", a.reshape(heads, B, n, n).transpose(0, 1))]
    if a.dim() != 4:
        return []
    found = [("batch", a)] if a.shape[0] == B else []
    return found + ([("head", a.transpose(0, 1))] if a.shape[1] == B else [])


def read(seen: Seen, form: str, B: int) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
    """Maps and allowed pairs (B,H,T,T) of an observed matrix, whose leading axis is the batch or the head (``form``)."""
    maps = dict(_readings(seen.weights, B))[form]
    return maps, None if seen.allowed is None else dict(_readings(seen.allowed, B))[form]


class Layers:
    """Layers of attention among the observed matrices: number of the call -> name and leading axis.

    A matrix is a layer if it has the length of the inputs, for a second length as well, and if its rows follow the examples
    when these are exchanged.
    """

    def __init__(self) -> None:
        self.form: Dict[str, Tuple[int, str]] = {}
        self.other: Optional[Tuple[int, ...]] = None  # shape of an observed matrix that is none of a layer

    def find(self, call: Callable[[Any, int], List[Seen]], B: int, T: int, shorter: bool) -> None:
        """call(order, n): observed matrices of the examples in this order, with their first n positions."""
        same = list(range(B))
        first, turned = call(same, T), call(same[::-1], T)
        short = call(same, T - 1) if shorter and T > 2 else None
        for k, seen in enumerate(first):
            form = self._form(seen, turned[k] if k < len(turned) else None, B, T)
            if form and short is not None and (k >= len(short) or short[k].weights.shape[-1] != T - 1):
                form = ""
            if not form:
                self.other = self.other or tuple(seen.weights.shape)
                continue
            name, count = seen.name or f"layer.{k}", 1
            while (name if count == 1 else f"{name}:{count}") in self.form:
                count += 1
            self.form[name if count == 1 else f"{name}:{count}"] = k, form

    @staticmethod
    def _form(seen: Seen, turned: Optional[Seen], B: int, T: int) -> str:
        if turned is None or turned.weights.shape != seen.weights.shape or seen.weights.shape[-2:] != (T, T):
            return ""
        for form, maps in _readings(seen.weights, B):
            other = dict(_readings(turned.weights, B))[form].flip(0)
            if torch.allclose(maps, other, rtol=1e-3, atol=1e-4):
                return form
        return ""

    def maps(self, seen: List[Seen], B: int) -> Dict[str, Tuple[torch.Tensor, Optional[torch.Tensor]]]:
        """Maps and allowed pairs of all layers."""
        return {name: read(seen[k], form, B) for name, (k, form) in self.form.items() if k < len(seen)}

    def why_none(self, T: int) -> str:
        """The reason why there are no layers."""
        how = "attention=FUNCTION(model, batch) returns maps (batch, heads, length, length) by layer"
        if self.other is not None:
            return (
                f"attention weights have shape {self.other}, which are not {T} positions of the input; {how}"
            )
        return f"the model computes no softmax over pairs of positions (recurrence, convolution, or a kernel of its own); {how}"
