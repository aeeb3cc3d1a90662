#!/bin/sh
# Everything that needs a GPU, in one call, from programs that are already built; needs no compiler:
#   tests/gpu.sh [--bin DIR | --pack FILE] [--out DIR] [--peer FILE] [--minutes N] [--quick] [--dry]
# --bin: the build (build/release); --pack: the archive that './bootstrap build --portable' makes, on a bare machine;
# --out: where gpu.txt, gpu.json and logs.tar.gz go (build/gpu); --peer: a PyTorch program with the options of
# tests/bench/peer.py; --minutes: the time for all (9.5); --quick leaves out the sanitizers and the peer; --dry takes the
# CPU in the GPU's place, with small sizes, to try this script itself.
#
# The order is that of worth, since a call may be cut off: libraries and ceilings, parity of large convolutions and
# attention at every LRA_CUDA_LEVEL, every op (a process each, several at a time), models at every level, steps and ops
# beside PyTorch, 20 steps of training beside the CPU's, the same bits twice, checkpoints from one device to the other,
# sanitizers.  Every step has a limit of its own, and what is left of the time; a result is written when it is there; a
# failure stops nothing.  Exits 1 when a check failed.  What could not be tried is "skipped" with its reason.
# LRA_PEER_PYTHON names a Python with torch.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
bin=$source/build/release
out=$source/build/gpu
peer=$source/tests/bench/peer.py
quick='' device=cuda pack='' minutes=9.5
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=${2-}; shift 2 || exit 2 ;;
        --pack) pack=${2-}; shift 2 || exit 2 ;;
        --out) out=${2-}; shift 2 || exit 2 ;;
        --peer) peer=${2-}; shift 2 || exit 2 ;;
        --minutes) minutes=${2-}; shift 2 || exit 2 ;;
        --quick) quick=1; shift ;;
        --dry) device=cpu; shift ;;
        *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
done
python=${LRA_PEER_PYTHON:-python3}
begin=$(date +%s)
end=$(awk -v b="$begin" -v m="$minutes" 'BEGIN {printf "%d", b + 60 * m}')
rm -rf "$out"
mkdir -p "$out/logs" || exit 2
out=$(cd "$out" && pwd)
if [ -n "$pack" ]; then # xz is not everywhere, Python is
    mkdir -p "$out/bin" && "$python" -c 'import lzma, sys, tarfile
tarfile.open(fileobj=lzma.open(sys.argv[1])).extractall(sys.argv[2])' "$pack" "$out/bin" ||
        { echo "gpu.sh: '$pack' cannot be unpacked" >&2; exit 2; }
    bin=$out/bin
fi
probe=$bin/lra-probe
[ -x "$probe" ] || { echo "gpu.sh: '$probe' is missing; build first" >&2; exit 2; }
devices=$("$probe" list devices)
if [ $device = cuda ] && ! printf '%s\n' "$devices" | grep -q '^cuda:0'; then
    printf '%s\n' "$devices" | grep '^cuda' >&2
    echo "gpu.sh: no GPU to test" >&2
    exit 2
fi
logs=$out/logs
: > "$out/gpu.txt"
: > "$out/rows"
bad=0 torch=

# ---- rows, steps ----------------------------------------------------------------------------------------------

