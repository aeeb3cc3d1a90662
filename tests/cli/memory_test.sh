#!/bin/sh
# --memory: a run that does not fit computes values again and ends with the same bits; one that cannot fit is
# refused before it writes anything.
set -eu
probe=$LRA_BUILD/lra-probe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "memory_test: $1" >&2; exit 1; }
train() {
    "$probe" train --out "$work" --set train=600 --set val=60 --set test=60 --set epochs=1 --set batch=256 \
        --set layers=6 --set dropout=0.1 --precision f32 "$@" 2> "$work/err"
}

for limit in 200:moments 28:cheap.results 16:layers; do
    train --memory "${limit%:*}" > "$work/out" || fail "$(cat "$work/err")"
    grep -q "memory .*${limit#*:}.*" "$work/err" || { cat "$work/err" >&2; fail "no '${limit#*:}'"; }
    grep 'test accuracy' "$work/out" | sed 's/ steps,.*/ steps/' > "$work/accuracy"
    cat "$work"/runs/*/log.jsonl >> "$work/accuracy"
    [ -e "$work/first" ] || cp "$work/accuracy" "$work/first"
    cmp "$work/first" "$work/accuracy" || fail "other numbers with $limit"
    rm -r "$work/runs"
done

if train --memory 3 > "$work/out"; then fail "3 MiB should not do"; fi
[ "$(grep -c . "$work/err")" = 1 ] || { cat "$work/err" >&2; fail "not one line"; }
grep -q 'batch 256 needs [0-9.]* MiB of workspace although .*a batch of [0-9]* would fit' "$work/err" ||
    { cat "$work/err" >&2; fail "the message does not help"; }
[ ! -e "$work/runs" ] || fail "a refused run leaves a folder"
if train --memory 1 --set batch=1 --set width=256 > "$work/out"; then fail "1 MiB should not do"; fi
grep -q 'not even a batch of 1 fits' "$work/err" || { cat "$work/err" >&2; fail "a batch of 0 is proposed"; }
