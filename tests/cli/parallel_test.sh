#!/bin/sh
# Several programs at once on one folder, and links that somebody has put into it.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --precision f32"

# Names that a temporary file could have are links to somebody's file: it stays as it is, and so do the links.
echo mine >victim
mkdir -p o/data && lra-probe train $small --out first -q >out || fail "a small run: $(cat out)"
data=$(basename first/data/*.h5) run=$(basename first/runs/*)
mkdir -p "o/runs/$run"
for name in "data/$data" "runs/$run/best.h5" "runs/$run/checkpoint.h5" "runs/$run/result.h5" "runs/$run/log.jsonl"; do
    for end in .tmp .0.tmp .1.tmp; do ln -s "$tmp/victim" "o/$name$end"; done
done
expect 0 '' lra-probe train $small --out o -q
[ "$(cat victim)" = mine ] || complain "a planted link was followed: $(head -c 40 victim)"
[ -s "o/data/$data" ] && [ ! -L "o/data/$data" ] || complain "the data are a link"
ln -sf "$tmp/victim" first/lock && rm "first/runs/$run/result.h5" "first/runs/$run/lock"
ln -s "$tmp/absent" "first/runs/$run/lock"
expect 1 "cannot open '.*lock'" lra-probe train $small --out first -q
[ ! -e absent ] || complain "a file was made through a planted link"

# Eight at once write the same tables; all of them succeed, and every table is whole.
lra-report tables --out o -q >out 2>err || fail "tables: $(cat err)"
cp -r o/tables expected
for k in 1 2 3 4 5 6 7 8; do
    (lra-report tables --out o -q >"out$k" 2>"err$k"; echo $? >"rc$k") &
done
wait
for k in 1 2 3 4 5 6 7 8; do
    [ "$(cat rc$k)" = 0 ] || complain "tables at once, the ${k}th: $(cat err$k)"
done
diff -r expected o/tables >difference || complain "$(head -3 difference)"
[ -z "$(find o/tables -name '*.tmp')" ] || complain "left $(find o/tables -name '*.tmp')"
exit $bad
