/* Limits the time of --dry-run (dry_run.h). */
#include "probes/run/dry_run.h"

#include <stdbool.h>
#include <stdlib.h>

#include "kernels/base/os/signals.h"

void lra_dry_run_limit(void)
{
    static const char text[] =
        "lra-probe: --dry-run has reached its time limit, which LRA_DRY_RUN_SECONDS sets. Data "
        "that do not exist are generated first: run 'lra-probe data TASK' once with the same "
        "--preset and --set\n";
    const char *set = getenv("LRA_DRY_RUN_SECONDS");
    long seconds = set ? strtol(set, NULL, 10) : LRA_DRY_RUN_SECONDS;
    bool usable = seconds > 0 && seconds < 1 << 20;
    lra_time_limit(usable ? (int)seconds : LRA_DRY_RUN_SECONDS, text);
}
