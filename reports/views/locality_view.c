/* Collects the distance of the tokens on which models rely, by model (locality_view.h). */
#include "reports/views/locality_view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "reports/views/locality_reference.h"

/* Source of a measurement: the file of a probe, and a unit in it. */
typedef struct source source;
struct source {
    const char *probe, *unit; /* unit NULL: mean over all heads of the file */
    const char *prefix;       /* prefix of table heads and keys; NULL: none */
    const source *needs;      /* source without which this one is also missing; NULL: none */
    const char *no_file;      /* reason for a missing value if the run has no file of this probe */
    const char *no_unit;      /* reason if the file does not contain the unit or the measurement */
    const char *undefined;    /* reason if the value is not a number */
};
static const char no_influence[] = "no influence.h5 in the folder of the result: not measured";
static const char not_above_chance[] =
    "the model is not clearly above chance on the measured examples";
static const char undefined_rows[] = "undefined in all rows";
static const source of_jacobian = {.probe = "influence",
                                   .unit = "jacobian",
                                   .no_file = no_influence,
                                   .no_unit = "part 'jacobian' was not measured",
                                   .undefined = undefined_rows},
                    of_cut = {.probe = "influence",
                              .unit = "cut",
                              .no_file = no_influence,
                              .no_unit = "its layers support no distance limit, or part 'cut' was "
                                         "not measured",
                              .undefined = not_above_chance},
                    of_window = {.probe = "influence",
                                 .unit = "cut.window",
                                 .needs = &of_cut,
                                 .no_file = no_influence,
                                 .no_unit = "no attention, or other layers also connect positions",
                                 .undefined = not_above_chance},
                    of_context = {.probe = "influence",
                                  .unit = "context",
                                  .no_file = no_influence,
                                  .no_unit = "part 'context' was not measured, or is undefined for "
                                             "the model (of language models: 'context-curve')",
                                  .undefined = not_above_chance},
                    of_kernels = {.probe = "kernels",
                                  .unit = "model",
                                  .prefix = "kernels",
                                  .no_file = "no kernels.h5: no convolution kernels in the model, "
                                             "or not measured",
                                  .no_unit = "not in the file",
                                  .undefined = undefined_rows},
                    of_heads = {.probe = "attention",
                                .prefix = "heads",
                                .no_file = "no attention.h5: no attention in the model, or not "
                                           "measured",
                                .no_unit = "not in the file",
                                .undefined = undefined_rows};

/* The measurements of locality.def. */
static const struct {
    const source *source;
    const char *id, *columns;
} listed[LRA_LOCALITIES] = {
#define JACOBIAN                                &of_jacobian
#define CUT                                     &of_cut
#define WINDOW                                  &of_window
#define CONTEXT                                 &of_context
#define KERNELS                                 &of_kernels
#define HEADS                                   &of_heads
#define LRA_LOCALITY(name, source, id, columns) {source, id, columns},
#include "reports/views/locality.def"
#undef LRA_LOCALITY
};

lra_locality_column lra_locality_column_of(lra_locality what)
{
    return (lra_locality_column){listed[what].id, listed[what].source->prefix,
                                 listed[what].columns};
}

const char *const lra_mask_names[LRA_MASKS] = {"both", "causal", "unknown"};

/* A probe file with the key of its run, for binary search. */
typedef struct {
    const char *probe, *run, *data;
    int64_t seed;
    const lra_probe_result *result;
    int at;
} indexed;

static int by_run(const void *a, const void *b)
{
    const indexed *x = a, *y = b;
    int order = strcmp(x->probe, y->probe);
    if (order == 0) order = strcmp(x->run, y->run);
    if (order == 0) order = strcmp(x->data, y->data);
    return order ? order : (x->seed > y->seed) - (x->seed < y->seed);
}

static int by_run_and_place(const void *a, const void *b)
{
    int order = by_run(a, b);
    return order ? order : ((const indexed *)a)->at - ((const indexed *)b)->at;
}

static void make_index(lra_locality_view *v, const lra_report_input *in)
{
    indexed *x = lra_alloc_array((size_t)in->n_probes + 1, sizeof *x);
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *p = in->probes[i];
        x[i] = (indexed){p->probe, p->run, p->fingerprint, p->seed, p, i};
    }
    qsort(x, (size_t)in->n_probes, sizeof *x, by_run_and_place);
    v->index = x, v->n_indexed = in->n_probes;
}

