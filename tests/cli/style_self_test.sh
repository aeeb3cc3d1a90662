#!/bin/sh
# labels: slow
# Every check of tests/style.sh can fail: a small tree with one fault each, and style.sh names it.
. "$LRA_SOURCE/tests/cli/lib.sh"
fresh() {
    rm -rf "$tmp/tree"
    mkdir -p "$tmp/tree/kernels/base" "$tmp/tree/kernels/graph" "$tmp/tree/analysis" "$tmp/tree/reports"
    cp "$LRA_SOURCE/.clang-format" "$tmp/tree/"
    printf 'int lra_one(void);\nint lra_one(void)\n{\n    return 1;\n}\n' >"$tmp/tree/kernels/base/one.c"
}
check() { LRA_SOURCE=$tmp/tree sh "$LRA_SOURCE/tests/style.sh" >"$tmp/out" 2>&1; }
# refused PATTERN: the tree as it stands is refused with this complaint.
refused() {
    if check; then complain "not refused: $1"; fi
    grep -q -- "$1" "$tmp/out" || complain "no '$1' in: $(cat "$tmp/out")"
}
body() { printf 'int lra_two(void);\nint lra_two(void)\n{\n    %s\n}\n' "$2" >"$tmp/tree/$1"; }

fresh
check || complain "a clean tree is refused: $(cat "$tmp/out")"
if command -v clang-format >/dev/null; then
    fresh && printf 'int  lra_two( void );\n' >"$tmp/tree/kernels/base/two.c" && refused 'two.c: not formatted'
fi
fresh && awk 'BEGIN {printf "/*"; for (i = 0; i < 33; i++) printf " on"; print " */"}' >"$tmp/tree/kernels/base/two.c" && refused 'comment over 100 columns'
fresh && body kernels/base/two.c 'return atoi("2");' && refused 'banned function'
fresh && body kernels/graph/two.c 'return malloc(2) != 0;' && refused 'allocation outside kernels/base'
fresh && body kernels/graph/two.c 'int a, b = 2; if (a = b) return 1;' && refused 'assignment inside a condition'
fresh && printf '#include "reports/results/result.h"\n' >"$tmp/tree/kernels/graph/two.c" && refused 'may not include reports/results/result.h'
fresh && printf '#include "kernels/graph/op.h"\n' >"$tmp/tree/analysis/two.c" && refused 'analysis/two.c: may not include'
fresh && printf '#include "kernels/base/three.h"\n' >"$tmp/tree/kernels/base/two.c" && printf '#include "kernels/base/two.h"\n' >"$tmp/tree/kernels/base/three.h" && refused 'a circle: kernels/base/two includes kernels/base/three'
fresh && mkdir "$tmp/tree/elsewhere" && body elsewhere/two.c 'return 2;' && refused 'a folder that the design does not name'
fresh && printf '/* see /%s/me/notes */\n' home >"$tmp/tree/kernels/base/two.c" && refused 'a path of one machine'
fresh && awk 'BEGIN {for (i = 0; i < 801; i++) print "/* x */"}' >"$tmp/tree/kernels/base/two.c" && refused '801 lines, at most 800'
fresh && mkdir "$tmp/tree/models" && printf 'LRA_MODEL(two)\n' >"$tmp/tree/models/models.def" && refused "models.def names 'two', and models/two.c does not"
printf 'typedef int lra_model;\nconst lra_model lra_model_two = 2;\nconst lra_model lra_model_three = 3;\n' >"$tmp/tree/models/two.c" && refused 'lra_model_three has no line in models/models.def'
fresh && mkdir "$tmp/tree/datasets" && printf 'LRA_TASK(two)\n' >"$tmp/tree/datasets/datasets.def" && printf 'typedef int lra_task;\nconst lra_task lra_task_two = 2;\nconst lra_task lra_task_three = 3;\n' >"$tmp/tree/datasets/two.c" && refused 'lra_task_three has no line in datasets/datasets.def'
command -v git >/dev/null && fresh && (cd "$tmp/tree" && git init -q . && printf 'x\n' >notes.txt) && refused "top level holds 'notes.txt'"
exit "$bad"
