/* Figure loc-2: accuracy of ListOps models minus the greedy baseline (the most frequent training
 * label), by root operator; for SM, where labels are uniform, minus a uniform guess (10 %). Bars:
 * models, with 95 % intervals. Marks: shallow evaluation to depth 2 and 3, minus the same baseline.
 * Kernel sizes of one model are coloured from light to dark.
 * Source: Figure 2 of "On the locality bias and results in the Long Range Arena". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"

enum { OPERATORS = 4, SM = 3, MODELS = LRA_PLOT_STYLES };
/* root operators in the order MIN, MAX, MED, SM */
static const int operators[OPERATORS] = {0, 1, 2, SM};

/* Heuristics that are drawn as marks. Depth 2 has a hollow point, depth 3 a filled one. */
static const struct {
    const char *name, *title;
    int point;
    double shift;
} marks[] = {{"shallow-a-2", "shallow A, depth 2", 8, -0.45},
             {"shallow-a-3", "shallow A, depth 3", 9, -0.45},
             {"shallow-b-2", "shallow B, depth 2", 6, 0.45},
             {"shallow-b-3", "shallow B, depth 3", 7, 0.45}};
enum { MARKS = sizeof marks / sizeof *marks };
#define LEFT 1.15 /* left margin of the panel in cm */

/* x coordinate of a bar: the bars of an operator are adjacent; its marks and a space follow. */
static double place(int operator, int n_models, double at)
{
    return operator*(n_models + 3.2) + at;
}

/* Accuracy minus the baseline of the operator. */
static lra_estimate above(const lra_breakdown_row *row, int operator)
{
    lra_estimate x = row->difference;
    if (operator== SM) {
        x = row->accuracy;
        x.value -= 0.1, x.lo -= 0.1, x.hi -= 0.1;
    }
    return x;
}

/* ---- data ------------------------------------------------------------------------------------ */

static void widen(double range[2], double x)
{
    range[0] = fmin(range[0], x), range[1] = fmax(range[1], x); /* fmin and fmax ignore NAN */
}

/* Adds one data block per model, then one per mark: x coordinate, difference with lower and upper
 * end in points, operator. */
static void add_models(lra_text *t, const lra_listops_view *v, double range[2])
{
    lra_breakdown_row row[1 + LRA_LISTOPS_ROOTS];
    for (int c = 0; c < v->n_cells; c++) {
        lra_breakdown_compute(&v->cell[c].data, LRA_LISTOPS_ROOTS, v->first->root, v->greedy, row);
        lra_plot_comment(t, "%s, %d seeds", v->cell[c].name, v->cell[c].data.n_seeds);
        lra_plot_comment(t, "position difference lo hi operator");
        for (int o = 0; o < OPERATORS; o++) {
            lra_estimate x = above(&row[1 + operators[o]], operators[o]);
            widen(range, 100 * x.lo);
            widen(range, 100 * x.hi);
            lra_text_add(t, "%g", place(o, v->n_cells, c));
            lra_plot_number(t, 100 * x.value);
            lra_plot_number(t, 100 * x.lo);
            lra_plot_number(t, 100 * x.hi);
            lra_text_add(t, " %s\n", lra_listops_root_names[operators[o]]);
        }
        lra_text_add(t, "\n\n");
    }
}

static void add_marks(lra_text *t, const lra_listops_view *v, double range[2])
{
    const lra_listops *r = v->first;
    for (int m = 0; m < MARKS; m++) {
        const int32_t *predicted = lra_listops_heuristic(r, marks[m].name);
        lra_plot_comment(t, "%s", marks[m].name);
        lra_plot_comment(t, "position difference operator");
        for (int o = 0; o < OPERATORS; o++) {
            int op = operators[o];
            double base = op == SM ? 0.1 : lra_listops_share(r, v->greedy, r->root, op);
            double share = predicted ? lra_listops_share(r, predicted, r->root, op) : NAN;
            lra_text_add(t, "%g", place(o, v->n_cells, v->n_cells + 0.8 + marks[m].shift));
            widen(range, 100 * (share - base));
            lra_plot_number(t, 100 * (share - base));
            lra_text_add(t, " %s\n", lra_listops_root_names[op]);
        }
        lra_text_add(t, "\n\n");
    }
}

/* ---- script ---------------------------------------------------------------------------------- */

/* True if all cells have the same model; the title then contains its name. */
static bool one_model(const lra_listops_view *v)
{
    bool one = true;
    for (int c = 0; c < v->n_cells; c++)
        one = one && v->cell[c].run[0]->kernel &&
              strcmp(v->cell[c].run[0]->model, v->first->model) == 0;
    return one;
}

/* Number of seeds if it is the same for all models, else 0. */
static int seeds_of_all(const lra_listops_view *v)
{
    int n = v->cell[0].data.n_seeds;
    for (int c = 1; c < v->n_cells; c++)
        if (v->cell[c].data.n_seeds != n) n = 0;
    return n;
}

/* Legend text of a model; the caller frees it. */
static char *name_of(const lra_listops_view *v, int c)
{
    const lra_listops *r = v->cell[c].run[0];
    char *own = lra_model_shown(v->cell[c].name, r->model, r->config);
    const char *name = one_model(v) ? v->cell[c].name + strlen(r->model) + 1 : own;
    int seeds = v->cell[c].data.n_seeds;
    char *text = seeds_of_all(v) ? lra_copy_text(name)
                                 : lra_format("%s (%d seed%s)", name, seeds, seeds == 1 ? "" : "s");
    lra_free(own);
    return text;
}

