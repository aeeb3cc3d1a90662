#!/bin/sh
# Known truth: tasks whose answer depends on tokens a set distance apart, trained and asked by every probe: does it find the
# distance?   tests/bench/known_truth.sh BUILD OUT [JOBS]
# Everything goes to OUT, the table to OUT/truth.txt; the same command goes on where it stopped.
# About 25 minutes of one core; models are the smallest that learn, one seed.
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
    pairs="interaction --examples 12"
    [ "$task" = copy ] && pairs= # it has many answers
    for part in "cut --examples 200" "jacobian --examples 12" ${pairs:+"$pairs"}; do
        # shellcheck disable=SC2086
        nice -n 10 "$probe" influence "$run" --out "$out" --parts $part --threads 1 --quiet >/dev/null
    done
}

if [ "${3:-}" = --cell ]; then shift 3; cell "$@"; exit; fi
cells | xargs -P "$jobs" -L 1 sh "$0" "$1" "$2" --cell || echo "some cells failed; the same command tries them again" >&2

# What was read off: the smallest limit that keeps 95 % of the gain, the distance whose Jacobians grew most in training, and
# that at which pairs of blocks work together most; hit: within a factor of sqrt 2 of the
# distance; flat: pairs depend on no distance.  Names hold two commas each.
for log in "$out"/*-*-*.log; do
    name=$(basename "$log" .log)
    hash=$(sed -n 's:^wrote .*-\([0-9a-f]*\)/result.h5$:\1:p' "$log")
    [ "$hash" ] || continue
    "$report" tables --table influence "$out"/runs/*-"$hash" --format csv --quiet >"$out/influence.csv" 2>/dev/null
    score=$(sed -n 's/^test \([a-zA-Z0-9]* [0-9.]*\).*/\1/p' "$log")
    model=${name##*-} rest=${name%-*}
    awk -F, -v task="${rest%-*}" -v d="${rest##*-}" -v model="$model" -v score="$score" -v hash="$hash" '
        # who learned nothing has nothing to be found: no verdict
        BEGIN { split(score, s, " "); learned = s[1] == "R2" ? s[2] > 0.1 : s[2] > 60 }
        function verdict(x) { return x == "" ? "-" : !learned ? x : x + 0 == 0 ? x " miss" : x " " (x / d < 1.415 && d / x < 1.415 ? "hit" : "miss") }
        $4 == hash && $6 == "cut.r95" { cut = $7 }
        $4 == hash && $5 == "jacobian" && $6 == "shift.peak" { peak = $7 }
        $4 == hash && $6 == "inter.peak" { pair = $7 }
        $4 == hash && $6 == "inter.p" && $7 > 0.05 { flat = 1 }
        END { printf "%-10s %8d  %-12s %-18s %-12s %-12s %s\n", task, d, model, score, verdict(cut), verdict(peak), flat ? "flat" : verdict(pair) }' "$out/influence.csv"
done | sort -k1,1 -k2,2n -k3,3 >"$out/rows"
{
    printf '%-10s %8s  %-12s %-18s %-12s %-12s %s\n' task distance model learned cut.r95 jacobian interaction
    cat "$out/rows"
    awk 'function count(c, text) { all[c] += text ~ /hit|miss/; hits[c] += text ~ /hit/ }
        { count(1, substr($0, 54, 12)); count(2, substr($0, 67, 12)); count(3, substr($0, 80)) }
        END { printf "%-52s %-12s %-12s %s\n", "hits", hits[1] " of " all[1], hits[2] " of " all[2], hits[3] " of " all[3] }' "$out/rows"
} | tee "$out/truth.txt"
rm -f "$out/rows" "$out/influence.csv"
