/* Describes a measurement over the channels of a layer (over_channels.h). */
#include "probes/kernels/over_channels.h"

#include <math.h>
#include <stdio.h>

#include "analysis/quantile.h"
#include "kernels/base/core/mem.h"

int lra_over_channels(const lra_measurement *as, int64_t n, const double *value,
                      lra_measurement *out)
{
    static const char *const suffix[] = {"", ":q1", ":q3", ":min", ":max"};
    static const double share[] = {0.5, 0.25, 0.75, 0, 1};
    double *sorted = lra_alloc_array((size_t)n + 1, sizeof *sorted);
    int64_t known = 0;
    for (int64_t c = 0; c < n; c++)
        if (!isnan(value[c])) sorted[known++] = value[c];
    lra_sort(known, sorted);
    for (int s = 0; s < 5; s++) {
        out[s] = *as;
        snprintf(out[s].id, sizeof out[s].id, "%s%s", as->id, suffix[s]);
        out[s].value = known ? lra_quantile(known, sorted, share[s]) : NAN;
        out[s].lo = out[s].hi = NAN;
        out[s].undefined = n - known;
        out[s].flags = isinf(out[s].value) ? LRA_ONE_SEED | LRA_CENSORED : LRA_ONE_SEED;
    }
    lra_free(sorted);
    return 5;
}
