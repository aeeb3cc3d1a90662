"""l (L-attention): implemented in las.py."""
from las import ALPHA, encode, zero  # noqa: F401

CASES = ALPHA + ["chunk=4 positions=learned"]
