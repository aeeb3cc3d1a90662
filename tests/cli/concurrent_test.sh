#!/bin/sh
# Several processes on one run, and a power cut: no measurement, no line of the log and no folder is lost.
. "$LRA_SOURCE/tests/cli/lib.sh"

small="--task xor --set distance=2 --set length=24 --set copies=1 --set train=320 --set batch=4 --set val=64 --set test=64 --set epochs=2
--set width=8 --set hidden=8 --set layers=1 --set kernel=3 -q"
# shellcheck disable=SC2086
"$probe" train $small --out o >train.out 2>&1 || fail "train: $(cat train.out)"
run=$(echo o/runs/*)

# Five processes measure a part each, at the same time: the file holds all five.
parts="jacobian field cut keep position"
pids=
for part in $parts; do
    "$probe" influence "$run" --parts "$part" --examples 8 --out o >"$part.out" 2>"$part.err" &
    pids="$pids $!"
done
for pid in $pids; do wait "$pid" || complain "one of five fails: $(cat ./*.err)"; done
"$probe" influence "$run" --parts "$(echo "$parts" | tr ' ' ,)" --examples 8 --dry-run --out o >out 2>err || complain "after five: $(cat err)"
[ "$(grep -c '(measured)' err)" -eq 5 ] || complain "measurements of five processes are lost: $(cat err)"

# The control on permuted labels is a run that others may measure at the same time, too.
# shellcheck disable=SC2086
"$probe" train $small --permute-labels 1 --out o >train.out 2>&1 || fail "control: $(cat train.out)"
control=$(ls -d o/runs/* | grep -vxF "$run")
"$probe" influence "$run" --parts jacobian --examples 8 --null shuffled --out o >a.out 2>a.err &
first=$!
"$probe" influence "$control" --parts cut --examples 8 --out o >b.out 2>b.err &
second=$!
"$probe" influence "$run" --parts occlusion --examples 8 --out o >c.out 2>c.err || complain "a third: $(cat c.err)"
wait $first || complain "--null shuffled: $(cat a.err)"
wait $second || complain "the control: $(cat b.err)"
"$probe" influence "$control" --parts jacobian,cut --examples 8 --dry-run --out o >out 2>err || complain "control: $(cat err)"
[ "$(grep -c '(measured)' err)" -eq 2 ] || complain "measurements of the control are lost: $(cat err)"
"$probe" influence "$run" --parts jacobian,occlusion,cut --examples 8 --dry-run --out o >out 2>err || complain "run: $(cat err)"
[ "$(grep -c '(measured)' err)" -eq 3 ] || complain "measurements are lost when null values are added: $(cat err)"

# A run that is only read needs no lock.
if [ "$(id -u)" != 0 ]; then as=; elif command -v setpriv >/dev/null; then as="setpriv --reuid=65534 --clear-groups"; else as=none; fi
if [ "$as" != none ]; then
    chmod 755 . && rm -f "$run/lock" && chmod 555 "$run"
    $as "$probe" influence "$run" --parts jacobian --examples 8 --out o >out 2>err || complain "a read-only run: $(cat err)"
    chmod 755 "$run"
else echo "skipped: a read-only run (root without setpriv)"; fi

# A log that a power cut has shortened is not filled with zeros.
longer="--set epochs=100000 --set train=64"
# shellcheck disable=SC2086
"$probe" train $small $longer --out i >out 2>err &
pid=$!
happens sh -c 'grep -q "\"epoch\":3," i/runs/*/log.jsonl && ls i/runs/*/checkpoint.h5'
kill -KILL $pid
wait $pid 2>/dev/null
log=$(echo i/runs/*/log.jsonl)
head -n 1 "$log" >short && cp short "$log"
# shellcheck disable=SC2086
"$probe" train $small $longer --out i >out 2>err &
pid=$!
happens sh -c '[ $(cat i/runs/*/log.jsonl | wc -l) -gt 2 ]'
kill -KILL $pid
wait $pid 2>/dev/null
[ "$(tr -d '\000' <"$log" | wc -c)" -eq "$(wc -c <"$log")" ] || complain "a short log is filled with zeros"
grep -q 'lines of finished epochs are missing' err || complain "a short log is not mentioned: $(cat err)"

# On the disk in this order: folders when they are made; the log before the checkpoint that records its length.
if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
    # shellcheck disable=SC2086
    ASAN_OPTIONS=detect_leaks=0 strace -f -y -e trace=fsync,rename,mkdir -o trace "$probe" train $small --set epochs=1 --out s >out 2>err || complain "strace: $(cat err)"
    awk '/log.jsonl>/ { log_synced = 1 } /rename\(.*checkpoint.h5/ { if (!log_synced) exit 1; seen = 1 } END { exit !seen }' trace ||
        complain "the checkpoint is older than its log: $(grep -e log.jsonl -e checkpoint trace)"
    for folder in s s/runs; do
        grep -A2 "mkdir(\"$folder\"" trace | grep -q "fsync(.*<$(cd "$(dirname "$folder")" && pwd -P)>" ||
            complain "the folder $folder is not synced: $(cat trace)"
    done
else echo "skipped: what is synced (needs strace)"; fi
exit $bad
