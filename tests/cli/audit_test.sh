#!/bin/sh
# labels: quick timeout: 300
# lra-probe audit: a program that answers requests is checked and measured on own data; its folder is taken like a run.
. "$LRA_SOURCE/tests/cli/lib.sh"
model=$LRA_BUILD/tests/stub_model

# 300 rows of 20 to 32 tokens below 12, three classes.
awk 'function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }
    BEGIN { z = 5; for (i = 0; i < 300; i++) { printf "{\"x\": ["; n = 20 + draw(13)
        for (t = 0; t < n; t++) printf "%s%d", t ? ", " : "", draw(12)
        printf "], \"label\": %d}\n", draw(3) } }' >rows.jsonl
data="--task file --data-dir rows.jsonl --tokens x --label label --out o --name Net/1"

expect 0 '' "$probe" audit $data --check -- "$model"
says '^deterministic  *ok'
[ ! -d o/runs ] || complain "--check writes a run"
# The model sees 4 tokens back: reach 3.
expect 0 'user.net-1-.*/influence.h5' "$probe" audit $data --parts jacobian,occlusion,field -- "$model"
says 'jacobian  *dist.q95  *3 '
says 'occlusion  *dist.q95  *3 '
says 'field  *erf.r99  *3 '
cp o/runs/*/influence.h5 once.h5
expect 0 '(measured)' "$probe" audit $data --parts jacobian -- "$model"
cmp -s once.h5 o/runs/*/influence.h5 || complain "a measured part is measured again"
expect 0 '' "$report" tables o --table influence
says 'user.net-1'
# The checks are stored with the measurements, and stay when the model is not checked again.
expect 0 '' "$report" tables o --table checks
says '^Checks of the model: .*user.net-1'
says '^deterministic  *passed  *'
says '^keep honoured  *passed  *largest difference 0$'
says '^accuracy  *usual meaning: .*; disables: nothing'
expect 0 '' "$probe" audit $data --no-check --parts position --examples 8 -- "$model"
expect 0 '' "$report" tables o --table checks --format csv
says '^deterministic,passed,'
expect 0 '' "$report" show o/runs/*/influence.h5
says '^  checks .*handshake, shapes *passed'
expect 0 '' "$report" html o --out page.html
grep -q 'id="checks"' page.html || complain "the page does not list the checks"
# New outcomes replace stored ones, without new measurements; files without checks get them.
expect 0 '' "$probe" audit $data --name later --no-check --parts position --examples 8 -- "$model"
expect 1 "'lra-probe audit' stores them" "$report" tables o/runs/file-user.later-* --table checks
expect 0 'new checks, measurements unchanged' "$probe" audit $data --name later --parts position --examples 8 -- "$model"
expect 0 'unchanged: ' "$probe" audit $data --name later --parts position --examples 8 -- "$model"
expect 0 '' "$report" tables o/runs/file-user.later-* --table checks
says '^deterministic  *passed'
rm -r o/runs/file-user.later-*
# A part with a file of its own: the message names the file, also if nothing is measured again.
expect 0 'wrote o/runs/file-user.own-.*/kernels.h5' "$probe" audit $data --name own --parts kernels -- "$model"
expect 0 'unchanged: o/runs/file-user.own-.*/kernels.h5' "$probe" audit $data --name own --parts kernels -- "$model"
rm -r o/runs/file-user.own-*
# Equal weights within the declared window of the attention are uniform weights; weights outside of it are an error.
expect 0 '' "$probe" audit $data --name window --parts attention --examples 8 -- "$model" window
says 'layer0.head0\|conv.head0'
says 'dist.mean.rel  *1.000  *1.000-1.000'
"$probe" audit $data --name narrow --no-check --parts attention --examples 8 -- "$model" narrow >out 2>err && complain "weights outside of the window"
grep -q "outside of the window 2:0 of 'attn_window'" err || complain "$(cat err)"
rm -r o/runs/file-user.window-*
# Distances by layer, of a model that names its layers: a table, a figure, a section of the page.
expect 0 '' "$probe" audit $data --name layers --parts layers,jacobian -- "$model" layers
says 'layers.embed  *self  *1.000 '
says 'layers.wide  *dist.q95  *3 '
expect 0 '' "$report" tables o/runs/file-user.layers-* --table language
says '^Distance of influential tokens by layer: user.layers'
says '^embed  *1.000  *1.000-1.000  *-'
says '^wide  *0\.[0-9]*  *0'
expect 0 '' "$report" tables o/runs/file-user.layers-* --table language --format csv
says 'layers.wide,.*dist.q95'
expect 2 "part 'layers' of run .* is undefined: the model names fewer than two layers" "$probe" audit $data --no-check --parts layers -- "$model"
if command -v gnuplot >/dev/null; then
    expect 0 '' "$report" figures --out l --figure layers o/runs/file-user.layers-*
    [ -s l/figures/layers.svg ] || complain "no figure of layers"
    expect 0 '' "$report" html o/runs/file-user.layers-* --out layers.html
    grep -q '<figcaption.*Distance of influential tokens by layer' layers.html || complain "the page lacks the figure of layers"
