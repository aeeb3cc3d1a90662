/* Computes diagnostics of a ladder, because its index alone can be misleading: the rung that
 * validation would select, information instead of accuracy, memorisation of the training rows, and
 * baselines that are better than the reference. */
#include <math.h>
#include <string.h>

#include "analysis/information.h"
#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_diagnostics.h"

/* ---- validation and training ----------------------------------------------------------------- */

/* Mean of a value over the seeds of rung r. */
static double mean_of(const lra_ladder_view *v, int r, double (*value)(const lra_result *))
{
    double sum = 0;
    int n = v->data.rung[r].n_seeds;
    for (int s = 0; s < n; s++) sum += value(v->run[r][s]) / n;
    return sum;
}

static double train_value(const lra_result *r)
{
    return r->n_train ? r->train_value : NAN;
}

void lra_ladder_set_validation(lra_ladder_view *v)
{
    v->best_rung = -1;
    for (int r = 0; r < v->data.n_rungs; r++) {
        double own = v->val[r] = mean_of(v, r, lra_result_val_value);
        v->train[r] = mean_of(v, r, train_value);
        if (v->data.rung[r].reach == 0 || isnan(own)) continue;
        if (v->best_rung < 0 || lra_metric_better(v->metric, own, v->val[v->best_rung]))
            v->best_rung = r;
    }
}

/* Adds a series of right predictions: of the runs of rung r that learned, on the training sample
 * (train) or on the validation split. */
static void add_right(lra_sample *s, const lra_ladder_view *v, int r, bool train)
{
    const lra_ladder_row *row = &v->ladder.row[r];
    uint8_t *right[LRA_MAX_SEEDS] = {0}, *owned[LRA_MAX_SEEDS] = {0};
    int n = 0;
    for (int k = 0; k < row->n_seeds; k++) {
        if (!row->learned[k]) continue;
        owned[n] = train ? NULL : lra_result_val_correct(v->run[r][k]);
        right[n] = train ? v->run[r][k]->train_correct : owned[n];
        n++;
    }
    lra_sample_add_correct(s, n, (const uint8_t *const *)right);
    for (int k = 0; k < n; k++) lra_free(owned[k]);
}

/* True if every run of the rung has the same rows of both splits as the first. */
static bool has_rows(const lra_ladder_view *v, int r)
{
    for (int k = 0; k < v->data.rung[r].n_seeds; k++) {
        const lra_result *x = v->run[r][k];
        if (!x->train_correct || x->n_train != v->first->n_train || !x->n_val ||
            x->n_val != v->first->n_val)
            return false;
    }
    return true;
}

static int narrowest_of(const lra_ladder *l)
{
    int r = 0;
    while (l->row[r].null_row) r++;
    return r;
}

/* Sets the difference of the generalisation gap between the widest and the narrowest rung. If it is
 * positive, wide rungs fit the training rows better but generalise worse. */
static void set_gap(lra_ladder_view *v)
{
    int narrow = narrowest_of(&v->ladder), wide = v->ladder.reference_rung;
    v->has_gap = wide > narrow && has_rows(v, wide) && has_rows(v, narrow);
    if (!v->has_gap) return;
    lra_sample *train = lra_sample_new(v->first->n_train, true),
               *val = lra_sample_new(v->first->n_val, true);
    const int rung[] = {wide, narrow};
    for (int i = 0; i < 2; i++) {
        add_right(train, v, rung[i], true);
        add_right(val, v, rung[i], false);
    }
    v->gap = lra_gap_difference(train, val);
    if (v->gap.lo > 0) v->flags |= LRA_FLAG_OVERFIT;
    lra_sample_free(train);
    lra_sample_free(val);
}

/* ---- information ----------------------------------------------------------------------------- */

static bool has_answers(const lra_ladder_view *v, const lra_result *reference)
{
    if (v->data.kind == LRA_REFERENCE_NUMBER || v->first->n_classes == 0) return false;
    for (int r = 0; r < v->data.n_rungs; r++)
        for (int k = 0; k < v->data.rung[r].n_seeds; k++)
            if (!v->run[r][k]->n_val) return false;
    return !reference || reference->n_val;
}

/* Negative losses on the test rows, after temperature scaling that was fitted on validation rows.
 * The view frees them. */
static const double *scores_of(lra_ladder_view *v, const lra_result *r)
{
    double *loss = lra_ladder_keep(v, lra_alloc_array((size_t)r->n + 1, sizeof *loss));
    double b = lra_temperature_fit(r->n_val, r->n_classes, r->val_logits, r->val_label);
    lra_losses(r->n, r->n_classes, r->logits, r->label, b, loss);
    for (int64_t i = 0; i < r->n; i++) loss[i] = -loss[i];
    return loss;
}

static const double *chance_scores(lra_ladder_view *v)
{
    const lra_result *r = v->first;
    double *loss = lra_ladder_keep(v, lra_alloc_array((size_t)r->n + 1, sizeof *loss));
    lra_chance_losses(r->n, r->n_classes, r->label, r->n_val, r->val_label, loss);
    for (int64_t i = 0; i < r->n; i++) loss[i] = -loss[i];
    return loss;
}

