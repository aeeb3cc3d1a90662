#!/bin/sh
# Figures: files in three formats that say what they were made from, a script that runs by itself, and folders whose
# names are commands.
. "$LRA_SOURCE/tests/cli/lib.sh"
results=$LRA_SOURCE/reports/measured/text-small/runs
set -- "$results"/*
hash=${1##*-}
"$report" figures --format gif --out g "$results"/*/result.h5 >out 2>err
[ $? -eq 2 ] && grep -q "unknown format 'gif', expected pdf" err || complain "gif: $(cat err)"
command -v gnuplot >/dev/null || skip "gnuplot is not installed: nothing drawn"

# A folder whose name would end a string, a line or a command of gnuplot or of a shell.
folder="it's \"a\" \$(touch pwned) \`touch pwned\`
!touch pwned
x"
"$report" figures --out "$folder" "$results"/*/result.h5 >out 2>err || complain "a folder with quotes: $(cat err)"
[ -z "$(find . -name pwned)" ] || complain "the name of a folder was run"
cd "$folder/figures" || exit 1
for kind in pdf svg png gp dat; do
    [ -s "loc-T1.$kind" ] || complain "no loc-T1.$kind"
    grep -q -a "run $hash" "loc-T1.$kind" || complain "loc-T1.$kind does not name run $hash"
done
[ "$(ls | wc -l)" -eq 5 ] || complain "other files: $(ls)"
grep -q '<rect [^>]*fill="#ffffff"' loc-T1.svg || complain "SVG without a white background"
grep -q '<title>text, small' loc-T1.svg || complain "SVG without its title"
if command -v pdfinfo >/dev/null 2>&1; then
    pdfinfo loc-T1.pdf >"$tmp/info" 2>"$tmp/err" || complain "pdfinfo: $(cat "$tmp/err")"
    [ ! -s "$tmp/err" ] || complain "pdfinfo says $(cat "$tmp/err")"
    grep -q "^Title: *text, small" "$tmp/info" && grep -q "^Subject:.*run $hash" "$tmp/info" ||
        complain "metadata of the PDF: $(cat "$tmp/info")"
fi

# Text is as large in PDF as in SVG: both give 8 points where print is 1:1.
grep -q 'width="321"' loc-T1.svg && grep -q 'font-size="10.6[67]"' loc-T1.svg || complain "SVG is not 8.5 cm wide with 8 points"
if command -v pdftotext >/dev/null 2>&1; then
    pdftotext -bbox loc-T1.pdf "$tmp/boxes"
    grep -q 'page width="24[01]' "$tmp/boxes" || complain "PDF is not 8.5 cm wide: $(grep '<page' "$tmp/boxes")"
    # DejaVu Sans is 1.164 em high.
    sed -n 's/.*yMin="\([0-9.]*\)".*yMax="\([0-9.]*\)">accuracy.*/\1 \2/p; s/.*yMin="\([0-9.]*\)".*yMax="\([0-9.]*\)">reach<.*/\1 \2/p' "$tmp/boxes" |
        awk '{ if ($2 - $1 > 8.5 && $2 - $1 < 10.5) ok = 1 } END { exit !ok }' || complain "PDF has no text of 8 points"
fi

# The script by itself draws the same pictures.
mkdir "$tmp/alone"
cp loc-T1.gp loc-T1.dat "$tmp/alone"
cp loc-T1.svg "$tmp/first.svg"
cd "$tmp/alone" || exit 1
gnuplot -d loc-T1.gp >"$tmp/out" 2>"$tmp/err" || complain "the script alone: $(cat "$tmp/err")"
[ ! -s "$tmp/err" ] && [ ! -s "$tmp/out" ] || complain "the script alone says $(cat "$tmp/err" "$tmp/out")"
for kind in pdf svg png; do [ -s loc-T1.$kind ] || complain "the script alone: no loc-T1.$kind"; done
body() { sed '/<title>/d; /<desc>/d' "$1"; }
body loc-T1.svg >a && body "$tmp/first.svg" >b && cmp -s a b || complain "the script alone draws something else"
exit $bad
