/* Figure las-2: the fixed decay of attention scores in LaS heads, which does not depend on
 * training: the factor exp(-alpha |i-j|) by distance, and as a matrix from 0 (light) to 1 (dark):
 * queries from top to bottom, keys from left to right, none after the query. One row per run, so
 * that variants of alpha (`alpha=literal|scale|geo`) can be compared. At most six heads are drawn.
 * Source: Zimerman and Wolf (ICML 2024), equation 4 and the right part of table 1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/views/attention_map.h"
#include "reports/draw/figure.h"
#include "reports/views/probe_view.h"
#include "reports/views/model_names.h"

enum { MOST_ROWS = 4, SHOWN = LRA_PLOT_STYLES, ACROSS = 3, MOST_PIXELS = 64 };
static const double least_factor = 1e-12; /* lower end of the axis of factors */

typedef struct {
    const char *name;
    const lra_probe_result *run;
    int heads, shown[SHOWN], n;
    const lra_probe_array *eld[SHOWN]; /* (n) decay factors of the drawn heads */
} row;

/* Writes the heads of the first layer with decaying scores to list (NULL: count only); returns
 * their number. */
static int find_heads(const lra_probe_result *r, const lra_probe_array **list)
{
    const char *layer = NULL;
    const lra_probe_array *first = NULL;
    size_t size = 0;
    int n = 0;
    for (int u = 0; u < r->n_units; u++) {
        const char *name = r->unit[u]->name, *dot = strchr(name, '.');
        const lra_probe_array *eld = lra_probe_array_find(r->unit[u], "eld");
        if (!dot || !eld || eld->rank != 1 || eld->dims[0] < 2) continue;
        if (!layer) layer = name, size = (size_t)(dot + 1 - name), first = eld;
        if (strncmp(layer, name, size) != 0 || eld->dims[0] != first->dims[0]) continue;
        if (list) list[n] = eld;
        n++;
    }
    return n;
}

/* Chooses the heads that are drawn, always including the first and the last. */
static void choose_heads(const lra_probe_result *r, row *to)
{
    to->heads = find_heads(r, NULL);
    const lra_probe_array **all = lra_alloc_array((size_t)to->heads + 1, sizeof(lra_probe_array *));
    find_heads(r, all);
    to->n = to->heads < SHOWN ? to->heads : SHOWN;
    for (int i = 0; i < to->n; i++) {
        to->shown[i] = to->n > 1 ? (i * (to->heads - 1) + (to->n - 1) / 2) / (to->n - 1) : 0;
        to->eld[i] = all[to->shown[i]];
    }
    lra_free(all);
}

static int64_t pixels_of(const row *r)
{
    return r->eld[0]->dims[0] < MOST_PIXELS ? r->eld[0]->dims[0] : MOST_PIXELS;
}

