#!/bin/sh
# lra-probe kernels and what lra-report makes of it: layers of every kind of kernel, seeds together, the same numbers
# from the files, one line for every fault.
. "$LRA_SOURCE/tests/cli/lib.sh"

matches() { grep -q -- "$2" "$1" || complain "$1 lacks '$2'"; }

small="--set train=64 --set batch=32 --set val=8 --set test=20 --set epochs=1 --set width=8 --set layers=2 --out o -q"
for cell in "0 resconv" "1 resconv" "0 s4d" "0 gmlp" "0 lru" "0 s5" "0 s4" "0 mega"; do
    # shellcheck disable=SC2086
    "$probe" train $small --seed "${cell% *}" --model "${cell#* }" >train.out 2>&1 || complain "train: $(cat train.out)"
done

"$probe" kernels o/runs/listops-resconv-* o/runs/listops-s4d-* --dry-run >out 2>err || complain "--dry-run: $(cat err)"
matches out 'layer0.conv conv: 64 channels, lags -2 to 2'
matches out 'layer1.ssm long_conv: 8 channels, lags -'
[ -e "$(echo o/runs/listops-s4d-*)/kernels.h5" ] && complain "--dry-run writes"

# Where something without a kernel mixes positions, too, kernels are parts: it is named, and no row is the model.
"$probe" kernels o/runs/listops-mega-* --dry-run >out 2>err || complain "--dry-run: $(cat err)"
matches out 'without kernels: layer0 (attention), layer1 (attention)$'
"$probe" kernels o/runs/listops-mega-* o/runs/listops-s4d-* --channels channels.csv >parts 2>err || complain "mega: $(cat err)"
matches err 'mixed without a kernel: layer0 (attention), layer1 (attention)'
matches parts "^MEGA *no row 'model', because these layers mix positions without a kernel: layer0 (attention)"
matches parts '^MEGA *listops *1 *layer0.ema '
grep -q '^MEGA *listops *1 *model ' parts && complain "a part as the model: $(cat parts)"
matches parts '^S4D *listops *1 *model '
"$probe" kernels o/runs/listops-s4d-* --dry-run >out 2>err || complain "--dry-run: $(cat err)"
grep -q 'without kernels' out && complain "s4d has nothing without a kernel: $(cat out)"

# Decay of every channel: a row for each of 2 runs x 2 layers x 8 channels, and the median of the table among them.
[ "$(wc -l <channels.csv)" -eq 33 ] || complain "channels.csv: $(cat channels.csv)"
matches channels.csv '^run,task,model,seed,layer,channel,kind,tau,beta,kind_initial,tau_initial,beta_initial$'
matches channels.csv '^[0-9a-f]*,listops,mega,0,layer0.ema,7,exponential,[0-9.]*,[0-9.]*,exponential,'

# Notes do not land inside a line of the table, where both go to one file.
"$probe" kernels o/runs/listops-s4d-* >both 2>&1 || complain "kernels: $(cat both)"
[ "$(tail -n 1 both)" = "figures: lra-report figures --figure las-1 RUN... (also decay)" ] || complain "order: $(tail -n 3 both)"

"$probe" kernels o/runs/* >table 2>err || complain "kernels: $(cat err)"
matches err 'wrote o/runs/listops-s4d-.*/kernels.h5'
matches table '^resconv K = 5 *listops *2 *layer0.conv *64 '
matches table '^S4D *listops *1 *layer1.ssm *8 '
matches table '^gMLP *listops *1 *layer0.gate '
matches table '^S4D *listops *1 *model '
has table '+-'
# Kernels as attention heads: layers with one value per lag; those of a dense convolution have vectors.
"$report" tables --table theorem o >theorem 2>err || complain "theorem: $(cat err)"
matches theorem '^S4 (v4) .*layer0.ssm *[0-9.]*e-0[5-9] '
grep -q '^resconv' theorem && complain "vectors as kernels: $(cat theorem)"
"$report" tables --table theorem o -f json >theorem.json 2>err || complain "theorem as JSON: $(cat err)"
for fact in one_head two_heads; do matches theorem.json "\"largest_error_$fact\": [0-9.]*e-[6-9]"; done
matches theorem.json '"largest_negative_share": [01]'

# A model with a layer whose kernels do not fall has no finite tau.
awk -F'  +' '/^model / { at = 0; for (i = 1; i <= NF; i++) if ($i == "tau (tokens)") at = i }
    at && $at == "> T" { if ($4 == "model") model[$1] = 1; else layer[$1] = 1 }
    END { for (m in layer) { n++; if (!model[m]) exit 1 }; exit !n }' table || complain "tau of models: $(cat table)"
