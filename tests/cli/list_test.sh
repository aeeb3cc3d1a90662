#!/bin/sh
# What a build knows: parameters and presets equal their golden files, and every list is JSON too.
. "$LRA_SOURCE/tests/cli/lib.sh"
golden=$LRA_SOURCE/tests/golden
for kind in parameters presets; do
    "$probe" list $kind --all >out 2>err || complain "list $kind: $(cat err)"
    [ -z "${LRA_UPDATE_GOLDEN-}" ] || cp out "$golden/list-$kind.txt"
    diff -u "$golden/list-$kind.txt" out || complain "list $kind changed; a default changed? Raise the version"
done
for kind in tasks models probes ops devices presets parameters objectives schedules augmentations experiments; do
    expect 0 '' lra-probe list $kind
    expect 0 '' lra-probe list $kind --json
    says "^{\"schema\":1,\"$kind\":\[{\"name\":"
    cat out >>json
done
if command -v python3 >/dev/null 2>&1; then
    python3 -c 'import json, sys; [json.loads(line) for line in sys.stdin]' <json || complain "--json is no JSON"
fi
# One table of them.
expect 0 '' lra-probe list parameters multistep
says '^every .*1 to 1000000  *100'
[ "$(wc -l <out)" -eq 2 ] || complain "multistep has two settings: $(cat out)"
expect 0 '' lra-probe list presets xor
says 'kernel 5,13,25,49,97'
expect 2 "did you mean 'plateau'" lra-probe list parameters plateua
# Without a name: a row for each task and preset, with the papers that state settings; of a model: all its tasks.
expect 0 "list presets TASK" lra-probe list presets
says '^pathfinder  *paper .*resconv (locality)'
[ "$(grep -c '^[a-z]' out)" -lt 100 ] || complain "list presets is long: $(wc -l <out)"
expect 0 '' lra-probe list presets s5
says '^retrieval  *paper  *s5 .*(locality)'
expect 2 "did you mean 'listops'" lra-probe list presets lisops
expect 2 "'list tasks' takes no name" lra-probe list tasks x
# Where a model differs from its paper: here, in every plan, in every result of whatever preset.
expect 0 '' lra-probe list models
says 'differs from the paper: norm before the convolution'
expect 0 '' lra-probe train --task listops --dry-run
says 'deviation    norm before the convolution'
[ "$(grep -c '^deviation ' out)" -eq 1 ] || complain "quick deviates from no published setting: $(cat out)"
expect 0 '' lra-probe train --task listops --preset paper --set train=64 --set val=8 --set test=8 --set min-length=8 --set max-length=40 --set max-depth=3 --dry-run --out p
says 'deviation    padding is masked in convolutions and pooling'
expect 0 '' lra-probe train --task listops --set train=64 --set val=8 --set test=8 --set epochs=1 --set width=8 --set hidden=8 --out r -q
expect 0 '' lra-report show r/runs/*
says 'norm before the convolution'
expect 2 "did you mean 'models'" lra-probe list modles
exit $bad
