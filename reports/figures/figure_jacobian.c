/* Figure jacobian: cumulative influence of the other tokens by distance, by gradients (upper row of
 * panels) and by occlusion (lower row): after training, at initialisation, and for uniform weights
 * under the same mask. One column of panels per run.
 * Source: lra-probe influence, arrays `other` of the units jacobian and occlusion. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_measurements.h"

enum { MOST_RUNS = 4, METHODS = 2, CURVES = 3 };
static const char *const method[METHODS][2] = {{"jacobian", "gradients"},
                                               {"occlusion", "occlusion"}};

/* Curves of a panel, as arrays of shares by distance; NULL: not measured. */
typedef struct {
    const lra_probe_array *curve[CURVES];
    int block;
} panel;

/* If lines coincide, all remain visible: a dashed line above a solid line above a wide light
 * line. */
static const lra_plot_entry key[CURVES] = {
    {"after training", LRA_LEGEND_LINE, "#000000", NULL, 2, 0, 0},
    {"at initialisation", LRA_LEGEND_LINE, "#56B4E9", LRA_DASH_DASHES, 2.2, 0, 0},
    {"uniform weights", LRA_LEGEND_LINE, "#c4c4c4", NULL, 6, 0, 0}};
static const int from_below[CURVES] = {2, 0, 1};

static panel panel_of(const lra_probe_result *r, const char *name)
{
    char *initial = lra_format("%s.init", name);
    const lra_probe_unit *now = lra_probe_unit_find(r, name),
                         *before = lra_probe_unit_find(r, initial);
    panel p = {{now ? lra_probe_array_find(now, "other") : NULL,
                before ? lra_probe_array_find(before, "other") : NULL,
                now ? lra_probe_array_find(now, "other.equal") : NULL},
               -1};
    lra_free(initial);
    return p;
}

