"""``audit()``: the C program measures a wrapped model, which stays in this process and answers its requests."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import programs
from ._model import Model
from .check import CheckTable, check as check_model
from .frames import BadRequest, Channel, FrameError
from .results import Figure, Record, Table, embedded, html as write_page, page
from .rows import Rows
from .serve import fresh_model, serve

STOP_SECONDS = 15  # between a signal to the child and SIGKILL


class AuditError(RuntimeError):
    """Raised if the audit is not completed: a check failed, or the program ended with this message."""


class _Child:
    """lra-probe as a child, and the connection to it; its messages are passed on and kept.

    lra-probe starts ``_relay.py`` as the external program, which connects to a socket in a private folder.
    """

    def __init__(self, arguments: Sequence[str], folder: str, quiet: bool) -> None:
        path, name = programs.command("lra-probe")
        self.lines: List[str] = []
        self.output: List[str] = []
        at = os.path.join(folder, "model")
        relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_relay.py")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(at)
            listener.listen(1)
            try:
                self.process = subprocess.Popen(
                    [name, *arguments, "--", sys.executable, "-I", "-S", relay, at],
                    executable=path,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    start_new_session=True,
                )
            except OSError as e:
                raise programs.explain_exec(path, e) from e
            self._threads = [
                threading.Thread(target=self._read, args=args, daemon=True)
                for args in (
                    (self.process.stderr, self.lines, not quiet),
                    (self.process.stdout, self.output, False),
                )
            ]
            for t in self._threads:
                t.start()
            self.channel: Optional[Channel] = None
            try:
                self.channel = self._accept(listener)
            except BaseException:
                self.stop()
                raise

    def _accept(self, listener: socket.socket) -> Optional[Channel]:
        """The connection; None if the program has ended without connecting to the model."""
        listener.settimeout(0.05)
        while True:
            try:
                return Channel.of_socket(listener.accept()[0])
            except socket.timeout:
                if self.process.poll() is not None:
                    return None

    def _read(self, stream: Any, to: List[str], show: bool) -> None:
        for raw in stream:
            line = raw.decode("utf-8", "replace").rstrip("\n")
            to.append(line)
            if show:
                print(line, file=sys.stderr)
        stream.close()

    def wait(self) -> int:
        code = self.process.wait()
        for t in self._threads:
            t.join()
        return code

    def stop(self) -> None:
        """Ends the child: sends a signal, after which it saves its results, then SIGKILL; leaves no process."""
        if self.channel is not None:
            self.channel.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.wait()


def _messages(lines: Sequence[str]) -> str:
    text = [line for line in lines if line.startswith("lra-probe:")] or list(lines)[-3:]
    return "\n".join(text)


class Audit:
    """Results of an audit: numbers, tables, figures and files.  ``print(audit)`` shows the table, a notebook the page.

    runs: folders of the results, one per model.  null, initial: audits of the null model and of models with
    initial weights, where they were asked for.
    """

    def __init__(
        self,
        run: Union[str, Sequence[str]],
        out: str,
        checks: Optional[CheckTable],
        messages: Sequence[str],
    ) -> None:
        self.runs = [run] if isinstance(run, str) else list(run)
        self.run, self.out, self.checks, self.messages = self.runs[0], out, checks, list(messages)
        self.null: Optional[Audit] = None
        self.initial: Optional[Audit] = None

    def table(self, name: str = "influence") -> Table:
        """A table of lra-report about this audit: records(), frame(), markdown(), latex(), csv()."""
        return Table(name, self.runs, self.out)

    def figure(self, name: str = "jacobian") -> Figure:
        """A figure of ``lra-report list`` about this audit, such as "jacobian", "inputs", "erf" (needs gnuplot)."""
        return Figure(name, self.runs, self.out)

    def html(self, path: Union[str, "os.PathLike[str]"] = "report.html", force: bool = False) -> str:
        """Writes one page that needs no other file: verdict, tables, figures, methods and caveats.  Returns its path."""
        return write_page(path, self.runs, self.out, force)

    def _repr_html_(self) -> str:
        return embedded(page(self.runs, self.out))

    def records(self) -> List[Record]:
        """One dictionary per measurement: part, layer, head, id, value, lo, hi, unit, null values, examples, flags."""
        return self.table().records()

    def frame(self) -> Any:
        """The same as a pandas DataFrame."""
        return self.table().frame()

    def values(self, part: str, id: str) -> List[Optional[float]]:
        """One measurement of each model, such as ("jacobian", "dist.mean"); None: not measured."""
        found = {str(r["run"]): r for r in reversed(self.records()) if r["part"] == part and r["id"] == id}
        records = [next((r for run, r in found.items() if path.endswith(run)), None) for path in self.runs]
        return [None if r is None or r["value"] is None else float(r["value"]) for r in records]

    def value(self, part: str, id: str) -> Optional[float]:
        """One measurement, such as ("jacobian", "dist.mean"): the mean over models; None: not measured."""
        known = [v for v in self.values(part, id) if v is not None]
        return sum(known) / len(known) if known else None

    def interval(self, part: str, id: str) -> Optional[Tuple[float, float]]:
        """95 % interval of that mean over seeds (Student t, S - 1 degrees of freedom); of one model: over examples."""
        known = [v for v in self.values(part, id) if v is not None]
        if len(known) > 1:
            mean = sum(known) / len(known)
            deviation = math.sqrt(sum((v - mean) ** 2 for v in known) / (len(known) - 1))
            half = student_t(len(known) - 1) * deviation / math.sqrt(len(known))
            return mean - half, mean + half
        record = next((r for r in self.records() if r["part"] == part and r["id"] == id), None)
        if record is None or record["lo"] is None or record["hi"] is None:
            return None
        return float(record["lo"]), float(record["hi"])

    @property
    def verdict(self) -> List[str]:
        return self.table().verdict

    def compare(self, *models: str, **options: Any) -> Any:
        """Compares the model with built-in models on the same data: ``ll.compare(audit, "resconv", "transformer")``."""
        from .compare import compare

        return compare(self, *models, **options)

    def __str__(self) -> str:
        return str(self.table())

    __repr__ = __str__


def student_t(freedom: int) -> float:
    """97.5 % quantile of Student's t distribution, by bisection of its distribution function."""

    def above(t: float) -> float:
        """P(T > t): integral over the angle whose tangent is t / sqrt(freedom) (Simpson's rule)."""
        start, n = math.atan(t / math.sqrt(freedom)), 2000
        step = (math.pi / 2 - start) / n
        inner = [math.cos(start + k * step) ** (freedom - 1) for k in range(n + 1)]
        area = step / 3 * (inner[0] + inner[n] + 4 * sum(inner[1:n:2]) + 2 * sum(inner[2:n:2]))
        scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
        return scale * area

    lo, hi = 0.0, 1000.0
    for _ in range(60):
        middle = (lo + hi) / 2
        lo, hi = (middle, hi) if above(middle) > 0.025 else (lo, middle)
    return lo


