/* --vary KEY=V1,V2,... and --distance: one ladder for each value of a parameter of the task. */
#ifndef LRA_PROBES_RUN_VARY_H
#define LRA_PROBES_RUN_VARY_H

#include "datasets/loader/dataset.h"
#include "kernels/base/options.h"
#include "reports/sweep_view.h"

extern const lra_option lra_vary_options[]; /* --vary --distance */

typedef struct {
    char *key; /* NULL: nothing varies, and n is 1 */
    int n;
    char *value[LRA_SWEEP_MAX_VALUES];
} lra_vary;

/* Reads the options; every value must be of the kind of the parameter that the task has. */
int lra_vary_open(lra_vary *v, const lra_options *o, const lra_task *task, lra_err *e);
void lra_vary_close(lra_vary *v);
/* Sets the i-th value among the parameters of the task. */
int lra_vary_set(const lra_vary *v, int i, const lra_task *task, lra_config *c, lra_err *e);

#endif
