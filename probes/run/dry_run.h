/* Limits the time of --dry-run. */
#ifndef LRA_PROBES_RUN_DRY_RUN_H
#define LRA_PROBES_RUN_DRY_RUN_H

/* Time limit of a dry run in seconds; the environment variable LRA_DRY_RUN_SECONDS overrides it. A
 * dry run can take long, because it generates missing data and measures the time of steps. At the
 * limit, the program ends with a message. */
enum { LRA_DRY_RUN_SECONDS = 120 };
void lra_dry_run_limit(void);

#endif
