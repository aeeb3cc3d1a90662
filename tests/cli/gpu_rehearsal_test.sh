#!/bin/sh
# labels: slow timeout: 180 serial
# A rehearsal of tests/gpu.sh on a device that does not exist: programs that only answer.  All checks pass and the model is
# recorded; then one check after the other hangs, ignoring SIGTERM, and at last the `timeout` of the script itself: each
# call ends in time, with a table, a document and the logs, and names what hung.
. "$LRA_SOURCE/tests/cli/lib.sh"
script=$LRA_SOURCE/tests/gpu.sh
mkdir -p bin/tests tools
cat >hang <<'END'
#!/bin/sh
# hang NAME...: does not return if FAKE_HANG is one of the names.
for name; do
    [ "${FAKE_HANG-}" != "$name" ] || { trap '' TERM INT HUP; while :; do sleep 1; done; }
done
END
cat >bin/lra-probe <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
out='' device='' long=''
for word; do
    [ "${before-}" != --out ] || out=$word
    [ "${before-}" != --device ] || device=$word
    [ "$word" != train=64000 ] || long=1
    before=$word
done
line() { echo "{\"epoch\":$1,\"train_loss\":1.5,\"val_loss\":1.25,\"seconds\":$$}"; }
case "$1 ${2-}" in
    --version*) "$here/hang" version; echo "lra-probe 0.1.0" ;;
    'list devices') "$here/hang" devices; echo "cpu     Fake"; echo "cuda:0  Fake H100, compute capability 9.0, 79.0 of 80.0 GiB free" ;;
    'list ops') "$here/hang" list-ops; printf '%s summary\n' conv linear norm relu softmax ;;
    'list models') printf '%s summary\n' resconv s4d transformer ;;
    'bench ceilings') "$here/hang" ceilings; echo '{"f32_flops": 5e13, "bf16_flops": 8e14, "dram_bytes": 3e12}' ;;
    'bench step') "$here/hang" step; echo '{"median_s": 0.001, "flops": 1e11, "bf16_flops": 8e14, "floor_s": 0.0005}' ;;
    'bench ops') "$here/hang" op; printf '"name": "attention",\n"median_s": 0.001,\n"flops": 1e9\n' ;;
    train*)
        [ "${FAKE_HANG-}" != "train-$device" ] || trap '' TERM
        "$here/hang" "train-$device"
        mkdir -p "$out/runs/a"
        log=$out/runs/a/log.jsonl
        if [ "$long" ] && [ ! -s "$log" ]; then
            line 1 >"$log"
            trap 'exit 130' TERM
            "$here/hang" stop
            while :; do sleep 0.05; done
        fi
        if [ "$long" ]; then for n in 2 3 4; do line $n >>"$log"; done; else line 1 >"$log"; fi ;;
esac
END
for name in layout model_test test; do
    cat >bin/tests/cuda_$name <<END
