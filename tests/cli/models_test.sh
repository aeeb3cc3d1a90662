#!/bin/sh
# Every model is trained by the command, from its tiny settings up to a result that can be shown.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--task listops --preset quick --set train=32 --set val=16 --set test=16 --set epochs=1 --set batch=16
    --set max-length=24 --threads 1 --precision f32 --quiet"
models=$("$probe" list models | awk '/^[a-z]/ { print $1 }')
[ "$(echo "$models" | wc -l)" -gt 5 ] || complain "no models in the list: $models"
# With sanitizers every fourth: what models compute is walked by model_test, and starting is slow.
[ "${LRA_BUILD_TYPE-}" != Debug ] || models=$(echo "$models" | awk 'NR % 4 == 1')
for model in $models; do
    # shellcheck disable=SC2086
    expect 0 '' lra-probe train $small --model "$model" --out "o-$model"
    result=$(ls "o-$model"/runs/*/result.h5) || complain "$model: no result"
    expect 0 '' lra-report show "$result"
    says "$model, preset quick"
done
exit $bad
