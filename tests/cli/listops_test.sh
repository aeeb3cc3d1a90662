#!/bin/sh
# lra-probe listops and what lra-report makes of it: seeds of one model together, the same numbers from the files,
# one line for every fault.
. "$LRA_SOURCE/tests/cli/lib.sh"


# Two seeds of one model and one of another.
small="--set train=640 --set val=64 --set test=200 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --out o -q"
for cell in "0 3" "1 3" "0 5"; do
    # shellcheck disable=SC2086
    "$probe" train $small --seed "${cell% *}" --set kernel="${cell#* }" >train.out 2>&1 || complain "train: $(cat train.out)"
done
runs=$(ls o/runs)

# By name and by path; what lra-report says is the same; JSON.
# shellcheck disable=SC2086
"$probe" listops $runs --out o >by_name 2>err || complain "by name: $(cat err)"
"$probe" listops o/runs/* -q >by_path 2>err || complain "by path: $(cat err)"
[ -s err ] && complain "-q is not quiet: $(cat err)"
"$report" tables --wide --table listops o/runs >from_files 2>err || complain "tables: $(cat err)"
cmp -s by_name by_path || complain "a run's name and its path give different tables"
cmp -s by_name from_files || complain "lra-report prints other numbers"
has by_name 'ListOps by operator: preset quick, 200 test examples'
has by_name 'resconv K = 3, 2 seeds'
has by_name 'resconv K = 5, 1 seed'
has by_name 'shallow-b-5'
has by_name 'predictions of resconv K = 5 (1 seed) by operator and label'
has by_name 'one-seed'
"$probe" listops o/runs/* -q --json >json || complain "--json fails"
has json '"breakdown": "by length"'
has json '"same_error_percent"'
"$report" tables --wide --table listops --out o >out 2>err || complain "tables --out: $(cat err)"
for kind in txt md tex csv json; do [ -s "o/tables/listops.$kind" ] || complain "no listops.$kind"; done
cmp -s o/tables/listops.txt by_name || complain "listops.txt is another table"
grep -q '"quantity": "accuracy_percent"' o/tables/listops.json || complain "listops.json has no accuracies"
if command -v gnuplot >/dev/null; then
    for id in loc-1 loc-2 loc-3; do
        "$report" figures --figure $id --out o >out 2>err || complain "$id: $(cat err)"
        [ -s err ] && complain "$id: gnuplot says $(cat err)"
        for kind in pdf svg png gp dat; do [ -s "o/figures/$id.$kind" ] || complain "no $id.$kind"; done
    done
fi

# Data that are gone are made again.
rm -r o/data
"$probe" listops o/runs/* -q >again 2>err || complain "without data: $(cat err)"
cmp -s by_name again || complain "data made again give other numbers"

"$probe" listops >out 2>err
[ $? -eq 2 ] && [ ! -s out ] && grep -q '^usage: lra-probe listops RUN' err || complain "no arguments: $(cat err)"
name=$(echo "$runs" | head -1)
expect 2 "did you mean '$name'" "$probe" listops "${name%?}" --out o
expect 2 "there is no run 'x', nor any run in 'none/runs'" "$probe" listops x --out none
expect 1 "is not the folder of a run" "$probe" listops o/tables
expect 1 "no ListOps breakdowns in 'o/tables'; 'lra-probe listops RUN...' makes them" "$report" tables --table listops o/tables
expect 1 "is a result file, expected a probe file" "$report" tables --table listops "o/runs/$name/result.h5"
expect 0 "'$name' is a run that is given twice, or a copy of it .*: counted once" "$probe" listops "$name" "$name" --out o

# A run of another task is left out of several, and refused alone.
expect 0 '' "$probe" train --task copy --set distance=2 --set train=64 --set val=16 --set test=16 --set epochs=1 --set width=4 --set hidden=4 --set layers=1 -q --out others
other=$(echo others/runs/*)
expect 0 "run '$other' was trained on task 'copy', expected 'listops': skipped" "$probe" listops "o/runs/$name" "$other"
says "^resconv"
expect 2 "run '$other' was trained on task 'copy', expected 'listops'" "$probe" listops "$other"

# Weights: gone, of another run, damaged; a run that is not finished.
first=o/runs/$(echo "$runs" | sed -n 1p) second=o/runs/$(echo "$runs" | sed -n 2p)
mv "$first/best.h5" kept
"$probe" listops o/runs/* >again 2>err || complain "without weights: $(cat err)"
cmp -s by_name again || complain "the predictions of a result give another table than its weights"
grep -q "^$first: no weights (best.h5); the predictions of its result.h5 are used" err || complain "silent about weights: $(cat err)"
cp "$second/best.h5" "$first/best.h5"
expect 1 "'$first/best.h5' belongs to another run" "$probe" listops "$first" -q
head -c 3000 kept >"$first/best.h5"
expect 1 "not a complete HDF5 file" "$probe" listops "$first" -q
mv kept "$first/best.h5"
mv "$first/result.h5" kept
expect 1 "is not finished" "$probe" listops "$first" -q
cp "$second/result.h5" "$first/result.h5"
expect 1 "'$first/best.h5' belongs to another run" "$probe" listops "$first" -q
mv kept "$first/result.h5"
"$probe" listops o/runs/* -q >again 2>err || complain "with everything back: $(cat err)"
cmp -s by_name again || complain "another table at the end"
exit $bad
