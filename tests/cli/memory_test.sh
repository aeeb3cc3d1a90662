#!/bin/sh
# --memory: a run that does not fit computes values again and ends with the same bits; one that cannot fit is
# refused before it writes anything.
. "$LRA_SOURCE/tests/cli/lib.sh"
set -e
train() {
    "$probe" train --out "$tmp" --set train=600 --set val=60 --set test=60 --set epochs=1 --set batch=256 \
        --set layers=6 --set dropout=0.1 --precision f32 "$@" 2>"$tmp/err"
}

for limit in 200:moments 28:cheap.activations 16:layers; do
    train --memory "${limit%:*}" >"$tmp/out" || fail "$(cat "$tmp/err")"
    grep -q "memory .*${limit#*:}.*" "$tmp/err" || { cat "$tmp/err" >&2; fail "no '${limit#*:}'"; }
    grep 'test accuracy' "$tmp/out" | sed 's/ steps,.*/ steps/' >"$tmp/accuracy"
    sed 's/,"seconds":.*//' "$tmp"/runs/*/log.jsonl >>"$tmp/accuracy"
    [ -e "$tmp/first" ] || cp "$tmp/accuracy" "$tmp/first"
    cmp "$tmp/first" "$tmp/accuracy" || fail "other numbers with $limit"
    rm -r "$tmp/runs"
done

if train --memory 3 >"$tmp/out"; then fail "3 MiB should not do"; fi
[ "$(grep -c . "$tmp/err")" = 1 ] || { cat "$tmp/err" >&2; fail "not one line"; }
grep -q 'batch 256 needs [0-9.]* MiB of workspace even though .*a batch of [0-9]* would fit' "$tmp/err" ||
    { cat "$tmp/err" >&2; fail "the message does not help"; }
[ ! -e "$tmp/runs" ] || fail "a refused run leaves a folder"
if train --memory 1 --set batch=1 --set width=256 >"$tmp/out"; then fail "1 MiB should not do"; fi
grep -q 'not even a batch of 1 fits' "$tmp/err" || { cat "$tmp/err" >&2; fail "a batch of 0 is proposed"; }
