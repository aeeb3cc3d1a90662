#!/bin/sh
# Wrong use and a wrong world: one clear line on stderr, nothing on stdout, the right exit code.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

# expect CODE TEXT PROGRAM ARGS...
expect() {
    code=$1 text=$2
    shift 2
    PATH=${run_path-$PATH} "$LRA_BUILD/$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
    got=$?
    lines=$(wc -l <"$dir/stderr")
    if [ $got -ne $code ] || [ -s "$dir/stdout" ] || [ "$lines" -ne 1 ] || ! grep -qF -- "$text" "$dir/stderr"; then
        printf 'FAILED: %s\n  exit %s, expected %s; stderr: %s\n' "$*" $got $code "$(cat "$dir/stderr")"
        failed=1
    fi
}

expect 2 "unknown command 'trian'; did you mean 'train'?" lra-probe trian
expect 2 "unknown option '--sed'; did you mean '--seed'?" lra-probe train --sed 1
expect 2 "unknown task 'listop'; did you mean 'listops'?" lra-probe train --task listop
expect 2 "unknown model 'resconf'; did you mean 'resconv'?" lra-probe train --model resconf
expect 2 "option '--preset' is 'fast', expected one of quick|small|paper" lra-probe train --preset fast
expect 2 "option '--seed' is '-1', expected an integer from 0" lra-probe train --seed=-1
expect 2 "did you mean 'kernel'?" lra-probe train --set kernl=5
expect 2 "'batch' is 0, expected 1" lra-probe train --set batch=0
expect 2 "'layers' is 'x', expected an integer" lra-probe train --set layers=x
expect 2 "kernel 4 is even" lra-probe receptive-field --kernels 1,4 --out "$dir/o" -q
expect 2 "kernels must grow" lra-probe receptive-field --kernels 5,3 --out "$dir/o" -q
expect 2 "both reach 32 of 32 tokens" lra-probe receptive-field --kernels 23,31 --out "$dir/o" -q
expect 2 "no kernel above 1" lra-probe receptive-field --kernels 1 --out "$dir/o" -q
expect 2 "kernel is 4, expected an odd number" lra-probe train --set kernel=4 --out "$dir/n" -q
expect 2 "3 groups do not divide 32 inputs" lra-probe train --set groups=3 --out "$dir/n" -q
expect 2 "rate 1 is not in [0,1)" lra-probe train --set dropout=1 --out "$dir/n" -q
expect 2 "'layers' is 0, expected 1" lra-probe train --set layers=0 --out "$dir/n" -q
expect 2 "the run has no 'nosuch'" lra-probe train --set nosuch=1 --out "$dir/n" -q
expect 2 "unknown objective 'nosuch'" lra-probe train --objective nosuch --out "$dir/n" -q
expect 2 "'fraction' is 2, expected 1e-09 to 1" lra-probe train --fraction 2 --out "$dir/n" -q
expect 2 "'fraction' is 2, expected 1e-09 to 1" lra-probe train --set fraction=2 --out "$dir/n" -q
expect 2 "distance is 0, expected 1" lra-probe train --task xor --set distance=0 --out "$dir/n" -q
expect 2 "distance is 0, expected 1" lra-probe receptive-field --task xor --distance 0,8 --out "$dir/n" -q
expect 2 "kernel is 4, expected an odd number" lra-probe bench step --set kernel=4
expect 2 "'layers' is 0, expected 1" lra-probe bench step --set layers=0
expect 2 "'kernel=5': the ladder sets the kernel" lra-probe receptive-field --set kernel=5 --out "$dir/n" -q
expect 2 "'distance' is what varies" lra-probe receptive-field --task xor --distance 4,8 --set distance=6 --out "$dir/n" -q
[ -e "$dir/n" ] && { echo "FAILED: wrong use leaves a folder behind"; failed=1; }
expect 1 "there is no file or folder '$dir/none'" lra-report tables --out "$dir/none"
expect 2 "unknown table 'laddr'; did you mean 'ladder'?" lra-report tables --table laddr
expect 2 "format 'bmp' is unknown" lra-report figures --format bmp --out "$dir/o"
expect 2 "unknown command 'table'; did you mean 'tables'?" lra-report table

