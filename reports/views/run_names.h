/* Runs by name: a path, the name of a run's folder, or a unique prefix of its hash. */
#ifndef LRA_REPORTS_VIEWS_RUN_NAMES_H
#define LRA_REPORTS_VIEWS_RUN_NAMES_H

#include "kernels/base/core/err.h"

enum { LRA_RUN_PREFIX = 4 }; /* characters of a hash, at least */

/* Returns the folder of the run of OUT/runs (or of OUT, if it has no runs/) whose name is NAME, or
 * whose hash (the last word of TASK-MODEL-HASH) starts with NAME; the caller frees it. NULL: there
 * is none, and e->msg is empty; or there are several, and e names them. */
char *lra_run_by_name(const char *name, const char *out, lra_err *e);

#endif
