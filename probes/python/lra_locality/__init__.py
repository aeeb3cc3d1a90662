"""Measures how local a model is: any model, from any framework, on any data."""

from ._model import Model, WrapError
from ._version import __version__
from .frames import FrameError, Unsupported
from .programs import ProgramError
from .wrap import wrap

__all__ = ["FrameError", "Model", "ProgramError", "Unsupported", "WrapError", "__version__", "wrap"]
