#!/bin/sh
# A Slurm job array of workers (sweep --slurm), run by a Slurm of this machine: it is cancelled, submitted again, put back
# into the queue by its signal, and completed.  Skips where Slurm is not installed, or without root.
. "$LRA_SOURCE/tests/cli/lib.sh"
for program in munged slurmctld slurmd sbatch scontrol scancel squeue; do
    command -v $program >/dev/null || PATH=$PATH:/usr/sbin:/sbin
    command -v $program >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip "not root"
[ -d /proc/self ] || skip "no /proc"

# ---- Slurm of one node, on the loopback device, below $tmp
host=$(hostname -s) port=$((20000 + $$ % 20000))
mkdir munge state spool
chmod 755 "$tmp" munge
dd if=/dev/urandom of=munge/key bs=1024 count=1 2>/dev/null
chmod 400 munge/key
munged --force --socket="$tmp/munge/socket" --key-file="$tmp/munge/key" --pid-file="$tmp/munge/pid" \
    --log-file="$tmp/munge/log" --seed-file="$tmp/munge/seed" >munge/out 2>&1 || skip "munged does not start: $(cat munge/out)"
cat >slurm.conf <<EOF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$tmp/munge/socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$tmp/slurmctld.pid
SlurmdPidFile=$tmp/slurmd.pid
SlurmctldLogFile=$tmp/slurmctld.log
SlurmdLogFile=$tmp/slurmd.log
StateSaveLocation=$tmp/state
SlurmdSpoolDir=$tmp/spool
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MinJobAge=300
KillWait=30
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
export SLURM_CONF="$tmp/slurm.conf"
stop_slurm() {
    for pid in slurmd.pid slurmctld.pid munge/pid; do [ -s "$pid" ] && kill "$(cat "$pid")" 2>/dev/null; done
    gone() { for pid in slurmd.pid slurmctld.pid; do [ ! -s "$pid" ] || ! kill -0 "$(cat "$pid")" || return 1; done; }
    for k in $(seq 1000); do gone 2>/dev/null && break; sleep 0.01; done
}
trap 'stop_slurm; clean_up' EXIT
slurmctld -f slurm.conf >out 2>&1 || skip "slurmctld does not start: $(cat out)"
up() { scontrol ping | grep -q UP; }
happens up
slurmd -f slurm.conf >out 2>&1 || skip "slurmd does not start: $(cat out slurmd.log)"
idle() { scontrol show node "$host" | grep -q 'State=IDLE'; }
for k in $(seq 1000); do idle >/dev/null 2>&1 && break; sleep 0.01; done
idle || skip "the node of Slurm does not become idle: $(tail -n 3 slurmctld.log)"

# ---- the sweep
small="--task listops --set train=640 --set val=64 --set test=64 --set width=8 --set hidden=8 --set layers=1 --precision f32 --threads 1"
sweep="sweep $small --vary kernel=3,5 --seeds 2"
# shellcheck disable=SC2086
expect 0 '' "$probe" $sweep --set epochs=100000 --out long --slurm long.sh --workers 4
has out 'wrote long.sh: 4 workers for 4 runs'
sh -n long.sh || complain "long.sh is no script"
job=$(sbatch --parsable long.sh) || fail "sbatch refuses: $(cat long.sh)"
states() { squeue -h -r -j "$1" -t all -o '%K %T' 2>/dev/null | sort; }
saved() { [ "$(ls long/runs/*/checkpoint.h5 2>/dev/null | wc -l)" -eq 4 ]; }
happens saved
# The signal before a time limit: checkpoints are saved, code 75, and the task is in the queue again.
scancel --batch --signal=USR1 "${job}_1"
requeued() { scontrol show job "${job}_1" | grep -q 'Restarts=1'; }
happens requeued
grep -q 'stopped; checkpoints are saved' long/slurm/*_1.log || complain "no checkpoint: $(cat long/slurm/*_1.log)"
[ -z "$(ls long/runs/*/result.h5 2>/dev/null)" ] || complain "a run of 100,000 epochs has ended"
# Cancelled: nothing runs, and every checkpoint can be resumed.
scancel "$job"
over() { ! squeue -h -j "$job" -t pending,running,completing,suspended 2>/dev/null | grep -q .; }
happens over
nobody() { "$probe" status --out long | grep -q ' 0 training, 4 stopped'; }
happens nobody

# The same array with an end: two of its tasks are put back while they train; all cells complete.
# shellcheck disable=SC2086
"$probe" $sweep --set epochs=40 --out one -q >out 2>err || fail "one process: $(cat err)"
# shellcheck disable=SC2086
expect 0 '' "$probe" $sweep --set epochs=40 --out shared --slurm job.sh
job=$(sbatch --parsable job.sh) || fail "sbatch refuses: $(cat job.sh)"
in_training() { ls shared/runs/*/status || ls shared/runs/*/result.h5; }
happens in_training
scontrol requeue "${job}_1" 2>/dev/null
scontrol requeue "${job}_2" 2>/dev/null
# A task that is put back waits for some time; the others complete the sweep, or the tasks do after their wait.
complete() { [ "$(ls shared/runs/*/result.h5 2>/dev/null | wc -l)" -eq 4 ]; }
for k in 1 2 3 4 5; do complete && break; for j in $(seq 6000); do complete && break; sleep 0.01; done; done
complete || complain "cells are missing: $("$probe" status --out shared) $(tail -n 5 shared/slurm/*.log)"
for run in one/runs/*; do
    name=$(basename "$run")
    for of in one shared; do "$probe" export "$of/runs/$name" "$of-$name.safetensors" -q >out 2>&1 || complain "export of $of: $name"; done
    cmp "one-$name.safetensors" "shared-$name.safetensors" || complain "$name differs from that of one process"
done
scancel "$job" 2>/dev/null
happens over

# All cells are done: no script.
# shellcheck disable=SC2086
expect 0 '' "$probe" $sweep --set epochs=40 --out one --slurm none.sh
has out 'all runs are done'
[ ! -e none.sh ] || complain "none.sh was written"
exit $bad
