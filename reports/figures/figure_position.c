/* Figure position: effect of the tokens by their relative position in the input, measured by
 * replacing a twentieth of the input at a time. One panel per model, for its first seed. Bars: 95 %
 * intervals over examples. Dashed line: mean over all positions, which is the value everywhere if
 * the position has no effect. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_view.h"

enum { MOST_PANELS = 12 };

typedef struct {
    char *name;
    const lra_probe_array *effect; /* (bins, 3) effect with lower and upper end */
    double mean, most;             /* mean effect; largest upper end of an interval */
} panel;

/* Fills the panel of a cell; returns false if its run has no unit `position`. */
static bool find_panel(const lra_probe_cell *c, panel *p)
{
    const lra_probe_unit *u = lra_probe_unit_find(c->seed[0], "position");
    const lra_probe_array *a = u ? lra_probe_array_find(u, "effect") : NULL;
    *p = (panel){.effect = a};
    if (!a || a->rank != 2 || a->dims[0] < 1 || a->dims[1] != 3) return false;
    for (int64_t i = 0; i < a->dims[0]; i++) {
        double x = (double)a->value[3 * i], hi = (double)a->value[3 * i + 2];
        p->mean += x / (double)a->dims[0];
        p->most = fmax(p->most, isfinite(hi) ? hi : x);
    }
    return true;
}

/* Adds the points: middle of the bin in % of the input, effect, lower and upper end. */
static void add_data(lra_plot *f, const panel *p)
{
    int64_t n = p->effect->dims[0];
    lra_plot_comment(&f->data, "%s: position (%%), effect lo hi", p->name);
    for (int64_t i = 0; i < n; i++) {
        lra_text_add(&f->data, "%g", 100 * ((double)i + 0.5) / (double)n);
        for (int k = 0; k < 3; k++) lra_plot_number(&f->data, (double)p->effect->value[3 * i + k]);
        lra_text_add(&f->data, "\n");
    }
    lra_text_add(&f->data, "\n\n");
}

static void add_panel(lra_text *t, const panel *p, int block, double width)
{
    char *name = lra_plot_fit(p->name, width, 7);
    double most = p->most > 0 ? 1.08 * p->most : 1;
    lra_plot_add_quoted(t, "set label ", name, " at graph 0, graph 1.07 left font ',7'\n");
    lra_free(name);
    lra_text_add(t,
                 "set border 3\nset tics nomirror out scale 0.5\nset xrange [0:100]\nset xtics 25\n"
                 "set yrange [0:%g]\nset ytics %g\n"
                 "set arrow from graph 0, first %g to graph 1, first %g nohead lc rgb '#000000' lw "
                 "1 dt " LRA_DASH_DASHES " back\n"
                 "plot 'position.dat' index %d using 1:2:3:4 with yerrorbars lc rgb '#7fa8d6' lw "
                 "1.2 pt 0, '' index %d using 1:2 with linespoints lc rgb '#0055a4' lw 1.8 pt 7 ps "
                 "0.4\nunset label\nunset arrow\n",
                 most, lra_plot_step(most), p->mean, p->mean, block, block);
}

static const lra_plot_entry key[] = {
    {"mean effect", LRA_LEGEND_LINE, "#0055a4", "1", 1.8, 7, 0.4},
    {"mean over all positions", LRA_LEGEND_LINE, "#000000", LRA_DASH_DASHES, 1, 0, 0}};

static void add_script(lra_plot *f, int n, const panel *list)
{
    int columns = n < 3 ? n : 3, rows = (n + columns - 1) / columns;
    double left = 1.75, right = f->width - 0.5, bottom = 1.2, gap = 1.25, above = 1.2;
    double width = (right - left - gap * (columns - 1)) / columns, height = fmin(width, 4);
    f->height = bottom + rows * (height + above) - above + LRA_LINE_CM * 4;
    double top = lra_plot_start(f);
    lra_text_add(&f->script, "set multiplot\n");
    lra_plot_legend(f, 1.25, top, 2, key);
    top = bottom + rows * (height + above) - above;
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "|change of the score|");
    lra_plot_add_quoted(&f->script, "set label ", "replaced position (% of the input)",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.25 / f->height);
    for (int i = 0; i < n; i++) {
        double x = left + (i % columns) * (width + gap),
               y = top - height - (i / columns) * (height + above);
        lra_plot_box(f, x, x + width, y, y + height);
        add_panel(&f->script, &list[i], i, width);
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

/* Name of a panel: the model, and the task if the cells have several. */
static char *name_of(const lra_probe_cell *c, bool tasks)
{
    const lra_probe_result *r = c->seed[0];
    char *drawn = lra_probe_cells_drawn(1, c),
         *model = lra_model_shown(c->name, r->model, r->config);
    char *name = tasks ? lra_format("%s, %s%s", model, r->task, drawn)
                       : lra_format("%s%s", model, drawn);
    lra_free(model);
    lra_free(drawn);
    return name;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_probe_cell *cells;
    panel list[MOST_PANELS];
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells), n = 0, rc = 0;
    bool tasks = false;
    for (int i = 1; i < n_cells; i++)
        tasks = tasks || strcmp(cells[i].seed[0]->task, cells[0].seed[0]->task) != 0;
    for (int i = 0; i < n_cells && rc == 0; i++) {
        panel p;
        if (!find_panel(&cells[i], &p)) continue;
        if (n == MOST_PANELS) {
            rc = lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                          MOST_PANELS);
            break;
        }
        p.name = name_of(&cells[i], tasks);
        add_data(f, &p);
        lra_plot_source(f, "run", cells[i].seed[0]->run);
        lra_plot_source(f, "data", cells[i].seed[0]->fingerprint);
        list[n++] = p;
    }
    if (rc == 0 && n == 0)
        rc = lra_fail(e, "no run has effects by position; 'lra-probe influence RUN --parts "
                         "position' measures them");
    if (rc == 0) {
        f->width = lra_plot_wide(n > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
        f->title = lra_copy_text("Effect of the tokens by relative position in the input");
        add_script(f, n, list);
    }
    for (int i = 0; i < n; i++) lra_free(list[i].name);
    lra_probe_cells_free(cells, n_cells);
    return rc;
}

const lra_report_figure lra_figure_position = {
    "position", "effect of the tokens by relative position in the input", make, LRA_FROM_INFLUENCE};
