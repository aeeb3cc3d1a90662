#!/bin/sh
# A disk that fills up at any moment of a run, a limit on the size of files, and a read-only file system: one line
# that says so, exit code 1, nothing half-written; with room again the same command completes the run, with the
# same result.
. "$LRA_SOURCE/tests/cli/lib.sh"
tiny=$tmp/tiny
mounted=
trap 'if [ -n "$mounted" ]; then umount "$tiny"; fi; clean_up' EXIT
small="--set train=640 --set val=64 --set test=64 --set epochs=2 --set width=8 --set hidden=8 --set layers=1 --precision f32 -q"
answer() { sed -e '/^wrote/d' -e 's/; [0-9]* steps.*//' "$1"; } # without path and time
expect 0 '' lra-probe train $small --out whole
answer out >answer

# refused TEXT COMMAND...: one line, no half-written file; what was done before the disk was full may be on stdout.
refused() {
    text=$1
    shift
    "$@" >out 2>err </dev/null
    got=$?
    if [ $got -ne 1 ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -q "$text" err; then complain "$*: exit $got, $(cat err)"; fi
    [ -z "$(find "$tiny" -name '*.tmp')" ] || complain "$*: left $(find "$tiny" -name '*.tmp')"
}
completes() {
    expect 0 '' "$@"
    answer out | cmp -s - answer || complain "another result with room again: $(cat out)"
}

# Limits on the size of a file: the data do not fit, then the checkpoints.
mkdir "$tiny"
limit() { (ulimit -f "$1" && shift && exec "$@"); } # blocks of 512 bytes
refused "File too large" limit 4 lra-probe train $small --out "$tiny"
expect 0 '' lra-probe train $small --out "$tiny" --dry-run
refused "File too large" limit 16 lra-probe train $small --out "$tiny"
completes lra-probe train $small --out "$tiny"
run=$(echo "$tiny"/runs/*)
refused "File too large" limit 1 lra-probe export "$run" "$tiny/w"
refused "File too large" limit 4 lra-probe data listops --make 500 --out "$tiny/made"
rm -rf "$tiny"

# A file system of its own, larger and larger.
mkdir "$tiny"
if [ "$(id -u)" = 0 ] && mount -t tmpfs -o size=16k none "$tiny" 2>err; then
    mounted=1
    hits=0
    for size in 16 32 48 64 80 96 128; do
        mount -o remount,size=${size}k "$tiny"
        if lra-probe train $small --out "$tiny" >out 2>err </dev/null; then break; fi
        hits=$((hits + 1))
        if [ "$(wc -l <err)" -ne 1 ] || ! grep -q "No space left on device" err; then complain "$size KiB: $(cat err)"; fi
        [ -z "$(find "$tiny" -name '*.tmp')" ] || complain "$size KiB: left $(find "$tiny" -name '*.tmp')"
    done
    [ $hits -ge 2 ] || complain "the disk was full $hits times, expected at least 2"
    mount -o remount,size=1m "$tiny"
    completes lra-probe train $small --out "$tiny"
    run=$(echo "$tiny"/runs/*)
    lra-report show "$run" >show 2>err || complain "show: $(cat err)"
    dd if=/dev/zero of="$tiny/ballast" 2>/dev/null
    refused "No space left on device" lra-probe export "$run" "$tiny/w"
    [ ! -e "$tiny/w" ] || complain "a half-written export"
    refused "No space left on device" lra-report tables --out "$tiny"
    refused "No space left on device" lra-probe data listops --make 2000 --out "$tiny/made"
    rm "$tiny/ballast"

    # Read-only: what is there can be used, nothing can be added.
    mount -o remount,ro "$tiny"
    completes lra-probe train $small --out "$tiny"
    lra-report show "$run" 2>err | cmp -s - show || complain "show on a read-only disk"
    refused "Read-only file system" lra-probe train $small --seed 1 --out "$tiny"
    refused "Read-only file system" lra-probe train $small --set data-seed=3 --out "$tiny"
    refused "Read-only file system" lra-probe export "$run" "$tiny/w"
    refused "Read-only file system" lra-report tables --out "$tiny"
else
    echo "skipped: full and read-only file systems (need root and tmpfs)"
fi
exit $bad
