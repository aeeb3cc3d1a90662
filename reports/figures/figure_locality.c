/* Figure locality: distance of the tokens on which models rely. One row per model, in ascending
 * order of distance, grouped by mask.
 *   left    mean distance in tokens of the other tokens on which a position depends (Jacobians,
 *           dist.mean): hollow at initialisation, full after training; a dash marks uniform weights
 *           (smaller for causal models, whose weights cover only the past)
 *   middle  smallest distance limit that keeps 99 % of the gain: of all layers (points), of
 *           attention alone (crosses), of the complete model (triangles)
 *   right   the task's metric, with a line at chance
 * A panel without values is left out.
 * Bars: 95 % intervals over examples and seeds. The colour of a point shows which layers of the
 * model mix positions: attention, kernels, both, or neither. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/locality_view.h"
#include "reports/views/model_names.h"

enum { MOST_ROWS = 60, KINDS = 4, RANGE = 0, LIMITS, VALUES, PANELS };
static const char dat[] = "locality.dat";
static const double row_cm = 0.4;

/* Styles by the kind of the layers that mix positions. */
static const struct {
    const char *name, *color;
    int full, hollow;
    double size;
} kinds[KINDS] = {{"attention", "#D55E00", 7, 6, 0.65},
                  {"kernels", "#004A8F", 5, 4, 0.6},
                  {"both", "#3AA37F", 13, 12, 0.8},
                  {"neither", "#000000", 9, 8, 0.75}};

static int kind_of(const lra_locality_row *r)
{
    bool heads = !r->missing[LRA_LOCALITY_HEADS_RANGE_REL],
         kernels = !r->missing[LRA_LOCALITY_KERNEL_RANGE_REL];
    return heads && kernels ? 2 : heads ? 0 : kernels ? 1 : 3;
}

/* True if a heading is drawn above model i: it is the first of its mask, and the figure contains
 * several masks. */
static bool has_heading(const lra_locality_view *v, int i)
{
    bool first = i == 0 || v->row[i].mask != v->row[i - 1].mask;
    return first && v->row[0].mask != v->row[v->n - 1].mask;
}

static int lines_of(const lra_locality_view *v)
{
    int lines = v->n;
    for (int i = 0; i < v->n; i++) lines += has_heading(v, i);
    return lines;
}

/* Row of model i in the figure, counted from the bottom. */
static int line_of(const lra_locality_view *v, int i)
{
    int above = i;
    for (int k = 0; k <= i; k++) above += has_heading(v, k);
    return lines_of(v) - above;
}

/* True if any model has a value in this panel. */
static bool has_panel(const lra_locality_view *v, int panel)
{
    static const int of[PANELS][3] = {
        {LRA_LOCALITY_MEAN, LRA_LOCALITY_MEAN, LRA_LOCALITY_MEAN},
        {LRA_LOCALITY_CUT, LRA_LOCALITY_WINDOW, LRA_LOCALITY_CONTEXT_99}};
    for (int i = 0; i < v->n && panel < VALUES; i++)
        for (int k = 0; k < 3; k++) {
            int id = of[panel][k];
            if (!v->row[i].missing[id]) return true;
        }
    return panel == VALUES;
}

static bool has_limit(const lra_locality_view *v, lra_locality what)
{
    for (int i = 0; i < v->n; i++)
        if (!v->row[i].missing[what]) return true;
    return false;
}

/* Position of a limit r on the axis: log2(r + 1), because limits can be 0. */
static double place(double r)
{
    return log2(r + 1);
}

/* Ranges of the panels: near, far: distances in tokens; T: longest input; least, most: metric;
 * chance: metric at chance. */
typedef struct {
    double near, far, T, least, most, chance;
} span;

static void widen(double x, double *least, double *most)
{
    if (!isfinite(x)) return;
    *least = fmin(*least, x), *most = fmax(*most, x);
}

