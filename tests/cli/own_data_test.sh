#!/bin/sh
# labels: quick timeout: 900
# --task file: a user's own data are read, checked, trained, laddered and probed like any task; what is planted is found.
. "$LRA_SOURCE/tests/cli/lib.sh"

# A generator that is the same everywhere: z is the next number below n.
lcg='function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }'

# ---- reading --------------------------------------------------------------------------------------
# Quotes, commas and line ends inside of fields, Unicode, names of classes; one text of one byte and one without any.
awk "$lcg"'BEGIN { z = 7; print "Review Text,sentiment"
    for (i = 0; i < 200; i++) { s = ""; for (k = 0; k < 6; k++) s = s (draw(2) ? "gut, " : "\"\"böse\"\"\n") " w" draw(90)
        print "\"" s "\"," (draw(2) ? "positiv" : "negativ") }
    print "x,positiv"; print ",negativ" }' >reviews.csv
expect 0 "text (bytes) from column 'Review Text', label 'sentiment' (2 classes: negativ, positiv)" \
    "$probe" data file --data-dir reviews.csv --out o
has err "divided 80/10/10 by a hash of the input, equal inputs together"
has err "1 of 202 texts are empty; their rows are the end token alone"
says '^file:reviews: own data, text by bytes, 2 classes$'
says ' text=Review%20Text '
says '^ 0 negativ '
says '^constant  '
says '^length  '
says '^bag  '
expect 0 '' "$probe" data file --data-dir reviews.csv --text 'Review Text' --out o --show 1 --split train
says '^train row 1, .* tokens, label '
expect 0 '' "$probe" data file:mine --data-dir reviews.csv --out o --json
says '"task": "file:mine"'
expect 2 "the name of own data is 'M y'" "$probe" data 'file:M y' --data-dir reviews.csv
expect 1 "has no column 'txt'\|no column 'txt'" "$probe" data file --data-dir reviews.csv --text txt
expect 1 "exclude each other" "$probe" data file --data-dir reviews.csv --text a --tokens b
expect 1 "own data are read with 'lra-probe data file --check PATH'" "$probe" data text --check reviews.csv
expect 1 "there is no file or folder 'absent.csv'; expected a csv, tsv" "$probe" data file --data-dir absent.csv
expect 1 "data-dir must name its files" "$probe" data file
printf 'a,b\n1,2\n3,4\n' >numbers.csv
expect 1 "has the columns 'a', 'b': name that of the inputs with --text" "$probe" data file --data-dir numbers.csv
mkdir folder && printf 'text,label\na,0\nb,1\n' >folder/train.csv
expect 1 "folder 'folder' has no train.EXT and test.EXT" "$probe" data file --data-dir folder
printf 'text,label\nc,0\nd,1\n' >folder/test.csv
expect 0 "no validation examples; a tenth of the training examples is used" "$probe" data file --data-dir folder --out o
printf 'text,label,split\na,0,train\nb,1,text\n' >splits.csv
expect 1 "example 2: column 'split' is 'text', expected train, val or test" "$probe" data file --data-dir splits.csv
expect 1 'the examples have 2 distinct inputs, expected at least one each' "$probe" data file --data-dir splits.csv --split none
printf 'text,label\na,0\nb,\nc,1\n' >holes.csv
expect 1 "example 2: no label in column 'label' (1 of 3 examples have none)" "$probe" data file --data-dir holes.csv

