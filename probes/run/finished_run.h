/* A finished run, found by name and loaded for a probe. */
#ifndef LRA_PROBES_RUN_FINISHED_RUN_H
#define LRA_PROBES_RUN_FINISHED_RUN_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "reports/results/result.h"

typedef struct {
    /* folder: OUT/runs/TASK-MODEL-HASH; out: OUT, or the folder of --out if the run is elsewhere */
    char *folder, *out;
    /* Folder of the files that probes write: the run's own folder. If that is read-only and --out
     * names another folder DIR, it is DIR/probes/TASK-MODEL-HASH. */
    char *to;
    lra_result *result;
    lra_job job; /* settings of the run's training: configuration, precision, data */
} lra_finished_run;

/* --out, --data-dir, --threads */
extern const lra_option lra_finished_run_options[];

/* Reads the result file of a run. A failure message includes advice: to recompute damaged results,
 * but to keep results that a newer program wrote, that need permission, or that need more
 * memory. */
lra_result *lra_finished_run_result(const char *path, lra_err *e);
/* Returns true if this program can open the result file of a run; warns about an existing file that
 * cannot be opened. */
bool lra_finished_run_done(const char *path);
/* Finds the folder of a run by name: a run folder, a file in it, the name of a run below OUT/runs,
 * or a unique prefix of its hash. If there is none, fails with a message of one line that suggests
 * the nearest name. The caller frees the folder. */
int lra_finished_run_find(const char *name, const char *out, char **folder, lra_err *e);
/* Opens a run. Fails if the run is unfinished or damaged; returns LRA_ABSENT if it was trained on
 * another task. Nullable: task (any task). */
int lra_finished_run_open(lra_finished_run *r, const char *name, const char *task,
                          const lra_options *o, lra_err *e);
/* Loads the data on which the run was trained: finds them below OUT by their fingerprint, or
 * generates them again. */
int lra_finished_run_load_data(lra_finished_run *r, lra_err *e);
/* True if probes of this run write to a folder of --out, because the run is read-only. */
bool lra_finished_run_redirected(const lra_finished_run *r);
/* Creates r->to, and fails if a file with this name could not be written into it later. */
int lra_finished_run_writable(const lra_finished_run *r, const char *file, lra_err *e);
/* Takes the lock of r->to, which protects updates of result files; waits for a process that holds
 * it. *lock is released by lra_unlock(); it is -1 if the folder is not writable, so that nothing
 * will be written. */
int lra_finished_run_lock(const lra_finished_run *r, int *lock, lra_err *e);
/* Fills the training specification of the run, with its current folder; lra_job_spec_free() frees
 * it. */
void lra_finished_run_spec(const lra_finished_run *r, lra_train_spec *s);
void lra_finished_run_close(lra_finished_run *r);

#endif
