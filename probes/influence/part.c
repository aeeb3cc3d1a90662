/* Shared code of the influence parts: gains, thresholds and profile curves. */
#include "probes/influence/part.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/interval.h"
#include "analysis/profile.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "reports/results/result_metric.h"

int64_t lra_influence_rows(const lra_influence *p, int64_t examples)
{
    int64_t n = p->result->n;
    return examples > 0 && examples < n ? examples : n;
}

bool lra_influence_has_initial(const lra_influence *p)
{
    return lra_responder_answers(p->subject.model, LRA_ANSWERS_RESET);
}

double lra_influence_weights(const lra_influence *p)
{
    return lra_influence_has_initial(p) ? 2 : 1;
}

const char *lra_influence_no_position_ids(const lra_influence *p)
{
    if (!p->engine) return NULL;
    const lra_train_spec *s = &p->engine->spec;
    const lra_model *m = s->model;
    if (m->unmasked && m->unmasked(s->model_config)) return "the model does not mask padding";
    if (s->pool == LRA_POOL_CLS) return "the CLS token stays first when tokens move";
    return m->position_dependent && m->position_dependent(s->model_config)
               ? "the model's blocks begin at fixed positions"
               : NULL;
}

void lra_influence_sides(const lra_influence *p, char text[LRA_SETTING_TEXT])
{
    bool causal = p->subject.model->facts.causal;
    snprintf(text, LRA_SETTING_TEXT, "%s", causal ? "past" : "both");
}

void lra_influence_donors(const lra_influence *p, char text[LRA_SETTING_TEXT])
{
    if (p->engine)
        snprintf(text, LRA_SETTING_TEXT, "batch");
    else
        snprintf(text, LRA_SETTING_TEXT, "%" PRId64, p->subject.donors);
}

/* ---- gains ----------------------------------------------------------------------------------- */

const char *lra_influence_no_gains(const lra_influence *p)
{
    if (p->subject.data->task->unlabelled) return "the rows have no labels";
    return p->refused ? p->refused(p->refused_context, "gains") : NULL;
}

static bool of_classes(const lra_influence *p)
{
    return p->result->n_classes > 0;
}

/* Adds a series with one value per row, larger is better: the accuracy (a mean if a row has several
 * outputs), or a score whose mean is the metric. */
static void add_series(const lra_influence *p, lra_sample *s, int64_t n, const lra_sums *row)
{
    double *value = NULL;
    if (of_classes(p)) {
        value = lra_alloc_array((size_t)n + 1, sizeof *value);
        for (int64_t i = 0; i < n; i++) value[i] = (double)row[i].right / (double)row[i].n;
    } else {
        lra_result r = {.metric = p->result->metric, .n = n, .row = (lra_sums *)(uintptr_t)row};
        value = lra_result_scores(&r);
    }
    lra_sample_add_rows(s, 1, (const double *const[]){value});
    lra_free(value);
}

static void add_chance(const lra_influence *p, lra_sample *s, int64_t n, const int64_t *index)
{
    const lra_result *r = p->result;
    bool of_training;
    if (!of_classes(p)) {
        double chance = lra_result_chance(r);
        lra_sample_add_number(s, lra_result_metric(r)->lower ? -chance : chance);
        return;
    }
    int32_t common = lra_result_common_label(r, &of_training);
    uint8_t *right = lra_alloc((size_t)n + 1);
    for (int64_t i = 0; i < n; i++) right[i] = r->label[index[i]] == common;
    lra_sample_add_fixed(s, right);
    lra_free(right);
}

/* Collects the paired series of n rows: each restriction, the complete input, and chance. */
static lra_sample *sample_of(const lra_influence *p, int64_t n, const int64_t *index, int n_points,
                             const lra_sums *row, const lra_sums *full)
{
    lra_sample *s = lra_sample_new(n, of_classes(p));
    for (int k = 0; k < n_points; k++) add_series(p, s, n, row + k * n);
    add_series(p, s, n, full);
    add_chance(p, s, n, index);
    return s;
}

/* True if the confidence interval of the accuracy on all test examples lies above chance. */
static bool is_above_chance(const lra_result *r)
{
    if (r->n_classes == 0) return false;
    double right = 0;
    uint8_t *correct = lra_result_correct(r);
    for (int64_t i = 0; i < r->n; i++) right += correct[i];
    lra_free(correct);
    return lra_wilson(right, (double)r->n, 0.95).lo > lra_result_chance(r);
}

void lra_influence_gain(const lra_influence *p, int64_t n, const int64_t *index, int n_points,
                        const double *x, const lra_sums *row, const lra_sums *full, lra_gain *out)
{
    if (lra_influence_no_gains(p)) {
        lra_gain_undefined(n_points, x, out);
        return;
    }
    lra_sample *s = sample_of(p, n, index, n_points, row, full);
    lra_gain_compute(s, x, p->subject.seed, out);
    lra_sample_free(s);
    if (out->at_chance && n < p->result->n) {
        bool few = is_above_chance(p->result);
        lra_note("%s: %" PRId64 " of %" PRId64
                 " test examples are too few: the model is not clearly above chance "
                 "on them%s; '--examples N' sets the number",
                 p->subject.title, n, p->result->n, few ? ", but it is on all of them" : "");
    }
}

