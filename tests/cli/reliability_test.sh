#!/bin/sh
# Advice that does not destroy, levels of instructions, devices in the place of files, texts that turn: messages are true, and
# files stay.
. "$LRA_SOURCE/tests/cli/lib.sh"

small="--task xor --set distance=2 --set length=24 --set copies=1 --set train=320 --set batch=4 --set val=64 --set test=64
--set width=8 --set hidden=8 --set layers=1 -q"
newer=$LRA_SOURCE/tests/golden/newer/result.h5

# ---- unreadable is not damaged
# shellcheck disable=SC2086
run=$("$probe" train $small --set epochs=1 --set kernel=3 --out o --dry-run | sed -n 's/^run *//p')
mkdir -p "$run" && cp "$newer" "$run/result.h5" && chmod u+w "$run/result.h5"
cp "$run/result.h5" kept
# shellcheck disable=SC2086
expect 1 "reads up to 2; read it with a newer version of this program" "$probe" train $small --set epochs=1 --set kernel=3 --out o
! grep -q 'move it away' err || complain "advice to throw a newer file away: $(cat err)"
"$probe" status --out o >out 2>err || complain "status: $(cat err)"
has out 'unreadable'
has out 'has format 3, this program reads up to 2'
has out '1 unreadable for the reason above'
! grep -q 'damaged' out || complain "a newer file is called damaged: $(cat out)"
"$probe" status --out o --json >out && grep -q '"state":"unreadable","reason":' out || complain "status --json: $(cat out)"
# shellcheck disable=SC2086
"$probe" receptive-field $small --set epochs=1 --kernels 3,65 --seeds 1 --out o --dry-run >out 2>err || complain "ladder: $(cat err)"
grep -q '= 2 runs, 0 done' out || complain "--dry-run counts a newer file as done: $(cat out)"
has err 'read it with a newer version of this program'
# shellcheck disable=SC2086
"$probe" sweep $small --set epochs=1 --vary kernel=3 --seeds 1 --out o --dry-run >out 2>err || complain "sweep: $(cat err)"
! grep -q '1 done' out || complain "--dry-run of a sweep counts a newer file as done: $(cat out)"
cmp -s kept "$run/result.h5" || complain "a newer file is written over"
if [ "$(id -u)" != 0 ]; then as=; elif command -v setpriv >/dev/null; then as="setpriv --reuid=65534 --clear-groups"; else as=none; fi
if [ "$as" != none ]; then
    chmod 755 . && chmod 0 "$run/result.h5"
    $as "$probe" status --out o >out 2>err || complain "status without permission: $(cat err)"
    grep -q unreadable out && grep -q 'Permission denied' out || complain "no permission: $(cat out)"
    ! grep -q 'move' out || complain "advice to move what cannot be read: $(cat out)"
    chmod 644 "$run/result.h5"
else echo "skipped: permissions (root without setpriv)"; fi
head -c 200 "$newer" >"$run/result.h5"
# shellcheck disable=SC2086
expect 1 "not a complete HDF5 file.*move it away" "$probe" train $small --set epochs=1 --set kernel=3 --out o
rm -r o

