#!/bin/sh
# The commands of --print-plan under other schedulers, as in probes/README.md: lines by number, GNU parallel and Snakemake
# where they are installed.
. "$LRA_SOURCE/tests/cli/lib.sh"
readme=$LRA_SOURCE/probes/README.md
small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --set epochs=1 --precision f32 --threads 1"
plan() { # shellcheck disable=SC2086
    "$probe" sweep $small --vary rate=0.001,0.002 --seeds 1 --out "$1 it's" --print-plan -q >plan.txt 2>err || fail "plan: $(cat err)"
}
trained() { [ "$(ls "$1 it's"/runs/*/result.h5 2>/dev/null | wc -l)" -eq 2 ] || complain "$1: runs are missing: $(cat out err)"; }
# block NAME: the lines of the README below "# NAME"
block() { sed -n "/^    # $1/,/^\$/p" "$readme" | sed '1d; /^$/d; s/^    //'; }

plan condor
block line.sh >line.sh
chmod +x line.sh
for process in 0 1; do ./line.sh $process >out 2>err || complain "line.sh: $(cat err)"; done
trained condor
block sweep.sub >sweep.sub
grep -q '^queue N$' sweep.sub || complain "no submit file: $(cat sweep.sub)"
awk '!/^queue N$/ && !/^[a-z_]+ = [^ ]/ { print; bad = 1 } END { exit bad }' sweep.sub || complain "a line of sweep.sub is no assignment"

if command -v parallel >/dev/null && parallel --version 2>/dev/null | grep -q GNU; then
    plan parallel
    parallel -j 4 <plan.txt >out 2>err || complain "parallel: $(cat err)"
    trained parallel
fi
if command -v snakemake >/dev/null; then
    plan snakemake
    block Snakefile >Snakefile
    snakemake --cores 2 >out 2>err || complain "snakemake: $(cat err)"
    trained snakemake
fi
exit $bad
