/* Names of cells (configurations over their seeds): by what differs between them. */
#ifndef LRA_REPORTS_VIEWS_CELL_NAMES_H
#define LRA_REPORTS_VIEWS_CELL_NAMES_H

#include "kernels/base/core/config.h"
#include "reports/results/result_metric.h"

/* What identifies a cell: texts are borrowed. */
typedef struct {
    const char *model, *task, *config;
    int64_t kernel;
    const char *label; /* the user's; NULL or "": none */
} lra_cell_identity;
/* "s4d state=32 [baseline]": the model, its kernel, the settings that others of this model and task
 * do not share, and the user's label; the caller frees them with lra_names_free(). */
char **lra_cell_names(int n, const lra_cell_identity *all);
/* The same of groups of results. */
char **lra_result_group_names(int n, const lra_result_group *all);
/* Which settings have another value in any of n configurations (NULL: none are known), or are
 * missing there: said[c][k] of the k-th key of configuration c; the caller frees each. */
void lra_settings_differ(int n, lra_config *const *config, bool **said);

#endif
