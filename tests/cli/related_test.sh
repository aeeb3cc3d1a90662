#!/bin/sh
# Runs that start from others know how those were trained, but for what seeds, rungs of a ladder and ladders of a sweep
# differ in: these are related alike, whatever key that is.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--set train=640 --set val=40 --set test=50 --set epochs=1 --set width=8 --set hidden=8 --set layers=2 --out o -q"

# related RUN: the hash of the settings that a run from it is related to
related() {
    # shellcheck disable=SC2086
    "$probe" train $small --from "$1" --dry-run --json >json 2>err || complain "--from $1: $(cat err)"
    sed -n 's/.*train.related=\([0-9a-f]*\).*/\1/p' json
}

# groups N ARGS...: the runs of this ladder have N different relations
groups() {
    n=$1
    shift
    rm -rf o/runs
    # shellcheck disable=SC2086
    "$probe" receptive-field $small "$@" >/dev/null 2>err || complain "$*: $(cat err)"
    for run in o/runs/*; do related "${run##*/}"; done >hashes
    [ "$(wc -l <hashes)" -ge 4 ] || complain "$*: $(wc -l <hashes) runs"
    [ "$(sort -u hashes | wc -l)" -eq "$n" ] || complain "$*: $(sort -u hashes | wc -l) relations, expected $n"
}
groups 1 --kernels 1,3 --seeds 2
groups 1 --axis dilation=1,3 --seeds 1 --vary rate=0.002,0.001
groups 1 --kernels 1,3 --match params --seeds 1 --vary schedule=plateau,cosine
groups 1 --kernels 1,3 --seeds 1 --vary max-args=4,5

# Another setting is another relation.
related "$(basename "$(ls -d o/runs/* | head -n 1)")" >first
rm -rf o/runs
# shellcheck disable=SC2086
"$probe" receptive-field $small --kernels 1,3 --seeds 1 --vary max-args=4,5 --set decay=0.5 >/dev/null 2>err ||
    complain "decay: $(cat err)"
related "$(basename "$(ls -d o/runs/* | head -n 1)")" >hashes
cmp -s first hashes && complain "another decay: $(cat hashes)"
exit $bad
