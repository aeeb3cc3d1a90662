#!/bin/sh
# Everything that needs a GPU, in one call, from programs that are already built; needs no compiler:
#   tests/gpu.sh [--bin DIR] [--out DIR] [--peer FILE] [--quick] [--dry]
# --bin: the build (build/release; build/portable on a bare machine); --out: where gpu.json, gpu.txt and the logs go
# (build/gpu); --peer: a PyTorch program with the options of tests/bench/peer.py, or with those and the output of
# bench_step.py (--layout, --dim, step_ms); --quick leaves out the sanitizers and the peer; --dry takes the CPU
# in the GPU's place, with small sizes, to try this script itself.
# Parity of ops (every LRA_CUDA_LEVEL), models and training, determinism, checkpoints that go from the CPU to the GPU
# and back, memcheck, racecheck and initcheck, steps beside PyTorch.  Prints one table; exits 1 when a check
# failed.  What could not be tried is "skipped" with its reason.  LRA_PEER_PYTHON names a Python with torch.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
bin=$source/build/release
out=$source/build/gpu
peer=$source/tests/bench/peer.py
quick='' device=cuda
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=${2-}; shift 2 || exit 2 ;;
        --out) out=${2-}; shift 2 || exit 2 ;;
        --peer) peer=${2-}; shift 2 || exit 2 ;;
        --quick) quick=1; shift ;;
        --dry) device=cpu; shift ;;
        *) sed -n '2,12s/^# //p' "$0"; exit 2 ;;
    esac
done
probe=$bin/lra-probe
python=${LRA_PEER_PYTHON:-python3}
[ -x "$probe" ] || { echo "gpu.sh: '$probe' is missing; build first" >&2; exit 2; }
devices=$("$probe" list devices)
if [ $device = cuda ] && ! printf '%s\n' "$devices" | grep -q '^cuda:0'; then
    printf '%s\n' "$devices" | grep '^cuda' >&2
    echo "gpu.sh: no GPU to test" >&2
    exit 2
fi
rm -rf "$out"
mkdir -p "$out" || exit 2
: > "$out/gpu.txt"
: > "$out/rows"
bad=0

