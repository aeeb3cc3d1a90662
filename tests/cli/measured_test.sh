#!/bin/sh
# The committed result files, of whatever version, give the committed tables: nobody who reads them again finds other
# numbers.  What follows the table there (commands, machines) was written by hand.
. "$LRA_SOURCE/tests/cli/lib.sh"
found=0
for runs in "$LRA_SOURCE"/reports/measured/*/runs; do
    [ -d "$runs" ] || continue
    found=$((found + 1))
    table=ladder
    for other in sweep tasks; do [ ! -f "$(dirname "$runs")/$other.txt" ] || table=$other; done
    stored=$(dirname "$runs")/$table.txt
    expect 0 '' lra-report tables --table $table --out "o$found" "$runs"
    head -n "$(wc -l <out)" "$stored" | diff - out >difference || complain "$stored: $(cat difference)"
    for result in "$runs"/*/result.h5; do
        expect 0 '' lra-report show "$result"
        says '^  settings  *'
    done
done
[ $found -gt 0 ] || complain "no committed results"

# digests.csv names every result file that there ever was; those that are kept are as it says, and no others are there.
cd "$LRA_SOURCE/reports/measured" || exit 1
sed -n 's/,yes$//p' digests.csv >"$tmp/kept"
sed -n 's/\([^,]*\),.*,yes$/\1/p' digests.csv >"$tmp/names"
find . -name '*.h5' | sed 's:^\./::' | LC_ALL=C sort | diff "$tmp/names" - >"$tmp/difference" ||
    complain "digests.csv and the kept files: $(head -n 5 "$tmp/difference")"
./remake.sh "$(dirname "$report")" --digests | diff "$tmp/kept" - >"$tmp/difference" || complain "digests: $(head -n 5 "$tmp/difference")"
[ "$(cut -d, -f2 "$tmp/kept" | awk "{ n += \$1 } END { print n }")" -le 6000000 ] || complain "kept result files take more than 6 MB"
exit $bad