# Every number has what it was before training, and every median the middle half of its channels around it.
awk -F'  +' '
    function half(text) { return text ~ /^(> T|[0-9.]+( to |-)(> T|[0-9.]+))$/ }
    /^model / { n = NF; for (i = 1; i <= n; i++) head[i] = $i; tables++
        for (i = 6; i <= n; i++) if (head[i] !~ / (IQR|initial)$/) {
            at = i + 1; if (head[at] ~ / IQR$/) at++
            if (head[at] !~ / initial$/) { print "no initial of " head[i]; bad = 1 } } }
    NF == n && /^(S4D|resconv|LRU) / { rows++
        for (i = 6; i <= n; i++) if (head[i] ~ / IQR$/ && $4 != "model" && $(i - 1) != "-" && !half($i)) { print "IQR of " head[i - 1] ": " $i; bad = 1 }
        for (i = 6; i <= n; i++) if (head[i] ~ / initial$/ && $i == "-") { back = i - 1; if (head[back] ~ / IQR$/) back--
            if ($back != "-") { print "no initial value of " head[back] " in " $1; bad = 1 } } }
    END { exit bad || tables != 3 || rows < 15 }' table >out || complain "null values and halves of kernels: $(cat out table)"
"$report" tables --wide --table kernels o >from_files 2>err || complain "tables: $(cat err)"
cmp -s table from_files || complain "lra-report prints other numbers"
"$probe" kernels "$(ls o/runs | grep s4d)" --out o -q --json >json || complain "--json fails"
has json '"kernel_cut": 0'
has json '"range_q95_initial": '
awk -F'[:,]' '/"layer": "model"/ { exit } /"range_q50":/ { m = $2 } /"range_q50_q1":/ { a = $2 } /"range_q50_q3":/ { b = $2; n++; if (!(a + 0 <= m && m + 0 <= b)) exit 2 }
    END { exit n != 2 }' json || complain "quartiles around r50: $(cat json)"
# Places of layers have no mean over them.
tr -d ' ",' <json | awk -F: '$1 == "layer" { model = $2 == "model" } $1 == "shift_peak" && $2 + 0 > 0 { n[model]++ } END { exit !(n[0] == 2 && !n[1]) }' ||
    complain "shift.peak of layers and of the model: $(cat json)"
# the direct path is counted where it is asked for, found beside every kind of kernel, and never mixed with others
"$probe" kernels o/runs/* --kernel-skip --dry-run >out 2>err || complain "--kernel-skip: $(cat err)"
for layer in layer0.ssm layer0.lru layer0.s5 layer0.ema; do matches out " $layer .*, D u counted at lag 0\$"; done
grep -q 'layer0.\(conv\|gate\) .*D u' out && complain "a direct path that is none: $(cat out)"
mkdir -p skip/runs
cp -r o/runs/listops-lru-* skip/runs/
"$probe" kernels skip/runs/listops-lru-* --kernel-skip >out 2>err || complain "--kernel-skip: $(cat err)"
matches out 'D u *skip connection parallel to a kernel: included as lag 0'
matches table 'D u *skip connection parallel to a kernel: not included'
"$report" tables --table kernels o/runs/listops-lru-* skip -f csv >csv 2>err || complain "with and without D u: $(cat err)"
for skip in 0 1; do
    [ "$(grep -c ",lru,.* skip=$skip.*,range.mean.rel,," csv)" -eq 3 ] || complain "which counts D u: $(cat csv)"
done
matches csv ',decay.tau.mod,,[0-9]'
"$report" tables --table locality skip -f csv >locality 2>err || complain "locality with D u: $(cat err)"
matches locality '^lru,.*kernels_dist_mean_rel: kernels.h5 counts the direct path'
"$probe" kernels o/runs/listops-gmlp-* --kernel-skip >out 2>err || complain "gmlp with --kernel-skip: $(cat err)"
matches err 'o/runs/listops-gmlp-.*: 2 of 2 kernels have no direct path D u'
"$probe" kernels o/runs/listops-gmlp-* -q >out 2>err || complain "gmlp again: $(cat err)"
# the same of a run on permuted labels, as it is when it is asked itself
# shellcheck disable=SC2086
"$probe" train $small --model s4 --permute-labels 1 >train.out 2>&1 || complain "--permute-labels: $(cat train.out)"
twin=$(sed -n 's:^wrote \(.*\)/result.h5$:\1:p' train.out)
own=$(for run in o/runs/listops-s4-*; do [ "$run" = "$twin" ] || echo "$run"; done)
numbers() { sed -n "s/^ *\"$2\": \([0-9].*[0-9]\).*/\1/p" "$1"; }
"$probe" kernels "$own" --null shuffled --json -q >json || complain "--null shuffled fails"
"$probe" kernels "$twin" --json -q >out || complain "kernels of permuted labels"
[ "$(numbers out decay_tau | wc -l)" = 3 ] || complain "no numbers: $(cat out)"
for key in range_mean_rel decay_tau kernel_erank; do
    [ "$(numbers json ${key}_shuffled)" = "$(numbers out $key)" ] || complain "$key: not what the other run has"
    [ "$(numbers json $key)" != "$(numbers out $key)" ] || complain "$key: permuted labels changed nothing"
