"""Tables, figures and pages of result files, made by ``lra-report``."""

from __future__ import annotations

import html as _html
import json
import os
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Union

from . import programs

Record = Dict[str, Any]


class Table:
    """One table of lra-report, for the given result files or folders of runs."""

    def __init__(self, name: str, results: Sequence[str], out: str, options: Sequence[str] = ()) -> None:
        self.name = name
        self._arguments = ["tables", *results, "--table", name, "--out", out, "--quiet", *options]
        self._document = json.loads(self._made("json"))

    def _made(self, form: str) -> str:
        return programs.run([*self._arguments, "--format", form], "lra-report").stdout

    @property
    def document(self) -> Record:
        """The table as ``lra-report tables --format json`` writes it: title, verdict, facts, rows, notes."""
        return dict(self._document)

    @property
    def title(self) -> str:
        return str(self._document["tables"][0]["title"])

    @property
    def verdict(self) -> List[str]:
        """The sentences that state the result, its null value and the caveats."""
        out: List[str] = []
        for table in self._document["tables"]:
            parts = table.get("verdicts") or [{"verdict": table.get("verdict", [])}]
            for part in parts:
                out += part["verdict"]
        return out

    def records(self) -> List[Record]:
        """One dictionary per row, numbers as numbers, None where there is none."""
        return [row for table in self._document["tables"] for row in table["rows"]]

    def frame(self) -> Any:
        """A pandas DataFrame of ``records()``."""
        try:
            import pandas
        except ImportError as e:
            raise ImportError("frame() needs pandas (pip install pandas); records() does not") from e
        return pandas.DataFrame.from_records(self.records())

    def csv(self) -> str:
        return self._made("csv")

    def markdown(self) -> str:
        return self._made("markdown")

    def latex(self) -> str:
        return self._made("latex")

    def html(self) -> str:
        """The table with its verdict and notes as a fragment of a page, ``<table>`` and ``<p>``."""
        return self._made("html")

    def __str__(self) -> str:
        return self._made("text")

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown()


class Figure:
    """One figure of lra-report (needs gnuplot): ``save()`` writes it, a notebook shows it."""

    def __init__(self, name: str, results: Sequence[str], out: str) -> None:
        self.name, self._results, self._out = name, list(results), out

    def save(self, path: Union[str, "os.PathLike[str]"]) -> str:
        """Writes a .pdf, .svg or .png file.  Returns its path."""
        return figure(self.name, os.fspath(path), self._results, self._out)

    def svg(self) -> str:
        """The figure as text of an SVG file."""
        with tempfile.TemporaryDirectory() as folder:
            with open(self.save(os.path.join(folder, "figure.svg")), encoding="utf-8") as f:
                return f.read()

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<figure {self.name} of {', '.join(self._results) or self._out}: .save('{self.name}.pdf')>"


def table(
    name: str, results: Union[None, str, Sequence[str]] = None, out: str = "lra-out", **options: Any
) -> Table:
    """A table of ``lra-report list``, of all results below `out` or of the given ones.

    options: those of ``lra-report tables``, such as task="listops".
    """
    given = [results] if isinstance(results, (str, os.PathLike)) else list(results or [])
    words: List[str] = []
    for key, value in options.items():
        words += [f"--{key.replace('_', '-')}"] + ([] if value is True else [str(value)])
    return Table(name, [os.fspath(r) for r in given], out, words)


def figure(
    name: str, path: str, results: Union[None, str, Sequence[str]] = None, out: str = "lra-out"
) -> str:
    """Draws a figure of ``lra-report list`` (needs gnuplot) and copies it to a .pdf, .svg or .png file.  Returns its path."""
    suffix = os.path.splitext(path)[1].lstrip(".").lower()
    if suffix not in ("pdf", "svg", "png"):
        raise ValueError(f"'{path}': expected a name that ends with .pdf, .svg or .png")
    given = [results] if isinstance(results, (str, os.PathLike)) else list(results or [])
    if not given:
        given = [out]
    with tempfile.TemporaryDirectory() as folder:
        programs.run(
            [
                "figures",
                *map(os.fspath, given),
                "--figure",
                name,
                "--format",
                suffix,
                "--out",
                folder,
                "--quiet",
            ],
            "lra-report",
        )
        made = [
            os.path.join(d, f) for d, _, files in os.walk(folder) for f in files if f.endswith("." + suffix)
        ]
        if not made:
            raise programs.ProgramError(f"lra-report made no figure '{name}'")
        shutil.copyfile(sorted(made)[0], path)
    return path


def html(
    path: Union[str, "os.PathLike[str]"] = "report.html",
    results: Union[None, str, Sequence[str]] = None,
    out: str = "lra-out",
    force: bool = False,
) -> str:
    """Writes everything that is known about runs as one page: verdict, tables, figures, methods and caveats.

    results: result files or folders of runs; default: all of folder `out`.
    force:   replace `path` also if it exists and is no such page.   Returns `path`.
    """
    given = [results] if isinstance(results, (str, os.PathLike)) else list(results or [])
    path = os.fspath(path)
    arguments = ["html", *map(os.fspath, given), f"--results={out}", f"--out={path}", "--quiet"]
    programs.run(arguments + (["--force"] if force else []), "lra-report")
    return path


def page(results: Sequence[str], out: str = "lra-out") -> str:
    """The page of ``html()`` as text."""
    with tempfile.TemporaryDirectory() as folder:
        with open(html(os.path.join(folder, "page.html"), results, out), encoding="utf-8") as f:
            return f.read()


def embedded(text: str) -> str:
    """A page inside another one, such as a notebook: its style does not change the rest of the notebook."""
    return (
        '<iframe sandbox="allow-same-origin allow-top-navigation-by-user-activation" title="lra-locality report" '
        'style="width:100%;height:85vh;min-height:30rem;border:1px solid #ccc;border-radius:4px" '
        f'srcdoc="{_html.escape(text)}"></iframe>'
    )


def measurement(records: Sequence[Record], part: str, id: str) -> Optional[Record]:
    """The first record of a part and a measurement; None if there is none."""
    return next((r for r in records if r.get("part") == part and r.get("id") == id), None)
