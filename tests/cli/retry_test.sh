#!/bin/sh
# Cells that fail: their reason is stored and shown, the others are trained, a repetition skips them, --retry trains them.
# status shows done, failed and waiting cells by the names of their sweep, and the remaining time.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --set epochs=1 --precision f32 --threads 1"
sweep="sweep $small --vary rate=0.001,0.002,0.003 --seeds 1"

# One cell cannot write its weights: a folder is in their place.
# shellcheck disable=SC2086
"$probe" $sweep --out o -q >whole 2>err || fail "sweep: $(cat err)"
[ ! -e o/sweeps ] || complain "a complete sweep leaves its plan"
# break_run RATE: prints the run's folder, which is empty except for the obstacle
break_run() {
    for folder in o/runs/*; do
        "$report" show "$folder/result.h5" | grep -q "rate *$1\$\|rate=$1\$" || continue
        rm -r "$folder"
        mkdir -p "$folder/best.h5/obstacle"
        echo "$folder"
    done
}
broken=$(break_run 0.002)
[ -d "$broken" ] || fail "no run has rate 0.002: $("$report" show o/runs/*/result.h5)"
# shellcheck disable=SC2086
"$probe" $sweep --out o >out 2>err && complain "a run failed, the sweep did not: $(cat err)"
[ ! -s out ] || complain "a table of a part: $(cat out)"
has err '  rate=0.002 seed 0 failed with exit code 1'
has err '1 of 3 runs failed (--retry trains them again); the first: rate=0.002 seed 0: '
grep -q 'best.h5' "$broken/failed.json" && grep -q '"exit": 1' "$broken/failed.json" || complain "no reason: $(ls "$broken")"
"$probe" status --out o >out 2>err || complain "status: $(cat err)"
grep -q '^failed .*rate=0.002 seed 0' out || complain "status: $(cat out)"
grep -q "^ *exit code 1, 20.*best.h5" out || complain "status says no reason: $(cat out)"
has out '3 runs: 2 done, 0 training, 0 stopped, 0 empty, 1 failed (--retry of the same sweep trains it again)'
"$probe" status --out o --json >out 2>err || complain "status: $(cat err)"
grep -q '"state":"failed"[^}]*"reason":"exit code 1' out || complain "JSON: $(cat out)"

# The same command skips it with one line; what is mended is trained with --retry.
rm -r "$broken/best.h5"
# shellcheck disable=SC2086
expect 1 '1 of 3 runs failed' "$probe" $sweep --out o -q
# shellcheck disable=SC2086
"$probe" $sweep --out o >out 2>err && complain "a failed cell is skipped, the sweep does not fail"
[ "$(grep -c 'rate=0.002 seed 0: skipped, it failed: exit code 1' err)" -eq 1 ] || complain "skipped: $(cat err)"
# shellcheck disable=SC2086
"$probe" $sweep --out o --retry >out 2>err || fail "retry: $(cat err)"
has err '   1 of 1: rate=0.002 seed 0 trained'
[ ! -e "$broken/failed.json" ] || complain "a finished run keeps its failure"
grep '^listops' out | awk '{ print $1, $2, $4, $8, $9, $10 }' >again
grep '^listops' whole | awk '{ print $1, $2, $4, $8, $9, $10 }' | cmp - again || complain "another table: $(cat out)"

# A ladder in one process does the same.
ladder="receptive-field $small --kernels 3,5 --seeds 1"
# shellcheck disable=SC2086
"$probe" $ladder --out l -q >whole 2>err || fail "ladder: $(cat err)"
run=$(ls -d l/runs/* | head -n 1)
rm -r "$run" && mkdir -p "$run/best.h5/obstacle"
for jobs in 1 2; do
    # shellcheck disable=SC2086
    "$probe" $ladder --out l --jobs $jobs --retry >out 2>err && complain "a rung failed, the ladder did not: $(cat err)"
    has err '1 of 2 runs failed (--retry trains them again); the first: K = '
    # shellcheck disable=SC2086
    "$probe" $ladder --out l --jobs $jobs >out 2>err && complain "a failed rung is skipped, the ladder does not fail"
    has err ': skipped, it failed: exit code 1'
done
rm -r "$run/best.h5"
# shellcheck disable=SC2086
"$probe" $ladder --out l --retry -q >out 2>err || fail "retry of a ladder: $(cat err)"

# If nothing works, the sweep ends after three failures.
# shellcheck disable=SC2086
"$probe" sweep $small --vary rate=0.001,0.002,0.003,0.004,0.005 --seeds 1 --out m -q >out 2>err || fail "sweep: $(cat err)"
for folder in m/runs/*; do rm -r "$folder" && mkdir -p "$folder/best.h5/obstacle"; done
# shellcheck disable=SC2086
"$probe" sweep $small --vary rate=0.001,0.002,0.003,0.004,0.005 --seeds 1 --out m >out 2>err && complain "everything failed, the sweep did not"
has err '3 runs failed in a row, so that no more are started; the first: rate=0.001 seed 0: '
[ "$(ls m/runs/*/failed.json | wc -l)" -eq 3 ] || complain "not three failures: $(ls m/runs/*)"
"$probe" status --out m >out 2>err || complain "status: $(cat err)"
has out ' 3 failed (--retry of the same sweep trains them again), 2 waiting'
grep -q '^waiting .*rate=0.00[0-9] seed 0' out || complain "waiting: $(cat out)"

# Remaining time: from finished runs of the same task and model; the process of a run in training.
# shellcheck disable=SC2086
"$probe" sweep $small --epochs 100000 --vary rate=0.001,0.002,0.003 --seeds 1 --out w >out 2>err &
pid=$!
in_training() { "$probe" status --out w | grep '^training .*rate=0.001 seed 0.* left  *process [0-9]'; }
happens in_training
"$probe" status --out w >out 2>err || complain "status: $(cat err)"
[ "$(grep -c '^waiting .*rate=0.00[23] seed 0$' out)" -eq 2 ] || complain "waiting: $(cat out)"
has out '3 runs: 0 done, 1 training, 0 stopped, 0 empty, 2 waiting'
has out ' until the 3 unfinished runs are done, 1 at a time'
"$probe" status --out w --json >out 2>err || complain "status: $(cat err)"
grep -q '"seconds_left":[1-9]' out || complain "JSON: $(cat out)"
kill -TERM $pid
wait $pid
"$probe" status --out w >out 2>err || complain "status: $(cat err)"
has out ' of training remain for 3 runs; nothing is in training'
exit $bad