# ---- what cannot be learned -----------------------------------------------------------------------
awk 'BEGIN { print "text,label"; for (i = 0; i < 40; i++) print "word" i ",same" }' >one.csv
expect 2 "'file:one' has one class: there is nothing to learn" "$probe" train --task file --data-dir one.csv --out o -q
awk 'BEGIN { print "text"; for (i = 0; i < 60; i++) print "word" i " and " i * i }' >bare.csv
expect 0 ', no labels' "$probe" data file --data-dir bare.csv --out o
expect 2 "'file:bare' has no labels: --label names their column" "$probe" train --task file --data-dir bare.csv --out o -q
expect 0 '' "$probe" train --task file --data-dir bare.csv --objective pretrain-masked --epochs 1 --threads 1 --out o -q
expect 0 '' "$probe" data file --data-dir bare.csv --out o --information
says 'preset own'
# As many classes as there may be, and one more.
awk 'BEGIN { print "text,label"; for (i = 0; i < 10000; i++) print "t" i "," i * 3 }' >many.csv
expect 0 '(10000 classes: 0, 3, 6, 9, 12, 15, ..)' "$probe" data file --data-dir many.csv --out o
says '^and 9960 more classes$'
echo "t,1" >>many.csv
expect 1 "has 10001 different labels, expected at most 10000 classes ('--goal value' predicts the number itself)" \
    "$probe" data file --data-dir many.csv
expect 0 "label 'label' (a real number)" "$probe" data file --data-dir many.csv --goal value --out o
says '^target 1 of 1$'

# Another file of the same name is another run; the same contents under another name are not.
mkdir x y
for k in x y; do awk -v k=$k 'BEGIN { print "text,label"; for (i = 0; i < 60; i++) print k " word " i "," i % 2 }' >$k/a.csv; done
cp x/a.csv x/b.csv
for f in x/a.csv y/a.csv x/b.csv; do
    expect 0 '' "$probe" train --task file --data-dir $f --epochs 1 --threads 1 --out names -q
done
[ "$(ls names/runs | wc -l)" = 2 ] || complain "two contents under three names: $(ls names/runs)"
# Prepared data that are gone are made again from the file.
rm -r names/data
expect 1 '--data-dir must name its files' "$probe" kernels names/runs/* -q
run=$(grep -l 'x/a.csv' names/runs/*/result.h5 | head -1)
expect 0 '' "$probe" kernels "$(dirname "$run")" --data-dir x/a.csv -q

# ---- leaks, contradictions, lengths -----------------------------------------------------------------
awk 'BEGIN { print "text,label,split"
    for (i = 0; i < 60; i++) print "row number " i "," i % 2 "," (i < 40 ? "train" : i < 50 ? "dev" : "test")
    for (i = 0; i < 3; i++) print "row number " i "," i % 2 ",test"
    for (i = 4; i < 6; i++) print "row number " i "," (i + 1) % 2 ",train" }' >leaks.csv
expect 0 'of 13 test rows also occur in training' "$probe" data file --check leaks.csv
has err '4 of 65 examples have an input that occurs with different labels'
says '^test rows that also occur in train  *3$'
says '^examples, input also with another label  *4$'
says '^examples with the input of an earlier one  *5$'
says '^test, baseline bag, accuracy (%)  *[0-9]'
says '^test, baseline ngram-8, accuracy (%)  *[0-9]'
expect 0 '62 of 65 inputs are longer than 13 tokens and are truncated\|inputs are longer than 12 tokens and are truncated' \
    "$probe" data file --data-dir leaks.csv --length 12 --out o
says ' of 65 examples are truncated to the length limit'

# ---- equal data, other formats ----------------------------------------------------------------------
awk "$lcg"'BEGIN { z = 11; for (i = 0; i < 120; i++) { s = ""; n = 4 + draw(20); for (k = 0; k < n; k++) s = s (k ? " " : "") draw(9)
    print s "," draw(2) } }' >rows
