#!/bin/sh
# Writes every table and figure of this folder again that the kept result files give.
#   reports/measured/regenerate.sh BUILD [--check]       --check: changes nothing; exits 1 if a file differs
# A table's file begins with the table.  What follows, from a paragraph that begins with "command" or "published" on, was
# written by hand and stays.
# Figures need gnuplot; an SVG is compared only with the version that drew the kept ones (5.4 patchlevel 4).
set -u
[ $# -ge 1 ] || { sed -n '2,3s/^# *//p' "$0" >&2; exit 2; }
report=$(realpath "$1")/lra-report check=${2:-}
[ -x "$report" ] || { echo "$0: '$1' has no lra-report, expected a build" >&2; exit 2; }
cd "$(dirname "$0")" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
wrong=0
# put FILE NEW
put() {
    cmp -s "$1" "$2" && return 0
    if [ "$check" ]; then
        echo "$1 differs from what its results give: $(diff "$1" "$2" | sed -n 2p | cut -c1-160)"
        wrong=1
    else
        cp "$2" "$1" && echo "written: $1"
    fi
}
# table FILE NAME: the table of the results in FILE's folder, and the part of FILE that was written by hand.
table() {
    "$report" tables --wide --verbose --table "$2" --out "$tmp" "$(dirname "$1")/runs" >"$tmp/table" 2>"$tmp/err" || { cat "$tmp/err"; wrong=1; return; }
    { cat "$tmp/table" && awk '/^(command|published)/ && empty && !hand { print ""; hand = 1 } hand { print } { empty = $0 == "" }' "$1"; } >"$tmp/new"
    put "$1" "$tmp/new"
}
# figure FOLDER NAME: those of its SVG, data and script that FOLDER has.
figure() {
    "$report" figures --figure "$2" --out "$tmp" --quiet "$1"/runs/*/result.h5 >"$tmp/out" 2>"$tmp/err" || { cat "$tmp/err"; wrong=1; return; }
    for kind in dat gp svg; do
        [ -f "$1/$2.$kind" ] || continue
        [ "$kind" != svg ] || [ -z "$check" ] || [ "$(gnuplot --version)" = "gnuplot 5.4 patchlevel 4" ] || continue
        put "$1/$2.$kind" "$tmp/figures/$2.$kind"
    done
}

for folder in bidmc listops-small pathfinder text-paper text-small; do table $folder/ladder.txt ladder; done
table xor/sweep.txt sweep
if command -v gnuplot >/dev/null 2>&1; then
    figure listops-small loc-T1
    figure text-small loc-T1
    figure text-paper training
    figure xor sweep
else echo "gnuplot is not installed: no figure was made"; fi
exit $wrong
