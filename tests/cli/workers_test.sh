#!/bin/sh
# Several identical commands (workers) complete one sweep on one folder. Some are killed; the cells are those of a
# single process, bit for bit.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --precision f32 --threads 1"
sweep="sweep $small --vary kernel=3,5,7 --seeds 2"

# shellcheck disable=SC2086
"$probe" $sweep --set epochs=3 --out one -q >out 2>err || fail "one process: $(cat err)"
for run in one/runs/*; do
    "$probe" export "$run" "one-$(basename "$run").safetensors" -q >out 2>&1 || fail "export of $run"
done

# workers FOLDER OPTION...: four workers; two are killed, with the runs that they train, as soon as these are in training.
workers() {
    folder=$1
    shift
    for k in 1 2 3 4; do
        # shellcheck disable=SC2086
        setsid "$probe" $sweep --set epochs=3 --out "$folder" "$@" >"$folder-out$k" 2>"$folder-err$k" &
        eval "pid$k=$!"
    done
    trains() { ls "$folder"/runs/*/status || [ "$(ls "$folder"/runs/*/result.h5 | wc -l)" -eq 6 ]; }
    happens trains
    kill -KILL -$pid1 -$pid2 2>/dev/null
    for k in 3 4; do
        eval "wait \$pid$k" || complain "$*: worker $k of $folder failed: $(cat "$folder-err$k")"
        has "$folder-out$k" 'next '
    done
    wait
    for run in one/runs/*; do
        name=$(basename "$run")
        "$probe" export "$folder/runs/$name" "$folder-$name.safetensors" -q >out 2>&1 || complain "export of $name of $folder"
        cmp "one-$name.safetensors" "$folder-$name.safetensors" || complain "$folder: $name differs from that of one process"
    done
    if ls "$folder"/runs/*/*.claim "$folder"/runs/*/*.stale >left 2>/dev/null; then complain "left: $(cat left)"; fi
}
workers kernel
workers claims --locks claims

# Two workers at once divide the cells: no run is trained twice, and nobody waits before the end.
for k in 1 2; do
    # shellcheck disable=SC2086
    "$probe" $sweep --set epochs=4 --out two >"two-out$k" 2>"two-err$k" &
    eval "pid$k=$!"
done
for k in 1 2; do eval "wait \$pid$k" || complain "worker $k: $(cat "two-err$k")"; done
own=$(cat two-err1 two-err2 | grep -c ' trained$')
[ "$own" -eq 6 ] || complain "6 cells, $own trainings: $(cat two-err1 two-err2)"

# A run that another process trains: its message and its exit code.
# shellcheck disable=SC2086
"$probe" train $small --set epochs=100000 --out held -q >out 2>err &
pid=$!
in_training() { ls held/runs/*/checkpoint.h5; }
happens in_training
rc=0
# shellcheck disable=SC2086
"$probe" train $small --set epochs=100000 --out held --no-wait >out 2>err || rc=$?
[ $rc -eq 3 ] || complain "--no-wait: exit $rc: $(cat err)"
has err "is in use by process $pid"
"$probe" status --out held --json >status.json
grep -q "\"process\": *$pid, *\"host\": *\"" status.json || complain "status: $(cat status.json)"
kill -TERM $pid
wait $pid

# The claim of another machine: named, and taken over when this is asked for.
run=$(basename held/runs/*)
rm -f "held/runs/$run/lock"
echo "node-of-another-rack 12 345" >"held/runs/$run/lock.claim"
rc=0
# shellcheck disable=SC2086
"$probe" train $small --set epochs=100000 --out held --no-wait --locks claims >out 2>err || rc=$?
[ $rc -eq 3 ] || complain "a claim elsewhere: exit $rc: $(cat err)"
has err 'is in use by process 12 on node-of-another-rack'
# shellcheck disable=SC2086
"$probe" train $small --set epochs=100000 --out held --no-wait --locks claims --break-locks -q >out 2>err &
pid=$!
claimed() { grep -q " $pid " "held/runs/$run/lock.claim" || ! kill -0 $pid; }
happens claimed
kill -0 $pid 2>/dev/null || complain "the claim was not taken over: $(cat err)"
kill -TERM $pid
wait $pid
exit $bad