# row CHECK RESULT TEXT: a line of the table, an entry of the document.
row() {
    printf '%-38s%-9s%s\n' "$1" "$2" "$3" | tee -a "$out/gpu.txt"
    text=$(printf '%s' "$3" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')
    [ ! -s "$out/rows" ] || printf ',\n' >> "$out/rows"
    printf '  {"check": "%s", "result": "%s", "text": "%s"}' "$1" "$2" "$text" >> "$out/rows"
    [ "$2" != failed ] || bad=1
}
# check NAME LOG COMMAND...: passed or failed, with the line of the log that says why.
check() {
    name=$1 log=$out/$2
    shift 2
    if "$@" > "$log" 2>&1; then row "$name" passed ""; else
        why=$(grep -E 'ERROR|FAILED|bug at|========= [A-Z]|: ' "$log" | head -n 1 | cut -c 1-160)
        row "$name" failed "${why:-exit code or output wrong, see $log}"
    fi
}

# ---- parity -------------------------------------------------------------------------------------------------
need=1
[ $device = cuda ] || need=''
levels='plain mma wgmma'
printf '%s\n' "$devices" | grep -q '^cuda:0.*capability 9\.0' || levels='plain mma'
for level in $levels; do
    check "ops: CPU, twice, recorded: $level" "ops-$level.log" env LRA_NEED_GPU=$need LRA_CUDA_LEVEL=$level "$bin/tests/cuda_test"
done
[ "$levels" != 'plain mma' ] || row "ops: wgmma" skipped "compute capability is not 9.0"
check "models: CPU, twice" models.log env LRA_NEED_GPU=$need "$bin/tests/cuda_model_test"

# ---- training -----------------------------------------------------------------------------------------------
rows=6400 long=64000 epochs=4 small= any=
[ $device = cuda ] || { rows=640 long=3200 epochs=16 any='--threads 1 --set layers=1 --set width=32' small="$any --set hidden=32"; }
# train FOLDER ARGS...: a short run.
train() {
    folder=$1
    shift
    "$probe" train --out "$out/$folder" --seed 1 --set train=$rows --set val=640 --set test=640 --set epochs=2 \
        --set dropout=0.1 $small "$@" > "$out/$folder.log" 2>&1 || row "training: $folder" failed "$(tail -n 1 "$out/$folder.log")"
}
log_of() { cat "$out/$1"/runs/*/log.jsonl; }
losses_of() { log_of "$1" | sed 's/.*"train_loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1 \2/'; }
# close A B: the losses of two logs agree to 1 %.
close() {
    losses_of "$1" > "$out/a"
    losses_of "$2" > "$out/b"
    [ -s "$out/a" ] && [ "$(wc -l < "$out/a")" = "$(wc -l < "$out/b")" ] && paste "$out/a" "$out/b" | awk '
        {for (i = 1; i <= 2; i++) {d = $i - $(i + 2); if (d < 0) d = -d; if (!(d <= 0.01 * $i)) wrong = 1}}
        END {exit wrong}'
}
untimed() { log_of "$1" | sed 's/,"seconds":.*//'; } # the rest is the same for the same bits
same() { untimed "$1" > "$out/a" && untimed "$2" > "$out/b" && [ -s "$out/a" ] && cmp "$out/a" "$out/b"; }
train on-cpu --device cpu --precision f32
for precision in f32 bf16; do
    train "$precision" --device $device --precision $precision
    train "$precision-again" --device $device --precision $precision
done
check "training: losses of both devices" losses.log close on-cpu f32
check "training: bf16 near float32" bf16.log close f32 bf16
check "training: same bits twice, f32" bits-f32.log same f32 f32-again
check "training: same bits twice, bf16" bits-bf16.log same bf16 bf16-again

# resumed FOLDER FIRST SECOND: begins on one device, is stopped behind an epoch, ends on the other.
long_run() { # FOLDER DEVICE, in a process of its own
    exec "$probe" train --out "$out/$1" --precision f32 --seed 1 --set train=$long --set val=640 --set test=640 --set epochs=$epochs $small \
        --device "$2" >> "$out/$1.log" 2>&1
}
resumed() {
    long_run "$1" "$2" &
    id=$! n=0 code=0
    until grep -q epoch "$out/$1"/runs/*/log.jsonl 2>/dev/null || [ $n -ge 2400 ] || ! kill -0 $id; do
        sleep 0.05
        n=$((n + 1))
    done
    kill -TERM $id
    wait $id || code=$?
    [ $code = 130 ] || { echo "exit: code $code, expected 130"; return 1; }
    (long_run "$1" "$3") || { tail -n 1 "$out/$1.log"; return 1; }
    [ "$(log_of "$1" | wc -l)" = $epochs ] || { echo "log: not $epochs epochs"; return 1; }
}
check "resume: CPU, then GPU" to-gpu.check resumed to-gpu cpu $device
check "resume: GPU, then CPU" to-cpu.check resumed to-cpu $device cpu
check "resume: losses of both ways" both-ways.log close to-gpu to-cpu

# ---- sanitizers ----------------------------------------------------------------------------------------------
for tool in memcheck racecheck initcheck; do
    if [ -n "$quick" ]; then row "compute-sanitizer $tool" skipped "--quick"
    elif [ $device = cpu ]; then row "compute-sanitizer $tool" skipped "--dry"
    elif ! command -v compute-sanitizer >/dev/null 2>&1; then row "compute-sanitizer $tool" skipped "not installed"
    else check "compute-sanitizer $tool" "$tool.log" compute-sanitizer --tool $tool --error-exitcode 1 "$bin/tests/cuda_test"; fi
done

# ---- speed ---------------------------------------------------------------------------------------------------
number() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; }
torch=
[ -n "$quick" ] || torch=$("$python" -c "import torch
assert '$device' == 'cpu' or torch.cuda.is_available()
print(torch.__version__)" 2>/dev/null) || torch=
[ -n "$torch" ] || row "PyTorch" skipped "${quick:+--quick, or }no torch that sees the device"

# peer_run BATCH KERNEL GROUPS COMPILE LAYOUT: seconds of a step.
peer_run() {
    if grep -q 'step_ms' "$peer"; then
        "$python" "$peer" --device $device --precision bf16 --batch "$1" --length $length --kernel "$2" --groups "$3" \
            --layout "$5" ${4:+--compile "$4"} --max-seconds 5 --json > "$out/peer.json" 2>> "$out/peer.log" || return
        number step_ms "$out/peer.json" | awk '{print $1 / 1e3}'
    elif [ "$5" = ncl ]; then
        "$python" "$peer" --device $device --precision bf16 --batch "$1" --length $length --kernel "$2" --groups "$3" \
            --seconds 2 --warm 5 ${4:+--compile "$4"} > "$out/peer.json" 2>> "$out/peer.log" || return
        number median_s "$out/peer.json"
    fi
}
# step BATCH KERNEL GROUPS LEVEL
step() {
    name="step K $2, $3 groups, batch $1, $4" json=$out/step-$2-$3-$4.json
    [ -n "$torch" ] && [ ! -s "$out/best-$2-$3" ] && for layout in ncl nhwc; do
        for mode in '' default max-autotune; do peer_run "$1" "$2" "$3" "$mode" $layout; done
    done | sort -g | head -n 1 > "$out/best-$2-$3"
    LRA_CUDA_LEVEL=$4 "$probe" bench step --device $device --precision bf16 --batch "$1" --length $length $small --set "kernel=$2" \
        --set "groups=$3" --seconds $seconds --json > "$json" 2> "$out/bench.log" || { row "$name" failed "$(tail -n 1 "$out/bench.log")"; return; }
    row "$name" measured "$(awk -v s="$(number median_s "$json")" -v f="$(number flops "$json")" -v c="$(number bf16_flops "$json")" \
        -v l="$(number floor_s "$json")" -v p="$(cat "$out/best-$2-$3" 2>/dev/null)" 'BEGIN {
            printf "%.3f ms, %.1f TFLOP/s, %.0f %% of the ceiling, floor %.0f %%", 1e3 * s, f / s / 1e12, 100 * f / s / c, 100 * l / s
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
length=1024 seconds=2 kernels='5 11 31 61' grouped='5 31 61' batch=64 grouped_batch=128
[ $device = cuda ] || { length=64 seconds=0.01 kernels=5 grouped=5 batch=2 grouped_batch=2 levels=mma; }
for level in $levels; do
    [ "$level" = plain ] || for kernel in $kernels; do step $batch "$kernel" 1 "$level"; done
done
for kernel in $grouped; do step $grouped_batch "$kernel" 32 mma; done
for model in $("$probe" list models | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p'); do
    "$probe" bench ops --model "$model" --device $device --precision bf16 --length $length --seconds $seconds --batch $batch $any --json > "$out/ops-$model.json" \
        2> "$out/bench.log" || row "bench ops: $model" failed "$(tail -n 1 "$out/bench.log")"
done

# op CASE BATCH LENGTH NAME PEER...: forward and backward of one operation, the nodes whose names begin with NAME.
op() {
    name="$1, T $3" case=$1 batch=$2 length=$3 node=$4 json=$out/op.json
    shift 4
    "$probe" bench ops --op "$case" --device $device --precision bf16 --batch "$batch" --length "$length" --seconds $op_seconds --json \
        > "$json" 2> "$out/bench.log" || { row "$name" failed "$(tail -n 1 "$out/bench.log")"; return; }
    best=
    for mode in '' --flash; do
        [ -n "$torch" ] || break
        "$python" "$source/tests/bench/peer.py" --device $device --precision bf16 --batch "$batch" --length "$length" --seconds 2 \
            --warm 5 "$@" $mode > "$out/peer.json" 2>> "$out/peer.log" || continue
        best=$(printf '%s\n' $best "$(number median_s "$out/peer.json")" | sort -g | head -n 1)
    done
    row "$name" measured "$(sed 's/,$//' "$json" | awk -v name="$node" -v p="$best" '
        $1 == "\"name\":" {mine = index($2, "\"" name) == 1}
        $1 == "\"median_s\":" && mine {s += $2}
        $1 == "\"flops\":" && mine {f += $2}
        END {
            printf "%.3f ms, %.0f TFLOP/s", 1e3 * s, f / s / 1e12
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
op_seconds=10 op_batch=64 far_batch=16 attended='1024 4096' near='1024 2048 4096' far='8192 16384'
[ $device = cuda ] || { op_seconds=0.01 op_batch=1 attended=32 near=32 far=''; }
for T in $attended; do
    op "attention, 4 heads of 32" $op_batch "$T" attention --op attention --heads 4 --width 128
    op "attention, 4 heads of 64" $op_batch "$T" attention --op attention --heads 4 --width 256
done
for T in $near; do op "long convolution, 256 channels" $op_batch "$T" long_conv --op long_conv --width 256; done
for T in $far; do op "long convolution, 256 channels" $far_batch "$T" long_conv --op long_conv --width 256; done

{
    printf '{"revision": "%s", "device": "%s", "torch": "%s", "rows": [\n' \
        "$(sed -n 's/.*"revision": "\([^"]*\)".*/\1/p' "$out"/ops-*.json | head -n 1)" \
        "$(printf '%s\n' "$devices" | sed -n "s/^$device:*0* *//p" | head -n 1 | sed 's/[\\"]/\\&/g')" "$torch"
    cat "$out/rows"
    printf '\n]}\n'
} > "$out/gpu.json"
rm -f "$out/rows" "$out/a" "$out/b" "$out/op.json" "$out/peer.json" "$out"/best-*
echo "written: $out/gpu.json, $out/gpu.txt; every operation: $out/ops-*.json"
exit $bad
