#!/bin/sh
# Wrong use and a wrong world: one clear line on stderr, nothing on stdout, the right exit code.
. "$LRA_SOURCE/tests/cli/lib.sh"

expect 2 "unknown command 'trian'; did you mean 'train'?" lra-probe trian
expect 2 "unknown option '--sed'; did you mean '--seed'?" lra-probe train --sed 1
expect 2 "unknown task 'listop'; did you mean 'listops'?" lra-probe train --task listop
expect 2 "unknown model 'resconf'; did you mean 'resconv'?" lra-probe train --model resconf
expect 2 "unknown preset 'fast' (quick, small, paper or paper:NAME)" lra-probe train --preset fast
expect 2 "option '--seed' is '-1', expected an integer from 0" lra-probe train --seed=-1
expect 2 "did you mean 'kernel'?" lra-probe train --set kernl=5
expect 2 "'batch' is '0', expected an integer from 1" lra-probe train --set batch=0
expect 2 "'layers' is 'x', expected an integer" lra-probe train --set layers=x
expect 2 "kernel 4 is even" lra-probe receptive-field --kernels 1,4 --out o -q
expect 2 "kernels must increase" lra-probe receptive-field --kernels 5,3 --out o -q
expect 2 "both have a reach of 32 of 32 tokens" lra-probe receptive-field --kernels 23,31 --out o -q
expect 2 "no kernel is larger than 1" lra-probe receptive-field --kernels 1 --out o -q
expect 2 "kernel is 4, expected an odd number" lra-probe train --set kernel=4 --out n -q
expect 2 "3 groups do not divide 32 inputs" lra-probe train --set groups=3 --out n -q
expect 2 "'dropout' is '1', expected a number from 0" lra-probe train --set dropout=1 --out n -q
expect 2 "'layers' is '0', expected an integer from 1" lra-probe train --set layers=0 --out n -q
expect 2 "the run has no 'nosuch'" lra-probe train --set nosuch=1 --out n -q
expect 2 "unknown objective 'nosuch'" lra-probe train --objective nosuch --out n -q
expect 2 "'fraction' is '2', expected a number from 1e-09 to 1" lra-probe train --fraction 2 --out n -q
expect 2 "'fraction' is '2', expected a number from 1e-09 to 1" lra-probe train --set fraction=2 --out n -q
expect 2 "'distance' is '0', expected an integer from 1" lra-probe train --task xor --set distance=0 --out n -q
expect 2 "'distance' is '0', expected an integer from 1" lra-probe receptive-field --task xor --distance 0,8 --out n -q
expect 2 "kernel is 4, expected an odd number" lra-probe bench step --set kernel=4
expect 2 "'layers' is '0', expected an integer from 1" lra-probe bench step --set layers=0
expect 2 "'kernel=5': the ladder sets 'kernel'" lra-probe receptive-field --set kernel=5 --out n -q
expect 2 "'distance' already varies" lra-probe receptive-field --task xor --distance 4,8 --set distance=6 --out n -q
[ ! -e n ] || complain "wrong use leaves a folder behind"
expect 1 "there is no file or folder 'none'" lra-report tables --out none
expect 2 "unknown table 'laddr'; did you mean 'ladder'?" lra-report tables --table laddr
expect 2 "unknown format 'bmp'" lra-report figures --format bmp --out o
expect 2 "unknown command 'table'; did you mean 'tables'?" lra-report table

