#!/bin/sh
# Everything that needs a GPU, in one call, from a tree that is already built with CUDA:
#   tests/gpu.sh [--bin DIR] [--out DIR] [--quick]
# --bin: the build (build/release); --out: where gpu.json, gpu.txt and the logs go (build/gpu); --quick leaves
# out the sanitizers and the peer.  Parity of ops and of training, determinism, a checkpoint that goes from the
# CPU to the GPU and back, memcheck, racecheck and initcheck, steps beside PyTorch.
# Prints one table; exits 1 when a check failed.  What could not be tried is "skipped" with its reason.
# LRA_PEER_PYTHON names a Python with torch.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
bin=$source/build/release
out=$source/build/gpu
quick=
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=$2; shift 2 ;;
        --out) out=$2; shift 2 ;;
        --quick) quick=1; shift ;;
        *) sed -n '2,9s/^# //p' "$0"; exit 2 ;;
    esac
done
probe=$bin/lra-probe
python=${LRA_PEER_PYTHON:-python3}
[ -x "$probe" ] || { echo "gpu.sh: '$probe' is missing; build first" >&2; exit 2; }
"$probe" list devices | grep -q '^cuda:0' || { "$probe" list devices | grep '^cuda' >&2; echo "gpu.sh: no GPU to test" >&2; exit 2; }
rm -rf "$out"
mkdir -p "$out"
bad=0
first=1

# row CHECK RESULT TEXT: a line of the table, an entry of the document.
row() {
    printf '%-34s%-9s%s\n' "$1" "$2" "$3" | tee -a "$out/gpu.txt"
    text=$(printf '%s' "$3" | sed 's/[\\"]/\\&/g')
    [ -n "$first" ] || printf ',\n' >> "$out/rows"
    first=
    printf '  {"check": "%s", "result": "%s", "text": "%s"}' "$1" "$2" "$text" >> "$out/rows"
    [ "$2" != failed ] || bad=1
}
# check NAME LOG COMMAND...: passed or failed, with the last line of the log that says why.
check() {
    name=$1 log=$out/$2
    shift 2
    if "$@" > "$log" 2>&1; then row "$name" passed ""; else
        row "$name" failed "$(grep -E 'ERROR|FAILED|=====|:' "$log" | head -n 1 | cut -c 1-160)"
    fi
}

# ---- parity and determinism --------------------------------------------------------------------------------
check "ops: CPU, twice, recorded" ops.log env LRA_NEED_GPU=1 "$bin/tests/cuda_test"

# train FOLDER ARGS...: a short float32 run.
train() {
    folder=$1
    shift
    "$probe" train --out "$out/$folder" --precision f32 --seed 1 --set train=6400 --set val=640 --set test=640 \
        --set epochs=2 --set dropout=0.1 "$@" > "$out/$folder.log" 2>&1
}
log_of() { cat "$out/$1"/runs/*/log.jsonl; }
# close A B: the losses of two logs agree to 1 %.
close() {
    log_of "$1" | sed 's/.*"train_loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1 \2/' > "$out/a"
    log_of "$2" | sed 's/.*"train_loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1 \2/' > "$out/b"
    [ -s "$out/a" ] && paste "$out/a" "$out/b" | awk '
        {for (i = 1; i <= 2; i++) {d = $i - $(i + 2); if (d < 0) d = -d; if (!(d <= 0.01 * $i)) wrong = 1}}
        END {exit wrong}'
}
for device in cpu cuda; do
    train "train-$device" --device $device || row "training on $device" failed "$(tail -n 1 "$out/train-$device.log")"
done
check "training: losses of both devices" losses.log close train-cpu train-cuda
train again --device cuda
check "training: same bits twice" bits.log sh -c "cat '$out'/train-cuda/runs/*/log.jsonl | cmp - '$out'/again/runs/*/log.jsonl"
train bf16 --device cuda --precision bf16
check "training: bf16 near float32" bf16.log close train-cuda bf16

# stopped FOLDER FIRST SECOND: begins on one device, is stopped behind an epoch, ends on the other.
stopped() {
    "$probe" train --out "$out/$1" --precision f32 --seed 1 --set train=64000 --set val=640 --set test=640 --set epochs=2 \
        --device "$2" > "$out/$1.log" 2>&1 &
    id=$!
    n=0
    until grep -q epoch "$out/$1"/runs/*/log.jsonl 2>/dev/null || [ $n -ge 600 ]; do sleep 0.2; n=$((n + 1)); done
    kill -INT $id
    wait $id
    code=$?
    [ $code = 130 ] || { echo "exit $code, expected 130"; return 1; }
    "$probe" train --out "$out/$1" --precision f32 --seed 1 --set train=64000 --set val=640 --set test=640 --set epochs=2 \
        --device "$3" >> "$out/$1.log" 2>&1 || { tail -n 1 "$out/$1.log"; return 1; }
}
check "resume: CPU, then GPU" to-gpu.check stopped to-gpu cpu cuda
check "resume: GPU, then CPU" to-cpu.check stopped to-cpu cuda cpu

