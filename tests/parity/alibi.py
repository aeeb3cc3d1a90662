"""alibi: implemented in las.py."""
from las import encode, zero  # noqa: F401

CASES = ["", "heads=4 alibi=original", "chunk=6 norm=post norm-kind=batch"]
