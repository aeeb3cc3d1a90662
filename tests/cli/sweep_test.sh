#!/bin/sh
# A grid of runs: all combinations are trained once, go on where they were stopped, and stand in one table; what is
# wrong is told before anything is trained.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=64 --set val=16 --set test=16 --set layers=1 --set width=8 --set epochs=1 --threads 1"

# shellcheck disable=SC2086
sweep() { "$probe" sweep $small --out o "$@"; }

# Two models at two rates with two seeds: the plan, its commands, one of them by hand, the rest by the sweep.
sweep --vary model=transformer,s4d --vary rate=0.004,0.002 --seeds 2 --dry-run >out 2>err || fail "plan: $(cat err)"
grep -q '^  model=s4d rate=0.002: [0-9]* parameters.*, 2 of 2 to train$' out || complain "plan: $(cat out)"
grep -q '^sweep: 4 combinations, 8 runs, 0 done$' out || complain "plan: $(cat out)"
[ "$(grep -c ' rows prepared in ' err)" -eq 1 ] || complain "the same data are made again: $(cat err)"
[ ! -e o ] || complain "a plan wrote files"
sweep --vary model=transformer,s4d --vary rate=0.004,0.002 --seeds 2 --print-plan >commands 2>err ||
    fail "commands: $(cat err)"
[ "$(wc -l <commands)" -eq 8 ] && [ "$(sort -u commands | wc -l)" -eq 8 ] || complain "commands: $(cat commands)"
grep -q -e " --set=rate=0.002 --differs=rate=0.002 --seed=" commands || complain "runs have no name: $(cat commands)"
tail -n 1 commands | sh >/dev/null 2>err || fail "$(tail -n 1 commands): $(cat err)"
sweep --vary model=transformer,s4d --vary rate=0.004,0.002 --seeds 2 --jobs 2 >out 2>err || fail "sweep: $(cat err)"
has err '1 done'
has err ' 7 of 7: '
grep -q ' 8 of ' err && complain "what was done is trained again: $(cat err)"
[ "$(ls o/runs | wc -l)" -eq 8 ] || complain "not 8 runs: $(ls o/runs)"
for row in 'S4D .* rate=0.004 ' 'S4D .* rate=0.002 ' 'Transformer .* rate=0.004 ' 'Transformer .* rate=0.002 '; do
    grep -q "^listops  *$row" out || complain "the table lacks '$row': $(cat out)"
done
sweep --vary model=transformer,s4d --vary rate=0.004,0.002 --seeds 2 --json >again 2>err || fail "again: $(cat err)"
grep -q ' of 8' err && complain "what was done is trained again: $(cat err)"
grep -q '"rate=0.002"' again || complain "JSON: $(cat again)"

# Programs group by the columns of the varied settings.
"$report" tables --table tasks --format csv o >csv 2>err || fail "csv: $(cat err)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; ok = at["rate"] && at["data"]; next }
    $at["rate"] != "default" { n[$at["model"] " " $at["rate"] + 0] += $at["seeds"] }
    END { for (k in n) print k, n[k]; if (!ok) print "no such column" }' csv | sort >grouped
[ "$(tr '\n' ' ' <grouped)" = "s4d 0.002 2 s4d 0.004 2 transformer 0.002 2 transformer 0.004 2 " ] ||
    complain "groups: $(cat grouped csv)"

# What differs is printed in progress; the label stored with a run is the user's.
sweep --vary rate=0.003,0.005 --seeds 1 --label mine >out 2>err || fail "label: $(cat err)"
grep -q 'rate=0.003' err || complain "progress does not say what differs: $(cat err)"
"$report" show --json o/runs/* >out 2>err || fail "show: $(cat err)"
"$report" tables --table tasks --format csv o >csv 2>err || fail "csv: $(cat err)"
[ "$(grep -c ',mine$' csv)" -eq 2 ] || complain "labels: $(cat csv)"
[ "$(grep -c '"label": "mine"' out)" -eq 2 ] && [ "$(grep -c '"label": null' out)" -eq 8 ] || complain "labels: $(grep '"label"' out)"

# Experiments of the papers: each can be trained, and --vary replaces its settings (not the task of loc-C, whose cells
# have settings of Pathfinder, nor that of spt-T3, whose settings are published for other tasks).
tiny="--set train=64 --set val=8 --set test=8 --set min-length=8 --set max-length=40 --set max-depth=3 --seeds 1 --out named"
"$probe" list experiments --json | tr '{' '\n' | sed -n 's/^"name":"\([^"]*\)".*/\1/p' >experiments
[ "$(wc -l <experiments)" -ge 7 ] || fail "experiments: $(cat experiments)"
while read -r name; do
    case $name in loc-C | spt-T3) continue ;; esac
    # shellcheck disable=SC2086
    "$probe" sweep "$name" --vary task=listops $tiny --print-plan >commands 2>err || complain "$name: $(cat err)"
    grep -q -e '--task=listops .*--preset=paper' commands || complain "$name: $(cat commands)"
