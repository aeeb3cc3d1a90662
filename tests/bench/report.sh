#!/bin/sh
# All benchmark figures in one text: steps beside PyTorch, ops, data, tests, lines.
#   tests/bench/report.sh [BUILD]          BUILD: a release build, default build/release
# LRA_PEER_PYTHON names a Python with torch ("python3" if unset); without torch its columns stay empty.
# LRA_PEER_MODES ("eager compile") are how torch runs its model.  LRA_BENCH_ROUNDS (3) rounds are run, ours and the peer's in turn; medians of the rounds' medians.
# Quiet machines give better figures: nothing else should run.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$source/build/release}
probe=$build/lra-probe
python=${LRA_PEER_PYTHON:-python3}
rounds=${LRA_BENCH_ROUNDS:-3}
seconds=${LRA_BENCH_SECONDS:-3}
modes=${LRA_PEER_MODES:-eager compile}
[ -x "$probe" ] || { echo "report.sh: '$probe' is missing; run ./bootstrap build first" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
torch=$("$python" -c 'import torch; print(torch.__version__)' 2>/dev/null) || torch=

# The first number of a key of the JSON in $2.
number() { sed -n "s/.*\"$1\": \([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; }
median() { sort -n "$1" | awk '{v[NR] = $1} END {print NR ? (NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2) : ""}'; }

# step PRECISION KERNEL GROUPS: one line of the table.
step() {
    rm -f "$work"/our.* "$work"/peer.*
    peer_peak=
    for round in $(seq "$rounds"); do
        "$probe" bench step --precision "$1" --set "kernel=$2" --set "groups=$3" --seconds "$seconds" --json \
            > "$work/out.json"
        number median_s "$work/out.json" >> "$work/our.s"
        if [ -n "$torch" ]; then
            for mode in $modes; do
                flag=
                [ "$mode" = eager ] || flag=--compile
                "$python" "$source/tests/bench/peer.py" --precision "$1" --kernel "$2" --groups "$3" \
                    --seconds "$seconds" $flag > "$work/peer.json" 2> "$work/peer.log" || continue
                number median_s "$work/peer.json" >> "$work/peer.s$mode"
                peer_peak=$(number peak_bytes "$work/peer.json")
            done
        fi
    done
    peer=
    for file in "$work"/peer.s*; do
        [ -f "$file" ] && peer="$peer $(median "$file")"
    done
    awk -v precision="$1" -v kernel="$2" -v groups="$3" -v our="$(median "$work/our.s")" -v peer="$peer" \
        -v flops="$(number flops "$work/out.json")" -v f32="$(number f32_flops "$work/out.json")" \
        -v bf16="$(number bf16_flops "$work/out.json")" -v floor="$(number floor_s "$work/out.json")" \
        -v peak="$(number peak_bytes "$work/out.json")" -v peer_peak="$peer_peak" 'BEGIN {
            n = split(peer, p, " "); best = ""
            for (i = 1; i <= n; i++) if (best == "" || p[i] + 0 < best) best = p[i] + 0
            limit = precision == "bf16" && bf16 + 0 > 0 ? bf16 : f32
            printf "%-5s%6d%8d%10.1f%10.1f%9.0f%11.0f %%%8.0f %%%9.0f", precision, kernel, groups, 1e3 * our, flops / 1e9,
                flops / our / 1e9, 100 * flops / our / limit, 100 * floor / our, peak / 1048576
            if (best != "") printf "%12.1f%8.2f%9.0f", 1e3 * best, best / our, peer_peak / 1048576
            print "" }'
}

"$probe" bench ceilings
echo
echo "training step of resconv, batch 16, length 1024, 6 layers, D 128, H 256: forward, backward, AdamW"
echo "PyTorch: ${torch:-not found}, the fastest of: $modes; $rounds rounds in turn"
echo "prec  kernel  groups        ms    GFLOP  GFLOP/s  % ceiling   floor      MiB   PyTorch ms   ratio      MiB"
for precision in f32 bf16; do
    for cell in "5 1" "31 1" "61 1" "61 32"; do
        # shellcheck disable=SC2086
        step "$precision" $cell
    done
done
echo
echo "ops, float32"
"$probe" bench ops --seconds "$seconds" | sed 1,3d
"$probe" bench data | sed 1,3d
echo
echo "one thread: listops paper"
"$probe" bench data --threads 1 | awk '/listops paper/,0'
echo
"$probe" bench data --all --preset quick --threads 1 2>/dev/null
echo
echo "tests"
(cd "$build" && ctest 2>/dev/null | tail -n 5) || true
echo
echo "lines"
for folder in kernels/base kernels/graph kernels/ops kernels/cpu kernels/cuda models models/training datasets analysis \
    probes reports tests; do
    files=$(find "$source/$folder" -maxdepth 1 \( -name '*.[ch]' -o -name '*.cu' -o -name '*.def' -o -name '*.sh' \) 2>/dev/null)
    [ -n "$files" ] || continue
    # shellcheck disable=SC2086
    printf '%-20s%7d\n' "$folder" "$(cat $files | wc -l)"
done
