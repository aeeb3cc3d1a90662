"""PyTorch modules and Hugging Face models: hooks find the embedding, the features and the attention maps."""

from __future__ import annotations

import contextlib
import fnmatch
import inspect
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import torch
from torch import nn

from ._maps import Layers, Seen, limiting, observing
from ._model import Array, Model, WrapError, nearest, pick_output
from .frames import Unsupported


def _first(out: Any) -> Any:
    """The tensor of a module's output: itself, or the first element of a tuple or of an output of Hugging Face."""
    if isinstance(out, dict) and out:
        return next(iter(out.values()))
    return out[0] if isinstance(out, (tuple, list)) and out else out


def _matches(name: str, pattern: str) -> bool:
    """Whether a pattern matches the name of a module; a star matches one part of the name, which points divide."""
    parts, wanted = name.split("."), pattern.split(".")
    return len(parts) == len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


class TorchModel(Model):
    """A ``torch.nn.Module``; see ``wrap()``."""

    framework = "torch"

    def __init__(
        self,
        model: nn.Module,
        *,
        embedding: Union[None, str, nn.Module] = None,
        features: Union[None, str, Sequence[str]] = None,
        attention: Union[None, str, Sequence[str], Dict[str, Callable[..., Any]], Callable[..., Any]] = None,
        device: Any = None,
        **options: Any,
    ) -> None:
        wrapper = None
        for attribute in ("_orig_mod", "module"):
            inner = getattr(model, attribute, None)
            if isinstance(inner, nn.Module) and type(model).__name__ in (
                "OptimizedModule",
                "DataParallel",
                "DistributedDataParallel",
            ):
                wrapper, model = type(model).__name__, inner
        self._config = (
            getattr(model, "config", None) if hasattr(getattr(model, "config", None), "model_type") else None
        )
        super().__init__(model, **options)
        if wrapper:
            self.notes.append(f"the module inside {wrapper} is measured")
        self._modules = dict(model.named_modules())
        if self._config is not None:
            self.framework = "transformers"
        tensors = [*model.parameters(), *model.buffers()]
        self.device = tensors[0].device if tensors else torch.device("cpu")
        if device is not None and tensors and torch.device(device).type != self.device.type:
            raise WrapError(
                f"device={device!r}, and the model '{self.name}' is on {self.device}; move it with model.to({device!r})"
            )
        if device is not None and not tensors:
            self.device = torch.device(device)
        self._dtype = next((t.dtype for t in tensors if t.is_floating_point()), torch.float32)
        self._embedding_request = embedding
        self._embeddings: List[nn.Module] = []
        self._feature_names = [features] if isinstance(features, str) else list(features or [])
        self._attention_request = attention
        self._layers: Optional[Layers] = None  # observed attention
        self._calls: Dict[str, int] = {}  # number of the call of attention of each layer
        self._limit: Any = None  # distance limit, and the calls that it applies to
        self._refused = ""  # why a Hugging Face model returned no maps
        for name in self._feature_names:
            self._module(name, "features")
        self._find_vocab(options.get("pad"))

    # ---- names and sizes ---------------------------------------------------------------------------

    def _module(self, name: str, option: str) -> nn.Module:
        if name not in self._modules:
            raise WrapError(
                f"{option}={name!r} is no module of '{self.name}'{nearest(name, list(self._modules)[1:])}"
            )
        return self._modules[name]

    def _find_vocab(self, pad: Optional[int]) -> None:
        if self.inputs != "tokens":
            return
        if (
            pad is None
            and self._config is not None
            and isinstance(getattr(self._config, "pad_token_id", None), int)
            and self._config.pad_token_id >= 0
        ):
            self.pad = self._config.pad_token_id
        if self.vocab is None:
            self.vocab = getattr(self._config, "vocab_size", None)
        bos = getattr(self._config, "bos_token_id", None)
        if self.bos is None and isinstance(bos, int) and self.vocab and 0 <= bos < self.vocab:
            self.bos = bos
        if self.vocab is None:
            sizes = [m.num_embeddings for m in self.model.modules() if isinstance(m, nn.Embedding)]
            if sizes:
                self.vocab = sizes[0]
                self.notes.append(f"vocab={sizes[0]}: rows of the first embedding")

    def _signature(self) -> Dict[str, inspect.Parameter]:
        try:
            return dict(inspect.signature(self.model.forward).parameters)
        except (TypeError, ValueError):
            return {}

    def _tolerance(self) -> float:
        return 1.0 if self._dtype in (torch.float32, torch.float64) else 300.0

    # ---- state -------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _evaluating(self) -> Iterator[None]:
        modes = [(m, m.training) for m in self.model.modules()]
        state = torch.get_rng_state()
        devices = (
            torch.cuda.get_rng_state_all()
            if torch.cuda.is_available() and torch.cuda.is_initialized()
            else None
        )
        self.model.eval()
        try:
            yield
        finally:
            for m, training in modes:
                m.training = training
            torch.set_rng_state(state)
            if devices is not None:
                torch.cuda.set_rng_state_all(devices)

    # ---- calls -------------------------------------------------------------------------------------

    def _tensor(self, a: Array) -> torch.Tensor:
        t = torch.from_numpy(np.array(a))  # a copy: the model may write to it
        if t.is_floating_point():
            t = t.to(self._dtype)
        return t.to(self.device)

    def _call(self, t: torch.Tensor, extra: Dict[str, Array], **more: Any) -> Any:
        if self._limit is None:
            return self._call_plain(t, extra, **more)
        with limiting(*self._limit):
            return self._call_plain(t, extra, **more)

    def _call_plain(self, t: torch.Tensor, extra: Dict[str, Array], **more: Any) -> Any:
        kwargs: Dict[str, Any] = {
            k: self._tensor(v) if k != self._lengths else torch.from_numpy(np.array(v))
            for k, v in extra.items()
        }
        kwargs.update(more)
        if self._config is not None and "use_cache" in self._signature():
            kwargs.setdefault("use_cache", False)
        main = getattr(self.model, "main_input_name", None) if self._config is not None else None
        if main and main in self._signature():
            return self.model(**{main: t}, **kwargs)
        return self.model(t, **kwargs)

    def _invoke(self, x: Array, extra: Dict[str, Array]) -> Any:
        with torch.no_grad():
            return self._call(self._tensor(self._shaped(x)), extra)

    def _position_ids(self, place: Array, T: int) -> Dict[str, Array]:
        most = self.longest() or int(place.max()) + T
        return {"position_ids": np.minimum(place[:, None] + np.arange(T), most - 1)}

    def _last(self, x: Array, length: Array, keep: Optional[Array], place: Optional[Array]) -> Array:
        extra, more = self._extra(length, x.shape[1], keep), {}
        if place is not None and (place.any() or self.takes_positions):
            if not self.takes_positions:
                raise Unsupported(f"'{self.name}' takes no position ids")
            extra = {**extra, **self._position_ids(place, x.shape[1])}
        short = self._config is not None and "logits_to_keep" in self._signature() and self.output is None
        if short and (length == x.shape[1]).all():  # the head is applied to the last position alone
            more["logits_to_keep"] = 1
        with torch.no_grad():
            out = pick_output(self._call(self._tensor(x), extra, **more), self.output)
            if not torch.is_tensor(out):
                out = torch.from_numpy(np.asarray(out))
            if more and out.shape[1] == 1:
                return self._numpy(out[:, 0])
            at = torch.from_numpy(np.asarray(length) - 1).to(out.device)
            return self._numpy(out[torch.arange(len(x), device=out.device), at])

    def _logprob(self, x: Array, length: Array, target: Array) -> Array:
        made = np.zeros(x.shape, np.float32)
        with torch.no_grad():
            out = pick_output(self._invoke(x, self._extra(length, x.shape[1], None)), self.output)
            for i, own in enumerate(out):  # one example at a time: float32 copies of (T,V) logits
                n = int(length[i])
                logits = own[:n].float()
                chosen = torch.from_numpy(np.maximum(target[i, :n], 0)).to(logits.device)
                value = logits.gather(1, chosen[:, None])[:, 0] - logits.logsumexp(-1)
                made[i, :n] = np.where(target[i, :n] >= 0, value.cpu().numpy(), 0)
        return made

    def _numpy(self, value: Any) -> Array:
        if not torch.is_tensor(value):
            return np.asarray(value)
        value = value.detach()
        return (value.float() if value.is_floating_point() else value).cpu().numpy()

    # ---- detection ---------------------------------------------------------------------------------

    def _inspect(self, x: Array, length: Array) -> None:
        x, length = (x[:1], length[:1]) if self.max_batch == 1 else (x, length)
        x = self._fit(x, 0)
        seen = self._watch(x, length)
        self._find_positions(x, length)
        self._find_embedding(x, seen)
        self._find_features(x, length, seen)
        self._find_attention(x, length)
        self._find_calls(x, length)
        self._find_gradient(x, length)

    def _find_positions(self, x: Array, length: Array) -> None:
        """Whether a causal language model takes position ids: those from 0 do not change its output."""
        if not self.next_token or "position_ids" not in self._signature():
            return
        T = x.shape[1]
        try:
            ids = self._position_ids(np.zeros(len(x), np.int64), T)
            a = self._raw(x, length, None)
            b = self._numpy(
                pick_output(self._invoke(x, {**self._extra(length, T, None), **ids}), self.output)
            )
            self.takes_positions = self._same(a, b)
        except Exception:  # the argument has another meaning
            self.takes_positions = False

    def _watch(self, x: Array, length: Array) -> List[Tuple[str, nn.Module, Any, Any]]:
        """Name, module, first input and output of every call of a submodule."""
        seen: List[Tuple[str, nn.Module, Any, Any]] = []

        def hook(name: str) -> Callable[..., None]:
            def record(module: nn.Module, args: Any, kwargs: Any, out: Any) -> None:
                given = args[0] if args else next(iter(kwargs.values()), None)
                seen.append((name, module, given, _first(out)))

            return record

        handles = []
        try:
            for name, module in self._modules.items():
                if name:
                    handles.append(module.register_forward_hook(hook(name), with_kwargs=True))
            self._invoke(x, self._extra(length, x.shape[1], None))
        except Exception as e:  # compiled or scripted modules
            self.notes.append(f"no hooks ({type(e).__name__}: {str(e)[:80]})")
            return []
        finally:
            for h in handles:
                h.remove()
        return seen

    def _find_embedding(self, x: Array, seen: List[Tuple[str, nn.Module, Any, Any]]) -> None:
        request = self._embedding_request
        if isinstance(request, nn.Module):
            self._embeddings = [request]
        elif request is not None:
            self._embeddings = [self._module(request, "embedding")]
        elif self.inputs == "tokens":
            tokens = self._tensor(x)

            def is_tokens(t: Any) -> bool:
                if (
                    not torch.is_tensor(t)
                    or t.is_floating_point()
                    or t.dtype == torch.bool
                    or t.shape != tokens.shape
                ):
                    return False
                difference = t.to(tokens.device, torch.int64) - tokens
                return bool((difference == difference.reshape(-1)[0]).all())

            found = [
                (n, m)
                for n, m, given, out in seen
                if is_tokens(given)
                and torch.is_tensor(out)
                and out.is_floating_point()
                and out.dim() == 3
                and out.shape[:2] == tokens.shape
            ]
            leaves = [(n, m) for n, m in found if not any(o.startswith(n + ".") for o, _ in found)]
            self._embeddings = list({id(m): m for _, m in leaves}.values())
            if not self._embeddings:
                self.missing["vjp"] = (
                    "no module receives the tokens (one-hot inputs?): occlusion is used instead of "
                    "gradients; embedding=MODULE names the module"
                )

    def _find_features(self, x: Array, length: Array, seen: List[Tuple[str, nn.Module, Any, Any]]) -> None:
        T = x.shape[1]
        if self._feature_names:
            self.layers = list(self._feature_names)
            for name in self.layers:
                out = self._capture(self._tensor(self._shaped(x)), length, T, name)[1]
                if not torch.is_tensor(out) or out.dim() != 3 or out.shape[1] != T:
                    found = tuple(out.shape) if torch.is_tensor(out) else type(out).__name__
                    raise WrapError(f"features={name!r} has output {found}, expected (batch, {T}, features)")
            return
        if self._config is not None and self._hidden_states(x, length, T):
            return
        if self.kind == "position":
            self.layers = ["logits"]
            return
        names = [
            n
            for n, _, _, out in seen
            if torch.is_tensor(out)
            and out.is_floating_point()
            and out.dim() == 3
            and out.shape[:2] == (len(x), T)
        ]
        names = list(dict.fromkeys(reversed(names)))[:4]
        hint = f"; modules with one: {', '.join(names)}" if names else ""
        self.missing["features"] = f"pass features=MODULE, whose output is (batch, length, D){hint}"

    def _hidden_states(self, x: Array, length: Array, T: int) -> bool:
        try:
            with torch.no_grad():
                out = self._call(
                    self._tensor(self._shaped(x)), self._extra(length, T, None), output_hidden_states=True
                )
        except Exception:  # a model without this argument
            return False
        states = getattr(out, "hidden_states", None)
        if not states or states[-1].dim() != 3 or states[-1].shape[1] != T:
            return False
        self.layers = [f"hidden.{i}" for i in range(1, len(states))]
        return True

    def _find_attention(self, x: Array, length: Array) -> None:
        request, T = self._attention_request, x.shape[1]
        try:
            if isinstance(request, dict):
                self._find_patterns(request)
                self.attention_layers = list(self._asked(x, length))
            elif isinstance(request, (str, list, tuple)):
                self.attention_layers = [request] if isinstance(request, str) else list(request)
                for name in self.attention_layers:
                    self._module(name, "attention")
            elif callable(request):
                self.attention_layers = list(self._asked(x, length))
            elif self._config is not None:
                self._find_eager(x, length)
            if request is None and not self.attention_layers:
                self._find_layers(x, length)
            if not self.attention_layers:
                raise WrapError(
                    "attention= returned no maps; expected (batch, heads, length, length) for each layer"
                )
            shape = self._attention(x, length, self.attention_layers[0])[0].shape
        except Exception as e:
            if request is not None:
                raise
            kind = "" if isinstance(e, Unsupported) else f"attention maps: {type(e).__name__}: "
            self.missing.setdefault("attn", f"{kind}{str(e)[:400]}")
            self.attention_layers = []
            return
        if len(shape) != 4 or shape[2] != T or shape[3] < T:
            text = f"attention maps of '{self.attention_layers[0]}' have shape {tuple(shape)}"
            if request is not None:
                raise WrapError(f"{text}, expected ({len(x)}, heads, {T}, {T})")
            self.missing["attn"] = f"{text}, which are not {T} positions of the input"
            self.attention_layers = []

    def _find_eager(self, x: Array, length: Array) -> None:
        """Layers of a Hugging Face model.  If it returns no maps, the reason is kept, and attention is observed."""
        try:
            maps = self._eager_maps(x, length)
        except Exception as e:  # no attention in this model, or no eager implementation
            self._refused = str(e) if isinstance(e, Unsupported) else f"{type(e).__name__}: {str(e)[:160]}"
            return
        self.attention_layers = [f"layer.{i}" for i, m in enumerate(maps) if m is not None]

    def _find_layers(self, x: Array, length: Array) -> None:
        """Layers of attention that are observed during a call."""
        T = x.shape[1]

        def call(order: List[int], n: int) -> List[Seen]:
            return self._observe(np.ascontiguousarray(x[order, :n]), np.minimum(length[order], n))

        found = Layers()
        found.find(call, len(x), T, shorter=self.padding != "fixed")
        if not found.form:
            refused = f"{self._refused}; " if self._refused else ""
            raise Unsupported(refused + found.why_none(T))
        self._layers, self.attention_layers = found, list(found.form)

    def _find_calls(self, x: Array, length: Array) -> None:
        """The calls of attention in which distances can be limited."""
        if not self.attention_layers:
            return
        if self._layers is not None:
            self._calls = {name: k for name, (k, _) in self._layers.form.items()}
        elif self._attention_request is None:  # Hugging Face models: layers in the order of their calls
            try:
                seen = self._observe(x, length)
            except Exception:  # an implementation that does not run outside of the model's own call
                return
            if len(seen) == len(self.attention_layers):
                self._calls = {name: k for k, name in enumerate(self.attention_layers)}
        self.limit_layers = list(self._calls)

    @contextlib.contextmanager
    def _limited(self, limit: int, layer: str) -> Iterator[None]:
        """Each call of the model in the block has the limit."""
        calls = {self._calls[layer]} if layer else set(self._calls.values())
        self._limit = limit, calls
        try:
            yield
        finally:
            self._limit = None

    def _find_patterns(self, request: Dict[str, Any]) -> None:
        for pattern, function in request.items():
            if not callable(function):
                raise WrapError(f"attention={{{pattern!r}: ...}} is no function(module, inputs ...)")
            if not any(_matches(name, pattern) for name in self._modules):
                names = list(self._modules)[1:]
                raise WrapError(
                    f"attention={{{pattern!r}: ...}}: no module has this name{nearest(pattern, names)}"
                )

    def _find_gradient(self, x: Array, length: Array) -> None:
        if "vjp" in self.missing:
            return
        classes = self.classes or 1
        try:
            direction = np.random.default_rng(0).standard_normal((len(x), classes)).astype(np.float32)
            grad = self._vjp(x, length, np.full(len(x), -1), direction, "")
            if not np.isfinite(grad).all():
                raise Unsupported("gradients are not finite")
            if not grad.any():
                raise Unsupported("gradients are zero everywhere (a detached graph, or a step function)")
        except Exception as e:  # an op without a gradient, a detached graph
            self.missing["vjp"] = f"no gradients ({type(e).__name__}: {str(e)[:120]}): occlusion is used"
            return
        names = [n for n, m in self._modules.items() if any(m is e for e in self._embeddings)]
        self.gradient = f"by the embedding '{', '.join(names)}'" if names else "by the inputs"

    # ---- features, gradients, attention --------------------------------------------------------------

    def _features_are_outputs(self, layer: str) -> bool:
        return self.layers == ["logits"]

    def _capture(
        self, t: torch.Tensor, length: Array, T: int, layer: str, keep: Optional[Array] = None
    ) -> Tuple[Any, Any]:
        """Output of the model and of the layer; '' is the last layer."""
        layer = layer or (self.layers[-1] if self.layers else "")
        extra = self._extra(length, T, keep)
        if layer.startswith("hidden.") and layer not in self._modules:
            out = self._call(t, extra, output_hidden_states=True)
            return out, out.hidden_states[int(layer.split(".")[1])]
        if layer not in self._modules:
            raise Unsupported(f"no layer '{layer}'{nearest(layer, self.layers)}")
        caught: List[Any] = []
        handle = self._modules[layer].register_forward_hook(lambda m, a, o: caught.append(_first(o)))
        try:
            out = self._call(t, extra)
        finally:
            handle.remove()
        if not caught:
            raise Unsupported(f"the module '{layer}' is not called by the model")
        return out, caught[-1]

    def _features(self, x: Array, length: Array, layer: str) -> Array:
        with torch.no_grad():
            return self._numpy(self._capture(self._tensor(self._shaped(x)), length, x.shape[1], layer)[1])

    def _head(self, x: Array, length: Array, features: Array) -> Array:
        layer = self.layers[-1]
        if layer not in self._modules:
            raise Unsupported("the features are not the output of a module: pass features=MODULE")

        def replace(module: nn.Module, args: Any, out: Any) -> Any:
            old = _first(out)
            given = torch.from_numpy(np.array(features)).to(old.device, old.dtype)
            if torch.is_tensor(out):
                return given
            if isinstance(out, dict):  # outputs of Hugging Face models
                return type(out)({**out, next(iter(out)): given})
            return type(out)((given, *out[1:]))

        handle = self._modules[layer].register_forward_hook(replace)
        try:
            return self._raw(x, length, None)
        finally:
            handle.remove()

    @contextlib.contextmanager
    def _leaves(self, t: torch.Tensor) -> Iterator[List[torch.Tensor]]:
        """Tensors by which gradients are taken: outputs of the embedding, or the inputs."""
        leaves: List[torch.Tensor] = []
        handles = []

        def hook(module: nn.Module, args: Any, out: torch.Tensor) -> torch.Tensor:
            e = out.detach().requires_grad_(True)
            leaves.append(e)
            return e

        try:
            for m in self._embeddings:
                handles.append(m.register_forward_hook(hook))
            if not self._embeddings:
                leaves.append(t.requires_grad_(True))
            yield leaves
        finally:
            for h in handles:
                h.remove()

    def _target(
        self, t: torch.Tensor, length: Array, T: int, position: Array, cotangent: Array, layer: str
    ) -> torch.Tensor:
        """Sum over examples of cotangent . h[position], or of cotangent . logits where position is -1."""
        rows = torch.arange(len(position), device=self.device)
        if (position < 0).all():
            h = pick_output(self._call(t, self._extra(length, T, None)), self.output)
            h = h[:, None] if h.dim() == 1 else h
            if h.dim() == 3:
                h = h[rows, torch.from_numpy(length - 1).to(h.device)]
        elif (position < 0).any():
            raise ValueError("positions of -1 (logits) and others in one request")
        else:
            if self.layers == ["logits"]:
                h = pick_output(self._call(t, self._extra(length, T, None)), self.output)
            else:
                h = self._capture(t, length, T, layer)[1]
            h = h[rows, torch.from_numpy(np.asarray(position)).to(h.device)]
        if h.shape != cotangent.shape:
            raise ValueError(f"a cotangent of shape {cotangent.shape}, expected {tuple(h.shape)}")
        return (h.float() * torch.from_numpy(np.array(cotangent)).to(h.device)).sum()

    def _vjp(self, x: Array, length: Array, position: Array, cotangent: Array, layer: str) -> Array:
        t = self._tensor(self._shaped(x))
        cudnn = torch.backends.cudnn.flags(enabled=False) if t.is_cuda else contextlib.nullcontext()
        with torch.inference_mode(False), torch.enable_grad(), self._leaves(t) as leaves, cudnn:
            target = self._target(t, length, x.shape[1], position, cotangent, layer)
            grads = torch.autograd.grad(target, leaves, allow_unused=True)
        total = None
        for g in grads:
            if g is None:
                continue
            g = g.float()
            if self.inputs == "image":
                square = g.square().sum(1).reshape(len(x), -1)
            else:
                square = g.square().reshape(len(x), x.shape[1], -1).sum(-1)
            total = square if total is None else total + square
        if total is None:
            return np.zeros(x.shape[:2], np.float32)
        return total.cpu().numpy()

    def gradient_check(self, x: Array, length: Array) -> Tuple[float, float]:
        x, length = x[:1], length[:1]
        n = int(length[0])
        t = self._tensor(self._shaped(self._fit(x, n if self.padding == "trim" else 0)))
        T = x.shape[1] if self.padding != "trim" else n
        cotangent = np.random.default_rng(1).standard_normal((1, self.classes or 1)).astype(np.float32)
        none = np.full(1, -1)
        with torch.inference_mode(False), torch.enable_grad(), self._leaves(t) as leaves:
            target = self._target(t, length, T, none, cotangent, "")
            grads = torch.autograd.grad(target, leaves, allow_unused=True)
        generator = torch.Generator().manual_seed(0)
        directions = [torch.randn(v.shape, generator=generator).to(v.device, v.dtype) for v in leaves]
        expected = sum(float((g * u).sum()) for g, u in zip(grads, directions) if g is not None)
        scale = float(torch.stack([v.detach().float().square().mean() for v in leaves]).mean().sqrt()) or 1.0
        found = [
            self._difference(t, length, T, cotangent, directions, scale * e)
            for e in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3)
        ]
        return min(found, key=lambda f: abs(f - expected)), expected

    def _difference(
        self,
        t: torch.Tensor,
        length: Array,
        T: int,
        cotangent: Array,
        directions: Sequence[torch.Tensor],
        step: float,
    ) -> float:
        """Central difference of the target along the directions, one for each leaf."""
        values = []
        for sign in (1, -1):
            left = list(directions)
            handles = [
                m.register_forward_hook(lambda m, a, out: out + sign * step * left.pop(0))
                for m in self._embeddings
            ]
            try:
                with torch.no_grad():
                    shifted = t if self._embeddings else t + sign * step * left.pop(0)
                    values.append(
                        float(self._target(shifted, length, T, np.full(1, -1), cotangent, "").double())
                    )
            finally:
                for h in handles:
                    h.remove()
        return (values[0] - values[1]) / (2 * step)

    def longest(self) -> int:
        fixed = super().longest()
        for name in ("max_position_embeddings", "n_positions"):
            if not fixed and self._config is not None:
                fixed = getattr(self._config, name, 0) or 0
        return fixed

    def training_modules(self) -> List[str]:
        kinds = ("Dropout", "BatchNorm", "InstanceNorm", "SyncBatchNorm")
        return [
            f"{n} ({type(m).__name__})"
            for n, m in self._modules.items()
            if m.training and type(m).__name__.startswith(kinds)
        ]

    def fingerprint(self) -> Optional[float]:
        tensors = [*self.model.parameters(), *self.model.buffers()]
        return float(
            sum(float(t.detach().double().abs().sum()) + float(t.detach().double().sum()) for t in tensors)
        )

    def _attention(self, x: Array, length: Array, layer: str) -> Tuple[Array, Optional[Array]]:
        request = self._attention_request
        with torch.no_grad():
            if isinstance(request, dict) or callable(request):
                maps = self._remembered(x, length, lambda: self._asked(x, length))
                if layer not in maps:
                    raise Unsupported(
                        f"attention= gave no maps of layer '{layer}', only {', '.join(maps) or 'none'}"
                    )
                return self._pair(maps[layer])
            if request is not None:
                return self._module_maps(x, length, layer)
            if self._layers is not None:
                maps = self._remembered(x, length, lambda: self._layers_of(x, length))
                if layer not in maps:
                    raise Unsupported(f"the attention of '{layer}' was not computed for this batch")
                return self._pair(maps[layer])
            maps = self._remembered(x, length, lambda: self._eager_maps(x, length))
            return self._pair(maps[int(layer.split(".")[1])])

    def _asked(self, x: Array, length: Array) -> Dict[str, Any]:
        """Maps by layer of attention=: a function of model and batch, or functions of modules and their inputs."""
        request, batch = self._attention_request, self._tensor(self._shaped(x))
        with torch.no_grad():
            if not isinstance(request, dict):
                assert callable(request)
                return self._named_maps(request(self.model, batch))
            maps: Dict[str, Any] = {}
            handles = []

            def hook(name: str, function: Callable[..., Any]) -> Callable[..., None]:
                def record(module: nn.Module, args: Any, kwargs: Dict[str, Any], out: Any) -> None:
                    maps[name] = function(module, *args, **kwargs)

                return record

            try:
                for name, module in self._modules.items():
                    for pattern, function in request.items():
                        if _matches(name, pattern):
                            handles.append(
                                module.register_forward_hook(hook(name, function), with_kwargs=True)
                            )
                self._call(batch, self._extra(length, x.shape[1], None))
            finally:
                for h in handles:
                    h.remove()
            return maps

    def _observe(self, x: Array, length: Array) -> List[Seen]:
        """Attention weights that are observed during one call."""
        with torch.no_grad(), observing(self._modules) as seen:
            self._call(self._tensor(self._shaped(x)), self._extra(length, x.shape[1], None))
        return seen

    def _layers_of(self, x: Array, length: Array) -> Dict[str, Any]:
        assert self._layers is not None
        return self._layers.maps(self._observe(x, length), len(x))

    def _module_maps(self, x: Array, length: Array, layer: str) -> Tuple[Array, Optional[Array]]:
        """Attention maps that a module returns with its output, or else those observed while it is called."""
        caught: List[Any] = []

        def keep(module: nn.Module, args: Any, out: Any) -> None:
            found = [
                o
                for o in (out if isinstance(out, (tuple, list)) else (out,))
                if torch.is_tensor(o) and o.dim() == 4 and o.shape[-1] >= o.shape[-2] == x.shape[1]
            ]
            caught.extend(found[:1])

        handle = self._modules[layer].register_forward_hook(keep)
        try:
            seen = [s for s in self._observe(x, length) if s.name == layer or s.name.startswith(f"{layer}.")]
        finally:
            handle.remove()
        if seen and seen[-1].weights.dim() == 4:
            return self._pair((seen[-1].weights, seen[-1].allowed))
        if not caught:
            raise Unsupported(
                f"the module '{layer}' returns and computes no maps of shape (batch, heads, length, length)"
            )
        return self._numpy(caught[-1]), None

    def _eager_maps(self, x: Array, length: Array) -> Sequence[Any]:
        """Maps of a Hugging Face model; the attention implementation is eager during the call only.

        Each element is None or a pair (maps, allowed): masks are known if the softmax of the layer is observed.
        """
        assert self._config is not None
        before = getattr(self._config, "_attn_implementation", None)
        switch = getattr(self.model, "set_attn_implementation", None)
        try:
            if before != "eager" and switch is not None:
                switch("eager")
            with torch.no_grad(), observing() as seen:
                out = self._call(
                    self._tensor(self._shaped(x)),
                    self._extra(length, x.shape[1], None),
                    output_attentions=True,
                )
        finally:
            if before not in ("eager", None) and switch is not None:
                switch(before)
        maps = getattr(out, "attentions", None)
        if not maps or all(m is None for m in maps):
            raise Unsupported(
                f"the model returned no attention maps ({'an empty tuple' if maps is not None else 'None'}) for "
                "output_attentions=True with eager attention; attention=FUNCTION(model, batch) returns them"
            )
        return [None if m is None else (m, _mask_of(m, seen)) for m in maps]


def _mask_of(maps: torch.Tensor, seen: Sequence[Seen]) -> Optional[torch.Tensor]:
    """Allowed pairs of the observed matrix that has these weights."""
    for s in seen:
        if s.allowed is not None and s.weights.shape == maps.shape and torch.equal(s.weights, maps.float()):
            return s.allowed
    return None
