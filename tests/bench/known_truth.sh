#!/bin/sh
# Known truth: tasks whose answer depends on tokens a set distance apart, trained and asked by every probe: does it find the
# distance?   tests/bench/known_truth.sh BUILD OUT [JOBS]
# Everything goes to OUT, the table to OUT/truth.txt; the same command goes on where it stopped.
# About 70 minutes of one core; models are the smallest that learn, one seed.
set -u
[ $# -ge 2 ] || { echo "usage: $0 BUILD OUT [JOBS]" >&2; exit 2; }
probe=$1/lra-probe report=$1/lra-report out=$2 jobs=${3:-1}
mkdir -p "$out" || exit 1
# Paths of this machine stay out of the records: all is called from OUT.
if [ "${4:-}" != --cell ]; then
    build=$(realpath "$1") self=$(realpath "$0") probe=$build/lra-probe report=$build/lra-report
    cd "$out" && out=. || exit 1
fi

# Task, distance, model, epochs, from what is quick to what is slow.
cells() {
    for d in 8 16 32 64; do
        for t in "copy 4" "xor 2" "select-at 3" "recall 4"; do
            for m in resconv s4d transformer; do echo "${t% *} $d $m ${t#* }"; done
        done
    done
    # Several hops: stacks of layers that each look back 4 tokens.
    for d in 10 12; do
        echo "copy $d narrow 15"
        echo "copy $d windowed 24"
    done
    for d in 8 16; do echo "copy $d las 4"; done
    echo "xor 8 las 6"
    echo "select-at 8 las 4"
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
    name=$model
    case $model in
    resconv) sizes="$sizes --set kernel=$((2 * d + 9))" ;;
    narrow) name=resconv sizes="$sizes --set kernel=9 --set layers=3 --set width=16 --set hidden=32" ;;
    windowed) name=longformer sizes="$sizes --set window=10 --set layers=4" ;;
    esac
    # shellcheck disable=SC2086
    nice -n 10 "$probe" train --task "$task" --preset quick --precision f32 --threads 1 --quiet --out "$out" --set distance="$d" \
        --model "$name" --set epochs="$4" $sizes >"$out/$task-$d-$model.log" 2>&1 || { cat "$out/$task-$d-$model.log" >&2; return 1; }
    run=$(sed -n 's:^wrote \(.*\)/result.h5$:\1:p' "$out/$task-$d-$model.log")
    for kind in kernels attention; do # a model has the one or the other
        nice -n 10 "$probe" $kind "$run" --out "$out" --threads 1 --quiet >/dev/null 2>&1
    done
    pairs="interaction --examples 24"
    [ "$task" = copy ] && pairs= # it has many answers
    for part in "context --examples 64" "cut --examples 200" "jacobian,field --examples 12" "occlusion --examples 12" ${pairs:+"$pairs"}; do
        # shellcheck disable=SC2086
        nice -n 10 "$probe" influence "$run" --out "$out" --parts $part --threads 1 --quiet >/dev/null
    done
    find "$run" -type f ! -name result.h5 ! -name kernels.h5 ! -name attention.h5 ! -name influence.h5 -delete
    touch "$out/$task-$d-$model.done"
}

if [ "${4:-}" = --cell ]; then
    [ -e "$out/$5-$6-$7.done" ] || cell "$5" "$6" "$7" "$8"
    exit
fi
cells | xargs -P "$jobs" -L 1 sh "$self" "$build" "$out" "$jobs" --cell || echo "some cells failed; the same command tries them again" >&2

