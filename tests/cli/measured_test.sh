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
exit $bad
