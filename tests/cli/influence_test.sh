#!/bin/sh
# lra-probe influence: cost first, parts that are saved one by one and not measured twice, budgets, the table from files.
. "$LRA_SOURCE/tests/cli/lib.sh"

small="--task xor --set distance=2 --set length=24 --set copies=1 --set train=640 --set batch=4 --set val=64 --set test=200 --set epochs=1
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
tr -d ' \n' <json | grep -q '"id":"dist.q95","value":[012],' || complain "dist.q95 beyond the reach: $(cat json)"

# What is there is not measured again, and stays when other parts come.
"$probe" influence "$run" --out o --examples 4 >out 2>err || complain "all parts: $(cat err)"
grep -q 'jacobian .*(measured)' err || complain "the Jacobian is measured twice: $(cat err)"
has out 'cut.r99'
has out 'cut.reach99'
has out 'context.r99'
has out 'limit PER LAYER, not a distance of the model'
# Two layers of three taps: from a limit of one token per layer on nothing is restricted.
grep -q '^layers .* r = 0  *r = 1\*  *r = 2\*' out || complain "limits that restrict nothing are not marked: $(grep '^layers' out)"
grep -q 'this limit separates no pair of tokens: 2 layers that mix positions reach 2 r tokens together, and no pair is farther apart than 2' out ||
    complain "no note of limits that restrict nothing: $(cat out)"
