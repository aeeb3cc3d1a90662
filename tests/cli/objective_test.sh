#!/bin/sh
# lra-probe train with objectives: pretraining, fine-tuning from it, its control, denoising; faults are one line.
. "$LRA_SOURCE/tests/cli/lib.sh"

run_of() { sed -n 's|^wrote \(.*\)/result.h5$|\1|p' out; }

small='--threads 1 --precision f32 --set train=256 --set val=32 --set test=32 --set layers=1 --set width=8 --set hidden=8'
small="$small --set batch=32"
tiny="$small --out o --set kernel=3"

# Lists.
expect 0 '' lra-probe list objectives
says '^pretrain-masked '
says '^denoise '
expect 0 '' lra-probe list augmentations
says '^autoaugment '

# Pretrain, fine-tune, control.
# shellcheck disable=SC2086
expect 0 'masked: 10 % of positions' lra-probe train $tiny --set epochs=2 --objective pretrain-masked
says '^test bits per token '
pretrained=$(run_of)
[ -f "$pretrained/best.h5" ] || complain "pretraining left no best.h5"
grep -q '"metric":"bits-per-token"' "$pretrained/log.jsonl" || complain "the log of pretraining lacks its metric"
# shellcheck disable=SC2086
expect 0 "inputs and encoder of '$pretrained/best.h5'" lra-probe train $tiny --set epochs=1 --from "$pretrained"
says '^test accuracy '
tuned=$(run_of)
hash=${pretrained##*-}
"$LRA_BUILD/lra-report" show "$tuned" | grep -q "train.from=$hash" || complain "the result does not name the run it started from"
# shellcheck disable=SC2086
expect 0 '1 epochs, plus 2' lra-probe train $tiny --set epochs=1 --matched "${pretrained#o/runs/}"
says '24 steps'
matched=$(run_of)
# shellcheck disable=SC2086
expect 0 '' lra-probe train $tiny --set epochs=1
scratch=$(run_of)
[ "$tuned" != "$scratch" ] && [ "$matched" != "$scratch" ] && [ "$tuned" != "$matched" ] ||
    complain "runs share a folder: $tuned $matched $scratch"
# What fills no batch is not scored.
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train $tiny --set epochs=1 --set test=40 --eval-drop-last 1
    says ', 1 seed, [0-9]* of 32)'
    expect 2 "drops all 20 val rows, which are fewer than a batch of 32" lra-probe train $tiny --set val=20 --eval-drop-last 1 -q
}
# A ladder of what is masked: of the data, not of the task.
# shellcheck disable=SC2086
expect 0 '' lra-probe receptive-field $small --out q --set epochs=1 --kernels 1,3 --seeds 1 --objective pretrain-masked -q
says 'bits per token '
says 'prediction without input$'
"$LRA_BUILD/lra-report" figures --out q --figure loc-T1 --format svg >out 2>err || complain "figures: $(cat err)"
grep -q '^# reach kernel bits-per-token lo hi' q/figures/loc-T1.dat || complain "loc-T1.dat lacks the metric"
# Another seed of all that is another seed of the same row, though it started from another run.
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train $tiny --set epochs=2 --objective pretrain-masked --seed 1
    expect 0 '' lra-probe train $tiny --set epochs=1 --from "$(run_of)" --seed 1
}
"$LRA_BUILD/lra-report" tables o --wide --table tasks >out 2>err || complain "no table: $(cat err)"
says 'bits-per-token'
says ' pretrain-masked '
says ' control of fine-tuning '
! grep -q ' , ' out || complain "a comma in front of nothing: $(cat out)"
[ "$(grep -c ' fine-tuned .* 2 *32 ' out)" -eq 1 ] || complain "two seeds of fine-tuning are not one row: $(cat out)"
# A finished run prints its result again.
# shellcheck disable=SC2086
expect 0 '' lra-probe train $tiny --set epochs=1 --from "$pretrained"
[ "$(run_of)" = "$tuned" ] || complain "the same command has another folder"
# shellcheck disable=SC2086
expect 0 'masked: 30 % of positions' lra-probe train $tiny --set epochs=1 --objective denoise
says '^test accuracy '
# shellcheck disable=SC2086
expect 0 '' lra-probe train $tiny --set epochs=1 --set causal=1 --objective pretrain-causal
says '^test bits per token '
# shellcheck disable=SC2086
expect 0 '^fraction  *0.5: share of the training rows' lra-probe train $tiny --set epochs=1 --set fraction=0.5 --set same-steps=1
says ' 8 steps'
# shellcheck disable=SC2086
expect 0 'accumulate   2: number of batches whose gradients are accumulated for one update' lra-probe train $tiny --set epochs=1 --set accumulate=2
says ' 4 steps'
# shellcheck disable=SC2086
expect 0 'early-stop   2: stop after this number of epochs without an improvement' lra-probe train $tiny --set epochs=50 --set rate=1e-12 --set min-rate=0 --set early-stop=2
says ' 24 steps'

# Faults.
# shellcheck disable=SC2086
{
    expect 2 "unknown objective 'denoize'; did you mean 'denoise'" lra-probe train $tiny --objective denoize
    expect 2 "'mask' belongs to objectives 'denoise' and 'pretrain-masked'; the run has 'classify'" lra-probe train $tiny --set mask=0.2
    expect 2 "'mask' is '0', expected a number from" lra-probe train $tiny --set mask=0 --objective denoise
    expect 2 'it must be causal' lra-probe train $tiny --objective pretrain-causal
    expect 2 "--from RUN and --matched RUN set it" lra-probe train $tiny --set from=abc
    expect 2 'exclude each other' lra-probe train $tiny --from "$pretrained" --matched "$pretrained"
    expect 2 'there is no run' lra-probe train $tiny --from nowhere --out elsewhere
    expect 1 'cannot start from' lra-probe train -q $tiny --set width=16 --from "$pretrained"
    expect 2 'larger than the training set of 25' lra-probe train -q $tiny --set fraction=0.1
}
# Sixteen steps are two epochs of six and a part of a third, which is trained in full.
# shellcheck disable=SC2086
expect 0 '1 epochs, plus 3 for the 16 steps' lra-probe train $tiny --set train=200 --set epochs=1 --matched "$pretrained"
# Runs that were fine-tuned from rungs of one ladder were trained alike before; from another width they were not.
related() { "$LRA_BUILD/lra-report" show "$1" | sed -n 's/.*train\.related=\([0-9a-f]*\).*/\1/p'; }
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train $tiny --set kernel=5 --set epochs=2 --objective pretrain-masked
    expect 0 '' lra-probe train $tiny --set kernel=5 --set epochs=1 --from "$(run_of)"
    wider=$(related "$(run_of)")
    expect 0 '' lra-probe train $tiny --set layers=2 --set epochs=2 --objective pretrain-masked
    expect 0 '' lra-probe train $tiny --set layers=2 --set epochs=1 --from "$(run_of)"
    deeper=$(related "$(run_of)")
}
[ -n "$wider" ] && [ "$(related "$tuned")" = "$wider" ] || complain "related: $(related "$tuned"), with another kernel $wider"
[ -n "$deeper" ] && [ "$deeper" != "$wider" ] || complain "related: $wider, with another depth $deeper"
exit $bad
