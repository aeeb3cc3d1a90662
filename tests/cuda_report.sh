#!/bin/sh
# Registers, shared memory and spills of every kernel, as the assembler reports them; fails when a file does not
# compile, or a kernel spills that is not named below with its reason.
#   tests/cuda_report.sh [FILE.cu...]      without files: all; LRA_CUDA_ARCH (sm_90a), LRA_PASSES ("16")
set -u
# At 8192 points a second buffer would not fit the shared memory of every GPU.
known='lf_sum_kernel<false>'
cd "$(dirname "$0")/.." || exit 1
arch=${LRA_CUDA_ARCH:-sm_90a}
passes=${LRA_PASSES:-16}
[ $# -gt 0 ] || set -- kernels/ops/*.cu
command -v nvcc >/dev/null 2>&1 || { echo "cuda_report: nvcc is not on the path" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
printf '%-34s%5s%10s%8s%8s\n' kernel pass registers stack spills
for file; do
    for pass in $passes; do
        nvcc -std=c++17 -O3 -DLRA_PASS="$pass" -I. -arch="$arch" -Xptxas -v -cubin -o /dev/null "$file" > "$log" 2>&1 || {
            cat "$log" >&2
            bad=1
            continue
        }
        { c++filt < "$log" 2>/dev/null || cat "$log"; } | awk -v pass="$pass" -v known="$known" '
            /Compiling entry function/ {split($0, part, "\047"); name = part[2]; sub(/^void /, "", name); sub(/\(.*/, "", name)}
            /bytes stack frame/ {stack = $1; spills = $5 + $9}
            /Used [0-9]+ registers/ {
                for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
                printf "%-34s%5s%10d%8d%8d\n", name, pass, registers, stack, spills
                if (spills) printf "spill: %s, pass %s: %d bytes%s\n", name, pass, spills, name == known ? ", known" : ""
                bad = bad || (spills && name != known)
            }
            END {exit bad}' || bad=1
    done
done
exit $bad
