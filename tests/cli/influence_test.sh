#!/bin/sh
# lra-probe influence: cost first, parts that are saved one by one and not measured twice, budgets, the table from files.
. "$LRA_SOURCE/tests/cli/lib.sh"

small="--task xor --set distance=2 --set length=24 --set copies=1 --set train=640 --set val=64 --set test=200 --set epochs=1
--set width=8 --set hidden=8 --set layers=2 --set kernel=3 --out o -q"
# shellcheck disable=SC2086
"$probe" train $small >train.out 2>&1 || fail "train: $(cat train.out)"
run=$(ls o/runs)

"$probe" influence "$run" --out o --dry-run >out 2>err || complain "dry run: $(cat err)"
[ ! -s out ] || complain "a dry run prints a table"
has err 'jacobian'
has err ' 200 examples'
[ ! -e "o/runs/$run/influence.h5" ] || complain "a dry run leaves a file"

"$probe" influence "$run" --out o --parts jacobian --examples 4 >out 2>err || complain "jacobian: $(cat err)"
has err '4 examples'
has out 'range.q95.used'
# Two layers of three taps reach two steps, and no farther.
"$probe" influence "$run" --out o --parts jacobian --examples 4 --json -q >json || complain "--json fails"
tr -d ' \n' <json | grep -q '"id":"range.q95","value":[012],' || complain "range.q95 beyond the reach: $(cat json)"

# What is there is not measured again, and stays when other parts come.
"$probe" influence "$run" --out o --examples 4 >out 2>err || complain "all parts: $(cat err)"
grep -q 'jacobian .*(measured)' err || complain "the Jacobian is measured twice: $(cat err)"
has out 'cut.r99'
has out 'erf.r50'
has out 'layers'
has out 'position.edge'
has out 'inter.mean'
has out 'key.w05'
cp "o/runs/$run/influence.h5" kept
"$probe" influence "$run" --out o --examples 4 >again 2>err || complain "again: $(cat err)"
cmp -s out again || complain "another table from what is there"
cmp -s kept "o/runs/$run/influence.h5" || complain "nothing to measure, but the file is written"
"$probe" influence "$run" --out o --examples 4 --force >again 2>err || complain "--force: $(cat err)"
cmp -s out again || complain "measured again, it is something else"
! grep -q '(measured)' err || complain "--force measures nothing: $(cat err)"
"$report" tables --table influence o/runs/* >again 2>err || complain "tables: $(cat err)"
cmp -s out again || complain "lra-report prints other numbers"

# The graph of 70 tokens is longer; a limit that cuts nothing of it gives the bits that are there without.
# shellcheck disable=SC2086
"$probe" train --model s4d --task xor --set distance=8 --set length=70 --set copies=1 --set train=64 --set val=32 --set test=32 \
    --set epochs=1 --set width=4 --set layers=1 --set state=4 --precision f32 --out odd -q >train.out 2>&1 || complain "s4d: $(cat train.out)"
"$probe" influence odd/runs/* --parts cut --out odd -q >out 2>err || complain "a length between two of graphs: $(cat err)"
has out 'r = 70'

# A budget makes samples smaller, and says so.
"$probe" influence "$run" --out o --examples 100 --budget 2000 --dry-run >out 2>err || complain "--budget: $(cat err)"
! grep -q ' 100 examples' err || complain "a budget changes nothing: $(cat err)"
awk '/passes/ { sum += $2 } END { exit sum > 2100 || sum < 1000 }' err || complain "a budget of 2000 passes: $(cat err)"

grep -q 'interaction *undefined: one example takes more' err || complain "a part that no budget of 2000 pays for: $(cat err)"

# A file that is broken is measured again, with a word.
head -c 2000 kept >"o/runs/$run/influence.h5"
"$probe" influence "$run" --out o --parts cut --examples 4 >out 2>err || complain "after damage: $(cat err)"
grep -q '^warning: .*measured again' err || complain "a broken file is taken without a word: $(cat err)"

expect 2 "unknown part 'jacobin'; did you mean 'jacobian'" "$probe" influence "$run" --out o --parts cut,jacobin
mkdir empty
expect 1 "there are no results of probe 'influence' in 'empty'; 'lra-probe influence RUN...' makes them" "$report" tables --table influence empty
expect 2 "there is no run 'x'" "$probe" influence x --out none
if command -v gnuplot >/dev/null; then
    cp kept "o/runs/$run/influence.h5"
    for figure in cut erf; do
        "$report" figures --figure $figure --format png --out o o/runs/* >out 2>err || complain "figure: $(cat err)"
        [ -s err ] && complain "gnuplot says $(cat err)"
        [ -s o/figures/$figure.png ] || complain "no figure $figure"
    done
fi
exit $bad
