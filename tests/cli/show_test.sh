#!/bin/sh
# lra-report show and list: old and new files, files without their seal, files cut short.
. "$LRA_SOURCE/tests/cli/lib.sh"
old=$LRA_SOURCE/tests/golden/1/result.h5
new=$LRA_SOURCE/tests/golden/2/result.h5

expect 0 '' "$report" show "$new"
says 'training  *60.00 %, loss 1.2500, 5 examples'
says 'threads  *2'
says 'command  *not recorded'
says 'model.kernel=5'
expect 0 '' "$report" show "$old"
says 'training  *not recorded'
says 'revision '
says 'date  *not recorded'
expect 0 '' "$report" show --json "$old" "$new"
says '"schema": 1'
says '"train_value": null'
says '"device_name": "a processor"'
expect 0 '' "$report" list --json
says '"name": "ladder"'
says '"figures"'

# Files of every probe are shown, a breakdown of ListOps as its accuracies; a damaged one says why.
tiny="--set train=320 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --set epochs=1 --threads 1 --out o -q"
# shellcheck disable=SC2086
expect 0 '' "$LRA_BUILD/lra-probe" train $tiny --model transformer --set heads=2 --label 'one of two'
run=$(echo o/runs/*)
for command in listops attention 'influence --parts cut'; do
    # shellcheck disable=SC2086
    expect 0 '' "$LRA_BUILD/lra-probe" $command "$run" -q
done
expect 0 '' "$LRA_BUILD/lra-probe" train --model s4d --set state=4 --set train=320 --set val=64 --set test=64 --set width=8 --set layers=1 --set epochs=1 --threads 1 --out o -q
expect 0 '' "$LRA_BUILD/lra-probe" kernels o/runs/listops-s4d-* -q
expect 0 '' "$LRA_BUILD/lra-probe" data listops --set train=320 --set val=64 --set test=64 --information --out o -q
n=0
for file in "$run/attention.h5" "$run/influence.h5" "$run/listops.h5" o/runs/listops-s4d-*/kernels.h5 o/information/*/information.h5; do
    probe=$(basename "$file" .h5)
    expect 0 '' "$report" show "$file"
    says "^$probe of listops "
    case $file in "$run"*) says '^  label  *one of two$' ;; esac
    expect 0 '' "$report" show --json "$file"
    says "\"probe\": \"$probe\""
    case $file in "$run"*) says '"label": "one of two"' ;; esac
    head -c 3000 "$file" >short.h5
    expect 1 'short.h5' "$report" show short.h5
    n=$((n + 1))
done
[ $n -eq 5 ] || complain "$n probe files: $(find o -name '*.h5')"
expect 0 '' "$report" show "$run/listops.h5"
says '^  model  *accuracy  *0.[0-9]* (0.[0-9]* to 0.[0-9]*), one.seed$'
says '^  root.min  *rows  *[0-9]*, one.seed$'
says '^  majority-by-operator  *accuracy '
(head -c 3000 "$run/listops.h5" && printf x && tail -c +3002 "$run/listops.h5") >changed.h5
expect 1 'changed.h5.*damaged' "$report" show changed.h5
expect 1 'is a checkpoint file' "$report" show "$run/best.h5"

# 64 bytes of seal: without them a file is whole for every other program, and unsealed for us.
size=$(wc -c <"$new")
head -c $((size - 64)) "$new" >unsealed.h5
expect 0 '' "$report" show unsealed.h5
says 'unsealed: values may have been changed'
for format in text markdown latex csv json; do
    expect 0 '' "$report" tables --table tasks --format $format unsealed.h5
    says unsealed
    expect 0 '' "$report" tables --table tasks --format $format "$new"
    grep -q unsealed out && complain "$format: a sealed file is called unsealed"
done

# Cut short, changed, empty, no HDF5 at all: one line, nothing on stdout.
for n in 0 1 47 48 512 4096 $((size - 65)) $((size - 63)) $((size - 1)); do
    head -c "$n" "$new" >cut.h5
    expect 1 "cut.h5" "$report" show cut.h5
    expect 1 "cut.h5" "$report" show --json cut.h5
done
(head -c 3000 "$new" && printf x && tail -c +3002 "$new") >changed.h5
expect 1 'damaged: the hash of its bytes is' "$report" show changed.h5
printf 'result' >text.h5
expect 1 'text.h5' "$report" show text.h5
mkfifo pipe.h5
expect 1 'pipe.h5' "$report" show pipe.h5
exit $bad
