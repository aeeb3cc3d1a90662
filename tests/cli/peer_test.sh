#!/bin/sh
# Comparisons with PyTorch where there is none: one line, exit code 77, nothing written.
. "$LRA_SOURCE/tests/cli/lib.sh"
before=$(ls "$LRA_SOURCE/tests/golden/parity" | wc -l)
for flag in "" --golden; do
    # shellcheck disable=SC2086
    LRA_PEER_PYTHON=false sh "$LRA_SOURCE/tests/parity/run.sh" $flag none >out 2>err && rc=0 || rc=$?
    [ "$rc" -eq 77 ] || complain "exit code $rc"
    [ ! -s out ] || complain "stdout: $(cat out)"
    grep -q "skipped: 'false' has no torch" err || complain "stderr: $(cat err)"
done
[ "$(ls "$LRA_SOURCE/tests/golden/parity" | wc -l)" -eq "$before" ] || complain "files were written"
exit $bad
