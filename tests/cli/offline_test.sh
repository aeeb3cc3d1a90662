#!/bin/sh
# labels: quick timeout: 300
# lra-probe audit without a connection to the model: requests and answers as files give the results of the live audit.
. "$LRA_SOURCE/tests/cli/lib.sh"
model=$LRA_BUILD/tests/stub_model
awk 'function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }
    BEGIN { z = 5; for (i = 0; i < 300; i++) { printf "{\"x\": ["; n = 20 + draw(13)
        for (t = 0; t < n; t++) printf "%s%d", t ? ", " : "", draw(12)
        printf "], \"label\": %d}\n", draw(3) } }' >rows.jsonl
data="--task file --data-dir rows.jsonl --tokens x --label label --name net"
parts="--parts jacobian,occlusion,position --examples 4"

# Equal results: every measurement of the JSON document, with the weights at initialisation (reset).
expect 0 '' "$probe" audit $data $parts --json --out live -- "$model"
mv out live.json
expect 0 '' "$probe" audit $data $parts --out off --plan plan
says 'requests: 1, without an answer: 1, new: 1 '
says 'plan/request/000001.safetensors asks the model to describe itself'
expect 1 "has not described itself: 'plan/result/000001.safetensors' is missing" \
    "$probe" audit $data $parts --out off -q --results plan
expect 0 '' "$probe" audit --answer plan -- "$model"
says 'wrote 1 answers to plan/result'
expect 0 '' "$probe" audit $data $parts --out off --plan plan --dry-run
says 'new: [1-9][0-9]* '
[ -e plan/request/000002.safetensors ] && complain "--dry-run writes requests"
expect 0 '' "$probe" audit $data $parts --out off --plan plan
expect 0 '' "$probe" audit --answer plan --model-procs 3 -- "$model"
expect 0 '' "$probe" audit $data $parts --out off --plan plan
says 'without an answer: 0, new: 0 '
expect 0 '' "$probe" audit $data $parts --json --out off --results plan
[ -s live.json ] && cmp -s live.json out || complain "offline results differ from the live ones"
[ ! -e off/runs/*/scratch ] || complain "planning leaves files"
# A model that is out of memory: smaller batches are a further round.
for round in 1 2 3 4 5; do
    expect 0 '' "$probe" audit $data $parts --out memory --plan memory
    expect 0 '' "$probe" audit --answer memory -- "$model" out_of_memory
done
expect 0 '' "$probe" audit $data $parts --json --out memory --results memory
cmp -s live.json out || complain "results differ after out_of_memory"

# Attention and kernels: the numbers of heads are asked first, the matrices in the next round; with the initial weights. Parts of
# models that name layers, accept distance limits and compute outputs from features.
maps="--parts attention,kernels,layers,cut,context --examples 6"
has_all="layers limits head window"
expect 0 '' "$probe" audit $data $maps --out mlive -- "$model" $has_all
for round in 1 2 3; do
    expect 0 '' "$probe" audit $data $maps --out maps --plan maps
    [ $round -eq 1 ] || ! grep -q 'new: 0 ' out || complain "round $round has no request"
    expect 0 '' "$probe" audit --answer maps -- "$model" $has_all
done
expect 0 '' "$probe" audit $data $maps --out maps --plan maps
says 'without an answer: 0, new: 0 '
expect 0 '' "$probe" audit $data $maps --out maps --results maps
for table in attention kernels influence; do
    expect 0 '' "$report" tables mlive --table $table --format csv
    mv out live.csv
    expect 0 '' "$report" tables maps --table $table --format csv
    [ -s live.csv ] && cmp -s live.csv out || complain "offline $table differs from the live one"
done
[ ! -e maps/runs/*/scratch ] || complain "planning leaves files"
# A part without an answer is left out, unless it is the only one.
for f in maps/request/*; do if grep -aq '"op":"kernels"' "$f"; then rm "maps/result/$(basename "$f")"; fi; done
expect 0 "part 'kernels': kernels of layer 'conv': a request has no answer yet: 'maps/result/[0-9]*.safetensors': left out" \
    "$probe" audit $data $maps --out maps2 --results maps
[ -e maps2/runs/*/attention.h5 ] || complain "attention is not measured without kernels"
[ ! -e maps2/runs/*/kernels.h5 ] || complain "kernels without answers"
expect 0 '' "$probe" audit $data --parts kernels --out maps3 --plan maps3
for round in 1 2; do
    expect 0 '' "$probe" audit --answer maps3 -- "$model"
    expect 0 '' "$probe" audit $data --parts kernels --out maps3 --plan maps3
done
for f in maps3/request/*; do if grep -aq '"op":"kernels"' "$f"; then rm "maps3/result/$(basename "$f")"; fi; done
"$probe" audit $data --parts kernels --out maps3 --results maps3 >out 2>err && complain "kernels without answers"
grep -q "^lra-probe: part 'kernels': kernels of layer 'conv': a request has no answer yet" err || complain "$(cat err)"

# Missing answers: parts that are complete are measured.
last=$(ls plan/request | tail -1)
mv "plan/result/$last" last
expect 0 "1 of [0-9]* requests have no answer, the first is 'plan/request/$last': parts that need them are left out" \
    "$probe" audit $data $parts --out missing --results plan
says ' occlusion  *dist.mean '
grep -q 'seed 0 .* position ' out && complain "a part without answers is in the table"
grep -q "part 'position' is left out: a request has no answer yet: 'plan/result/$last'" err || complain "$(cat err)"
# Damaged and wrong answers are one line each.
wrong() { # PATTERN: the message
    expect 1 "$1" "$probe" audit $data $parts --out wrong -q --results plan
}
head -c 100 last >"plan/result/$last"
wrong "'plan/result/$last': file sent no valid message"
cp plan/result/000002.safetensors "plan/result/$last"
wrong "'plan/result/$last' has id 2, expected"
cp last "plan/result/$last"
sed 's/"plan":"[0-9a-f]*"/"plan":"0123456789abcdef"/' last >"plan/result/$last"
wrong "'plan/result/$last' answers a request of another plan (0123456789abcdef, expected"
rm "plan/result/$last"
cp plan/result/000001.safetensors ready
sed 's/"weights":"[^"]\{4\}/"weights":"some/' ready >plan/result/000001.safetensors
expect 1 "the model has the weights '.*', 'plan/result/000001.safetensors' has 'some" \
    "$probe" audit --answer plan -- "$model"
cp ready plan/result/000001.safetensors
expect 1 "was planned with parts 'jacobian,occlusion,position', this audit has 'jacobian'; repeat the options" \
    "$probe" audit $data --parts jacobian --examples 4 -q --results plan
expect 1 "was planned with task 'file:rows', this audit has 'listops'" \
    "$probe" audit --task listops --preset quick --set train=64 --set val=64 --set test=64 $parts --out l -q --results plan
expect 1 "there is no plan 'none/plan.json'" "$probe" audit $data $parts -q --results none
expect 1 "'none/request'" "$probe" audit --answer none -- "$model"
rm plan/plan.json
expect 1 "'plan/request/000001.safetensors' exists without 'plan.json'" "$probe" audit $data $parts -q --plan plan
expect 2 'plan and --results exclude each other' "$probe" audit $data --plan a --results b
expect 2 'exclude each other' "$probe" audit $data --plan a -- "$model"
expect 2 'no program' "$probe" audit --answer a
exit $bad
