#!/bin/sh
# Everything that needs a GPU, in one call, from programs that are already built; needs no compiler:
#   tests/gpu.sh [--bin DIR | --pack FILE] [--out DIR] [--peer FILE] [--minutes N] [--quick] [--dry]
# --bin: the build (build/release); --pack: the archive that './bootstrap build --portable' makes, for a bare machine;
# --out: folder of the results (build/gpu): gpu.txt, gpu.json and logs.tar.gz, no other files; --peer: a PyTorch program
# with the options of tests/bench/peer.py; --minutes: time for all (9.5); a shorter time shortens all limits; --quick
# leaves out the sanitizers and PyTorch; --dry takes the CPU in place of the GPU, with small sizes, to try this script.
#
# Order, most valuable first, since a call may be cut off: device and libraries; parity of large convolutions and
# attention at each LRA_CUDA_LEVEL; all ops (a process each, several at a time), and again under memcheck; models; steps
# and ops of ours; 20 steps of training against the CPU's; the same bits twice; checkpoints from one device to the other;
# racecheck and initcheck; last PyTorch.  Each check and each group of checks has a time limit.  A second process does the
# checks; this one prints rows, packs the logs every minute, and when the time is up ends whatever hangs: there is a table
# in any case.  Exits 1 when a check failed.  "skipped" names a reason.  LRA_PEER_PYTHON names a Python with torch.
# When all passed, the model of the GPU is recorded as verified (~/.local/state/lra-locality/verified-gpus).
set -u
work=''
[ "${1-}" != --worker ] || { work=$2; shift 2; }
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/tests/gpu_lib.sh"
bin=$source/build/release
out=$source/build/gpu
peer=$source/tests/bench/peer.py
quick='' device=cuda pack='' minutes=9.5
parse() {
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
}
parse "$@"
python=${LRA_PEER_PYTHON:-python3}

# ---- rows ----------------------------------------------------------------------------------------------------------

# head: the first line of the document, of what is known so far.
head_line() {
    printf '{"version": "%s", "device": "%s", "torch": "%s", "rows": [\n' "$(cat "$work/version")" \
        "$(sed -n "s/^$device:*0* *//p" "$work/devices" | head -n 1 | sed 's/[\\"]/\\&/g')" "$(cat "$work/torch")" > "$work/head"
}
# row CHECK RESULT TEXT: a line of the table, and an entry of the document, which is whole after each.
row() {
    printf '%4d s  %-44s %-8s %s\n' $(($(date +%s) - begin)) "$1" "$2" "$3" >> "$work/gpu.txt"
    text=$(printf '%s' "$3" | tr -d '\000-\037' | sed 's/[\\"]/\\&/g')
    [ ! -s "$work/rows" ] || printf ',\n' >> "$work/rows"
    printf '  {"check": "%s", "result": "%s", "text": "%s"}' "$1" "$2" "$text" >> "$work/rows"
    [ "$2" != failed ] || bad=1
    {
        cat "$work/head" "$work/rows"
        printf '\n]}\n'
    } > "$work/gpu.json.tmp" && mv "$work/gpu.json.tmp" "$work/gpu.json"
}

# ---- the process that watches ----------------------------------------------------------------------------------------