fi
expect 1 "'lra-probe audit --parts layers' measures them" "$report" figures --out l --figure layers o/runs/file-user.net-1-*
rm -r o/runs/file-user.layers-*
# What the model has not, and faults that disable parts.
expect 2 "part 'context' of run .* is undefined: the model does not answer 'features' and 'head'" \
    "$probe" audit $data --no-check --parts context -- "$model"
expect 2 "part 'cut' of run .* is undefined: the model accepts no distance limits" "$probe" audit $data --no-check --parts cut -- "$model"
expect 2 "part 'heads' of run .* is undefined: it needs the graphs of a built-in model" "$probe" audit $data --no-check --parts heads -- "$model"
expect 0 '' "$probe" audit $data --name limits --parts cut --examples 8 --batch 3 -- "$model" limits
says ' cut  *cut.r99 '
says ' cut.conv  *layer.w99 '
rm -r o/runs/file-user.limits-*
# A model that computes outputs from given features: the head is checked, and the limit of the complete model is measured.
expect 0 '^head of the features ok  *largest difference 0' "$probe" audit $data --name head --parts context,jacobian --examples 8 -- "$model" head
says ' context  *context.r95  .*fallback'
expect 0 '' "$probe" audit $data --name head --parts context --examples 8 --force -- "$model" head no-positions
says ' context  *context.r95 '
grep -q 'context.r95.*fallback' out && complain "a model without positions has the flag fallback"
expect 0 '' "$report" tables o/runs/file-user.head-* --table locality --format csv
says 'context_r95,.*context_r95_hi.*context_r99,.*range_q95_used'
says 'context_r95: the model is not clearly above chance'
"$probe" audit $data --name wrong --parts context --examples 8 -- "$model" head wrong-head >out 2>err && complain "a wrong head is measured"
grep -q '^head of the features FAILED  *outputs of the model' err || complain "$(cat err)"
expect 0 "part 'context' is left out: the outputs depend on the features of the first position alone" \
    "$probe" audit $data --name class --parts context,position --examples 8 -- "$model" head class-token
rm -r o/runs/file-user.head-* o/runs/file-user.class-*
"$probe" audit $data --name broken --parts jacobian -- "$model" detached >out 2>err
[ $? -eq 2 ] || complain "a model without gradients is measured"
grep -q "part 'jacobian' of run .* is undefined: a check of the model failed" err || complain "$(tail -1 err)"
expect 0 '' "$probe" audit $data --check -- "$model" random
says '^deterministic  *FAILED'
expect 1 'is nan for test row [0-9]*; expected finite numbers: nothing is measured' \
    "$probe" audit $data --no-check --name nan --parts position -- "$model" nan
# Rows without labels, and labels that the model does not know: everything but gains is measured.
parts="--parts occlusion,keep,swap,order-in,order-out,bag,position --examples 24"
expect 0 "has no labels: accuracy and gains are undefined" "$probe" audit $data --label none --name free $parts -- "$model"
for part in keep swap order-in order-out bag; do says " $part  *kl.most  *[0-9]"; done
says 'keep  *keep.w95  *- .*no-gain'
says 'position  *position.edge  *[0-9]'
expect 0 '' "$probe" audit $data --label none --name free --no-check --parts interaction --examples 4 -- "$model"
says 'interaction  *inter.mean  *[0-9]'
says 'occlusion  *dist.q95  *3 '
expect 0 '' "$report" tables o --table tasks
says 'file:rows *user.free  *none  *-  *-  *- '
expect 0 '' "$report" show o/runs/file-user.free-*
says 'no labels, [0-9]* rows'
if command -v gnuplot >/dev/null; then
    expect 0 '' "$report" figures --out o --figure locality o/runs/file-user.free-*
    expect 1 'has no labels, so that there is no metric to draw' "$report" figures --out o --figure models o/runs/file-user.free-*
fi
expect 0 '(measured)' "$probe" audit $data --label none --name free $parts -- "$model"
expect 0 '^accuracy  *FAILED' "$probe" audit $data --name chance $parts -- "$model"
for part in keep swap order-in order-out bag; do says " $part  *kl.most  *[0-9]"; done
says 'keep  *keep.w95  *- '
# A recording answers without the model.
expect 0 '' "$probe" audit $data --name taped --parts position --no-check --record tape -- "$model"
expect 0 '' "$probe" audit $data --name taped --parts position --no-check --force --replay tape
# Two copies of the program give the same numbers.
for procs in 1 2; do
    expect 0 '' "$probe" audit $data --parts position --no-check --force --json --model-procs $procs --model-timeout 60 \
        -- "$model"
    cp out "procs$procs"
