#!/bin/sh
# How local is every architecture on a task, as built and as learned?  Trains each model at its quick size with three seeds and
# asks each run how far it looks:   tests/bench/locality.sh BUILD OUT TASK [DATA [JOBS]]
# DATA: the folder of the published files, where the task needs them ("" where it does not).  MODELS and SEEDS ask for fewer.
# Tables and figure go to OUT; the same command goes on where it stopped.  A run's weights are dropped when all its probes
# are through (KEEP=1 keeps them); what is left, 80 to 400 KB a run, may be put back into OUT/runs and is not done again.
# ATTENTION, CUT, JACOBIAN: test examples of each (default: those of the probe).  PROBES: the measurements, default "kernels
# attention cut jacobian".  On one core of an EPYC (Zen 4): ListOps 25 minutes; sMNIST with 16, 500 and 16: three to five hours.
set -u
[ $# -ge 3 ] || { echo "usage: $0 BUILD OUT TASK [DATA [JOBS]]" >&2; exit 2; }
probe=$1/lra-probe report=$1/lra-report out=$2 task=$3 data=${4:-} jobs=${5:-1}
wrong() { echo "$0: $1" >&2; exit 2; }
[ -x "$probe" ] && [ -x "$report" ] || wrong "'$1' holds no lra-probe and lra-report, expected a build"
[ -z "$data" ] || [ -e "$data" ] || wrong "there is no '$data', expected the published files"
mkdir -p "$out/logs" || exit 1

# Paths of this machine stay out of the records: all is called from OUT, where `published` stands for DATA.
if [ "${6:-}" != --cell ]; then
    build=$(realpath "$1") self=$(realpath "$0") probe=$build/lra-probe report=$build/lra-report
    [ -z "$data" ] || { ln -sfn "$(realpath "$data")" "$out/published" && data=published; } || exit 1
    cd "$out" && out=. || exit 1
fi

# cell MODEL SEED: what is there already is not done again.
cell() {
    log=$out/logs/$task-$1-$2.log
    [ ! -e "$log.done" ] || return 0
    "$probe" train --task "$task" --preset quick --precision bf16 --model "$1" --seed "$2" --threads 1 --quiet --out "$out" \
        ${data:+--data-dir "$data"} >"$log" 2>&1 || { echo "$1, seed $2: training failed, see $log" >&2; return 1; }
    run=$(sed -n 's:^\(wrote \)*\(.*\)/result.h5.*$:\2:p' "$log" | tail -n 1)
    [ -d "$run" ] || { echo "$1, seed $2: no run in $log" >&2; return 1; }
    [ -e "$run/best.h5" ] || { touch "$log.done"; return 0; } # dropped: all was asked
    for name in ${PROBES:-kernels attention cut jacobian}; do
        case $name in
            kernels) what=kernels ;;
            attention) what="attention --examples ${ATTENTION:-256}" ;;
            cut) what="influence --parts cut --examples ${CUT:-0}" ;;
            jacobian) what="influence --parts jacobian --examples ${JACOBIAN:-0}" ;;
            *) echo "PROBES: '$name', expected kernels, attention, cut or jacobian" >&2; return 1 ;;
        esac
        # shellcheck disable=SC2086 # a model has kernels or attention or both: what a probe cannot ask exits with 2
        "$probe" $what "$run" --out "$out" --threads 1 --quiet >>"$log" 2>&1 || [ $? -eq 2 ] ||
            { echo "$1, seed $2: $what failed, see $log" >&2; return 1; }
    done
    [ "${KEEP:-}" ] || find "$run" -type f ! -name result.h5 ! -name kernels.h5 ! -name attention.h5 ! -name influence.h5 -delete
    touch "$log.done"
}

if [ "${6:-}" = --cell ]; then cell "$7" "$8"; exit; fi
for model in ${MODELS:-$("$probe" list models | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p')}; do
    for seed in ${SEEDS:-0 1 2}; do echo "$model $seed"; done
done | xargs -P "$jobs" -L 1 sh "$self" "$build" "$out" "$task" "$data" "$jobs" --cell
failed=$?
[ $failed -eq 0 ] || echo "some cells failed; the same command tries them again" >&2
ls runs/*/result.h5 >/dev/null 2>&1 || exit 1

"$report" tables --table models --out "$out" "$out"/runs/*/result.h5 >"$out/models.txt" &&
    "$report" tables --table locality --out "$out" "$out"/runs/* >"$out/locality.txt" &&
    "$report" figures --figure locality --out "$out" "$out"/runs/*
[ $failed -eq 0 ]
