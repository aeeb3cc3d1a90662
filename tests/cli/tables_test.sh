#!/bin/sh
# Tables that programs read: one tidy CSV under one header with the rows of the JSON, number by number; --columns, --wide,
# filters, names of runs by the start of their hash; files are written before the table is printed.
. "$LRA_SOURCE/tests/cli/lib.sh"
train() { "$probe" train --set train=320 --set val=64 --set test=64 --set epochs=1 --set width=16 --set layers=2 --threads 1 -q --out o "$@" >out 2>err || fail "train $*: $(cat err)"; }
train --model transformer --set heads=2 --seed 0 --label 'first try'
train --model transformer --set heads=2 --seed 1 --label 'first try'
train --model s4d --seed 0
"$probe" attention o/runs/*transformer* -q >out 2>err || fail "attention: $(cat err)"
"$probe" kernels o/runs/*s4d* -q >out 2>err || fail "kernels: $(cat err)"
"$probe" influence o/runs/* --parts cut --examples 8 -q >out 2>err || fail "influence: $(cat err)"
"$probe" listops o/runs/* -q >out 2>err || fail "listops: $(cat err)"
for table in tasks models locality attention influence kernels listops; do
    expect 0 '' "$report" tables --table $table --out o
    awk -v table=$table 'length($0) > 100 && !/^[^ ]*  *[a-z]/ && /^-+$/ { print table ": a table of " length($0) " columns"; exit 1 }' out || complain "not within 100 columns"
done
for table in tasks ladder sweep information; do
    "$report" tables --table $table --format csv "$LRA_SOURCE"/reports/measured/xor/runs >$table.csv 2>err || rm -f $table.csv
    "$report" tables --table $table --format json "$LRA_SOURCE"/reports/measured/xor/runs >$table.json 2>err || rm -f $table.json
done

if python3 -c 'import pandas' 2>/dev/null; then
    cat >check.py <<'END'
import glob, json, math, sys
import pandas
bad = 0
names = sorted(glob.glob('o/tables/*.csv') + glob.glob('*.csv'))
assert len(names) > 7, names
for name in names:
    table = pandas.read_csv(name)
    rows = [r for t in json.load(open(name[:-4] + '.json'))['tables'] for r in t['rows']]
    if len(rows) != len(table) or not rows:
        print(name, len(rows), len(table)); bad = 1; continue
    for (_, c), r in zip(table.iterrows(), rows):
        if not set(r) <= set(table.columns): print(name, set(r) - set(table.columns)); bad = 1; break
        for k in table.columns:
            a, b = c[k], r.get(k)
            if k == 'table': continue
            same = (isinstance(a, float) and math.isnan(a)) if b is None else str(a) in (b, "'" + b) or not isinstance(a, str) if isinstance(b, str) else float(a) == float(b)
            if not same: print(name, k, repr(a), repr(b)); bad = 1
for name in ('attention', 'influence', 'kernels'):
    t = pandas.read_csv('o/tables/%s.csv' % name)
    if list(t.columns[:3]) != ['run', 'task', 'model'] or not {'seed', 'label', 'layer', 'head', 'id', 'value', 'lo', 'hi'} <= set(t.columns):
        print(name, list(t.columns)); bad = 1
try:
    import h5py
    f = h5py.File(glob.glob('o/runs/*s4d*/kernels.h5')[0])
    words = [f['/finding/' + w].asstr()[()] for w in ('part', 'id', 'unit', 'flags')]
    packed = f['/finding/names'].asstr()[()]
    if [' '.join(w) for w in zip(*words)] != list(packed) or not isinstance(packed[0], str): print(packed[0]); bad = 1
    if f.attrs['task'].decode() != 'listops': bad = 1
except ImportError:
    pass
for name in ('ladder', 'sweep'):
    t = pandas.read_csv(name + '.csv')
    if not {'task', 'model', 'axis', 'match'} <= set(t.columns) or set(t.axis) != {'kernel'}: print(name, list(t.columns)); bad = 1
t = pandas.read_csv('ladder.csv')
if len(set(zip(t.data, t.axis, t.match, t.settings))) != 4: print('ladders are not told apart'); bad = 1
t = pandas.read_csv('o/tables/attention.csv')
if set(t.label) != {'first try'} or set(t.seed) != {0, 1}: print(set(t.label), set(t.seed)); bad = 1
sys.exit(bad)
END
    python3 check.py >said 2>&1 || complain "CSV and JSON: $(head -n 20 said)"
fi

expect 0 '' "$report" tables --table tasks --columns model,value,run --format csv o
says '^model,value,value_lo,value_hi,run$'
expect 2 "unknown column 'nothing'" "$report" tables --table tasks --columns nothing o
expect 0 '' "$report" tables --table tasks --format md o
says '^| task |'
expect 0 '' "$report" tables --table tasks --wide o
says 'settings  preset  prec'

# Filters, labels, the start of a hash.
expect 0 '' "$report" tables --table tasks --model s4d --format csv o
says '^listops,s4d,'
grep -q transformer out && complain "--model s4d shows others: $(cat out)"
expect 0 '' "$report" tables --table tasks --label 'first try' --format csv o
grep -q s4d out && complain "--label shows others: $(cat out)"
expect 1 'none of .* files has the given --task' "$report" tables --table tasks --task xor o
expect 0 '' "$report" tables --table locality o
says 'Transformer \[first try\]'
hash=$(ls o/runs | sed -n 's/.*s4d-\(.......\).*/\1/p')
expect 0 '' "$report" tables --table tasks --out o "$hash" --format csv
[ "$(wc -l <out)" -eq 2 ] || complain "more than the run of a hash: $(cat out)"
expect 0 '' "$report" show --out o "$hash"
says '^listops s4d'
expect 0 '' "$probe" kernels --out o "$hash" --dry-run