static span span_of(const lra_locality_view *v)
{
    const lra_result *first = v->row[0].group->run[0];
    double scale = lra_result_metric(first)->scale;
    span s = {.near = INFINITY,
              .far = 0,
              .T = (double)first->max_length,
              .chance = scale * lra_result_chance(first)};
    s.least = s.most = s.chance;
    for (int i = 0; i < v->n; i++) {
        const lra_locality_row *r = &v->row[i];
        const lra_measurement *mean = &r->at[LRA_LOCALITY_MEAN];
        const lra_measurement *initial = &r->initial[LRA_LOCALITY_MEAN];
        const double x[] = {mean->value,    mean->lo,    mean->hi,
                            initial->value, initial->hi, mean->null[LRA_NULL_UNIFORM]};
        for (int k = 0; k < 6; k++)
            if (x[k] > 0) widen(x[k], &s.near, &s.far);
        widen(scale * r->value.value, &s.least, &s.most);
        widen(scale * r->value.lo, &s.least, &s.most);
        widen(scale * r->value.hi, &s.least, &s.most);
    }
    if (!(s.near < INFINITY)) s.near = 1, s.far = s.T;
    /* without labels there is no metric: an arbitrary range */
    if (!isfinite(s.least)) s.least = 0, s.most = 1;
    s.near /= 1.25, s.far *= 1.25;
    lra_plot_widen(&s.least, &s.most, 0.06);
    return s;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_interval(lra_text *t, const lra_measurement *f, double (*at)(double), double least,
                         double most)
{
    const double x[] = {f->value, f->lo, f->hi};
    for (int k = 0; k < 3; k++)
        lra_plot_number(t, isnan(x[k]) ? NAN : at(fmin(fmax(x[k], least), most)));
}

static double as_it_is(double x)
{
    return x;
}

/* Adds a data block for each kind of model: row, then each value with the ends of its interval. */
static void add_data(lra_text *t, const lra_locality_view *v, double near)
{
    for (int kind = 0; kind < KINDS; kind++) {
        lra_plot_comment(t,
                         "%s: row; mean distance; initial; log2(limit + 1); log2(window + 1); "
                         "value; each with lo hi; mean distance of uniform weights; log2(context "
                         "limit + 1) lo hi",
                         kinds[kind].name);
        for (int i = 0; i < v->n; i++) {
            const lra_locality_row *r = &v->row[i];
            double T = (double)r->group->run[0]->max_length;
            double scale = lra_result_metric(r->group->run[0])->scale;
            if (kind_of(r) != kind) continue;
            lra_text_add(t, "%d", line_of(v, i));
            add_interval(t, &r->at[LRA_LOCALITY_MEAN], as_it_is, near, T);
            add_interval(t, &r->initial[LRA_LOCALITY_MEAN], as_it_is, near, T);
            add_interval(t, &r->at[LRA_LOCALITY_CUT], place, 0, T);
            add_interval(t, &r->at[LRA_LOCALITY_WINDOW], place, 0, T);
            lra_plot_number(t, scale * r->value.value);
            lra_plot_number(t, scale * r->value.lo);
            lra_plot_number(t, scale * r->value.hi);
            lra_plot_number(t, r->at[LRA_LOCALITY_MEAN].null[LRA_NULL_UNIFORM]);
            add_interval(t, &r->at[LRA_LOCALITY_CONTEXT_99], place, 0, T);
            lra_text_add(t, "\n");
        }
        /* gnuplot fails on an empty block */
        lra_text_add(t, "%d ? ? ? ? ? ? ? ? ? ? ? ? ? ? ? ? ? ? ?\n\n\n", 0);
    }
}

/* ---- script ---------------------------------------------------------------------------------- */

/* Draws the intervals of all kinds, then their points. column: of the value. */
static void add_points(lra_text *t, int column, bool hollow)
{
    for (int k = 0; k < KINDS; k++)
        lra_text_add(t,
                     ", \\\n     '%s' index %d using %d:1:($%d-$%d):(0) with vectors nohead lw %g "
                     "lc rgb '%s'",
                     dat, k, column + 1, column + 2, column + 1, hollow ? 1.2 : 2.2,
                     kinds[k].color);
    for (int k = 0; k < KINDS; k++)
        lra_text_add(t, ", \\\n     '%s' index %d using %d:1 with points pt %d ps %g lc rgb '%s'",
                     dat, k, column, hollow ? kinds[k].hollow : kinds[k].full, kinds[k].size,
                     kinds[k].color);
}

/* Maximum width of names in cm. */
static const double name_cm = 5;

static void add_rows(lra_text *t, const lra_locality_view *v, bool names)
{
    lra_text_add(t, "set yrange [0.4:%g]\nset ytics (", lines_of(v) + 0.6);
    for (int i = 0; i < v->n; i++) {
        char *group = lra_format("mask: %s", lra_mask_names[v->row[i].mask]);
        if (has_heading(v, i)) {
            lra_text_add(t, i ? ", " : "");
            lra_plot_tick(t, names ? group : "", line_of(v, i) + 1);
            lra_text_add(t, ", ");
        } else {
            lra_text_add(t, i ? ", " : "");
        }
        lra_free(group);
        const lra_result *r = v->row[i].group->run[0];
        char *shown = lra_model_shown(v->row[i].name, r->model, r->config);
        char *name = lra_plot_fit(names ? shown : "", name_cm, 8);
        lra_free(shown);
        lra_plot_tick(t, name, line_of(v, i));
        lra_free(name);
    }
    lra_text_add(t, ") scale 0\n");
}

/* Adds ticks at 1, 2, 5, 10, 20, .. within the range; at powers of ten only if the range exceeds
 * two decades. */
static void add_log_ticks(lra_text *t, double from, double to)
{
    const char *between = "";
    const int n = to > 100 * from ? 1 : 3;
    lra_text_add(t, "set xtics (");
    for (double ten = pow(10, floor(log10(from))); ten <= to; ten *= 10)
        for (int k = 0; k < n; k++) {
            double x = ten * (double[]){1, 2, 5}[k];
            if (x < from || x > to) continue;
            lra_text_add(t, "%s'%g' %g", between, x, x);
            between = ", ";
        }
    lra_text_add(t, ") scale 0.5\n");
}

static void add_range(lra_text *t, const span *s)
{
    lra_text_add(t, "set logscale x\nset xrange [%g:%g]\n", s->near, s->far);
    add_log_ticks(t, s->near, s->far);
    lra_text_add(t, "plot NaN");
    for (int k = 0; k < KINDS; k++)
        lra_text_add(
            t,
            ", \\\n     '%s' index %d using 17:($1-0.5):(0):(1) with vectors nohead lw 1.3 "
            "dt %s lc rgb '#888888'",
            dat, k, LRA_DASH_DASHES);
    /* Lines from the value at initialisation to that after training. */
    for (int k = 0; k < KINDS; k++)
        lra_text_add(t,
                     ", \\\n     '%s' index %d using 5:1:($2-$5):(0) with vectors nohead lw 0.8 "
                     "lc rgb '#aaaaaa'",
                     dat, k);
    add_points(t, 5, true);
    add_points(t, 2, false);
    lra_text_add(t, "\nunset logscale x\nunset arrow\nunset label\nunset object\n");
}

static void add_limits(lra_text *t, const span *s, bool context)
{
    lra_text_add(t, "set xrange [-0.3:%g]\nset xtics (", place(s->T) + 0.3);
    lra_plot_tick(t, "0", 0);
    for (double r = 1; r <= s->T / 2; r *= 4) lra_text_add(t, ", '%g' %g", r, place(r));
    lra_text_add(t, ", '%g' %g) scale 0.5\n", s->T, place(s->T));
    lra_text_add(t, "plot NaN");
    add_points(t, 8, false);
    for (int k = 0; k < KINDS; k++)
        lra_text_add(t,
                     ", \\\n     '%s' index %d using 11:1 with points pt 2 ps 0.55 lw 1.5 lc rgb "
                     "'#000000'",
                     dat, k);
    for (int k = 0; k < KINDS && context; k++)
        lra_text_add(t,
                     ", \\\n     '%s' index %d using 18:1 with points pt 8 ps 0.75 lw 1.3 lc rgb "
                     "'#000000'",
                     dat, k);
    lra_text_add(t, "\n");
}

static void add_values(lra_text *t, const span *s)
{
    double range = s->most - s->least, step = lra_plot_step(range);
    lra_text_add(t, "set xrange [%g:%g]\nset xtics %g,%g,%g scale 0.5\n", s->least, s->most,
                 step * ceil(s->least / step), step,
                 /* the tick stays away from the edge, which would cut its number */
                 s->most - 0.04 * range);
    if (isfinite(s->chance))
        lra_text_add(t,
                     "set arrow from first %g, graph 0 to first %g, graph 1 nohead lw 1.3 dt 1 "
                     "lc rgb '#888888' back\n",
                     s->chance, s->chance);
    lra_text_add(t, "plot NaN");
    add_points(t, 14, false);
    lra_text_add(t, "\nunset arrow\n");
}

/* ---- figure ---------------------------------------------------------------------------------- */

/* Fills the legend: the kinds of models that occur, and the other symbols. */
static int fill_key(const lra_locality_view *v, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    bool there[KINDS] = {false}, range = has_panel(v, RANGE);
    int n = 0;
    for (int i = 0; i < v->n; i++) there[kind_of(&v->row[i])] = true;
    for (int k = 0; k < KINDS; k++) {
        if (!there[k]) continue;
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = kinds[k].color,
                                  .line = 2.2,
                                  .point = kinds[k].full,
                                  .size = kinds[k].size};
        snprintf(key[n++].text, sizeof key->text, "%s", kinds[k].name);
    }
    if (range)
        key[n++] = (lra_plot_entry){.text = "at initialisation (hollow)",
                                    .kind = LRA_LEGEND_LINE,
                                    .color = "#444444",
                                    .point = 6,
                                    .size = 0.5};
    if (has_limit(v, LRA_LOCALITY_WINDOW))
        key[n++] = (lra_plot_entry){.text = "distance limit in attention only",
                                    .kind = LRA_LEGEND_LINE,
                                    .color = "#000000",
                                    .point = 2,
                                    .size = 0.55};
    if (has_limit(v, LRA_LOCALITY_CONTEXT_99))
        key[n++] = (lra_plot_entry){.text = "distance limit of the complete model",
                                    .kind = LRA_LEGEND_LINE,
                                    .color = "#000000",
                                    .point = 8,
                                    .size = 0.75};
    if (range)
        key[n++] = (lra_plot_entry){.text = "uniform weights",
                                    .kind = LRA_LEGEND_LINE,
                                    .color = "#888888",
                                    .dash = LRA_DASH_DASHES,
                                    .line = 1.3};
    key[n++] = (lra_plot_entry){
        .text = "chance", .kind = LRA_LEGEND_LINE, .color = "#888888", .dash = "1", .line = 1.3};
    return n;
}

