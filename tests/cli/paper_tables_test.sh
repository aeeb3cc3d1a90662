#!/bin/sh
# labels: slow
# Experiments of the papers: a sweep fills the cells of its table, also cells of self-pretrained runs and their controls.
. "$LRA_SOURCE/tests/cli/lib.sh"
tiny="--preset quick --set train=640 --set val=64 --set test=64 --set min-length=8 --set max-length=40 --set max-depth=3
      --set epochs=1 --set width=8 --set layers=1 --seeds 2 --vary task=listops --threads 1 --out o -q"

# values TABLE: "ROW:COLUMN SEEDS" of every measured cell
values() {
    "$report" tables --table "$1" --out o --format csv -q >csv 2>err || fail "$1: $(cat err)"
    python3 - <<'END'
import csv
for r in csv.DictReader(open('csv')):
    if r['measured']: print('%s:%s %s' % (r['row'], r['column'], r['seeds']))
END
}

# Without results, a table has the published values and the command; nothing is needed on the disk.
expect 0 '' "$report" tables --table las-T4 -q
says '^Transformer Chunk + Smooth + ELD (LaS)  *published  *46.21'
says "20 of 20 cells are not measured; 'lra-probe sweep las-T4' trains them"
rm -rf lra-out
expect 2 "unknown table 'las-T44'; did you mean 'las-T4'?" "$report" tables --table las-T44
expect 0 '' "$report" list
for name in $("$probe" list experiments --json | tr '{' '\n' | sed -n 's/^"name":"\([^"]*\)".*/\1/p'); do says "^table  *$name "; done

# The list of the papers, and their tables of settings.
expect 0 '' "$report" list papers
says '^  Table 4 *ablation of decay and smoothing$'
says '^ *lra-probe sweep las-T4 && lra-report tables --table las-T4$'
expect 0 '' "$report" list papers --json
says '"print": "lra-report figures --figure spt-2"'
expect 2 "'lra-report list paper'; expected" "$report" list paper
expect 0 '' "$probe" list settings
says '^loc-T5 .*Table 5'
expect 0 '' "$probe" list settings loc-T5
says '^embedding width  *256 '
expect 0 '' "$probe" list settings loc-T6 --json
expect 2 "unknown table of settings 'loc-T55'" "$probe" list settings loc-T55
expect 2 "'lra-probe list settings loc-T5' prints it" "$report" tables --table loc-T5

# Two cells of one table: techniques on and off.
# shellcheck disable=SC2086
"$probe" sweep loc-T3 $tiny --vary model=gmlp --vary techniques=locality,none >out 2>err || fail "loc-T3: $(cat err)"
has out 'lra-report tables --table loc-T3 --out o'
values loc-T3 >is
printf 'gMLP + techniques:ListOps 2\ngMLP, without techniques:ListOps 2\n' >expected
cmp -s is expected || complain "loc-T3: $(cat is)"
"$report" tables --table loc-T3 --out o -q >out 2>err || fail "loc-T3: $(cat err)"
has out '38 of 40 cells are not measured'
has out 'lra-probe sweep loc-T3 --preset quick --out o'
for kind in txt md tex csv json; do [ -s o/tables/loc-T3.$kind ] || complain "no loc-T3.$kind"; done

# The page of the experiment.
expect 0 '' "$report" html --results o --experiment loc-T3 --out page.html
has page.html 'Table 3: accuracy of S4, S5 and gMLP with training techniques'
has page.html 'id="experiment"'
expect 2 "unknown experiment 'loc-T0'" "$report" html --results o --experiment loc-T0 --out page.html

# Self-pretraining: the plan has the pretraining run, the fine-tuned run and the control; the same
# command in two processes completes it.
# shellcheck disable=SC2086
"$probe" sweep spt-T2 $tiny --vary model=s4 --set state=4 --print-plan >plan 2>err || fail "plan: $(cat err)"
[ "$(wc -l <plan)" -eq 8 ] || complain "plan: $(cat plan)"
[ "$(grep -c -e '--objective=pretrain-masked' plan)" -eq 2 ] || complain "pretraining: $(cat plan)"
[ "$(grep -c -e '--from=pretrain-masked' plan)" -eq 2 ] || complain "fine-tuning: $(cat plan)"
expect 1 'train it first' sh -c "PATH=$LRA_BUILD:\$PATH; $(grep -e '--from=' plan | head -n 1)"
for k in 1 2; do
    # shellcheck disable=SC2086
    "$probe" sweep spt-T2 $tiny --vary model=s4 --set state=4 --jobs 2 >"out$k" 2>"err$k" &
done
wait
values spt-T2 >is
printf 'S4:ListOps 2\nS4 + Masked SPT:ListOps 2\nS4, scratch, steps of pretraining + fine-tuning:ListOps 2\n' >expected
cmp -s is expected || complain "spt-T2: $(cat is) $(cat err1 err2)"

# The control has the steps of both phases, and the fine-tuned run starts from its own seed's run.
"$report" show --json o/runs/listops-s4-* >shown 2>err || fail "show: $(cat err)"
python3 - <<'END' || complain "relations"
import json
runs = json.load(open('shown'))['results']
by = {r['run']: r for r in runs}
pre = [r for r in runs if r['config'].get('train.objective') == 'pretrain-masked']
fine = [r for r in runs if 'train.from' in r['config']]
control = [r for r in runs if 'train.matched' in r['config']]
scratch = [r for r in runs if r not in pre + fine + control]
assert len(pre) == len(fine) == len(control) == len(scratch) == 2, [len(pre), len(fine), len(control), len(scratch)]
for r in fine: assert by[r['config']['train.from']]['seed'] == r['seed']
for r in control: assert by[r['config']['train.matched']]['seed'] == r['seed']
assert {r['steps'] for r in control} == {pre[0]['steps'] + fine[0]['steps']}, [r['steps'] for r in runs]
END

# Data that cannot be loaded are left out, and named.
"$probe" sweep las-T4 --preset quick --dry-run --vary task=image,listops --set width=8 --seeds 1 --out n >out 2>err ||
    fail "without data: $(cat err)"
has out 'task=image is left out: '
has out 'left out: 5 combinations without data'
expect 1 'no run is left' "$probe" sweep las-T4 --preset quick --dry-run --vary task=image --seeds 1 --out n -q
expect 2 "^lra-probe: --techniques is 'other'; expected locality or none" "$probe" train --techniques other --dry-run
exit $bad