(echo tokens,label && sed 's/\(.*\),\(.*\)/"\1",\2/' rows) >same.csv
sed 's/\(.*\),\(.*\)/{"tokens": [\1], "label": \2}/; s/\([0-9]\) /\1, /g' rows >equal.jsonl
for f in same.csv equal.jsonl; do
    "$probe" train --task file:one --data-dir $f --tokens tokens --epochs 2 --threads 1 --out "of-$f" -q >out 2>err ||
        complain "train on $f: $(cat err)"
    (cd "of-$f/runs" && ls) >"names-$f"
    "$probe" export "of-$f"/runs/* "$f.safetensors" >out 2>err || complain "export: $(cat err)"
done
cmp -s names-same.csv names-equal.jsonl || complain "equal data are different runs: $(cat names-same.csv names-equal.jsonl)"
tail -c 4000 same.csv.safetensors >a && tail -c 4000 equal.jsonl.safetensors >b && cmp -s a b || complain "equal data give other weights"

# ---- a known distance -------------------------------------------------------------------------------
# The label is 1 if two capitals, 6 apart among small letters, are equal: a position between them sees both from a reach of 3
# on.
awk "$lcg"'BEGIN { z = 3; print "text,label"
    for (i = 0; i < 3000; i++) { s = ""; at = 2 + draw(8); same = draw(2); p = draw(2); q = same ? p : 1 - p
        for (k = 0; k < 24; k++) s = s (k == at ? (p ? "A" : "B") : k == at + 6 ? (q ? "A" : "B") : substr("cdef", 1 + draw(4), 1))
        print s "," same } }' >pair.csv
"$probe" receptive-field --task file --data-dir pair.csv --kernels 5,13 --layers 1 --seeds 1 --threads 1 --dry-run --out dry >plan 2>err ||
    complain "plan: $(cat err)"
has plan 'ladder: file:pair, preset quick, 2 kernels x 1 seeds = 2 runs, 0 done'
[ ! -e dry ] || complain "--dry-run wrote $(ls dry)"
"$probe" receptive-field --task file --data-dir pair.csv --kernels 5,13 --layers 1 --seeds 1 --threads 1 --out l -q >ladder 2>err ||
    complain "ladder: $(cat err)"
has ladder 'Ladder: file:pair, preset quick'
"$report" tables --table ladder --format csv --out l 2>err |
    awk -F, '$3 == 2 { low = $4 } $3 == 6 { high = $4 } { print $1, $3, $4 } END { exit !(low > 30 && low < 70 && high > 95) }' >rungs ||
    complain "a reach of 2 should be at chance and one of 6 right: $(cat rungs)"
# The label is the letter 10 positions before the end token: a model that reads the last position needs a reach of exactly 10.
awk "$lcg"'BEGIN { z = 5; print "text,label"; for (i = 0; i < 3000; i++) { s = ""; n = 14 + draw(10)
    for (k = n; k > 0; k--) { c = draw(2) ? "A" : "B"; if (k == 10) l = c; s = s c } print s "," l } }' >end.csv
"$probe" receptive-field --task file --data-dir end.csv --kernels 19,21 --layers 1 --pool last --seeds 1 --jobs 2 --threads 1 --out e -q \
    >ladder 2>err || complain "ladder with --jobs: $(cat err)"
"$report" tables --table ladder --format csv --out e 2>err |
    awk -F, '$3 == 9 { low = $4 } $3 == 10 { high = $4 } { print $1, $3, $4 } END { exit !(low > 30 && low < 70 && high > 95) }' >rungs ||
    complain "a reach of 9 should be at chance and one of 10 right: $(cat rungs)"
# Probes of a finished run do not need the user's file.
mv pair.csv gone.csv
for run in l/runs/*; do
    expect 0 '' "$probe" influence "$run" --parts jacobian,keep,position --examples 20 --threads 1 -q
    expect 0 '' "$probe" kernels "$run" -q
    expect 2 "was trained on task 'file:pair', expected 'listops'" "$probe" listops "$run"
    expect 2 'has no attention' "$probe" attention "$run"
done
# A figure of accuracies says which results of other metrics it leaves out.
awk 'BEGIN { print "text,label"; for (i = 0; i < 60; i++) print "row " i "," i / 7 }' >real.csv
expect 0 '' "$probe" train --task file --data-dir real.csv --label label --epochs 1 --threads 1 --out l -q
"$report" figures --out l --format svg >out 2>err || grep -q gnuplot err || complain "figures: $(cat err)"
grep -q "1 result without accuracy (task 'file:real') is not in this figure; '--task file:real' draws it" err ||
    complain "a regression is left out in silence: $(cat err)"
exit $bad
