#!/bin/sh
# --vary and --distance: one ladder for each value, one table of them all, the same from the files; what is wrong is
# one line before anything is made.
. "$LRA_SOURCE/tests/cli/lib.sh"

# refused TEXT ARGS...: nothing is written either
refused() {
    text=$1
    shift
    expect 2 "$text" lra-probe receptive-field "$@"
    [ ! -d lra-out ] || complain "$*: something is written"
}
refused "task 'listops' has no distance; use --vary KEY=LIST" --task listops --distance 3,4
refused "'distance' contains 8 twice" --task xor --distance 8,8
refused "'8,' has an empty value" --task xor --distance 8,
refused "'distance' is 'x', expected an integer" --task xor --distance 8,x
refused "8 copies at distance 90 need rows of 389 tokens; length is 320" --task xor --distance 8,90
refused "--vary is 'foo'; expected KEY=VALUE,VALUE" --task xor --vary foo
refused "ladders differ in one setting, but --vary is given twice" --task xor --vary rate=0.1,0.2 --vary batch=2,4
refused "ladders differ in one setting, but --distance is given twice" --task xor --distance 8 --distance 16
refused "the run has no 'foo'" --task xor --vary foo=1,2
refused "'rate' contains 0.001 twice" --task xor --vary rate=1e-3,0.001
refused "'rate' is 'x', expected a number" --task xor --vary rate=0.1,x
refused "'rate=2': 'rate' already varies" --task xor --vary rate=0.1,1 --set rate=2
refused "'layers' is '0', expected an integer from 1" --task xor --vary layers=1,0
refused "--vary kernel: the rungs of every ladder differ in it" --task xor --vary kernel=3,5
refused "--vary hidden: --match determines it" --task xor --vary hidden=8,16 --match params
refused "unknown schedule 'foo'" --task xor --vary schedule=plateau,foo
refused "--distance and --vary exclude each other" --task xor --vary copies=1,2 --distance 4,5
refused "'dashes' is '15', expected an integer from -1 to 14" --task pathfinder --vary dashes=6,15

# A model without rungs is swept as it is; where layers vary, it stands by another setting.
expect 0 '' lra-probe receptive-field --task xor --distance 4,8 --model transformer --seeds 1 --set train=64 --dry-run
says 'layers = 2 '
expect 0 '' lra-probe receptive-field --task xor --model lstm --vary layers=1,2 --seeds 1 --set train=64 --dry-run
says 'width = 32 '
[ ! -d lra-out ] || complain 'dry runs of models without rungs wrote something'
refused "preset 'quick' has no rungs of model 'lstm'; --axis KEY=LIST names some, and 'lra-probe influence RUN --parts context'" --task xor --model lstm

# One value is a ladder of its own; a dry run says so, for people and programs, and writes nothing.
expect 0 '' lra-probe receptive-field --task xor --distance 8 --kernels 5,9 --seeds 1 --set train=64 --dry-run
says 'ladder: xor, preset quick, 2 kernels x 1 seeds = 2 runs, 0 done'
expect 0 '' lra-probe receptive-field --task xor --distance 8 --kernels 5,9 --seeds 1 --set train=64 --dry-run --json
says '^{"schema":1,"rungs":\[{"task":"xor","axis":"kernel","value":5,"reach":2,'
expect 0 '' lra-probe train --task xor --set train=64 --dry-run
expect 0 '' lra-probe train --task xor --set train=64 --dry-run --json
says '^{"schema":1,"run":"lra-out/runs/xor-resconv-'
expect 2 "option '--json' needs '--dry-run'" lra-probe train --task xor --json
[ ! -e lra-out ] || complain "a dry run writes: $(ls -R lra-out)"