/* Adds the data block of a panel: distance on the axis, then the share within that distance. */
static void add_data(lra_text *t, const panel *p, const char *run, const char *name)
{
    double sum[CURVES] = {0};
    lra_plot_comment(t,
                     "run %s, %s: log2(distance), share within it of the other tokens: after "
                     "training, at initialisation, uniform",
                     run, name);
    for (int64_t d = 1; d < p->curve[0]->dims[0]; d++) {
        lra_text_add(t, "%.6g", log2((double)d));
        for (int c = 0; c < CURVES; c++) {
            const lra_probe_array *x = p->curve[c];
            if (x && d < x->dims[0]) sum[c] += (double)x->value[d];
            lra_plot_number(t, x ? sum[c] : NAN);
        }
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

static void add_panel(lra_text *t, const panel *p, const char *name, bool left, bool bottom)
{
    double last = (double)p->curve[0]->dims[0] - 1;
    lra_text_add(t, "set xrange [0:%g]\nset yrange [0:1.03]\nset ytics (%s)\nset xtics (",
                 fmax(1, log2(last)), left ? "'0' 0, '0.5' 0.5, '1' 1" : "'' 0, '' 0.5, '' 1");
    for (double d = 1; d <= last; d *= 4) {
        char text[32] = "";
        if (bottom) snprintf(text, sizeof text, "%.0f", d);
        lra_text_add(t, d > 1 ? ", " : "");
        lra_plot_tick(t, text, log2(d));
    }
    lra_plot_add_quoted(t, ")\nset label ", name,
                        " at graph 0.5, graph 1.1 center font ',7'\nplot ");
    for (int k = 0, n = 0; k < CURVES; k++) {
        int c = from_below[k];
        if (!p->curve[c]) continue;
        lra_text_add(t, "%s'jacobian.dat' index %d using 1:%d with lines lc rgb '%s' dt %s lw %g",
                     n++ ? ", " : "", p->block, c + 2, key[c].color,
                     key[c].dash ? key[c].dash : "1", key[c].line);
    }
    lra_text_add(t, "\nunset label\nunset arrow\nunset object\n");
}

static char *name_of(const lra_probe_result *r, int m, double width)
{
    char *run = lra_probe_run_name(r), *shown = lra_model_shown(run, r->model, r->config);
    char *whole = lra_format("%s: %s", method[m][1], shown), *name = lra_plot_fit(whole, width, 7);
    lra_free(run);
    lra_free(shown);
    lra_free(whole);
    return name;
}

static void add_script(lra_plot *f, int n, const lra_probe_result *const *run,
                       panel list[][METHODS], const bool shown[METHODS])
{
    int rows = shown[0] + shown[1];
    double left = 1.25, right = f->width - 0.15, bottom = 1.05, gap = 0.2, height = 2.8, step = 3.4;
    bool initial = false;
    lra_plot_entry legend[CURVES];
    int entries = 0;
    for (int i = 0; i < n; i++)
        for (int m = 0; m < METHODS; m++) initial = initial || list[i][m].curve[1];
    for (int c = 0; c < CURVES; c++)
        if (c != 1 || initial) legend[entries++] = key[c];
    int lines = lra_plot_legend_rows(f, left, entries, legend);
    f->height = bottom + rows * step + LRA_LINE_CM * (lines + 2.6);
    double top = lra_plot_start(f), width = (right - left - gap * (n - 1)) / n;
    lra_text_add(&f->script, "set multiplot\n");
    lra_plot_legend(f, left, top, entries, legend);
    top = bottom + rows * step - 0.5;
    lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "share of influence within the distance");
    lra_plot_add_quoted(&f->script, "set label ", "distance (tokens)",
                        " at screen %.4g, screen %.4g center\n", 0.5 * (left + right) / f->width,
                        0.22 / f->height);
    for (int m = 0, row = 0; m < METHODS; m++) {
        for (int i = 0; i < n && shown[m]; i++) {
            if (list[i][m].block < 0) continue;
            double x = left + i * (width + gap), y = top - height - row * step;
            char *name = name_of(run[i], m, width);
            lra_plot_box(f, x, x + width, y, y + height);
            add_panel(&f->script, &list[i][m], name, i == 0, row + 1 == rows);
            lra_free(name);
        }
        row += shown[m];
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    panel list[MOST_RUNS][METHODS];
    const lra_probe_result *run[MOST_RUNS];
    bool shown[METHODS] = {false};
    int n = 0, block = 0, left_out = 0;
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *r = in->probes[i];
        bool any = false;
        panel of[METHODS];
        for (int m = 0; m < METHODS; m++) {
            of[m] = panel_of(r, method[m][0]);
            any = any || (of[m].curve[0] && of[m].curve[0]->dims[0] > 1);
        }
        left_out += any && n == MOST_RUNS;
        if (!any || n == MOST_RUNS) continue;
        for (int m = 0; m < METHODS; m++) {
            list[n][m] = of[m];
            if (!of[m].curve[0] || of[m].curve[0]->dims[0] < 2) continue;
            list[n][m].block = block++, shown[m] = true;
            add_data(&f->data, &of[m], r->run, method[m][0]);
        }
        lra_plot_source(f, "run", r->run);
        lra_plot_source(f, "data", r->fingerprint);
        run[n++] = r;
    }
    if (n == 0)
        return lra_fail(e, "no run has a profile of gradients or occlusion; 'lra-probe influence "
                           "RUN --parts jacobian' measures it");
    f->width = lra_plot_wide(n > 1 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    f->title = lra_copy_text("Influence of the other tokens by distance");
    if (left_out) f->caption = lra_format("The first %d of %d runs.", n, n + left_out);
    add_script(f, n, run, list, shown);
    return 0;
}

const lra_report_figure lra_figure_jacobian = {
    "jacobian", "share of the influence within a distance, by gradients and by occlusion", make,
    LRA_FROM_INFLUENCE};
