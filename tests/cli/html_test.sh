#!/bin/sh
# labels: quick timeout: 600
# lra-report html: one page for ladders, sweeps, runs with probes and audits; checked as a document (tests/cli/html_page.py).
. "$LRA_SOURCE/tests/cli/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
page() { python3 "$LRA_SOURCE/tests/cli/html_page.py" "$@" >faults 2>&1 || complain "$(cat faults)"; }
order() { # FILE ID...: the sections are in this order
    file=$1; shift
    [ "$(grep -o '<section id="[a-z-]*"' "$file" | sed 's/.*id="//; s/"//' | tr '\n' ' ')" = "$* " ] ||
        complain "sections of $file: $(grep -o '<section id="[a-z-]*"' "$file" | tr '\n' ' ')"
}
label='<script>alert(1)</script>]]>"&'
train() { "$probe" train --set train=128 --set val=32 --set test=60 --set epochs=2 --set width=16 --set layers=2 --threads 1 -q --out o "$@" >out 2>err || fail "train $*: $(cat err)"; }
train --model transformer --set heads=2 --label "$label"
train --model s4d
"$probe" attention o/runs/*transformer* -q >out 2>err || fail "attention: $(cat err)"
"$probe" kernels o/runs/*s4d* -q >out 2>err || fail "kernels: $(cat err)"
"$probe" influence o/runs/* --parts context,jacobian,keep,field --examples 8 -q >out 2>err || fail "influence: $(cat err)"
"$probe" listops o/runs/* -q >out 2>err || fail "listops: $(cat err)"

# Runs with results of all probes.
expect 0 '' "$report" html o --out all.html
says '^wrote all.html$'
page all.html
order all.html verdict comparison influence attention kernels listops training left-out assumptions provenance methods caveats
grep -q 'alert(1)' all.html || complain "the label is missing"
grep -q '<script>alert' all.html && complain "the label is an element"
for text in '<h1>Locality of 2 models on listops</h1>' 'Null value' 'in a stratified sample\|stratified sample' 'lra-probe influence o/runs' \
    'Preset quick is a small variant' 'undefined' 'train.rate'; do
    grep -q -e "$text" all.html || complain "all.html lacks '$text'"
done
if command -v gnuplot >/dev/null; then
    for figure in 'Influence of the other tokens by distance' 'Restricted and changed inputs' 'Attention distance by head'; do
        grep -q "<figcaption.*$figure" all.html || complain "all.html lacks the figure '$figure'"
    done
fi
expect 0 '' "$report" html o --model s4d --out one.html
page one.html
has one.html '<h1>Locality of S4D on listops</h1>'
# One run of a model with a bounded reach is no ladder.
train --model resconv --set kernel=5
for run in o/runs/*resconv*; do expect 0 '' "$report" html "$run" --out single.html; done
page single.html
order single.html verdict comparison training left-out assumptions provenance methods caveats
rm -r o/runs/*resconv*
# A ladder, a sweep, and a metric that is no accuracy; a file in place of a folder.
measured=$LRA_SOURCE/reports/measured
expect 0 '' "$report" html "$measured"/listops-small/runs --out ladder.html
order ladder.html verdict ladder training left-out assumptions provenance methods caveats
expect 0 '' "$report" html "$measured"/xor/runs --out sweep.html
order sweep.html verdict sweep ladder left-out assumptions provenance methods caveats
expect 0 '' "$report" html "$measured"/bidmc/runs --out numbers.html
for run in o/runs/*s4d*; do expect 0 '' "$report" html "$run"/kernels.h5 --out file.html; done
page ladder.html sweep.html numbers.html file.html
has file.html 'id="kernels"'
# An audit of own data.
awk 'function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }
    BEGIN { z = 5; for (i = 0; i < 200; i++) { printf "{\"x\": ["; n = 20 + draw(13)
        for (t = 0; t < n; t++) printf "%s%d", t ? ", " : "", draw(12)
        printf "], \"label\": %d}\n", draw(3) } }' >rows.jsonl
"$probe" audit --task file --data-dir rows.jsonl --tokens x --label label --out a --name 'Net <1>' --parts jacobian,keep,position \
    --examples 20 -- "$LRA_BUILD/tests/stub_model" >out 2>err || fail "audit: $(cat err)"
expect 0 '' "$report" html a --out audit.html
page audit.html
order audit.html verdict comparison influence checks left-out assumptions provenance methods caveats
has audit.html '<h1>Locality of net--1- on file:rows</h1>'
has audit.html 'The model was trained elsewhere'
has audit.html 'Other parts of influence'
has audit.html 'Checks of the model: user.net--1-'
has audit.html 'padding invariance'
"$probe" audit --task file --data-dir rows.jsonl --tokens x --label label --out a --name 'Net <1>' --parts heads,drop,position \
    --examples 20 --force -- "$LRA_BUILD/tests/stub_model" >out 2>err || fail "audit: $(cat err)"
expect 0 '' "$report" html a --out audit.html
page audit.html
has audit.html '<li><b>Part heads of net--1- on file:rows</b>: it needs the graphs of a built-in model'
grep -q 'Part keep\|Part jacobian' audit.html && complain "a measured part is left out"
has audit.html "<b>Kernels</b>: no results of this kind in the given folders; &#39;lra-probe audit --parts kernels&#39; makes them"
"$probe" audit --task file --data-dir rows.jsonl --tokens x --label label --out q --name plain --parts position,attention,kernels \
    --examples 8 -- "$LRA_BUILD/tests/stub_model" no-maps >out 2>err || fail "audit: $(cat err)"
expect 0 '' "$report" html q --out q.html
page q.html
has q.html '<li><b>Part attention of plain on file:rows</b>: the model gives no attention matrices'
has q.html '<li><b>Part kernels of plain on file:rows</b>: the model gives no kernels, and there is no --kernels-file'
grep -q '<b>Attention</b>: no results' q.html && complain "attention is left out twice"

# Where the page goes: stdout, over an older page, not over anything else.
expect 0 '' "$report" html o --model s4d --out -
cp out stdout.html
page stdout.html
expect 0 '' "$report" html o --model s4d --out one.html
echo mine >mine.html
expect 1 "'mine.html' exists and is no page of lra-report: choose another --out, or '--force'" "$report" html o --out mine.html
[ "$(cat mine.html)" = mine ] || complain "a foreign file is replaced"
expect 0 '' "$report" html o --out mine.html --force
expect 1 "is a folder, expected the name of a page" "$report" html o --out o
expect 1 'absent' "$report" html o --out absent/page.html
expect 2 "'--out' is ''" "$report" html o --out ''
# Nothing to report, and files that cannot be read.
mkdir empty
expect 1 "no results in 'empty'" "$report" html empty --out no.html
expect 1 "no results in 'lra-out'\|lra-out" "$report" html --out no.html
expect 2 "there is no file, folder or run 'nothing'" "$report" html nothing --out no.html
[ ! -e no.html ] || complain "a page without results"
cp -r o broken
for run in broken/runs/*s4d*; do head -c 3000 "$run"/result.h5 >part && cp part "$run"/result.h5; done
expect 0 'left out' "$report" html broken --out broken.html
page broken.html
has broken.html 'A file that cannot be read'
for run in broken/runs/*; do for f in "$run"/*.h5; do cp part "$f"; done; done
expect 1 '' "$report" html broken --out no.html
[ ! -e no.html ] || complain "a page of broken files"
# Without gnuplot the page has its tables, no figure, and says so once; a file of that name in the folder is not started.
mkdir bin
printf '#!/bin/sh\necho started >"%s/started"\n' "$tmp" >gnuplot && chmod +x gnuplot
expect 0 '' env PATH="$tmp/bin" "$report" html o --out plain.html
[ -e started ] && complain "a file in the working folder is started"
rm gnuplot
page plain.html
grep -q '<figure' plain.html && complain "a figure without gnuplot"
[ "$(grep -o 'gnuplot is not installed' plain.html | wc -l)" -eq 1 ] || complain "gnuplot is missed $(grep -o 'gnuplot is not installed' plain.html | wc -l) times"
[ "$(grep -c '<table id="table-' plain.html)" -eq "$(grep -c '<table id="table-' all.html)" ] || complain "tables are missing without gnuplot"
order plain.html verdict comparison influence attention kernels listops left-out assumptions provenance methods caveats
# A gnuplot that fails: each figure is left out with its message.
printf '#!/bin/sh\necho no terminal of this name >&2\nexit 3\n' >bin/gnuplot && chmod +x bin/gnuplot
expect 0 '' env PATH="$tmp/bin:$PATH" "$report" html o --out failing.html
page failing.html
grep -q '<figure' failing.html && complain "a figure of a gnuplot that fails"
grep -q 'gnuplot could not draw it: no terminal of this name' failing.html || complain "the message of gnuplot is missing"
# Tables as fragments.
expect 0 '' "$report" tables o --table models --format html
says '<table id="table-1">'
says '<th scope="row">'
exit $bad
