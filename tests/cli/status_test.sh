#!/bin/sh
# lra-probe status: what runs are doing, from another process; a finished run says so; a line for every epoch where
# nobody watches.
. "$LRA_SOURCE/tests/cli/lib.sh"

expect 1 "there is no folder 'nowhere'" lra-probe status --out nowhere
mkdir empty
"$probe" status --out empty >out 2>err || complain "empty: $(cat err)"
has out '0 runs: 0 done, 0 training, 0 stopped, 0 empty'
has err "'empty' has no folder 'runs'; expected the folder that 'lra-probe train' has as --out"

# A name that is no UTF-8 is a run like any other.
mkdir -p "odd/runs/$(printf 'x\377y\033z')"
"$probe" status --out odd --json >out 2>err || complain "odd: $(cat err)"
has out '"state":"empty"'
"$probe" status --out odd >out 2>err || complain "odd: $(cat err)"
has out '1 run: 0 done, 0 training, 0 stopped, 1 empty'
grep -q "$(printf '\033')" out && complain "an escape sequence of a name is printed"

small="--set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1"
run="train --task listops $small --seed 3 --out o"
# Training for longer than this test takes: it ends when it is told to.
# shellcheck disable=SC2086
"$probe" $run --set epochs=100000 -q >/dev/null 2>err &
pid=$!
until ls o/runs/*/status >/dev/null 2>&1; do
    kill -0 $pid 2>/dev/null || { complain "the run ended: $(cat err)"; break; }
done
"$probe" status --out o >out 2>err || complain "status: $(cat err)"
grep -q '^training  [0-9a-f]\{6\} listops resconv K *= *5 ' out || complain "training: $(cat out)"
has out 'of 100000'
has out '1 run: 0 done, 1 training'
"$probe" status --out o --json >json 2>err || complain "status --json: $(cat err)"
has json '"state":"training"'
has json "\"process\":$pid"
has json '"epochs":100000'
# A run that has its result is done, though its process holds the folder for a moment yet; one that cannot be read is none.
# shellcheck disable=SC2086
"$probe" train --task listops $small --set epochs=1 --out other -q >/dev/null 2>err || complain "another run: $(cat err)"
for folder in o/runs/*; do head -c 3000 other/runs/*/result.h5 >"$folder/result.h5"; done
"$probe" status --out o >out 2>err || complain "damaged: $(cat err)"
has out 'damaged   listops-resconv'
has out '1 run: 0 done, 0 training, 0 stopped, 0 empty, 1 damaged (move result.h5 away'
for folder in o/runs/*; do cp other/runs/*/result.h5 "$folder/result.h5"; done
"$probe" status --out o >out 2>err || complain "ending: $(cat err)"
has out '1 run: 1 done, 0 training'
rm o/runs/*/result.h5
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || complain "the run was not interrupted: $(cat err)"
"$probe" status --out o >out 2>err || complain "stopped: $(cat err)"
grep -q '^stopped   [0-9a-f]\{6\} listops resconv K = 5.* seed 3 ' out || complain "stopped: $(cat out)"
has out '1 stopped, 0 empty'

# Whoever needs a damaged result says what to do, and does not call it done; moved away, it is made again.
for folder in other/runs/*; do
    cp "$folder/result.h5" whole.h5
    head -c 3000 whole.h5 >"$folder/result.h5"
    # shellcheck disable=SC2086
    expect 1 "result.h5': .*; move it away; the command that trained the run makes it again" "$probe" train --task listops $small --set epochs=1 --out other
    ! grep -q 'already done' err || complain "a damaged result is called done: $(cat err)"
    # shellcheck disable=SC2086
    "$probe" receptive-field --task listops $small --set epochs=1 --kernels 5 --seeds 1 --out other >out 2>err
    [ $? -eq 1 ] || complain "a ladder of a damaged result: $(cat err)"
    has err '; move it away; the command'
    rm "$folder/result.h5"
    # shellcheck disable=SC2086
    "$probe" train --task listops $small --set epochs=1 --out other -q >out 2>err || complain "again: $(cat err)"
    for file in whole.h5 "$folder/result.h5"; do # but for the time that it took
        "$report" tables --wide --table tasks "$file" 2>err | sed -n 's/^listops \(.*[0-9] %\) .*/\1/p' >"$(basename "$file").txt"
    done
    [ -s whole.h5.txt ] && cmp -s whole.h5.txt result.h5.txt || complain "made again it is another one: $(cat result.h5.txt)"
