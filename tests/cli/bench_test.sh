#!/bin/sh
# lra-probe bench: every kind runs, JSON holds what the text shows, wrong usage is one line.
. "$LRA_SOURCE/tests/cli/lib.sh"
small="--batch 2 --length 16 --seconds 0.01 --set layers=1 --set width=16 --set hidden=16"

# shellcheck disable=SC2086
for precision in f32 bf16; do
    expect 0 '' lra-probe bench step ops params $small --precision $precision
    says '^ceilings   float32 [0-9]* GFLOP/s'
    says '^whole step '
    says '^conv_dw '
    says '^cross_entropy_grad '
    says 'encoder/layer0/conv/kernel (5,16,16) *1280$'
done
# shellcheck disable=SC2086
expect 0 '' lra-probe bench $small --json
says '"name": "whole step"'
says '"f32_flops": [1-9]'
if [ "${LRA_BUILD_TYPE-}" != Debug ]; then # makes the benchmark's own rows: slow with sanitizers
    expect 0 '' lra-probe bench data --seconds 0.01 --batch 64
    says '^listops quick: 72000 rows'
    says '^make, all splits *72000 '
fi

expect 2 "needs --task" lra-probe bench data --data-dir x
expect 2 "'image' is not generated: --data-dir must name its files" lra-probe bench data --task image
expect 2 "unknown benchmark 'stepp'; did you mean 'step'" lra-probe bench stepp
expect 2 "unknown model 'rescon'; did you mean 'resconv'" lra-probe bench --model rescon
expect 2 "'kernle'.*did you mean 'kernel'" lra-probe bench step --set kernle=3
expect 2 "'--batch' is '0', expected an integer" lra-probe bench --batch 0
exit $bad