#!/bin/sh
here=\$(cd "\$(dirname "\$0")/../.." && pwd)
"\$here/hang" $name "\${LRA_TEST_OP-}" "\${LRA_TEST_MODEL-}" all
[ "\${FAKE_HANG-}" != wrong ] || [ "\${LRA_CUDA_LEVEL-}" != wgmma ] || [ "\${LRA_TEST_OP-}" != 'conv, large' ] || { echo "ERROR: 7 is not 8"; exit 3; }
exit 0
END
done
cat >tools/compute-sanitizer <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
"$here/hang" "$2"
[ "$2" != racecheck ] || { echo "========= Error: Device not supported"; exit 1; }
shift 4
exec "$@"
END
cat >tools/python <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")/.." && pwd)
if [ "$1" = -c ]; then "$here/hang" torch; echo 2.11.0; else "$here/hang" peer; echo '{"median_s": 0.002}'; fi
END
cat >unkillable <<'END'
#!/bin/sh
# A `timeout` that never comes back, as when the driver holds its process: for one program.
case "$*" in *"bench step"*) trap '' TERM; while :; do sleep 1; done ;; esac
exec /usr/bin/timeout "$@"
END
chmod +x hang bin/lra-probe bin/tests/* tools/* unkillable
[ -x /usr/bin/timeout ] || skip "there is no /usr/bin/timeout to put another one in front of"
mkdir before && cp unkillable before/timeout
PATH=$tmp/tools:$PATH LRA_PEER_PYTHON=$tmp/tools/python
export PATH LRA_PEER_PYTHON

# rehearse NAME MINUTES: writes NAME.code and NAME.seconds.
rehearse() {
    began=$(date +%s) rc=0
    mkdir "state-$1"
    XDG_STATE_HOME=$tmp/state-$1 FAKE_HANG=$1 "$script" --bin "$tmp/bin" --out "$tmp/out-$1" --minutes "$2" >"$1.table" 2>"$1.err" || rc=$?
    echo $rc >"$1.code"
    echo $(($(date +%s) - began)) >"$1.seconds"
}
minutes=0.25
hangs='devices layout ceilings =relu transformer memcheck initcheck step op train-cuda stop torch peer all'
rehearse none 2 &
rehearse wrong 2 & # a wrong result
for hang in $hangs; do
    rehearse "$hang" $minutes &
done
(PATH=$tmp/before:$PATH rehearse unkillable $minutes) &
# The cells of a ladder: one that hangs is killed, and the call ends in time.
(
    began=$(date +%s) rc=0
    FAKE_HANG=train-cuda "$LRA_SOURCE/tests/gpu_cells.sh" --bin "$tmp/bin" --out "$tmp/cells" --minutes 0.1 listops:3 listops:5 >cells.table 2>cells.err || rc=$?
    echo "$rc $(($(date +%s) - began))" >cells.code
) &
wait

valid() {
    command -v python3 >/dev/null 2>&1 || return 0
    python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); assert d["rows"] and all(r["result"] for r in d["rows"])' "$1" ||
        complain "$1 is no JSON: $(cat "$1")"
}
[ "$(cat none.code)" = 0 ] || complain "no hang: exit code $(cat none.code): $(cat none.table none.err)"
for row in 'operand layouts, TMA, wgmma *passed' 'ceilings *measured *float32 50.0, bf16 800.0' 'large cases, wgmma *passed *4' 'level *measured *wgmma' \
    'ops *passed *5' 'memcheck, all ops *passed *5' 'models, wgmma *passed *3' 'step K 61, 1 groups, batch 64, wgmma *measured *1.000 ms' \
    'attention, 4 heads of 64, T 4096 *measured' '20 steps as on the CPU *passed' 'resume: GPU, then CPU *passed' \
    'racecheck *skipped *not supported on this device: .*Device not supported' 'initcheck *passed *5' \
    'PyTorch: step K 5, 1 groups, batch 64 *measured *2.000 ms, ours 1.000 ms (2.00 x' 'PyTorch: attention, 4 heads of 32.*ours 1.000 ms' \
    'verified *measured *Fake H100 is recorded'; do
    grep -q "$row" none.table || complain "no hang: no row '$row': $(cat none.table)"
done
grep -q '^Fake H100	lra-probe 0.1.0	20' state-none/lra-locality/verified-gpus || complain "the model is not recorded"
first=$(grep -n PyTorch none.table | head -n 1 | cut -d: -f1) last=$(grep -n 'step K\|training\|racecheck' none.table | grep -v PyTorch | tail -n 1 | cut -d: -f1)
[ "$first" -gt "$last" ] || complain "PyTorch is not last"
for name in none $hangs unkillable; do
    [ "$(ls "out-$name" | tr '\n' ' ')" = 'gpu.json gpu.txt logs.tar.gz ' ] || complain "$name: files: $(ls "out-$name")"
    valid "out-$name/gpu.json"
    tar -tzf "out-$name/logs.tar.gz" >/dev/null || complain "$name: the logs are no archive"
    # 15 s, 4 of grace, and what a busy machine adds.
    [ "$name" = none ] || [ "$(cat "$name.seconds")" -le 30 ] || complain "$name: took $(cat "$name.seconds") s"
    [ "$name" = none ] || [ ! -e "state-$name/lra-locality" ] || complain "$name: recorded as verified"
    grep -q ' s  ' "$name.table" || complain "$name: no table: $(cat "$name.table" "$name.err")"
done
# What hung is said to have failed, whether its own limit or the end of the call ended it; PyTorch has no part in it.
for pair in 'devices devices' 'layout operand layouts' 'ceilings ceilings' '=relu ops: relu' 'step step K' 'train-cuda training' \
    'unkillable step K' 'all large cases'; do
    grep -q "^ *[0-9]* s  ${pair#* }.* failed  *\(took longer\|the time is up\)" "${pair%% *}.table" ||
        complain "$pair: not said: $(cat "${pair%% *}.table")"
    [ "$(cat "${pair%% *}.code")" = 1 ] || complain "$pair: exit code $(cat "${pair%% *}.code")"
done
grep -q 'large cases, wgmma: conv, large *failed *ERROR: 7 is not 8' wrong.table && grep -q 'level *measured *mma, from here on' wrong.table ||
    complain "a wrong result at a level: $(cat wrong.table)"
[ "$(cat wrong.code)" = 1 ] && [ ! -e state-wrong/lra-locality ] || complain "a wrong result: exit code $(cat wrong.code), or recorded"
grep -q 'large cases, wgmma *passed' unkillable.table || complain "what was done before the hang is not in the table"
grep -q '^listops:3: did not end within 2 s after the time was up' cells/cells.txt || complain "cells: $(cat cells.table cells.err)"
read -r rc seconds <cells.code
[ "$rc" = 75 ] && [ "$seconds" -le 20 ] || complain "cells: exit code $rc after $seconds s"
exit $bad