def audit(
    m: Union[None, Model, Sequence[Model]],
    rows: Rows,
    *,
    name: Optional[str] = None,
    parts: Union[None, str, Sequence[str]] = None,
    examples: Optional[int] = None,
    budget: Union[None, str, int] = None,
    seed: Optional[int] = None,
    out: str = "lra-out",
    initial: Optional[Callable[..., Any]] = None,
    draws: int = 1,
    null: Optional[Model] = None,
    record: Optional[str] = None,
    replay: Optional[str] = None,
    check: bool = True,
    options: Sequence[str] = (),
    quiet: bool = False,
) -> Audit:
    """Measures how local a wrapped model is on rows.

    m:        a model of ``wrap()``, or a list: seeds of one architecture, with intervals over seeds.
    name:     of the model in tables (default: its class).
    parts:    measurements, such as ["keep", "jacobian"]; default: all that the model offers.  Of a causal language
              model: "context" (loss by context length, and key tokens), "loss" (by position), "retrieval".
    examples: test examples per part.   budget: longest time in all, such as "10 min", or a number of passes.
    seed:     number of the model's seed; of a list: of its first model.
    out:      folder of results.
    initial:  function that returns the model with initial weights, ``lambda: Net()``: the weights at initialisation
              are measured beside the trained ones.  draws: number of such models; more than one are also audited
              by themselves, as NAME.initial with seeds 0, 1, ... (``Audit.initial``).
    null:     a model to compare with, such as one trained on permuted labels: audited as NAME.null (``Audit.null``).
    record:   file that keeps all requests and answers.   replay: such a file, which answers instead of m (None).
    check:    try the model first, and stop if a failed check makes every number meaningless.
    options:  further options of ``lra-probe audit``.

    The program is a child of this process and is gone when this function returns, also after an exception or
    KeyboardInterrupt; the measurements made until then are kept, and the next call continues.
    """
    models = list(m) if isinstance(m, (list, tuple)) else [m]
    if any(x is not None and not isinstance(x, Model) for x in models) or not models:
        raise TypeError("audit() takes models of wrap(): audit(wrap(model), rows), or a list of them")
    if (models[0] is None) != (replay is not None) or (None in models and len(models) > 1):
        raise ValueError("replay= takes the place of the model: audit(None, rows, replay=FILE)")
    if record is not None and len(models) > 1:
        raise ValueError("record= keeps one audit; pass one model")
    if draws < 1 or (draws > 1 and initial is None):
        raise ValueError(f"draws={draws}, expected at least 1, and initial= for more")
    first = seed or 0
    base = name or (models[0].name if models[0] is not None else "replay")
    jobs: List[Tuple[str, Optional[Model], int]] = [(base, x, first + k) for k, x in enumerate(models)]
    if initial is not None and draws > 1 and models[0] is not None:
        jobs += [(f"{base}.initial", fresh_model(models[0], initial, k), k) for k in range(draws)]
    if null is not None:
        jobs.append((f"{base}.null", null, first))
    made = []
    for title, x, k in jobs:
        one = _Job(title, x, k, parts, examples, out, record, replay, check, options, quiet)
        one.initial = initial if title == base else None
        made.append(one.run(rows, _share(budget, len(jobs))))
    return _collect(made, len(models), len(jobs) - len(models) - (null is not None))


