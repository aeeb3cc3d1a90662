#!/bin/sh
# What goes wrong in the first hour: one clear line (what was found, what is expected), the right exit code, nothing
# on stdout, nothing left behind; what was interrupted goes on; --json is JSON.
. "$LRA_SOURCE/tests/cli/lib.sh"

# says CODE MESSAGE PROGRAM ARGS...
says() {
    code=$1 message=$2
    shift 2
    "$@" >out 2>err </dev/null
    rc=$?
    [ $rc -eq "$code" ] || complain "$*: exit $rc, expected $code"
    [ "$(tail -n 1 err)" = "$1: $message" ] || complain "$*: says '$(cat err)', expected '$1: $message'"
    [ "$(grep -c "^$1: " err)" -eq 1 ] || complain "$*: more than one message: $(cat err)"
    [ -s out ] && complain "$*: prints '$(head -n 1 out)' and fails"
}
mkdir empty && : >afile
small="--set train=640 --set val=64 --set test=200 --set width=8 --set hidden=8 --set layers=1 --precision f32 -q"

# ---- wrong words ------------------------------------------------------------------------------------------
says 2 "'epochs' is '0', expected an integer from 1 to 1000000" lra-probe train --set epochs=0
says 2 "option '--out' is '', expected DIR" lra-probe train --out ''
says 2 "option '--set' is '', expected KEY=VALUE" lra-probe train --set=
says 2 "argument 1 is '' (usage: lra-probe list tasks|models|probes|ops|devices|presets|parameters|objectives|schedules|augmentations|experiments|settings [NAME])" lra-probe list ''
says 2 "option '--png' needs '--show'" lra-probe data pathfinder --png a.png
says 2 "option '--split' needs '--show'" lra-probe data listops --split train
says 2 "option '--force' needs '--make'" lra-probe data listops --force
says 2 "'locality' is the name of a figure, expected a result; write '--figure locality'" lra-report figures locality
says 2 "'models' is the name of a table, expected a result; write '--table models'" lra-report tables models
[ -d lra-out ] && complain "wrong words leave a folder behind"
lra-probe listops >out 2>err </dev/null
[ $? -eq 2 ] && [ ! -s out ] && grep -q '^usage: lra-probe listops RUN' err || complain "no arguments: $(cat err)"

# ---- files that are not what they should be ---------------------------------------------------------------
says 1 "there is no file or folder 'none', expected the official files of 'listops'" lra-probe train --data-dir none
says 1 "there is no file or folder 'none', expected the official files of 'listops'" lra-probe data listops --import none
says 1 "there is no file or folder 'none', expected official files of 'listops'" lra-probe data listops --check none
says 1 "there is no file or folder 'none', expected official files of 'pathfinder'" lra-probe data pathfinder --check none
says 1 "'afile' is not a folder" lra-probe train --out afile
says 1 "cannot open 'none': No such file or directory" lra-probe train --weights none
says 1 "'empty' is not a regular file" lra-probe train --weights empty
says 1 "'afile' has 0 bytes, a safetensors file at least 8" lra-probe train --weights afile
says 1 "there is no file or folder 'none'" lra-report figures --out none
for command in figures tables show; do
    place="--out empty"
    [ $command = show ] && place=empty
    # shellcheck disable=SC2086
    says 1 "no results in 'empty'; 'lra-probe receptive-field' makes them" lra-report $command $place
done
says 1 "no ListOps breakdowns in 'empty'; 'lra-probe listops RUN...' makes them" lra-report figures --figure loc-2 --out empty
says 1 "no results in 'empty' and 1 other place; 'lra-probe receptive-field' makes them" lra-report tables empty empty
says 1 "'afile': not a complete HDF5 file (cut short, or damaged)" lra-report tables afile
[ -z "$(ls empty)" ] || complain "an empty folder is no longer: $(ls empty)"

