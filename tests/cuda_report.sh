#!/bin/sh
# Registers, local memory (stack) and spills of every kernel, as the assembler reports them; fails when a file does not
# compile, a kernel spills that is not named below with its reason, or a thread has more than LRA_MAX_STACK (1024) bytes of stack.
# regs x threads: registers of a block; a multiprocessor has 65536.
#   tests/cuda_report.sh [FILE.cu...]      without files: all; LRA_CUDA_ARCH ("sm_80 sm_90a"), LRA_TYPES ("f32 bf16")
set -u
# At 8192 points a second buffer would not fit the shared memory of every GPU; on sm_80 the other form spills as well.
known='^lf_sum_kernel<'
cd "$(dirname "$0")/.." || exit 1
archs=${LRA_CUDA_ARCH:-sm_80 sm_90a}
types=${LRA_TYPES:-f32 bf16}
most=${LRA_MAX_STACK:-1024}
[ $# -gt 0 ] || set -- kernels/ops/*/*.cu
command -v nvcc >/dev/null 2>&1 || { echo "cuda_report: nvcc is not on the path" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
bad=0
printf '%-34s%8s%5s%10s%15s%8s%8s\n' kernel arch type registers 'regs x threads' stack spills
for file; do
    for arch in $archs; do for type in $types; do
        nvcc -std=c++17 -O3 -DLRA_TYPE="$type" -DLRA_TYPE_"$type"=1 -I. -arch="$arch" -Xptxas -v -cubin -o /dev/null "$file" > "$log" 2>&1 || {
            cat "$log" >&2
            bad=1
            continue
        }
        { c++filt < "$log" 2>/dev/null || cat "$log"; } | awk -v pass="$type" -v arch="$arch" -v most="$most" -v known="$known" '
            /Compiling entry function/ {split($0, part, "\047"); name = part[2]; sub(/^void /, "", name); sub(/\(.*/, "", name)}
            /bytes stack frame/ {stack = $1; spills = $5 + $9}
            /Used [0-9]+ registers/ {
                for (i = 1; i < NF; i++) if ($i == "Used") registers = $(i + 1)
                threads = name ~ /_wgmma_/ ? 288 : name ~ /^attention_.*mma_|^embedding_grad/ ? 128 : 256
                printf "%-34s%8s%5s%10d%15d%8d%8d\n", name, arch, pass, registers, registers * threads, stack, spills
                if (spills) printf "spill: %s, %s, type %s: %d bytes%s\n", name, arch, pass, spills, name ~ known ? ", known" : ""
                if (stack > most) printf "stack: %s, %s, type %s: %d bytes\n", name, arch, pass, stack
                bad = bad || (spills && name !~ known) || stack > most
            }
            END {exit bad}' || bad=1
    done; done
done
exit $bad
