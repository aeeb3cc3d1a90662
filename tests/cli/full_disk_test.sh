#!/bin/sh
# A disk that fills up at any moment of a run, a limit on the size of files, and a read-only file system: one line
# that says so, exit code 1, nothing half-written; with room again the same command completes the run, with the
# same result.
set -u
dir=$(mktemp -d)
tiny=$dir/tiny
mounted=
trap 'if [ -n "$mounted" ]; then umount "$tiny"; fi; rm -rf "$dir"' EXIT
failed=0
complain() { echo "FAILED: $*: $(cat "$dir/stderr")"; failed=1; }
small="--set train=640 --set val=64 --set test=64 --set epochs=2 --set width=8 --set hidden=8 --set layers=1 --precision f32 -q"
answer() { sed -e '/^wrote/d' -e 's/; [0-9]* steps.*//' "$1"; } # without path and time
"$LRA_BUILD/lra-probe" train $small --out "$dir/whole" >"$dir/stdout" 2>"$dir/stderr" || complain "a whole run"
answer "$dir/stdout" >"$dir/answer"

# refused WHAT TEXT COMMAND...: exit 1, one line that holds TEXT, no half-written file below $dir/tiny.
refused() {
    what=$1 text=$2
    shift 2
    "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null
    got=$?
    if [ $got -ne 1 ] || [ "$(wc -l <"$dir/stderr")" -ne 1 ] || ! grep -q "$text" "$dir/stderr"; then complain "$what: exit $got"; fi
    [ -z "$(find "$tiny" -name '*.tmp')" ] || complain "$what: left $(find "$tiny" -name '*.tmp')"
}
completes() {
    "$@" >"$dir/stdout" 2>"$dir/stderr" </dev/null || complain "the same command with room again"
    answer "$dir/stdout" | cmp -s - "$dir/answer" || complain "another result: $(cat "$dir/stdout")"
}

# Limits on the size of a file: the data do not fit, then the checkpoints.
mkdir "$tiny"
limit() { (ulimit -f "$1" && shift && exec "$@"); } # blocks of 512 bytes
refused "data above the limit" "File too large" limit 4 "$LRA_BUILD/lra-probe" train $small --out "$tiny"
"$LRA_BUILD/lra-probe" train $small --out "$tiny" --dry-run >"$dir/stdout" 2>"$dir/stderr" || complain "data alone"
refused "a checkpoint above the limit" "File too large" limit 16 "$LRA_BUILD/lra-probe" train $small --out "$tiny"
completes "$LRA_BUILD/lra-probe" train $small --out "$tiny"
run=$(echo "$tiny"/runs/*)
refused "an export above the limit" "File too large" limit 1 "$LRA_BUILD/lra-probe" export "$run" "$tiny/w"
refused "ListOps files above the limit" "File too large" limit 4 "$LRA_BUILD/lra-probe" data listops --make 500 --out "$tiny/made"
rm -rf "$tiny"

# A file system of its own, larger and larger.
mkdir "$tiny"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k none "$tiny" 2>"$dir/stderr"; then
    mounted=1
    hits=0
    for size in 16 32 48 64 80 96 128; do
        mount -o remount,size=${size}k "$tiny"
        if "$LRA_BUILD/lra-probe" train $small --out "$tiny" >"$dir/stdout" 2>"$dir/stderr" </dev/null; then break; fi
        hits=$((hits + 1))
        if [ "$(wc -l <"$dir/stderr")" -ne 1 ] || ! grep -q "No space left on device" "$dir/stderr"; then complain "$size KiB"; fi
        [ -z "$(find "$tiny" -name '*.tmp')" ] || complain "$size KiB: left $(find "$tiny" -name '*.tmp')"
    done
    [ $hits -ge 2 ] || complain "the disk was full $hits times, expected at least 2"
    mount -o remount,size=1m "$tiny"
    completes "$LRA_BUILD/lra-probe" train $small --out "$tiny"
    run=$(echo "$tiny"/runs/*)
    "$LRA_BUILD/lra-report" show "$run" >"$dir/show" 2>"$dir/stderr" || complain "show"
    dd if=/dev/zero of="$tiny/ballast" 2>/dev/null
    refused "export to a full disk" "No space left on device" "$LRA_BUILD/lra-probe" export "$run" "$tiny/w"
    [ ! -e "$tiny/w" ] || complain "a half-written export"
    refused "tables on a full disk" "No space left on device" "$LRA_BUILD/lra-report" tables --out "$tiny"
    refused "ListOps files on a full disk" "No space left on device" "$LRA_BUILD/lra-probe" data listops --make 2000 --out "$tiny/made"
    rm "$tiny/ballast"

    # Read-only: what is there can be used, nothing can be added.
    mount -o remount,ro "$tiny"
    completes "$LRA_BUILD/lra-probe" train $small --out "$tiny"
    "$LRA_BUILD/lra-report" show "$run" 2>"$dir/stderr" | cmp -s - "$dir/show" || complain "show on a read-only disk"
    refused "a new run" "Read-only file system" "$LRA_BUILD/lra-probe" train $small --seed 1 --out "$tiny"
    refused "new data" "Read-only file system" "$LRA_BUILD/lra-probe" train $small --set data-seed=3 --out "$tiny"
    refused "export" "Read-only file system" "$LRA_BUILD/lra-probe" export "$run" "$tiny/w"
    refused "tables" "Read-only file system" "$LRA_BUILD/lra-report" tables --out "$tiny"
else
    echo "skipped: full and read-only file systems (need root and tmpfs)"
fi
exit $failed