# Every process that does anything is in the session of `watched`, with its output in files: none can hold this one.
if [ -z "$work" ]; then
    [ -n "$pack" ] || [ -x "$bin/lra-probe" ] || { echo "gpu.sh: '$bin/lra-probe' is missing; build first" >&2; exit 2; }
    mkdir -p "$out" && out=$(cd "$out" && pwd) && work=$(mktemp -d) || exit 2
    rm -f "$out/gpu.txt" "$out/gpu.json" "$out/logs.tar.gz"
    mkdir "$work/logs"
    begin=$(date +%s) shown=0
    echo "$begin" > "$work/begin"
    : > "$work/gpu.txt"
    : > "$work/rows"
    echo none > "$work/version"
    : > "$work/devices"
    : > "$work/torch"
    head_line
    # The hard end: the worker stops by itself before it.
    last=$(awk -v b="$begin" -v m="$minutes" 'BEGIN {printf "%d", b + 60 * m + (m < 2 ? 4 : 15)}')
    setsid sh "$0" --worker "$work" "$@" > "$work/logs/worker.log" 2>&1 < /dev/null &
    watched=$!
    collect() {
        for file in gpu.txt gpu.json; do [ ! -s "$work/$file" ] || cp "$work/$file" "$out/$file"; done
        [ ! -s "$work/gpu.json" ] || tar -C "$work" -czf "$work/logs.tar.gz" logs 2>/dev/null
        [ ! -s "$work/logs.tar.gz" ] || mv "$work/logs.tar.gz" "$out/logs.tar.gz"
    }
    show() {
        lines=$(wc -l < "$work/gpu.txt")
        [ "$lines" -le "$shown" ] || sed -n "$((shown + 1)),${lines}p" "$work/gpu.txt"
        shown=$lines
    }
    stopped=''
    trap 'stopped="stopped by a signal"' TERM INT HUP
    packed=$begin
    until [ -s "$work/code" ] || [ -n "$stopped" ]; do
        sleep 0.2
        show
        now=$(date +%s)
        [ "$now" -lt "$last" ] || stopped="the time is up; ended while it ran"
        kill -0 $watched 2>/dev/null || [ -s "$work/code" ] || stopped="the script ended early: $(tail -n 1 "$work/logs/worker.log")"
        [ $((now - packed)) -lt 60 ] || { collect; packed=$now; }
    done
    code=1
    end_session $watched
    if [ -n "$stopped" ]; then
        name=$(cat "$work/now" 2>/dev/null)
        row "${name:-between checks}" failed "$stopped"
    else code=$(cat "$work/code"); fi
    show
    collect
    if [ "$code" = 2 ]; then cat "$work/logs/worker.log" >&2; else echo "written: $out/gpu.json, $out/gpu.txt, $out/logs.tar.gz"; fi
    rm -rf "$work" 2>/dev/null
    exit "$code"
fi

# ---- checks ------------------------------------------------------------------------------------------------------------