const lra_probe_result *lra_locality_probe(const lra_locality_view *v, const lra_result *r,
                                           const char *probe)
{
    const indexed *all = v->index, own = {probe, r->run, r->fingerprint, r->seed, NULL, 0};
    int from = 0, to = v->n_indexed; /* binary search for the first entry that is not below `own` */
    while (from < to) {
        int middle = from + (to - from) / 2;
        if (by_run(&all[middle], &own) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from < v->n_indexed && by_run(&all[from], &own) == 0 ? all[from].result : NULL;
}

/* ---- one number ------------------------------------------------------------------------------ */

/* Mean of a measurement over the heads of a file. The half width of its interval is also the mean,
 * because heads share their examples. */
static bool mean_over_heads(const lra_probe_result *p, const char *id, lra_measurement *out)
{
    int n = 0;
    double value = 0, lo = 0, hi = 0, null[LRA_NULLS] = {0};
    for (int u = 0; u < p->n_units; u++) {
        const lra_measurement *f = strstr(p->unit[u]->name, ".head")
                                       ? lra_probe_measurement(p->unit[u], id)
                                       : NULL;
        if (!f || isnan(f->value)) continue;
        if (n++ == 0) *out = *f;
        value += f->value, lo += f->lo, hi += f->hi;
        for (int k = 0; k < LRA_NULLS; k++) null[k] += f->null[k];
    }
    if (n == 0) return false;
    out->value = value / n, out->lo = lo / n, out->hi = hi / n;
    for (int k = 0; k < LRA_NULLS; k++) out->null[k] = null[k] / n;
    return true;
}

/* Gets the context limit of a language model: its context curve counts the c tokens before the
 * predicted token, which are the position itself and the R = c - 1 tokens before it. */
static bool of_context_curve(const lra_probe_result *p, const char *id, lra_measurement *out)
{
    char curve[LRA_MEASUREMENT_ID];
    const lra_probe_unit *u = lra_probe_unit_find(p, "context-curve");
    snprintf(curve, sizeof curve, "context.c%s", id + strlen("context.r"));
    const lra_measurement *f = u ? lra_probe_measurement(u, curve) : NULL;
    if (!f) return false;
    *out = *f;
    snprintf(out->id, sizeof out->id, "%s", id);
    out->value = fmax(0, f->value - 1), out->lo = fmax(0, f->lo - 1), out->hi = fmax(0, f->hi - 1);
    if (isnan(f->value)) out->value = NAN;
    if (isnan(f->lo)) out->lo = out->hi = NAN;
    out->null[LRA_NULL_UNIFORM] -= 1;
    return true;
}

/* Gets a measurement of one seed. Returns false for kernels whose lag 0 contains the skip path D u,
 * because they are not comparable with others. */
static bool of_seed(const lra_probe_result *p, lra_locality what, lra_measurement *out)
{
    const source *from = listed[what].source;
    if (lra_probe_skip(p)) return false;
    if (!from->unit) return mean_over_heads(p, listed[what].id, out);
    const lra_probe_unit *u = lra_probe_unit_find(p, from->unit);
    const lra_measurement *f = u ? lra_probe_measurement(u, listed[what].id) : NULL;
    if (f) *out = *f;
    if (!u && from == &of_context) return of_context_curve(p, listed[what].id, out);
    return f != NULL;
}

/* True if the file was written by an older version, which counted the own token as distance 0: such
 * a file has no distances of the other tokens. */
static bool is_older(const lra_probe_result *p)
{
    bool range = false;
    for (int u = 0; u < p->n_units; u++) {
        if (lra_probe_measurement(p->unit[u], "dist.mean")) return false;
        range = range || lra_probe_measurement(p->unit[u], "range.mean") ||
                lra_probe_measurement(p->unit[u], "range.mean.rel");
    }
    return range;
}

/* Reason why a measurement is missing in file p of the run (NULL: the run has no file). found: p
 * contains the measurement, but its value is not a number. */
static const char *reason(const lra_probe_result *p, lra_locality what, bool found)
{
    const source *from = listed[what].source;
    if (!p) return from->no_file;
    if (lra_probe_skip(p)) return "kernels.h5 counts the direct path (--kernel-skip)";
    if (found) return from->undefined;
    if (from->needs && !lra_probe_unit_find(p, from->needs->unit)) return from->needs->no_unit;
    bool unit = !from->unit || lra_probe_unit_find(p, from->unit);
    if (what == LRA_LOCALITY_USED && unit)
        return "the reach of the model is not limited, or unknown";
    if (unit && is_older(p))
        return "the file is of an older version, which did not measure it; measure again with "
               "--force";
    return from->no_unit;
}

/* Combines seeds and clips the interval to the range of the measurement, which a t interval of few
 * seeds may exceed. */
static lra_measurement over_seeds(int n, const lra_measurement *by_seed, int64_t T)
{
    double least, most;
    lra_measurement f = lra_measurement_of_seeds(n, by_seed);
    lra_measurement_bounds(f.id, (double)T, &least, &most);
    if (f.lo < least) f.lo = least, f.flags |= LRA_CLIPPED;
    if (f.hi > most) f.hi = most, f.flags |= LRA_CLIPPED;
    return f;
}

/* Mean over seeds of the change from the initial weights, with its 95 % interval. */
static lra_measurement growth_of(int n, const lra_measurement *by_seed)
{
    lra_measurement f = lra_measurement_of("dist.mean.grew", NAN);
    double sum = 0, squares = 0;
    int known = 0;
    for (int s = 0; s < n; s++) {
        double x = by_seed[s].value - by_seed[s].null[LRA_NULL_INIT];
        if (isfinite(x)) sum += x, squares += x * x, known++;
    }
    f.seeds = known;
    if (known == 0) return f;
    f.value = sum / known;
    if (known < 2) return f;
    double variance = fmax(squares - sum * sum / known, 0) / (known - 1);
    double half = lra_t_quantile(known - 1, 0.975) * sqrt(variance / known);
    f.lo = f.value - half, f.hi = f.value + half;
    f.flags &= ~(uint32_t)LRA_ONE_SEED;
    return f;
}

static void fill(lra_locality_row *r, const lra_locality_view *v, lra_locality what)
{
    const size_t seeds = (size_t)r->group->n;
    lra_measurement *by_seed = lra_alloc_array(2 * seeds, sizeof *by_seed),
                    *before = by_seed + seeds;
    const lra_probe_result *any = NULL;
    int n = 0;
    for (int s = 0; s < r->group->n; s++) {
        const lra_probe_result *p = lra_locality_probe(v, r->group->run[s],
                                                       listed[what].source->probe);
        if (p) any = p;
        if (p && of_seed(p, what, &by_seed[n])) n++;
    }
    r->at[what] = r->initial[what] = lra_measurement_of(listed[what].id, NAN);
    for (int s = 0; s < n; s++) {
        before[s] = lra_measurement_of(by_seed[s].id, by_seed[s].null[LRA_NULL_INIT]);
        before[s].examples = by_seed[s].examples;
    }
    if (n) r->at[what] = over_seeds(n, by_seed, r->group->run[0]->max_length);
    if (n) r->initial[what] = over_seeds(n, before, r->group->run[0]->max_length);
    if (what == LRA_LOCALITY_MEAN) r->grew = growth_of(n, by_seed);
    if (isnan(r->at[what].value)) r->missing[what] = reason(any, what, n > 0);
    lra_free(by_seed);
}

/* Mask of the model of a file, from the direction of the uniform weights: it is 1 if they cover
 * only the past. Unknown if the file has no such measurement. */
static lra_mask mask_of(const lra_probe_result *p)
{
    const lra_measurement *f = NULL;
    for (int u = 0; p && u < p->n_units && !f; u++) f = lra_probe_measurement(p->unit[u], "side");
    if (!f || isnan(f->null[LRA_NULL_UNIFORM])) return LRA_MASK_UNKNOWN;
    bool back = f->null[LRA_NULL_UNIFORM] > 1 - 1e-6 || lra_probe_equal_ahead(p);
    return back ? LRA_MASK_CAUSAL : LRA_MASK_BOTH;
}

/* Sets the mask from the first file that has one. */
static void set_mask(lra_locality_row *r, const lra_locality_view *v)
{
    static const char *const probe[] = {"influence", "attention", "kernels"};
    r->mask = LRA_MASK_UNKNOWN;
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < r->group->n && r->mask == LRA_MASK_UNKNOWN; s++)
            r->mask = mask_of(lra_locality_probe(v, r->group->run[s], probe[k]));
}

/* Counts the kinds of decay over seeds. Sets `ahead` if the uniform baseline of a causal model
 * covers both sides, as in older files. */
static void count_decays(lra_locality_row *r, const lra_locality_view *v)
{
    for (int s = 0; s < r->group->n; s++) {
        const lra_probe_result *p = lra_locality_probe(v, r->group->run[s], "influence");
        const lra_probe_unit *u = p ? lra_probe_unit_find(p, "jacobian") : NULL;
        const lra_measurement *f = u ? lra_probe_measurement(u, "decay.kind") : NULL;
        r->ahead = r->ahead || (p && lra_probe_equal_ahead(p));
        if (f && f->value >= 0 && f->value <= 2) r->decay[(int)f->value]++;
    }
}

/* ---- all rows -------------------------------------------------------------------------------- */

/* Compares rows by task, preset and mask, then by distance (ascending); rows without a distance
 * come last, ordered by name. */
static int by_range(const void *a, const void *b)
{
    const lra_locality_row *x = a, *y = b;
    const lra_result *p = x->group->run[0], *q = y->group->run[0];
    double near = x->at[LRA_LOCALITY_REL].value, far = y->at[LRA_LOCALITY_REL].value;
    int order = strcmp(p->task, q->task);
    if (order == 0) order = strcmp(p->fingerprint, q->fingerprint);
    if (order == 0) order = strcmp(p->preset, q->preset);
    if (order == 0) order = (int)x->mask - (int)y->mask;
    if (order == 0) order = isnan(near) - isnan(far);
    if (order == 0 && !isnan(near)) order = (near > far) - (near < far);
    return order ? order : strcmp(x->name, y->name);
}

static int add_reference(lra_locality_view *v, const char *path, lra_err *e)
{
    lra_locality_row *rows;
    int n;
    if (lra_locality_reference_read(path, &rows, &n, &v->made, e) != 0) return LRA_FAILED;
    v->row = lra_resize(v->row, (size_t)(v->n + n + 1) * sizeof *v->row);
    if (n) memcpy(v->row + v->n, rows, (size_t)n * sizeof *rows);
    v->n += n;
    lra_free(rows);
    return 0;
}

int lra_locality_open(lra_locality_view *v, const lra_report_input *in, lra_err *e)
{
    *v = (lra_locality_view){0};
    if (in->n == 0) return lra_fail(e, "no results; 'lra-probe train' makes them");
    v->n = v->n_groups = lra_results_group(in->list, in->n, &v->groups);
    v->row = lra_alloc_array((size_t)v->n + 1, sizeof *v->row);
    char **name = lra_result_group_names(v->n, v->groups);
    make_index(v, in);
    for (int i = 0; i < v->n; i++) {
        lra_locality_row *r = &v->row[i];
        r->group = &v->groups[i], r->name = name[i];
        r->value = lra_results_value(r->group->run, r->group->n);
        for (int k = 0; k < LRA_LOCALITIES; k++) fill(r, v, (lra_locality)k);
        count_decays(r, v);
        set_mask(r, v);
    }
    lra_free(name);
    int rc = in->reference ? add_reference(v, in->reference, e) : 0;
    qsort(v->row, (size_t)v->n, sizeof *v->row, by_range);
    if (rc != 0) lra_locality_close(v);
    return rc;
}

void lra_locality_close(lra_locality_view *v)
{
    for (int i = 0; i < v->n; i++) {
        lra_free(v->row[i].name);
        if (v->row[i].reference) lra_locality_reference_free(&v->row[i]);
    }
    lra_free(v->made);
    lra_free(v->row);
    lra_free(v->index);
    lra_result_groups_free(v->groups, v->n_groups);
    *v = (lra_locality_view){0};
}

void lra_locality_growth(const lra_locality_view *v, int *grew, int *fell, int *undecided)
{
    *grew = *fell = *undecided = 0;
    for (int i = 0; i < v->n; i++) {
        const lra_measurement *f = &v->row[i].grew;
        bool above = f->lo > 0, below = f->hi < 0; /* without an interval (NAN), both are false */
        if (isnan(f->value)) continue;
        *grew += above, *fell += below, *undecided += !above && !below;
    }
}

char *lra_locality_data_name(const lra_locality_row *r)
{
    const lra_result *x = r->group->run[0];
    return lra_format("%s, %s, %s", x->task, x->preset, x->precision);
}
