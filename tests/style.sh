#!/bin/sh
# labels: slow
# Style: format, banned functions, include arrows and circles, sizes, top level, registries.  Prints lines per folder.
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
    said=$(printf '%s\n' $sources | xargs -n 50 clang-format --dry-run -Werror 2>&1) || {
        files=$(printf '%s\n' "$said" | sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' | sort -u)
        for f in $files; do complain "$f: not formatted (clang-format -i $f)"; done
        [ -n "$files" ] || complain "clang-format: $said"
    }
elif [ "${CI-}" = true ]; then complain "clang-format is not installed"
else echo "style: clang-format is not installed, format not checked"; fi

hits=$(awk 'length > 100 && !/[="]/ && !/[^ ]   / && !/^#define/ { print FILENAME ":" FNR }' $sources)
[ -z "$hits" ] || complain "comment over 100 columns (formulas and tables may be wider): $hits"

# 2. Functions that we do not use; memory comes from kernels/base/core/mem.c.
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
kernels/ops kernels/ops kernels/graph/op.h kernels/graph/distance_limit.h kernels/graph/mixing.h kernels/base kernels/cpu/gemm.h kernels/cpu/fft.h kernels/cpu/tiles.h kernels/cuda/gemm.h kernels/cuda/fft.h kernels/cuda/fused.h kernels/cuda/launch.h kernels/cuda/tensor.h kernels/cuda/wgmma.h
models/training models datasets kernels/graph kernels/base
models models kernels/graph kernels/base
datasets datasets kernels/base
analysis analysis kernels/base
reports/results reports/results analysis kernels/base
reports/papers reports/papers reports/results kernels/base
reports reports analysis models/models.def kernels/base
probes/shared probes/shared probes/run reports analysis datasets models kernels
probes/audit probes/audit probes/shared probes/run reports analysis datasets models kernels
probes/attention probes/attention probes/shared probes/run reports analysis datasets models kernels
probes/bench probes/bench probes/shared probes/run probes/probe.h reports analysis datasets models kernels
probes/data probes/data probes/shared probes/run reports analysis datasets models kernels
probes/fit probes/fit probes/shared probes/run reports analysis datasets models kernels
probes/influence probes/influence probes/shared probes/run reports analysis datasets models kernels
probes/kernels probes/kernels probes/shared probes/run reports analysis datasets models kernels
probes probes reports analysis datasets models kernels
END
}
ours=$(printf '%s\n' $sources | grep -v '^tests/')
hits=$({
    arrows | sed 's/^/arrow /'
    printf 'file %s\n' $ours
    grep -H '^#include "' $ours /dev/null | sed 's/^\([^:]*\):#include "\([^"]*\)".*/include \1 \2/'
} | awk '
    function may(file, i) {
        for (i = 1; i <= n; i++) if (index(file, folder[i] "/") == 1) return list[i]
        return ""
    }
    $1 == "arrow" { folder[++n] = $2; list[n] = $0 }
    $1 == "file" && may($2) == "" { print $2 ": a folder that the design does not name" }
    $1 == "include" && may($2) != "" {
        k = split(may($2), to, " ")
        ok = 0
        for (i = 3; i <= k; i++) ok = ok || $3 == to[i] || index($3, to[i] "/") == 1
        if (!ok) print $2 ": may not include " $3
    }')
[ -z "$hits" ] || complain "$hits"

# 4. Circles: what files include leads back to none of them.  X.h and X.c are one; *_body.h and *_template.h belong to
# the file that compiles them.
hits=$(grep -H '^#include "' $ours /dev/null | grep -vE '_(body|template)\.h' | awk '
    function stem(file) { if (file !~ /\.cu$/) sub(/\.[^.]*$/, "", file); return file }
    {
        from = stem(substr($0, 1, index($0, ":") - 1))
        to = $0; sub(/^[^"]*"/, "", to); sub(/".*/, "", to); to = stem(to)
        if (from != to && to ~ /\// && !((from, to) in seen)) { seen[from, to] = 1; a[++n] = from; b[n] = to }
    }
    END { # leaves out, again and again, includes of what includes nothing, and by what nothing includes
        do {
            split("", out); split("", in_); left = 0; changed = 0
            for (i = 1; i <= n; i++) if (!(i in gone)) { out[a[i]] = 1; in_[b[i]] = 1 }
            for (i = 1; i <= n; i++) if (!(i in gone) && !((b[i] in out) && (a[i] in in_))) { gone[i] = 1; changed = 1 }
        } while (changed)
        for (i = 1; i <= n; i++) if (!(i in gone)) print "a circle: " a[i] " includes " b[i]
    }')
[ -z "$hits" ] || complain "$hits"

# 5. Sizes.
hits=$(wc -l $sources | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines, at most 800" }')
[ -z "$hits" ] || complain "$hits"

# 6. The top level, and paths of one machine.
for f in $(list | cut -d/ -f1 | sort -u); do
    case $f in
        probes | models | kernels | analysis | datasets | reports | tests | CMakeLists.txt | README.md | CONTRIBUTING.md | bootstrap | LICENSE | CITATION.cff | .*) ;;
        *.c | *.h | *) complain "top level holds '$f', which the design does not name" ;;
    esac
done
hits=$(grep -nE '(^|[^A-Za-z0-9_.])/(work|home|root|Users)/' $(list | grep -vE '^(tests/golden|tests/style)') /dev/null)
[ -z "$hits" ] || complain "a path of one machine: $hits"

# 7. Registries: a line names a record in the file called after it, and no such record lacks its line.
registries() {
    cat <<'END'
models/models.def LRA_MODEL lra_model lra_model models/
models/training/objectives.def LRA_OBJECTIVE lra_objective lra_objective models/training/objectives/
models/training/schedules.def LRA_SCHEDULE lra_schedule_kind lra_schedule models/training/schedules/
probes/probes.def LRA_PROBE lra_probe lra_probe probes/
reports/tables.def LRA_TABLE lra_report_table lra_table reports/tables/table_
reports/figures.def LRA_FIGURE lra_report_figure lra_figure reports/figures/figure_
reports/html/sections.def LRA_SECTION lra_page_section lra_section reports/html/section_
END
}
hits=$(registries | while read -r def macro type record path; do
    [ -f "$def" ] || continue
    lines=$(sed -n "s/^$macro(\([a-z0-9_]*\)[,)].*/\1/p" "$def")
    for name in $lines; do # LRA_MODEL(l, "L-attention") /* las.c */: several records in one file
        file=$(sed -n "s|^$macro($name[,)].*/\* \(.*\)\.c \*/|\1|p" "$def")
        file=$path${file:-$name}.c
        grep -q "^const $type ${record}_$name = " "$file" 2>/dev/null ||
            echo "$def names '$name', and $file does not define ${record}_$name"
    done
    for name in $(sed -n "s/^const $type ${record}_\([a-z0-9_]*\) = .*/\1/p" "$path"*.c 2>/dev/null); do
        case " $(printf '%s ' $lines)" in *" $name "*) ;; *) echo "${record}_$name has no line in $def" ;; esac
    done
done)
[ -z "$hits" ] || complain "$hits"
# Where files have several records, of any name: none lacks its line (a line without a record does not link).
several() {
    cat <<'END'
kernels/graph/ops.def LRA_OP lra_op lra_op kernels/ops/attention kernels/ops/conv kernels/ops/longconv kernels/ops/ssm kernels/ops/dense kernels/ops/norm kernels/ops/elementwise kernels/ops/shape kernels/ops/loss kernels/graph
datasets/datasets.def LRA_TASK lra_task lra_task datasets
models/mixers.def LRA_MIXER lra_mixer lra_mixer models
datasets/loader/augmentations.def LRA_AUGMENTATION lra_augmentation lra_augmentation datasets/loader
probes/influence/parts.def LRA_PART lra_influence_part lra_part probes/influence
END
}
hits=$(several | while read -r def macro type record folders; do
    for folder in $folders; do
        for name in $(sed -n "s/^ *const $type ${record}_\([a-z0-9_]*\) = .*/\1/p" "$folder"/*.c 2>/dev/null); do
            grep -q "^$macro($name)" "$def" || echo "${record}_$name has no line in $def"
        done
    done
done)
[ -z "$hits" ] || complain "$hits"

# 8. The map names paths that exist.
for f in CONTRIBUTING.md README.md */README.md kernels/*/README.md models/training/README.md tests/mutants.md; do
    [ -f "$f" ] || continue
    for path in $(grep -oE '`(probes|models|kernels|analysis|datasets|reports|tests)/[A-Za-z0-9_./-]+`' "$f" | tr -d '`' | grep -vE 'NAME|FAMILY' | sort -u); do
        [ -e "$path" ] || [ -e "${path%.\*}.c" ] || complain "$f names '$path', which does not exist"
    done
done
for name in $(grep -oE '`(cli_)?[a-z0-9_]+_test`' tests/mutants.md 2>/dev/null | tr -d '`' | sort -u); do
    ls tests/*/"${name#cli_}".* >/dev/null 2>&1 || complain "tests/mutants.md names '$name', which is no test"
done

for d in kernels/base kernels/graph kernels/ops kernels/cpu kernels/cuda models datasets analysis probes reports tests; do
    n=$(printf '%s\n' $sources | grep "^$d/" | xargs cat 2>/dev/null | wc -l)
    printf '%-14s %6d lines\n' "$d" "$n"
done
exit $bad
