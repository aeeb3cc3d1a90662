/* Answers requests for the kernels of a run (served_kernels.h). */
#include "probes/kernels/served_kernels.h"

#include "kernels/base/core/mem.h"
#include "probes/kernels/uncovered.h"

/* True if the modulus of the complex kernel is known at every lag of every channel. */
static bool has_moduli(const lra_extracted_kernels *k)
{
    int64_t n = k->channels * (k->behind + k->ahead);
    for (int64_t i = 0; i < n && k->mod[0]; i++)
        if (isnan(k->mod[0][i])) return false;
    return k->mod[0] != NULL;
}

/* Copies lags -behind .. ahead-1 of `rows` kernels. */
static void copy_lags(const lra_extracted_kernels *k, const double *from, int64_t rows,
                      const lra_kernels_answer *out, float *to)
{
    int64_t lags = k->behind + k->ahead, own = out->behind + out->ahead;
    int64_t first = k->behind - out->behind;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < own; j++) to[r * own + j] = (float)from[r * lags + first + j];
}

static int copy_kernels(const lra_extracted_kernels *k, int64_t lags, lra_kernels_answer *out,
                        lra_err *e)
{
    *out = (lra_kernels_answer){.channels = k->channels,
                                .components = k->components,
                                .behind = k->behind < lags ? k->behind : lags,
                                .ahead = k->ahead < lags ? k->ahead : lags};
    int64_t n = out->channels * (out->behind + out->ahead);
    out->value = lra_try_array(n * out->components, sizeof(float), k->name, e);
    if (!out->value) return LRA_FAILED;
    copy_lags(k, k->k[0], k->channels * k->components, out, out->value);
    if (!has_moduli(k)) return 0;
    out->modulus = lra_try_array(n, sizeof(float), k->name, e);
    if (!out->modulus) return LRA_FAILED;
    copy_lags(k, k->mod[0], k->channels, out, out->modulus);
    return 0;
}

static int get(void *context, int k, lra_weights_kind weights, int64_t lags,
               lra_kernels_answer *out, lra_err *e)
{
    lra_served_kernels *s = context;
    if (s->values.n == 0 || s->weights != weights) {
        lra_extract_close(&s->values);
        int rc = lra_extract_states(&s->values, s->run, s->device, false, 1, &weights, e);
        if (rc != 0) lra_extract_close(&s->values);
        if (rc != 0) return rc;
        s->weights = weights;
    }
    return copy_kernels(&s->values.kernels[k], lags, out, e);
}

int lra_served_kernels_open(lra_served_kernels *s, const lra_train_spec *run, lra_device *device,
                            lra_err *e)
{
    *s = (lra_served_kernels){.run = run, .device = device};
    int rc = lra_extract_states(&s->names, run, device, false, 0, NULL, e);
    int n = rc == 0 ? s->names.n : 0;
    s->layer = lra_alloc_array((size_t)n + 1, sizeof *s->layer);
    for (int i = 0; i < n; i++) s->layer[i] = s->names.kernels[i].name;
    if (n) s->uncovered = lra_uncovered_nodes(run, device, e);
    if (n && !s->uncovered) rc = LRA_FAILED;
    s->base = (lra_engine_kernels){.n = rc == 0 ? n : 0,
                                   .layer = s->layer,
                                   .uncovered = s->uncovered,
                                   .context = s,
                                   .get = get};
    return rc;
}

void lra_served_kernels_close(lra_served_kernels *s)
{
    lra_extract_close(&s->names);
    lra_extract_close(&s->values);
    lra_free(s->layer);
    lra_free(s->uncovered);
    *s = (lra_served_kernels){.run = NULL};
}
