#!/bin/sh
# Every model beside its reference in PyTorch: one line a case on stderr, one table on stdout (parity.py says of what).
#   tests/parity/run.sh [--golden] [BUILD [MODEL...]]     BUILD: a release build, default build/release
#   --golden   rewrites tests/golden/parity/MODEL.txt, with which tests without PyTorch compare
# LRA_PEER_PYTHON names a Python with torch ("python3" if unset).  Without torch: exit 77, nothing is compared.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
program=parity.py
[ "${1:-}" != --golden ] || { program=golden.py; shift; }
build=${1:-$source/build/release}
[ $# -eq 0 ] || shift
python=${LRA_PEER_PYTHON:-python3}
"$python" -c 'import torch' 2>/dev/null || { echo "run.sh: skipped: '$python' has no torch (LRA_PEER_PYTHON names one that has)" >&2; exit 77; }
cmake --build "$build" --target parity_dump >&2
exec "$python" "$source/tests/parity/$program" "$build/tests/parity_dump" "$@"
