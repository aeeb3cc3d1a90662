#!/bin/sh
# A run of configuration version 1 (tests/golden/version-1) is read, verified, evaluated, continued and compared, though
# its settings are written as they were then: "rate=4e-3", "clip=1", settings of a schedule that it has not.
. "$LRA_SOURCE/tests/cli/lib.sh"
run=listops-resconv-7fa787c9ed5fe1b8
cp -r "$LRA_SOURCE/tests/golden/version-1" o
tiny="--precision f32 --threads 1 --kernel 3 --train 320 --val 20 --test 40 --epochs 1 --width 4 --hidden 4 --layers 1"
quiet="-q --out o"

expect 0 '' lra-report show "o/runs/$run/result.h5"
says ' train.rate=4e-3$'
says ' version=1$'
says 'test  *accuracy 20.00 %'
expect 0 '' lra-report tables --out o --table ladder
says '^K = 3 .* 20.00 '
expect 0 '' lra-probe listops $run $quiet
says '^resconv.* 20.00 '
expect 0 '' lra-report tables --table listops --out o
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train --from $run $tiny $quiet
    new=$(ls o/runs | grep -v $run)
    expect 0 '' lra-report show "o/runs/$new/result.h5"
    says ' train.from=7fa787c9ed5fe1b8$'
    says ' version=2$'
    expect 0 '' lra-probe train --matched $run $tiny $quiet
    # Both versions in one table, one beside the other.
    expect 0 '' lra-report tables --table ladder --out o --reference $run
    # It is what a ladder of today is measured against, by its name, its folder and the start of its hash.
    for reference in $run "o/runs/$run" 7fa787; do
        expect 0 '' lra-probe receptive-field ${tiny%% --kernel*} --train${tiny#*--train} --kernels 3,5 --seeds 1 --reference $reference $quiet
        says "^reference  *20.00 %, run $run seed 0"
    done
    # Equal settings are one run, however they are written.
    expect 0 '' lra-probe train $tiny --set rate=4e-3 --clip 1 $quiet
    before=$(ls o/runs | wc -l)
    expect 0 '' lra-probe train $tiny --rate 0.0040 --set clip=1.0 --decay 1e-2 $quiet
    [ "$(ls o/runs | wc -l)" -eq "$before" ] || complain "equal settings made another run"
}
exit $bad
