"""s (S-attention): implemented in las.py."""
from las import SMOOTHING, encode, zero  # noqa: F401

CASES = ["", "positions=sinusoidal"] + SMOOTHING
