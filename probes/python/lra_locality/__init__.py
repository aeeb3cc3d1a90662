"""Measures how local a model is: any model, from any framework, on any data."""

from ._version import __version__

__all__ = ["__version__"]
