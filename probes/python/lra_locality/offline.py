"""Audits without a connection to the model: requests and answers are files in a folder (``lra-probe audit --plan``).

    ll.plan(rows, "plan")       # writes plan/request; the first plan asks the model to describe itself
    ll.answer(m, "plan")        # on any machine, without the programs: writes plan/result
    ll.measure("plan")          # the results of the live audit
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import frames, programs
from ._model import Model
from .audit import Audit, AuditError, _data_options, _messages, _run_of
from .frames import BadRequest, FrameError, error_code
from .rows import Rows
from .serve import Initial, Server

OPTIONS = "python.json"  # options of the plan, which measure() repeats


class Plan:
    """State of a plan: numbers of requests, and of those without an answer."""

    def __init__(self, folder: str, text: str, requests: int, missing: int) -> None:
        self.folder, self.text, self.requests, self.missing = folder, text, requests, missing

    @property
    def complete(self) -> bool:
        """Whether every request has an answer."""
        return self.missing == 0

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def _numbered(folder: str, kind: str, k: int) -> Path:
    return Path(folder) / kind / f"{k:06d}.safetensors"


def _run(arguments: Sequence[str], quiet: bool) -> "tuple[List[str], List[str]]":
    done = programs.run(arguments, check=False)
    lines, output = done.stderr.splitlines(), done.stdout.splitlines()
    if done.returncode != 0:
        raise AuditError(_messages(lines) or f"lra-probe ended with status {done.returncode}")
    if not quiet:
        print(done.stderr, file=sys.stderr, end="")
    return lines, output


def plan(
    rows: Optional[Rows],
    folder: str,
    *,
    name: str = "model",
    parts: Union[None, str, Sequence[str]] = None,
    examples: Optional[int] = None,
    seed: Optional[int] = None,
    out: str = "lra-out",
    options: Sequence[str] = (),
) -> Plan:
    """Writes the requests of an audit to ``folder``; None as rows: continues the plan in that folder.

    The first plan is one request, which asks the model to describe itself; the next one has all others, as far as
    they do not depend on answers.  Repeat ``plan(None, folder)`` and ``answer()`` until the plan is complete.
    """
    path = Path(folder) / OPTIONS
    if rows is not None:
        data = Path(folder) / "data"
        data.mkdir(parents=True, exist_ok=True)
        words = [*_data_options(rows, str(data), out), "--name", name, "--out", out]
        for option, value in (
            ("parts", parts if parts is None or isinstance(parts, str) else ",".join(parts)),
            ("examples", examples),
            ("seed", seed),
        ):
            words += [] if value is None else [f"--{option}", str(value)]
        path.write_text(json.dumps([*words, *options]), encoding="utf-8")
    output = _run(["audit", *_options(folder), "--plan", os.fspath(folder)], True)[1]
    numbers = [int(w.strip(",")) for w in output[0].replace(":", " ").split() if w.strip(",").isdigit()]
    return Plan(os.fspath(folder), "\n".join(output), numbers[0], numbers[1])


def _options(folder: str) -> List[str]:
    path = Path(folder) / OPTIONS
    if not path.is_file():
        raise AuditError(f"there is no '{path}': pass rows, plan(rows, {os.fspath(folder)!r})")
    return [str(w) for w in json.loads(path.read_text(encoding="utf-8"))]


def measure(folder: str, *, quiet: bool = False) -> Audit:
    """Measures with the answers in the folder: the results of the live audit.

    Parts whose requests have no answer are left out, and named in ``messages``.  Raises AuditError.
    """
    words = _options(folder)
    lines, output = _run(["audit", *words, "--results", os.fspath(folder)], quiet)
    return Audit(_run_of(output, lines), words[words.index("--out") + 1], None, lines)


def answer(
    m: Model,
    plan: str,
    results: Optional[str] = None,
    *,
    initial: Optional[Initial] = None,
    on_request: Optional[Callable[[int, int], None]] = None,
) -> int:
    """Answers the requests of a plan that have no answer; returns the number of new answers.

    plan:       a folder that ``plan()`` or ``lra-probe audit --plan`` wrote.
    results:    folder of the answers; default: ``result`` in the folder of the plan, from which ``measure()`` reads them.
    initial:    function that returns the model with initial weights, as in ``audit()``.
    on_request: called with the number of a request and the number of all requests.

    An interrupted call continues: existing answers are kept.  A batch that does not fit into memory is divided.
    Needs no program.  Raises FrameError for a damaged request, AuditError if the model fails or has other weights
    than those of the earlier answers.
    """
    to = Path(results) if results is not None else Path(plan) / "result"
    to.mkdir(parents=True, exist_ok=True)
    numbers = sorted(int(f.stem) for f in (Path(plan) / "request").glob("*.safetensors") if f.stem.isdigit())
    if not numbers or numbers[0] != 1:
        raise AuditError(f"'{plan}/request' has no request 000001.safetensors; plan() writes it")
    server = Server(m, initial)
    made = 0
    with m.session():
        hello, _ = frames.load(_numbered(plan, "request", 1))
        ready = _ready(server, hello)
        first = to / "000001.safetensors"
        if first.is_file():
            _compare(first, ready)
        else:
            frames.save(first, {}, ready)
            made += 1
        ops = server.operations()
        for k in numbers[1:]:
            file = to / f"{k:06d}.safetensors"
            if file.is_file():
                continue
            if on_request:
                on_request(k, numbers[-1])
            meta, tensors = frames.load(_numbered(plan, "request", k))
            result = _result(ops, meta, tensors, k)
            weights = {"weights": ready["weights"]} if ready.get("weights") else {}
            tag = {"id": k, "plan": meta.get("plan", ""), **weights}
            frames.save(file, result[1], {**tag, **result[0]})
            made += 1
    return made


def _ready(server: Server, hello: frames.Meta) -> Dict[str, str]:
    try:
        facts = server.ready(hello)
    except BadRequest as e:
        raise AuditError(str(e)) from e
    known = {"op": "ready", "id": hello["id"], "protocol": "1", "plan": hello.get("plan", "")}
    return {k: str(v) for k, v in {**known, **facts}.items()}


def _compare(file: Path, ready: Dict[str, str]) -> None:
    """Fails if the model is not the one of an earlier answer."""
    stored, _ = frames.load(file)
    for key in ("model", "framework", "weights", "classes"):
        if stored.get(key, "") != ready.get(key, ""):
            raise AuditError(
                f"'{file}' has {key} {stored.get(key, '')!r}, and this model has {ready.get(key, '')!r}: "
                "answer with the same model, or make a plan in another folder"
            )


def _result(
    ops: Dict[str, frames.Op], meta: frames.Meta, tensors: frames.Tensors, k: int
) -> "tuple[Dict[str, Any], Dict[str, Any]]":
    if meta["op"] not in ops:
        text = f"the model does not answer '{meta['op']}'"
        return {"op": "error", "code": "unsupported", "text": text}, {}
    n = len(tensors.get("length", ()))
    while True:
        try:
            return {"op": "result"}, _in_pieces(ops[meta["op"]], meta, tensors, n)
        except Exception as e:
            code = error_code(e)
            if code == "out_of_memory" and n > 1:
                n //= 2
                continue
            if code != "unsupported":
                raise AuditError(f"request {k} ('{meta['op']}'): {type(e).__name__}: {e}") from e
            return {"op": "error", "code": code, "text": str(e)[:4000]}, {}


def _in_pieces(op: frames.Op, meta: frames.Meta, tensors: frames.Tensors, n: int) -> Dict[str, Any]:
    """The answer to a request, computed for n examples at a time."""
    import numpy as np

    B = len(tensors.get("length", ()))
    if n >= B:
        return dict(op(meta, tensors))
    parts = [op(meta, {k: v[a : a + n] for k, v in tensors.items()}) for a in range(0, B, n)]
    return {k: np.concatenate([p[k] for p in parts]) for k in parts[0]}


__all__ = ["FrameError", "Plan", "answer", "measure", "plan"]