begin=$(cat "$work/begin")
end=$(awk -v b="$begin" -v m="$minutes" 'BEGIN {printf "%d", b + 60 * m}')
scale=$(awk -v m="$minutes" 'BEGIN {print (m < 9 ? m / 9 : 1)}')
logs=$work/logs bad=0 torch=
finish() { echo "$1" > "$work/code.tmp" && mv "$work/code.tmp" "$work/code"; exit "$1"; }
# timely NAME: begins a check; without time left this is the last row.
timely() {
    echo "$1" > "$work/now"
    [ $((end - $(date +%s))) -lt 1 ] || return 0
    row "$1, and what follows" skipped "no time left"
    finish $bad
}
# seconds_of LIMIT: what a check of that limit may take: its share of a short time, and what is left of it.
seconds_of() {
    awk -v l="$1" -v s="$scale" -v left=$((end - $(date +%s))) 'BEGIN {
        n = int(l * s + 0.999)
        if (n > left) n = left
        if (n < 1) exit 1
        print n}'
}
# limited LIMIT COMMAND...: ends it after LIMIT seconds, or when the time is up.
limited() {
    may=$(seconds_of "$1") || { echo "ERROR: no time left"; return 99; }
    shift
    timeout -k 2 "$may" "$@"
}
# why LOG CODE: the line that says what was wrong.
why() {
    said=$({ grep -aE 'ERROR|FAILED|bug at|========= [A-Z]' "$1"; grep -a ': ' "$1" | tail -n 1; } | head -n 1 | cut -c 1-160)
    case $2 in
        124 | 137) echo "took longer than its limit${said:+; }$said" ;;
        *) echo "${said:-exit code $2, see logs/$(basename "$1")}" ;;
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
    timely "$name"
    limited "$limit" "$@" > "$log" 2>&1 || code=$?
    verdict "$name" "$log" $code
}
# several NAME LIMIT GROUP VARIABLE PROGRAM [TOOL]: one process for each line of stdin, which VARIABLE names to it,
# $parallel at a time, LIMIT seconds each and GROUP seconds for all, under TOOL; a row for each that failed, one for all.
parallel=8
several() {
    name=$1 prefix=$logs/$(printf '%s' "$1" | tr -c 'a-z0-9\n' '-') variable=$4 program=$5 tool=${6-}
    timely "$name"
    group=$(seconds_of "$3") || group=1
    may=$(seconds_of "$2") || may=1
    # shellcheck disable=SC2016
    tee "$prefix.names" | xargs -P $parallel -I'{}' sh -c 'file=$(printf "%s" "$1" | tr -c "a-z0-9_" -)
        left=$(($6 - $(date +%s)))
        [ "$3" -ge "$left" ] || left=$3
        [ "$left" -ge 1 ] || { printf "%s\t99\t-\n" "$1"; exit 0; }
        env "$2=$1" timeout -k 2 "$left" $7 "$4" > "$5-$file.log" 2>&1
        printf "%s\t%d\t%s\n" "$1" $? "$5-$file.log"' sh '{}' "$variable" "$may" "$program" "$prefix" \
        $(($(date +%s) + group)) "$tool" > "$prefix.codes"
    failed=0 missing=0
    while IFS='	' read -r item code log; do
        case $code in
            0) ;;
            99) missing=$((missing + 1)) ;;
            *)
                failed=$((failed + 1))
                row "$name: ${item#=}" failed "$(why "$log" "$code")" ;;
        esac
    done < "$prefix.codes"
    n=$(wc -l < "$prefix.names") note=''
    [ $missing = 0 ] || note=", $missing not run: no time left for the group"
    if [ "$n" = 0 ]; then row "$name" failed "there is nothing to run"
    elif [ $failed != 0 ]; then row "$name" failed "$failed of $n$note"
    elif [ $missing != 0 ]; then row "$name" skipped "$((n - missing)) of $n passed$note"
    else row "$name" passed "$n"; fi
}
number() { sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1; }

# ---- device, libraries, ceilings ---------------------------------------------------------------------------------------
echo "devices" > "$work/now"
if [ -n "$pack" ]; then
    unpack "$pack" "$work/bin" || finish 2
    bin=$work/bin
fi
probe=$bin/lra-probe
[ -x "$probe" ] || { echo "gpu.sh: '$probe' is missing; build first" >&2; finish 2; }
limited 20 "$probe" --version 2>/dev/null | head -n 1 > "$work/version"
[ -s "$work/version" ] || echo unknown > "$work/version"
code=0
limited 60 "$probe" list devices > "$work/devices" 2> "$logs/devices.log" || code=$?
cp "$work/devices" "$logs/devices.txt"
head_line
[ $code = 0 ] || { verdict "devices" "$logs/devices.log" $code; finish $bad; }
if [ $device = cuda ] && ! grep -q '^cuda:0' "$work/devices"; then
    grep '^cuda' "$work/devices" >&2
    echo "gpu.sh: no GPU to test" >&2
    finish 2
fi
need=1 some=cat
[ $device = cuda ] || { need='' some='sed -n 1,3p'; }
export LRA_NEED_GPU=$need
row "devices" measured "$(grep "^$device" "$work/devices" | head -n 1)"
[ ! -x "$bin/tests/cuda_layout" ] || [ $device = cpu ] || check "operand layouts, TMA, wgmma" layout 30 "$bin/tests/cuda_layout"
ceilings=$logs/ceilings.json code=0
timely "ceilings"
limited 60 "$probe" bench ceilings --device $device --seconds 0.1 --json > "$ceilings" 2> "$logs/ceilings.log" || code=$?
if [ $code = 0 ]; then
    row "ceilings" measured "$(awk -v f="$(number f32_flops "$ceilings")" -v h="$(number bf16_flops "$ceilings")" -v c="$(number dram_bytes "$ceilings")" \
        'BEGIN {printf "float32 %.1f, bf16 %.1f TFLOP/s, copies %.0f GB/s", f / 1e12, h / 1e12, c / 1e9}')"