done
"$report" tables --table kernels "$own" >out 2>err || complain "tables with a null value: $(cat err)"
has out 'shuffled'
grep -q shuffled table && complain "a null value that nobody asked for"
expect 2 "was itself trained on permuted labels" "$probe" kernels "$twin" --null shuffled -q
expect 2 "needs labels of rows; task 'cumsum' has none" "$probe" train --task cumsum --permute-labels 1 --out o -q
expect 2 "objective 'pretrain-masked' does not read labels" "$probe" train --objective pretrain-masked --permute-labels 1 --out o -q
rm -r "$twin"
# locality: results and what probes left beside them, by the folder and by the result's own name
"$report" tables --table locality o -f csv >locality 2>err || complain "locality: $(cat err)"
matches locality '^s4d,listops,quick,.*dist_mean_rel: no influence.h5'
matches locality '^resconv K = 5,listops,quick,.*heads_dist_mean_rel: no attention.h5'
grep -q '^s4d.*kernels_dist_mean_rel: ' locality && complain "kernels.h5 is there, and not read"
"$report" tables --table locality o/runs/*/result.h5 -f csv >named 2>err || complain "locality: $(cat err)"
cmp -s locality named || complain "results by name lack what stands beside them"
# scans and low-rank state spaces are measured as the others, and their energy beyond the length is closed
"$report" tables --table kernels o -f csv >csv 2>err || complain "scans: $(cat err)"
for model in lru s5 s4 mega; do
    least=3
    [ $model != mega ] || least=2
    [ "$(grep -c "^[0-9a-f]*,listops,$model,.*,kernel.cut,,[0-9]" csv)" -ge $least ] ||
        complain "$model: no energy beyond the length in every layer"
done
matches csv ',layer1.ema,1,,kernel.cut,'
hdf=$(echo o/runs/listops-s4d-*)/kernels.h5
if command -v h5dump >/dev/null; then
    h5dump -n "$hdf" >out || complain "h5dump fails"
    for name in /unit/layer0.ssm/kernel /unit/layer0.ssm/kernel0 /unit/layer1.ssm/envelope /finding/values; do
        matches out " $name\$"
    done
fi

if command -v gnuplot >/dev/null; then
    for id in las-1 decay locality; do
        "$report" figures --figure $id o/runs/listops-s4d-* o/runs/listops-gmlp-* --out o >out 2>err || complain "$id: $(cat err)"
        [ -s err ] && complain "$id: gnuplot says $(cat err)"
        for kind in pdf svg png gp dat; do [ -s "o/figures/$id.$kind" ] || complain "no $id.$kind"; done
    done
fi

# A run that was put elsewhere: what is made for it goes to --out, not to the folder above.
mkdir -p away/from/it
cp -r o/runs/listops-s4d-* away/from/it/
"$probe" kernels away/from/it/listops-s4d-* --out other -q >out 2>err || complain "a run elsewhere: $(cat err)"
[ -d other/data ] && [ "$(ls away/from)" = it ] && [ "$(ls away)" = from ] || complain "data of a run elsewhere: $(ls away/from away other)"

expect 1 "no 'kernels' results in 'o/data'" "$report" tables --table kernels o/data
expect 2 "there is no run 'x', nor any run in 'none/runs'" "$probe" kernels x --out none
# shellcheck disable=SC2086
"$probe" train $small --model transformer >train.out 2>&1 || complain "train: $(cat train.out)"
expect 2 "model 'transformer' has no convolution kernels" "$probe" kernels "$(ls o/runs | grep transformer)" --out o -q
# Of several runs those without are left out, and said.
"$probe" kernels o/runs/listops-transformer-* o/runs/listops-s4d-* --out o >out 2>err || complain "a run without kernels beside one with: $(cat err)"
has err 'has no convolution kernels; '
has err 'skipped'
has out 's4d'
expect 2 'none of the 2 runs has convolution kernels' "$probe" kernels o/runs/listops-transformer-* o/runs/listops-transformer-* -q
# The initial kernels of a run that was pretrained are those that it started from, not those of its seed.
first() { "$probe" kernels "$1" --out o -q --json | grep -m 1 "\"range_mean_rel$2\":" | tr -dc 0-9.; }
# shellcheck disable=SC2086
"$probe" train $small --model s4d --objective pretrain-masked >train.out 2>&1 || complain "pretrain: $(cat train.out)"
pretrained=$(sed -n 's:^wrote \(.*\)/result.h5$:\1:p' train.out)
# shellcheck disable=SC2086
"$probe" train $small --model s4d --from "$pretrained" >train.out 2>&1 || complain "--from: $(cat train.out)"
tuned=$(sed -n 's:^wrote \(.*\)/result.h5$:\1:p' train.out)
[ "$(first "$tuned" _initial)" = "$(first "$pretrained" '')" ] || complain "it did not start where the other ended"
if command -v gnuplot >/dev/null; then
    "$report" figures --figure spt-kern o --out o >out 2>err || complain "spt-kern: $(cat err)"
    [ -s o/figures/spt-kern.png ] || complain "no spt-kern.png"
fi
mv "$pretrained" gone
expect 1 "cannot .*$pretrained/best.h5" "$probe" kernels "$tuned" --out o -q
exit $bad