has out 'erf.r50'
grep -q ' occlusion  *dist.mean ' out || complain "no occlusion: $(cat out)"
# Of 24 equal weights, the middle at 12, half lie within 6 steps and 99 % within 12; initial weights do not reach beyond two.
grep -Eq ' erf.r50 .* 6  +[0-2]  tokens' out || complain "half of equal weights: $(grep erf.r50 out)"
grep -Eq ' erf.r99 .* 12  +[0-2]  tokens' out || complain "99 % of equal weights: $(grep erf.r99 out)"
has out 'layers'
has out 'position.edge'
has out 'inter.mean'
has out 'key.w05'
grep -q ' keep  *kl.w95 ' out || complain "no answers without labels: $(cat out)"
grep -q ' order-in  *kl.local ' out || complain "no order without labels: $(cat out)"
has out 'drop.w95'
has out 'length.gain.x2'
grep -q 'heads *undefined: no layer has several heads' err || complain "heads of convolutions: $(cat err)"
grep -q 'mask *undefined: the model has no position embeddings' err || complain "a mask of a model that knows no positions: $(cat err)"
grep -q 'prune *undefined: rows are no expressions' err || complain "a pruned expression of none: $(cat err)"
grep -q 'shift *undefined: all rows have the same length' err || complain "rows without room to move: $(cat err)"
cp "o/runs/$run/influence.h5" kept
"$probe" influence "$run" --out o --examples 4 >again 2>err || complain "again: $(cat err)"
cmp -s out again || complain "another table from what is there"
cmp -s kept "o/runs/$run/influence.h5" || complain "nothing to measure, but the file is written"
"$probe" influence "$run" --out o --examples 4 --force >again 2>err || complain "--force: $(cat err)"
cmp -s out again || complain "measured again, it is something else"
! grep -q '(measured)' err || complain "--force measures nothing: $(cat err)"
"$report" tables --wide --table influence o/runs/* >again 2>err || complain "tables: $(cat err)"
cmp -s out again || complain "lra-report prints other numbers"
# No number without its interval, but the p of a test, or without a null value (of *.local it is infinite: null).
"$probe" influence "$run" --out o --examples 4 --json -q >json || complain "--json of all parts fails"
awk -F '": ' '{ key = $1; gsub(/[ "]/, "", key); sub(/,$/, "", $2) } key ~ /^(id|value|lo|equal|init)$/ { at[key] = $2 }
    key == "flags" && "id" in at && at["value"] != "null" {
        n++
        if (at["lo"] == "null" && at["id"] != "\"inter.p\"" && $2 !~ /censored/) print at["id"] " without an interval"
        if (at["equal"] == "null" && at["init"] == "null" && at["id"] !~ /local"$|inter.peak"$/) print at["id"] " without a null value"
    }
    key == "flags" { split("", at) }
    END { if (n < 35) print n " numbers" }' json >missing
[ ! -s missing ] || complain "$(cat missing)"

# Two layers that look two tokens far copy what stands four tokens back: 'cut' is a limit per layer, 'context' the distance of the model.
"$probe" train --model resconv --task copy --set distance=4 --set length=24 --set kernel=5 --set layers=2 --set width=8 --set hidden=16 \
    --set train=1600 --set val=64 --set test=64 --set batch=16 --set epochs=6 --set rate=0.02 --out hops -q >train.out 2>&1 || complain "copy: $(cat train.out)"
"$probe" influence hops/runs/* --parts context,cut --out hops -q >out 2>err || complain "context and cut of two hops: $(cat err)"
for row in 'cut.r95 2' 'cut.reach99 4' 'context.r95 4' 'context.r99 4'; do
    awk -v id="${row% *}" -v x="${row#* }" '{ for (i = 1; i < NF; i++) if ($i == id && $(i + 1) == x) found = 1 } END { exit !found }' out ||
        complain "of two hops of two tokens '$row' is missing: $(cat out)"
done

# A sample on which nothing can be seen is called too small; another seed draws another sample, which is measured anew and kept apart.
"$probe" train --task xor --set distance=1 --set length=16 --set copies=1 --set train=3200 --set batch=16 --set val=64 --set test=200 --set epochs=3 \
    --set width=8 --set hidden=16 --set layers=1 --set kernel=3 --set rate=0.02 --out few -q >train.out 2>&1 || complain "xor: $(cat train.out)"
grep -q '^test accuracy [1789]' train.out || complain "xor at one step is not learned: $(cat train.out)"
"$probe" influence few/runs/* --parts cut --examples 4 --out few >out 2>err || complain "four examples: $(cat err)"
has err '4 of 200 test examples are too few: the model is not clearly above chance on them, but it is on all of them'
"$probe" influence few/runs/* --parts cut --examples 60 --out few -q >out 2>err || complain "60 examples: $(cat err)"
"$probe" influence few/runs/* --parts cut --examples 60 --sample-seed 1 --out few >again 2>err || complain "another sample: $(cat err)"
! grep -q 'cut .*(measured)' err || complain "another sample is taken for the first: $(cat err)"
! cmp -s out again || complain "another seed draws the same sample"
"$probe" influence few/runs/* --parts cut --examples 60 --sample-seed 1 --out few --dry-run >out 2>err
grep -q 'cut .*(measured)' err || complain "a sample of another seed is not kept: $(cat err)"

# All parts of a model that sorts its tokens, whose inputs windows empty; what has no limit per layer names the part that has one.
"$probe" train --model reformer --task listops --set max-depth=3 --set max-args=3 --set min-length=4 --set max-length=24 --set train=64 --set val=32 \
    --set test=32 --set batch=8 --set epochs=1 --set width=8 --set hidden=8 --set heads=2 --set layers=1 --out sorts -q >train.out 2>&1 ||
    complain "reformer: $(cat train.out)"
"$probe" influence sorts/runs/* --examples 4 --out sorts -q >out 2>err || complain "all parts of reformer: $(cat err)"
for part in context keep bag prune token; do grep -q " $part  " out || complain "reformer has no part $part: $(cat out)"; done
expect 2 "part 'cut' of run 'sorts/runs/.*' is undefined: .*; '--parts context' limits the complete model" "$probe" influence sorts/runs/* --parts cut --out sorts

# Parts whose names end alike keep their own samples when others come.
for part in drop-token=6 token=5 keep=3; do
    "$probe" influence "$run" --out o --parts "${part%=*}" --examples "${part#*=}" -q >out 2>err || complain "$part: $(cat err)"
done
"$probe" influence "$run" --out o --parts token --examples 5 --dry-run >out 2>err || complain "token: $(cat err)"
grep -q 'token .* 5 examples (measured)' err || complain "the sample of another part is taken for that of token: $(cat err)"

# The graph of 70 tokens is longer; a limit that cuts nothing of it gives the bits that are there without.
# shellcheck disable=SC2086
"$probe" train --model s4d --task xor --set distance=8 --set length=70 --set copies=1 --set train=64 --set val=32 --set test=32 \
    --set epochs=1 --set width=4 --set layers=1 --set state=4 --precision f32 --out odd -q >train.out 2>&1 || complain "s4d: $(cat train.out)"
"$probe" influence odd/runs/* --parts cut --out odd -q >out 2>err || complain "a length between two of graphs: $(cat err)"
has out 'r = 70'

# Attention that is cut pair by pair, in rows that are shorter than the graph: whole at its length, and told as attention's.
for model in las linear-transformer; do
    # shellcheck disable=SC2086
    "$probe" train --model $model --task xor --set distance=4 --set length=21 --set copies=1 --set train=64 --set val=32 --set test=32 \
        --set epochs=1 --set width=8 --set hidden=8 --set heads=2 --set layers=1 --out near -q >train.out 2>&1 || complain "$model: $(cat train.out)"
    "$probe" influence near/runs/*$model* --parts cut,heads --out near -q >out 2>err || complain "cut of $model: $(cat err)"
    has out 'r = 21'
    has out 'heads.layer0.head1 '
    grep -q '^layer0.head1 ' out || complain "no gains of heads of $model: $(cat out)"
    has out 'window.w99'
done

# Equal weights of causal models fell on both sides in older files: what knows them is measured again, and tables say so.
mkdir -p old/runs
cp -r "$LRA_SOURCE"/tests/golden/influence-ahead old/runs/xor-las-7c10290af78ff0fa
chmod -R u+w old
"$probe" influence old/runs/* --out old --parts jacobian,interaction --examples 12 --dry-run >out 2>err || complain "an older file: $(cat err)"
! grep -q 'jacobian .*(measured)' err || complain "uniform weights on both sides are kept: $(cat err)"
! grep -q 'interaction .*(measured)' err || complain "an interaction against permuted labels of blocks is kept: $(cat err)"
"$report" tables --table influence old/runs/* --out old >out 2>err || complain "an older file: $(cat err)"
has out "'interaction' was measured by an older version"
has out '  causal, but the uniform weights of the file (of an older version) cover both sides'
"$probe" influence near/runs/*las* --parts jacobian,field,occlusion --examples 4 --out near -q >out 2>err || complain "las: $(cat err)"
! grep -q 'cover both sides' out || complain "las: uniform weights on both sides: $(cat out)"
"$probe" influence near/runs/*las* --parts jacobian,field,occlusion --examples 4 --out near --dry-run >out 2>err || complain "las again: $(cat err)"
[ "$(grep -c '(measured)' err)" -eq 3 ] || complain "las is measured twice: $(cat err)"

# Heads have limits of their own, one by one or in groups; a group of all is the layer, and a layer of one head has no others.
"$probe" train --model transformer --task xor --set distance=1 --set length=8 --set copies=1 --set train=1280 --set val=64 --set test=64 \
    --set batch=16 --set rate=0.01 --set epochs=1 --set width=16 --set hidden=16 --set heads=4 --set layers=2 --out heads -q >train.out 2>&1 ||
    complain "heads: $(cat train.out)"
"$probe" influence heads/runs/* --parts heads --head-groups 3 --out heads >out 2>err || complain "heads: $(cat err)"
grep -q '^  heads  *1664 passes, 64 examples' err || complain "2 and 6 groups at 4 limits of 64 rows: $(cat err)"
for id in layer0.head0 layer0.head1 layer0.head2-3 layer1.head2-3; do
    grep -q "^$id  *-*[0-9.]* .* 100.0$" out || complain "no gains of $id: $(cat out)"
done
has out 'heads.layer1.head0 '
"$probe" influence heads/runs/* --parts heads,jacobian --head-groups 3 --examples 64 --out heads >again 2>err || complain "heads and more: $(cat err)"
grep -q 'heads .*(measured)' err || complain "heads are measured twice: $(cat err)"
"$probe" influence heads/runs/* --parts cut,heads --head-groups 1 --examples 64 --out heads >out 2>err || complain "one group: $(cat err)"
! grep -q 'heads .*(measured)' err || complain "other groups are taken for these: $(cat err)"
for layer in 0 1; do
    sed -n "s/^layer$layer  *//p" out >whole
    [ -s whole ] || complain "no gains of layer$layer: $(cat out)"
    sed -n "s/^layer$layer.head0-3  *//p" out | cmp -s - whole || complain "all heads of layer$layer together are not the layer: $(cat out)"
