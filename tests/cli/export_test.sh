#!/bin/sh
# Weights out of a run and into another: export, train --weights, and what is refused.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
complain() { echo "FAILED: $*: $(cat "$dir/stderr")"; failed=1; }
# expect CODE TEXT PROGRAM ARGS...: one line on stderr, nothing on stdout
expect() {
    code=$1 text=$2
    shift 2
    "$LRA_BUILD/$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
    got=$?
    if [ $got -ne "$code" ] || [ -s "$dir/stdout" ] || [ "$(wc -l <"$dir/stderr")" -ne 1 ] || ! grep -qF -- "$text" "$dir/stderr"; then
        complain "$*: exit $got, expected $code and '$text'"
    fi
}
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --out $dir/o -q"
"$LRA_BUILD/lra-probe" train $small >"$dir/stdout" 2>"$dir/stderr" || complain "a small run"
run=$(echo "$dir"/o/runs/*)

"$LRA_BUILD/lra-probe" export "$run" "$dir/w.safetensors" >"$dir/stdout" 2>"$dir/stderr" || complain "export"
grep -q "wrote $dir/w.safetensors: 11 arrays" "$dir/stdout" || complain "export: $(cat "$dir/stdout")"
expect 1 "is there already; --force replaces it" lra-probe export "$run" "$dir/w.safetensors"
"$LRA_BUILD/lra-probe" export "$run" "$dir/w.safetensors" --force --last >"$dir/stdout" 2>"$dir/stderr" || complain "export --force"
expect 2 "unknown run 'none'" lra-probe export "$dir/none" "$dir/x"
expect 1 "'$dir' is no folder of a run" lra-probe export "$dir" "$dir/x"
expect 1 "cannot write '$dir/none/x'" lra-probe export "$run" "$dir/none/x"
[ ! -e "$dir/x" ] || complain "a file although the export failed"

# As they are: the predictions of the run they came from.
expect 2 "option '--evaluate' needs '--weights FILE'" lra-probe train $small --evaluate
"$LRA_BUILD/lra-probe" export "$run" "$dir/best.safetensors" >"$dir/stdout" 2>"$dir/stderr" || complain "export"
"$LRA_BUILD/lra-probe" train $small >"$dir/first" 2>"$dir/stderr" || complain "the run again"
"$LRA_BUILD/lra-probe" train $small --weights "$dir/best.safetensors" --evaluate >"$dir/second" 2>"$dir/stderr" || complain "--evaluate"
grep -q "not trained" "$dir/second" || complain "--evaluate: $(cat "$dir/second")"
[ "$(sed -n 's/; .*//p' "$dir/first")" = "$(sed -n 's/; .*//p' "$dir/second")" ] || complain "another accuracy: $(cat "$dir/first" "$dir/second")"

# The other way: a run of its own, which the same command finds finished.
"$LRA_BUILD/lra-probe" train $small --weights "$dir/w.safetensors" >"$dir/first" 2>"$dir/stderr" || complain "train --weights"
"$LRA_BUILD/lra-probe" train $small --weights "$dir/w.safetensors" >"$dir/second" 2>"$dir/stderr" || complain "the same again"
cmp -s "$dir/first" "$dir/second" || complain "the same command prints another result"
[ "$(ls "$dir/o/runs" | wc -l)" -eq 3 ] || complain "runs: $(ls "$dir/o/runs")"
expect 1 "has shape (8,8,5), expected (8,8,7)" lra-probe train $small --set kernel=7 --weights "$dir/w.safetensors"
expect 1 "cannot open '$dir/none'" lra-probe train $small --weights "$dir/none"
head -c 700 "$dir/w.safetensors" >"$dir/cut"
expect 1 "'$dir/cut'" lra-probe train $small --weights "$dir/cut"
exit $failed
