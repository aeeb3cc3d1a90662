#!/bin/sh
# Matched ladders and ladders over another key than the kernel: what is solved, what is said of it, and that results of
# one kind of ladder do not stand among those of another.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=640 --set val=40 --set test=50 --set epochs=1 --set width=8 --set layers=2 --out o"
ladder="receptive-field $small --seeds 1 -q"

# One line, before anything is made.
refused() {
    text=$1
    shift
    # shellcheck disable=SC2086
    expect 2 "$text" lra-probe $ladder "$@"
    [ ! -d o/runs ] || complain "$*: something is trained"
}
refused "--axis is 'dilation'; expected KEY=VALUE" --axis dilation
refused "'x' in '1,x' is not an integer of at least 1" --axis dilation=1,x
refused "'' in '1,' is not an integer of at least 1" --axis dilation=1,
refused "model 'resconv' has no 'delation'" --axis delation=1,2
refused "'window' belongs to model 'longformer'; the run has 'resconv'" --axis window=4,8
refused "the rungs differ in one setting, but --axis is given twice" --axis dilation=1,2 --axis kernel=3,5
refused "dilation must increase: 2 follows 2" --axis dilation=2,2
refused "remove one of them" --axis dilation=1,2 --kernels 3,5
refused "the ladder sets 'dilation'; choose its values with --axis KEY=LIST" --axis dilation=1,2 --set dilation=3
refused "hidden 8 and 16 both have a reach of 4 of" --axis hidden=8,16
refused "--match-rung needs --match" --kernels 3,5 --match-rung 3
refused "--match-rung is 7, which is not one of the rungs" --kernels 3,5 --match params --match-rung 7
# 8 channels in groups of 8: the next size is twice as large.
refused "K = 3: no value of 'hidden' has the" --kernels 3,9 --match params --set hidden=8 --set groups=8
refused "within 2 %; the nearest is" --kernels 3,9 --match params --set hidden=8 --set groups=8

# What is planned: sizes, parameters and FLOPs within 2 % of the widest rung's.
within() { # COLUMN of what comes before the word UNIT
    awk -v unit="$1" '/^  K = /{for (i = 2; i <= NF; i++) if ($i == unit) v[n++] = $(i - 1)}
        END {for (i in v) if (v[i] < 0.98 * v[n - 1] || v[i] > 1.02 * v[n - 1]) exit 1; exit n != 3}' plan
}
for match in params flops; do
    # shellcheck disable=SC2086
    "$probe" $ladder --kernels 1,3,9 --set hidden=64 --match $match --dry-run >plan 2>err || complain "$match: $(cat err)"
    has plan "match: $match; 'hidden' is chosen to match the"
    [ $match = params ] && unit=parameters || unit=GFLOP/step
    within $unit || complain "$match: $(cat plan)"
    has plan "hidden 64 "
done
# shellcheck disable=SC2086
"$probe" $ladder --kernels 3,9 --set hidden=64 --match params --match-rung 3 --dry-run >plan 2>err || complain "$(cat err)"
grep -q 'K = 3 .*hidden 64 ' plan || complain "the reference is not the rung that was asked for: $(cat plan)"
# shellcheck disable=SC2086
"$probe" $ladder --kernels 3,9 --set hidden=64 --set groups=8 --match params --dry-run >plan 2>err || complain "$(cat err)"
awk '/^  K = /{for (i = 2; i < NF; i++) if ($i == "hidden" && $(i + 1) % 8) exit 1}' plan ||
    complain "hidden is no multiple of the groups: $(cat plan)"

# Trained: a plain ladder, a matched one, which shares the widest rung, and one over dilation, which shares K = 3.
run() {
    # shellcheck disable=SC2086
    "$probe" $ladder --set hidden=16 "$@" >table 2>err || complain "$*: $(cat err)"
}
run --kernels 3,9
has table 'Ladder: listops, preset quick, resconv'
[ "$(ls o/runs | wc -l)" -eq 2 ] || complain "expected two runs"
run --kernels 3,9 --match params --jobs 2
has table ', hidden chosen for'
run --kernels 3,9 --match params # finds what cells in processes of their own have trained
[ "$(ls o/runs | wc -l)" -eq 3 ] || complain "the reference rung is trained twice"
for result in $(grep -l 'match=params' o/runs/*/result.h5); do # the size of the rung that kept its own
    grep -aq 'match=params.* reference=16 ' "$result" || complain "$result: reference is not 16"
done
run --axis dilation=1,2 --set kernel=3 --jobs 2
has table ', over dilation;'
has table 'dilation = 2'
[ "$(ls o/runs | wc -l)" -eq 4 ] || complain "dilation 1 is trained twice"
"$report" tables --wide --out o >all 2>err || complain "tables: $(cat err)"
[ "$(grep -c '^Ladder' all)" -eq 3 ] || complain "expected three ladders: $(cat all)"
[ "$(grep -c '^K = 3' all)" -eq 2 ] || complain "matched and unmatched rungs in one table: $(cat all)"
[ "$(grep -c '^dilation = ' all)" -eq 2 ] || complain "rungs over dilation: $(cat all)"
"$report" tables --wide --out o --format json >json 2>err || complain "json: $(cat err)"
for word in '"match": "params"' '"match_key": "hidden"' '"axis": "dilation"' '"solved_size"' '"step_flops"'; do
    has json "$word"
done

# A run that stands in a ladder is no ladder of one rung beside it.
# shellcheck disable=SC2086
"$probe" train $small --out p --set hidden=16 --set kernel=3 -q >out 2>err || complain "train: $(cat err)"
run --axis dilation=1,2 --set kernel=3 --out p
[ "$(ls p/runs | wc -l)" -eq 2 ] || complain "the run that is there is trained again"
"$report" tables --wide --out p >all 2>err || complain "tables: $(cat err)"
[ "$(grep -c '^Ladder' all)" -eq 1 ] || complain "expected one ladder: $(cat all)"
exit $bad
