/* Adds facts of the table of a ladder for JSON (ladder_notes.h). */
#include <math.h>

#include "kernels/base/core/mem.h"
#include "reports/ladder/ladder_notes.h"

static void add_estimate(lra_table *t, const char *name, const lra_estimate *x, double unit)
{
    static const char *const ends[] = {"", "_lo", "_hi"};
    const double value[] = {x->value, x->lo, x->hi};
    for (int i = 0; i < 3; i++) {
        char *full = lra_format("%s%s", name, ends[i]);
        lra_table_fact(t, full, unit * value[i]);
        lra_free(full);
    }
}

static void add_reaches(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    static const int points[LRA_LADDER_RADII] = {1, 2, 5};
    bool index = l->state == LRA_LI_GIVEN;
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        char *name = lra_format("radius_%d", points[i]);
        add_estimate(t, name, &l->radius[i], 1);
        lra_free(name);
    }
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        char *name = lra_format("reach_sufficient_%d", points[i]);
        lra_table_fact(t, name, index ? l->sufficient[i].reach : NAN);
        lra_free(name);
    }
    index = v->has_info && v->info.state == LRA_LI_GIVEN;
    for (int i = 0; i < LRA_LADDER_RADII; i++) {
        char *name = lra_format("reach_sufficient_info_%d", points[i]);
        lra_table_fact(t, name, index ? v->info.sufficient[i].reach : NAN);
        lra_free(name);
    }
}

static void add_who(lra_table *t, const lra_ladder_view *v)
{
    const lra_result *r = v->first;
    lra_table_fact_text(t, "task", r->task);
    lra_table_fact_text(t, "model", r->model);
    lra_table_fact_text(t, "preset", r->preset);
    lra_table_fact_text(t, "precision", r->precision);
    lra_table_fact_text(t, "data", r->fingerprint);
    lra_table_fact_text(t, "axis", v->kind.axis);
    lra_table_fact_text(t, "match", v->kind.match);
    if (*v->kind.key) {
        lra_table_fact_text(t, "match_key", v->kind.key);
        lra_table_fact(t, "match_count", v->kind.count);
    }
    lra_table_fact(t, "seeds", v->data.n_seeds);
    lra_table_fact(t, "test_examples", (double)v->data.n);
    lra_table_fact(t, "max_length", (double)v->data.T);
    if (r->grid > 0) lra_table_fact(t, "grid", (double)r->grid);
    lra_table_fact_text(t, "reference", v->reference);
}

void lra_ladder_add_facts(lra_table *t, const lra_ladder_view *v)
{
    const lra_ladder *l = &v->ladder;
    const lra_metric *m = v->metric;
    const char *unit = m->scale == 100 ? "_percent" : "",
               *value = m->scale == 100 ? "_percent" : "_value";
    char flags[LRA_FLAGS_TEXT], *name;
    add_who(t, v);
    lra_table_fact_text(t, "metric", m->name);
    name = lra_format("reference%s", value);
    lra_table_fact(t, name, m->scale * lra_ladder_value(v, l->reference));
    lra_free(name);
    lra_table_fact_text(t, "chance", v->chance);
    name = lra_format("chance%s", value);
    lra_table_fact(t, name, m->scale * lra_ladder_value(v, l->chance));
    lra_free(name);
    add_estimate(t, "li", &l->li, 1);
    add_estimate(t, "li_raw", &l->li_raw, 1);
    lra_table_fact(t, "first_reach", (double)l->first_reach);
    lra_table_fact(t, "last_reach", (double)l->last_reach);
    lra_table_fact(t, "index_end", (double)l->end);
    lra_table_fact(t, "extrapolated_share", l->extrapolated);
    add_reaches(t, v);
    lra_estimate growth = lra_ladder_values(v, l->widest_minus_narrowest),
                 slope = lra_ladder_values(v, l->slope);
    name = lra_format("widest_minus_narrowest%s", unit);
    add_estimate(t, name, &growth, m->scale);
    lra_free(name);
    name = lra_format("reach_slope%s", unit);
    add_estimate(t, name, &slope, m->scale);
    lra_free(name);
    const lra_estimate none = {NAN, NAN, NAN};
    add_estimate(t, "li_info", v->has_info ? &v->info.li : &none, 1);
    add_estimate(t, "reach_slope_bits", v->has_info ? &v->info.slope : &none, 1 / log(2));
    add_estimate(t, "li_best", v->has_best ? &v->best.li : &none, 1);
    add_estimate(t, "overfit_gap_percent", v->has_gap ? &v->gap : &none, 100);
    lra_table_fact_text(t, "flags", lra_result_flags(v->first, v->flags, flags));
}
