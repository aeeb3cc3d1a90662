#!/bin/sh
# Runs of a read-only folder are probed into another --out: every probe, resumed, with tables of the new folder; the run
# does not change.  Without --out the message says how.  A run that is given twice, or as a copy, is counted once.
. "$LRA_SOURCE/tests/cli/lib.sh"
if [ "$(id -u)" != 0 ]; then as=; elif command -v setpriv >/dev/null; then as="setpriv --reuid=65534 --clear-groups"; else skip "root without setpriv"; fi
tiny="--task listops --set train=320 --set val=64 --set test=64 --set width=8 --set layers=1 --set epochs=1 --threads 1 --out ro -q"
# shellcheck disable=SC2086
{
    expect 0 '' lra-probe train $tiny --model transformer --set heads=2 --set hidden=8
    expect 0 '' lra-probe train $tiny --model transformer --set heads=2 --set hidden=8 --permute-labels 1
    expect 0 '' lra-probe train $tiny --model s4d --set state=4
}
conv=$(echo ro/runs/listops-s4d-*)
for run in ro/runs/listops-transformer-*; do
    expect 0 '' lra-report show "$run"
    if grep -q permute-labels out; then null=$run; else heads=$run; fi
done
expect 0 '' lra-probe influence "$heads" --parts cut -q

# The same run twice, and a copy of it.
cp -r "$heads" copy
for command in listops attention 'influence --parts cut'; do
    # shellcheck disable=SC2086
    {
        expect 0 '' lra-probe $command "$heads"
        mv out once
        expect 0 "'copy' is a run that is given twice, or a copy of it" lra-probe $command "$heads" "$heads" copy
        [ "$(grep -c 'counted once$' err)" -eq 2 ] || complain "$command: $(cat err)"
        cmp -s once out || complain "$command: a run given twice is counted twice: $(diff once out)"
    }
done
# All runs fail: none is called measured.
mkdir fail1 fail2 && : >fail1/result.h5 && : >fail2/result.h5
"$probe" kernels fail1 fail2 >out 2>err
[ $? -eq 1 ] && has err 'none of the 2 runs could be measured (see above)' || complain "all fail: $(cat err)"
rm -rf copy "$heads/attention.h5" "$heads/listops.h5"

chmod 777 . && chmod -R a-w ro
find ro -type f -exec cksum {} + | sort >before
# shellcheck disable=SC2086
{
    expect 1 "run '$conv' is read-only; --out DIR writes to DIR/probes" $as "$probe" kernels "$conv"
    expect 1 "run '$conv' is read-only; --out DIR writes to DIR/probes" $as "$probe" kernels "$conv" --out ro
    expect 0 "is read-only: files are written to 'w/probes/listops-s4d-" $as "$probe" kernels "$conv" --out w
    expect 0 '' $as "$probe" attention "$heads" --null shuffled --out w
    expect 0 '' $as "$probe" listops "$heads" --out w
    # Parts that the run has are taken over; those of this command are kept for the next one, null values too.
    expect 0 '  cut .* (measured) ' $as "$probe" influence "$heads" --parts cut,jacobian --null shuffled --out w
    expect 0 '  cut .* (measured) ' $as "$probe" influence "$heads" --parts cut,jacobian,context --null shuffled --out w
    [ "$(grep -c '  jacobian .* (measured) ' err)" -eq 2 ] || complain "measured again: $(cat err)"
    expect 0 '' $as "$probe" receptive-field ${tiny%% --out*} --kernels 3 --seeds 1 --reference "$heads" --out w -q
    expect 0 '' $as "$probe" export "$heads" w.safetensors --out w
}
for name in "$conv/kernels" "$heads/attention" "$heads/listops" "$heads/influence" "$null/influence"; do
    file=w/probes/${name#ro/runs/}.h5
    expect 0 '' lra-report show "$file"
done
for table in kernels attention influence listops; do
    expect 0 '' lra-report tables --table $table --format csv w
    [ "$(wc -l <out)" -gt 2 ] || complain "$table: $(cat out)"
done
expect 0 '' lra-probe status --out w
has out '1 run: 1 done'
find ro -type f -exec cksum {} + | sort | cmp -s - before || complain "a read-only run has changed"
exit $bad
