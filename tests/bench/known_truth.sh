#!/bin/sh
# Known truth: tasks whose answer depends on tokens a set distance apart, trained and asked by every probe: does it find the
# distance?   tests/bench/known_truth.sh BUILD OUT [JOBS]
# Everything goes to OUT, the table last (lra-report tables --table truth OUT); the same command goes on where it stopped.
# About 15 minutes of one core; models are the smallest that learn, one seed.
set -u
[ $# -ge 2 ] || { echo "usage: $0 BUILD OUT [JOBS]" >&2; exit 2; }
probe=$1/lra-probe report=$1/lra-report out=$2 jobs=${3:-1}
mkdir -p "$out" || exit 1
export probe out

# Task, distance, model, epochs, from what is quick to what is slow.
cells() {
    for d in 8 16 32; do
        for t in "copy 4" "xor 2" "select-at 3" "recall 4"; do
            [ "$d" = 32 ] && case $t in s* | r*) continue ;; esac # minutes each, and not learned by all
            for m in resconv s4d transformer; do echo "${t% *} $d $m ${t#* }"; done
        done
    done
    for d in 8 16; do echo "copy $d las 4"; done
    echo "xor 8 las 6"
    for m in resconv s4d transformer; do echo "copy 64 $m 4"; done
    for m in resconv s4d; do echo "xor 64 $m 2"; done
}

# cell TASK DISTANCE MODEL EPOCHS: lengths leave room for one group of tokens; kernels of resconv reach the distance.
cell() {
    task=$1 d=$2 model=$3
    case $task in
    copy) sizes="--set length=$((d < 32 ? 64 : 128))" ;;
    xor) sizes="--set length=$((4 * d + 6))" ;;
    recall) sizes="--set length=$((4 * d + 16))" ;;
    select-at) sizes="--set length=$((8 * d + 12))" ;;
    esac
    [ "$task" = copy ] || sizes="$sizes --set copies=1 --set train=12800 --set val=500 --set test=1000"
    [ "$model" = resconv ] && sizes="$sizes --set kernel=$((2 * d + 9))"
    # shellcheck disable=SC2086
    nice -n 10 "$probe" train --task "$task" --preset quick --precision f32 --threads 1 --quiet --out "$out" --set distance="$d" \
        --model "$model" --set epochs="$4" $sizes >"$out/$task-$d-$model.log" 2>&1 || { cat "$out/$task-$d-$model.log" >&2; return 1; }
    run=$(sed -n 's:^wrote \(.*\)/result.h5$:\1:p' "$out/$task-$d-$model.log")
    for kind in kernels attention; do # a model has the one or the other
        nice -n 10 "$probe" $kind "$run" --out "$out" --threads 1 --quiet >/dev/null 2>&1
    done
    nice -n 10 "$probe" influence "$run" --out "$out" --parts cut --examples 200 --threads 1 --quiet >/dev/null &&
        nice -n 10 "$probe" influence "$run" --out "$out" --parts jacobian --examples 12 --threads 1 --quiet >/dev/null
}

if [ "${3:-}" = --cell ]; then shift 3; cell "$@"; exit; fi
cells | xargs -P "$jobs" -L 1 sh "$0" "$1" "$2" --cell || echo "some cells failed; the same command tries them again" >&2
"$report" tables --table truth "$out"
