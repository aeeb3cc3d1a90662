#!/bin/sh
# A limit of the address space, from nothing on: the program starts, or says why not; it neither hangs nor crashes.
. "$LRA_SOURCE/tests/cli/lib.sh"
[ "${LRA_BUILD_TYPE:-}" != Debug ] || skip "sanitizers need more address space than there is memory"
command -v timeout >/dev/null || skip "no timeout to end a program that hangs"
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --precision f32"

started=0 refused=0
# within KIB COMMAND...: 127 is the loader's, which cannot even map the libraries
within() {
    kib=$1
    shift
    (ulimit -v "$kib" && exec timeout -s KILL 60 "$@") >out 2>err </dev/null
    got=$?
    case $got in
    0) started=$((started + 1)) ;;
    1)
        refused=$((refused + 1))
        [ "$(wc -l <err)" -eq 1 ] || complain "$kib KiB, $*: not one line: $(cat err)"
        ;;
    127) grep -q 'cannot map\|failed to map\|cannot allocate\|error while loading' err || complain "$kib KiB, $*: $(cat err)" ;;
    *) complain "$kib KiB, $*: exit $got: $(cat err)" ;;
    esac
}
for kib in 40000 80000 100000; do within $kib "$probe" --version; done
# Every step between what the loader needs and what a small training needs, with more libraries or fewer.
for kib in $(seq 72000 4000 124000) 200000; do within $kib "$probe" train $small --out "o$kib" -q; done
within 60000000 "$probe" train $small --out o -q
# Room for the parameters, but not for the largest of them once more while it is drawn.
wide="--task listops --set max-depth=3 --set max-length=40 --set min-length=8 --set train=8 --set val=8 --set test=8 \
    --set batch=8 --set layers=2 --set width=1024 --set hidden=2048 --set kernel=5 --precision f32"
for kib in 400000 450000 500000; do within $kib "$probe" train $wide --threads 1 --out "w$kib" -q; done
[ $refused -gt 0 ] || complain "no limit was refused"
[ $started -gt 0 ] || complain "no limit was enough: $(cat err)"
for kib in 200000 60000; do within $kib "$report" --version; done
exit $bad
