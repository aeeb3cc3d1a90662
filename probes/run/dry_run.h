/* The time bound of --dry-run. */
#ifndef LRA_PROBES_RUN_DRY_RUN_H
#define LRA_PROBES_RUN_DRY_RUN_H

/* A plan takes at most so many seconds, or as the environment's LRA_DRY_RUN_SECONDS says: data that
 * are not prepared must be made first, and steps are measured.  Then the program ends with a
 * message. */
enum { LRA_DRY_RUN_SECONDS = 120 };
void lra_dry_run_limit(void);

#endif
