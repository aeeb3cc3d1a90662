/* Names of the runs of a folder, finished or not, made of the settings in which they differ. */
#ifndef LRA_PROBES_RUN_RUN_NAMES_H
#define LRA_PROBES_RUN_RUN_NAMES_H

#include "kernels/base/core/config.h"
#include "reports/results/result.h"

/* A run by its settings; all texts are owned.  An empty one has config == NULL. */
typedef struct {
    lra_config *config; /* settings that differ from the defaults: "model.width=8", ... */
    char *lines;        /* the same as text */
    char *label;        /* the user's; "": none */
    int64_t kernel;     /* of models whose axis is their kernel; else 0 */
} lra_run_identity;

lra_run_identity lra_run_identity_of(const lra_result *r);
/* Of a run without a result: the settings of its checkpoint.  Empty: there is no readable one. */
lra_run_identity lra_run_identity_of_checkpoint(const char *folder);
void lra_run_identity_free(lra_run_identity *r);

/* "listops s4d state=32 [baseline] seed 0": task, model, the settings in which runs of the same
 * task and model differ, label and seed.  NULL: of an empty identity.  The caller frees all names
 * and the array. */
char **lra_run_names(int n, const lra_run_identity *all);

#endif
