#!/bin/sh
# Trains cells of the ladder on a machine that is lent for minutes, call after call:
#   tests/gpu_cells.sh [--bin DIR | --pack FILE] [--out DIR] [--state DIR] [--minutes N] TASK:KERNEL... [-- OPTIONS]
# --bin, --pack: as tests/gpu.sh has them; --out: where everything goes (build/cells); --state: the folder 'state' of the
# call before; --minutes: the time for all (9); OPTIONS are those of 'lra-probe train', in front of which stand
# --preset paper --device cuda --precision bf16.
# One cell after the other.  When the time is up, or on SIGTERM, the run that is under way writes its checkpoint; results,
# logs and checkpoints are packed into OUT/state, pieces of 15 MB (OUT/runs itself stays, for a machine that is kept).
# Exits 0 when every cell is done, 75 when the same call with --state OUT/state goes on, 1 when a run failed.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
bin=$source/build/release out=$source/build/cells state='' pack='' minutes=9 cells=''
usage() { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=${2-}; shift 2 || usage ;;
        --pack) pack=${2-}; shift 2 || usage ;;
        --out) out=${2-}; shift 2 || usage ;;
        --state) state=${2-}; shift 2 || usage ;;
        --minutes) minutes=${2-}; shift 2 || usage ;;
        --) shift; break ;;
        *:*[0-9]) cells="$cells $1"; shift ;;
        *) usage ;;
    esac
done
[ -n "$cells" ] || usage
end=$(awk -v b="$(date +%s)" -v m="$minutes" 'BEGIN {printf "%d", b + 60 * m}')
mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
if [ -n "$pack" ]; then
    mkdir -p "$out/bin" && "${LRA_PEER_PYTHON:-python3}" -c 'import lzma, sys, tarfile
tarfile.open(fileobj=lzma.open(sys.argv[1])).extractall(sys.argv[2])' "$pack" "$out/bin" ||
        { echo "gpu_cells.sh: '$pack' cannot be unpacked" >&2; exit 1; }
    bin=$out/bin
fi
if [ -n "$state" ]; then
    cat "$state"/state.tar.gz.* | tar -C "$out" -xzf - || { echo "gpu_cells.sh: '$state' cannot be unpacked" >&2; exit 1; }
fi
[ -x "$bin/lra-probe" ] || { echo "gpu_cells.sh: '$bin/lra-probe' is missing; build first" >&2; exit 2; }

id='' stopped='' code=0
stop() { stopped=1; [ -z "$id" ] || kill -TERM "$id"; }
trap stop TERM INT
# The run in the background, so that a signal reaches this script; its own time limit ends it as a signal does.
train() { # CELL OPTIONS...
    cell=$1 left=$((end - $(date +%s)))
    shift
    [ $left -ge 2 ] && [ -z "$stopped" ] || return 130
    "$bin/lra-probe" train --task "${cell%%:*}" --set "kernel=${cell#*:}" --preset paper --device cuda --precision bf16 \
        --out "$out" "$@" >> "$out/${cell%%:*}-${cell#*:}.txt" 2>> "$out/${cell%%:*}-${cell#*:}.log" &
    id=$!
    (sleep $left; kill -TERM $id) 2>/dev/null &
    clock=$!
    wait $id
    ended=$?
    # A wait that a signal of ours has cut short says nothing of the run.
    [ -z "$stopped" ] || { wait $id; ended=$?; }
    kill $clock 2>/dev/null
    id=''
    return $ended
}
for cell in $cells; do
    train "$cell" "$@"
    ended=$?
    case $ended in
        0) echo "$cell: $(tail -n 1 "$out/${cell%%:*}-${cell#*:}.txt")" ;;
        130 | 143) code=75; echo "$cell: time is up; call again"; break ;;
        *) code=1; echo "$cell: failed: $(tail -n 1 "$out/${cell%%:*}-${cell#*:}.log")" ;;
    esac
done
rm -rf "$out/state"
mkdir -p "$out/state"
if [ -d "$out/runs" ]; then
    (cd "$out" && tar -czf - runs ./*.txt ./*.log) | split -b 15000000 - "$out/state/state.tar.gz."
    echo "state: $(du -sk "$out/state" | cut -f 1) KB in $out/state"
fi
exit $code
