#!/bin/sh
# labels: slow
# timeout: 900
# lra-probe bench step times every model, by default and at a small size, and counts what attention computes.
. "$LRA_SOURCE/tests/cli/lib.sh"
models=$("$probe" list models | awk '/^[a-z]/ { print $1 }')
[ "$(echo "$models" | wc -l)" -gt 30 ] || complain "no models in the list: $models"
for model in $models; do
    expect 0 '' lra-probe bench step --model "$model" --batch 1 --length 8 --seconds 0.01 --threads 1 --json
    says "\"title\": \"$model .*(batch 1, length 8, f32; "
    awk -F'[:,]' '/"name"/ { gsub(/[" ]/, "", $2); name = $2; seen[name] = 1 }
        /"flops"/ { if ((name == "wholestep" || name ~ /^attention/) && $2 + 0 <= 0) bad = 1 }
        END { exit bad || !seen["wholestep"] || seen["attention"] != seen["attention_grad"] }' out ||
        complain "$model: FLOPs are not counted: $(cat out)"
done
exit $bad
