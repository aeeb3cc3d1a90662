"""Measures how local a model is: any model, from any framework, on any data."""

from . import programs
from ._model import Model, WrapError
from ._version import __version__
from .check import Check, CheckTable, check
from .frames import FrameError, Unsupported
from .programs import ProgramError
from .rows import Rows, RowsError, rows
from .serve import serve
from .wrap import wrap

__all__ = [
    "Check",
    "CheckTable",
    "FrameError",
    "Model",
    "ProgramError",
    "Rows",
    "RowsError",
    "Unsupported",
    "WrapError",
    "__version__",
    "check",
    "programs",
    "rows",
    "serve",
    "wrap",
]
