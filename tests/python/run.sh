#!/bin/sh
# run.sh FILE_test.py: runs one test of the Python package with LRA_PYTHON (default python3).  Exit code 77: no Python with numpy.
python=${LRA_PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 || { echo "skipped: no $python"; exit 77; }
"$python" -c 'import sys, numpy; sys.exit(sys.version_info < (3, 9))' 2>/dev/null ||
    { echo "skipped: $python is older than 3.9 or has no numpy"; exit 77; }
PYTHONPATH=$LRA_SOURCE/probes/python:$LRA_SOURCE/tests/python PYTHONDONTWRITEBYTECODE=1 LRA_BIN=$LRA_BUILD \
    exec "$python" "$@"