# On a terminal the tables of probes have its width, in a file all columns in one line.
widest() { tr -d '\r' <"$1" | awk '/^layer[0-9]/ { if (length($0) > n) n = length($0) } END { print n + 0 }'; }
heads=$(echo o/runs/*transformer* | cut -d ' ' -f 1)
"$probe" attention "$heads" -q >file 2>err || complain "attention: $(cat err)"
[ "$(widest file)" -gt 140 ] || complain "a file has not all columns: $(widest file)"
unset COLUMNS
if script --version >version 2>&1; then
    for columns in 60 140; do
        script -qefc "stty cols $columns && exec '$probe' attention '$heads' -q" shown >/dev/null 2>&1 </dev/null || complain "terminal: $(cat shown)"
        [ "$(tr -d '\r' <shown | sed 1,3d | awk 'length($0) > n { n = length($0) } END { print n + 0 }')" -le $((columns < 100 ? 100 : columns)) ] ||
            complain "notes are wider than a terminal of $columns columns: $(cat shown)"
        n=$(widest shown)
        [ "$n" -gt 0 ] && [ "$n" -le $((columns < 100 ? 100 : columns)) ] || complain "a terminal of $columns columns has lines of $n: $(cat shown)"
    done
fi

# Two tasks in one folder: one row is one configuration of a model, though a task has but one of them.
small2="--set train=320 --set val=64 --set test=64 --set width=8 --set layers=1 --set epochs=1 --threads 1 --out two -q"
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train --task copy --set distance=2 --model s4d --set state=4 $small2
    expect 0 '' lra-probe train --task listops --model s4d --set state=8 $small2
    expect 0 '' lra-report tables --table models --format csv two
    [ "$(grep -c '^s4d,,state=[48],' out)" -eq 2 ] || complain "a row of two configurations: $(cat out)"
    awk -F, 'NR > 1 && $7 != "" && $12 != "" { exit 1 }' out || complain "a row of two configurations: $(cat out)"
    expect 0 '' lra-probe train --task listops --model s4d --set state=4 $small2
    expect 0 '' lra-report tables --table models --format csv two
    [ "$(awk -F, '$3 == "state=4" && $7 != "" && $12 != ""' out | wc -l)" -eq 1 ] || complain "one configuration in two rows: $(cat out)"
    [ "$(wc -l <out)" -eq 3 ] || complain "rows of two configurations: $(cat out)"
}

# What differs between runs: seeds of one model, and models; runs by the start of their hash.
first=$(ls o/runs | sed -n 's/.*transformer-\(.......\).*/\1/p' | sed -n 1p)
second=$(ls o/runs | sed -n 's/.*transformer-\(.......\).*/\1/p' | sed -n 2p)
expect 0 '' "$report" compare --out o "$first" "$second"
says '^setting  *seed '
says '^measured  *test '
grep -q 'model.width\|^setting  *model ' out && complain "compare shows what is the same: $(cat out)"
expect 0 '' "$report" compare o/runs/* --format csv
says '^setting,model,'
expect 1 '1 run given, expected 2' "$report" compare --out o "$first"
expect 0 '' "$report" show o/runs/*s4d*/kernels.h5
says '^kernels of listops s4d'
expect 0 '' "$report" show --json o/runs/*s4d*/kernels.h5
says '"probes"'

# A run without a result, and one that is damaged, do not take the table of the others away.
cp -r o several
mkdir several/runs/listops-s4d-00000000000000ff
"$probe" kernels several/runs/*s4d* >out 2>err || complain "an unfinished run: $(cat err)"
has err 'has no result yet: skipped'
says '^S4D  *listops'
cp -r several/runs/"$(ls o/runs | grep s4d)" several/runs/listops-s4d-0000000000000001
head -c 3000 several/runs/listops-s4d-0000000000000001/result.h5 >cut && mv cut several/runs/listops-s4d-0000000000000001/result.h5
"$probe" kernels several/runs/*s4d* >out 2>err && complain "a damaged run: exit 0"
has err '1 of 3 runs could not be measured'
says '^S4D  *listops'
expect 0 'left out' "$report" tables --table tasks several

# "| head" ends the program that prints; the files are there by then.
rm -r o/tables
"$report" tables --table attention --out o --wide 2>err | head -n 1 >out
for kind in txt md tex csv json; do [ -s "o/tables/attention.$kind" ] || complain "no attention.$kind after | head"; done

# The same run twice and a copy of it are one run each.
cp -r o copy
"$report" tables --table tasks -q o >once 2>err || complain "once: $(cat err)"
"$report" tables --table tasks -q o o copy >thrice 2>err || complain "thrice: $(cat err)"
cmp -s once thrice || complain "copies count: $(diff once thrice)"
expect 0 'given twice' "$report" tables --table tasks o o
expect 0 'is a copy of\|are copies of' "$report" tables --table tasks o copy
exit $bad
