#!/bin/sh
# Plants a fault at every barrier and every wait of the CUDA kernels, one at a time, on the host shim, and prints how each is
# caught (tests/kernels/shim_mutants_test.c).  Fails if one is not caught, or if a place in the sources is never visited.
#   tests/shim/mutants.sh BUILD      takes some minutes
set -u
[ $# -eq 1 ] || { echo "usage: tests/shim/mutants.sh BUILD" >&2; exit 2; }
program=$(cd "$1" && pwd)/tests/shim_mutants_test || exit 1
[ -x "$program" ] || { echo "mutants: '$program' is missing: build the target shim_mutants_test" >&2; exit 1; }
cd "$(dirname "$0")/../.." || exit 1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
LRA_MUTANTS=all "$program" > "$log" 2>&1
status=$?
cat "$log"
for place in $(grep -nE '__syncthreads\(\)|(tc|wg)_wait<[^>]*>\(\)|bar_wait\(&' kernels/ops/*/*.cu kernels/ops/*/*.h kernels/ops/*.h | cut -d: -f1,2); do
    grep -q "^$place: " "$log" || { echo "$place: never visited"; status=1; }
done
exit $status