else verdict "ceilings" "$logs/ceilings.log" $code; fi

# ---- parity --------------------------------------------------------------------------------------------------------
levels='plain mma wgmma' best=plain
grep -q '^cuda:0.*capability 9\.0' "$work/devices" || levels='plain mma'
# Names come from files: at the end of a pipeline the result would be lost in a process of its own.
printf '%s\n' 'conv, large' 'conv, device' 'attention, large' 'long_conv, large' > "$work/large"
printf '%s\n' 'conv, large' > "$work/convolution"
printf '%s\n' 'conv, large' 'attention, large' '=layer_norm' '=softmax' '=linear' > "$work/racing"
for level in $levels; do
    before=$bad
    bad=0
    LRA_CUDA_LEVEL=$level several "large cases, $level" 60 90 LRA_TEST_OP "$bin/tests/cuda_test" < "$work/large"
    [ $bad = 1 ] || best=$level
    bad=$((bad || before))
done
case " $levels " in *wgmma*)
    for columns in 64 128; do
        LRA_CUDA_LEVEL=wgmma LRA_CUDA_COLUMNS=$columns several "blocks of $columns columns" 45 45 LRA_TEST_OP "$bin/tests/cuda_test" \
            < "$work/convolution"
    done ;;
esac
# The fastest level that passed is used from here on, where no other is named: no process tries the levels again.
if [ $device = cuda ]; then
    export LRA_CUDA_LEVEL="$best"
    row "level" measured "$best, from here on"
fi
# An op of its own name alone; those without a body on a GPU end at once.
limited 20 "$probe" list ops 2>/dev/null | sed -n 's/^\([a-z][a-z0-9_]*\) .*/=\1/p' > "$work/ops"
several "ops" 60 120 LRA_TEST_OP "$bin/tests/cuda_test" < "$work/ops"

# sanitizer TOOL NAME LIMIT GROUP: the cases of stdin under a tool of compute-sanitizer, if it works on this device.
sanitizer() {
    if [ -n "$quick" ]; then row "$2" skipped "--quick"; return; fi
    if [ $device = cpu ]; then row "$2" skipped "--dry"; return; fi
    if ! command -v compute-sanitizer >/dev/null 2>&1; then row "$2" skipped "not installed"; return; fi
    code=0
    timely "$2"
    LRA_TEST_OP='=relu' limited 40 compute-sanitizer --tool "$1" --error-exitcode 1 "$bin/tests/cuda_test" \
        > "$logs/$1-first.log" 2>&1 < /dev/null || code=$?
    said=$(grep -aiE 'not supported|unsupported|error 999|unable to|insufficient permission|failed to initialize' "$logs/$1-first.log" | head -n 1 | cut -c 1-120)
    if [ $code != 0 ] && [ -n "$said" ]; then
        row "$2" skipped "not supported on this device: $said"
    else
        several "$2" "$3" "$4" LRA_TEST_OP "$bin/tests/cuda_test" "compute-sanitizer --tool $1 --error-exitcode 1"
    fi
}
sanitizer memcheck "memcheck, all ops" 60 100 < "$work/ops"

limited 20 "$probe" list models 2>/dev/null | sed -n 's/^\([a-z][a-z0-9-]*\) .*/\1/p' | $some > "$work/models"
for level in $levels; do
    [ "$level" != plain ] || [ $device = cpu ] || continue
    LRA_CUDA_LEVEL=$level several "models, $level" 90 100 LRA_TEST_MODEL "$bin/tests/cuda_model_test" < "$work/models"
    [ $device = cuda ] || break
done

