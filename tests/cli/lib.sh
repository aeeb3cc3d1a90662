# What the shell tests share; each starts with  . "$LRA_SOURCE/tests/cli/lib.sh"
# A test runs in an empty folder of its own, $tmp, which is removed at the end, and ends with  exit $bad
set -u
PATH=$LRA_BUILD:$PATH
probe=$LRA_BUILD/lra-probe
report=$LRA_BUILD/lra-report
test_name=$(basename "$0" .sh)
tmp=$(mktemp -d) || exit 1
clean_up() { chmod -R u+w "$tmp"; rm -rf "$tmp"; }
trap clean_up EXIT
cd "$tmp" || exit 1
bad=0
complain() { printf '%s: %s\n' "$test_name" "$*"; bad=1; }
fail() { complain "$@"; exit 1; }
# skip REASON: what the test needs is not installed
skip() { printf '%s: %s\n' "$test_name" "$*"; exit 77; }

# happens COMMAND...: waits until it succeeds; a test waits for events, never for seconds.
happens() {
    for k in $(seq 6000); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.01
    done
    fail "waited in vain for: $*"
}
# catches_signals PID: SIGTERM no longer ends it at once (where there is /proc to see that in)
catches_signals() { [ ! -r /proc/self/status ] || grep -q '^SigCgt:.*4[0-9a-f]\{3\}$' "/proc/$1/status"; }

# expect CODE PATTERN PROGRAM ARGS...: stdout in `out`, stderr in `err`; that exit code, and the pattern (''; any text)
# in stderr.  Who fails says one line, beside warnings, and nothing on stdout.
expect() {
    code=$1 pattern=$2 rc=0
    shift 2
    "$@" >out 2>err </dev/null || rc=$?
    [ $rc -eq "$code" ] || complain "$*: exit $rc, expected $code: $(cat err)"
    [ -z "$pattern" ] || grep -q -e "$pattern" err || complain "$*: stderr lacks '$pattern': $(cat err)"
    [ "$code" -ne 0 ] || return 0
    [ "$(grep -cv '^warning: ' err)" -eq 1 ] || complain "$*: not one line on stderr: $(cat err)"
    [ ! -s out ] || complain "$*: a fault wrote to stdout"
}
# says PATTERN: stdout of what was expected last
says() { grep -q -e "$1" out || complain "stdout lacks '$1': $(cat out)"; }
# has FILE TEXT
has() { grep -qF -- "$2" "$1" || complain "$1 lacks '$2'"; }
