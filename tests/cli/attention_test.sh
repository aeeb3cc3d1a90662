#!/bin/sh
# lra-probe attention: a row for each head, the table again from files, models without attention, names of runs.
. "$LRA_SOURCE/tests/cli/lib.sh"

train() {
    model=$1
    shift
    "$probe" train --task xor --model "$model" --set distance=2 --set length=24 --set copies=1 --set train=320 --set val=64 \
        --set test=100 --set epochs=1 --set width=8 --set hidden=8 --set layers=2 "$@" --out o -q >train.out 2>&1 ||
        fail "train: $(cat train.out)"
}
train transformer --set heads=2
"$probe" attention o/runs/* --examples 20 >out 2>err || complain "attention: $(cat err)"
[ "$(grep -c '^layer[01]\.head[01] ' out)" -eq 12 ] || complain "not a row for each head: $(cat out)"
has out 'Attention direction, sink and shift'
# No number without its interval and a null value, but the kind.
awk '/^head /{ n = 0; for (i = 2; i <= NF; i++) if ($i == "CI") n++; if (!n && NF > 2) exit 1 } /^layer[01]\.head[01] /{ for (i = 2; i <= NF; i++) if ($i == "-") exit 1 }' out ||
    complain "a number without its interval or null value: $(cat out)"
has out 'heads.local'
has out 'head.js'
has out 'Kinds of attention heads'
has out 'value.dist.mean.rel'
has out 'rollout.dist.q95'
[ "$(grep -c '^layer[01]\.head[01] *[a-z]' out)" -eq 4 ] || complain "not a kind for each head: $(cat out)"
"$report" tables --wide --table attention o/runs/* >again 2>err || complain "tables: $(cat err)"
cmp -s out again || complain "lra-report prints other numbers"
"$probe" attention o/runs/* --examples 20 --json -q >json || complain "--json fails"
has json '"range.mean"'
# What was asked of some examples says so, what was asked of all does not.
[ "$(grep -c '"flags": ".*approx' json)" = "$(grep -c '"flags"' json)" ] || complain "20 of 100 examples, and a number without 'approx'"
"$probe" attention o/runs/* --examples 100 --json -q >json || complain "attention of all examples fails"
! grep -q approx json || complain "all examples were asked, and a number says 'approx'"

# Inputs that are numbers, no tokens.
"$probe" train --task copy --model transformer --set distance=2 --set length=16 --set train=64 --set val=32 --set test=32 --set epochs=1 --set width=8 \
    --set hidden=8 --set heads=2 --set layers=1 --out numbers -q >train.out 2>&1 || fail "copy: $(cat train.out)"
"$probe" attention numbers/runs/* --out numbers --examples 8 >out 2>err || complain "attention of numbers: $(cat err)"
[ "$(grep -c '^layer0\.head[01] ' out)" -eq 6 ] || complain "not a row for each head of numbers: $(cat out)"

# Weights that are no attention op's: the same tables, trained beside initial, and what they are.
train linformer --set heads=2 --set rank=3
"$probe" attention o/runs/*linformer* --examples 20 >out 2>err || complain "linformer: $(cat err)"
has err 'weights are absolute values of signed weights'
[ "$(grep -c '^layer[01]\.head[01] *[-0-9]' out)" -eq 8 ] || complain "not a row for each head: $(cat out)"
has out 'rollout.dist.q95'
"$report" tables --wide --table attention o/runs/*linformer* >again 2>err || complain "tables of linformer: $(cat err)"
cmp -s out again || complain "lra-report prints other numbers of linformer"
awk '/^layer0.head0 *[0-9]/ { exit $6 == $8 }' out || complain "trained is initial: $(cat out)"
# Rows of longer inputs are a sample, which is said.
"$probe" attention o/runs/*linformer* --examples 100 --json -q >json || complain "linformer, all examples"
! grep -q approx json || complain "all of 24 rows were told, and a number says 'approx'"
"$probe" attention o/runs/*linformer* --examples 100 --queries 6 --json -q >some.json || complain "--queries fails"
[ "$(grep -c '"flags": ".*approx' some.json)" = "$(grep -c '"flags"' some.json)" ] || complain "6 of 24 rows, and a number without 'approx'"
[ "$(grep '"range.mean"' json | head -n 1)" != "$(grep '"range.mean"' some.json | head -n 1)" ] || complain "6 rows are all rows"
"$report" tables --wide --table attention o/runs/*linformer* >again 2>err || complain "tables of some rows: $(cat err)"
has again '6 evenly spaced positions of each example'
! grep -q 'evenly spaced positions' out || complain "a sample where all rows were told"

# The same network trained on permuted labels is a null value: what it has when it is asked itself.
own=$(echo o/runs/*-transformer-*)
expect 1 "'o/runs/xor-transformer-.*' does not exist: repeat the command .* with '--permute-labels 1'" "$probe" attention "$own" --null shuffled -q
train transformer --set heads=2 --permute-labels 1
twin=$(echo o/runs/*-transformer-* | tr ' ' '\n' | grep -v "$own")
"$probe" attention "$own" --examples 20 --null shuffled --json -q >json || complain "--null shuffled fails"
"$probe" attention "$twin" --examples 20 --json -q >twin.json || complain "attention of the other run"
for unit in layer0.head1 layer1.head0; do
    value() { awk -v unit="\"$unit\"" -v key="\"$2\":" '$1 == "\"head\":" { own = index($0, unit) } own && $1 == key { print $2; exit }' "$1"; }
    [ -n "$(value twin.json range.mean)" ] && [ "$(value json range.mean.shuffled)" = "$(value twin.json range.mean)" ] ||
        complain "$unit: not what the other run has: $(value json range.mean.shuffled), $(value twin.json range.mean)"
    [ "$(value json range.mean)" != "$(value twin.json range.mean)" ] || complain "$unit: permuted labels changed nothing"
done
"$report" tables --table attention "$own" >out 2>err || complain "tables with a null value: $(cat err)"
has out 'shuffled'
# One of them has none itself, alone or among others.
expect 2 "was itself trained on permuted labels" "$probe" attention "$twin" --examples 20 --null shuffled -q
"$probe" attention "$own" "$twin" --examples 20 --null shuffled >out 2>err || complain "both: $(cat err)"
has err 'skipped'
rm -r "$twin"

# Without attention.
train resconv --set kernel=3
expect 2 "run '.*resconv.*': model 'resconv' has no attention; .*kernels" "$probe" attention o/runs/*resconv*
# Of several runs those without are left out, and said.
"$probe" attention o/runs/*resconv* o/runs/*linformer* --out o --examples 4 >out 2>err || complain "a run without attention beside one with: $(cat err)"
has err 'has no attention; '
has err 'skipped'
has out 'layer0.head0'
expect 2 'none of the 2 runs has self-attention' "$probe" attention o/runs/*resconv* o/runs/*resconv* -q
expect 1 "no 'attention' results" "$report" tables --table attention o/runs/*resconv*
expect 2 "there is no run 'x'" "$probe" attention x --out none
if command -v gnuplot >/dev/null; then
    # Readings of alpha above each other: head 1 of 2 has 2^-4, or -ln(B) with B = 1/2, and no other model has any.
    expect 1 "no run has decay factors" "$report" figures --figure las-2 --out o o/runs/*transformer*
    train las --set heads=2 --set alpha=geo
    train las --set heads=2 --set bound=0.5
    "$probe" attention o/runs/*-las-* --examples 4 -q >out 2>err || complain "las: $(cat err)"
    "$report" figures --figure las-2 --format png --out o o/runs/*-las-* >out 2>err || complain "figure las-2: $(cat err)"
    [ -s err ] && complain "gnuplot says $(cat err)"
    [ -s o/figures/las-2.png ] || complain "no figure las-2"
    grep -q '^1 1 0.939413$' o/figures/las-2.dat || complain "las-2, alpha=geo: $(grep '^1 ' o/figures/las-2.dat)"
    grep -q '^1 1 0.5$' o/figures/las-2.dat || complain "las-2, alpha=literal: $(grep '^1 ' o/figures/las-2.dat)"
    [ "$(grep -c "set label 'H1: " o/figures/las-2.gp)" -eq 2 ] || complain "las-2: not two rows of matrices"
    train las --set heads=4
    "$probe" attention o/runs/*-las-* --examples 4 -q >out 2>err || complain "las: $(cat err)"
    expect 1 "heads, .*; name runs with the same number of heads" "$report" figures --figure las-2 --out o o/runs/*-las-*
    for figure in distance maps las-4; do
        "$report" figures --figure $figure --format png --out o o/runs/*transformer* >out 2>err || complain "figure: $(cat err)"
        [ -s err ] && complain "gnuplot says $(cat err)"
        [ -s o/figures/$figure.png ] || complain "no figure $figure"
    done
fi
exit $bad