done

# What somebody else wrote there does not reach the terminal.
for folder in o/runs/*; do
    printf '{"title":"\033[2J","value":"","epoch":1,"epochs":2,"step":1,"steps":2,"left":1}%432s\n' '' >"$folder/status"
    "$probe" status --out o >out 2>err || complain "hostile status: $(cat err)"
    grep -q "$(printf '\033')" out && complain "an escape sequence of a file is printed"
    grep -q '^stopped   [0-9a-f]\{6\} listops resconv K = 5' out || complain "stopped: $(cat out)"
    rm "$folder/status"
    ln -s /dev/zero "$folder/status"
    "$probe" status --out o >out 2>err || complain "a link: $(cat err)"
    grep -q '^stopped   [0-9a-f]\{6\} listops resconv K = 5' out || complain "stopped: $(cat out)"
done

# Runs are named by what differs between them, and by their labels, in status, show and JSON; a stopped run, too.
mkdir named
few="train --task listops $small --set epochs=1 --out named -q"
# shellcheck disable=SC2086
{
    "$probe" $few --seed 0 --label base >/dev/null 2>err || complain "named: $(cat err)"
    "$probe" $few --seed 1 --label base >/dev/null 2>err || complain "named: $(cat err)"
    "$probe" $few --seed 0 --set rate=0.002 --kernel 3 --label 'low rate' >/dev/null 2>err || complain "named: $(cat err)"
    "$probe" $few --seed 0 --set epochs=100000 --label long >/dev/null 2>err &
    pid=$!
}
until [ -n "$(find named -name checkpoint.h5 -newer named/runs)" ] && ls named/runs/*/status >/dev/null 2>&1; do
    kill -0 $pid 2>/dev/null || { complain "the run ended: $(cat err)"; break; }
done
kill -TERM $pid
wait $pid
rm -f named/runs/*/status
"$probe" status --out named --all >out 2>err || complain "names: $(cat err)"
for name in 'K = 5 epochs=1 rate=0.004 \[base\] seed 0' 'K = 5 epochs=1 rate=0.004 \[base\] seed 1' 'K = 3 epochs=1 rate=0.002 \[low rate\] seed 0'; do
    grep -q "^done      [0-9a-f]\{6\} listops resconv $name  *accuracy [0-9.]* %$" out || complain "status lacks '$name': $(cat out)"
done
grep -q '^stopped   [0-9a-f]\{6\} listops resconv K = 5 epochs=100000 rate=0.004 \[long\] seed 0$' out || complain "stopped: $(cat out)"
"$probe" status --out named --all --json >out 2>err || complain "names: $(cat err)"
has out '"name":"listops resconv K = 3 epochs=1 rate=0.002 [low rate] seed 0","task":"listops","model":"resconv","seed":0,"label":"low rate","settings":{'
has out '"train.rate":"0.002"'
"$report" show named >out 2>err || complain "show: $(cat err)"
has out '  name              resconv K = 3 rate=0.002 [low rate]'
"$report" show --json named >out 2>err || complain "show: $(cat err)"
has out '"name": "resconv K = 3 rate=0.002 [low rate]"'

# A line for each epoch, and the end.
# shellcheck disable=SC2086
"$probe" $run --set epochs=2 >out 2>err || complain "train: $(cat err)"
has err 'epoch 1 of 2: loss'
has err 'epoch 2 of 2: loss'
grep -q 'already done' err && complain "a new run says that it is done"
# shellcheck disable=SC2086
"$probe" $run --set epochs=2 >again 2>err || complain "train again: $(cat err)"
has err 'already done'
cmp -s out again || complain "a finished run prints something else"
"$probe" status --all --out o >out 2>err || complain "status --all: $(cat err)"
has out '2 runs: 1 done, 0 training, 1 stopped'
[ -z "$(find o/runs/* -name result.h5 -exec dirname {} \; | while read -r d; do ls "$d" | grep status; done)" ] ||
    complain "a finished run leaves its status"
exit $bad
