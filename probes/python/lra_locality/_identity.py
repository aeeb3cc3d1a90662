"""Identity of a torch model: hashes of the source text of its classes, and of its settings."""

from __future__ import annotations

import hashlib
import inspect
import textwrap
import types
from typing import Any, Dict, List, Set

FRAMEWORKS = ("torch", "transformers", "numpy", "builtins", "einops")


def _hash(lines: List[str]) -> str:
    return hashlib.blake2b("\n".join(lines).encode(), digest_size=8).hexdigest()


def _is_foreign(obj: Any) -> bool:
    return (getattr(obj, "__module__", None) or "").split(".")[0] in FRAMEWORKS


def _code_text(code: types.CodeType) -> str:
    """Bytecode and constants, for functions without a source file."""
    constants = [_code_text(c) if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts]
    return " ".join([code.co_code.hex(), *code.co_names, *constants])


def _text(obj: Any) -> str:
    """Source text of a class or function; for those typed into an interpreter their bytecode."""
    try:
        return textwrap.dedent(inspect.getsource(obj))
    except (OSError, TypeError):
        if isinstance(obj, type):
            return "\n".join(
                f"{k} {_text(v)}" for k, v in sorted(vars(obj).items()) if isinstance(v, types.FunctionType)
            )
        return _code_text(obj.__code__)


def _used(obj: Any) -> List[Any]:
    """Functions and classes of the same module that a class or function calls by their global names."""
    functions = (
        [v for v in vars(obj).values() if isinstance(v, types.FunctionType)]
        if isinstance(obj, type)
        else [obj]
    )
    out: List[Any] = [b for b in obj.__bases__ if not _is_foreign(b)] if isinstance(obj, type) else []
    for f in functions:
        codes = [f.__code__]
        while codes:
            code = codes.pop()
            codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
            for name in code.co_names:
                value = f.__globals__.get(name)
                if isinstance(value, (type, types.FunctionType)) and value.__module__ == obj.__module__:
                    out.append(value)
    return out


def source_of(model: Any) -> str:
    """Hash of the source text of the model's classes and of the functions that they call, 16 hex digits."""
    waiting = [type(m) for m in model.modules() if not _is_foreign(type(m))]
    seen: Set[Any] = set()
    texts: Dict[str, str] = {}
    while waiting:
        obj = waiting.pop()
        if obj in seen or _is_foreign(obj):
            continue
        seen.add(obj)
        texts[f"{obj.__module__}.{obj.__qualname__}"] = _text(obj)
        waiting += _used(obj)
    return _hash([f"{k.rpartition('.')[2]}\n{v}" for k, v in sorted(texts.items())])


def _is_setting(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_is_setting(v) for v in value)
    return value is None or isinstance(value, (bool, int, float, str))


def settings_of(model: Any) -> str:
    """Hash of the classes and attributes of all modules, and of names, shapes and types of all parameters."""
    lines: List[str] = []
    for name, module in model.named_modules():
        own = {
            k: v
            for k, v in vars(module).items()
            if not k.startswith("_") and k != "training" and _is_setting(v)
        }
        lines.append(f"{name} {type(module).__name__} {sorted(own.items())}")
    for name, p in [*model.named_parameters(), *model.named_buffers()]:
        lines.append(f"{name} {tuple(p.shape)} {p.dtype} {p.requires_grad}")
    return _hash(lines)
