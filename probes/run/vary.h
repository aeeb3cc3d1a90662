/* --vary KEY=V1,V2,...: one ladder for each value of a setting of task, model or training.
 * --distance LIST is --vary distance=LIST of the task. */
#ifndef LRA_PROBES_RUN_VARY_H
#define LRA_PROBES_RUN_VARY_H

#include "kernels/base/cli/options.h"
#include "probes/run/job.h"
#include "reports/ladder/sweep_view.h"

extern const lra_option lra_vary_options[]; /* --vary, --distance */

typedef struct {
    char *key; /* NULL: nothing varies, and n is 1 */
    int n;
    /* values as text, in canonical form after lra_vary_check() */
    char *value[LRA_SWEEP_MAX_VALUES];
    const char *owner;         /* owner of the key: "task", "model", "train" */
    const char *default_value; /* default value of the key */
} lra_vary;

/* Reads --vary and --distance. */
int lra_vary_open(lra_vary *v, const lra_options *o, lra_err *e);
void lra_vary_close(lra_vary *v);
/* "key=value" with value number i, for lra_job_configure(). NULL if nothing varies. The caller
 * frees it. */
char *lra_vary_assignment(const lra_vary *v, int i);
/* Sets the owner of the key, and checks that every value gives a valid run before any of them is
 * trained. r: a job with one of the values. */
int lra_vary_check(lra_vary *v, const lra_options *o, const lra_job *r, lra_err *e);

#endif
