#!/bin/sh
# lra-probe data TASK --information: the distance of XOR's two bits is found, the table and the figure come from the file,
# and what does not go together is refused.
. "$LRA_SOURCE/tests/cli/lib.sh"

"$probe" data xor --set distance=8 --set train=2000 --set val=100 --set test=500 --information --out o >table 2>err ||
    complain "information: $(cat err)"
has table 'Mutual information of two tokens of xor by distance'
grep -q '^8 .* 0\.[1-9]' table || complain "distance 8 is not seen: $(cat table)"
grep -q '^4 .* 0\.000' table || complain "distance 4 is not empty: $(cat table)"
has table 'Accuracy of bags of n-grams on xor'
has err 'wrote o/information/xor-'
"$report" tables --wide --table information o/information >again 2>err || complain "tables: $(cat err)"
cmp -s table again || complain "lra-report prints other numbers"
"$report" tables --wide --table information --out o >again 2>err && cmp -s table again || complain "not found below --out: $(cat err)"
"$probe" data xor --set distance=64 --set train=2000 --set val=100 --set test=500 --information --out far >out 2>err ||
    complain "far information: $(cat err)"
grep -q '^64 .* 0\.[1-9]' out || complain "distance 64 is not in the table: $(cat out)"
"$probe" data xor --set distance=8 --set train=2000 --set val=100 --set test=500 --information --out o -q --json >json ||
    complain "--json fails"
has json '"excess_bits_lo": '
has json '"d0": '
# The same bags of n-grams stand below a ladder, on the same rows.
"$probe" receptive-field --task xor --set distance=8 --set train=2000 --set val=100 --set test=500 --kernels 3,5 --seeds 1 --epochs 1 \
    --threads 1 --out l -q >out 2>err || complain "ladder: $(cat err)"
has out 'ngram-N '
grep -q '^check .*; bag-of-tokens' out || complain "what needs no order is no n-gram: $(cat out)"
"$report" tables --table ladder --format csv --out l 2>err | sed -n 's/^ngram-\([0-9]*\),,,\([0-9.]*\),.*/\1 \2/p' >below
"$report" tables --table information --format csv o/information 2>err | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["width"] != "" { print $at["width"], $at["accuracy_percent"] }' >beside
[ "$(wc -l <below)" = 6 ] && cmp -s below beside || complain "n-grams below the ladder: $(cat below); of the data: $(cat beside)"
"$probe" data pathfinder-easy --information --preset quick --set train=300 --out o >out 2>err
[ $? -eq 2 ] || complain "an unknown parameter is taken: $(cat out)"
if command -v gnuplot >/dev/null; then
    "$report" figures --figure info o/information --out o >out 2>err || complain "info: $(cat err)"
    [ -s err ] && complain "gnuplot says $(cat err)"
    for kind in pdf svg png gp dat; do [ -s "o/figures/info.$kind" ] || complain "no info.$kind"; done
fi
expect 2 "--information and --make exclude each other" "$probe" data xor --information --make 10
expect 1 "'lra-probe data TASK --information' makes them" "$report" tables --table information o/data
# A few windows of letters drawn at random tell nothing of one another, and no interval says that they do.
awk 'BEGIN { srand(1); for (i = 0; i < 20000; i++) printf "%c", 97 + int(26 * rand()) }' >text8
"$probe" data text8 --information --data-dir text8 --out few >out 2>err || complain "a short text: $(cat err)"
has out 'Too few examples for intervals'
! grep -q 'lies above 0' out || complain "letters at random tell of one another: $(cat out)"

exit $bad
