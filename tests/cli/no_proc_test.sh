#!/bin/sh
# Without /proc: a name space of its own in which something else lies over it.  What it would have told is not known;
# nothing fails over that, and runs that a ladder starts find their program.
. "$LRA_SOURCE/tests/cli/lib.sh"
without() { unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' - "$@"; }
without true 2>/dev/null || skip "this user may not mount anything in a name space of its own"
[ -z "$(without ls /proc)" ] || fail "there is a /proc"
without "$probe" --version 2>&1 | grep -q 'LeakSanitizer' && skip "the sanitizers of this build read /proc"
small="--task listops --set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1"

# shellcheck disable=SC2086
expect 0 '' without lra-probe receptive-field $small --kernels 3,5 --seeds 1 --jobs 2 --out o
has err ' 2 of 2: K = '
# The same by its path, from elsewhere than where it lies.
# shellcheck disable=SC2086
expect 0 '' without "$probe" receptive-field $small --kernels 3,7 --seeds 1 --jobs 2 --out o -q
expect 0 '' without lra-probe list devices
expect 0 '' without lra-probe status --out o
says '3 runs: 3 done'
expect 0 '' without lra-report tables --out o
expect 0 '' without lra-report show "$(ls -d o/runs/* | head -1)"
exit $bad
