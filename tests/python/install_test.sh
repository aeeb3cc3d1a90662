#!/bin/sh
# labels: slow
# pip install of the source checkout, without network, setuptools or a compiler: the programs are those of build/release
# or of LRA_BIN.
. "$LRA_SOURCE/tests/cli/lib.sh"
python=${LRA_PYTHON:-python3}
command -v "$python" >/dev/null 2>&1 || skip "no $python"
"$python" -c "import sys, numpy; sys.exit(sys.version_info < (3, 9))" 2>/dev/null || skip "$python is older than 3.9 or has no numpy"
{ "$python" -m venv --system-site-packages env >log 2>&1 && [ -x env/bin/pip ]; } || skip "no venv with pip"

git -C "$LRA_SOURCE" status --porcelain probes/python >before 2>/dev/null || true
env/bin/pip install --no-index --no-deps --disable-pip-version-check "$LRA_SOURCE/probes/python" >log 2>&1 ||
    fail "pip install: $(cat log)"
git -C "$LRA_SOURCE" status --porcelain probes/python >after 2>/dev/null || true
cmp -s before after || complain "the installation writes into the checkout: $(cat after)"
for name in lra-probe lra-report; do
    LRA_BIN=$LRA_BUILD env/bin/$name --version >out 2>err || complain "$name with LRA_BIN: $(cat err)"
    grep -q "^$name" out || complain "$name with LRA_BIN prints $(cat out)"
done
# Without LRA_BIN: the checkout's build/release, or a message that names it.
unset LRA_BIN
if [ -x "$LRA_SOURCE/build/release/lra-probe" ]; then
    env/bin/lra-probe --version >out 2>err || complain "lra-probe of the checkout: $(cat err)"
else
    if env/bin/lra-probe --version >out 2>err; then [ -x "$LRA_SOURCE/build/static/lra-probe" ] || complain "another program was found"
    else grep -q "$LRA_SOURCE/build/release" err || complain "the message does not name build/release: $(cat err)"; fi
fi
LRA_BIN=/nowhere env/bin/lra-probe --version >out 2>err && complain "LRA_BIN is ignored"
grep -q "LRA_BIN" err || complain "the message does not name LRA_BIN: $(cat err)"
exit $bad
