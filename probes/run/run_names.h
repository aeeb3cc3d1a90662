/* Names of the runs of a folder, finished or unfinished, composed of the settings in which they
 * differ. */
#ifndef LRA_PROBES_RUN_RUN_NAMES_H
#define LRA_PROBES_RUN_RUN_NAMES_H

#include "kernels/base/core/config.h"
#include "reports/results/result.h"

/* Settings that identify a run; it owns all texts. config is NULL for an empty identity. */
typedef struct {
    lra_config *config; /* settings that differ from the defaults: "model.width=8", ... */
    char *lines;        /* the same settings as text lines */
    char *label;        /* value of --label; "": none */
    int64_t kernel;     /* kernel, for models whose axis is `kernel`; else 0 */
} lra_run_identity;

lra_run_identity lra_run_identity_of(const lra_result *r);
/* Identity of a run without a result, from the settings in its checkpoint; empty if there is no
 * readable checkpoint. */
lra_run_identity lra_run_identity_of_checkpoint(const char *folder);
void lra_run_identity_free(lra_run_identity *r);

/* Returns n names such as "listops s4d state=32 [baseline] seed 0": task, model, the settings in
 * which runs of the same task and model differ, label and seed. NULL for an empty identity. The
 * caller frees all names and the array. */
char **lra_run_names(int n, const lra_run_identity *all);

#endif
