"""smooth-alibi: implemented in las.py."""
from las import SMOOTHING, encode, zero  # noqa: F401

CASES = ["", "heads=4 alibi=original"] + SMOOTHING