/* Width in cm of the longest name of a model or heading, at most name_cm. */
static double longest_name(const lra_locality_view *v)
{
    size_t most = 0;
    for (int i = 0; i < v->n; i++) {
        const lra_result *r = v->row[i].group->run[0];
        char *shown = lra_model_shown(v->row[i].name, r->model, r->config);
        if (strlen(shown) > most) most = strlen(shown);
        lra_free(shown);
        size_t heading = strlen("mask: ") + strlen(lra_mask_names[v->row[i].mask]);
        /* headings have wider letters than names */
        if (has_heading(v, i) && heading + 2 > most) most = heading + 2;
    }
    return fmin(0.152 * (double)most, name_cm);
}

static void add_script(lra_plot *f, const lra_locality_view *v, const span *s)
{
    static const double share[PANELS] = {0.42, 0.29, 0.29};
    const lra_metric *m = lra_result_metric(v->row[0].group->run[0]);
    char *value = lra_format("%s%s", m->text, m->scale == 100 ? " (%)" : "");
    bool layers = has_limit(v, LRA_LOCALITY_CUT) || has_limit(v, LRA_LOCALITY_WINDOW);
    const char *const name[PANELS] = {"mean distance without own token (tokens)",
                                      layers ? "limit per layer with 99 % of the gain (tokens)"
                                             : "limit of the model with 99 % of the gain (tokens)",
                                      value};
    const char *const brief[PANELS] = {
        "mean distance (tokens)",
        layers ? "99 % limit per layer (tokens)" : "99 % limit of the model (tokens)", value};
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    lra_text *t = &f->script;
    int entries = fill_key(v, key);
    double left = 0.3 + longest_name(v), right = lra_plot_wide(LRA_PAGE_CM) - 0.25, bottom = 1.0,
           gap = 0.35;
    f->width = lra_plot_wide(LRA_PAGE_CM);
    int lines = lra_plot_legend_rows(f, left, entries, key);
    f->height = bottom + lines_of(v) * row_cm + LRA_LINE_CM * (lines + 2.2);
    double top = lra_plot_start(f), wide = right - left + gap, all = 0, x = left;
    for (int p = 0; p < PANELS; p++)
        if (has_panel(v, p)) all += share[p], wide -= gap;
    lra_text_add(t, "set multiplot\nset grid xtics ytics lt 1 lw 0.8 lc rgb '#e4e4e4'\n");
    lra_plot_legend(f, left, top, entries, key);
    for (int p = 0, drawn = 0; p < PANELS; p++) {
        double own = share[p] / all * wide;
        if (!has_panel(v, p)) continue;
        lra_plot_add_quoted(
            t, "set label ", lra_plot_width(name[p]) < own + 2 * gap ? name[p] : brief[p],
            " at screen %.4g, screen %.4g center\n", (x + 0.5 * own) / f->width, 0.22 / f->height);
        lra_plot_box(f, x, x + own, bottom, bottom + lines_of(v) * row_cm);
        add_rows(t, v, drawn++ == 0);
        if (p == RANGE) add_range(t, s);
        if (p == LIMITS) add_limits(t, s, has_limit(v, LRA_LOCALITY_CONTEXT_99));
        if (p == VALUES) add_values(t, s);
        lra_text_add(t, "unset label\n");
        x += own + gap;
    }
    lra_text_add(t, "unset multiplot\n");
    lra_free(value);
}

