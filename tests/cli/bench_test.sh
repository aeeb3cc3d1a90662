#!/bin/sh
# lra-probe bench: every kind runs, JSON holds what the text shows, wrong usage is one line.
set -eu
probe=$LRA_BUILD/lra-probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
small="--batch 2 --length 16 --seconds 0.01 --set layers=1 --set width=16 --set hidden=16"
fail() { echo "bench_test: $1" >&2; exit 1; }
has() { grep -q -- "$1" "$work/out" || { cat "$work/out" >&2; fail "no '$1'"; }; }
refused() {
    expected=$1
    shift
    code=0
    "$probe" bench "$@" > "$work/out" 2> "$work/err" || code=$?
    [ "$code" = 2 ] || fail "exit code $code for: $*"
    [ "$(wc -l < "$work/err")" = 1 ] || fail "not one line for: $*"
    grep -q -- "$expected" "$work/err" || { cat "$work/err" >&2; fail "no '$expected'"; }
}

# shellcheck disable=SC2086
for precision in f32 bf16; do
    "$probe" bench step ops params $small --precision $precision > "$work/out"
    has '^ceilings   float32 [0-9]* GFLOP/s'
    has '^whole step '
    has '^conv_dw '
    has '^cross_entropy_grad '
    has 'encoder/layer0/conv/kernel (5,16,16) *1280$'
done
# shellcheck disable=SC2086
"$probe" bench $small --json > "$work/out"
has '"name": "whole step"'
has '"f32_flops": [1-9]'
if [ "${LRA_BUILD_TYPE-}" != Debug ]; then # makes the benchmark's own rows: slow with sanitizers
    "$probe" bench data --seconds 0.01 --batch 64 > "$work/out"
    has '^listops quick: 72000 rows'
    has '^make, all splits *72000 '
fi

refused "needs --task" data --data-dir x
refused "'image' is not generated: --data-dir must name its files" data --task image
refused "unknown benchmark 'stepp'; did you mean 'step'" stepp
refused "unknown model 'rescon'; did you mean 'resconv'" --model rescon
refused "'kernle'.*did you mean 'kernel'" step --set kernle=3
refused "'--batch' is '0', expected an integer" --batch 0
