/* Measures kernels of a model that answers requests (of_model.h). */
#include "probes/kernels/of_model.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "probes/kernels/layer_measurements.h"
#include "probes/shared/map_block.h"

static double *widen(int64_t n, const float *from)
{
    double *to = lra_alloc_array((size_t)n + 1, sizeof *to);
    for (int64_t i = 0; i < n; i++) to[i] = (double)from[i];
    return to;
}

int lra_extract_add(lra_extract *f, const char *name, const lra_kernels_answer *trained,
                    const lra_kernels_answer *initial, lra_err *e)
{
    const lra_kernels_answer *state[] = {
        [LRA_FOUND_INITIAL] = initial, [LRA_FOUND_TRAINED] = trained};
    const lra_kernels_answer *t = trained;
    int64_t n = t->channels * (t->behind + t->ahead);
    if (initial && (initial->channels != t->channels || initial->components != t->components ||
                    initial->behind != t->behind || initial->ahead != t->ahead))
        return lra_fail(e,
                        "layer '%s' has %lld channels and %lld lags at initialisation, and %lld "
                        "channels and %lld lags after training; expected equal numbers",
                        name, (long long)initial->channels,
                        (long long)(initial->ahead + initial->behind), (long long)t->channels,
                        (long long)(t->ahead + t->behind));
    f->kernels = lra_resize(f->kernels, (size_t)(f->n + 1) * sizeof *f->kernels);
    lra_extracted_kernels *k = &f->kernels[f->n++];
    *k = (lra_extracted_kernels){.name = lra_map_layer_name(name),
                                 .op = "answered",
                                 .channels = t->channels,
                                 .components = t->components,
                                 .behind = t->behind,
                                 .ahead = t->ahead,
                                 .step = 1};
    for (int s = 0; s < LRA_FOUND_STATES; s++) {
        if (!state[s]) continue;
        k->k[s] = widen(n * t->components, state[s]->value);
        if (state[s]->modulus) k->mod[s] = widen(n, state[s]->modulus);
    }
    return 0;
}

static void free_answer(lra_kernels_answer *a)
{
    lra_free(a->value);
    lra_free(a->modulus);
}

/* Requests the kernels of all layers with these weights. */
static int ask(const lra_subject *s, lra_subject_weights weights, lra_kernels_answer *out,
               lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_KERNELS, .exact = true};
    lra_responder *r = s->model;
    int64_t lags = s->buckets.length[s->buckets.n - 1];
    int rc = lra_subject_prepare(s, weights, p, e);
    /* after LRA_ABSENT the others are requested, too, so that a plan has them in one round */
    for (int k = 0; k < r->facts.n_kernel_layers && (rc == 0 || rc == LRA_ABSENT); k++) {
        lra_err other;
        int one = r->is->kernels(r, r->facts.kernel_layer[k], lags, &out[k], rc == 0 ? e : &other);
        if (rc == 0 && one != 0) lra_fail_in(e, "kernels of layer '%s'", r->facts.kernel_layer[k]);
        if (rc == 0) rc = one;
    }
    return rc;
}

int lra_extract_of_model(const lra_subject *s, lra_extract *f, lra_err *e)
{
    lra_responder *r = s->model;
    int n = r->facts.n_kernel_layers;
    bool resets = lra_responder_answers(r, LRA_ANSWERS_RESET);
    lra_kernels_answer *trained = lra_alloc_array(2 * (size_t)n + 1, sizeof *trained);
    lra_kernels_answer *initial = trained + n;
    *f = (lra_extract){0};
    int rc = n ? ask(s, LRA_TRAINED_WEIGHTS, trained, e)
               : lra_fail(e, "%s: the model names no layers with kernels", s->title);
    if ((rc == 0 || rc == LRA_ABSENT) && resets) {
        lra_err other;
        int before = ask(s, LRA_RESET_WEIGHTS, initial, rc == 0 ? e : &other);
        resets = before == 0; /* LRA_ABSENT: there are no kernels of initial weights */
        if (before == LRA_FAILED)
            rc = LRA_FAILED;
        else if (r->is->restore(r, rc == 0 ? e : &other) != 0)
            rc = LRA_FAILED;
    }
    for (int k = 0; k < n && rc == 0; k++)
        rc = lra_extract_add(f, r->facts.kernel_layer[k], &trained[k], resets ? &initial[k] : NULL,
                             e);
    for (int k = 0; k < 2 * n; k++) free_answer(&trained[k]);
    lra_free(trained);
    return rc;
}

void lra_kernels_measure(const lra_extract *f, int64_t columns, const char *uncovered,
                         lra_probe_result *r)
{
    lra_probe_result_set(r, "weight", "energy");
    lra_probe_result_set(r, "skip", "0");
    for (int i = 0; i < f->n; i++) lra_layer_measure(&f->kernels[i], columns, r);
    if (uncovered && !*uncovered) {
        lra_layers_add_model(r);
        return;
    }
    char *value = lra_copy_text(uncovered ? uncovered : "unknown");
    for (char *at = value; *at; at++)
        if (*at == ' ') *at = '+'; /* values of settings must not contain blanks */
    lra_probe_result_set(r, "uncovered", "%s", value);
    lra_free(value);
    lra_note("the row 'model' of the kernels is omitted: %s",
             uncovered ? "positions are also mixed without a kernel"
                       : "it is unknown whether positions are also mixed without a kernel");
}
