#!/bin/sh
# Tables in LaTeX compile, without a complaint and within the margins of an article.
. "$LRA_SOURCE/tests/cli/lib.sh"
golden=$LRA_SOURCE/tests/golden

# What is published from this tree, and the tables of the tests.
results=$LRA_SOURCE/reports/measured/listops-small/runs
"$report" tables --format latex "$results"/*/result.h5 >"$tmp/measured.tex" 2>"$tmp/err" || complain "$(cat "$tmp/err")"
for file in "$golden"/*.latex; do cp "$file" "$tmp/$(basename "$file" .latex)_golden.tex"; done
{
    printf '%s\n' '\documentclass{article}'
    # The packages that the tables ask for, and no others.
    sed -n 's/^% needs //p' "$tmp"/*.tex | sort -u
    printf '%s\n' '\begin{document}'
    for file in "$tmp"/*.tex; do printf '\\input{%s}\n' "$(basename "$file")"; done
    printf '%s\n' '\end{document}'
} >"$tmp/all"
mv "$tmp/all" "$tmp/all.tex"

if command -v pdflatex >/dev/null 2>&1; then
    kpsewhich booktabs.sty >/dev/null 2>&1 || skip "LaTeX has no booktabs.sty: tables not compiled"
    set -- pdflatex -interaction=nonstopmode -halt-on-error all.tex
elif command -v tectonic >/dev/null 2>&1 && (cd "$tmp" && tectonic --only-cached all.tex >/dev/null 2>&1); then
    set -- tectonic --only-cached --print all.tex
else
    skip "neither pdflatex nor tectonic (with its packages) is installed: tables not compiled"
fi
(cd "$tmp" && "$@" >log 2>&1 </dev/null) || complain "$1 fails: $(grep -A3 '^!' "$tmp/log" | head -n 8)"
[ -s "$tmp/all.pdf" ] || complain "no all.pdf"
hits=$(grep -E '^Overfull|^LaTeX Warning: (Float too large|.*undefined)' "$tmp/log")
[ -z "$hits" ] || complain "$hits"
exit $bad
