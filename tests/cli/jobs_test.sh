#!/bin/sh
# Several runs at once (--jobs): one line on a terminal, which fits it; elsewhere a line for every run that ends.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1"
ladder="receptive-field $small --kernels 3,5 --seeds 1 --jobs 2"

# Nobody watches: a line a run, and nothing is drawn.
# shellcheck disable=SC2086
"$probe" $ladder --set epochs=1 --out o >out 2>err || fail "two at once: $(cat err)"
has err ' 1 of 2: K = '
has err ' 2 of 2: K = '
grep -q 'running' err && complain "a display where there is no terminal: $(cat err)"
grep -q "$(printf '\r\|\033')" err && complain "control characters where there is no terminal"

unset COLUMNS
# A terminal of 64 columns; the runs take longer than this test and end when they are told to.
command -v script >/dev/null || skip "script (util-linux) is not installed"
if script --version >version 2>&1; then :; else skip "script is not that of util-linux"; fi
script -qefc "stty cols 64 && exec '$probe' $ladder --set epochs=100000 --out t" shown >/dev/null 2>&1 </dev/null &
pid=$!
at_work() { grep -q '0 of 2 runs done, 2 running .*left  K = 3 ' shown || ! kill -0 $pid; }
happens at_work
kill -0 $pid 2>/dev/null || fail "it ended: $(tail -5 shown)"
# Both have their first checkpoint behind them, so that both save another one when they are told to stop.
saved() { [ "$(ls t/runs/*/checkpoint.h5 2>/dev/null | wc -l)" -eq 2 ] || ! kill -0 $pid; }
happens saved
kill -0 $pid 2>/dev/null || fail "it ended: $(tail -5 shown)"
parent=$("$probe" status --out t --json | grep -o '"process": *[0-9]*' | head -n 1 | tr -dc 0-9)
parent=$(ps -o ppid= -p "$parent") && kill -TERM $parent || fail "no run has a process"
wait $pid
[ $? -eq 130 ] || complain "it was not interrupted: $(tail -3 shown)"
has shown 'stopped; checkpoints are saved'
tr '\r' '\n' <shown | sed "s/$(printf '\033')\[K//g" >frames
grep 'runs done' frames | awk 'length($0) > 63 { print; bad = 1 } END { exit bad }' ||
    complain "lines are wider than the terminal"
# Nothing of the line is left on the screen when it is over.
tail -n 1 shown | grep -q 'running' && complain "the line is left behind: $(tail -n 2 shown)"
exit $bad
