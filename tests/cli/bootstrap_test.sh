#!/bin/sh
# Which options `./bootstrap` passes to cmake: CUDA is left out of a demo without a GPU driver, and test builds without one
# have a single architecture.  cmake, ctest and the programs are stand-ins that record their arguments.
. "$LRA_SOURCE/tests/cli/lib.sh"

cp "$LRA_SOURCE/bootstrap" . && mkdir bin build build/release none gpu || fail "cannot make the folders"
: >gpu/nvidiactl
for program in bin/cmake bin/ctest bin/apt-get build/release/lra-probe build/release/lra-report; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' "${program##*/}" "$tmp" >"$program" && chmod +x "$program"
done
printf 'exit 1\n' >>bin/apt-get # nothing is installed
PATH=$tmp/bin:$PATH

# calls WORD DEVICES: what `./bootstrap WORD` runs; the last of equal options counts in cmake.
calls() {
    rm -f calls
    LRA_DEVICES=$tmp/$2 ./bootstrap "$1" >out 2>&1 </dev/null ||
        { ! grep -q '^apt-get' calls || skip "a package is missing"; fail "bootstrap $1: $(cat out)"; }
}
last() { sed -n 's/^cmake -S . -B build\/release //p' calls | tr ' ' '\n' | grep -e "$1" | tail -n 1; }
is() { [ "$(last "$1")" = "$2" ] || complain "$3: '$(last "$1")', expected '$2'"; }

unset LRA_CUDA_ARCH
calls demo none
is '-DLRA_CUDA=' -DLRA_CUDA=OFF "demo without a driver"
grep -q 'no GPU driver' out || complain "a demo without CUDA does not say so: $(cat out)"
grep -q '^cmake --build build/release .*--target lra-probe lra-report$' calls || complain "the demo builds more than two programs"
calls demo gpu
is '-DLRA_CUDA=' -DLRA_CUDA=AUTO "demo with a driver"
calls build none
is '-DLRA_CUDA=' -DLRA_CUDA=AUTO "build"
is 'LRA_CUDA_ARCHITECTURES' -ULRA_CUDA_ARCHITECTURES "build"
calls test none
is 'LRA_CUDA_ARCHITECTURES' -DLRA_CUDA_ARCHITECTURES=90a-real "test without a driver"
is '-DLRA_CUDA=' -DLRA_CUDA=AUTO "test without a driver"
grep -q '^cmake -S . -B build/debug .*-DLRA_CUDA=OFF' calls || complain "the Debug build contains CUDA"
[ "$(grep -c '^ctest' calls)" -eq 2 ] || complain "not two runs of ctest"
calls test gpu
is 'LRA_CUDA_ARCHITECTURES' -ULRA_CUDA_ARCHITECTURES "test with a driver"
LRA_CUDA_ARCH='sm_80 90a' && export LRA_CUDA_ARCH
calls test gpu
is 'LRA_CUDA_ARCHITECTURES' '-DLRA_CUDA_ARCHITECTURES=80-real;90a-real' "test with LRA_CUDA_ARCH"
exit $bad