# row CHECK RESULT TEXT: a line of the table, an entry of the document, which is whole after each.
row() {
    printf '%4d s  %-38s%-9s%s\n' $(($(date +%s) - begin)) "$1" "$2" "$3" | tee -a "$out/gpu.txt"
    text=$(printf '%s' "$3" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')
    [ ! -s "$out/rows" ] || printf ',\n' >> "$out/rows"
    printf '  {"check": "%s", "result": "%s", "text": "%s"}' "$1" "$2" "$text" >> "$out/rows"
    [ "$2" != failed ] || bad=1
    {
        printf '{"version": "%s", "device": "%s", "torch": "%s", "rows": [\n' "$("$probe" --version | head -n 1)" \
            "$(printf '%s\n' "$devices" | sed -n "s/^$device:*0* *//p" | head -n 1 | sed 's/[\\"]/\\&/g')" "$torch"
        cat "$out/rows"
        printf '\n]}\n'
    } > "$out/gpu.json.tmp" && mv "$out/gpu.json.tmp" "$out/gpu.json"
}
# limited LIMIT COMMAND...: ends it after LIMIT seconds, or when the time is up.
limited() {
    limit=$1 left=$((end - $(date +%s)))
    shift
    [ $left -ge 3 ] || { echo "ERROR: no time left"; return 99; }
    [ "$limit" -le $left ] || limit=$left
    timeout -k 5 "$limit" "$@"
}
# why LOG CODE: the line that says what was wrong.
why() {
    said=$({ grep -aE 'ERROR|FAILED|bug at|========= [A-Z]' "$1"; grep -a ': ' "$1" | tail -n 1; } | head -n 1 | cut -c 1-160)
    case $2 in
        124 | 137) echo "took longer than its limit${said:+; }$said" ;;
        *) echo "${said:-exit code $2, see $1}" ;;
    esac
}
verdict() { # NAME LOG CODE
    case $3 in
        0) row "$1" passed "" ;;
        99) row "$1" skipped "no time left" ;;
        *) row "$1" failed "$(why "$2" "$3")" ;;
    esac
}
# check NAME LOG LIMIT COMMAND...: passed or failed.
check() {
    name=$1 log=$logs/$2.log limit=$3 code=0
    shift 3
    limited "$limit" "$@" > "$log" 2>&1 || code=$?
    verdict "$name" "$log" $code
}
# several NAME LIMIT VARIABLE PROGRAM: one process for each line of stdin, which VARIABLE names to it, $parallel at a
# time; a row for each that failed, and one for all.
parallel=8
several() {
    name=$1 limit=$2 prefix=$logs/$(printf '%s' "$1" | tr -c 'a-z0-9\n' '-') wrong=$bad
    left=$((end - $(date +%s)))
    [ $left -ge 3 ] || { cat > /dev/null; row "$name" skipped "no time left"; return; }
    [ "$limit" -le $left ] || limit=$left
    # shellcheck disable=SC2016
    tee "$prefix.names" | xargs -P $parallel -I'{}' sh -c 'file=$(printf "%s" "$1" | tr -c "a-z0-9_" -)
        env "$2=$1" timeout -k 5 "$3" "$4" > "$5-$file.log" 2>&1
        printf "%s\t%d\t%s\n" "$1" $? "$5-$file.log"' sh '{}' "$3" "$limit" "$4" "$prefix" > "$prefix.codes"
    failed=0
    while IFS='	' read -r item code log; do
        [ "$code" = 0 ] && continue
        failed=$((failed + 1))
        row "$name: ${item#=}" failed "$(why "$log" "$code")"
    done < "$prefix.codes"
    n=$(wc -l < "$prefix.names")
    if [ $failed = 0 ]; then row "$name" passed "$n"; else row "$name" failed "$failed of $n"; fi
    bad=$((wrong || failed))
}
number() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; }

# ---- libraries, ceilings -----------------------------------------------------------------------------------------
need=1 some=cat
[ $device = cuda ] || { need='' some='sed -n 1,3p'; }
export LRA_NEED_GPU=$need
printf '%s\n' "$devices" > "$logs/devices.log"
row "devices" measured "$(printf '%s\n' "$devices" | grep "^$device" | head -n 1)"
[ ! -x "$bin/tests/cuda_layout" ] || [ $device = cpu ] || check "operand layouts, TMA, wgmma" layout 30 "$bin/tests/cuda_layout"
ceilings=$logs/ceilings.json
if limited 60 "$probe" bench ceilings --device $device --seconds 0.1 --json > "$ceilings" 2> "$logs/ceilings.log"; then
    row "ceilings" measured "$(awk -v f="$(number f32_flops "$ceilings")" -v h="$(number bf16_flops "$ceilings")" -v c="$(number dram_bytes "$ceilings")" \
        'BEGIN {printf "float32 %.1f, bf16 %.1f TFLOP/s, copies %.0f GB/s", f / 1e12, h / 1e12, c / 1e9}')"