done <experiments
# shellcheck disable=SC2086
"$probe" sweep loc-T1 --vary task=listops $tiny --print-plan >commands 2>err
sed -n 's/.*--model=resconv .*--set=kernel=\([0-9]*\) .*/\1/p' commands | tr '\n' ' ' >kernels
[ "$(cat kernels)" = "5 7 11 21 31 61 " ] || complain "kernels of table 1: $(cat commands)"
# shellcheck disable=SC2086
"$probe" sweep loc-T1 --vary task=listops --vary preset=quick --vary kernel=3 $tiny --print-plan >commands 2>err || complain "replaced: $(cat err)"
[ "$(grep -c -e '--preset=quick' commands)" -eq 1 ] && grep -q -e '--set=kernel=3 ' commands || complain "replaced: $(cat commands)"
expect 2 "unknown experiment or file 'loc-T11'; did you mean 'loc-T1'?" "$probe" sweep loc-T11 --dry-run

# A rate that is the default stands in the table as such.
sweep --vary rate=0.001,0.002 --seeds 1 --quiet >out 2>err || fail "default: $(cat err)"
grep -q '^listops  *resconv .* rate=default ' out || complain "default: $(cat out)"
grep -q '^default  *' out || complain "default is not explained: $(cat out)"

# Rows are in the order of their numbers, what is usual last.
"$probe" sweep --set train=64 --set val=16 --set test=16 --set layers=1 --set epochs=1 --threads 1 --out w --seeds 2 \
    --vary width=64,8,16 --vary rate=0.01,1e-4,0.001 --quiet >out 2>err || fail "order: $(cat err)"
sed -n 's/^listops .* 5  *\(.*\)  *quick .*/\1/p' out | tr -d ' ' | tr '\n' ' ' >order
[ "$(cat order)" = "width=8,rate=0.0001 width=8,rate=0.01 width=8,rate=default width=16,rate=0.0001 width=16,rate=0.01 \
width=16,rate=default width=64,rate=0.0001 width=64,rate=0.01 width=64,rate=default " ] ||
    complain "order: $(cat order)"

# Settings of one schedule are no defaults of the others.
sweep --vary schedule=plateau,constant,cosine --seeds 1 --quiet >out 2>err || fail "schedules: $(cat err)"
grep -q '^listops .* 5  *schedule=constant  ' out || complain "schedules: $(cat out)"
grep -q ' schedule=default  ' out || complain "schedules: $(cat out)"

# Commands are sh's, whatever the folder is called, however long they are; what sh has no words for is refused.
odd="grün it's \$HOME \"b\""
# shellcheck disable=SC2086
"$probe" sweep $small --vary rate=0.002,0.003 --seeds 1 --print-plan --quiet --out "$odd" >commands 2>err ||
    fail "commands: $(cat err)"
sh commands >/dev/null 2>err || fail "$(cat commands): $(cat err)"
[ "$(ls "$odd/runs" | wc -l)" -eq 2 ] || complain "not 2 runs: $(ls "$odd/runs")"
long=$(seq -s ' ' -f '--set rate=%.0f' 3000 | sed 's/rate=[0-9]*/rate=0.001/g')
# shellcheck disable=SC2086
"$probe" sweep $long $small --vary kernel=3 --seeds 1 --print-plan --quiet --out o >commands 2>err ||
    fail "commands: $(cat err)"
grep -q -- ' --set=kernel=3 --seed=0 --quiet$' commands || complain "a long command: $(tail -c 99 commands)"
# shellcheck disable=SC2086
expect 2 'control character' "$probe" sweep $small --vary kernel=3 --seeds 1 --print-plan --quiet --out "$(printf 'n\nn')"

# From a file; what varies beside it.
printf '\357\273\277rate = 0.004\n' >grid
sweep grid --seeds 1 --dry-run >out 2>err || fail "file: $(cat err)"
printf '# rates\nrate = 0.004 , 0.002\r\n\nmodel=s4d # one\n' >grid
sweep grid --seeds 2 --dry-run --json >out 2>err || fail "file: $(cat err)"
grep -q '"combinations": *\[\]' out || complain "what is done is planned: $(cat out)"
sweep grid --vary precision=f32,bf16 --seeds 1 --dry-run >out 2>err || fail "file: $(cat err)"
grep -q 'rate=0.004 precision=f32: ' out || complain "precision: $(cat out)"