# ---- runs by name -----------------------------------------------------------------------------------------
# shellcheck disable=SC2086
lra-probe train $small --set epochs=1 --out o >out 2>err || complain "train: $(cat err)"
run=$(ls o/runs)
says 2 "there is no run 'none', nor any run in 'lra-out/runs'" lra-probe export none w
says 2 "unknown run '${run}x'; did you mean '$run'? ('ls o/runs' shows all)" lra-probe listops "${run}x" --out o
says 1 "'o' is not the folder of a run; its runs are in 'o/runs': 'o/runs/*' selects all 1" lra-probe listops o
says 1 "'empty' is not the folder of a run (no result.h5, no checkpoint)" lra-probe export empty w
says 1 "'afile' does not belong to a run; expected the folder of a run" lra-probe listops afile
says 1 "'empty' is a folder; expected a file name" lra-probe export "o/runs/$run" empty
says 1 "'afile' already exists; --force replaces it" lra-probe export "o/runs/$run" afile
lra-probe export "$run" w --out o >out 2>err || complain "export by name: $(cat err)"
lra-probe export "o/runs/$run/result.h5" w2 >out 2>err || complain "export by file: $(cat err)"
cmp -s w w2 || complain "a run's name and its file give different weights"
# shellcheck disable=SC2086
says 1 "'w': 'param/embed/table' has shape (18,8), expected (18,16)" lra-probe train $small --set width=16 --weights w

# ---- interrupted, and again -------------------------------------------------------------------------------
# shellcheck disable=SC2086
lra-probe train $small --set train=6400 --set epochs=20 --out c >out 2>err &
child=$!
happens sh -c 'ls c/runs/*/checkpoint.h5'
kill -INT $child
wait $child
[ $? -eq 130 ] || complain "Ctrl-C: not 130: $(cat err)"
before=$(cat c/runs/*/log.jsonl 2>/dev/null | wc -l)
# shellcheck disable=SC2086
lra-probe train $small --set train=6400 --set epochs=20 --out c >out 2>err || complain "again: $(cat err)"
grep -q '^wrote c/runs/.*/result.h5' out || complain "again: $(cat out)"
[ "$(cat c/runs/*/log.jsonl | wc -l)" -gt "$before" ] || complain "again: the log has not grown"
# shellcheck disable=SC2086
lra-probe train $small --set train=6400 --set epochs=20 --out c >again 2>err || complain "a third time: $(cat err)"
cmp -s out again || complain "a finished run prints something else: $(cat again)"
lra-probe bench step --seconds 60 --length 64 --batch 2 >out 2>err &
child=$!
happens catches_signals $child
kill -INT $child
wait $child
[ $? -eq 130 ] || complain "bench is not interrupted"
[ -s out ] && complain "an interrupted benchmark prints numbers"

# ---- JSON -------------------------------------------------------------------------------------------------
json() {
    "$@" >out 2>err </dev/null || complain "$*: $(cat err)"
    grep -v '^warning: ' err >other && complain "$*: stderr: $(cat other)"
    if command -v python3 >/dev/null 2>&1; then
        python3 -m json.tool <out >tree 2>&1 || complain "$*: not JSON: $(cat tree)"
    elif command -v jq >/dev/null 2>&1; then
        jq . <out >tree 2>&1 || complain "$*: not JSON: $(cat tree)"
    fi
    grep -qi 'nan\|infinity' out && complain "$*: not JSON: $(grep -i 'nan\|infinity' out | head -n 1)"
}
command -v python3 >/dev/null 2>&1 || command -v jq >/dev/null 2>&1 || echo "newcomer_test: neither python3 nor jq: JSON not parsed"
json lra-probe bench step params --seconds 0.01 --length 64 --batch 2 --threads 1 --json -q
json lra-probe data listops --set train=100 --set val=20 --set test=20 --json -q
lra-probe data listops --make 100 --out mk -q >out || complain "make"
made=$(cat out)
json lra-probe data listops --import "$made" --json -q
json lra-probe data listops --check "$made" --json -q
json lra-probe listops "o/runs/$run" --json -q
# shellcheck disable=SC2086
json lra-probe receptive-field $small --set epochs=1 --kernels 3,5 --seeds 1 --out o --json
json lra-report tables --out o --format json -q
json lra-report tables --table listops --out o --format json -q

# ---- the plan is the answer of --dry-run ------------------------------------------------------------------
# shellcheck disable=SC2086
lra-probe receptive-field $small --set epochs=1 --kernels 3,5,7 --seeds 1 --out o --dry-run >out 2>err || complain "dry run: $(cat err)"
grep -q '^ladder: listops, preset quick, 3 kernels x 1 seeds = 3 runs, 2 done' out || complain "dry run: $(cat out)"
# Names of other programs are understood.
for pair in lr:rate learning-rate:rate batch-size:batch data:task name:label gpu:device d-model:width; do
    says 2 "unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" lra-probe train --${pair%:*} x
done
exit $bad
