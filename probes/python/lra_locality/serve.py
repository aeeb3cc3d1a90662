"""``serve()``: a wrapped model answers the requests of ``lra-probe`` (LRAX/1)."""

from __future__ import annotations

import inspect
import random
import re
import socket
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from ._model import Array, Model, random_states
from .frames import BadRequest, Channel, Meta, Op, Tensors, Unsupported, answer, error_code

Initial = Callable[..., Any]


def fresh_model(m: Model, initial: Initial, seed: int) -> Model:
    """A model with initial weights: ``initial()``, or ``initial(seed)``, wrapped like m.

    The random states of Python, numpy and torch have this seed during the call, and are restored.
    """
    restore = random_states()
    torch = sys.modules.get("torch")
    states = (torch.get_rng_state(), torch.cuda.get_rng_state_all()) if torch is not None else None
    random.seed(seed)
    np.random.seed(seed % (1 << 32))
    if torch is not None:
        torch.manual_seed(seed)
    try:
        takes = inspect.signature(initial).parameters if not inspect.isbuiltin(initial) else {}
        made = initial(seed) if takes else initial()
    finally:
        restore()
        if torch is not None and states is not None:
            torch.set_rng_state(states[0])
            torch.cuda.set_rng_state_all(states[1])
    return made if isinstance(made, Model) else m.like(made)


def _wire_name(layer: str) -> str:
    """Name of a layer for the program: without blanks, and "layer.3" as "layer3", the form of the built-in models."""
    return re.sub(r"^layer\.(\d+)$", r"layer\1", layer.replace(" ", "-"))