# A real run of a few steps, then damage.
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1"
lra-probe train $small --out o -q >first || complain "a small run"
lra-probe train $small --out o -q >second || complain "a finished run"
cmp -s first second || complain "a finished run prints another result"
if grep -q "$(printf '\033')" first; then complain "escape codes in a pipe"; fi
result=$(ls o/runs/*/result.h5)
cp "$result" whole.h5
head -c 3000 whole.h5 >"$result"
expect 1 "not a complete HDF5 file" lra-report show "$result"
cp o/runs/*/checkpoint.h5 "$result"
expect 1 "is a checkpoint file, expected a result file" lra-report show "$result"
rm "$result"
run=$(dirname "$result")
head -c 5000 "$run/checkpoint.h5" >"$run/cut" && mv "$run/cut" "$run/checkpoint.h5"
expect 1 "cannot resume" lra-probe train $small --out o -q

# One flipped bit anywhere: the same answer, or one line and exit code 1; never another answer.
# flip FILE OFFSET
flip() {
    byte=$(od -An -tu1 -j"$2" -N1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# flipped FILE FLIPS COMMAND...: the command's answer on the whole file stands in `answer`.
flipped() {
    file=$1 flips=$2
    shift 2
    cp "$file" whole
    size=$(wc -c <"$file")
    caught=0
    for k in $(seq "$flips"); do
        cp whole "$file"
        flip "$file" $((size * k / (flips + 1)))
        "$@" >out 2>err </dev/null
        got=$?
        if [ $got -eq 0 ]; then
            cmp -s out answer || complain "$file, flip $k: another answer"
        elif [ $got -ne 1 ] || [ "$(wc -l <err)" -ne 1 ]; then
            complain "$file, flip $k: exit $got, $(cat err)"
        else caught=$((caught + 1)); fi
    done
    cp whole "$file"
    [ $caught -gt 0 ] || complain "$file: no flip was noticed"
}
lra-probe train $small --out f -q >answer || complain "a run to flip bits of"
run=$(echo f/runs/*)
again() { rm -rf "$run/result.h5" && lra-probe train $small --out f -q; }
flipped f/data/*.h5 24 again
flipped "$run/checkpoint.h5" 24 again
again >out
lra-report show "$run" >answer
flipped "$run/result.h5" 24 lra-report show "$run"

# A checkpoint of another model, of another folder.
lra-probe train $small --set hidden=16 --out g -q >out || complain "another model"
rm "$run/result.h5"
cp g/runs/*/checkpoint.h5 "$run/checkpoint.h5"
expect 1 "belongs to another run" lra-probe train $small --out f -q
[ ! -e "$run/result.h5" ] || complain "a result from a foreign checkpoint"

# Missing, not a folder, not readable, not writable; too little memory.
expect 1 "'/dev/null' is not a folder" lra-probe train --out /dev/null/x -q
expect 1 none lra-probe train --data-dir none --out o -q
expect 2 "there is no file, folder or run 'none'" lra-report show none
for command in "train" "train --dry-run" "train --dry-run --json" "receptive-field --kernels 3,5 --dry-run" "sweep --vary kernel=3,5 --dry-run"; do
    expect 2 "is larger than the training set" lra-probe $command $small --set batch=100000 --out o -q
done
expect 1 "free" lra-probe train --set width=100000 --set hidden=1000000 --out o -q
if [ "$(id -u)" != 0 ]; then as=; elif command -v setpriv >/dev/null; then as="setpriv --reuid=65534 --clear-groups"; else as=none; fi
if [ "$as" != none ]; then
    chmod 755 .
    mkdir locked && cp whole locked/result.h5 && chmod 0 locked/result.h5 && chmod 555 locked
    for command in "lra-report show locked/result.h5" "lra-probe train --out locked/o -q"; do
        $as "$LRA_BUILD/${command%% *}" ${command#* } >out 2>err
        got=$?
        if [ $got -ne 1 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -q "Permission denied" err; then
            complain "$command: exit $got, $(cat err)"
        fi
    done
    chmod 755 locked
else echo "skipped: permissions (root without setpriv)"; fi

# Ctrl-C: exit code 130 and a checkpoint; the same command goes on to the same result.
long="--set train=640 --set val=64 --set test=64 --set epochs=100000 --set width=8 --set hidden=8 --set layers=1 --out i -q"
lra-probe train $long >out 2>err &
pid=$!
happens sh -c 'ls i/runs/*/log.jsonl'
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] || complain "Ctrl-C: exit $got: $(cat err)"
[ -s "$(echo i/runs/*/checkpoint.h5)" ] || complain "Ctrl-C left no checkpoint"
[ -z "$(find . -name '*.tmp')" ] || complain "half-written files: $(find . -name '*.tmp')"

# Without gnuplot the script and the data are written, and the line says so.
mkdir -p bin l
small="$small --set test=200 --set val=32"
lra-probe receptive-field $small --set layers=1 --kernels 3,65 --seeds 1 --out l -q >table ||
    complain "a small ladder"
grep -q "LI  " table || complain "no LI in the ladder"
expect 1 "gnuplot is not installed: wrote" env PATH="$tmp/bin" "$report" figures --out l
[ -s l/figures/loc-T1.gp ] && [ ! -e l/figures/loc-T1.pdf ] || complain "figure files"
lra-report tables --out l --format json >json && grep -q '"rows"' json ||
    complain "json"

# A full disk, where a tiny file system may be mounted.
if [ "$(id -u)" = 0 ] && mkdir tiny && mount -t tmpfs -o size=64k none tiny 2>/dev/null; then
    expect 1 "No space left on device" lra-probe train --out tiny -q
    [ -z "$(find tiny -name '*.tmp' -o -name '*.h5')" ] || complain "half-written files"
    umount tiny
else
    echo "skipped: full disk (needs root and tmpfs)"
fi
exit $bad
