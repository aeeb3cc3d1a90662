#!/bin/sh
# Signals, wherever they come: exit code 130 at once, nothing half-written; cells end with their sweep, however it ends;
# the program's own file may change or go while a sweep runs.  Everything waits for events, never for seconds.
. "$LRA_SOURCE/tests/cli/lib.sh"
[ -r /proc/self/status ] || skip "no /proc to see processes in"

gone() { [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"; }

# Who starts this test may have SIGHUP ignored (nohup), and then nobody below can be stopped by it.
ignored=$(sed -n 's/^SigIgn:.*\(.\)$/\1/p' /proc/self/status)
case $ignored in *[13579bdf]) hup=TERM ;; *) hup=HUP ;; esac

# Generation, import and planning: long work, stopped as soon as the program can be.
for command in "INT data listops --make 3000000 --out made" "TERM data pathfinder --make 20000 --out made" \
    "$hup receptive-field --task pathfinder --preset paper --out made" \
    "TERM train --task listops --preset paper --out made"; do
    signal=${command%% *} command=${command#* }
    "$probe" $command >out 2>err </dev/null &
    pid=$!
    happens catches_signals $pid
    kill -"$signal" $pid
    wait $pid
    got=$?
    [ $got -eq 130 ] || complain "SIG$signal, $command: exit $got: $(cat err)"
    [ ! -d made ] || [ -z "$(find made -name '*.tmp')" ] || complain "$command: left $(find made -name '*.tmp')"
    rm -rf made
done

# A sweep whose program is replaced, then removed, completes with the cells that were still to come.
small="--set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --precision f32 -q"
epochs=40
[ "${LRA_BUILD_TYPE-}" != Debug ] || epochs=8 # an epoch is slow with sanitizers
cp "$probe" mine
./mine receptive-field $small --set epochs=$epochs --kernels 3,5,7,9 --seeds 1 --jobs 2 --out o >out 2>err </dev/null &
pid=$!
happens sh -c 'ls o/runs/*/log.jsonl'
cp /bin/true other && mv other mine && rm mine
wait $pid || complain "a sweep without its program: exit $?: $(cat err)"
[ "$(ls o/runs/*/result.h5 | wc -l)" -eq 4 ] || complain "cells are missing: $(ls o/runs/*)"

# Cells end with their sweep: they are told, save what they have, and go.
long="$small --set epochs=100000 --kernels 3,5 --seeds 1 --jobs 2 --out k"
for signal in KILL $hup TERM; do
    "$probe" receptive-field $long >out 2>err </dev/null &
    pid=$!
    happens sh -c '[ "$(ls k/runs/*/log.jsonl | wc -l)" -eq 2 ]' # both train
    happens sh -c "[ \$(wc -w </proc/$pid/task/$pid/children) -eq 2 ]"
    cells=$(cat "/proc/$pid/task/$pid/children")
    kill -$signal $pid
    wait $pid
    got=$?
    [ $signal = KILL ] || [ $got -eq 130 ] || complain "a sweep stopped by SIG$signal: exit $got: $(cat err)"
    for cell in $cells; do happens gone "$cell"; done
    [ "$(ls k/runs/*/checkpoint.h5 | wc -l)" -eq 2 ] || complain "SIG$signal: cells left no checkpoints"
    rm -rf k
done
exit $bad
