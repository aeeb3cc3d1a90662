#!/bin/sh
# labels: slow timeout: 900 serial
# tests/gpu.sh without a GPU: the CPU in its place passes, a test that fails or hangs makes it fail and stops nothing,
# and what it writes is one JSON document, at every time.
. "$LRA_SOURCE/tests/cli/lib.sh"
set -e
fail() { complain "$1"; [ ! -e table ] || cat table; exit 1; }
script=$LRA_SOURCE/tests/gpu.sh

code=0
"$script" --bin "$tmp" >"$tmp/table" 2>&1 || code=$?
[ "$code" = 2 ] || fail "exit code $code without a program"
"$script" --bin "$LRA_BUILD" --out "$tmp/out" --minutes 14 --dry --quick >"$tmp/table" 2>"$tmp/err" || fail "the dry run fails"
for row in 'ceilings *measured *float32 [0-9.]*, bf16' 'large cases, plain *passed *4' 'large cases, mma *passed *4' 'ops *passed *[1-9][0-9]' \
    'models, plain *passed *3' '20 steps as on the CPU *passed' 'bf16 near float32, mma *passed' 'bits twice, f32 *passed' \
    'bits twice, mma *passed' 'resume: CPU, then GPU *passed' 'resume: GPU, then CPU *passed' \
    'step K 5, 1 groups, batch 2, mma *measured *[0-9.]* ms' 'step K 5, 32 groups.*measured' 'attention, 4 heads of 64, T 32 *measured' \
    'bench ops *passed' 'memcheck, all ops *skipped *--quick'; do
    grep -q "$row" "$tmp/table" || fail "no row '$row'"
done
[ "$(grep -c '"check"' "$tmp/out/gpu.json")" = "$(grep -c . "$tmp/out/gpu.txt")" ] || fail "the document and the table differ"
tar -tzf "$tmp/out/logs.tar.gz" >"$tmp/list" && grep -q 'logs/ops-.*conv.log' "$tmp/list" || fail "no archive of logs"
valid() {
    command -v python3 >/dev/null 2>&1 || return 0
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["version"] and d["device"] and d["rows"]' \
        "$1" || fail "gpu.json is no JSON"
}
valid "$tmp/out/gpu.json"

# A failing test shows in the table, in the document and in the exit code; one that hangs is ended; the others run.
mkdir -p "$tmp/bin/tests"
# Only lists are real here: nothing is trained a second time.
printf '#!/bin/sh\ncase $1 in list | --version) exec "%s" "$@" ;; esac\necho "lra-probe: not today" >&2\nexit 1\n' "$LRA_BUILD/lra-probe" >"$tmp/bin/lra-probe"
printf '#!/bin/sh\nexit 0\n' >"$tmp/bin/tests/cuda_model_test"
# shellcheck disable=SC2016
printf '#!/bin/sh\n[ "$LRA_TEST_OP" != =relu ] || exit 124\n[ "$LRA_TEST_OP" = =conv ] || exit 0\necho "ERROR: 7 \\"is\\" not 8"\nexit 1\n' >"$tmp/bin/tests/cuda_test"
chmod +x "$tmp/bin/lra-probe" "$tmp/bin/tests/cuda_model_test" "$tmp/bin/tests/cuda_test"
code=0
"$script" --bin "$tmp/bin" --out "$tmp/out" --dry --quick >"$tmp/table" 2>"$tmp/err" || code=$?
[ "$code" = 1 ] || fail "exit code $code although a test failed"
grep -q 'ops: conv *failed *ERROR: 7 "is" not 8' "$tmp/table" || fail "the reason is missing"
grep -q 'ops: relu *failed *took longer than its limit' "$tmp/table" || fail "what hangs is not said"
grep -q 'ops *failed *2 of [1-9][0-9]' "$tmp/table" || fail "one failure hides others"
grep -q 'models, plain *passed' "$tmp/table" || fail "a failure stops what follows"
grep -q '"text": "ERROR: 7 \\"is\\" not 8"' "$tmp/out/gpu.json" || fail "the reason is not in the document"
valid "$tmp/out/gpu.json"
# No time: everything is skipped, which is said.
code=0
"$script" --bin "$LRA_BUILD" --out "$tmp/out" --minutes 0 --dry --quick >"$tmp/table" 2>"$tmp/err" || code=$?
grep -q 'devices *skipped *no time left' "$tmp/table" || fail "a run without time: $(cat "$tmp/table")"
