#!/bin/sh
# Style: format, banned functions, include arrows, file sizes, top level.  Prints lines per folder.
# LRA_SOURCE names the tree (the self test gives it broken ones).
set -u
cd "${LRA_SOURCE:-$(dirname "$0")/..}" || exit 1
bad=0
complain() { printf 'style: %s\n' "$*"; bad=1; }

if git rev-parse --git-dir >/dev/null 2>&1; then list() { git ls-files --cached --others --exclude-standard "$@"; }
else list() { find . -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' \) -not -path './build/*' | sed 's|^\./||'; }; fi
sources=$(list '*.c' '*.h' '*.cu' | grep -E '\.(c|h|cu)$')

# 1. Format.
if command -v clang-format >/dev/null 2>&1; then
    for f in $sources; do
        clang-format --dry-run -Werror "$f" >/dev/null 2>&1 || complain "$f: not formatted (clang-format -i $f)"
    done
elif [ "${CI-}" = true ]; then complain "clang-format is not installed"
else echo "style: clang-format is not installed, format not checked"; fi

# 2. Functions that we do not use; memory comes from kernels/base/mem.c.
banned='strcpy|strcat|sprintf|strtok|gets|atoi|atof|alloca|rand|srand|system'
hits=$(grep -nE "(^|[^A-Za-z0-9_])($banned)\(" $sources /dev/null)
[ -z "$hits" ] || complain "banned function: $hits"
hits=$(grep -nE '(^|[^A-Za-z0-9_])(malloc|calloc|realloc)\(' $(printf '%s\n' $sources | grep -v '^kernels/base/') /dev/null)
[ -z "$hits" ] || complain "allocation outside kernels/base: $hits"
hits=$(grep -nE '(if|while) \([^=!<>()]*[^=!<>]=[^=]' $sources /dev/null)
[ -z "$hits" ] || complain "assignment inside a condition: $hits"

# 3. Include arrows: folder, then the prefixes it may include.
arrows() {
    cat <<'END'
kernels/base kernels/base
kernels/graph kernels/graph kernels/base
kernels/cpu kernels/cpu kernels/graph kernels/base
kernels/cuda kernels/cuda kernels/graph kernels/base
kernels/ops kernels/ops kernels/graph/op.h kernels/base kernels/cpu/gemm.h kernels/cpu/fft.h kernels/cpu/threads.h kernels/cuda/gemm.h kernels/cuda/fft.h kernels/cuda/launch.h kernels/cuda/tensor.h kernels/cuda/wgmma.h
models/training models datasets kernels/graph kernels/base
models models kernels/graph kernels/base
datasets datasets kernels/base
analysis analysis kernels/base
reports reports analysis kernels/base
probes probes reports analysis datasets models kernels
END
}
for f in $(printf '%s\n' $sources | grep -v '^tests/'); do
    allowed=$(arrows | while read -r folder rest; do
        case $f in "$folder"/*) printf '%s' "$rest"; break ;; esac
    done)
    [ -n "$allowed" ] || { complain "$f: a folder that the design does not name"; continue; }
    for i in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$f"); do
        ok=
        for a in $allowed; do case $i in "$a" | "$a"/*) ok=1 ;; esac; done
        [ -n "$ok" ] || complain "$f: may not include $i"
    done
done

# 4. Sizes.
for f in $sources; do
    n=$(wc -l <"$f")
    [ "$n" -le 800 ] || complain "$f: $n lines, at most 800"
done

# 5. The top level, and paths of one machine.
for f in $(list | cut -d/ -f1 | sort -u); do
    case $f in
        probes | models | kernels | analysis | datasets | reports | tests | CMakeLists.txt | README.md | bootstrap | LICENSE | CITATION.cff | .*) ;;
        *.c | *.h | *) complain "top level holds '$f', which the design does not name" ;;
    esac
done
hits=$(grep -nE '(^|[^A-Za-z0-9_.])/(work|home|root|Users)/' $(list | grep -vE '^(tests/golden|tests/style)') /dev/null)
[ -z "$hits" ] || complain "a path of one machine: $hits"

for d in kernels/base kernels/graph kernels/ops kernels/cpu kernels/cuda models datasets analysis probes reports tests; do
    n=$(printf '%s\n' $sources | grep "^$d/" | xargs cat 2>/dev/null | wc -l)
    printf '%-14s %6d lines\n' "$d" "$n"
done
exit $bad
