/* Figure loc-2: accuracy of ListOps models less the greedy baseline (the most frequent training label), by root
 * operator; for SM, whose labels are uniform, less a uniform guess (10 %).  Bars: models, with 95 % intervals;
 * marks: shallow evaluation to depth 2 and 3, less the same.
 * Source: Figure 2 of "On the locality bias and results in the Long Range Arena". */
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/listops_figure.h"
#include "reports/plot.h"

enum { OPERATORS = 4, SM = 3, MODELS = LRA_PLOT_STYLES };
static const int operators[OPERATORS] = {0, 1, 2, SM}; /* MIN MAX MED SM */

/* Heuristics as marks: full is deeper. */
static const struct {
    const char *name;
    int point;
    double shift;
} marks[] = {{"shallow-a-2", 8, -0.25},
             {"shallow-a-3", 9, -0.25},
             {"shallow-b-2", 6, 0.25},
             {"shallow-b-3", 7, 0.25}};
enum { MARKS = sizeof marks / sizeof *marks };

/* Bars of an operator stand side by side, then its marks, then a space. */
static double place(int operator, int n_models, double at)
{
    return operator*(n_models + 2.2) + at;
}

/* Accuracy less the baseline of the operator. */
static lra_estimate above(const lra_breakdown_row *row, int operator)
{
    lra_estimate x = row->difference;
    if (operator== SM) {
        x = row->accuracy;
        x.value -= 0.1, x.lo -= 0.1, x.hi -= 0.1;
    }
    return x;
}

/* ---- data -------------------------------------------------------------------------------------------- */

/* One block per model, then one per mark: place, difference lo hi in points, operator. */
static int add_models(lra_text *t, const lra_listops_view *v)
{
    lra_breakdown_row row[1 + LRA_LISTOPS_ROOTS];
    for (int c = 0; c < v->n_cells; c++) {
        if (lra_breakdown_compute(&v->cell[c].data, LRA_LISTOPS_ROOTS, v->first->root, v->greedy,
                                  row) != 0)
            return LRA_FAILED;
        lra_text_add(t, "# %s, %d seeds\n# place difference lo hi operator\n", v->cell[c].name,
                     v->cell[c].data.n_seeds);
        for (int o = 0; o < OPERATORS; o++) {
            lra_estimate x = above(&row[1 + operators[o]], operators[o]);
            lra_text_add(t, "%g", place(o, v->n_cells, c));
            lra_plot_number(t, 100 * x.value);
            lra_plot_number(t, 100 * x.lo);
            lra_plot_number(t, 100 * x.hi);
            lra_text_add(t, " %s\n", lra_listops_root_names[operators[o]]);
        }
        lra_text_add(t, "\n\n");
    }
    return 0;
}

static void add_marks(lra_text *t, const lra_listops_view *v)
{
    const lra_listops *r = v->first;
    for (int m = 0; m < MARKS; m++) {
        const int32_t *predicted = lra_listops_heuristic(r, marks[m].name);
        lra_text_add(t, "# %s\n# place difference\n", marks[m].name);
        for (int o = 0; o < OPERATORS; o++) {
            int op = operators[o];
            double base = op == SM ? 0.1 : lra_listops_share(r, v->greedy, r->root, op);
            double share = predicted ? lra_listops_share(r, predicted, r->root, op) : NAN;
            lra_text_add(t, "%g", place(o, v->n_cells, v->n_cells + 0.1 + marks[m].shift));
            lra_plot_number(t, 100 * (share - base));
            lra_text_add(t, " %s\n", lra_listops_root_names[op]);
        }
        lra_text_add(t, "\n\n");
    }
}

/* ---- script ------------------------------------------------------------------------------------------ */

/* Whether all are of one model, which the title then names. */
static bool one_model(const lra_listops_view *v)
{
    bool one = true;
    for (int c = 0; c < v->n_cells; c++)
        one = one && v->cell[c].run[0]->kernel &&
              strcmp(v->cell[c].run[0]->model, v->first->model) == 0;
    return one;
}

static const char *short_name(const lra_listops_view *v, int c)
{
    return v->cell[c].name + (one_model(v) ? strlen(v->first->model) + 1 : 0);
}

static void add_plot(lra_text *t, const lra_listops_view *v)
{
    static const char next[] = ", \\\n     ";
    lra_text_add(t, "plot ");
    for (int c = 0; c < v->n_cells; c++) {
        int seeds = v->cell[c].data.n_seeds;
        lra_text_add(t,
                     "'loc-2.dat' index %d using 1:2 with boxes lc rgb '%s' fs solid 0.75 noborder "
                     "title '%s (%d seed%s)'%s",
                     c, lra_plot_styles[c].color, short_name(v, c), seeds, seeds == 1 ? "" : "s",
                     next);
    }
    for (int m = 0; m < MARKS; m++)
        lra_text_add(t,
                     "'loc-2.dat' index %d using 1:2 with points lc rgb '#333333' lw 1.2 pt %d "
                     "ps 0.6 title '%s'%s",
                     v->n_cells + m, marks[m].point, marks[m].name, next);
    for (int c = 0; c < v->n_cells; c++)
        lra_text_add(
            t,
            "'loc-2.dat' index %d using 1:3:(0):($4-$3) with vectors nohead lc rgb '#333333' lw 1 "
            "notitle%s",
            c, c + 1 < v->n_cells ? next : "\n");
}

static void add_script(lra_text *t, const lra_listops_view *v)
{
    int rows = (v->n_cells + MARKS + 1) / 2; /* of the legend */
    char *title = lra_format("ListOps, preset %s%s%s, 95 %% intervals", v->first->preset,
                             one_model(v) ? ", " : "", one_model(v) ? v->first->model : "");
    lra_plot_start(t);
    lra_plot_title(t, title);
    lra_plot_panel(t, 0.075, 0.935 - 0.039 * rows, "accuracy - greedy (points)");
    lra_text_add(t,
                 "set key at screen 0.5, screen 0.955 center top vertical maxrows %d font ',8' "
                 "samplen 2 spacing 1.05 width 2 reverse Left noenhanced\n",
                 rows);
    lra_text_add(t, "set xrange [%g:%g]\nset boxwidth 0.86\nset xtics scale 0 (",
                 place(0, v->n_cells, -1.1), place(OPERATORS - 1, v->n_cells, v->n_cells + 1));
    for (int o = 0; o < OPERATORS; o++)
        lra_text_add(t, "%s'%s' %g", o ? ", " : "",
                     operators[o] == SM ? "SM (- 10 %%)" : lra_listops_root_names[operators[o]],
                     place(o, v->n_cells, 0.5 * (v->n_cells - 0.4)));
    lra_text_add(t,
                 ") font ',9'\nset arrow from graph 0, first 0 to graph 1, first 0 nohead lw 0.8 "
                 "back\n");
    add_plot(t, v);
    lra_free(title);
}

static int fill(const lra_listops_view *v, lra_text *data, lra_text *script, lra_err *e)
{
    if (v->n_cells > MODELS)
        return lra_fail(e, "%d models, at most %d fit into one figure; name fewer runs", v->n_cells,
                        MODELS);
    if (add_models(data, v) != 0) return lra_fail(e, "no memory for the bootstrap");
    add_marks(data, v);
    add_script(script, v);
    return 0;
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    return lra_listops_figure_write(folder, "loc-2", in, fill, e);
}

const lra_report_figure lra_figure_loc_2 = {
    "loc-2",         "ListOps models less the greedy baseline, by root operator", write, 8.6, 9,
    LRA_FROM_LISTOPS};
