/* The time bound of --dry-run. */
#ifndef LRA_PROBES_RUN_DRY_RUN_H
#define LRA_PROBES_RUN_DRY_RUN_H

/* Time limit of a dry run in seconds, overridden by the environment variable LRA_DRY_RUN_SECONDS:
 * unprepared data must be made first, and steps are measured. After it the program ends with a
 * message. */
enum { LRA_DRY_RUN_SECONDS = 120 };
void lra_dry_run_limit(void);

#endif
