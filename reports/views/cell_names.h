/* Names of cells (configurations over their seeds), made of the settings in which they differ. */
#ifndef LRA_REPORTS_VIEWS_CELL_NAMES_H
#define LRA_REPORTS_VIEWS_CELL_NAMES_H

#include "kernels/base/core/config.h"
#include "reports/results/result_metric.h"

/* Identity of a cell; texts are borrowed. */
typedef struct {
    const char *model, *task, *config;
    int64_t kernel;
    const char *label; /* the user's; NULL or "": none */
} lra_cell_identity;
/* "s4d state=32 [baseline]": the model, its kernel, the settings that others of this model and task
 * do not share, and the user's label; the caller frees them with lra_names_free(). */
char **lra_cell_names(int n, const lra_cell_identity *all);
/* Same, for groups of results. */
char **lra_result_group_names(int n, const lra_result_group *all);
/* Same, for comparisons over several tasks: settings of the model are compared over all tasks of a
 * preset, so that one name is one configuration of the model; the published settings of preset
 * paper are chosen for each task and compared on one task only, as all other settings are. */
char **lra_configuration_names(int n, const lra_result_group *all);
/* Sets said[c][k] to true if the k-th key of configuration c has another value in any of the n
 * configurations, or is missing there (NULL: configuration not known); the caller frees each
 * said[c]. */
void lra_settings_differ(int n, lra_config *const *config, bool **said);

#endif