# What was read off, in tokens; hit: within a factor of sqrt 2 of the distance.
#   context       smallest context of each position that keeps 95 % of the gain: the limit of the whole model
#   cut, window   smallest limit per layer of all distances, of attention alone, that keeps 95 % of the gain; layers add up
#   jacobian, occlusion   distance whose intensity grew most in training
#   field         radius around the middle position with 99 % of the squared gradient of its features
#   pairs         distance at which pairs of blocks interact most against the same with the blocks moved; flat: no dependence
#   kernels, heads   of the layer, or head, whose weights training moved farthest, the distance whose share grew most
one() { # KIND: the numbers of a run, a line each
    "$report" tables --table "$1" "$out"/runs/*-"$hash" --format csv --quiet 2>/dev/null | sed "s/^/$1,/"
}
for log in "$out"/*-*-*.log; do
    name=$(basename "$log" .log)
    hash=$(sed -n 's:^wrote .*-\([0-9a-f]*\)/result.h5$:\1:p' "$log")
    [ "$hash" ] || continue
    score=$(sed -n 's/^test \([a-zA-Z0-9]* -\{0,1\}[0-9.]*\).*/\1/p' "$log")
    model=${name##*-} rest=${name%-*}
    { one influence && one kernels && one attention; } >"$out/numbers.csv"
    awk -F, -v task="${rest%-*}" -v d="${rest##*-}" -v model="$model" -v score="$score" '
        # a model that learned nothing has no distance to be found: no verdict
        BEGIN { split(score, s, " "); learned = s[1] == "R2" ? s[2] > 0.1 : s[2] > 60 }
        function verdict(x) { return x == "" ? "-" : !learned ? x : x + 0 == 0 ? x " miss" : x " " (x / d < 1.415 && d / x < 1.415 ? "hit" : "miss") }
        # columns: kind, then those of the table (12 part, 13 layer, 15 id, 16 x, 17 value)
        $16 != "" { next }
        $1 == "influence" && $15 == "context.r95" { context = $17 }
        $1 == "influence" && $15 == "cut.r95" { cut = $17 }
        $1 == "influence" && $15 == "window.w95" { window = $17 }
        $1 == "influence" && $12 == "jacobian" && $15 == "shift.peak" { jacobian = $17 }
        $1 == "influence" && $12 == "occlusion" && $15 == "shift.peak" { occlusion = $17 }
        $1 == "influence" && $15 == "erf.r99" { field = $17 }
        $1 == "influence" && $15 == "inter.peak" { pairs = $17 }
        $1 == "influence" && $15 == "inter.p" && $17 > 0.05 { flat = 1 }
        # kernels, heads: the part whose weights training moved farthest
        $1 != "influence" && $13 != "" && $15 == "shift.w1" { moved = $17 + 0 > most[$1] + 0; if (moved) { most[$1] = $17; from[$1] = $12 } }
        $1 != "influence" && $15 == "shift.peak" && $12 == from[$1] { peak[$1] = $17 }
        END { printf "%-10s %8d  %-12s %-16s %-9s %-9s %-9s %-9s %-9s %-9s %-9s %-9s %s\n", task, d, model, score, verdict(context), verdict(cut), verdict(window), \
            verdict(jacobian), verdict(occlusion), verdict(field), flat ? "flat" : verdict(pairs), verdict(peak["kernels"]), \
            verdict(peak["attention"]) }' "$out/numbers.csv"
done | sort -k1,1 -k2,2n -k3,3 >"$out/rows"
{
    printf '%-10s %8s  %-12s %-16s %-9s %-9s %-9s %-9s %-9s %-9s %-9s %-9s %s\n' task distance model learned context cut window jacobian occlusion field \
        pairs kernels heads
    cat "$out/rows"
    awk 'BEGIN { n = split("52 62 72 82 92 102 112 122 132", from, " ") }
        { for (i = 1; i <= n; i++) { text = substr($0, from[i], 9); all[i] += text ~ /hit|miss/; hits[i] += text ~ /hit/ } }
        END { printf "%-50s ", "hits"; for (i = 1; i <= n; i++) printf "%-9s ", hits[i] "/" all[i]; print "" }' "$out/rows"
} | tee "$out/truth.txt"
rm -f "$out/rows" "$out/numbers.csv"