done
"$probe" train --model transformer --task xor --set distance=4 --set length=21 --set copies=1 --set train=64 --set val=32 --set test=32 \
    --set epochs=1 --set width=8 --set hidden=8 --set heads=1 --set layers=2 --out one -q >train.out 2>&1 || complain "one head: $(cat train.out)"
expect 2 "part 'heads' of run 'one/runs/.*' is undefined: no layer has several heads of attention" "$probe" influence one/runs/* --parts heads --out one

# A language model is asked what follows at steps of its windows; what needs one answer to a whole input says so.
awk 'BEGIN { for (i = 0; i < 90; i++) printf "the quick brown fox jumps over the lazy dog " }' >text8
"$probe" train --task text8 --data-dir text8 --model transformer --set context=16 --set width=8 --set heads=2 --set hidden=8 --set layers=1 \
    --set epochs=1 --set batch=4 --out lm -q >train.out 2>&1 || complain "text8: $(cat train.out)"
"$probe" influence lm/runs/* --data-dir text8 --parts keep,order-in,bag,cut --examples 3 --out lm >out 2>err || complain "a language model: $(cat err)"
grep -q '^  bag *undefined: windows of a language model answer' err || complain "bags of a language model: $(cat err)"
grep -q '^  keep  *192 passes, 3 examples' err || complain "what 8 steps under 5 widths, and under one of another manner, cost: $(cat err)"
for id in keep.w95 key.w05 kl.w95 kl.local window.w95; do has out $id; done

# A budget makes samples smaller, and says so.
"$probe" influence "$run" --out o --examples 100 --budget 2000 --dry-run >out 2>err || complain "--budget: $(cat err)"
! grep -q ' 100 examples' err || complain "a budget changes nothing: $(cat err)"
awk '/passes/ { sum += $2 } END { exit sum > 2100 || sum < 1000 }' err || complain "a budget of 2000 passes: $(cat err)"

grep -q 'interaction *undefined: two examples cost more' err || complain "a part that no budget of 2000 pays for: $(cat err)"

# It is kept where the fewest examples of all parts take more: the dearest are left out, and say so.
for budget in 300 1000 20000; do
    "$probe" influence "$run" --out o --examples 100 --budget $budget --dry-run >out 2>err || complain "--budget $budget: $(cat err)"
    awk -v most=$budget '/passes/ { sum += $2 } END { exit sum > most || sum < 0.6 * most }' err || complain "a budget of $budget passes: $(cat err)"
done
"$probe" influence "$run" --out o --examples 100 --budget 300 --dry-run >out 2>err || complain "--budget 300: $(cat err)"
grep -q 'undefined: its smallest sample costs more than remains of the budget after the other parts' err || complain "what 300 passes leave out: $(cat err)"

expect 2 "part 'cut' of run 'o/runs/$run' is undefined: one example costs more passes than the budget" "$probe" influence "$run" --out o --budget 1 -q

# Of one example there is no other to take tokens from; what needs none is measured all the same.
"$probe" influence "$run" --out o --parts keep,occlusion,swap,drop,position,interaction --examples 1 >out 2>err ||
    complain "one example: $(cat err)"
for part in occlusion swap drop position interaction; do
    grep -q "^  $part *undefined: it needs tokens of another example" err || complain "$part of one example: $(cat err)"
done
has out 'keep.w95'
# Where one example gives no intervals there are none of what follows from them, and what was written is read again.
"$probe" influence "$run" --out o --parts field --examples 1 --json >json 2>err || complain "the field of one example: $(cat err)"
"$report" tables --table influence "o/runs/$run" --out one.out >out 2>err || complain "what one example gave is not read: $(cat err)"
"$probe" influence "$run" --out o --parts field --examples 1 >out 2>err
grep -q 'field .* 1 examples (measured)' err || complain "the field of one example is not taken over: $(cat err)"
# Legends tell every id of the table and every flag, and why there is no gain.
for word in context.rP cut.rP cut.reachP layer.wP self dist.mean dist.mean.rel dist.qP range.q95.used side decay.tau decay.beta \
    erf.rP keep.wP keep.auc key.wP kl.most kl.wP mode.difference order.local flags; do
    grep -q "^$word  *[a-z]" out || complain "the legend does not tell '$word': $(cat out)"
done
grep -q '^flags .*approx: computed from a sample' out || complain "the legend does not tell what 'approx' is: $(cat out)"
! grep -Eq ' -0(\.0+)?( |$)' out || complain "zeros with a sign: $(cat out)"

# The null value of permuted labels is what the run has that was trained on them; it is measured and saved as the run itself is.
expect 1 "'.*' does not exist: repeat the command that trained '.*$run' with '--permute-labels 1'" "$probe" influence "$run" --out o --null shuffled
# shellcheck disable=SC2086
"$probe" train $small --permute-labels 1 >train.out 2>&1 || complain "permuted labels: $(cat train.out)"
twin=$(ls o/runs | grep -v "^$run$")
expect 2 "run 'o/runs/$twin' was itself trained on permuted labels" "$probe" influence "$twin" --out o --null shuffled
asked="--parts jacobian,keep,position --examples 4 --null shuffled --out o"
rm -f "o/runs/$run/influence.h5"
# shellcheck disable=SC2086
"$probe" influence "$run" $asked --dry-run >out 2>err || complain "--null, dry run: $(cat err)"
[ "$(grep -c '^  jacobian .* passes, 4 examples' err)" -eq 2 ] || complain "the cost of both: $(cat err)"
[ ! -e "o/runs/$twin/influence.h5" ] || complain "a dry run of null values leaves a file"
# shellcheck disable=SC2086
"$probe" influence "$run" $asked --json >json 2>err || complain "--null shuffled: $(cat err)"
"$probe" influence "$twin" --out o --parts jacobian,keep,position --examples 4 --json >twin.json 2>err || complain "the twin: $(cat err)"
[ "$(grep -c '(measured)' err)" -eq 3 ] || complain "the twin is measured twice: $(cat err)"
values() { tr -d ' \n' <"$1" | tr '{' '\n' | sed -n "s/.*\"part\":\"\([a-z0-9.-]*\)\",\"id\":\"\([a-z0-9.]*\)\".*\"$2\":\([^,]*\),.*/\1 \2 \3/p"; }
values json shuffled >nulls
values twin.json value >wanted
grep -q '^jacobian dist.mean [0-9]' nulls || complain "no null values: $(cat json)"
cmp -s nulls wanted || complain "null values are not those of the twin: $(diff nulls wanted)"
cp "o/runs/$run/influence.h5" whole
# shellcheck disable=SC2086
"$probe" influence "$run" $asked --json >again 2>err || complain "--null, again: $(cat err)"
cmp -s json again || complain "null values change: $(diff json again)"
cmp -s whole "o/runs/$run/influence.h5" || complain "nothing is new, but the file is written"
# They stay when other parts come, and a part that was asked of other examples has none.
"$probe" influence "$run" --out o --parts field --examples 4 -q >out 2>err || complain "field: $(cat err)"
"$probe" influence "$run" --out o --parts keep --examples 3 -q >out 2>err || complain "keep: $(cat err)"
"$report" tables --table influence "o/runs/$run" --format json >later 2>err || complain "tables: $(cat err)"
tr -d ' \n' <later | tr '{' '\n' |
    sed -n 's/.*"part":"\([a-z0-9.-]*\)",.*"id":"\([a-z0-9.]*\)",.*"null_shuffled":\([^,]*\),.*/\1 \2 \3/p' >later.nulls
