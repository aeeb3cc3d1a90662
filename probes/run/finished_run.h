/* A finished run, found by name and opened to be probed. */
#ifndef LRA_PROBES_RUN_FINISHED_RUN_H
#define LRA_PROBES_RUN_FINISHED_RUN_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "reports/results/result.h"

typedef struct {
    char *folder, *out; /* OUT/runs/TASK-MODEL-HASH, OUT; of a run that lies elsewhere --out */
    lra_result *result;
    lra_job job; /* as it was trained: configuration, precision, data */
} lra_finished_run;

/* --out --data-dir --threads */
extern const lra_option lra_finished_run_options[];

/* Reads the result file of a run.  A failure ends with advice: damaged results are made again,
 * those of a newer program, without permission or for lack of memory stay where they are. */
lra_result *lra_finished_run_result(const char *path, lra_err *e);
/* True if this program can open the result file of a run; a file that is there and cannot be opened
 * is named with a warning. */
bool lra_finished_run_done(const char *path);
/* The folder of the run that is called so: a run folder, a file in it, the name of a run below
 * OUT/runs, or the unique start of its hash.  Fails with one line when there is none (the nearest
 * name is suggested); the caller frees it. */
int lra_finished_run_find(const char *name, const char *out, char **folder, lra_err *e);
/* Opens it.  Fails when it is not finished, damaged, or of another task.  Nullable: task (any). */
int lra_finished_run_open(lra_finished_run *r, const char *name, const char *task,
                          const lra_options *o, lra_err *e);
/* The data it was trained on: found below OUT by their fingerprint, or made again. */
int lra_finished_run_load_data(lra_finished_run *r, lra_err *e);
/* Fails now where a file of that name could not be written into its folder later. */
int lra_finished_run_writable(const lra_finished_run *r, const char *file, lra_err *e);
/* Takes the lock of the run's folder, under which a file of results is read, added to and written
 * again.  Waits for the process that holds it; *lock is for lra_unlock(), -1 where the folder
 * cannot be written and nothing will be. */
int lra_finished_run_lock(const lra_finished_run *r, int *lock, lra_err *e);
/* Its training specification, in the folder where it is now; freed with lra_job_spec_free(). */
void lra_finished_run_spec(const lra_finished_run *r, lra_train_spec *s);
void lra_finished_run_close(lra_finished_run *r);

#endif
