/* A finished run, found by name and loaded for a probe. */
#ifndef LRA_PROBES_RUN_FINISHED_RUN_H
#define LRA_PROBES_RUN_FINISHED_RUN_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "reports/results/result.h"

typedef struct {
    char *folder, *out; /* OUT/runs/TASK-MODEL-HASH, OUT; for a run elsewhere, --out */
    /* Folder of the files that probes write: the run's; for a run that is read-only, with --out of
     * another folder: DIR/probes/TASK-MODEL-HASH. */
    char *to;
    lra_result *result;
    lra_job job; /* settings of the training: configuration, precision, data */
} lra_finished_run;

/* --out --data-dir --threads */
extern const lra_option lra_finished_run_options[];

/* Reads the result file of a run. A failure includes advice: damaged results should be recomputed;
 * results of a newer program, without permission or for lack of memory are kept. */
lra_result *lra_finished_run_result(const char *path, lra_err *e);
/* Returns true if this program can open the result file of a run; warns about an existing file that
 * cannot be opened. */
bool lra_finished_run_done(const char *path);
/* Finds the folder of a run by name: a run folder, a file in it, the name of a run below OUT/runs,
 * or a unique prefix of its hash. Fails with one line if there is none (the nearest name is
 * suggested); the caller frees it. */
int lra_finished_run_find(const char *name, const char *out, char **folder, lra_err *e);
/* Opens the run. Fails if it is unfinished or damaged; LRA_ABSENT: it is of another task. Nullable:
 * task (any). */
int lra_finished_run_open(lra_finished_run *r, const char *name, const char *task,
                          const lra_options *o, lra_err *e);
/* The data it was trained on: found below OUT by their fingerprint, or generated again. */
int lra_finished_run_load_data(lra_finished_run *r, lra_err *e);
/* True if probes of this run write to a folder of --out, because the run is read-only. */
bool lra_finished_run_redirected(const lra_finished_run *r);
/* Fails early if a file of that name could not be written into r->to later; makes that folder. */
int lra_finished_run_writable(const lra_finished_run *r, const char *file, lra_err *e);
/* Takes the lock of r->to, which protects the update of a result file. Waits for the
 * process that holds it; *lock is for lra_unlock(), -1 if the folder is not writable and nothing
 * will be written. */
int lra_finished_run_lock(const lra_finished_run *r, int *lock, lra_err *e);
/* Its training specification, with its current folder; freed with lra_job_spec_free(). */
void lra_finished_run_spec(const lra_finished_run *r, lra_train_spec *s);
void lra_finished_run_close(lra_finished_run *r);

#endif