# A real run of a few steps, then damage.
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1"
"$LRA_BUILD/lra-probe" train $small --out "$dir/o" -q >"$dir/first" || { echo "FAILED: a small run"; failed=1; }
"$LRA_BUILD/lra-probe" train $small --out "$dir/o" -q >"$dir/second" || { echo "FAILED: a finished run"; failed=1; }
cmp -s "$dir/first" "$dir/second" || { echo "FAILED: a finished run prints another result"; failed=1; }
if grep -q "$(printf '\033')" "$dir/first"; then echo "FAILED: escape codes in a pipe"; failed=1; fi
result=$(ls "$dir"/o/runs/*/result.h5)
cp "$result" "$dir/whole.h5"
head -c 3000 "$dir/whole.h5" >"$result"
expect 1 "not a complete HDF5 file" lra-report show "$result"
cp "$dir/o"/runs/*/checkpoint.h5 "$result"
expect 1 "is a checkpoint file, expected a result file" lra-report show "$result"
rm "$result"
run=$(dirname "$result")
head -c 5000 "$run/checkpoint.h5" >"$run/cut" && mv "$run/cut" "$run/checkpoint.h5"
expect 1 "cannot go on" lra-probe train $small --out "$dir/o" -q

# One flipped bit anywhere: the same answer, or one line and exit code 1; never another answer.
# flip FILE OFFSET
flip() {
    byte=$(od -An -tu1 -j"$2" -N1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059
    printf "\\$(printf '%03o' $((byte ^ 16)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
# flipped FILE FLIPS COMMAND...: the command's answer on the whole file stands in $dir/answer.
flipped() {
    file=$1 flips=$2
    shift 2
    cp "$file" "$dir/whole"
    size=$(wc -c <"$file")
    caught=0
    for k in $(seq "$flips"); do
        cp "$dir/whole" "$file"
        flip "$file" $((size * k / (flips + 1)))
        "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
        got=$?
        if [ $got -eq 0 ]; then
            cmp -s "$dir/stdout" "$dir/answer" || { echo "FAILED: $file, flip $k: another answer"; failed=1; }
        elif [ $got -ne 1 ] || [ "$(wc -l <"$dir/stderr")" -ne 1 ]; then
            echo "FAILED: $file, flip $k: exit $got, $(cat "$dir/stderr")"
            failed=1
        else caught=$((caught + 1)); fi
    done
    cp "$dir/whole" "$file"
    [ $caught -gt 0 ] || { echo "FAILED: $file: no flip was noticed"; failed=1; }
}
"$LRA_BUILD/lra-probe" train $small --out "$dir/f" -q >"$dir/answer" || { echo "FAILED: a run to flip bits of"; failed=1; }
run=$(echo "$dir"/f/runs/*)
again() { rm -rf "$run/result.h5" && "$LRA_BUILD/lra-probe" train $small --out "$dir/f" -q; }
flipped "$dir"/f/data/*.h5 24 again
flipped "$run/checkpoint.h5" 24 again
again >"$dir/stdout"
"$LRA_BUILD/lra-report" show "$run" >"$dir/answer"
flipped "$run/result.h5" 24 "$LRA_BUILD/lra-report" show "$run"

# A checkpoint of another model, of another folder.
"$LRA_BUILD/lra-probe" train $small --set hidden=16 --out "$dir/g" -q >"$dir/stdout" || failed=1
rm "$run/result.h5"
cp "$dir"/g/runs/*/checkpoint.h5 "$run/checkpoint.h5"
expect 1 "is of another run" lra-probe train $small --out "$dir/f" -q
[ ! -e "$run/result.h5" ] || { echo "FAILED: a result from a foreign checkpoint"; failed=1; }

# Missing, not a folder, not readable, not writable; too little memory.
expect 1 "'/dev/null' is not a folder" lra-probe train --out /dev/null/x -q
expect 1 "$dir/none" lra-probe train --data-dir "$dir/none" --out "$dir/o" -q
expect 1 "$dir/none" lra-report show "$dir/none"
expect 2 "is larger than the training set" lra-probe train $small --set batch=100000 --out "$dir/o" -q
expect 1 "free" lra-probe train --set width=100000 --set hidden=1000000 --out "$dir/o" -q
if [ "$(id -u)" != 0 ]; then as=; elif command -v setpriv >/dev/null; then as="setpriv --reuid=65534 --clear-groups"; else as=none; fi
if [ "$as" != none ]; then
    chmod 755 "$dir"
    mkdir "$dir/locked" && cp "$dir/whole" "$dir/locked/result.h5" && chmod 0 "$dir/locked/result.h5" && chmod 555 "$dir/locked"
    for command in "lra-report show $dir/locked/result.h5" "lra-probe train --out $dir/locked/o -q"; do
        $as "$LRA_BUILD/${command%% *}" ${command#* } >"$dir/stdout" 2>"$dir/stderr"
        got=$?
        if [ $got -ne 1 ] || [ "$(wc -l <"$dir/stderr")" -ne 1 ] || ! grep -q "Permission denied" "$dir/stderr"; then
            echo "FAILED: $command: exit $got, $(cat "$dir/stderr")"
            failed=1
        fi
    done
    chmod 755 "$dir/locked"
else echo "skipped: permissions (root without setpriv)"; fi

# Ctrl-C: exit code 130 and a checkpoint; the same command goes on to the same result.
long="--set train=640 --set val=64 --set test=64 --set epochs=400 --set width=8 --set hidden=8 --set layers=1 --out $dir/i -q"
"$LRA_BUILD/lra-probe" train $long >"$dir/stdout" 2>"$dir/stderr" &
pid=$!
for k in $(seq 100); do [ -n "$(ls "$dir"/i/runs/*/log.jsonl 2>/dev/null)" ] && break; sleep 0.02; done
kill -INT $pid
wait $pid
got=$?
[ $got -eq 130 ] || { echo "FAILED: Ctrl-C: exit $got: $(cat "$dir/stderr")"; failed=1; }
[ -s "$(echo "$dir"/i/runs/*/checkpoint.h5)" ] || { echo "FAILED: Ctrl-C left no checkpoint"; failed=1; }
[ -z "$(find "$dir" -name '*.tmp')" ] || { echo "FAILED: half-written files: $(find "$dir" -name '*.tmp')"; failed=1; }

# Without gnuplot the script and the data are written, and the line says so.
mkdir -p "$dir/bin" "$dir/l"
small="$small --set test=200 --set val=32"
"$LRA_BUILD/lra-probe" receptive-field $small --set layers=1 --kernels 3,65 --seeds 1 --out "$dir/l" -q >"$dir/table" ||
    { echo "FAILED: a small ladder"; failed=1; }
grep -q "LI  " "$dir/table" || { echo "FAILED: no LI in the ladder"; failed=1; }
run_path="$dir/bin"
expect 1 "are written, not drawn" lra-report figures --out "$dir/l"
unset run_path
[ -s "$dir/l/figures/loc-T1.gp" ] && [ ! -e "$dir/l/figures/loc-T1.pdf" ] || { echo "FAILED: figure files"; failed=1; }
"$LRA_BUILD/lra-report" tables --out "$dir/l" --format json >"$dir/json" && grep -q '"rows"' "$dir/json" ||
    { echo "FAILED: json"; failed=1; }

# A full disk, where a tiny file system may be mounted.
if [ "$(id -u)" = 0 ] && mkdir "$dir/tiny" && mount -t tmpfs -o size=64k none "$dir/tiny" 2>/dev/null; then
    expect 1 "No space left on device" lra-probe train --out "$dir/tiny" -q
    [ -z "$(find "$dir/tiny" -name '*.tmp' -o -name '*.h5')" ] || { echo "FAILED: half-written files"; failed=1; }
    umount "$dir/tiny"
else
    echo "skipped: full disk (needs root and tmpfs)"
fi
exit $failed
