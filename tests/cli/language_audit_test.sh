#!/bin/sh
# labels: quick timeout: 300
# lra-probe audit of a language model: all of its parts and attention in one audit have the numbers of the model's own
# probes, and the check uses several windows of the stream.
. "$LRA_SOURCE/tests/cli/lib.sh"
# 12,000 words of ten.
awk 'function draw(n) { z = (z * 16807) % 2147483647; return int(z / 2147483647 * n) }
    BEGIN { z = 5; n = split("the cat sat on a mat and dog ran fast", word, " ")
        for (i = 0; i < 12000; i++) printf "%s%s", i ? " " : "", word[1 + draw(n)] }' | head -c 50000 >text8
data="--task text8 --data-dir . --set context=32"
"$probe" train $data --model transformer --set width=16 --set heads=2 --set layers=2 --set epochs=1 --threads 1 --precision f32 \
    --out o -q >out 2>err || fail "train: $(cat err)"
run=$(echo o/runs/*)
parts=context-curve,token-loss,jacobian,keep
"$probe" influence "$run" --parts $parts --examples 16 -q >out 2>err || fail "influence: $(cat err)"
"$probe" attention "$run" --examples 16 -q >out 2>err || fail "attention: $(cat err)"
expect 0 '^batch invariance  *ok' "$probe" audit $data --name served --parts $parts,attention --examples 16 --out s -- \
    "$probe" serve "$run"
grep -q 'handshake, shapes  *ok  *25 examples' err || complain "the check has one window: $(cat err)"
grep -q ' attention  *128 passes, 16 examples' err || complain "the cost of attention: $(grep attention err)"
# A number of the run that the served model has as well agrees to 1e-4; both have as many. Values of keys are the engine's alone.
for table in influence attention language; do
    for of in o s; do
        "$report" tables $of --table $table --columns part,id,x,value --format csv >csv 2>err || complain "$table of $of: $(cat err)"
        grep -v ',value\.\|^part\|,positions' csv | sort >$of.$table
    done
    [ "$(wc -l <o.$table)" -gt 20 ] || complain "$table has $(wc -l <o.$table) numbers"
    paste -d, o.$table s.$table | awk -F, -v table=$table '
        $1 != $5 || $2 != $6 || $3 != $7 { print table ": " $0; exit 1 }
        { d = $4 - $8; m = $4 < 0 ? -$4 : $4; if (d < 0) d = -d; if (d > 1e-4 * (1 + m)) { print table ": " $0; exit 1 } }' >differ ||
        complain "served numbers differ: $(cat differ)"
done
# One page has the sections of a language model, its attention and its checks.
expect 0 '' "$report" html s --out page.html
for section in language attention checks; do grep -q "id=\"$section\"" page.html || complain "the page lacks section $section"; done
# Again: nothing is measured.
expect 0 'attention .*(measured)' "$probe" audit $data --name served --parts $parts,attention --examples 16 --out s -- "$probe" serve "$run"
exit $bad