grep '^jacobian .* [0-9]' nulls | sort >known
sort later.nulls | comm -23 known - >lost
[ -s known ] && [ ! -s lost ] ||
    complain "null values are lost: $(cat lost)"
! grep -q '^keep .* [0-9]' later.nulls || complain "null values of other examples: $(cat later.nulls)"
# Killed while the twin is measured, it goes on there.
rm -f o/runs/*/influence.h5
# shellcheck disable=SC2086
"$probe" influence "$run" $asked >out 2>err &
happens test -e "o/runs/$twin/influence.h5"
kill -9 $! 2>/dev/null
wait $! 2>/dev/null
# shellcheck disable=SC2086
"$probe" influence "$run" $asked --json >again 2>err || complain "--null after a kill: $(cat err)"
[ "$(grep -c '(measured)' err)" -ge 4 ] || complain "all is measured again after a kill: $(cat err)"
cmp -s json again || complain "other null values after a kill: $(diff json again)"
rm -r "o/runs/$twin"

# Batches of one row: swapped tokens are those of a row of another batch; blocks of another row say that there is none.
# shellcheck disable=SC2086
"$probe" train $small --set batch=1 --set train=64 --set test=16 --out single >train.out 2>&1 || complain "batches of one: $(cat train.out)"
"$probe" influence single/runs/* --parts swap,token,occlusion,interaction --out single >out 2>err || complain "batches of one: $(cat err)"
for part in occlusion interaction; do
    grep -q "^  $part *undefined: the run has batches of one row" err || complain "$part of batches of one: $(cat err)"
done
has out ' swap '

# What cannot be written is said before it is measured, and where runs are, where a folder is none.
for name in kernels influence; do
    mkdir "single/runs/$name" && cp single/runs/xor*/*.h5 "single/runs/$name" && rm -f "single/runs/$name/$name.h5" && mkdir "single/runs/$name/$name.h5"
    expect 1 "single/runs/$name/$name.h5' is a folder; expected a file" "$probe" "$name" "single/runs/$name" -q
    rm -r "single/runs/$name"
    expect 1 "'single/runs/' is not the folder of a run, but contains runs: 'single/runs/\*' selects all 1" "$probe" $name single/runs/
    expect 1 "'single' is not the folder of a run; its runs are in 'single/runs': 'single/runs/\*' selects all 1" "$probe" $name single
