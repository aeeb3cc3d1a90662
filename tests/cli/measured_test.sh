#!/bin/sh
# The committed result files, of whatever version, give the committed tables and figures (LRA_UPDATE_GOLDEN=1 writes these
# again), and every one of them can be shown.
. "$LRA_SOURCE/tests/cli/lib.sh"
[ -z "${LRA_UPDATE_GOLDEN:-}" ] || "$LRA_SOURCE/reports/measured/regenerate.sh" "$LRA_BUILD"
"$LRA_SOURCE/reports/measured/regenerate.sh" "$LRA_BUILD" --check >out || complain "$(cat out)"

# A text or a figure that was changed is named.
cp -R "$LRA_SOURCE/reports/measured" copy && chmod -R u+w copy
sed -i '3s/[0-9]/x/' copy/text-small/ladder.txt
[ ! -f copy/xor/sweep.dat ] || sed -i '5s/[0-9]/7x/' copy/xor/sweep.dat
copy/regenerate.sh "$LRA_BUILD" --check >out && complain "a changed table is not found"
grep -q '^text-small/ladder.txt differs' out || complain "a changed table is not named: $(cat out)"
! command -v gnuplot >/dev/null 2>&1 || grep -q '^xor/sweep.dat differs' out || complain "changed data of a figure are not named: $(cat out)"

found=0
for runs in "$LRA_SOURCE"/reports/measured/*/runs; do
    [ -d "$runs" ] || continue
    found=$((found + 1))
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
