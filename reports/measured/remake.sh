#!/bin/sh
# Trains the runs of reports/measured again and compares them with the digests of the first time.
#   reports/measured/remake.sh BUILD FOLDER [NAME...]     NAME: a folder of this page (default: all that need no published data)
#   reports/measured/remake.sh BUILD --digests [PATH...]  prints rows of digests.csv: of these result files, or of all that are kept
# Results go to FOLDER/NAME; the same command continues where it stopped.  DATA is the folder of the published files of
# sMNIST.  JOBS is the number of processes (default 2).  A digest is equal only on the instruction level and with the
# revision that digests.csv names: other ones round differently, and training amplifies that.
set -u
usage() { sed -n '2,7s/^# *//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] || usage
build=$(realpath "$1") out=$2 jobs=${JOBS:-2}
shift 2
probe=$build/lra-probe report=$build/lra-report
here=$(cd "$(dirname "$0")" && pwd) && top=$(cd "$here/../.." && pwd) || exit 1
[ -x "$probe" ] && [ -x "$report" ] || { echo "$0: '$build' has no lra-probe and lra-report, expected a build" >&2; exit 2; }

# Fields of a result: digest,metric,value,level,revision.  The digest is of the losses and metrics of all epochs, and of the
# test split, with 17 digits each: time and origin are not in it.
fields() {
    "$report" show --json "$1" >"$tmp/json" || return 1
    digest=$(awk '/"history":/ { history = 1 }
        /^ *"value":/ || history && /^ *"(epoch|step|train_loss|train_value|val_loss|val_value)":/ { gsub(/[ ,]/, ""); print }' "$tmp/json" |
        sha256sum | cut -c1-16)
    awk -v digest="$digest" '{ gsub(/[",]/, "") } /^ *metric:/ { m = $2 } /^ *value:/ { v = $2 } /^ *level:/ { l = $2 } /^ *revision:/ { r = $2 }
        END { printf "%s,%s,%.6g,%s,%s\n", digest, m, v, l, r }' "$tmp/json"
}

# A row of digests.csv.  xxh3 is that of the file's seal; probe files (kernels, attention, influence) have no further fields.
row() {
    seal=$(tail -c 64 "$1" | sed -n 's/^lra-locality seal, xxh3-64 of all before: \([0-9a-f]*\).*/\1/p')
    case $1 in */result.h5) rest=$(fields "$1") || return 1 ;; *) rest=,,,, ;; esac
    echo "$1,$(wc -c <"$1"),$seal,$rest"
}

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
if [ "$out" = --digests ]; then
    cd "$here" || exit 1
    [ $# -gt 0 ] || { find . -name '*.h5' | sed 's:^\./::' | LC_ALL=C sort >"$tmp/list" && while read -r file; do row "$file" || exit 1; done <"$tmp/list"; exit; }
    for file; do row "$file" || exit 1; done
    exit
fi
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 1

ladder() { "$probe" receptive-field --task "$@" --jobs "$jobs" --threads 1 --out "$place"; }
train() { "$probe" train --task listops --preset quick --threads 1 --out "$place" "$@"; }
# The run that `train` with these options makes, or made before.
run_of() { train "$@" >"$tmp/train" 2>&1 || { cat "$tmp/train" >&2; return 1; }; sed -n 's:^\(wrote \)*\(.*\)/result.h5.*$:\2:p' "$tmp/train" | tail -n 1; }
methods() {
    for seed in 0 1 2; do
        masked=$(run_of --seed "$seed" --objective pretrain-masked) && run_of --seed "$seed" --objective denoise || return 1
        for part in "" "--fraction 0.05"; do
            # shellcheck disable=SC2086
            run_of --seed "$seed" $part && tuned=$(run_of --seed "$seed" $part --from "$masked") &&
                run_of --seed "$seed" $part --matched "$tuned" || return 1
        done
    done
}
locality() { # TASK MODELS
    [ "$1" = listops ] || [ "${DATA:-}" ] || { echo "$name: DATA names no folder of the published files" >&2; return 1; }
    MODELS=$2 "$top/tests/bench/locality.sh" "$build" "$place" "$1" "${DATA:-}" "$jobs"
}
smnist() { ATTENTION=16 CUT=500 JACOBIAN=16 locality smnist "$1"; }
make() {
    case $1 in
    xor | recall) ladder "$1" --distance 8,16,32,64 --seeds 3 ;;
    pathfinder) ladder pathfinder --seeds 3 ;;
    listops-quick) ladder listops --preset quick --precision f32 --seeds 5 && ladder listops --preset quick --precision f32 --seeds 5 --axis dilation=1,2,4,8,16 &&
        ladder listops --preset quick --precision f32 --seeds 5 --match flops ;;
    methods) methods ;;
    known-truth) "$top/tests/bench/known_truth.sh" "$build" "$place" "$jobs" ;;
    locality/listops) locality listops "" ;;
    locality/smnist | locality/smnist-*) smnist "$(sed -n "s:^$1/runs/smnist-\(.*\)-[0-9a-f]*/result.h5,.*:\1:p" "$here/digests.csv" | sort -u | tr '\n' ' ')" ;;
    *) echo "$0: '$1' is no folder that this script makes" >&2; return 2 ;;
    esac
}

[ $# -gt 0 ] || set -- xor recall pathfinder listops-quick methods known-truth locality/listops
failed=0
for name; do
    place=$out/$name
    mkdir -p "$place" && make "$name" || { failed=1; echo "$name: not all runs were made" >&2; }
    for file in "$place"/runs/*/result.h5; do
        [ -f "$file" ] || continue
        run=$(basename "$(dirname "$file")") now=$(fields "$file") || { failed=1; continue; }
        was=$(awk -F, -v name="$name/" -v run="/$run/result.h5" 'index($1, name) == 1 && index($1, run) { print $4 "," $5 "," $6 "," $7 "," $8; exit }' "$here/digests.csv")
        if [ -z "$was" ]; then
            echo "new      $run: no such run in $name"
        elif [ "${was%%,*}" = "${now%%,*}" ]; then
            echo "equal    $run"
        else
            echo "differs  $run: ${now#*,}; was ${was#*,}"
        fi
    done | tee "$place/compared.txt"
done
exit $failed
