"""``compare()``: fitted or audited models in one table and figure with the built-in ones, of which reference results ship."""

from __future__ import annotations

import glob
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import programs
from ._model import nearest
from .audit import Audit
from .fit import Run
from .results import Record, Table

REFERENCE = Path(__file__).resolve().parent / "reference.json"
Compared = Union[str, "os.PathLike[str]", Run, Audit, Sequence[Any]]


class CompareError(ValueError):
    """Raised if there is nothing to compare: no result, or results on different data."""


def reference(path: Union[None, str, "os.PathLike[str]"] = None) -> List[Record]:
    """The reference results of the built-in models: rows of table 'locality' by task, preset and data."""
    with open(path or REFERENCE, encoding="utf-8") as f:
        return list(json.load(f)["tables"][0]["rows"])


class Comparison:
    """The table 'locality' of several models on the same data, the most local ones first within each mask."""

    def __init__(
        self, folders: Sequence[str], out: str, rows: List[Record], made: str, notes: List[str]
    ) -> None:
        self.folders, self.notes = list(folders), notes
        self._out = out
        document = {"schema": 1, "made": made, "tables": [{"title": "Reference results", "rows": rows}]}
        self._reference = json.dumps(document)
        self._options: List[str] = []
        self._table = self._made()

    def _made(self) -> Dict[str, str]:
        """The table in every format, made once."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.json")
            with open(path, "w", encoding="utf-8") as f:
                f.write(self._reference)
            table = Table(
                "locality", self.folders, os.path.join(folder, "out"), ["--reference-results", path]
            )
            self.verdict = table.verdict
            made = {"csv": table.csv(), "markdown": table.markdown(), "latex": table.latex()}
            columns = "model,seeds,value,value_lo,chance,mask,dist_mean_rel,dist_mean_rel_lo,dist_q95,self"
            short = Table(
                "locality",
                self.folders,
                os.path.join(folder, "out"),
                ["--reference-results", path, "--columns", columns],
            )
            made["text"] = str(short)
            made["json"] = json.dumps(table.document)
            return made

    def records(self) -> List[Record]:
        """One dictionary per model: task, seeds, value with its interval, chance, distances; None where not measured."""
        return list(json.loads(self._table["json"])["tables"][0]["rows"])

    def frame(self) -> Any:
        """A pandas DataFrame of ``records()``."""
        try:
            import pandas
        except ImportError as e:
            raise ImportError("frame() needs pandas (pip install pandas); records() does not") from e
        return pandas.DataFrame.from_records(self.records())

    def csv(self) -> str:
        return self._table["csv"]

    def markdown(self) -> str:
        return self._table["markdown"]

    def latex(self) -> str:
        return self._table["latex"]

    def figure(self, path: str) -> str:
        """Draws distance and accuracy of all rows into a .pdf, .svg or .png file; needs gnuplot.  Returns its path."""
        suffix = os.path.splitext(path)[1].lstrip(".").lower()
        if suffix not in ("pdf", "svg", "png"):
            raise ValueError(f"'{path}': expected a name that ends with .pdf, .svg or .png")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "reference.json")
            with open(file, "w", encoding="utf-8") as f:
                f.write(self._reference)
            words = [
                "figures",
                *self.folders,
                "--figure",
                "locality",
                "--reference-results",
                file,
                "--format",
                suffix,
            ]
            programs.run([*words, "--out", folder, "--quiet"], "lra-report")
            made = glob.glob(os.path.join(folder, "figures", f"*.{suffix}"))
            if not made:
                raise programs.ProgramError("lra-report made no figure 'locality'")
            shutil.copyfile(sorted(made)[0], path)
        return path

    def __str__(self) -> str:
        return self._table["text"].rstrip("\n") + "".join(f"\n{note}" for note in self.notes)

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown() + "".join(f"\n\n{note}" for note in self.notes)


def compare(
    results: Compared,
    *models: str,
    out: Optional[str] = None,
    reference_file: Union[None, str, "os.PathLike[str]"] = None,
) -> Comparison:
    """Results of ``fit()`` or ``audit()``, or folders of runs, together with built-in models on the same data.

    models: built-in models, such as "resconv", "transformer".  A run of such a model below `out` on the same data and
            preset is used if there is one; otherwise the reference result that ships with the package.  A model with
            neither is named with the command that trains it.
    out:    folder of results (default: that of the given results).
    """
    folders, found_out = _folders(results)
    if not folders:
        raise CompareError("no results to compare; fit(), audit() or 'lra-probe train' make them")
    out = out or found_out or "lra-out"
    identity = _identity(folders)
    task, preset, data = identity
    for model in models:
        _check_name(model)
    shipped = reference(reference_file)
    known = {r["model"].split(" ")[0]: r for r in shipped if r["data"] == data}
    other = sorted({r["preset"] for r in shipped if r["task"] == task} if not known else ())
    rows: List[Record] = []
    notes: List[str] = []
    for model in models:
        local = _local(out, task, preset, data, model)
        if local:
            folders += [f for f in local if f not in folders]
            notes.append(f"{model}: {len(local)} run{'s' if len(local) > 1 else ''} below {out}")
        elif model in known:
            rows.append(known[model])
        else:
            notes.append(_missing(task, preset, model, other))
    made = ""
    if rows:
        with open(reference_file or REFERENCE, encoding="utf-8") as f:
            made = str(json.load(f).get("made", ""))
        notes.append(_provenance(rows, made))
    return Comparison(folders, out, rows, made, notes)


def _provenance(rows: Sequence[Record], made: str) -> str:
    seeds = sorted({int(r["seeds"]) for r in rows})
    names = ", ".join(r["model"] for r in rows)
    return (
        f"reference results ({names}): preset {rows[0]['preset']}, precision {rows[0]['precision']}, "
        f"{'/'.join(map(str, seeds))} seeds; {made}"
    )


def _missing(task: str, preset: str, model: str, other: Sequence[str]) -> str:
    why = (
        f" (there are some on other data: {task}, preset {', '.join(other)}, unchanged settings)"
        if other
        else ""
    )
    source = "file --data-dir PATH" if task.startswith("file") else f"{task} --preset {preset}"
    return (
        f"no reference result for '{model}' on these data of {task}{why}; run this command for each seed: "
        f"lra-probe train --task {source} --model {model} --seed 0, then lra-probe influence RUN"
    )


def _check_name(model: str) -> None:
    names = [m["name"] for m in json.loads(programs.run(["list", "models", "--json"]).stdout)["models"]]
    if model not in names:
        raise CompareError(f"'{model}' is no built-in model{nearest(model, names)}")


def _folders(results: Compared) -> Tuple[List[str], Optional[str]]:
    """Folders of runs, and the folder of results that contains the first one."""
    if isinstance(results, Run):
        return [results.folder], results.out
    if isinstance(results, Audit):
        return list(results.runs), results.out
    if isinstance(results, (str, os.PathLike)):
        path = os.fspath(results)
        parent = os.path.dirname(os.path.abspath(path))
        return [path], os.path.dirname(parent) if os.path.basename(parent) == "runs" else None
    folders: List[str] = []
    out: Optional[str] = None
    for item in results:
        more, found = _folders(item)
        folders += more
        out = out or found
    return folders, out


def _shown(files: Sequence[str]) -> List[Record]:
    """Attributes of result files."""
    if not files:
        return []
    return list(json.loads(programs.run(["show", "--json", *files], "lra-report").stdout)["results"])


def _identity(folders: Sequence[str]) -> Tuple[str, str, str]:
    """Task, preset and data that all runs share.  An audit has the preset "audit"."""
    files = [os.path.join(f, "result.h5") for f in folders]
    for file in files:
        if not os.path.exists(file):
            raise CompareError(f"'{os.path.dirname(file)}' has no result.h5: the run is not finished")
    shown = _shown(files)
    data = {r["fingerprint"] for r in shown}
    if len(data) > 1:
        raise CompareError(f"results on different data cannot be compared: {', '.join(sorted(data))}")
    preset = next((r["preset"] for r in shown if r["preset"] != "audit"), "quick")
    return str(shown[0]["task"]), str(preset), data.pop()


def _local(out: str, task: str, preset: str, data: str, model: str) -> List[str]:
    """Folders of runs of a built-in model on the same data and preset."""
    pattern = os.path.join(glob.escape(out), "runs", f"*-{glob.escape(model)}-*", "result.h5")
    files = sorted(glob.glob(pattern))
    return [
        os.path.dirname(file)
        for file, r in zip(files, _shown(files))
        if r["model"] == model and r["fingerprint"] == data and r["preset"] == preset
    ]
