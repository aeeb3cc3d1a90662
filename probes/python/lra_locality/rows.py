"""``rows()``: labelled sequences from files, arrays, DataFrames and data sets, divided into splits as the C programs do."""

from __future__ import annotations

import csv
import json
import math
import os
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import frames
from ._hash import xxh3_64
from ._model import Array, nearest

PAD, UNKNOWN, END, MASK, FIRST_BYTE = 0, 1, 2, 3, 4
BYTES_VOCAB = FIRST_BYTE + 256
SPLITS = ("train", "val", "test")
TEXT_NAMES = ("text", "sentence", "review", "content", "document", "body")
TOKEN_NAMES = ("tokens", "input_ids", "token_ids", "ids")
VALUE_NAMES = ("values", "x", "series", "signal")
LABEL_NAMES = ("label", "labels", "target", "y", "class", "category", "sentiment")
SPLIT_NAMES = ("split", "splits")
LENGTH_NAMES = ("lengths", "length")
_WORDS = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
    "0": "train",
    "1": "val",
    "2": "test",
}
MAX_CLASSES = 10000
Columns = Dict[str, Any]


class RowsError(ValueError):
    """Raised for data that cannot be read.  The message names the file, the example and the remedy."""


# ---- readers: columns of equal length by name --------------------------------------------------------


def _read_delimited(path: Path, delimiter: str, as_text: Sequence[str]) -> Columns:
    with open(path, newline="", encoding="utf-8-sig") as f:
        csv.field_size_limit(1 << 30)
        reader = csv.reader(f, delimiter=delimiter, strict=True)
        try:
            names = next(reader, None)
            if not names:
                raise RowsError(f"'{path.name}' is empty")
            other = next((s for s in "\t;|," if s != delimiter and s in names[0]), None)
            if len(names) == 1 and other:
                raise RowsError(
                    f"'{path.name}' has one column '{names[0]}'; its fields seem to be separated by {other!r}, "
                    f"expected {delimiter!r}"
                )
            out: List[List[str]] = [[] for _ in names]
            for record in reader:
                if not record:
                    continue
                if len(record) != len(names):
                    raise RowsError(
                        f"'{path.name}', line {reader.line_num}: {len(record)} fields, expected {len(names)}"
                    )
                for column, value in zip(out, record):
                    column.append(value)
        except csv.Error as e:
            raise RowsError(f"'{path.name}', line {reader.line_num}: {e}") from e
        except UnicodeDecodeError as e:
            raise RowsError(f"'{path.name}' is not UTF-8: {e}") from e
    return {n: c if n in as_text or n.lower() in TEXT_NAMES else _numbers(c) for n, c in zip(names, out)}


def _numbers(column: List[str]) -> List[Any]:
    """A column of texts as numbers, if all of its fields are numbers."""
    out: List[Any] = []
    for value in column:
        try:
            out.append(int(value))
        except ValueError:
            try:
                out.append(float(value) if value else None)
            except ValueError:
                return list(column)
    return out if any(v is not None for v in out) else list(column)


