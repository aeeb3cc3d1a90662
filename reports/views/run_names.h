/* Finds runs by name: a path, the name of a run's folder, or a unique prefix of its hash. */
#ifndef LRA_REPORTS_VIEWS_RUN_NAMES_H
#define LRA_REPORTS_VIEWS_RUN_NAMES_H

#include "kernels/base/core/err.h"

enum { LRA_RUN_PREFIX = 4 }; /* minimum number of characters of a hash prefix */

/* Returns the folder of the run in OUT/runs (or in OUT, if it has no folder runs) whose name is
 * NAME, or whose hash (the last part of TASK-MODEL-HASH) begins with NAME. The caller frees it.
 * NULL: either there is none, and e->msg is empty; or there are several, and e names them. */
char *lra_run_by_name(const char *name, const char *out, lra_err *e);

#endif
