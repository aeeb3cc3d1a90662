#!/bin/sh
# A portable build: what it links comes from archives, beside CUDA and the C library.  In a portable build the
# programs themselves are asked; elsewhere a portable tree is configured and its link commands are read, which
# is skipped, and said, where an archive is missing.
. "$LRA_SOURCE/tests/cli/lib.sh"
set -e

# Libraries of the C library and the dynamic linker; cmocka, which has no archive, lies beside the tests.
libc='linux-vdso|libc|libm|libdl|libpthread|librt|ld-linux[^.]*'
if grep -q '^LRA_PORTABLE:BOOL=ON' "$LRA_BUILD/CMakeCache.txt"; then
    for program in lra-probe lra-report tests/cuda_test tests/cuda_model_test; do
        ldd "$LRA_BUILD/$program" >"$tmp/ldd"
        foreign=$(awk '{print $1, $3}' "$tmp/ldd" | grep -vE "(^|/)($libc)\.so" | grep -v " $LRA_BUILD/tests/" || true)
        [ -z "$foreign" ] || fail "'$program' needs $foreign"
        grep -q 'libc\.so' "$tmp/ldd" || fail "ldd says nothing of '$program'"
    done
    exit 0
fi

if ! cmake -S "$LRA_SOURCE" -B "$tmp/build" -G 'Unix Makefiles' -DCMAKE_BUILD_TYPE=Release -DLRA_PORTABLE=ON \
    -DLRA_CUDA=OFF >"$tmp/log" 2>&1; then
    if grep -q 'there is no archive\|no archive of OpenMP' "$tmp/log"; then
        echo "skipped: $(grep -m 1 'no archive' "$tmp/log")"
        exit 0
    elif ! command -v make >/dev/null 2>&1; then
        echo "skipped: there is no make"
        exit 0
    fi
    cat "$tmp/log" >&2
    fail "a portable tree cannot be configured"
fi
for program in lra-probe lra-report; do
    link=$tmp/build/CMakeFiles/$program.dir/link.txt
    grep -q 'libhdf5\.a' "$link" || fail "'$program' does not link the archive of HDF5"
    grep -q 'libgsl\.a.*libgslcblas\.a' "$link" || fail "'$program' does not link the archives of GSL"
    grep -q -e '-static-libgcc' "$link" || fail "'$program' needs libgcc_s"
    foreign=$(tr ' ' '\n' < "$link" | grep -E '\.so|^-l|^-fopenmp' | grep -vE '^-l(m|dl|rt|pthread)$' || true)
    [ -z "$foreign" ] || fail "'$program' links $foreign"
done