# A file of measurements that this program cannot read is not written over.
# shellcheck disable=SC2086
"$probe" train $small --set epochs=1 --set kernel=3 --out o >out 2>err || fail "train: $(cat err)"
run=$(echo o/runs/*)
cp "$newer" "$run/influence.h5" && chmod u+w "$run/influence.h5"
expect 1 "reads up to 2" "$probe" influence "$run" --parts jacobian --examples 4 --out o -q
cmp -s "$newer" "$run/influence.h5" || complain "newer measurements are written over"
rm -f "$run/influence.h5"

# ---- instruction levels
long="--set kernel=3 --set epochs=100000 --set train=64"
LRA_CPU=portable "$probe" list devices >out 2>&1 && best=$("$probe" --version | sed -n 's/.*\(avx2\|avx512\|amx\).*/\1/p' | head -n 1)
if [ -n "$best" ]; then
    # shellcheck disable=SC2086
    LRA_CPU=portable "$probe" train $small $long --precision f32 --out l >out 2>err &
    pid=$!
    happens sh -c 'ls l/runs/*/checkpoint.h5'
    kill -INT $pid
    wait $pid
    touch stamp
    # shellcheck disable=SC2086
    "$probe" train $small $long --precision f32 --out l >out 2>err &
    pid=$!
    happens sh -c '[ -n "$(find l/runs -name checkpoint.h5 -newer stamp)" ]'
    kill -INT $pid
    wait $pid
    grep -q 'resumes on another instruction level .*equal up to rounding, not bit for bit' err || complain "no word of another level: $(cat err)"
    touch stamp
    # shellcheck disable=SC2086
    "$probe" train $small $long --precision f32 --out l >out 2>err &
    pid=$!
    happens sh -c '[ -n "$(find l/runs -name checkpoint.h5 -newer stamp)" ]'
    kill -INT $pid
    wait $pid
    ! grep -q 'another instruction level' err || complain "the same level is called another: $(cat err)"
    # A finished run records all of its levels, and tables that mix levels have a note.
    for cpu in portable "$best"; do
        # shellcheck disable=SC2086
        LRA_CPU=$cpu "$probe" train $small --set epochs=1 --set kernel=3 --precision f32 --seed $([ $cpu = portable ] && echo 1 || echo 2) --out m >out 2>err ||
            complain "$cpu: $(cat err)"
    done
    "$report" tables --wide --table tasks --out m >out 2>err || complain "tables: $(cat err)"
    grep -q 'the files are from different instruction levels: .*portable (1).*rounding' out || complain "a table mixes levels in silence: $(cat out)"
    rm -r m/runs/*/ && LRA_CPU=$best && export LRA_CPU
    for seed in 1 2; do
        # shellcheck disable=SC2086
        "$probe" train $small --set epochs=1 --set kernel=3 --precision f32 --seed $seed --out m >out 2>err || complain "seed $seed: $(cat err)"
    done
    unset LRA_CPU
    "$report" tables --wide --table tasks --out m >out 2>err || complain "tables: $(cat err)"
    ! grep -q 'instruction levels' out || complain "a note on one level: $(cat out)"
else echo "skipped: instruction levels (this processor has one)"; fi

# ---- in the place of files
mkfifo fifo
expect 1 "not a regular file" "$probe" export "$run" fifo --force --out o
[ -p fifo ] || complain "export replaces a FIFO"
expect 1 "not a regular file" "$probe" export "$run" /dev/null --force --out o
[ -c /dev/null ] || { rm -f /dev/null && mknod -m 666 /dev/null c 1 3; complain "export replaces /dev/null"; }
"$probe" export "$run" w.safetensors --out o >out 2>err || complain "export: $(cat err)"

# The model that a file names is compared: arrays of others may have the same names and shapes.
LC_ALL=C sed 's/"lra.model":"resconv"/"lra.model":"bigbird"/' w.safetensors >other.safetensors
cmp -s w.safetensors other.safetensors && complain "no metadata 'lra.model' in an export"
# shellcheck disable=SC2086
expect 1 "has the weights of model 'bigbird' (metadata 'lra.model'), expected 'resconv'" \
    "$probe" train $small --set epochs=1 --set kernel=3 --weights other.safetensors --out w
LC_ALL=C sed 's/"lra.model":"resconv"/"lra.model":"my  own"/' w.safetensors >own.safetensors
# shellcheck disable=SC2086
expect 0 '' "$probe" train $small --set epochs=1 --set kernel=3 --weights own.safetensors --out w

# ---- JSON
odd=$(printf 'd\377ir')
if mkdir "$odd" 2>/dev/null; then
    # shellcheck disable=SC2086
    "$probe" train $small --set epochs=1 --set kernel=3 --out "$odd" --dry-run --json >out 2>err || complain "--json: $(cat err)"
    grep -q '"run":"d?ir/runs/' out || complain "no document where a path is no UTF-8: $(cat out)"
else echo "skipped: a path that is no UTF-8 (the file system has none)"; fi
"$probe" influence "$run" --out o --dry-run --json -q >out 2>err || complain "influence --dry-run --json: $(cat err)"
grep -q '^{"schema":1,"runs":\[{"run":"o/runs/.*"name":"jacobian","measured":false,"passes":[0-9.]*,"examples":' out ||
    complain "influence --dry-run --json: $(cat out)"

# ---- no text that turns the direction of a line
turned=$(printf 'a\342\200\256gpj.h5')
expect 2 '???gpj' "$report" show "$turned"
! grep -q "$(printf '\342\200\256')" err || complain "a bidirectional control character reaches the terminal"

# ---- file systems without locks (lock_test); several processes know of it
# shellcheck disable=SC2086
"$probe" receptive-field $small --set epochs=1 --kernels 3,65 --seeds 1 --jobs 2 --out n --no-locks >out 2>err || complain "--no-locks: $(cat err)"
"$probe" influence n/runs/* --parts jacobian --examples 4 --out n --no-locks -q >out 2>err || complain "--no-locks: $(cat err)"
exit $bad