# Told before anything is made.
expect 2 'no setting varies' "$probe" sweep --out n
expect 2 'given twice' "$probe" sweep --vary model=gla --tune rate=1,2 --tune decay=1,2 --out n
expect 2 'N from 1' "$probe" train --model gla --set 'mixers=gla*0' --out n
expect 2 'N from 1' "$probe" train --model gla --set 'mixers=gla,' --out n
expect 2 "'model' varies twice" "$probe" sweep --vary model=s4d --vary model=las --out n
expect 2 "rat=1: .*did you mean 'rate'" "$probe" sweep --vary rat=1,2 --out n
expect 2 "^lra-probe: the run has no 'rat'" "$probe" sweep --vary rat=1 --out n
expect 2 "kernel=3 model=s4d: .*'kernel'" "$probe" sweep --vary kernel=3,5 --vary model=resconv,s4d --out n
expect 2 "rate=abc" "$probe" sweep --vary rate=0.001,abc --out n
expect 2 'empty value' "$probe" sweep --vary rate=0.001,,0.002 --out n
expect 2 'an empty list' "$probe" sweep --vary rate= --out n
expect 2 'expected KEY=VALUE' "$probe" sweep --vary rate --out n
expect 2 "'rate=0.1': 'rate' already varies" "$probe" sweep --rate 0.1 --vary rate=0.001,0.002 --out n
expect 2 "--model is given, but 'model' already varies" "$probe" sweep --model las --vary model=s4d,las --out n
expect 2 'exclude each other' "$probe" sweep --vary kernel=3,5 --print-plan --json --out n
# shellcheck disable=SC2086
expect 2 'rate=1e-3: it is the same run as rate=0.001 seed 0' "$probe" sweep $small --vary rate=0.001,1e-3 --seeds 1 \
    --dry-run --quiet --out n
many=$(seq -s , 40)
expect 2 'combinations' "$probe" sweep --vary epochs="$many" --vary layers="$many" --out n
expect 1 "cannot open 'nowhere.txt'" "$probe" sweep nowhere.txt --out n
expect 2 "unknown experiment or file 'nowhere' ('lra-probe list experiments' shows all)" "$probe" sweep nowhere --out n
printf 'model s4d\n' >wrong
expect 1 "'wrong', line 1: 'model s4d', expected KEY=VALUE" "$probe" sweep wrong --out n
printf '\n# nothing\n' >wrong
expect 1 "'wrong' contains no settings" "$probe" sweep wrong --out n
printf 'rate\0 = 1\n' >wrong
expect 1 "'wrong' contains a zero byte" "$probe" sweep wrong --out n
[ ! -e n ] || complain "a wrong sweep made a folder"

# Data that are missing are named with their task.
expect 1 'task=text: ' "$probe" sweep --vary task=listops,text --seeds 1 --dry-run --quiet --out n

# One that fails is told at once, the others are trained; then the sweep fails.
sweep_f() { "$probe" sweep --set train=640 --set val=64 --set test=64 --set layers=1 --set width=8 --threads 1 --out f "$@"; }
sweep_f --vary epochs=1 --seeds 1 --quiet >out 2>err || fail "failure: $(cat err)"
run=$(ls f/runs) && rm -r f/runs/* && : >"f/runs/$run"
sweep_f --vary epochs=1,100,101 --seeds 1 --jobs 2 >out 2>err
[ $? -eq 1 ] || complain "a run failed, the sweep did not: $(cat err)"
has err 'epochs=1 seed 0 failed with exit code 1'
has err '1 of 3 runs failed (--retry trains them again); the first: epochs=1 seed 0: '
[ ! -s out ] || complain "a table of half a sweep: $(cat out)"
[ "$(ls f/runs/*/result.h5 | wc -l)" -eq 2 ] || complain "the others did not go on: $(ls f/runs/*)"

# Stopped in the middle: what it has is saved, and the same command says so.
# shellcheck disable=SC2086
"$probe" sweep $small --vary rate=0.001,0.002 --set epochs=100000 --seeds 1 --out s >out 2>err &
pid=$!
happens sh -c 'ls s/runs/*/checkpoint.h5'
happens sh -c "'$probe' status --out s --json | grep 'listops resconv K=[0-9]* rate=0.001 seed 0'"
kill -TERM $pid
wait $pid
[ $? -eq 130 ] || complain "it was not interrupted: $(cat err)"
has err 'stopped; checkpoints are saved'
# Seeds by name: of the command, or of a line of the file.
seeds() { grep -o -e '--seed=[0-9]*' out | sed 's/.*=//' | sort -n | uniq | tr '\n' ' '; }
expect 0 '' lra-probe sweep $small --vary rate=0.002,0.003 --seeds 0,2,5-6 --print-plan --quiet --out l
[ "$(seeds)" = "0 2 5 6 " ] || complain "--seeds 0,2,5-6: $(cat out)"
printf 'rate = 0.002\nseeds = 1, 4\n' >by_seed
expect 0 '' lra-probe sweep by_seed $small --print-plan --quiet --out l
[ "$(seeds)" = "1 4 " ] || complain "seeds of a file: $(cat out)"
expect 2 "seeds" lra-probe sweep by_seed $small --seeds 2 --print-plan --quiet --out l
expect 2 "a seed occurs twice" lra-probe sweep $small --vary rate=0.002 --seeds 1,1 --print-plan --quiet --out l
expect 2 "expected N or a list" lra-probe sweep $small --vary rate=0.002 --seeds 1,x --print-plan --quiet --out l
expect 2 "out of range 1 to 64" lra-probe sweep $small --vary rate=0.002 --seeds 65 --print-plan --quiet --out l
expect 0 '2 seeds = 4 runs' lra-probe receptive-field $small --kernels 3,5 --seeds 3,7 --out l
[ "$(find l/runs -name result.h5 | wc -l)" -eq 4 ] || complain "seeds of a ladder: $(find l)"
exit $bad