/* Adds a data block with the curves of all heads, and a block for the matrix of each head. */
static void add_data(lra_text *t, const row *r)
{
    int64_t T = r->eld[0]->dims[0], side = pixels_of(r);
    lra_plot_comment(t, "%s: distance, decay factor of each head", r->name);
    for (int64_t d = 0; d < T; d++) {
        lra_text_add(t, "%lld", (long long)d);
        for (int i = 0; i < r->n; i++) lra_text_add(t, " %.6g", (double)r->eld[i]->value[d]);
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
    for (int i = 0; i < r->n; i++) {
        lra_plot_comment(t, "%s, head %d: one line per query", r->name, r->shown[i]);
        for (int64_t y = 0; y < side; y++)
            for (int64_t x = 0; x < side; x++) {
                int64_t far = y * T / side - x * T / side;
                lra_text_add(t, "%.4f%s", far < 0 ? 0 : (double)r->eld[i]->value[far],
                             x == side - 1 ? "\n" : " ");
            }
        lra_text_add(t, "\n\n");
    }
}

/* Largest distance of the axis: all distances if a head with a decay stays above least_factor,
 * else the smallest one, at least 4, at which all heads with a decay are below it. Heads that
 * keep half of their scores at all distances count only if there are no others. */
static int64_t farthest(const row *r)
{
    int64_t far = 4, T = r->eld[0]->dims[0];
    bool any = false;
    for (int i = 0; i < r->n; i++) {
        const float *factor = r->eld[i]->value;
        int64_t d = 0;
        while (d < T && factor[d] >= least_factor) d++;
        any = any || factor[T - 1] < 0.5F;
        if (d < T && d > far) far = d;
        if (d == T && factor[T - 1] < 0.5F) far = T;
    }
    return any && far < T ? far : T - 1;
}

/* Smallest factor of the axis: least_factor, or, if all factors are above 0.01, just below the
 * smallest one. */
static double lowest(const row *r)
{
    int64_t T = r->eld[0]->dims[0];
    double least = 1;
    for (int i = 0; i < r->n; i++) least = fmin(least, (double)r->eld[i]->value[T - 1]);
    return least > 0.01 && least < 1 ? pow(least, 1.2) : least_factor;
}

/* Draws the curves of all heads on a logarithmic axis, where heads differ by their slopes; on a
 * linear axis, heads with a large alpha would coincide. */
static void add_curves(lra_plot *f, const row *r, int block)
{
    lra_text *t = &f->script;
    double low = lowest(r);
    bool wide = low <= least_factor;
    lra_text_add(t,
                 "set grid ytics\nset border 3 lw 1\nset xrange [0:%lld]\nset logscale y 10\n"
                 "set yrange [%g:%g]\nset xtics %s nomirror out\nset ytics (%s) nomirror "
                 "out\nplot ",
                 (long long)farthest(r), low, wide ? 1.5 : pow(low, -0.05),
                 farthest(r) > 12 ? "autofreq" : "1",
                 wide ? "'1' 1, '1e-3' 1e-3, '1e-6' 1e-6, '1e-9' 1e-9, '1e-12' 1e-12"
                      : "'1' 1, '0.9' 0.9, '0.8' 0.8, '0.7' 0.7, '0.6' 0.6, '0.5' 0.5, '0.4' 0.4, "
                        "'0.3' 0.3, '0.2' 0.2, '0.1' 0.1, '0.01' 0.01");
    for (int i = 0; i < r->n; i++)
        lra_text_add(
            t,
            "%s'las-2.dat' index %d using 1:($%d > 0 ? $%d : NaN) with lines lc rgb '%s' lw 2 dt "
            "%s",
            i ? ", " : "", block, i + 2, i + 2, lra_plot_ramp(i, r->n),
            i % 2 ? LRA_DASH_DASHES : "1");
    lra_text_add(
        t, "\nset format x\nunset logscale y\nset border 15 lw 0.6\nunset grid\nunset tics\n");
}

static void add_matrix(lra_plot *f, const row *r, int i, int block)
{
    char name[48];
    double alpha = -log((double)r->eld[i]->value[1]);
    snprintf(name, sizeof name, "H%d: %.3g", r->shown[i], alpha == 0 ? 0 : alpha);
    lra_map_plot(&f->script, &(lra_map_panel){"las-2.dat", name, block, pixels_of(r), 0, 0, 0});
}

/* Fills the legend with one line per head; returns the number of entries. */
static int entries_of(const row *r, lra_plot_entry *entry)
{
    for (int i = 0; i < r->n; i++) {
        entry[i] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                    .color = lra_plot_ramp(i, r->n),
                                    .dash = i % 2 ? LRA_DASH_DASHES : NULL,
                                    .line = 2};
        snprintf(entry[i].text, sizeof entry[i].text, "head %d", r->shown[i]);
    }
    return r->n;
}

/* Name of a row, with its variant of alpha, also if that is the default. The caller frees it. */
static char *name_of(const row *r)
{
    char *model = lra_model_shown(r->name, r->run->model, r->run->config);
    if (strstr(model, "alpha=")) return model;
    lra_err e;
    lra_config *c = lra_config_parse(r->run->config, &e);
    char *name = lra_format("%s alpha=%s", model,
                            c ? lra_config_text_or(c, "model.alpha", "literal") : "literal");
    lra_config_free(c);
    lra_free(model);
    return name;
}