/* Computes the same ladder with losses in place of right predictions, for the seeds that
 * learned. */
static int set_info(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    lra_ladder_data d = v->data;
    v->has_info = has_answers(v, scale->run);
    if (!v->has_info) return 0;
    d.values = d.all_learned = true;
    d.chance_correct = d.reference_correct = NULL;
    d.chance = -log((double)v->first->n_classes);
    if (!scale->uniform) d.chance_row = chance_scores(v);
    if (scale->run) d.reference_row = scores_of(v, scale->run);
    for (int r = 0; r < d.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        d.rung[r].n_seeds = 0;
        for (int k = 0; k < row->n_seeds; k++)
            if (row->learned[k]) d.rung[r].row[d.rung[r].n_seeds++] = scores_of(v, v->run[r][k]);
    }
    return lra_ladder_run(&d, &v->info, e);
}

/* ---- other references ------------------------------------------------------------------------ */

static int set_best(lra_ladder_view *v, lra_err *e)
{
    lra_ladder_data d = v->data;
    int reference = v->ladder.reference_rung;
    v->has_best = d.kind == LRA_REFERENCE_WIDEST && v->best_rung >= 0 && v->best_rung != reference;
    if (!v->has_best) return 0;
    d.kind = LRA_REFERENCE_RUNG;
    d.reference_rung = v->best_rung;
    return lra_ladder_run(&d, &v->best, e);
}

/* Locality index with the accuracy of a baseline as reference; NAN if no rung sees all tokens. */
static double index_against(const lra_ladder_view *v, const uint8_t *right)
{
    lra_ladder_data d = v->data;
    lra_ladder l;
    int64_t n = 0;
    for (int64_t i = 0; i < d.n; i++) n += right[i];
    d.kind = LRA_REFERENCE_NUMBER;
    d.reference = (double)n / (double)d.n;
    d.n_replicates = 0;
    lra_ladder_compute(&d, &l);
    return l.extrapolated > 0 ? NAN : l.li.value;
}

static void set_rivals(lra_ladder_view *v)
{
    const lra_result *r = v->first;
    uint8_t *right = lra_alloc((size_t)r->n + 1);
    for (int b = 0; b < r->n_baselines; b++) {
        if (lra_result_counted(r->baseline_name[b])) continue;
        for (int64_t i = 0; i < r->n; i++) right[i] = r->baseline[b][i] == r->label[i];
        lra_estimate x = lra_ladder_against(&v->data, &v->ladder, right);
        if (!(x.lo > 0)) continue;
        v->rival[v->n_rivals++] = (lra_ladder_rival){r->baseline_name[b], x,
                                                     index_against(v, right)};
    }
    lra_free(right);
    bool weak = v->n_rivals > 0;
    int reference = v->ladder.reference_rung, last = reference < 0 ? v->ladder.n_rungs : reference;
    for (int k = 0; k < last; k++) weak = weak || v->ladder.above[k].lo > 0;
    if (weak) v->flags |= LRA_FLAG_REFERENCE_WEAK;
}

/* Sets the difference of each rung from the best order-free baseline. */
static void set_simple(lra_ladder_view *v)
{
    const lra_result *r = v->first;
    double ignored;
    v->simple = lra_result_simple_baseline(r, &ignored);
    if (!v->simple) return;
    int b = 0;
    while (strcmp(r->baseline_name[b], v->simple) != 0) b++;
    uint8_t *right = lra_alloc((size_t)r->n + 1);
    for (int64_t i = 0; i < r->n; i++) right[i] = r->baseline[b][i] == r->label[i];
    lra_sample *s = lra_ladder_sample(&v->data, &v->ladder);
    int baseline = lra_sample_add_fixed(s, right);
    for (int k = 0; k < v->ladder.n_rungs; k++)
        v->above_simple[k] = lra_sample_difference(s, k, baseline, 0.95);
    lra_sample_free(s);
    lra_free(right);
}

/* ---- flags ----------------------------------------------------------------------------------- */

static void set_flags(lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    if (l->one_seed) v->flags |= LRA_FLAG_ONE_SEED;
    if (l->few_seeds) v->flags |= LRA_FLAG_FEW_SEEDS;
    if (l->state == LRA_LI_AT_CHANCE) v->flags |= LRA_FLAG_AT_CHANCE;
    for (int r = 0; r < l->n_rungs; r++)
        if (l->row[r].n_learned < l->row[r].n_seeds) v->flags |= LRA_FLAG_FAILED_SEEDS;
    if (l->state != LRA_LI_GIVEN) return;
    if (l->span) v->flags |= LRA_FLAG_SPAN;
    if (l->extrapolated > 0) v->flags |= LRA_FLAG_EXTRAPOLATED;
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        if (isinf(l->radius[i].hi)) v->flags |= LRA_FLAG_CENSORED;
        if (l->sufficient[i].unresolved) v->flags |= LRA_FLAG_UNRESOLVED;
    }
}

int lra_ladder_set_diagnostics(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    set_flags(v);
    set_gap(v);
    set_rivals(v);
    set_simple(v);
    int rc = set_best(v, e);
    return rc == 0 ? set_info(v, scale, e) : rc;
}