def _read_json_lines(path: Path) -> Columns:
    out: Columns = {}
    n = 0
    with open(path, encoding="utf-8-sig") as f:
        for number, line in enumerate(f, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
            except ValueError as e:
                raise RowsError(f"'{path.name}', line {number}: {e}") from e
            if not isinstance(record, dict):
                raise RowsError(f"'{path.name}', line {number}: expected an object {{...}}")
            for name in record:
                out.setdefault(name, [None] * n)
            n += 1
            for name, column in out.items():
                column.append(record.get(name))
    return out


def _read_parquet(path: Path) -> Columns:
    try:
        import pyarrow.parquet as parquet
    except ImportError as e:
        raise RowsError(f"'{path.name}' is a parquet file: pip install pyarrow") from e
    return {name: column.to_pylist() for name, column in zip(*_of_table(parquet.read_table(path)))}


def _of_table(table: Any) -> Tuple[List[str], List[Any]]:
    return list(table.column_names), [table.column(name) for name in table.column_names]


def _read_npz(path: Path) -> Columns:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (ValueError, OSError) as e:
        raise RowsError(f"'{path.name}': {e}") from e


def _read_file(path: Path, as_text: Sequence[str] = ()) -> Columns:
    readers: Dict[str, Callable[[Path], Columns]] = {
        ".csv": lambda p: _read_delimited(p, ",", as_text),
        ".tsv": lambda p: _read_delimited(p, "\t", as_text),
        ".jsonl": _read_json_lines,
        ".ndjson": _read_json_lines,
        ".parquet": _read_parquet,
        ".npz": _read_npz,
        ".safetensors": lambda p: dict(frames.load(p)[1]),
    }
    if path.suffix.lower() not in readers:
        raise RowsError(f"'{path.name}' has no known extension; expected {', '.join(readers)}")
    if not path.is_file():
        raise RowsError(f"there is no file '{path}'")
    columns = readers[path.suffix.lower()](path)
    lengths = {len(v) for v in columns.values() if getattr(v, "ndim", 1) > 0}
    if not columns or lengths == {0}:
        raise RowsError(f"'{path.name}' contains no examples")
    return columns


def _read_folder(folder: Path, as_text: Sequence[str]) -> Columns:
    for suffix in (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".npz", ".safetensors"):
        found = {
            split: next(
                (
                    folder / f"{w}{suffix}"
                    for w, s in _WORDS.items()
                    if s == split and (folder / f"{w}{suffix}").is_file()
                ),
                None,
            )
            for split in SPLITS
        }
        if found["train"] and found["test"]:
            return _join({split: _read_file(path, as_text) for split, path in found.items() if path})
    raise RowsError(
        f"folder '{folder}' has no train and test file (csv, tsv, jsonl, parquet, npz, safetensors)"
    )


def _join(parts: Dict[str, Columns]) -> Columns:
    """One set of columns, and a column of splits, from those of each split."""
    names = set.intersection(*(set(p) for p in parts.values()))
    first = next(iter(parts.values()))
    out: Columns = {name: [v for p in parts.values() for v in p[name]] for name in first if name in names}
    out["split"] = [_WORDS.get(s.lower(), s) for s, p in parts.items() for _ in next(iter(p.values()))]
    return out


def _columns_of(source: Any, as_text: Sequence[str] = ()) -> Columns:
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return _read_folder(path, as_text) if path.is_dir() else _read_file(path, as_text)
    if (
        isinstance(source, (tuple, list))
        and len(source) in (2, 3)
        and all(hasattr(a, "__len__") for a in source)
    ):
        names = ("values" if _is_real(source[0]) else "tokens", "label", "lengths")
        return dict(zip(names, source))
    if isinstance(source, dict) or type(source).__name__ == "DatasetDict":
        if source and all(str(k).lower() in _WORDS for k in source):
            return _join({str(k): _columns_of(v, as_text) for k, v in source.items()})
        return dict(source)
    if hasattr(source, "column_names") and hasattr(source, "__getitem__"):  # datasets.Dataset, pyarrow.Table
        return {
            n: (c.to_pylist() if hasattr(c, "to_pylist") else list(c))
            for n, c in ((n, source[n]) for n in source.column_names)
        }
    if hasattr(source, "columns") and hasattr(source, "iloc"):  # pandas.DataFrame
        return {str(n): source[n].tolist() for n in source.columns}
    if hasattr(source, "__array__"):
        return {"values" if _is_real(source) else "tokens": np.asarray(source)}
    raise RowsError(
        f"a {type(source).__name__} is no source of rows: expected a path, (inputs, labels), a dictionary of "
        "columns, a DataFrame or a data set"
    )


def _is_real(a: Any) -> bool:
    if hasattr(a, "dtype"):
        return np.asarray(a[:1]).dtype.kind == "f"
    return len(a) > 0 and np.asarray(a[0]).dtype.kind == "f"


# ---- columns by name ---------------------------------------------------------------------------------


def _find(columns: Columns, names: Sequence[str]) -> Optional[str]:
    lower = {name.lower(): name for name in reversed(list(columns))}
    return next((lower[n] for n in names if n in lower), None)


def _named(columns: Columns, name: str, option: str) -> str:
    if name not in columns:
        raise RowsError(f"{option}={name!r} is no column{nearest(name, list(columns))}")
    return name


def _kind_of(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    a = np.asarray(value)
    return (
        "values"
        if a.dtype.kind == "f" or a.ndim > 1
        else "tokens"
        if a.ndim == 1 and a.dtype.kind in "iu"
        else ""
    )


def _find_input(
    columns: Columns, text: Optional[str], tokens: Optional[str], values: Optional[str]
) -> Tuple[str, str]:
    given = [(k, n) for k, n in (("text", text), ("tokens", tokens), ("values", values)) if n is not None]
    if len(given) > 1:
        raise RowsError("text=, tokens= and values= exclude each other")
    if given:
        return given[0][0], _named(columns, given[0][1], given[0][0])
    for kind, names in (("text", TEXT_NAMES), ("tokens", TOKEN_NAMES), ("values", VALUE_NAMES)):
        name = _find(columns, names)
        if name is not None and _kind_of(columns[name][0]) == kind:
            return kind, name
    known = {*LABEL_NAMES, *SPLIT_NAMES, *LENGTH_NAMES}
    others = [(n, _kind_of(c[0])) for n, c in columns.items() if n.lower() not in known and len(c)]
    others = [(n, k) for n, k in others if k]
    if len(others) == 1:
        return others[0][1], others[0][0]
    raise RowsError(
        f"the columns are {', '.join(map(repr, columns))}: name that of the inputs with text=, tokens= or values="
    )


# ---- rows --------------------------------------------------------------------------------------------


class Rows:
    """Sequences with splits and, where there are any, labels.  Made by ``rows()`` and ``task()``.

    kind: text (bytes as tokens), tokens or values.  goal: class, value, or "" without labels.
    x: a list of arrays, (n) int32 or (n,F) float32; label: (N) or None; split: (N) 0 train, 1 val, 2 test.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        x: List[Array],
        label: Optional[Array],
        split: Array,
        *,
        vocab: int = 0,
        goal: str = "",
        label_names: Optional[List[str]] = None,
        pad: int = PAD,
        notes: Sequence[str] = (),
        texts: Optional[List[str]] = None,
        labels: Optional[List[Any]] = None,
    ) -> None:
        self.name, self.kind, self.x, self.label, self.split = name, kind, x, label, split
        self.vocab, self.goal, self.pad, self.label_names = vocab, goal, pad, label_names
        self.notes = list(notes)
        self.width = x[0].shape[1] if kind == "values" else 1
        self.classes = len(label_names) if label_names else 1 if goal == "value" else 0
        self.length = max(len(a) for a in x)
        self.task: Optional[List[str]] = None  # options of lra-probe that name these rows, for task()
        self.meta: Dict[str, str] = {}  # of task(): goal, classes, fingerprint and others
        self.targets: Optional[List[Array]] = None  # of tasks with a target at every token: (n, targets)
        self.middle: Optional[Array] = None  # (n) tokens of the first document, of tasks with pairs
        self._texts, self._labels = texts, labels

    def __len__(self) -> int:
        return len(self.x)

    def index(self, split: str = "test") -> Array:
        """Indices of the examples of a split."""
        if split not in SPLITS:
            raise ValueError(f"split={split!r}, expected train, val or test")
        return np.flatnonzero(self.split == SPLITS.index(split))

    def batch(self, index: Any) -> Tuple[Array, Array, Optional[Array]]:
        """Inputs (B,T) or (B,T,F) padded to the longest, lengths (B), labels (B) or None."""
        index = np.asarray(index)
        length = np.array([len(self.x[i]) for i in index], np.int64)
        T = int(length.max(initial=1))
        shape = (len(index), T, self.width) if self.kind == "values" else (len(index), T)
        out = np.zeros(shape, np.float32) if self.kind == "values" else np.full(shape, self.pad, np.int64)
        for k, i in enumerate(index):
            out[k, : length[k]] = self.x[i]
        return out, length, None if self.label is None else self.label[index]

    def examples(self, split: str = "test", n: Optional[int] = None) -> Tuple[Array, Array, Optional[Array]]:
        """At most n evenly spaced examples of a split, as a batch."""
        index = self.index(split)
        if n is not None and len(index) > n:
            index = index[np.arange(n) * len(index) // n]
        return self.batch(index)

    def arrays(self, split: str) -> Tuple[Array, Array, Optional[Array]]:
        """All examples of a split, as a batch."""
        return self.batch(self.index(split))

    def save(self, path: Union[str, "os.PathLike[str]"], most: Optional[int] = None) -> List[str]:
        """Writes the rows as jsonl (at most `most` of each split) and returns the options of lra-probe that read it."""
        column = self.kind
        with open(path, "w", encoding="utf-8") as f:
            for s, split in enumerate(SPLITS):
                index = self.index(split)
                if most is not None and len(index) > most:
                    index = index[np.arange(most) * len(index) // most]
                for i in index:
                    f.write(json.dumps(self._record(column, int(i), s)) + "\n")
        keys = {
            column: column,
            "split": "split",
            "label": "label" if self._labels is not None else "none",
            "length": self.length,
        }
        if self.kind == "tokens":
            keys["vocab"] = self.vocab
        options = ["--task", "file", "--data-dir", os.fspath(path)]
        return options + [w for k, v in keys.items() for w in ("--set", f"{k}={v}")]

    def _record(self, column: str, i: int, split: int) -> Dict[str, Any]:
        if self._texts is not None:
            value: Any = self._texts[i]
        elif self.kind == "values":
            value = [[float(str(v)) for v in step] for step in self.x[i]]
        else:
            value = self.x[i].tolist()
        record = {column: value, "split": SPLITS[split]}
        if self._labels is not None:
            record["label"] = self._labels[i]
        return record

    def __str__(self) -> str:
        takes = {
            "text": "text (bytes)",
            "tokens": f"tokens, vocabulary {self.vocab}",
            "values": f"{self.width} numbers a step",
        }
        goal = {"class": f"{self.classes} classes", "value": "a real number", "": "no labels"}[self.goal]
        counts = ", ".join(f"{(self.split == k).sum()} {s}" for k, s in enumerate(SPLITS))
        shortest = min(len(a) for a in self.x)
        lines = [f"{self.name}: {takes[self.kind]}, {goal}; {counts}; lengths {shortest} to {self.length}"]
        return "\n".join(lines + [f"  note  {n}" for n in self.notes])

    __repr__ = __str__


def rows(
    source: Any,
    *,
    text: Optional[str] = None,
    tokens: Optional[str] = None,
    values: Optional[str] = None,
    label: Optional[str] = None,
    split: Optional[str] = None,
    tokenizer: Union[str, Callable[[str], Any]] = "bytes",
    max_length: Optional[int] = None,
    vocab: Optional[int] = None,
    name: Optional[str] = None,
) -> Rows:
    """Examples with splits.

    source: csv, tsv (RFC 4180), jsonl, parquet, npz or safetensors; a folder with train and test files; (inputs, labels)
            arrays; a dictionary of columns, or of splits; a DataFrame; a ``datasets.Dataset``.
    text, tokens, values, label, split: columns; default: found by usual names ("none": no such column).
    tokenizer: "bytes", or a function of a text that returns token ids.
    max_length: longer inputs are cut.

    Labels that are integers or texts are classes, in sorted order; real numbers are a regression.  Without a column of
    splits, examples are divided 80/10/10 by a hash of the input, so that equal inputs stay together.
    Raises RowsError.
    """
    columns = _columns_of(source, [text] if text else [])
    if name is None:
        name = Path(source).stem if isinstance(source, (str, os.PathLike)) else type(source).__name__
    kind, column = _find_input(columns, text, tokens, values)
    n = len(columns[column])
    if n == 0:
        raise RowsError(f"column '{column}' contains no examples")
    label_column = _optional(columns, label, "label", LABEL_NAMES, column)
    split_column = _optional(columns, split, "split", SPLIT_NAMES, column)
    for other in (label_column, split_column):
        if other and len(columns[other]) != n:
            raise RowsError(f"column '{other}' has {len(columns[other])} examples, '{column}' has {n}")
    notes = [
        f"{kind} from column '{column}'" + (f", label '{label_column}'" if label_column else ", no labels")
    ]
    made = _inputs(kind, columns[column], tokenizer, max_length, _lengths(columns, column, n), vocab, notes)
    kind, x, texts, size = made
    labels, goal, numbers, names = (
        _labels(columns[label_column], n) if label_column else (None, "", None, None)
    )
    if split_column:
        parts = _split_column(columns[split_column], x, size, notes)
    else:
        parts = _divide(x, size, notes)
    return Rows(
        name,
        kind,
        x,
        numbers,
        parts,
        vocab=size,
        goal=goal,
        label_names=names,
        notes=notes,
        texts=texts,
        labels=labels,
    )


def _optional(
    columns: Columns, name: Optional[str], option: str, known: Sequence[str], used: str
) -> Optional[str]:
    if name == "none":
        return None
    if name is not None:
        return _named(columns, name, option)
    found = _find(columns, known)
    return None if found == used else found


def _lengths(columns: Columns, column: str, n: int) -> Optional[Array]:
    """True lengths of padded arrays."""
    name = _find(columns, LENGTH_NAMES)
    if name is None or name == column or len(columns[name]) != n or not hasattr(columns[column], "ndim"):
        return None
    a = np.asarray(columns[name])
    fits = a.ndim == 1 and a.dtype.kind in "iu" and a.min() >= 1 and a.max() <= np.shape(columns[column])[1]
    return a if fits else None


def _inputs(
    kind: str,
    column: Any,
    tokenizer: Any,
    most: Optional[int],
    lengths: Optional[Array],
    vocab: Optional[int],
    notes: List[str],
) -> Tuple[str, List[Array], Optional[List[str]], int]:
    """Kind, arrays of examples, texts of byte rows, and vocabulary."""
    if kind == "text":
        if tokenizer == "bytes":
            texts = [_text(v, i) for i, v in enumerate(column)]
            x, cut = _byte_rows(texts, most)
            if cut:
                notes.append(f"{cut} of {len(x)} texts are cut to {most} tokens")
            return "text", x, texts, BYTES_VOCAB
        if not callable(tokenizer):
            raise RowsError(f"tokenizer={tokenizer!r}, expected 'bytes' or a function of a text")
        column = [_ids(tokenizer(_text(v, i))) for i, v in enumerate(column)]
        vocab = vocab or getattr(tokenizer, "vocab_size", None)
        kind = "tokens"
    x = [_sequence(v, i, kind, None if lengths is None else int(lengths[i])) for i, v in enumerate(column)]
    if most is not None:
        cut = sum(len(a) > most for a in x)
        x = [a[:most] for a in x]
        if cut:
            notes.append(f"{cut} of {len(x)} inputs are cut to {most}")
    if kind == "values":
        widths = {a.shape[1] for a in x}
        if len(widths) > 1:
            raise RowsError(
                f"the examples have {' and '.join(map(str, sorted(widths)))} values a step, expected one number"
            )
        return kind, x, None, 0
    largest = max(int(a.max()) for a in x)
    if vocab is not None and largest >= vocab:
        raise RowsError(f"token {largest} of a vocabulary of {vocab}")
    return kind, x, None, vocab or largest + 1


def _text(value: Any, i: int) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return value if isinstance(value, str) else str(value)


def _ids(made: Any) -> Any:
    """Extracts the token ids from the return value of a tokenizer."""
    if hasattr(made, "ids"):
        return made.ids
    return made["input_ids"] if isinstance(made, dict) or hasattr(made, "input_ids") else made


def _byte_rows(texts: Iterable[str], most: Optional[int]) -> Tuple[List[Array], int]:
    out, cut = [], 0
    for text in texts:
        raw = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
        cut += most is not None and len(raw) > most - 1
        raw = raw if most is None else raw[: most - 1]
        out.append(np.concatenate([raw.astype(np.int32) + FIRST_BYTE, np.array([END], np.int32)]))
    return out, cut


def _sequence(value: Any, i: int, kind: str, n: Optional[int]) -> Array:
    if isinstance(value, str):
        value = [
            float(v) if kind == "values" else int(v) for v in value.strip("[] ").replace(",", " ").split()
        ]
    try:
        a = np.asarray(value)
    except ValueError as e:
        raise RowsError(f"example {i + 1}: {e}") from e
    if a.dtype.kind not in "iufb" or a.ndim not in (1, 2) or len(a) == 0:
        raise RowsError(
            f"example {i + 1} has shape {a.shape} of {a.dtype}, expected at least one {'number' if kind == 'values' else 'token'}"
        )
    a = a if n is None else a[:n]
    if kind == "values":
        a = a.astype(np.float32)
        if not np.isfinite(a).all():
            raise RowsError(f"example {i + 1} has a value that is not finite")
        return (a[:, None] if a.ndim == 1 else a) + np.float32(0)  # -0 becomes 0
    if a.ndim != 1 or (a.dtype.kind == "f" and (a != np.floor(a)).any()) or a.min() < 0 or a.max() >= 1 << 24:
        raise RowsError(f"example {i + 1} is no sequence of token ids from 0")
    return a.astype(np.int32)


def _labels(column: Any, n: int) -> Tuple[List[Any], str, Array, Optional[List[str]]]:
    """Returns the original labels, the goal, the labels as numbers, and the class names."""
    values = [v.item() if hasattr(v, "item") and np.ndim(v) == 0 else v for v in column]
    values = [int(v) if isinstance(v, bool) else v for v in values]
    missing = [
        i for i, v in enumerate(values) if v is None or v == "" or (isinstance(v, float) and math.isnan(v))
    ]
    if missing:
        raise RowsError(
            f"example {missing[0] + 1} has no label ({len(missing)} of {n} have none): fill or remove them"
        )
    if any(not isinstance(v, (int, float, str)) for v in values):
        raise RowsError(f"a label is a {type(values[0]).__name__}, expected a number or a text")
    if any(isinstance(v, str) for v in values):
        values = [str(v) for v in values]
    elif any(isinstance(v, float) and v != math.floor(v) for v in values):
        if not all(math.isfinite(v) for v in values):
            raise RowsError("a label is not finite")
        return values, "value", np.array(values, np.float32), None
    else:
        values = [int(v) for v in values]
    names = sorted(set(values), key=lambda v: v.encode() if isinstance(v, str) else v)
    if len(names) > MAX_CLASSES:
        raise RowsError(f"{len(names)} different labels, expected at most {MAX_CLASSES} classes")
    number = {v: k for k, v in enumerate(names)}
    return values, "class", np.array([number[v] for v in values], np.int64), [str(v) for v in names]


# ---- splits --------------------------------------------------------------------------------------------


def hashes(x: Sequence[Array], vocab: int) -> Array:
    """xxh3-64 of each example as the C programs store it."""
    return np.array([xxh3_64(_stored(a, vocab)) for a in x], np.uint64)


def _stored(a: Array, vocab: int) -> bytes:
    if a.ndim == 2:
        return np.ascontiguousarray(a, "<f4").tobytes()
    return np.ascontiguousarray(a, "<u4" if vocab > 65536 else "<u2").tobytes()


def _tenths(h: Array) -> Array:
    return ((h >> np.uint64(20)) % np.uint64(10)).astype(np.int64)


def _divide(x: Sequence[Array], vocab: int, notes: List[str]) -> Array:
    """Divides 80/10/10 by the value of the hash, or by its rank if there are few distinct inputs."""
    h = hashes(x, vocab)
    tenth = _tenths(h)
    out = np.where(tenth == 9, 2, np.where(tenth == 8, 1, 0))
    if all((out == k).any() for k in range(3)):
        notes.append("no splits: divided 80/10/10 by a hash of the input, equal inputs together")
        return out
    distinct = np.unique(h)
    if len(distinct) < 3:
        raise RowsError(
            f"there are {len(distinct)} distinct inputs, expected at least one each for training, validation and test"
        )
    part = max(1, len(distinct) // 10)
    notes.append("no splits: divided 80/10/10 in the order of a hash of the input, equal inputs together")
    return np.where(h < distinct[part], 2, np.where(h < distinct[2 * part], 1, 0))


def _split_column(column: Any, x: Sequence[Array], vocab: int, notes: List[str]) -> Array:
    out = np.zeros(len(x), np.int64)
    for i, v in enumerate(column):
        word = _WORDS.get(str(v.item() if hasattr(v, "item") else v).lower())
        if word is None:
            raise RowsError(
                f"example {i + 1}: the split is {v!r}, expected train, val or test (split='none' ignores the column)"
            )
        out[i] = SPLITS.index(word)
    for k in (0, 2):
        if not (out == k).any():
            raise RowsError(f"the column of splits has no {SPLITS[k]} examples")
    if not (out == 1).any():
        _carve_validation(out, hashes(x, vocab))
        notes.append(
            "no validation examples: a tenth of the training examples is used, chosen by a hash of the input"
        )
    return out


def _carve_validation(split: Array, h: Array) -> None:
    train = split == 0
    chosen = train & (_tenths(h) == 8)
    if not chosen.any() or chosen.sum() == train.sum():
        distinct = np.unique(h[train])
        if len(distinct) < 2:
            raise RowsError(
                "the training examples have one distinct input, expected at least two: one is for validation"
            )
        chosen = train & (h < distinct[max(1, len(distinct) // 10)])
    split[chosen] = 1