done
cmp -s procs1 procs2 || complain "two copies of the program give other numbers"
# Rows exchange tokens within groups that do not depend on the batch.
for batch in 2 4 16; do
    expect 0 '' "$probe" audit $data --batch $batch --donors 4 --examples 10 --out "b$batch" --no-check --json \
        --parts occlusion,keep,swap,position,interaction -- "$model"
    cp out "batch$batch"
done
cmp -s batch2 batch4 && cmp -s batch16 batch4 || complain "numbers depend on the batch"
expect 0 '(measured)' "$probe" audit $data --batch 16 --donors 4 --examples 10 --out b4 --no-check --parts swap,position -- "$model"
expect 0 'swap  *[0-9]* passes, [0-9]* examples  gain' "$probe" audit $data --donors 8 --examples 10 --out b4 --no-check --parts swap -- "$model"
# A model of one length: padding is not tested, and parts that shorten inputs are left out.
awk 'function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }
    BEGIN { z = 7; for (i = 0; i < 200; i++) { printf "{\"x\": ["
        for (t = 0; t < 24; t++) printf "%s%d", t ? ", " : "", draw(12)
        printf "], \"label\": %d}\n", draw(3) } }' >equal.jsonl
equal="--task file --data-dir equal.jsonl --tokens x --label label --out f"
expect 0 'padding invariance  *-  *the model takes inputs of 24 tokens alone' "$probe" audit $equal \
    --parts occlusion,jacobian,keep,swap,token,bag,order-in,position --examples 12 -- "$model" fixed
for part in swap token order-in; do says " $part  *kl.most  *[0-9]"; done
says ' jacobian  *dist.q95  *3 '
for part in keep bag; do
    grep -q "$part  *undefined: the model takes inputs of one length alone" err || complain "$part: $(cat err)"
done
expect 1 'takes inputs of exactly 24 tokens, and [0-9]* of 28 test rows of .file:rows. have another length (20 to 32)' \
    "$probe" audit $data -- "$model" fixed
expect 1 'did not answer .hello. within 1 s of its start; .*--start-timeout' "$probe" audit $data --model-timeout 1 -- "$model" mute
# Files of one name are told apart.
mkdir -p other && cp equal.jsonl other/rows.jsonl
expect 0 "'file:rows' is the name of other data in 'o/data': these are named 'file:rows-......'" "$probe" audit \
    --task file --data-dir other/rows.jsonl --tokens x --label label --out o --name other --parts position --examples 8 -- "$model"
says '^user.other, file:rows-......, seed 0'
expect 0 '' "$report" tables o --table influence
says 'Effect of the tokens by relative position in the input: user.other, file:rows-'
says '^95-100 %  *[0-9]'
expect 0 '' "$probe" audit --task file:mine --data-dir other/rows.jsonl --tokens x --label label --out o --name other --check -- "$model"
if command -v gnuplot >/dev/null; then
    expect 0 '' "$report" figures --out o --figure position o
    [ -s o/figures/position.svg ] || complain "no figure of positions"
fi
expect 2 'no program' "$probe" audit $data
expect 2 'exclude each other' "$probe" audit $data --replay tape -- "$model"
expect 2 "unknown part 'nothing'" "$probe" audit $data --parts nothing -- "$model"
# Each copy finds its slot and its GPU; it exits without an answer.
lra-probe audit --task listops --preset quick --set train=64 --set val=64 --set test=64 --out gpus --model-procs 2 \
    --model-gpus 3,5 --max-frame 1 -- sh -c 'echo slot $LRAX_SLOT, gpu $CUDA_VISIBLE_DEVICES >&2' >out 2>err && complain "a model without answers"
grep -q "model 0 ended.*'slot 0, gpu 3'\|model 1 ended.*'slot 1, gpu 5'" err || complain "slots and GPUs: $(cat err)"
# A served run has the measurements of the run: chance is the most frequent training label in both.
"$probe" train --task listops --preset quick --set train=6400 --set epochs=3 --threads 1 --precision f32 --out r -q >out 2>err ||
    complain "train: $(cat err)"
run=$(echo r/runs/*)
"$probe" influence "$run" --parts keep --examples 100 --out r >own 2>err || complain "influence: $(cat err)"
"$probe" audit --task listops --preset quick --set train=6400 --name served --parts keep --examples 100 --out s -- \
    "$probe" serve "$run" >served 2>err || complain "audit of a served run: $(cat err)"
for id in keep.auc kl.most; do
    for file in own served; do sed -n "s/.* keep  *$id  *\([^ ]* *[^ ]*\) .*/\1/p" $file | tr -s ' ' >"$file.$id"; done
    [ -s "own.$id" ] && cmp -s "own.$id" "served.$id" || complain "$id: $(cat "own.$id"), served $(cat "served.$id")"
done
exit $bad