# ---- sanitizers ----------------------------------------------------------------------------------------------
for tool in memcheck racecheck initcheck; do
    if [ -n "$quick" ]; then row "compute-sanitizer $tool" skipped "--quick"
    elif ! command -v compute-sanitizer >/dev/null 2>&1; then row "compute-sanitizer $tool" skipped "not installed"
    else check "compute-sanitizer $tool" "$tool.log" compute-sanitizer --tool $tool --error-exitcode 1 "$bin/tests/cuda_test"; fi
done

# ---- speed ---------------------------------------------------------------------------------------------------
number() { sed -n "s/.*\"$1\": \([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; }
torch=
[ -n "$quick" ] || torch=$("$python" -c 'import torch; assert torch.cuda.is_available(); print(torch.__version__)' 2>/dev/null) || torch=
# step NAME BATCH KERNEL GROUPS
step() {
    json=$out/step-$3-$4.json
    "$probe" bench step --device cuda --precision bf16 --batch "$2" --set "kernel=$3" --set "groups=$4" --seconds 2 --json \
        > "$json" 2> "$out/bench.log" || { row "$1" failed "$(tail -n 1 "$out/bench.log")"; return; }
    best=
    for mode in '' default max-autotune; do
        [ -n "$torch" ] || break
        "$python" "$source/tests/bench/peer.py" --device cuda --precision bf16 --batch "$2" --kernel "$3" --groups "$4" \
            --seconds 2 --warm 5 ${mode:+--compile $mode} > "$out/peer.json" 2> "$out/peer.log" || continue
        best=$(printf '%s\n' $best "$(number median_s "$out/peer.json")" | sort -g | head -n 1)
    done
    row "$1" measured "$(awk -v s="$(number median_s "$json")" -v f="$(number flops "$json")" -v c="$(number bf16_flops "$json")" \
        -v l="$(number floor_s "$json")" -v p="$best" 'BEGIN {
            printf "%.3f ms, %.0f TFLOP/s, %.0f %% of the ceiling, floor %.0f %%", 1e3 * s, f / s / 1e12, 100 * f / s / c, 100 * l / s
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
for kernel in 5 11 31 61; do step "step K $kernel, bf16, batch 64" 64 $kernel 1; done
for kernel in 5 31 61; do step "step K $kernel, 32 groups, batch 128" 128 $kernel 32; done

# op CASE BATCH LENGTH NAME PEER...: forward and backward of one operation, the nodes whose names begin with NAME.
op() {
    case=$1 batch=$2 length=$3 name=$4
    shift 4
    json=$out/op.json
    "$probe" bench ops --op "$case" --device cuda --precision bf16 --batch "$batch" --length "$length" --seconds 10 --json \
        > "$json" 2> "$out/bench.log" || { row "$case, T $length" failed "$(tail -n 1 "$out/bench.log")"; return; }
    best=
    for mode in '' --flash; do
        [ -n "$torch" ] || break
        "$python" "$source/tests/bench/peer.py" --device cuda --precision bf16 --batch "$batch" --length "$length" --seconds 2 \
            --warm 5 "$@" $mode > "$out/peer.json" 2> "$out/peer.log" || continue
        best=$(printf '%s\n' $best "$(number median_s "$out/peer.json")" | sort -g | head -n 1)
    done
    row "$case, T $length" measured "$(sed 's/,$//' "$json" | awk -v name="$name" -v p="$best" '
        $1 == "\"name\":" {mine = index($2, "\"" name) == 1}
        $1 == "\"median_s\":" && mine {s += $2}
        $1 == "\"flops\":" && mine {f += $2}
        END {
            printf "%.3f ms, %.0f TFLOP/s", 1e3 * s, f / s / 1e12
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
for length in 1024 4096; do
    op "attention, 4 heads of 32" 64 $length attention --op attention --heads 4 --width 128
    op "attention, 4 heads of 64" 64 $length attention --op attention --heads 4 --width 256
done
for length in 1024 2048 4096; do op "long convolution, 256 channels" 64 $length long_conv --op long_conv --width 256; done
for length in 8192 16384; do op "long convolution, 256 channels" 16 $length long_conv --op long_conv --width 256; done
"$probe" bench ops --device cuda --precision bf16 --json > "$out/ops.json" 2> "$out/bench.log" ||
    row "bench ops" failed "$(tail -n 1 "$out/bench.log")"

{
    printf '{"revision": "%s", "device": "%s", "torch": "%s", "rows": [\n' "$(sed -n 's/.*"revision": "\([^"]*\)".*/\1/p' "$out/ops.json" | head -n 1)" \
        "$("$probe" list devices | sed -n 's/^cuda:0 *//p' | sed 's/[\\"]/\\&/g')" "$torch"
    cat "$out/rows"
    printf '\n]}\n'
} > "$out/gpu.json"
rm -f "$out/rows" "$out/a" "$out/b" "$out/op.json" "$out/peer.json"
echo "written: $out/gpu.json, $out/gpu.txt; every operation: $out/ops.json"
exit $bad
