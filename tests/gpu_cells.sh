#!/bin/sh
# Trains cells of the ladder on a machine that is lent for minutes, call after call:
#   tests/gpu_cells.sh [--bin DIR | --pack FILE] [--out DIR] [--work DIR] [--state DIR] [--minutes N] TASK:KERNEL... [-- OPTIONS]
# --bin, --pack: as in tests/gpu.sh; --out: folder of the results (build/cells): cells.txt, and `state`, runs, logs and
# checkpoints in pieces of 15 MB, packed every minute and at the end; --work: where runs are trained (a temporary folder,
# removed at the end); --state: the folder `state` of the call before; --minutes: time for all (9); OPTIONS are added to
# those of 'lra-probe train', after --preset paper --device cuda --precision bf16.
# One cell after the other.  When the time is up, or on SIGTERM, the current run writes its checkpoint; a run that does not
# end then is killed, and its last checkpoint is packed.
# Exits 0 when every cell is done, 75 when the same call with --state OUT/state continues, 1 when a run failed.
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
. "$source/tests/gpu_lib.sh"
bin=$source/build/release out=$source/build/cells state='' pack='' minutes=9 cells='' work=''
usage() { sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --bin) bin=${2-}; shift 2 || usage ;;
        --pack) pack=${2-}; shift 2 || usage ;;
        --out) out=${2-}; shift 2 || usage ;;
        --work) work=${2-}; shift 2 || usage ;;
        --state) state=${2-}; shift 2 || usage ;;
        --minutes) minutes=${2-}; shift 2 || usage ;;
        --) shift; break ;;
        *:*[0-9]) cells="$cells $1"; shift ;;
        *) usage ;;
    esac
done
[ -n "$cells" ] || usage
end=$(awk -v b="$(date +%s)" -v m="$minutes" 'BEGIN {printf "%d", b + 60 * m}')
grace=$(awk -v m="$minutes" 'BEGIN {g = 6 * m; printf "%d", (g < 2 ? 2 : g > 20 ? 20 : g)}') # seconds for a checkpoint
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1
if [ -n "$work" ]; then mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1; kept=1; else work=$(mktemp -d) || exit 1; kept=''; fi
if [ -n "$pack" ]; then
    unpack "$pack" "$work/bin" || exit 1
    bin=$work/bin
fi
if [ -n "$state" ]; then
    cat "$state"/state.tar.gz.* | tar -C "$work" -xzf - || { echo "gpu_cells.sh: '$state' cannot be unpacked" >&2; exit 1; }
fi
[ -x "$bin/lra-probe" ] || { echo "gpu_cells.sh: '$bin/lra-probe' is missing; build first" >&2; exit 2; }
: > "$out/cells.txt"
tell() { echo "$1" | tee -a "$out/cells.txt"; }

# collect: the state, whole or not at all.
collect() {
    [ -d "$work/runs" ] || return 0
    rm -rf "$out/state.new"
    mkdir -p "$out/state.new"
    (cd "$work" && tar -czf - runs ./*.txt ./*.log 2>/dev/null) | split -b 15000000 - "$out/state.new/state.tar.gz."
    rm -rf "$out/state"
    mv "$out/state.new" "$out/state"
}
stopped='' code=0
trap stopped=1 TERM INT
# A run in a session of its own, so that it can be ended with all its processes, and is never waited for.  130: stopped by
# the time or a signal, its checkpoint is written; 137: it did not end.
train() { # CELL OPTIONS...
    cell=$1 name=${1%%:*}-${1#*:}
    shift
    [ "$(date +%s)" -lt $((end - 1)) ] && [ -z "$stopped" ] || return 130
    rm -f "$work/ended"
    # shellcheck disable=SC2016
    setsid sh -c 'trap : TERM; file=$0 out=$1 log=$2; shift 2; "$@" >> "$out" 2>> "$log" < /dev/null; echo $? > "$file.new"; mv "$file.new" "$file"' \
        "$work/ended" "$work/$name.txt" "$work/$name.log" "$bin/lra-probe" train --task "${cell%%:*}" --set "kernel=${cell#*:}" --preset paper \
        --device cuda --precision bf16 --out "$work" "$@" > /dev/null 2>&1 < /dev/null &
    id=$! asked='' packed=$(date +%s)
    until [ -s "$work/ended" ]; do
        sleep 0.2
        now=$(date +%s)
        if [ -z "$asked" ] && { [ -n "$stopped" ] || [ "$now" -ge "$end" ]; }; then
            signal_session TERM $id
            asked=$now
        elif [ -n "$asked" ] && [ $((now - asked)) -ge "$grace" ]; then
            end_session $id
            return 137
        fi
        [ $((now - packed)) -lt 60 ] || { collect; packed=$(date +%s); }
    done
    end_session $id # what the run may have left behind
    return "$(cat "$work/ended")"
}
for cell in $cells; do
    train "$cell" "$@"
    ended=$?
    name=${cell%%:*}-${cell#*:}
    case $ended in
        0) tell "$cell: $(tail -n 1 "$work/$name.txt")" ;;
        130 | 143) code=75; tell "$cell: time is up; call again"; break ;;
        137) code=75; tell "$cell: did not end within $grace s after the time was up, and was killed; call again for its last checkpoint"; break ;;
        *) code=1; tell "$cell: failed: $(tail -n 1 "$work/$name.log")" ;;
    esac
done
collect
[ ! -d "$out/state" ] || tell "state: $(du -sk "$out/state" | cut -f 1) KB in $out/state"
[ -n "$kept" ] || rm -rf "$work"
exit $code
