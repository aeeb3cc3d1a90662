"""Measures how local a model is: any model, from any framework, on any data."""

from . import programs
from ._model import Model, WrapError
from ._plain import text_of
from ._version import __version__
from .audit import Audit, AuditError, audit
from .check import Check, CheckTable, check
from .compare import CompareError, Comparison, compare, reference
from .fit import FitError, Ladder, Run, Runs, fit, ladder
from .frames import FrameError, Unsupported
from .offline import Plan, answer, measure, plan
from .programs import ProgramError
from .results import Figure, Table, figure, html, table
from .rows import Rows, RowsError, rows
from .serve import serve
from .task import task
from .wrap import attention_weights, wrap

__all__ = [
    "Audit",
    "AuditError",
    "Check",
    "CheckTable",
    "CompareError",
    "Comparison",
    "FitError",
    "Figure",
    "FrameError",
    "Ladder",
    "Model",
    "Plan",
    "ProgramError",
    "Rows",
    "RowsError",
    "Run",
    "Runs",
    "Table",
    "Unsupported",
    "WrapError",
    "__version__",
    "answer",
    "attention_weights",
    "audit",
    "check",
    "compare",
    "figure",
    "html",
    "fit",
    "ladder",
    "measure",
    "plan",
    "programs",
    "reference",
    "rows",
    "serve",
    "table",
    "task",
    "text_of",
    "wrap",
]
