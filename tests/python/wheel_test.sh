#!/bin/sh
# labels: slow
# The wheel of ./bootstrap wheel: size, no shared library, programs that train in an empty chroot, installation into an
# empty virtual environment without network.  Without build/wheel, a static tree is configured and its link command is read.
. "$LRA_SOURCE/tests/cli/lib.sh"
python=${LRA_PYTHON:-python3}

# The link command of the static program names archives only.
configured() {
    if ! cmake -S "$LRA_SOURCE" -B "$tmp/build" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DLRA_PORTABLE=ON \
        -DLRA_STATIC=ON -DLRA_CUDA=OFF >"$tmp/log" 2>&1; then
        grep -q 'there is no archive\|no archive of OpenMP' "$tmp/log" && skip "$(grep -m 1 'no archive' "$tmp/log")"
        command -v make >/dev/null 2>&1 || skip "no make"
        cat "$tmp/log" >&2
        fail "a static tree cannot be configured"
    fi
    link=$tmp/build/CMakeFiles/lra-both.dir/link.txt
    grep -q -e ' -static ' "$link" || fail "the program is not linked statically: $(cat "$link")"
    foreign=$(tr ' ' '\n' <"$link" | grep -E '\.so|^-l|^-fopenmp' | grep -vE '^-l(m|dl|rt|pthread)$' || true)
    [ -z "$foreign" ] || fail "the program links $foreign"
}

wheel=$(ls "$LRA_SOURCE"/build/wheel/lra_locality-*-py3-none-manylinux_2_17_x86_64.whl 2>/dev/null | tail -n 1)
if [ -z "$wheel" ]; then
    configured
    echo "build/wheel is empty: only the link command was tested (./bootstrap wheel makes the wheel)"
    exit $bad
fi
[ "$(wc -c <"$wheel")" -le 8000000 ] || complain "$wheel has $(wc -c <"$wheel") bytes, expected at most 8000000"
command -v "$python" >/dev/null 2>&1 || skip "no $python"
"$python" -m zipfile -e "$wheel" unpacked || fail "the wheel cannot be unpacked"
program=unpacked/lra_locality/bin/lra-probe
chmod +x "$program" || fail "the wheel has no program"
if command -v readelf >/dev/null 2>&1; then
    readelf -lW "$program" | grep -q 'LOAD' || fail "readelf cannot read the program"
    ! readelf -lW "$program" | grep -qE 'INTERP|DYNAMIC' || complain "the program is dynamic"
fi

# An empty chroot: no library, no /proc, no /dev, no shell.
mkdir -p root/out && cp "$program" root/lra-probe && cp "$program" root/lra-report
if [ "$(id -u)" = 0 ] && chroot root /lra-probe --version >/dev/null 2>&1; then enter="chroot root"
elif unshare -r chroot root /lra-probe --version >/dev/null 2>&1; then enter="unshare -r chroot root"
else enter=; chroot root /lra-probe --version 2>err; grep -qiE 'not permitted|denied' err || complain "chroot: $(cat err)"; fi
if [ -n "$enter" ]; then
    $enter /lra-report --version | grep -q '^lra-report' || complain "the program called lra-report is not lra-report"
    $enter /lra-probe train --task xor --set distance=2 --set copies=1 --set length=32 --set train=64 --set val=64 --set test=64 \
        --set layers=1 --set width=8 --set hidden=8 --set epochs=1 --threads 1 --out /out >out 2>err || complain "training in the chroot: $(cat err)"
    $enter /lra-report tables --out /out >out 2>err || complain "tables in the chroot: $(cat err)"
    grep -q xor out || complain "the table of the chroot lacks the run: $(cat out)"
else
    echo "skipped: chroot (not permitted)"
fi

# An empty virtual environment; numpy may come from the outer one, since there is no network.
if ! "$python" -m venv --system-site-packages env >log 2>&1 || [ ! -x env/bin/pip ]; then
    echo "skipped: no venv with pip"
    exit $bad
fi
env/bin/pip install --no-index --no-deps --disable-pip-version-check "$wheel" >log 2>&1 || fail "pip: $(cat log)"
unset LRA_BIN
for name in lra-probe lra-report; do
    env/bin/$name --version >out 2>err || complain "$name of the wheel: $(cat err)"
    grep -q "^$name" out || complain "$name of the wheel says $(cat out)"
done
env/bin/python -c 'import lra_locality' 2>err || grep -q "No module named 'numpy'" err || complain "import: $(cat err)"
exit $bad