def _collect(made: List[Audit], n_models: int, n_initial: int) -> Audit:
    def joined(part: List[Audit]) -> Audit:
        messages = [line for a in part for line in a.messages]
        return Audit([r for a in part for r in a.runs], part[0].out, part[0].checks, messages)

    result = joined(made[:n_models])
    if n_initial:
        result.initial = joined(made[n_models : n_models + n_initial])
    if len(made) > n_models + n_initial:
        result.null = made[-1]
    return result


def _share(budget: Union[None, str, int], n: int) -> Union[None, float, int]:
    """The budget of one of n audits: seconds (float) or passes (int)."""
    if budget is None:
        return None
    return max(1, budget // n) if isinstance(budget, int) else _seconds(budget) / n


def _part_names(parts: Union[None, str, Sequence[str]], m: Optional[Model]) -> Optional[str]:
    """Names of lra-probe, separated by commas; short names of the parts for language models."""
    if parts is None:
        return None
    names = [p.strip() for p in parts.split(",")] if isinstance(parts, str) else list(parts)
    language = m is not None and m.next_token
    short = {"context": "context-curve", "key": "context-curve", "loss": "token-loss"} if language else {}
    return ",".join(dict.fromkeys(short.get(p, p) for p in names))


def _seconds(budget: str) -> float:
    number, _, unit = budget.strip().partition(" ")
    scale = {"s": 1, "sec": 1, "min": 60, "h": 3600}.get(unit.rstrip("s") or "s")
    try:
        seconds = float(number) * (scale or 0)
    except ValueError:
        seconds = 0
    if not seconds > 0:
        raise ValueError(
            f"budget={budget!r}, expected a time such as '30 s', '10 min' or '2 h', or a number of passes"
        )
    return seconds


@dataclasses.dataclass
class _Job:
    """One audit of one model."""

    name: str
    m: Optional[Model]
    seed: int
    parts: Union[None, str, Sequence[str]]
    examples: Optional[int]
    out: str
    record: Optional[str]
    replay: Optional[str]
    check: bool
    options: Sequence[str]
    quiet: bool
    initial: Optional[Callable[..., Any]] = None

    def run(self, rows: Rows, budget: Union[None, float, int]) -> Audit:
        checks = self._checks(rows)
        passes = self._passes(budget, checks, rows)
        os.makedirs(self.out, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["audit", *_data_options(rows, folder, self.out), "--name", self.name]
            arguments += ["--out", self.out, *([] if self.check else ["--no-check"])]
            arguments += self._settings(passes)
            if self.m is None:
                lines, output = _alone([*arguments, *self.options], self.quiet)
            else:
                lines, output = _converse(
                    self.m, [*arguments, *self.options], folder, self.quiet, self.initial
                )
        return Audit(_run_of(output, lines), self.out, checks, lines)

    def _checks(self, rows: Rows) -> Optional[CheckTable]:
        if not self.check or self.m is None:
            return None
        checks = check_model(self.m, rows)
        if not self.quiet:
            print(checks, file=sys.stderr)
        failed = [r for r in checks.rows if "everything" in r.disables]
        if failed:
            raise AuditError(
                "; ".join(
                    f"check '{r.name}' failed: {r.found} (usual cause: {r.means}; remedy: {r.remedy})" for r in failed
                )
            )
        return checks

    def _passes(
        self, budget: Union[None, float, int], checks: Optional[CheckTable], rows: Rows
    ) -> Optional[int]:
        """A time as a number of examples that the model evaluates in it."""
        if budget is None or isinstance(budget, int):
            return budget
        if self.m is None:
            raise ValueError("budget= of a replay is a number of passes")
        rate = (checks or check_model(self.m, rows)).examples_per_second
        passes = max(1, int(budget * rate))
        if not self.quiet:
            print(
                f"budget: {budget:.3g} s are {passes} passes of one example, at {rate:.3g} examples/s",
                file=sys.stderr,
            )
        return passes

    def _settings(self, passes: Optional[int]) -> List[str]:
        parts = self.parts
        for part, op in (("attention", "attn"), ("kernels", "kernels")):
            named = (parts or "").split(",") if isinstance(parts, str) or parts is None else parts
            if part in named and self.m is not None and op in self.m.missing:
                raise AuditError(f"part '{part}': {self.m.missing[op]}")
        pairs = (
            ("parts", _part_names(self.parts, self.m)),
            ("examples", self.examples),
            ("budget", passes),
            ("seed", self.seed or None),
            ("record", self.record),
            ("replay", self.replay),
        )
        return [w for option, value in pairs if value is not None for w in (f"--{option}", str(value))]


def _data_options(rows: Rows, folder: str, out: str) -> List[str]:
    """Options of lra-probe that name the data: a prepared task, or a file that is written."""
    if rows.task is not None:
        return list(rows.task)
    return rows.save(os.path.join(folder, f"{rows.name}.jsonl"))


def _alone(arguments: Sequence[str], quiet: bool) -> Tuple[List[str], List[str]]:
    """Runs the program without a model; its messages and its output."""
    done = programs.run(arguments, check=False)
    lines, output = done.stderr.splitlines(), done.stdout.splitlines()
    if not quiet:
        print(done.stderr, file=sys.stderr, end="")
    if done.returncode != 0:
        raise AuditError(_messages(lines) or f"lra-probe ended with status {done.returncode}")
    return lines, output


def _converse(
    m: Model,
    arguments: Sequence[str],
    folder: str,
    quiet: bool,
    initial: Optional[Callable[..., Any]] = None,
) -> Tuple[List[str], List[str]]:
    """Runs the program and answers its requests until it ends; its messages and its output."""
    child = _Child(arguments, folder, quiet)
    fault: Optional[BaseException] = None
    try:
        if child.channel is not None:
            serve(m, child.channel, initial=initial)
            child.channel.close()
        code = child.wait()
    except (OSError, FrameError, BadRequest) as e:  # the program ends, and its own message says why
        fault = e
        if child.channel is not None:
            child.channel.close()
        code = child.wait()
    except BaseException:
        child.stop()
        raise
    if code != 0:
        raise AuditError(_messages(child.lines) or f"lra-probe ended with status {code}") from fault
    return child.lines, child.output


def _run_of(output: Sequence[str], lines: Sequence[str]) -> str:
    """The folder of the run, which the program prints."""
    for line in reversed([*lines, *output]):
        for word in line.replace("'", " ").split():
            if "/runs/" in word or word.startswith("runs/"):
                return re.sub(r"/[a-z]+\.h5$", "", word.rstrip(".,:;"))
    raise AuditError("lra-probe named no folder of results:\n" + "\n".join([*lines, *output][-5:]))


def version() -> Mapping[str, str]:
    """Versions of the package and of the program."""
    from ._version import __version__

    first: Dict[str, str] = {"lra_locality": __version__}
    for line in programs.run(["--version"]).stdout.splitlines():
        key, _, value = line.partition(" ")
        first[key] = value.strip()
    return first
