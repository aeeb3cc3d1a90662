#!/bin/sh
# sweep --tune: trials with seeds of their own choose a training setting on the validation rows, and the result is trained
# with it. The best factor of a planted task is found; workers, kills and repetitions change nothing.
. "$LRA_SOURCE/tests/cli/lib.sh"

# A row has label 1 if it contains a q: learned at the base rate, not at a rate of nearly 0 or far too high.
awk 'BEGIN { print "text,label,split"
    for (i = 0; i < 700; i++) {
        text = ""
        for (k = 0; k < 12; k++)
            text = text (k == i % 12 && i % 2 ? "q" : substr("abcdefgh", 1 + (i * 7 + k * k * 3 + int(i / 8)) % 8, 1))
        print text "," i % 2 "," (i < 500 ? "train" : i < 600 ? "val" : "test")
    } }' >letters.csv
letters="--task file:letters --data-dir letters.csv --width 8 --hidden 16 --layers 1 --batch 16 --precision f32 --threads 1"
letters="$letters --set rate=0.01 --epochs 8"
# shellcheck disable=SC2086
"$probe" sweep $letters --vary kernel=3 --tune rate=400,1,0.0001 --seeds 2 --out planted >out 2>err || fail "planted: $(cat err)"
has err 'the run: rate 0.01 is chosen, factor 1 of 0.01'
says '^file:letters  *resconv  *-  *quick  *rate  *0.01  *1  *-  *0.0  *0.0 to 0.0  *0.0  *0.0 to 0.0  *100.00 %  *1  *100.00 %'
says 'the value of the preset, is chosen for 1 of 1 combination; the chosen value is an end of'
[ "$(ls planted/trials/*/result.h5 | wc -l)" -eq 3 ] && [ "$(ls planted/runs/*/result.h5 | wc -l)" -eq 2 ] || complain "$(ls planted/*)"
# Trials are no results: other tables do not contain them.
"$report" tables --table tasks --format csv planted >csv 2>err || fail "tasks: $(cat err)"
[ "$(wc -l <csv)" -eq 2 ] || complain "trials among the results: $(cat csv)"
"$report" tables --table tuned --format csv planted >csv 2>err || fail "tuned: $(cat err)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { print $at["value"], $at["factor"], $at["edge"], $at["window1_octaves"], $at["seeds"], $at["window5_bound"] }' csv >row
[ "$(cat row)" = "0.01 1  0 2 0" ] || complain "csv: $(cat csv)"
"$report" html planted --out page.html >out 2>err || fail "html: $(cat err)"
grep -q 'id="tuned"' page.html || complain "the page has no tuned settings"
expect 1 "no choices of settings in '.*'; 'lra-probe sweep --tune' makes them" "$report" tables --table tuned planted/runs
# A trial names itself, and can be measured like a run.
"$report" show planted/trials/*/result.h5 >out 2>err || fail "show: $(cat err)"
grep -q 'tuning' out || complain "a trial does not name itself: $(cat out)"

# The best factor is the smallest: the table advises to extend the grid; the factors tried before are not trained again.
# shellcheck disable=SC2086
"$probe" sweep $letters --vary kernel=3 --tune rate=1,400 --seeds 2 --out planted >out 2>err || fail "edge: $(cat err)"
has err 'it is the smallest factor: add smaller ones'
says '  smallest  '
says 'extend --tune with smaller factors; resconv (smallest)'
grep -q trained err && complain "trained again: $(cat err)"
# Trials that diverged have no score.
for trial in planted/trials/*; do
    "$report" show "$trial/result.h5" | grep -q 'rate:0.01:4$' || continue
    rm "$trial/result.h5"
    printf '{"exit": 1, "diverged": true, "message": "step 3: not finite", "date": "", "host": ""}' >"$trial/failed.json"
done
# shellcheck disable=SC2086
"$probe" sweep $letters --vary kernel=3 --tune rate=0.0001,1,400 --seeds 2 --out planted >out 2>err || fail "diverged: $(cat err)"
says '1 of 3 values diverged'
says '  *0.01  *1  *-  '
grep -q trained err && complain "trained again: $(cat err)"

small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --set epochs=3 --precision f32 --threads 1"
sweep="sweep $small --vary kernel=3,5 --tune rate=0.5,1,2 --tune-seeds 2 --seeds 2"
# The plan has both stages; commands of stage 2 appear when stage 1 is complete.
# shellcheck disable=SC2086
"$probe" $sweep --dry-run --out one >out 2>err || fail "plan: $(cat err)"
says '  kernel=3: .*, 6 of 6 trials and 2 of 2 runs to train$'
says '  stage 1: 12 trials of 3 factors of rate, 0 done, about '
says '  stage 2: 4 runs with the chosen rate, 0 done, about '
# shellcheck disable=SC2086
"$probe" $sweep --dry-run --json --out one 2>err | grep -q '"trials":6,"missing_trials":6' || complain "JSON: $(cat err)"
# shellcheck disable=SC2086
"$probe" $sweep --print-plan --out one >commands 2>err || fail "commands: $(cat err)"
[ "$(wc -l <commands)" -eq 12 ] && [ "$(grep -c -e '--tuning=rate:0.004' commands)" -eq 12 ] || complain "commands: $(cat commands)"
has err '4 runs of stage 2 depend on trials'
# shellcheck disable=SC2086
expect 0 '' "$probe" $sweep --out one --slurm job.sh --workers 3
has job.sh '--tune=rate=0.5,1,2 --tune-seeds=2'
has out 'wrote job.sh: 3 workers for 16 runs'
[ ! -e one/runs ] && [ ! -e one/tuned ] || complain "a plan wrote files"
PATH="$LRA_BUILD:$PATH" sh commands >/dev/null 2>err || fail "commands: $(cat err)"
# shellcheck disable=SC2086
"$probe" $sweep --print-plan --out one >commands 2>err || fail "commands: $(cat err)"
[ "$(wc -l <commands)" -eq 4 ] && ! grep -q tuning commands || complain "stage 2: $(cat commands)"
# shellcheck disable=SC2086
"$probe" $sweep --out one >table 2>err || fail "one process: $(cat err)"

# Four workers, two of which are killed: the same choices and the same weights.
for k in 1 2 3 4; do
    # shellcheck disable=SC2086
    setsid "$probe" $sweep --out many >"many-out$k" 2>"many-err$k" &
    eval "pid$k=$!"
done
trains() { ls many/trials/*/status || [ "$(ls many/runs/*/result.h5 | wc -l)" -eq 4 ]; }
happens trains
kill -KILL -$pid1 -$pid2 2>/dev/null
for k in 3 4; do eval "wait \$pid$k" || complain "worker $k failed: $(cat "many-err$k")"; done
wait
for file in one/tuned/*.json; do cmp "$file" "many/tuned/$(basename "$file")" || complain "another choice"; done
for run in one/runs/* one/trials/*; do
    rm -f one.safetensors many.safetensors
    for of in one many; do "$probe" export "$of/${run#one/}" "$of.safetensors" -q >out 2>&1 || complain "export of $of/${run#one/}: $(cat out)"; done
    cmp one.safetensors many.safetensors || complain "${run#one/} differs from that of one process"
done
[ "$(ls many/runs | wc -l)" -eq 4 ] && [ "$(ls many/trials | wc -l)" -eq 12 ] || complain "other runs: $(ls many/runs many/trials)"
sed 's/many/one/' many-out3 | cmp - table || complain "another table: $(cat many-out3)"

# Told before anything is trained.
expect 2 'expected KEY=FACTOR,FACTOR' "$probe" sweep --vary kernel=3,5 --tune rate --out n
expect 2 "'x' is no factor" "$probe" sweep --vary kernel=3,5 --tune rate=1,x --out n
expect 2 "'-1' is no factor" "$probe" sweep --vary kernel=3,5 --tune rate=1,-1 --out n
expect 2 'factor 1 occurs twice' "$probe" sweep --vary kernel=3,5 --tune rate=1,2,1.0 --out n
expect 2 'expected two or more' "$probe" sweep --vary kernel=3,5 --tune rate=2 --out n
expect 2 '--tune-seeds needs --tune' "$probe" sweep --vary kernel=3,5 --tune-seeds 2 --out n
expect 2 "'rate' already varies" "$probe" sweep --vary rate=0.1,0.2 --tune rate=1,2 --out n
expect 2 "'tuning' cannot be set: --tune of 'lra-probe sweep' sets it" "$probe" train --set tuning=rate:1:2 --out n
expect 2 'expected KEY:VALUE of a training setting' "$probe" train $small --tuning nothing --out n
expect 2 "'pool' is no number" "$probe" sweep $small --vary kernel=3,5 --tune pool=1,2 --out n
expect 2 "'layers' is a setting of the model or task" "$probe" sweep $small --vary kernel=3,5 --tune layers=1,2 --out n
expect 2 "the run has no 'rates'" "$probe" sweep $small --vary kernel=3,5 --tune rates=1,2 --out n
expect 2 "seed 1 chooses the value of 'rate'" "$probe" sweep $small --vary kernel=3,5 --tune rate=1,2 --tune-seeds 1,5 --seeds 2 --out n
expect 2 "factor 3000: 'rate' is '12'" "$probe" sweep $small --vary kernel=3,5 --tune rate=1,3000 --out n
[ ! -e n/runs ] && [ ! -e n/trials ] || complain "a wrong sweep trained"
exit $bad
