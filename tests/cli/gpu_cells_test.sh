#!/bin/sh
# labels: slow
# tests/gpu_cells.sh on the CPU: cut off in the middle of a cell, it continues elsewhere from what it packed, to the same
# result as a run that was not stopped.
. "$LRA_SOURCE/tests/cli/lib.sh"
script=$LRA_SOURCE/tests/gpu_cells.sh
small="--preset quick --device cpu --precision f32 --threads 1 --set train=960 --set val=32 --set test=32 --set width=16 --set hidden=16 --set layers=1"

# shellcheck disable=SC2086
{
    rc=0
    "$script" --bin "$LRA_BUILD" --out "$tmp/none" --minutes 0 listops:3 -- $small >out 2>err || rc=$?
    [ $rc = 75 ] || complain "exit code $rc without time: $(cat out err)"

    # The signal must arrive before the last epoch: a run that was faster is repeated with 8 times the epochs.
    for epochs in 20 160 1280 10240; do
        rm -rf "$tmp/first" "$tmp/out-first"
        "$script" --bin "$LRA_BUILD" --out "$tmp/out-first" --work "$tmp/first" listops:3 -- $small --set epochs=$epochs >out 2>err &
        id=$!
        happens sh -c "grep -q epoch '$tmp'/first/runs/*/log.jsonl"
        kill -TERM $id
        rc=0
        wait $id || rc=$?
        [ "$(cat "$tmp"/first/runs/*/log.jsonl | wc -l)" -ge $epochs ] || break
    done
    [ $rc = 75 ] || complain "exit code $rc when stopped: $(cat out err)"
    grep -q 'time is up' out || complain "the output does not name the reason of the stop: $(cat out)"
    n=$(cat "$tmp"/first/runs/*/log.jsonl | wc -l)
    [ "$n" -lt $epochs ] || complain "the run was not stopped"

    "$script" --bin "$LRA_BUILD" --out "$tmp/out-second" --work "$tmp/second" --state "$tmp/out-first/state" listops:3 -- $small \
        --set epochs=$epochs >out 2>err || complain "the second call: $(cat out err)"
    "$script" --bin "$LRA_BUILD" --out "$tmp/out-whole" --work "$tmp/whole" listops:3 -- $small --set epochs=$epochs >out 2>err ||
        complain "the whole run: $(cat out err)"
}
untimed() { sed 's/,"seconds":.*//' "$tmp/$1"/runs/*/log.jsonl; }
untimed whole >a
untimed second >b
[ -s a ] && cmp -s a b || complain "two calls give another run than one"
[ "$(ls "$tmp/out-first" | tr '\n' ' ')" = 'cells.txt state ' ] || complain "files: $(ls "$tmp/out-first")"
"$script" --bin "$LRA_BUILD" >out 2>err
[ $? = 2 ] || complain "no cells are no usage error"
exit $bad
