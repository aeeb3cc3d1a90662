#!/bin/sh
# Memory of one training step (forward, backward, AdamW; one example of width 128, float32) of every model at a length and
# at a quarter of it: what the plan says, and what the process grew by.  Linear in the length is a ratio of 4.
#   tests/bench/memory.sh [BUILD] [LENGTH] [MODEL...]
build=${1:-build/release} length=${2:-16384}
shift $(($# < 2 ? $# : 2))
[ $# -gt 0 ] || set -- $("$build/lra-probe" list models | awk '/^[a-z]/ { print $1 }')

# planned and taken, in MiB
measure() {
    "$build/lra-probe" bench memory --model "$1" --set width=128 --batch 1 --length "$2" | awk '
        function mib(n, unit) { return n * (unit ~ /^KiB/ ? 1 / 1024 : unit ~ /^GiB/ ? 1024 : 1) }
        /workspace/ { line = $0; sub(/.*workspace /, "", line); split(line, w, " ")
            sub(/.*moments /, "", line); split(line, p, " "); planned = mib(w[1], w[2]) + mib(p[1], p[2]) }
        /^one step took/ { printf "%.0f %.0f", planned, mib($4, $5); done = 1 }
        END { if (!done) printf "- -" }'
}

"$build/lra-probe" --version | sed -n 1p
grep -m 1 'model name' /proc/cpuinfo | sed 's/.*: //'
printf '%-20s%18s%18s%8s%18s\n' MiB "planned, T $((length / 4))" "planned, T $length" ratio 'taken by process'
for model; do
    # shellcheck disable=SC2046
    set -- $(measure "$model" $((length / 4))) $(measure "$model" "$length")
    printf '%-20s%18s%18s%8s%18s\n' "$model" "$1" "$3" "$(awk "BEGIN { if (\"$1\" > 0) printf \"%.2f\", \"$3\" / \"$1\" }")" "$4"
done
