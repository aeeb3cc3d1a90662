/* Rungs of equal size. If only the kernel changes, a rung with a larger reach also has more
 * parameters and more FLOPs, so that reach is confounded with size. Here the size key of the model
 * (such as its width) is solved for each rung such that its number of parameters, or of FLOPs, is
 * within 2 % of the reference rung.
 *
 * The number grows almost linearly with the key. Between a size below and one above the target, the
 * next guess is the linear interpolation (regula falsi), until the two sizes are adjacent. */
#include "models/training/estimate.h"
#include "probes/run/matched_rungs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double within = 0.02;
enum { MOST = 1 << 20 }; /* largest size that is tried */

/* Computes the count for one size of rung i: parameters, or FLOPs of a training step at the longest
 * bucket without recomputation. */
static int count_of(const lra_rungs *l, int i, int64_t size, const lra_job *ladder, double *count,
                    lra_err *e)
{
    lra_train_spec s;
    lra_train_cost c;
    lra_job r = lra_rung_job(l, i, ladder);
    lra_config_set_int(r.model_config, r.model->match, size);
    lra_job_spec(&r, 0, &s);
    s.memory = 1e18, s.recompute = LRA_KEEP_ALL;
    int rc = lra_train_estimate(&s, &r.device, false, &c, e);
    lra_job_spec_free(&s);
    lra_rung_job_free(&r);
    *count = strcmp(l->match, "params") == 0 ? (double)c.parameters : c.step_flops;
    return rc;
}

typedef struct {
    int64_t size;
    double count;
} trial_size;

/* Finds the sizes lo and hi = lo + step whose counts bracket the target; lo = hi if the smallest
 * size already exceeds it. */
static int bracket(const lra_rungs *l, int i, int64_t step, const lra_job *r, trial_size *lo,
                   trial_size *hi, lra_err *e)
{
    int64_t start = l->rung[i].size / step * step;
    int rc;
    lo->size = step;
    rc = count_of(l, i, lo->size, r, &lo->count, e);
    *hi = *lo;
    for (int64_t size = start > step ? start : 2 * step; rc == 0 && hi->count < l->count;
         size *= 2) {
        if (size > MOST) return 0;
        *lo = *hi, hi->size = size;
        rc = count_of(l, i, size, r, &hi->count, e);
    }
    while (rc == 0 && hi->size - lo->size > step) {
        double share = (l->count - lo->count) / (hi->count - lo->count);
        int64_t gap = (hi->size - lo->size) / step, at = llround(share * (double)gap);
        at = at < 1 ? 1 : at > gap - 1 ? gap - 1 : at;
        trial_size g = {.size = lo->size + at * step};
        rc = count_of(l, i, g.size, r, &g.count, e);
        if (g.count < l->count)
            *lo = g;
        else
            *hi = g;
    }
    return rc;
}

static int solve(lra_rungs *l, int i, const lra_job *r, lra_err *e)
{
    trial_size lo, hi;
    char name[48];
    bool flops = strcmp(l->match, "flops") == 0;
    const char *unit = flops ? "FLOPs per step" : "parameters";
    /* Sizes must be multiples of the number of groups of a convolution. */
    int64_t step = lra_config_has(r->model_config, "groups")
                       ? lra_config_int(r->model_config, "groups")
                       : 1;
    if (bracket(l, i, step, r, &lo, &hi, e) != 0) return LRA_FAILED;
    trial_size best = fabs(lo.count - l->count) < fabs(hi.count - l->count) ? lo : hi;
    if (!(fabs(best.count / l->count - 1) <= within))
        return lra_fail_usage(e,
                              "%s: no value of '%s' has the %.6g %s of %s = %" PRId64
                              " within 2 %%; the nearest is %" PRId64 " with %.6g",
                              lra_rungs_name(l, i, name), r->model->match, l->count, unit, l->axis,
                              l->rung[l->reference].value, best.size, best.count);
    l->rung[i].size = best.size;
    return 0;
}

int lra_rungs_match(lra_rungs *l, const lra_job *r, lra_err *e)
{
    int rc = count_of(l, l->reference, l->rung[l->reference].size, r, &l->count, e);
    for (int i = 0; i < l->n && rc == 0; i++)
        if (i != l->reference) rc = solve(l, i, r, e);
    return rc;
}
