#!/bin/sh
# labels: slow timeout: 900
# tests/gpu.sh without a GPU: the CPU in its place passes, a test that fails makes it fail, and what it writes is
# one JSON document.
. "$LRA_SOURCE/tests/cli/lib.sh"
set -e
fail() { complain "$1"; [ ! -e table ] || cat table; exit 1; }
script=$LRA_SOURCE/tests/gpu.sh

code=0
"$script" --bin "$tmp" >"$tmp/table" 2>&1 || code=$?
[ "$code" = 2 ] || fail "exit code $code without a program"
"$script" --bin "$LRA_BUILD" --out "$tmp/out" --dry --quick >"$tmp/table" 2>"$tmp/err" || fail "the dry run fails"
for row in 'ops: .*: plain' 'ops: .*: mma' 'models: ' 'training: losses' 'training: bf16' 'bits twice, f32' 'bits twice, bf16' \
    'resume: CPU, then GPU' 'resume: GPU, then CPU' 'resume: losses'; do
    grep -q "$row.*passed" "$tmp/table" || fail "no row '$row' that passed"
done
grep -q 'step K 5, 1 groups, batch 2, mma *measured  *[0-9.]* ms' "$tmp/table" || fail "no step is timed"
grep -q 'memcheck *skipped' "$tmp/table" || fail "what is skipped is not said"
cmp -s "$tmp/out/gpu.txt" "$tmp/out/gpu.txt" && [ "$(grep -c '"check"' "$tmp/out/gpu.json")" = "$(grep -c . "$tmp/out/gpu.txt")" ] ||
    fail "the document and the table differ"
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["revision"] and d["device"] and d["rows"]' \
        "$tmp/out/gpu.json" || fail "gpu.json is no JSON"
fi

# A failing test shows in the table, in the document and in the exit code.
mkdir -p "$tmp/bin/tests"
# Only lists are real here: nothing is trained a second time.
printf '#!/bin/sh\n[ "$1" = list ] || { echo "lra-probe: not today" >&2; exit 1; }\nexec "%s" "$@"\n' "$LRA_BUILD/lra-probe" >"$tmp/bin/lra-probe"
printf '#!/bin/sh\nexit 0\n' >"$tmp/bin/tests/cuda_model_test"
printf '#!/bin/sh\necho "ERROR: 7 \\"is\\" not 8"\nexit 1\n' >"$tmp/bin/tests/cuda_test"
chmod +x "$tmp/bin/lra-probe" "$tmp/bin/tests/cuda_model_test" "$tmp/bin/tests/cuda_test"
code=0
"$script" --bin "$tmp/bin" --out "$tmp/out" --dry --quick >"$tmp/table" 2>"$tmp/err" || code=$?
[ "$code" = 1 ] || fail "exit code $code although a test failed"
grep -q 'ops: .*failed *ERROR: 7 "is" not 8' "$tmp/table" || fail "the reason is missing"
grep -q '"text": "ERROR: 7 \\"is\\" not 8"' "$tmp/out/gpu.json" || fail "the reason is not in the document"