# A sweep of a number and one of a word.
small="--set train=64 --set val=20 --set test=50 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 -q"
xor="receptive-field --task xor --distance 3,6 --kernels 3,9 --seeds 1 --set length=140 --out o"
# shellcheck disable=SC2086
"$probe" $xor $small >by_probe 2>err || complain "xor: $(cat err)"
[ -s err ] && complain "-q is not quiet: $(cat err)"
has by_probe 'Sweep: xor by distance, accuracy, preset quick'
has by_probe 'K = 9'
has by_probe 'bag-of-tokens'
has by_probe 'flag one-seed'
[ "$(ls o/runs | wc -l)" -eq 4 ] || complain "expected a run for each kernel and distance"
# shellcheck disable=SC2086
"$probe" $xor $small --json >json 2>err || complain "--json: $(cat err)"
has json '"distance_6_percent"'
"$report" tables --wide --table sweep --out o >by_report 2>err || complain "tables: $(cat err)"
head -n "$(wc -l <by_report)" by_probe | cmp -s - by_report || complain "lra-report prints another table"
# A row for each rung and distance, with the data and the distance as columns.
"$report" tables --table sweep --out o --format csv >csv 2>err || complain "csv: $(cat err)"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["kind"] == "rung" { n[$at["distance"]]++; data[$at["distance"] " " $at["data"]]; if ($at["value"] == "") bad++ }
    END { for (k in n) print k, n[k]; for (k in data) m++; print m " data, " bad + 0 " without a value" }' csv | sort >grouped
[ "$(grep -c '^[0-9]* 2$' grouped)" -eq 2 ] && grep -q '2 data, 0 without a value' grouped || complain "tidy: $(cat grouped csv)"
if command -v gnuplot >/dev/null; then
    "$report" figures --figure sweep --out o >out 2>err || complain "figure: $(cat err)"
    [ -s err ] && complain "gnuplot says $(cat err)"
    for kind in pdf svg png gp dat; do [ -s "o/figures/sweep.$kind" ] || complain "no sweep.$kind"; done
fi
# shellcheck disable=SC2086
"$probe" receptive-field --task listops --vary root=op,any --kernels 1,33 --seeds 1 --out w $small >words 2>err ||
    complain "root: $(cat err)"
has words 'Sweep: listops by root'
has words 'root any'

# Settings of training and of the model, one of them the default; with cells in processes of their own, the same runs.
for vary in rate=0.02,0.001 layers=1,2 schedule=plateau,cosine; do
    few="--task listops --vary $vary --kernels 1,3 --seeds 1 --out m --set train=64 --set val=20 --set test=50"
    few="$few --set epochs=1 --set width=8 --set hidden=8 -q"
    # shellcheck disable=SC2086
    "$probe" receptive-field $few --json --jobs 2 >json 2>err || complain "$vary: $(cat err)"
    # shellcheck disable=SC2086
    "$probe" receptive-field $few >words 2>err || complain "$vary: $(cat err)"
    has words "Sweep: listops by ${vary%%=*}"
    "$report" tables --wide --table sweep --out m >by_report 2>err || complain "$vary: $(cat err)"
    head -n "$(wc -l <by_report)" words | cmp -s - by_report || complain "lra-report prints another table of $vary"
    case $vary in
    rate*)
        grep -q 'rate 0.001  .* 0.02 ' words || complain "rates: $(cat words)"
        "$report" show "$(ls -d m/runs/* | head -n 1)" >shown 2>err || complain "show: $(cat err)"
        has shown 'vary=train.rate usual=0.001'
        ;;
    layers*) grep -q 'layers 1 .* 2 ' words || complain "layers: $(cat words)" ;;
    *) grep -q 'schedule plateau .* cosine ' words || complain "schedules: $(cat words)" ;;
    esac
    [ "$(ls m/runs | wc -l)" -eq 4 ] || complain "$vary: expected a run for each kernel and value"
    rm -rf m
done
# A model without rungs: a row of it, named by the setting that it stands by.
"$probe" receptive-field --task listops --model lstm --vary rate=0.02,0.001 --seeds 1 --out m --set train=64 --set val=20 --set test=50 \
    --set epochs=1 --set width=8 -q >words 2>err || complain "lstm: $(cat err)"
grep -q '^layers  *reach .* rate 0.001  .* 0.02 ' words || complain "lstm: no table by layers: $(cat words)"
[ "$(grep -c '^layers = 1 ' words)" -eq 1 ] || complain "lstm: not one row: $(cat words)"
[ "$(ls m/runs | wc -l)" -eq 2 ] || complain "lstm: expected a run for each rate"
rm -rf m
"$report" tables --wide --table sweep --out "$tmp/none" >out 2>err && complain "a sweep of nothing"
[ "$(wc -l <err)" -eq 1 ] || complain "no results: $(cat err)"
exit $bad
