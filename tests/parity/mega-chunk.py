"""mega-chunk: implemented in mega.py; attention is limited to chunks."""
from mega import encode, zero  # noqa: F401

CASES = ["", "chunk=8", "chunk=8 causal=1 attention=laplace", "chunk=8 attention=laplace norm=pre norm-kind=batch"]
