#!/bin/sh
# --device: one program with and without a driver.  What cannot be used is refused in one line; auto says once
# why it is the CPU.
set -eu
probe=$LRA_BUILD/lra-probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { cat "$work/out" "$work/err" >&2; echo "device_test: $1" >&2; exit 1; }
refused() { # CODE TEXT ARGS...
    expected=$1 text=$2 code=0
    shift 2
    "$probe" "$@" > "$work/out" 2> "$work/err" || code=$?
    [ "$code" = "$expected" ] || fail "exit code $code for: $*"
    [ "$(wc -l < "$work/err")" = 1 ] || fail "not one line for: $*"
    grep -q -- "$text" "$work/err" || fail "no '$text'"
}

"$probe" list devices > "$work/out" 2> "$work/err"
grep -q '^cpu  *.* threads, ' "$work/out" || fail "no CPU"
[ "$(grep -c '^cuda' "$work/out")" -ge 1 ] || fail "nothing about GPUs"
refused 2 "unknown device 'gpu'; expected auto, cpu, cuda or cuda:N" bench step --device gpu
refused 2 "unknown device 'cuda:x'" bench step --device cuda:x
refused 2 "unknown device 'cuda:-1'" bench step --device cuda:-1
refused 1 "device 'cuda:99': " bench step --device cuda:99
! grep -q '^cuda:0' "$work/out" || exit 0

# No GPU: refused where one is asked for, and nothing is written; else one notice, if this build could use one.
"$probe" list devices > "$work/out"
if grep -q 'not in this build' "$work/out"; then notices=0; reason='this build has no CUDA'
else notices=1; reason='the NVIDIA driver\|there is no NVIDIA driver'; fi
refused 1 "device 'cuda': .*\\($reason\\)" train --device cuda --out "$work/none"
[ ! -e "$work/none" ] || fail "a refused device leaves a folder"
for command in "train --seed 1" "receptive-field --seeds 1 --kernels 1,3"; do
    # shellcheck disable=SC2086
    "$probe" $command --out "$work/auto" --set train=200 --set val=50 --set test=50 --set epochs=1 > "$work/out" 2> "$work/err" ||
        fail "'$command' fails"
    [ "$(grep -c -i 'no GPU\|NVIDIA' "$work/err")" = "$notices" ] || fail "not $notices notices from '$command'"
done
"$probe" bench params --device auto > "$work/out" 2> "$work/err" || fail "bench fails"
[ "$(grep -c 'NVIDIA' "$work/err")" = "$notices" ] || fail "not $notices notices from bench"
