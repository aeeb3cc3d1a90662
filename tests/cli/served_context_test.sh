#!/bin/sh
# labels: quick timeout: 300
# The context limit by requests (ops features and head) equals that by the engine's own graphs, number by number; of a task with
# a dependency at distance 3 it is 3.
. "$LRA_SOURCE/tests/cli/lib.sh"
task="--task select-at --set length=28 --set distance=3 --set copies=1 --set train=6400 --set val=64 --set test=120"
for model in resconv local s4d; do
    small="--set width=16 --set layers=2 --set rate=0.005 --set epochs=1"
    [ $model = resconv ] && small="$small --set kernel=5"
    [ $model = local ] && small="--set epochs=1 --set block=8" # blocks of 8 tokens: crops begin at multiples of 8
    "$probe" train $task --model $model $small --threads 1 --precision f32 --out o -q >out 2>err || fail "train $model: $(cat err)"
    run=$(echo o/runs/select-at-$model-*)
    "$probe" influence "$run" --parts context --examples 40 -q >out 2>err || fail "influence $model: $(cat err)"
    expect 0 '^head of the features ok' "$probe" audit $task --name $model --parts context --examples 40 --out s -- "$probe" serve "$run"
    for of in "$run" s/runs/select-at-user.$model-*; do
        "$report" tables "$of" --table influence --columns part,id,x,value,lo --format csv >numbers 2>err || complain "$of: $(cat err)"
        grep -v ',kl' numbers >"$(echo "$of" | cut -c1)".csv # divergences are those of audits alone
    done
    grep -q '^context,context.r99' o.csv || complain "$model has no context: $(cat o.csv)"
    cmp -s o.csv s.csv || complain "$model: $(diff o.csv s.csv | head -4)"
    [ $model != resconv ] || grep -q '^context,context.r99,,3,3,3' s.csv || complain "context of resconv: $(grep r99 s.csv)"
done
expect 0 ' context .* passes, 32 examples' "$probe" audit $task --name cost --dry-run --no-check --parts context --out s -- "$probe" serve "$(echo o/runs/select-at-resconv-*)"
# Without labels the divergences remain.
expect 0 '' "$probe" audit $task --name resconv --parts context --examples 40 --out s --force --no-check -- "$probe" serve "$(echo o/runs/select-at-resconv-*)"
says ' context  *kl.most  *[0-9]'
says ' context  *kl.r95  *[34] '
exit $bad
