#!/bin/sh
# --device: one program with and without a driver.  What cannot be used is refused in one line; auto says once
# why it is the CPU.
. "$LRA_SOURCE/tests/cli/lib.sh"
expect 0 '' lra-probe list devices
says '^cpu  *.* threads, '
says '^cuda'
cp out devices
expect 2 "unknown device 'gpu'; expected auto, cpu, cuda or cuda:N" lra-probe bench step --device gpu
expect 2 "unknown device 'cuda:x'" lra-probe bench step --device cuda:x
expect 2 "unknown device 'cuda:-1'" lra-probe bench step --device cuda:-1
expect 1 "device 'cuda:99': " lra-probe bench step --device cuda:99
! grep -q '^cuda:0' devices || exit $bad

# No GPU: refused where one is asked for, and nothing is written; else one notice, if this build could use one.
if grep -q 'not part of this build' devices; then notices=0; reason='this build has no CUDA'
else notices=1; reason='the NVIDIA driver\|there is no NVIDIA driver'; fi
expect 1 "device 'cuda': .*\\($reason\\)" lra-probe train --device cuda --out none
[ ! -e none ] || complain "a refused device leaves a folder"
for command in "train --seed 1" "receptive-field --seeds 1 --kernels 1,3"; do
    # shellcheck disable=SC2086
    expect 0 '' lra-probe $command --out auto --set train=200 --set val=50 --set test=50 --set epochs=1
    [ "$(grep -c -i 'no GPU\|NVIDIA' err)" = "$notices" ] || complain "not $notices notices from '$command'"
done
expect 0 '' lra-probe bench params --device auto
[ "$(grep -c 'NVIDIA' err)" = "$notices" ] || complain "not $notices notices from bench"
exit $bad
