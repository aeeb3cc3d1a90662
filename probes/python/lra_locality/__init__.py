"""Measures how local a model is: any model, from any framework, on any data."""

from ._model import Model, WrapError
from ._version import __version__
from .check import Check, CheckTable, check
from .frames import FrameError, Unsupported
from .programs import ProgramError
from .serve import serve
from .wrap import wrap

__all__ = [
    "Check",
    "CheckTable",
    "FrameError",
    "Model",
    "ProgramError",
    "Unsupported",
    "WrapError",
    "__version__",
    "check",
    "serve",
    "wrap",
]