else row "ceilings" failed "$(why "$logs/ceilings.log" 1)"; fi

# ---- parity --------------------------------------------------------------------------------------------------------
levels='plain mma wgmma'
printf '%s\n' "$devices" | grep -q '^cuda:0.*capability 9\.0' || levels='plain mma'
for level in $levels; do
    printf '%s\n' 'conv, large' 'attention, large' 'long_conv, large' |
        LRA_CUDA_LEVEL=$level several "large cases, $level" 90 LRA_TEST_OP "$bin/tests/cuda_test"
done
case " $levels " in *wgmma*)
    for columns in 64 128; do
        printf '%s\n' 'conv, large' |
            LRA_CUDA_LEVEL=wgmma LRA_CUDA_COLUMNS=$columns several "blocks of $columns columns" 90 LRA_TEST_OP "$bin/tests/cuda_test"
    done ;;
esac
# An op of its own name alone; those without a body on a GPU end at once.
"$probe" list ops | sed -n 's/^\([a-z][a-z0-9_]*\) .*/=\1/p' | several "ops" 60 LRA_TEST_OP "$bin/tests/cuda_test"
models=$("$probe" list models | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' | $some)
for level in $levels; do
    [ "$level" != plain ] || [ $device = cpu ] || continue
    printf '%s\n' "$models" | LRA_CUDA_LEVEL=$level several "models, $level" 120 LRA_TEST_MODEL "$bin/tests/cuda_model_test"
    [ $device = cuda ] || break
done

# ---- speed -----------------------------------------------------------------------------------------------------------
small='' any='' length=1024 seconds=1.5 kernels='5 31 61' batches='16 64' grouped=61 op_batch=64
[ $device = cuda ] || {
    any='--threads 1 --set layers=1 --set width=32' small="$any --set hidden=32" length=64 seconds=0.01 kernels=5 batches=2
    grouped=5 op_batch=1 levels=mma
}
[ -n "$quick" ] || torch=$("$python" -c "import torch
assert '$device' == 'cpu' or torch.cuda.is_available()
print(torch.__version__)" 2>/dev/null) || torch=
[ -n "$torch" ] || row "PyTorch" skipped "${quick:+--quick, or }no torch that sees the device"

# peer LIMIT ARGS...: seconds of PyTorch; nothing when it fails.
peer() {
    limit=$1
    shift
    limited "$limit" "$python" "$peer" --device $device --precision bf16 --seconds 1.5 --warm 5 "$@" > "$out/peer.json" 2>> "$logs/peer.log" &&
        number median_s "$out/peer.json"
}
# step BATCH KERNEL GROUPS LEVEL [HOW]
step() {
    name="step K $2, $3 groups, batch $1, $4${5-}" json=$logs/step-$2-$3-$1-$4.json best=$out/best-$1-$2-$3
    # shellcheck disable=SC2086
    LRA_CUDA_LEVEL=$4 limited 30 "$probe" bench step --device $device --precision bf16 --batch "$1" --length $length $small --set "kernel=$2" \
        --set "groups=$3" --seconds $seconds --json > "$json" 2> "$logs/bench.log" || { verdict "$name" "$logs/bench.log" $?; return; }
    [ -z "$torch" ] || [ -s "$best" ] || [ "$1" = 16 ] || for mode in '' default reduce-overhead; do
        # shellcheck disable=SC2086
        peer 45 --batch "$1" --length $length --kernel "$2" --groups "$3" ${mode:+--compile $mode}
        [ -n "$mode" ] || peer 45 --batch "$1" --length $length --kernel "$2" --groups "$3" --channels-last
    done | sort -g | head -n 1 > "$best"
    row "$name" measured "$(awk -v s="$(number median_s "$json")" -v f="$(number flops "$json")" -v c="$(number bf16_flops "$json")" \
        -v l="$(number floor_s "$json")" -v p="$(cat "$best" 2>/dev/null)" 'BEGIN {
            printf "%.3f ms, %.1f TFLOP/s, %.0f %% of the ceiling, floor %.0f %%", 1e3 * s, f / s / 1e12, (c > 0 ? 100 * f / s / c : 0), 100 * l / s
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
for level in $levels; do
    [ "$level" = plain ] || for batch in $batches; do for kernel in $kernels; do step "$batch" "$kernel" 1 "$level"; done; done
done
for kernel in $grouped; do step $op_batch "$kernel" 32 mma; done
# The same without a second stream.
for batch in $batches; do
    LRA_CUDA_BESIDE=0 step "$batch" 5 1 "${levels##* }" ", one stream"
done
# op CASE LENGTH NAME PEER...: forward and backward of one operation, the nodes whose names begin with NAME.
op() {
    name="$1, T $2" case=$1 T=$2 node=$3 json=$out/op.json
    shift 3
    limited 40 "$probe" bench ops --op "$case" --device $device --precision bf16 --batch $op_batch --length "$T" --seconds $seconds --json \
        > "$json" 2> "$logs/bench.log" || { verdict "$name" "$logs/bench.log" $?; return; }
    best=
    [ -z "$torch" ] || best=$(for mode in '' --flash --cudnn; do
        # shellcheck disable=SC2086
        peer 30 --batch $op_batch --length "$T" "$@" $mode
    done | sort -g | head -n 1)
    row "$name" measured "$(sed 's/,$//' "$json" | awk -v name="$node" -v p="$best" '
        $1 == "\"name\":" {mine = index($2, "\"" name) == 1}
        $1 == "\"median_s\":" && mine {s += $2}
        $1 == "\"flops\":" && mine {f += $2}
        END {
            printf "%.3f ms, %.0f TFLOP/s", 1e3 * s, (s > 0 ? f / s / 1e12 : 0)
            if (p != "") printf ", PyTorch %.3f ms (%.2f x)", 1e3 * p, p / s}')"
}
attended='1024 4096' near='1024 4096'
[ $device = cuda ] || attended=32 near=32
for T in $attended; do
    op "attention, 4 heads of 32" "$T" attention --op attention --heads 4 --width 128
    op "attention, 4 heads of 64" "$T" attention --op attention --heads 4 --width 256
done
for T in $near; do op "long convolution, 256 channels" "$T" long_conv --op long_conv --width 256; done
# shellcheck disable=SC2086
check "bench ops" ops 90 "$probe" bench ops ${any:+--op linear} --device $device --precision bf16 --batch $op_batch --length $length --seconds $seconds --json

# ---- training --------------------------------------------------------------------------------------------------------
# 20 steps of width 128, which the tensor cores' kernels take; later steps are chaotic.
width='--set width=128 --set hidden=256 --set layers=2'
[ $device = cuda ] || width='--threads 1 --set width=32 --set hidden=32 --set layers=1'
# train FOLDER ARGS...
train() {
    folder=$1 code=0
    shift
    # shellcheck disable=SC2086
    limited 60 "$probe" train --out "$out/$folder" --seed 1 --set batch=32 --set train=640 --set val=64 --set test=64 --set epochs=1 \
        --set dropout=0.1 $width "$@" > "$logs/$folder.log" 2>&1 || code=$?
    [ $code = 0 ] || verdict "training: $folder" "$logs/$folder.log" $code
}
log_of() { cat "$out/$1"/runs/*/log.jsonl; }
losses_of() { log_of "$1" | sed 's/.*"train_loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1 \2/'; }
# close A B PERCENT: the losses of two logs agree.
close() {
    losses_of "$1" > "$out/a"
    losses_of "$2" > "$out/b"
    [ -s "$out/a" ] && [ "$(wc -l < "$out/a")" = "$(wc -l < "$out/b")" ] && paste "$out/a" "$out/b" | awk -v most="$3" '
        {for (i = 1; i <= 2; i++) {d = $i - $(i + 2); if (d < 0) d = -d; if (!(d <= most / 100 * $i)) {wrong = 1; print "ERROR: " $0}}}
        END {exit wrong}'
}
untimed() { log_of "$1" | sed 's/,"seconds":.*//'; } # the rest is the same for the same bits
same() { untimed "$1" > "$out/a" && untimed "$2" > "$out/b" && [ -s "$out/a" ] && cmp "$out/a" "$out/b"; }
ours() { # NAME LOG FUNCTION...: a check that is a function of this script
    name=$1 log=$logs/$2.log code=0
    shift 2
    "$@" > "$log" 2>&1 || code=$?
    verdict "$name" "$log" $code
}
train on-cpu --device cpu --precision f32
train f32 --device $device --precision f32
train f32-again --device $device --precision f32
ours "training: 20 steps as on the CPU" losses close on-cpu f32 0.5
ours "training: same bits twice, f32" bits-f32 same f32 f32-again
for level in $levels; do
    LRA_CUDA_LEVEL=$level train "bf16-$level" --device $device --precision bf16
    LRA_CUDA_LEVEL=$level train "bf16-$level-again" --device $device --precision bf16
    ours "training: bf16 near float32, $level" "bf16-$level-near" close f32 "bf16-$level" 2
    ours "training: same bits twice, $level" "bf16-$level-bits" same "bf16-$level" "bf16-$level-again"
    [ "$level" != plain ] || continue
    LRA_CUDA_BESIDE=0 train "bf16-$level-alone" --device $device --precision bf16
    ours "training: same bits in one stream, $level" "bf16-$level-stream" same "bf16-$level" "bf16-$level-alone"
done

# resumed FOLDER FIRST SECOND: begins on one device, is stopped behind an epoch, ends on the other.
long=64000 epochs=4
[ $device = cuda ] || long=1600 epochs=12
long_run() { # FOLDER DEVICE COMMAND...
    folder=$1 where=$2
    shift 2
    "$@" "$probe" train --out "$out/$folder" --precision f32 --seed 1 --set train=$long --set val=64 --set test=64 --set epochs=$epochs \
        --set width=32 --set hidden=32 --set layers=1 --device "$where" >> "$logs/$folder.log" 2>&1
}
resumed() {
    long_run "$1" "$2" exec & # the shell of the background becomes the program
    id=$! n=0 ended=0
    until grep -q epoch "$out/$1"/runs/*/log.jsonl 2>/dev/null || [ $n -ge 1800 ] || ! kill -0 $id; do
        sleep 0.05
        n=$((n + 1))
    done
    kill -TERM $id
    wait $id || ended=$?
    [ $ended = 130 ] || { echo "ERROR: exit code $ended, expected 130: $(tail -n 1 "$logs/$1.log")"; return 1; }
    long_run "$1" "$3" limited 90 || { echo "ERROR: $(tail -n 1 "$logs/$1.log")"; return 1; }
    [ "$(log_of "$1" | wc -l)" = $epochs ] || { echo "ERROR: not $epochs epochs"; return 1; }
}
left() { [ $((end - $(date +%s))) -ge "$1" ]; }
if left 60 || [ $device = cpu ]; then
    ours "resume: CPU, then GPU" resume-to-gpu resumed to-gpu cpu $device
    ours "resume: GPU, then CPU" resume-to-cpu resumed to-cpu $device cpu
else row "resume" skipped "no time left"; fi

# ---- sanitizers --------------------------------------------------------------------------------------------------------
for tool in memcheck racecheck initcheck; do
    if [ -n "$quick" ]; then row "compute-sanitizer $tool" skipped "--quick"
    elif [ $device = cpu ]; then row "compute-sanitizer $tool" skipped "--dry"
    elif ! command -v compute-sanitizer >/dev/null 2>&1; then row "compute-sanitizer $tool" skipped "not installed"
    else for level in $levels; do
        check "compute-sanitizer $tool, $level" "$tool-$level" 60 env LRA_CUDA_LEVEL="$level" LRA_TEST_OP='conv, large' \
            compute-sanitizer --tool "$tool" --error-exitcode 1 "$bin/tests/cuda_test"
    done; fi
done

rm -rf "$out/rows" "$out/a" "$out/b" "$out/op.json" "$out/peer.json" "$out"/best-* "$out/bin"
tar -C "$out" -czf "$out/logs.tar.gz" logs
echo "written: $out/gpu.json, $out/gpu.txt, $out/logs.tar.gz"
exit $bad
