#!/bin/sh
# What options do that no other test asks for; and that every documented option occurs in a test.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=640 --set val=64 --set test=64 --set epochs=2 --set width=8 --set hidden=8 --set layers=1 --precision f32"
accuracy() { grep -o 'test accuracy [0-9.]*' out; }

# Whatever says how a run is done leaves what comes out alone.
expect 0 '' lra-probe train $small --out plain -q
accuracy >answer
[ ! -s err ] || complain "--quiet is not quiet: $(cat err)"
n=0
for how in --debug-nodes "--checkpoint-every 0" "--recompute layers" "--threads 1" "--device cpu --memory 4000" --no-color; do
    n=$((n + 1))
    expect 0 '' lra-probe train $small $how --out "o$n" -q
    accuracy | cmp -s - answer || complain "$how: $(cat out), without: $(cat answer)"
done
expect 0 'epoch 2 of 2: loss' lra-probe train $small --out v --verbose
expect 0 '' lra-probe train $small --schedule constant --out s --dry-run
says constant
grep -q "$(printf '\033')" out err && complain "escape codes in a pipe"

# A reader that has gone, as that of "| head", is no fault to speak of; another one is.
mkfifo gone
: <gone &
exec 4>gone
wait $!
lra-probe list parameters >&4 2>err
[ $? -eq 1 ] && [ ! -s err ] || complain "a reader that has gone: $(cat err)"
lra-probe train --sed 1 >&4 2>err
[ $? -eq 2 ] && grep -q "did you mean '--seed'" err || complain "a fault, and a reader that has gone: $(cat err)"
exec 4>&-
if [ -w /dev/full ]; then
    lra-probe list parameters >/dev/full 2>err
    [ $? -eq 1 ] && grep -q 'cannot write the output: No space left on device' err || complain "a full disk: $(cat err)"
fi

# Names of other programs.
for pair in lr:rate learning-rate:rate batch-size:batch weight-decay:decay num-layers:layers; do
    expect 2 "unknown option '--${pair%:*}'; did you mean '--${pair#*:}'?" lra-probe train "--${pair%:*}" 1
done

# A misspelt setting gets the nearest one, however it is given.
for command in "train --kernal 5" "train --kernal=5" "bench --kernal 5"; do
    expect 2 "unknown option '--kernal'; did you mean '--kernel'?" lra-probe $command
done
expect 2 "has no 'kernal'; did you mean 'kernel'?" lra-probe train --set kernal=5
expect 2 "has no 'dilaton'; did you mean 'dilation'?" lra-probe receptive-field --axis dilaton=1,2
expect 2 "has no 'distnce'; did you mean 'distance'?" lra-probe receptive-field --task xor --vary distnce=8

# The rung's ladder stands beside the result, in the same run.
expect 0 '' lra-probe train $small --ladder "kernel 3 65" --out rung -q
accuracy | cmp -s - answer || complain "--ladder: $(cat out), without: $(cat answer)"
[ -e "rung/runs/$(basename plain/runs/*)/result.h5" ] || complain "--ladder makes another run"
grep -aq "kernel 3 65" rung/runs/*/result.h5 || complain "the result does not name its ladder"

# The ladder's reference and chance: every form of both, the same runs.
ladder="receptive-field $small --kernels 3,65 --seeds 1 --model resconv --device cpu --threads 1 --schedule constant --out l -q"
expect 0 '' lra-probe $ladder
run=$(ls -d l/runs/* | head -1)
for reference in widest best "$run" "$(basename "$run")"; do
    expect 0 '' lra-probe $ladder --reference "$reference" --json
    says '"rows"'
done
expect 2 "needs preset 'paper'" lra-probe $ladder --reference published
expect 0 '' lra-probe $ladder --chance uniform
cp out uniform
expect 0 '' lra-probe $ladder --chance majority
if cmp -s out uniform; then complain "--chance changes nothing"; fi
expect 0 '' lra-report tables --table ladder --reference "$run" --chance uniform --out l

# A scheduler asks: exit code 75, and the same command completes the run.
if [ -r /proc/self/status ]; then
    "$probe" train $small --set epochs=100000 --requeue --out r >out 2>err </dev/null &
    pid=$!
    happens sh -c 'ls r/runs/*/log.jsonl'
    kill -USR1 $pid
    wait $pid
    got=$?
    [ $got -eq 75 ] || complain "--requeue: exit $got: $(cat err)"
    [ -s "$(echo r/runs/*/checkpoint.h5)" ] || complain "--requeue left no checkpoint"
fi

# Other tokens and classes are other parameters.
step="bench step --batch 2 --length 32 --seconds 0.01 --threads 1 --set layers=1 --set width=8 --set hidden=8"
expect 0 '' lra-probe $step --vocab 16 --classes 2
grep -o 'parameters and moments [^)]*' out >few
expect 0 '' lra-probe $step --vocab 32 --classes 4
grep -o 'parameters and moments [^)]*' out >more
if cmp -s few more; then complain "--vocab and --classes change nothing: $(cat out)"; fi

# A classifier has no context curve, as a run and as a served model that is measured into its own run.
run=$(echo plain/runs/*)
expect 2 'does not predict the next token' "$probe" influence "$run" --parts context-curve --context 4 -q
expect 0 '' lra-probe audit --into "$run" --set train=640 --set val=64 --set test=64 --parts jacobian --examples 8 --no-check -q --out plain -- "$probe" serve "$run" -q
[ "$(ls plain/runs)" = "$(basename "$run")" ] && [ -s "$run/influence.h5" ] || complain "--into: $(ls plain/runs)"

# Every option of every command in the help of the programs is named by a test.
cat "$LRA_SOURCE"/tests/cli/*_test.sh "$LRA_SOURCE"/tests/*.sh "$LRA_SOURCE"/tests/*/*_test.c "$LRA_SOURCE"/tests/python/*_test.py >tests
for program in lra-probe lra-report; do
    $program --help >help
    for command in $(sed -n '/^commands:/,/^exit codes/p' help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
        $program "$command" --help >out || complain "$program $command --help: exit $?"
        options=$(grep -oE '^ *(-[a-zA-Z], )?--[a-z0-9-]+' out | grep -oE -e '--[a-z0-9-]+')
        [ -n "$options" ] || complain "$program $command --help shows no options"
        for option in $options; do
            grep -qE -e "$option([ =\"',;]|\$)" tests || complain "no test names '$option' of '$program $command'"
        done
    done
done
exit $bad
