/* Slurm job arrays of identical workers, which complete a sweep together. */
#ifndef LRA_PROBES_RUN_SLURM_SCRIPT_H
#define LRA_PROBES_RUN_SLURM_SCRIPT_H

#include "probes/run/cell_command.h"

typedef struct {
    const lra_command_words *command; /* command of a worker, without the name of the program */
    const char *name;                 /* name of the job */
    const char *out;                  /* output folder; logs are written to OUT/slurm */
    int workers;                      /* number of array tasks, at least 1 */
    int cpus;                         /* processors of each task */
} lra_slurm_job;

/* Writes a script for `sbatch`. Each task of the array runs the same command on the shared folder.
 * 120 s before its time limit, or when it is preempted, Slurm sends SIGUSR1 to the script, which
 * passes it on; the worker saves its checkpoints and exits with code 75, and the script puts the
 * task back into the queue. Also creates OUT/slurm. */
int lra_slurm_script_write(const char *path, const lra_slurm_job *job, lra_err *e);

#endif
