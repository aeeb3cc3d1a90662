/* Handles the outcome of each run of a command (each_run.h). */
#include "probes/run/each_run.h"

#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

int lra_run_outcome(const lra_options *o, int rc, int *failed, lra_err *e)
{
    if (rc == 0) return 0;
    if (lra_option_n_args(o) == 1) return rc == LRA_ABSENT ? LRA_USAGE : rc;
    if (rc != LRA_ABSENT && rc != LRA_FAILED) return rc;
    if (rc == LRA_ABSENT)
        lra_note("%s: skipped", e->msg);
    else
        lra_warn("%s: skipped", e->msg);
    *failed += rc == LRA_FAILED;
    return 0;
}

int lra_runs_outcome(const lra_options *o, int failed, lra_err *e)
{
    if (failed == 0) return 0;
    if (failed == lra_option_n_args(o))
        return lra_fail(e, "none of the %d runs could be measured (see above)", failed);
    return lra_fail(e, "%d of %d runs could not be measured (see above); the others were", failed,
                    lra_option_n_args(o));
}

/* True if the name of a folder ends in the hash of a run. */
static bool ends_in_hash(const char *name)
{
    size_t n = strlen(name);
    while (n > 1 && name[n - 1] == '/') n--;
    return n > 16 && name[n - 17] == '-' && strspn(name + n - 16, "0123456789abcdef") >= 16;
}

bool lra_run_is_unfinished(const lra_options *o, const char *name)
{
    if (lra_option_n_args(o) == 1 || !lra_is_folder(name) || !ends_in_hash(name)) return false;
    char *result = lra_format("%s/result.h5", name);
    bool unfinished = !lra_file_exists(result);
    lra_free(result);
    if (unfinished) lra_note("run '%s' has no result yet: skipped", name);
    return unfinished;
}

bool lra_run_is_repeated(const char *name, const char *hash, const char *earlier)
{
    bool repeated = strcmp(hash, earlier) == 0;
    if (repeated)
        lra_note("'%s' is a run that is given twice, or a copy of it (%s): counted once", name,
                 hash);
    return repeated;
}

void lra_run_count(const char *name, lra_probe_result **list, int *n)
{
    lra_probe_result *r = list[*n];
    bool repeated = false;
    if (!r) return;
    for (int i = 0; i < *n && !repeated; i++)
        repeated = lra_run_is_repeated(name, r->run, list[i]->run);
    if (!repeated) {
        ++*n;
        return;
    }
    lra_probe_result_free(r);
    list[*n] = NULL;
}
