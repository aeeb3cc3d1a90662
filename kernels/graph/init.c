/* Initialisers: values are drawn or computed in double and depend only on (seed, path). */
#include <math.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/philox.h"
#include "kernels/graph/graph_impl.h"

/* Standard deviation of a standard normal truncated at +-2: sqrt(1 - 4 f(2)/(F(2) - F(-2))), where
 * f is the density and F the distribution function of a standard normal. */
static const double CUT_DEVIATION = 0.87962566103423978;

static void add_normals(lra_rng *r, double deviation, int64_t n, double *v)
{
    for (int64_t i = 0; i < n; i += 2) {
        double pair[2];
        uint32_t first = lra_rng_u32(r);
        lra_normal2(first, lra_rng_u32(r), &pair[0], &pair[1]);
        for (int64_t k = 0; k < 2 && i + k < n; k++) v[i + k] += deviation * pair[k];
    }
}

/* Draws pairs of words until the value lies within two standard deviations. */
static double cut_normal(lra_rng *r)
{
    for (;;) {
        double pair[2];
        uint32_t first = lra_rng_u32(r);
        lra_normal2(first, lra_rng_u32(r), &pair[0], &pair[1]);
        if (fabs(pair[0]) <= 2) return pair[0];
        if (fabs(pair[1]) <= 2) return pair[1];
    }
}

static void uniforms(lra_rng *r, double lo, double hi, int64_t n, double *v)
{
    for (int64_t i = 0; i < n; i++) v[i] = lo + (hi - lo) * lra_rng_u01(r);
}

/* Bound of the Glorot uniform distribution; each tap counts as an input and as an output. */
static double xavier_bound(lra_shape s, double gain)
{
    double outputs = s.n > 0 ? (double)s.d[s.n - 1] : 1,
           inputs = s.n > 1 ? (double)s.d[s.n - 2] : 1;
    double taps = (double)lra_shape_elements(s) / (inputs * outputs);
    return gain * sqrt(6 / (taps * (inputs + outputs)));
}

void lra_init_fill(const lra_param_spec *spec, uint64_t seed, const char *path, lra_shape s,
                   double *v)
{
    uint32_t stream = lra_hash32(path);
    lra_rng r = lra_rng_new(seed, stream, 0);
    int64_t n = lra_shape_elements(s), width = s.n ? s.d[s.n - 1] : 1;
    double a = spec->a, b = spec->b;
    switch (spec->init) {
    case LRA_INIT_CONSTANT:
        for (int64_t i = 0; i < n; i++) v[i] = a;
        return;
    case LRA_INIT_NORMAL:
        for (int64_t i = 0; i < n; i++) v[i] = b;
        add_normals(&r, a, n, v);
        return;
    case LRA_INIT_UNIFORM: uniforms(&r, a, b, n, v); return;
    case LRA_INIT_TRUNCATED_NORMAL:
        for (int64_t i = 0; i < n; i++) v[i] = a / CUT_DEVIATION * cut_normal(&r);
        return;
    case LRA_INIT_LOG_UNIFORM:
        uniforms(&r, log(a), log(b), n, v);
        for (int64_t i = 0; i < n; i++) v[i] = exp(v[i]);
        return;
    case LRA_INIT_FAN: uniforms(&r, -1 / sqrt(a), 1 / sqrt(a), n, v); return;
    case LRA_INIT_XAVIER: uniforms(&r, -xavier_bound(s, a), xavier_bound(s, a), n, v); return;
    case LRA_INIT_RAMP:
        for (int64_t i = 0; i < n; i++) v[i] = a + b * (double)(i % width);
        return;
    case LRA_INIT_ALTERNATING:
        for (int64_t i = 0; i < n; i++) v[i] = i % width % 2 ? -b : b;
        add_normals(&r, a, n, v);
        return;
    case LRA_INIT_FILL: spec->fill(&(lra_fill){s, seed, stream, spec->data}, v); return;
    }
}