static const char *color_of(const lra_listops_view *v, int c)
{
    return lra_plot_fill(c, v->n_cells, one_model(v));
}

static bool has_mark(const lra_listops_view *v, int m)
{
    return lra_listops_heuristic(v->first, marks[m].name) != NULL;
}

/* Fills the legend: models, intervals, marks. Returns the number of entries. */
static int fill_legend(const lra_listops_view *v, lra_plot_entry *key)
{
    int n = 0;
    for (int c = 0; c < v->n_cells; c++) {
        char *name = name_of(v, c);
        key[n] = (lra_plot_entry){.kind = LRA_LEGEND_BAR, .color = color_of(v, c)};
        snprintf(key[n++].text, sizeof key->text, "%s", name);
        lra_free(name);
    }
    key[n++] = (lra_plot_entry){"95 % interval", LRA_LEGEND_INTERVAL, "", NULL, 0, 0, 0};
    for (int m = 0; m < MARKS; m++) {
        if (!has_mark(v, m)) continue;
        key[n] = (lra_plot_entry){
            .kind = LRA_LEGEND_LINE, .color = "#333333", .point = marks[m].point, .size = 0.8};
        snprintf(key[n++].text, sizeof key->text, "%s", marks[m].title);
    }
    return n;
}

static void add_plot(lra_text *t, const lra_listops_view *v)
{
    static const char next[] = ", \\\n     ";
    lra_text_add(t, "plot ");
    for (int c = 0; c < v->n_cells; c++)
        lra_text_add(
            t, "%s'loc-2.dat' index %d using 1:2 with boxes fc rgb '%s' " LRA_PLOT_EDGE " lw 0.6",
            c ? next : "", c, color_of(v, c));
    /* a light line below a dark one, so that the interval is visible on every colour */
    for (int c = 0; c < v->n_cells; c++)
        lra_text_add(t,
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors arrowstyle 2"
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors arrowstyle 1",
                     next, c, next, c);
    for (int m = 0; m < MARKS; m++)
        if (has_mark(v, m))
            lra_text_add(t,
                         "%s'' index %d using 1:2 with points lc rgb '#333333' lw 1.6 pt %d ps 0.8",
                         next, v->n_cells + m, marks[m].point);
    lra_text_add(t, "\n");
}

static void add_script(lra_plot *p, const lra_listops_view *v, const double range[2])
{
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    lra_text *t = &p->script;
    int n = fill_legend(v, key), rows = lra_plot_legend_rows(p, LEFT, n, key);
    p->height = 7.2 + LRA_LINE_CM * rows;
    double top = lra_plot_start(p), bottom = 0.6, margin = 0.04 * (range[1] - range[0]);
    lra_plot_legend(p, LEFT, top, n, key);
    top -= LRA_LINE_CM * rows + 0.25;
    lra_plot_box(p, LEFT, p->width - 0.1, bottom, top);
    lra_plot_axis(p, 0.25, 0.5 * (bottom + top), "accuracy minus greedy (points)");
    lra_text_add(t, "set yrange [%g:%g]\nset xrange [%g:%g]\nset boxwidth 0.9\nset xtics scale 0 (",
                 range[0] - (range[0] < 0 ? margin : 0), range[1] + margin,
                 place(0, v->n_cells, -1.1), place(OPERATORS - 1, v->n_cells, v->n_cells + 2));
    for (int o = 0; o < OPERATORS; o++) {
        lra_text_add(t, "%s", o ? ", " : "");
        lra_plot_tick(t,
                      operators[o] == SM ? "SM (minus 10 %)" : lra_listops_root_names[operators[o]],
                      place(o, v->n_cells, 0.5 * (v->n_cells - 0.4)));
    }
    lra_text_add(t, ")\nset arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1.2\n");
    add_plot(t, v);
}

static int fill(const lra_listops_view *v, lra_plot *p, lra_err *e)
{
    if (v->n_cells > MODELS)
        return lra_fail(e, "%d models, one figure holds at most %d; name fewer runs", v->n_cells,
                        MODELS);
    double range[2] = {0, 0};
    add_models(&p->data, v, range);
    add_marks(&p->data, v, range);
    int seeds = seeds_of_all(v);
    char *of_all = seeds ? lra_format(", %d seed%s", seeds, seeds == 1 ? "" : "s") : NULL;
    p->width = lra_plot_wide(LRA_COLUMN_CM);
    char *model = lra_model_shown(v->first->model, v->first->model, v->first->config);
    p->title = lra_format("ListOps, preset %s%s%s%s", v->first->preset, one_model(v) ? ", " : "",
                          one_model(v) ? model : "", of_all ? of_all : "");
    lra_free(model);
    lra_free(of_all);
    for (int c = 0; c < v->n_cells; c++) lra_figure_add_cell(p, &v->cell[c]);
    add_script(p, v, range);
    return 0;
}

static int make(const lra_report_input *in, lra_plot *p, lra_err *e)
{
    return lra_figure_make_listops(in, p, fill, e);
}

const lra_report_figure lra_figure_loc_2 = {
    "loc-2", "ListOps accuracy minus that of the greedy baseline, by root operator", make,
    LRA_FROM_LISTOPS};
