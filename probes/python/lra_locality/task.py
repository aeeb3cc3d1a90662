"""``task()``: the data of a built-in task, with the rows, order and lengths of the C program."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Dict, List, Optional

import numpy as np

from . import frames, programs
from ._model import Array
from .rows import SPLITS, Rows


def task(
    name: str,
    preset: str = "quick",
    *,
    data_dir: Optional[str] = None,
    out: str = "lra-out",
    **parameters: Any,
) -> Rows:
    """Rows of a task of ``lra-probe list tasks``.

    preset:     quick, small or paper.     data_dir: folder of official files, for tasks that are imported.
    out:        folder where prepared data are kept; ``audit()`` takes the same one.
    parameters: those of ``lra-probe list parameters``; an underscore stands for "-".

    Images and other real inputs are ``values`` (n,F) as the models of the C program receive them.
    Rows of pairs of documents hold both, one after the other, and ``middle`` (n), the length of the first one.
    Raises ProgramError with the message of the program.
    """
    settings: List[str] = []
    for key, value in parameters.items():
        settings += ["--set", f"{key.replace('_', '-')}={int(value) if isinstance(value, bool) else value}"]
    source = ["--data-dir", data_dir] if data_dir is not None else ["--preset", preset]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.safetensors")
        programs.run(["data", name, *source, *settings, "--out", out, "--arrays", path, "--quiet"])
        meta, arrays = frames.load(path)
    rows = _rows(name, meta, arrays)
    rows.task = [
        "--task",
        name,
        *(["--data-dir", data_dir] if data_dir is not None else ["--preset", preset]),
        *settings,
    ]
    rows.meta = meta
    return rows


def _rows(name: str, meta: frames.Meta, arrays: Dict[str, Array]) -> Rows:
    goal = meta["goal"]
    kind = "values" if int(meta["channels"]) else "tokens"
    x: List[Array] = []
    answers: List[Array] = []
    middle: List[Array] = []
    split: List[Array] = []
    for s, part in enumerate(SPLITS):
        if f"{part}/start" not in arrays:
            continue
        start, flat = arrays[f"{part}/start"], arrays[f"{part}/{kind}"]
        pieces = [np.array(flat[a:b]) for a, b in zip(start[:-1], start[1:])]
        if goal == "steps":
            answers += [np.array(arrays[f"{part}/target"][a:b]) for a, b in zip(start[:-1], start[1:])]
        elif goal == "value":
            answers.append(np.array(arrays[f"{part}/target"]))
        elif goal in ("class", "pair"):
            answers.append(np.array(arrays[f"{part}/label"], np.int64))
        if goal == "pair":
            middle.append(np.array(arrays[f"{part}/middle"], np.int64))
        x += pieces
        split.append(np.full(len(pieces), s))
    label = np.concatenate(answers) if goal in ("class", "pair", "value") else None
    if label is not None and label.ndim == 2 and label.shape[1] == 1:
        label = label[:, 0]
    names = [str(k) for k in range(int(meta["classes"]))] if goal in ("class", "pair") else None
    made = Rows(
        name,
        kind,
        x,
        label,
        np.concatenate(split),
        vocab=int(meta["vocab"]) if kind == "tokens" else 0,
        goal={"pair": "class", "class": "class", "value": "value"}.get(goal, ""),
        label_names=names,
        notes=[f"fingerprint {meta['fingerprint']}"],
    )
    made.length = int(meta["length"])
    if goal == "steps":
        made.targets = answers
    if goal == "pair":
        made.middle = np.concatenate(middle)
        made.notes.append("pairs of documents: x holds both, middle the length of the first one")
    return made