class Server:
    """The requests of LRAX/1 as calls of a model."""

    def __init__(self, m: Model, initial: Optional[Initial] = None) -> None:
        self.m = m
        self.width = 0
        self.requests = 0
        self.initial = initial
        self._fresh: Optional[Tuple[int, Model]] = None  # seed, and the model with initial weights
        self._seed: Optional[int] = None  # between reset and restore

    # ---- handshake

    def ready(self, hello: Meta) -> Mapping[str, Any]:
        """Metadata of ``ready`` for a task; the model is tried on its shape if that was not possible before."""
        m = self.m
        kind = hello.get("kind", "tokens")
        takes = "values" if m.inputs in ("values", "image") else "tokens"
        if kind != takes:
            raise BadRequest(
                f"the task '{hello.get('task', '')}' has {kind}, and the model '{m.name}' takes {takes}; inputs= of wrap() "
                "states what it takes"
            )
        if hello.get("towers", "1") != "1":
            raise BadRequest(
                "tasks with pairs of documents need a model of pairs, which wrap() does not make"
            )
        if not m.probed:
            self._try(hello)
        if "features" not in m.missing:
            self.width = self._width(hello)
        return self.facts()

    def _try(self, hello: Meta) -> None:
        m, T = self.m, max(2, int(hello.get("length", "32")))
        if m.inputs in ("tokens", "text"):
            m.vocab = m.vocab or int(hello["vocab"])
            m.probe()
        else:
            shape = (2, m.length or T, max(1, int(hello.get("width", "1"))))
            m.probe(np.random.default_rng(0).standard_normal(shape).astype(np.float32))

    def _width(self, hello: Meta) -> int:
        m, T = self.m, self.m.length or 8
        if m.inputs in ("tokens", "text"):
            return int(m.features(m.sample(T, 1)).shape[2])
        if m.inputs == "image":
            T = m.length or int(hello.get("length", "1"))
        return int(m.features(np.zeros((1, T, max(1, int(hello.get("width", "1")))), np.float32)).shape[2])

    def operations(self) -> Dict[str, Op]:
        """The requests that are answered, by name; complete after ``ready()``."""
        m = self.m
        ops: Dict[str, Op] = {"forward": self.forward}
        if "features" not in m.missing:
            ops["features"] = self.features
            if "vjp" not in m.missing:
                ops["vjp"] = self.vjp
            if m.head_works:
                ops["head"] = self.head
        if "attn" not in m.missing:
            ops["attn"] = self.attn
        if m.next_token:
            ops["logprob"] = self.logprob
        if "kernels" not in m.missing:
            ops["kernels"] = self.kernels
        ops = {name: self._watched(op) for name, op in ops.items()}
        if self.initial is not None:
            ops["reset"], ops["restore"] = self.reset, self.restore
        return ops

    def _watched(self, op: Op) -> Op:
        """The op; a batch that does not fit into memory is remembered, for this audit and the next one."""

        def call(meta: Meta, tensors: Tensors) -> Mapping[str, Any]:
            try:
                return op(meta, tensors)
            except Exception as e:
                n = len(tensors.get("length", ()))
                if error_code(e) == "out_of_memory" and n > 1:
                    known = self.m.max_batch or n
                    self.m.max_batch = max(1, min(known, n) // 2)
                raise

        return call

    # ---- initial weights

    def reset(self, meta: Meta, tensors: Tensors) -> Tensors:
        self._seed = int(meta["seed"])
        return {}

    def restore(self, meta: Meta, tensors: Tensors) -> Tensors:
        self._seed = None
        return {}

    def model_for(self, meta: Meta) -> Model:
        """The model of a request: trained, or with initial weights (after reset, or with the key reset)."""
        seed = int(meta["reset"]) if "reset" in meta else self._seed
        if seed is None:
            return self.m
        if self.initial is None:
            raise Unsupported("initial weights: pass initial=FUNCTION")
        if self._fresh is None or self._fresh[0] != seed:
            self._fresh = seed, fresh_model(self.m, self.initial, seed)
        return self._fresh[1]

    def facts(self) -> Dict[str, Any]:
        m = self.m
        facts: Dict[str, Any] = {
            "ops": " ".join(self.operations()),
            "model": m.name,
            "framework": m.framework,
            "classes": m.classes or 0,
            "vocab": m.vocab or 0,
            "max_length": m.longest(),
            "max_batch": m.max_batch,
            "mask": int(m.keep_honoured),
            "causal": int(bool(m.causal)),
            "layers": " ".join(m.attention_layers or m.layers),
            "weights": m.weights_text(),
        }
        if "attn" not in m.missing:
            facts["attn_layers"] = " ".join(map(_wire_name, m.attention_layers))
            facts["attn_rows"] = "any" if m.renormalise else "1"
        if "kernels" not in m.missing:
            facts["kernel_layers"] = " ".join(m.kernel_layers)
        if len(m.layers) > 1 and not {"features", "vjp"} & set(m.missing):
            facts["feature_layers"] = " ".join(m.layers)
        if self.width:
            facts["width"] = self.width
        if m.next_token:
            facts["next"] = 1
            if m.bos is not None:
                facts["bos"] = m.bos
            if m.takes_positions:
                facts["place"] = 1
        if m.positions is False:
            facts["positions"] = 0
        if m.limits:
            facts["limits"] = "attention"
            facts["limit_depth"] = len(m.limit_layers)
            facts["limit_layers"] = " ".join(map(_wire_name, m.limit_layers))
        if m.padding == "fixed" and m.length:
            facts["fixed_length"] = m.length
        return facts

    # ---- requests

    def inputs(self, tensors: Tensors) -> Tuple[Array, Array, Optional[Array]]:
        name = "tokens" if "tokens" in tensors else "values"
        if name not in tensors or "length" not in tensors:
            raise BadRequest("a request without tokens or values, or without length")
        x, length = tensors[name], tensors["length"]
        if x.ndim != (2 if name == "tokens" else 3) or length.shape != x.shape[:1]:
            raise BadRequest(
                f"{name} {x.shape} and length {length.shape}; expected (B,T) or (B,T,F), and (B)"
            )
        if (
            name == "tokens"
            and self.m.vocab
            and x.size
            and not 0 <= int(x.min()) <= int(x.max()) < self.m.vocab
        ):
            raise BadRequest(
                f"tokens from {x.min()} to {x.max()}, the model has a vocabulary of {self.m.vocab}"
            )
        if length.size and (int(length.max()) > x.shape[1] or int(length.min()) < 0):
            raise BadRequest(
                f"lengths from {length.min()} to {length.max()}, the inputs have {x.shape[1]} positions"
            )
        self.requests += 1
        return x, np.maximum(length, 1), tensors.get("keep")

    def forward(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, keep = self.inputs(tensors)
        m = self.model_for(meta)
        if "limit" not in meta:
            return {"logits": m.logits(x, length, keep, tensors.get("place"))}
        try:
            limit = int(meta["limit"])
        except ValueError as e:
            raise BadRequest(f"limit={meta['limit'][:40]}, expected a number of tokens") from e
        with m.limited(limit, self.layer_of(meta.get("layer", ""), m.limit_layers)):
            return {"logits": m.logits(x, length, keep, tensors.get("place"))}

    def logprob(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, _ = self.inputs(tensors)
        target = tensors.get("target")
        if target is None or target.shape != x.shape:
            raise BadRequest(f"a request without targets of shape {x.shape}")
        if target.size and not -1 <= int(target.min()) <= int(target.max()) < (self.m.classes or 0):
            raise BadRequest(
                f"targets from {target.min()} to {target.max()}, expected -1 to {self.m.classes} - 1"
            )
        return {"logprob": self.model_for(meta).logprob(x, length, target)}

    def features(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, keep = self.inputs(tensors)
        if keep is not None and not keep.all():
            raise Unsupported("features with hidden positions")
        return {"features": self.model_for(meta).features(x, length, meta.get("layer", ""))}

    def head(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, _ = self.inputs(tensors)
        features = tensors.get("features")
        if features is None or features.ndim != 3 or features.shape[:2] != x.shape[:2]:
            found = None if features is None else features.shape
            raise BadRequest(f"features {found} for inputs {x.shape}; expected (B,T,D)")
        return {"logits": self.model_for(meta).head(x, length, features)}

    @staticmethod
    def layer_of(wire: str, layers: List[str]) -> str:
        """The name of a layer, of the name that the program has."""
        return next((k for k in layers if _wire_name(k) == wire), wire)

    def vjp(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, _ = self.inputs(tensors)
        position, cotangent = tensors["position"], tensors["cotangent"]
        if position.shape != (len(x),) or cotangent.ndim != 2 or len(cotangent) != len(x):
            raise BadRequest(
                f"position {position.shape} and cotangent {cotangent.shape} for {len(x)} examples"
            )
        return {"grad_sq": self.model_for(meta).vjp(x, length, position, cotangent, meta.get("layer", ""))}

    def kernels(self, meta: Meta, tensors: Tensors) -> Tensors:
        try:
            lags = int(meta.get("lags", "0"))
        except ValueError as e:
            raise BadRequest(f"lags={meta['lags'][:40]}, expected a number") from e
        if self.model_for(meta) is not self.m and not callable(self.m._kernels_request):
            raise Unsupported("kernels of initial weights: kernels= of wrap() is not a function of the model")
        return self.model_for(meta).kernels(meta.get("layer", ""), lags)

    def attn(self, meta: Meta, tensors: Tensors) -> Tensors:
        x, length, _ = self.inputs(tensors)
        a, b = 0, x.shape[1]
        if "rows" in meta:
            try:
                a, b = (int(v) for v in meta["rows"].split(":"))
            except ValueError as e:
                raise BadRequest(f"rows={meta['rows'][:40]}, expected a:b") from e
            if not 0 <= a <= b <= x.shape[1]:
                raise BadRequest(f"rows {a}:{b} of {x.shape[1]} positions")
        layer = self.layer_of(meta.get("layer", ""), self.m.attention_layers)
        maps, allowed = self.model_for(meta).attention_pairs(x, length, layer, (a, b))
        return {"attn": maps} if allowed is None else {"attn": maps, "attn_allowed": allowed}


def serve(
    m: Model,
    channel: Union[None, Channel, socket.socket] = None,
    on_request: Optional[Callable[[Meta], None]] = None,
    initial: Optional[Initial] = None,
) -> int:
    """Answers requests about a wrapped model until ``bye`` or the end of the stream.

    channel: a Channel or a connected socket; default: stdin and stdout, as ``lra-probe audit -- python FILE``
    needs it (prints go to stderr from then on).  The model is in evaluation mode meanwhile.
    initial: a function that returns the model with initial weights, which are measured as well.
    Returns the number of requests that were answered.
    """
    server = Server(m, initial)
    end = Channel.of_socket(channel) if isinstance(channel, socket.socket) else channel or Channel.of_stdio()
    with m.session():
        answer(server.ready, server.operations, end, on_request)
    return server.requests


__all__: List[str] = ["Server", "serve"]
