#!/bin/sh
# The hash of a model's sources: it stays when files move and comments, messages, help and presets are written anew, and
# changes with the arithmetic; results record it, and --force trains a run again.
. "$LRA_SOURCE/tests/cli/lib.sh"
tool=$LRA_BUILD/lra_sources

mkdir -p a/models a/ops b/architectures b/kernels/ops
cat >a/models/part.h <<'END'
/* shared */
float scaled(float x);
END
cat >a/models/part.c <<'END'
#include "models/part.h"
float scaled(float x) { return 2 * x; }
END
cat >a/models/one.c <<'END'
/* one: twice. */
#include "models/part.h"
static const lra_key keys[] = {LRA_INT_KEY("width", "8", 1, 64, "channels"), LRA_KEYS_END};
static const lra_model_preset presets[] = {{"listops", "paper", "own", "width=3", NULL}};
const lra_model lra_model_one = {.name = "one", .summary = "it doubles", .keys = keys};
float encode(float x) { return scaled(x) + 1; } // here
END
cat >a/models/two.c <<'END'
const lra_model lra_model_two = {.name = "two"};
END
printf 'const lra_op lra_op_mul = {"mul"};\n' >a/ops/mul.c
hash() { # hash FOLDER MODELS OPS NAME
    "$tool" out.c "$1" --models $(cd "$1" && ls "$2"/*) --ops $(cd "$1" && ls "$3"/*) --engine "$3/mul.c" || complain "sources: $1"
    sed -n "s/.*{\"$4\", UINT64_C(\(0x[0-9a-f]*\))}.*/\1/p" out.c
}
one=$(hash a models ops one) two=$(hash a models ops two)
[ -n "$one" ] && [ "$one" != "$two" ] || complain "no hash: '$one' '$two'"

# Moved, with other include paths, comments, blanks, help, messages and presets.
sed 's|models/|architectures/|; s|shared|of several models|' a/models/part.h >b/architectures/part.h
sed 's|models/|architectures/|; s|{ return|{\n    return|' a/models/part.c >b/architectures/part.c
sed -e 's|models/|architectures/|' -e 's|/\* one: twice. \*/|/* Doubles its input. */|' -e 's|"channels"|"number of channels"|' \
    -e 's|width=3|width=4 layers=2|' -e 's|it doubles|the double of its input|' -e 's|// here|/* doubled, plus 1 */|' a/models/one.c >b/architectures/one.c
cp a/models/two.c b/architectures/ && cp a/ops/mul.c b/kernels/ops/
cmp -s a/models/one.c b/architectures/one.c && complain "nothing was changed"
[ "$(hash b architectures kernels/ops one)" = "$one" ] || complain "a move or a comment changes the hash"

# A constant, a default, a shared file: each changes the hash of what uses it alone.
for change in 's|+ 1|+ 3|' 's|"8"|"16"|'; do
    cp -r a c && sed -i "$change" c/models/one.c
    [ "$(hash c models ops one)" != "$one" ] || complain "'$change' leaves the hash"
    [ "$(hash c models ops two)" = "$two" ] || complain "'$change' changes another model"
    rm -r c
done
cp -r a c && sed -i 's|2 \* x|4 * x|' c/models/part.c
[ "$(hash c models ops one)" != "$one" ] || complain "a shared file leaves the hash"

# Every model and every op of this program has one.
"$probe" list models >names
grep -c '' names >/dev/null
[ "$(grep -c 'UINT64_C' "$LRA_BUILD/sources.c")" -gt 100 ] || complain "the program's own table: $(cat "$LRA_BUILD/sources.c")"

# --force trains again, and gives the same.
small="--set train=640 --set val=64 --set test=64 --set epochs=1 --set width=8 --set hidden=8 --set layers=1 --out o"
expect 0 '' lra-probe train $small
cp out first
run=$(echo o/runs/*)
touch "$run/kernels.h5"
expect 0 'already done; its result is below' lra-probe train $small
expect 0 'epoch 1 of 1' lra-probe train $small --force
[ "$(grep -o 'test accuracy [0-9.]*' out)" = "$(grep -o 'test accuracy [0-9.]*' first)" ] || complain "--force: $(cat out first)"
[ ! -e "$run/kernels.h5" ] || complain "measurements of the weights before stay"
[ -e "$run/result.h5" ] || complain "no result after --force"

# A plan has a time bound: at its end the program says how to continue, and has written nothing.  The signal of the clock
# is sent here, while the rows are made, which would take hours.
waits_for_clock() { grep -q '^SigCgt:.*[2367abef][0-9a-f]\{3\}$' "/proc/$1/status"; }
if [ -r /proc/self/status ]; then
    for command in train 'receptive-field --kernels 3' 'sweep --vary kernel=3,5'; do
        # shellcheck disable=SC2086
        "$probe" $command --task listops --preset paper --set train=100000000 --dry-run --out p >out 2>err &
        pid=$!
        happens waits_for_clock $pid
        kill -ALRM $pid
        wait $pid
        [ $? -eq 1 ] || complain "$command: a dry run that takes too long does not fail: $(cat err)"
        has err "--dry-run has reached its time limit"
        has err "run 'lra-probe data TASK' once with the same --preset and --set"
        [ ! -s out ] || complain "$command: half a plan: $(cat out)"
    done
    [ ! -e p ] || complain "--dry-run writes: $(find p)"
else
    echo "skipped: the time bound of a plan (no /proc)"
fi
exit $bad