done

# A file that is broken is measured again, with a word.
head -c 2000 kept >"o/runs/$run/influence.h5"
"$probe" influence "$run" --out o --parts cut --examples 4 >out 2>err || complain "after damage: $(cat err)"
grep -q '^warning: .*measured again' err || complain "a broken file is taken without a word: $(cat err)"

# What a user names and the run has not, and what it cannot be made for.
expect 2 "part 'shift' of run 'o/runs/$run' is undefined: all rows have the same length" "$probe" influence "$run" --out o --parts shift
# What length costs beside its examples is counted once, whatever their number.
for n in 1 2 3; do
    "$probe" influence "$run" --out o --parts length --lengths 24,48 --examples $n --dry-run 2>&1 >out | awk '/passes/ { print $2 }'
done >costs
awk '{ x[NR] = $1 } END { exit !(NR == 3 && x[3] - x[2] == x[2] - x[1] && x[1] > x[2] - x[1] + 1) }' costs ||
    complain "the cost of part length: $(cat costs)"
expect 2 "\-\-lengths is '48,x'; expected ascending numbers" "$probe" influence "$run" --out o --parts length --lengths 48,x
expect 1 "length 5: 1 copy at distance 2 need" "$probe" influence "$run" --out o --parts length --lengths 5 -q
"$probe" influence "$run" --out o --parts length --lengths 5,24 --examples 8 -q >out 2>err || complain "an impossible length ends the others: $(cat err)"
has out 'length.gain.x1'
"$probe" influence "$run" --out o --parts length --lengths 5,24 --examples 8 >out 2>err || complain "an impossible length: $(cat err)"
grep -q 'a length is left out: length 5: ' err || complain "an impossible length is left out without a note: $(cat err)"
"$probe" influence "$run" --out o --parts length --lengths 12,72 --examples 8 -q >out 2>err || complain "--lengths: $(cat err)"
has out 'length.gain.x3'
# Positions that are added: masked windows, moved content; a table of them ends where it ends.
"$probe" train --task listops --model transformer --set positions=learned --set width=8 --set heads=2 --set hidden=8 --set layers=1 \
    --set train=64 --set val=8 --set test=20 --set batch=8 --set epochs=1 --out p -q >train.out 2>&1 || complain "transformer: $(cat train.out)"
placed=$(ls p/runs)
"$probe" influence "$placed" --out p --parts mask,shift,drop --examples 8 --json >json 2>err || complain "positions: $(cat err)"
has json '"id": "position.shift.16"'
has json '"part": "mask"'
grep -q 'drop *undefined: the task does not mark the tokens on which the label depends' err || complain "marks of ListOps: $(cat err)"
expect 2 "part 'drop' of run 'p/runs/$placed' is undefined: the task does not mark the tokens on which the label depends" "$probe" influence "$placed" --out p --parts drop
expect 1 "length 40: .*positions/table' has shape (32,8), expected (40,8)" "$probe" influence "$placed" --out p --parts length --lengths 40 -q

expect 2 "unknown part 'jacobin'; did you mean 'jacobian'" "$probe" influence "$run" --out o --parts cut,jacobin
mkdir empty
expect 1 "no 'influence' results in 'empty'; 'lra-probe influence RUN...' makes them" "$report" tables --table influence empty
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