# ---- speed of ours ---------------------------------------------------------------------------------------------------
small='' any='' length=1024 seconds=1 kernels='5 31 61' batches='16 64' grouped=61 op_batch=64
[ $device = cuda ] || {
    any='--threads 1 --set layers=1 --set width=32' small="$any --set hidden=32" length=64 seconds=0.01 kernels=5 batches=2
    grouped=5 op_batch=1 levels=mma
}
# better FILE SECONDS: keeps the smaller number.
better() { { cat "$1" 2>/dev/null; echo "$2"; } | grep . | sort -g | head -n 1 > "$1.new" && mv "$1.new" "$1"; }
# step BATCH KERNEL GROUPS LEVEL [HOW]
step() {
    name="step K $2, $3 groups, batch $1, $4${5-}" json=$logs/step-$2-$3-$1-$4.json code=0
    timely "$name"
    # shellcheck disable=SC2086
    LRA_CUDA_LEVEL=$4 limited 20 "$probe" bench step --device $device --precision bf16 --batch "$1" --length $length $small --set "kernel=$2" \
        --set "groups=$3" --seconds $seconds --json > "$json" 2> "$logs/bench.log" || code=$?
    [ $code = 0 ] || { verdict "$name" "$logs/bench.log" $code; return; }
    better "$work/ours-step-$1-$2-$3" "$(number median_s "$json")"
    row "$name" measured "$(awk -v s="$(number median_s "$json")" -v f="$(number flops "$json")" -v c="$(number bf16_flops "$json")" \
        -v l="$(number floor_s "$json")" 'BEGIN {
            if (s <= 0) { print "no time in its output"; exit }
            printf "%.3f ms, %.1f TFLOP/s, %.0f %% of the ceiling, floor %.0f %%", 1e3 * s, f / s / 1e12, (c > 0 ? 100 * f / s / c : 0), 100 * l / s}')"
}
# op CASE LENGTH NAME: forward and backward of one operation, the nodes whose names begin with NAME.
op() {
    name="$1, T $2" json=$logs/op.json code=0
    timely "$name"
    limited 30 "$probe" bench ops --op "$1" --device $device --precision bf16 --batch $op_batch --length "$2" --seconds $seconds --json \
        > "$json" 2> "$logs/bench.log" || code=$?
    [ $code = 0 ] || { verdict "$name" "$logs/bench.log" $code; return; }
    sed 's/,$//' "$json" | awk -v name="$3" '
        $1 == "\"name\":" {mine = index($2, "\"" name) == 1}
        $1 == "\"median_s\":" && mine {s += $2}
        $1 == "\"flops\":" && mine {f += $2}
        END {print s + 0, f + 0}' > "$work/op"
    read -r s f < "$work/op"
    better "$work/ours-$(printf '%s' "$name" | tr -c 'a-zA-Z0-9\n' -)" "$s"
    row "$name" measured "$(awk -v s="$s" -v f="$f" 'BEGIN {printf "%.3f ms, %.0f TFLOP/s", 1e3 * s, (s > 0 ? f / s / 1e12 : 0)}')"
}
for level in $levels; do
    [ "$level" = plain ] || for batch in $batches; do for kernel in $kernels; do step "$batch" "$kernel" 1 "$level"; done; done
done
for kernel in $grouped; do step $op_batch "$kernel" 32 mma; done
for batch in $batches; do
    LRA_CUDA_SIDE_STREAM=0 step "$batch" 5 1 "${levels##* }" ", one stream"
done
attended='1024 4096' near='1024 4096'
[ $device = cuda ] || attended=32 near=32
for T in $attended; do
    op "attention, 4 heads of 32" "$T" attention
    op "attention, 4 heads of 64" "$T" attention
done
for T in $near; do op "long convolution, 256 channels" "$T" long_conv; done
# shellcheck disable=SC2086
check "bench ops" ops 60 "$probe" bench ops ${any:+--op linear} --device $device --precision bf16 --batch $op_batch --length $length --seconds 0.2 --json