static int check(const lra_locality_view *v, lra_err *e)
{
    const lra_result *first = v->row[0].group->run[0];
    for (int i = 1; i < v->n; i++) {
        const lra_result *r = v->row[i].group->run[0];
        if (strcmp(r->fingerprint, first->fingerprint) != 0)
            return lra_fail(
                e, "results on different data: tasks '%s' and '%s'; name results on the same data",
                first->task, r->task);
    }
    if (v->n > MOST_ROWS)
        return lra_fail(e, "%d models, one figure holds at most %d; name fewer on the command line",
                        v->n, (int)MOST_ROWS);
    return 0;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_locality_view v;
    if (lra_locality_open(&v, in, e) != 0) return LRA_FAILED;
    int rc = check(&v, e);
    if (rc == 0) {
        char *of = lra_locality_data_name(&v.row[0]);
        f->title = lra_format(
            "Distance of influential tokens, at initialisation and after training: %s", of);
        lra_free(of);
        for (int i = 0; i < in->n; i++) lra_plot_source(f, "run", in->list[i]->run);
        lra_plot_source(f, "data", in->list[0]->fingerprint);
        span s = span_of(&v);
        add_data(&f->data, &v, s.near);
        add_script(f, &v, &s);
    }
    lra_locality_close(&v);
    return rc;
}

const lra_report_figure lra_figure_locality = {
    "locality",
    "distance of the tokens that influence each model, at initialisation and after training", make,
    LRA_FROM_RESULTS_AND_PROBES};
