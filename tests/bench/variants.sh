#!/bin/sh
# Gain of each CPU variant of attention and convolution: the time of single ops in a program without it over the time in one
# with it.  Builds a program for each variant into build/without-NAME, runs all alternately, and prints ratios of medians of
# the 10 % quantiles, which other processes disturb least.  The bf16 units are switched off by LRA_CPU.
#   tests/bench/variants.sh [ROUNDS]      7 rounds take about ten minutes
set -eu
cd "$(dirname "$0")/../.."
rounds=${1:-7}
variants="none full_tiles strips narrow"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for v in $variants; do
    cmake -S . -B "build/without-$v" -DCMAKE_BUILD_TYPE=Release -DLRA_CUDA=OFF -DLRA_WITHOUT="${v#none}" >"$work/log" 2>&1 &&
        cmake --build "build/without-$v" --parallel --target lra-probe >"$work/log" 2>&1 || { tail -n 20 "$work/log" >&2; exit 1; }
done
best=$(build/without-none/lra-probe --version | sed -n 's/.*\(amx\|avx512bf16\|avx512\|avx2\).*/\1/p' | head -n 1)
units=$(echo "${best:-portable}" | sed 's/amx/avx512/; s/avx512bf16/avx512/') # the same level without bf16 units

# time_of VARIANT PRECISION LEVEL OP NAME: appends lines NAME;case;op;milliseconds
time_of() {
    LRA_CPU=$3 "build/without-$1/lra-probe" bench ops --op "$4" --precision "$2" --length 512 --batch 1 --threads 1 --seconds 0.1 |
        awk -v name="$5" '
            /^[a-z_]+ +[0-9]+ +[0-9.]+ +[0-9.]+ to / { if (place != "" && $1 ~ /^(attention|conv)/) print name ";" place ";" $1 ";" $4; next }
            /^[a-z]/ && !/^(machine|ceilings|floor)/ { place = $0 }' >>"$work/times"
}
for round in $(seq "$rounds"); do
    for v in none full_tiles strips; do time_of $v f32 "$units" attention "f32 $v"; done
    for v in none narrow; do time_of $v f32 "$units" conv "f32 $v"; done
    for op in attention conv; do
        time_of none bf16 "$best" $op "bf16 none"
        [ "$best" = "$units" ] || time_of none bf16 "$units" $op "bf16 units"
    done
    time_of narrow bf16 "$best" conv "bf16 narrow"
done
sort -t ';' -k 1,3 -k 4,4g "$work/times" | awk -F ';' '
    function close_group() { if (n) median[key] = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2; n = 0 }
    { k = $1 ";" $2 ";" $3; if (k != key) close_group(); key = k; v[++n] = $4 }
    END {
        close_group()
        printf "%-22s%-42s%-18s%10s%10s%8s\n", "without", "case", "op", "ms with", "without", "gain"
        fflush()
        for (k in median) {
            split(k, part, ";"); split(part[1], name, " ")
            with = name[1] " none;" part[2] ";" part[3]
            if (name[2] != "none" && with in median)
                printf "%-22s%-42s%-18s%10.3f%10.3f%8.2f\n", part[1], part[2], part[3], median[with], median[k], median[k] / median[with] | "sort"
        }
    }'