lra_estimate lra_influence_difference(const lra_influence *p, int64_t n, const int64_t *index,
                                      const lra_sums *row, const lra_sums *full)
{
    lra_sample *s = sample_of(p, n, index, 2, row, full);
    lra_estimate x = lra_gain_difference(s, p->subject.seed);
    lra_sample_free(s);
    return x;
}

static lra_measurement measurement_of(const char *prefix, const char *more, const lra_estimate *x,
                                      int64_t n)
{
    char id[LRA_MEASUREMENT_ID];
    snprintf(id, sizeof id, "%s%s", prefix, more);
    lra_measurement f = lra_measurement_of(id, x->value);
    f.lo = x->lo, f.hi = x->hi, f.examples = n;
    if (isinf(x->value)) f.flags |= LRA_CENSORED;
    if (isinf(x->hi)) f.flags |= LRA_CENSORED_HI;
    return f;
}

lra_measurement lra_influence_threshold(const char *prefix, const char *more, const lra_estimate *x,
                                        int64_t n)
{
    return measurement_of(prefix, more, x, n);
}

/* The largest x of the gain curve below x; x itself if there is none. */
static double point_below(const lra_gain *g, double x)
{
    double below = x;
    for (int i = 0; i < g->n && g->x[i] < x; i++) below = g->x[i];
    return below;
}

/* Corrects a threshold, the smallest input size x with the required gain, for the finite number of
 * measured x. The true threshold is above the previous x, so the interval begins one token above
 * it. The last x is the complete input: if only it has the required gain, the value becomes the x
 * before it, a lower bound of the threshold (flag censored). */
static void bound_threshold(lra_measurement *f, const lra_gain *g)
{
    double whole = g->x[g->n - 1];
    if (isnan(f->value) || isinf(f->value)) return;
    if (f->hi >= whole) f->flags |= LRA_CENSORED_HI;
    if (f->lo > g->x[0] && isfinite(f->lo)) f->lo = point_below(g, f->lo) + 1;
    if (f->value < whole || g->n < 2) return;
    f->value = point_below(g, whole), f->flags |= LRA_CENSORED;
    if (f->lo > f->value) f->lo = f->value;
}

int lra_influence_coarse(const lra_gain *g, double q)
{
    int k = 0;
    while (k < g->n && !(g->gain[k].value >= q)) k++;
    if (k == 0 || k == g->n) return 0;
    double width = g->x[k] - g->x[k - 1];
    return width > fmax(1, floor(g->x[k - 1] / 16)) ? k : 0;
}

lra_measurement lra_influence_least(const char *prefix, int share, const lra_gain *g, int64_t n)
{
    char more[8];
    snprintf(more, sizeof more, "%.0f", 100 * lra_gain_shares[share]);
    lra_measurement f = measurement_of(prefix, more, &g->least[share], n);
    if (g->undefined) f.flags |= LRA_NO_GAIN;
    f.null[LRA_NULL_UNIFORM] = g->x[g->n - 1]; /* null value: the complete input */
    bound_threshold(&f, g);
    return f;
}

void lra_influence_add_least(lra_probe_unit *u, const char *prefix, const char *area,
                             const lra_gain *g, int64_t n)
{
    for (int k = 0; k < LRA_GAIN_SHARES && prefix; k++) {
        lra_measurement f = lra_influence_least(prefix, k, g, n);
        lra_probe_unit_measurements(u, 1, &f);
    }
    if (!area) return;
    lra_measurement f = measurement_of(area, "", &g->area, n);
    if (g->undefined) f.flags |= LRA_NO_GAIN;
    f.null[LRA_NULL_UNIFORM] = g->whole_area;
    lra_probe_unit_measurements(u, 1, &f);
}

void lra_influence_add_gain(lra_influence *p, lra_probe_unit *u, const char *prefix,
                            const char *area, const lra_gain *g, int64_t n)
{
    double gain[3 * LRA_GAIN_POINTS], value[3 * LRA_GAIN_POINTS];
    double sign = lra_result_metric(p->result)->lower ? -1 : 1;
    for (int i = 0; i < g->n; i++) {
        const lra_estimate *a = &g->gain[i], *b = &g->value[i];
        gain[3 * i] = a->value, gain[3 * i + 1] = a->lo, gain[3 * i + 2] = a->hi;
        value[3 * i] = sign * b->value;
        value[3 * i + 1] = sign * (sign < 0 ? b->hi : b->lo);
        value[3 * i + 2] = sign * (sign < 0 ? b->lo : b->hi);
    }
    lra_probe_unit_array(u, "x", 1, (int64_t[]){g->n}, g->x);
    lra_probe_unit_array(u, "gain", 2, (int64_t[]){g->n, 3}, gain);
    lra_probe_unit_array(u, "value", 2, (int64_t[]){g->n, 3}, value);
    lra_influence_add_least(u, prefix, area, g, n);
}

/* ---- profiles -------------------------------------------------------------------------------- */

void lra_influence_add_curves(lra_probe_unit *u, const lra_profile *p)
{
    int64_t n = lra_profile_distances(p);
    static const char *const name[] = {"mass",   "equal", "rel",        "rel.lo",
                                       "rel.hi", "other", "other.equal"};
    enum { N = sizeof name / sizeof *name };
    double *x = lra_alloc_array((size_t)(N * n) + 1, sizeof *x);
    lra_profile_curves(p, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n);
    lra_profile_others(p, x + 5 * n, x + 6 * n);
    for (int k = 0; k < N; k++) lra_probe_unit_array(u, name[k], 1, &n, x + k * n);
    lra_free(x);
}