static void say_axes(lra_plot *f, double curves, double maps)
{
    lra_text *t = &f->script;
    lra_plot_add_quoted(t, "set label ", "decay factor against distance (tokens)",
                        " at screen %.4g, screen %.4g center\n", curves / f->width,
                        0.3 / f->height);
    lra_plot_add_quoted(t, "set label ", "head: alpha; x: key, y: query",
                        " at screen %.4g, screen %.4g center\n", maps / f->width, 0.66 / f->height);
    lra_plot_shade_bar(f, maps, 0.3, "factor 0", "1");
}

static void add_script(lra_plot *f, int n, const row *list)
{
    const double left = 1.5, between = 0.6, side = 2.2, gap = 0.2, above = 0.45, bottom = 1.1;
    const double high = 2 * (side + above), apart = 0.75;
    lra_plot_entry entry[SHOWN];
    f->width = lra_plot_wide(LRA_PAGE_CM);
    int n_entries = entries_of(&list[0], entry);
    int rows = lra_plot_legend_rows(f, left, n_entries, entry);
    f->height = bottom + n * (high + apart) + LRA_LINE_CM * (rows + 2.2);
    double top = lra_plot_start(f), right = f->width - 0.15;
    double maps = right - ACROSS * (side + gap) + gap, y = bottom + n * (high + apart);
    lra_text *t = &f->script;
    lra_text_add(t, "set multiplot\nset key off\n" LRA_PLOT_SHADES);
    lra_plot_legend(f, left, top, n_entries, entry);
    say_axes(f, 0.5 * (left + maps - between), 0.5 * (maps + right));
    for (int i = 0, block = 0; i < n; i++, y -= high + apart) {
        char *model = name_of(&list[i]);
        lra_plot_axis(f, 0.3, y - 0.5 * high, model);
        lra_free(model);
        lra_plot_box(f, left, maps - between, y - high + 0.1, y - above);
        add_curves(f, &list[i], block++);
        lra_text_add(t, "unset label\nunset arrow\nunset object\n");
        for (int k = 0; k < list[i].n; k++) {
            double x = maps + k % ACROSS * (side + gap);
            double highest = y - above - k / ACROSS * (side + above);
            lra_plot_box(f, x, x + side, highest - side, highest);
            add_matrix(f, &list[i], k, block++);
        }
    }
    lra_text_add(t, "unset multiplot\n");
}

/* Adds a row for a cell. All rows must have the same heads, because the legend names their colours
 * once. */
static int add_row(const lra_probe_cell *c, int *n, row *list, lra_plot *f, lra_err *e)
{
    row own = {.name = c->name, .run = c->seed[0]};
    choose_heads(c->seed[0], &own);
    if (own.heads == 0) return 0;
    if (*n == MOST_ROWS)
        return lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                        MOST_ROWS);
    if (*n > 0 && own.heads != list[0].heads)
        return lra_fail(e,
                        "'%s' has %d heads, '%s' has %d; name runs with the same number of heads",
                        own.name, own.heads, list[0].name, list[0].heads);
    add_data(&f->data, &own);
    lra_plot_source(f, "run", c->seed[0]->run);
    list[(*n)++] = own;
    return 0;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_probe_cell *cells;
    row list[MOST_ROWS];
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells), n = 0, rc = 0;
    for (int i = 0; i < n_cells && rc == 0; i++) rc = add_row(&cells[i], &n, list, f, e);
    if (rc == 0 && n == 0)
        rc = lra_fail(e, "no run has decay factors; only models 'las' and 'l' have them (files of "
                         "older versions lack them: repeat 'lra-probe attention RUN')");
    if (rc == 0) {
        f->title = lra_copy_text("Decay factors of attention scores at initialisation");
        add_script(f, n, list);
    }
    lra_probe_cells_free(cells, n_cells);
    return rc;
}

const lra_report_figure lra_figure_las_2 = {
    "las-2", "decay factors of LaS attention scores, by distance and as matrices", make,
    LRA_FROM_ATTENTION};