# ---- training --------------------------------------------------------------------------------------------------------
# 20 steps of width 128, which the tensor cores' kernels take; later steps are chaotic.
width='--set width=128 --set hidden=256 --set layers=2'
[ $device = cuda ] || width='--threads 1 --set width=32 --set hidden=32 --set layers=1'
# train FOLDER ARGS...
train() {
    folder=$1 code=0
    shift
    timely "training: $folder"
    # shellcheck disable=SC2086
    limited 40 "$probe" train --out "$work/$folder" --seed 1 --set batch=32 --set train=640 --set val=64 --set test=64 --set epochs=1 \
        --set dropout=0.1 $width "$@" > "$logs/$folder.log" 2>&1 || code=$?
    [ $code = 0 ] || verdict "training: $folder" "$logs/$folder.log" $code
}
log_of() { cat "$work/$1"/runs/*/log.jsonl; }
losses_of() { log_of "$1" | sed 's/.*"train_loss":\([^,]*\),.*"val_loss":\([^,]*\),.*/\1 \2/'; }
# close A B PERCENT: the losses of two logs agree.
close() {
    losses_of "$1" > "$work/a"
    losses_of "$2" > "$work/b"
    [ -s "$work/a" ] && [ "$(wc -l < "$work/a")" = "$(wc -l < "$work/b")" ] && paste "$work/a" "$work/b" | awk -v most="$3" '
        {for (i = 1; i <= 2; i++) {d = $i - $(i + 2); if (d < 0) d = -d; if (!(d <= most / 100 * $i)) {wrong = 1; print "ERROR: " $0}}}
        END {exit wrong}'
}
untimed() { log_of "$1" | sed 's/,"seconds":.*//'; } # the rest is the same for the same bits
same() { untimed "$1" > "$work/a" && untimed "$2" > "$work/b" && [ -s "$work/a" ] && cmp "$work/a" "$work/b"; }
ours() { # NAME LOG FUNCTION...: a check that is a function of this script
    name=$1 log=$logs/$2.log code=0
    shift 2
    timely "$name"
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
    LRA_CUDA_LEVEL=$level LRA_CUDA_SIDE_STREAM=0 train "bf16-$level-alone" --device $device --precision bf16
    ours "training: same bits in one stream, $level" "bf16-$level-stream" same "bf16-$level" "bf16-$level-alone"
done

# resumed FOLDER FIRST SECOND: begins on one device, is stopped after an epoch, ends on the other.
long=64000 epochs=4
[ $device = cuda ] || long=1600 epochs=24
long_run() { # FOLDER DEVICE SECONDS: becomes the program
    exec timeout -k 2 "$3" "$probe" train --out "$work/$1" --precision f32 --seed 1 --set train=$long --set val=64 --set test=64 \
        --set epochs=$epochs --set width=32 --set hidden=32 --set layers=1 --device "$2" >> "$logs/$1.log" 2>&1
}
resumed() {
    may=$(seconds_of 60) || return 99
    (long_run "$1" "$2" "$may") &
    id=$! ended=0
    until grep -q epoch "$work/$1"/runs/*/log.jsonl 2>/dev/null || ! kill -0 $id 2>/dev/null; do sleep 0.05; done
    kill -TERM $id 2>/dev/null # timeout hands it on, and kills what does not end
    wait $id || ended=$?
    [ $ended = 130 ] || { echo "ERROR: exit code $ended, expected 130: $(tail -n 1 "$logs/$1.log")"; return 1; }
    may=$(seconds_of 60) || return 99
    (long_run "$1" "$3" "$may") || { echo "ERROR: $(tail -n 1 "$logs/$1.log")"; return 1; }
    [ "$(log_of "$1" | wc -l)" = $epochs ] || { echo "ERROR: not $epochs epochs"; return 1; }
}
ours "resume: CPU, then GPU" resume-to-gpu resumed to-gpu cpu $device
ours "resume: GPU, then CPU" resume-to-cpu resumed to-cpu $device cpu

# ---- races and uninitialised memory --------------------------------------------------------------------------------------
for tool in racecheck initcheck; do
    sanitizer $tool "$tool" 60 70 < "$work/racing"
done

# ---- PyTorch, last -------------------------------------------------------------------------------------------------------
code=0
timely "PyTorch"
[ -n "$quick" ] || torch=$(limited 60 "$python" -c "import torch
assert '$device' == 'cpu' or torch.cuda.is_available()
print(torch.__version__)" 2>/dev/null) || { code=$?; torch=; }
printf '%s' "$torch" > "$work/torch"
head_line
if [ -n "$quick" ]; then row "PyTorch" skipped "--quick"
elif [ $code = 124 ] || [ $code = 137 ]; then row "PyTorch" failed "importing torch took longer than its limit"
elif [ -z "$torch" ]; then row "PyTorch" skipped "no torch that sees the device"; fi
# peer LIMIT ARGS...: seconds of PyTorch; nothing when it fails.
peer() {
    limit=$1
    shift
    limited "$limit" "$python" "$peer" --device $device --precision bf16 --seconds 1 --warm 5 "$@" > "$work/peer.json" 2>> "$logs/peer.log" &&
        number median_s "$work/peer.json"
}
# against NAME OURS ARGS... -- MODE...: the fastest of PyTorch's modes, beside the time of OURS.
against() {
    name="PyTorch: $1" mine=$work/ours-$2 times=$work/times args=''
    shift 2
    while [ "$1" != -- ]; do args="$args $1"; shift; done
    shift
    [ -n "$torch" ] || return
    timely "$name"
    : > "$times"
    # shellcheck disable=SC2086
    for mode in "" "$@"; do peer 45 $args $mode >> "$times"; done
    p=$(sort -g "$times" | head -n 1)
    if [ -z "$p" ]; then row "$name" failed "no mode gave a time: $(tail -n 1 "$logs/peer.log" | cut -c 1-160)"
    elif [ -s "$mine" ]; then row "$name" measured "$(awk -v p="$p" -v s="$(cat "$mine")" 'BEGIN {printf "%.3f ms, ours %.3f ms (%.2f x as fast)", 1e3 * p, 1e3 * s, (s > 0 ? p / s : 0)}')"
    else row "$name" measured "$(awk -v p="$p" 'BEGIN {printf "%.3f ms, ours not measured", 1e3 * p}')"; fi
}
for kernel in $kernels; do
    against "step K $kernel, 1 groups, batch $op_batch" "step-$op_batch-$kernel-1" --batch $op_batch --length $length --kernel "$kernel" --groups 1 -- \
        --channels-last "--compile default" "--compile reduce-overhead"
done
for T in $attended; do for heads in 32 64; do
    against "attention, 4 heads of $heads, T $T" "attention--4-heads-of-$heads--T-$T" --batch $op_batch --length "$T" --op attention --heads 4 \
        --width $((4 * heads)) -- --flash --cudnn
done; done
for T in $near; do
    against "long convolution, 256 channels, T $T" "long-convolution--256-channels--T-$T" --batch $op_batch --length "$T" --op long_conv --width 256 --
done

# ---- verified ------------------------------------------------------------------------------------------------------------
# A model is recorded when nothing failed and all parity and training checks were done.
passed() { grep -q "\"check\": \"$1\", \"result\": \"passed\"" "$work/rows"; }
if [ $device = cuda ] && [ $bad = 0 ]; then
    model=$(sed -n 's/^cuda:0 *\(.*\), compute capability.*/\1/p' "$work/devices") file=${XDG_STATE_HOME:-$HOME/.local/state}/lra-locality/verified-gpus
    if passed "large cases, $best" && passed "ops" && passed "models, $best" && passed "training: 20 steps as on the CPU" && passed "resume: GPU, then CPU" &&
        mkdir -p "$(dirname "$file")" && printf '%s\t%s\t%s\n' "$model" "$(cat "$work/version")" "$(date -u +%Y-%m-%dT%H:%M:%SZ)" >> "$file"; then
        row "verified" measured "$model is recorded in $file"
    else row "verified" skipped "not all of ops, models, training and resume passed"; fi
fi
finish $bad
