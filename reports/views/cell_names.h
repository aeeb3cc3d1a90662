/* Names of cells (configurations over their seeds), made of the settings in which they differ. */
#ifndef LRA_REPORTS_VIEWS_CELL_NAMES_H
#define LRA_REPORTS_VIEWS_CELL_NAMES_H

#include "kernels/base/core/config.h"
#include "reports/results/result_metric.h"

/* Identity of a cell; the texts are not owned. */
typedef struct {
    const char *model, *task, *config;
    int64_t kernel;
    const char *label; /* value of --label; NULL or "": none */
} lra_cell_identity;
/* Names such as "s4d state=32 [baseline]": the model, its kernel, the settings in which it differs
 * from other cells of this model and task, and the user's label. The caller frees them with
 * lra_names_free(). */
char **lra_cell_names(int n, const lra_cell_identity *all);
/* Same as lra_cell_names(), for groups of results. */
char **lra_result_group_names(int n, const lra_result_group *all);
/* Same as lra_cell_names(), for comparisons over several tasks. Model settings are compared over
 * all tasks of a preset, so that a name means one configuration of the model. All other settings,
 * and with preset paper also the model settings (the papers choose them for each task), are
 * compared within one task. */
char **lra_configuration_names(int n, const lra_result_group *all);
/* Sets said[c][k] to true if the k-th key of configuration c has another value, or is missing, in
 * any of the n configurations. NULL: configuration unknown. The caller frees each said[c]. */
void lra_settings_differ(int n, lra_config *const *config, bool **differs);

#endif
