/* Figure las-4: attention maps of several models, averaged over the heads of a layer, for one
 * example. One row per run, one column per layer; in each map, queries go from top to bottom and
 * keys from left to right. Colour: square root of the weight, from the smallest (light) to the
 * largest (dark) weight of each map (attention_map.h). Figure maps draws single heads.
 * Source: Zimerman and Wolf (ICML 2024), figure 4, which shows a causal language model of 12 layers
 * without and with LaS. There, the input is 512 tokens of WikiText-103; here, it is an example of
 * the run's own task. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/attention_map.h"
#include "reports/draw/figure.h"
#include "reports/views/probe_measurements.h"
#include "reports/views/probe_view.h"
#include "reports/views/model_names.h"

enum { MOST_ROWS = 8, MOST_LAYERS = 12 };

typedef struct {
    char *name;
    const lra_probe_result *run;
    int layers, n[MOST_LAYERS];  /* n: number of heads of each layer */
    const lra_probe_array **map; /* maps of all heads, layer by layer */
} row;

/* Finds the heads "layer0.head3", .. that have maps, layer by layer. */
static int find_maps(const lra_probe_result *r, row *to, lra_err *e)
{
    const char *last = "";
    size_t size = 0;
    int n = 0;
    to->map = lra_alloc_array((size_t)r->n_units + 1, sizeof(lra_probe_array *));
    for (int u = 0; u < r->n_units; u++) {
        const char *name = r->unit[u]->name, *dot = strchr(name, '.');
        const lra_probe_array *map = lra_probe_array_find(r->unit[u], "map");
        if (!dot || !map) continue;
        if (strncmp(last, name, size) != 0 || size == 0) {
            if (to->layers == MOST_LAYERS)
                return lra_fail(e, "'%s' has more layers than one figure holds (%d)", to->name,
                                MOST_LAYERS);
            last = name, size = (size_t)(dot + 1 - name);
            to->layers++;
        }
        if (!lra_map_is_square(map, (n ? to->map[0] : map)->dims[0]))
            return lra_fail(
                e, "the attention map of '%s' is not square or differs in size from the others",
                name);
        to->map[n++] = map, to->n[to->layers - 1]++;
    }
    return 0;
}

static void add_data(lra_text *t, const row *r)
{
    const lra_probe_array *const *map = r->map;
    for (int l = 0; l < r->layers; map += r->n[l++]) {
        char *name = lra_format("%s, layer %d", r->name, l);
        lra_map_add(t, name, r->n[l], map);
        lra_free(name);
    }
}

static void add_script(lra_plot *f, int n, const row *list)
{
    int columns = 1, block = 0;
    for (int i = 0; i < n; i++) columns = list[i].layers > columns ? list[i].layers : columns;
    f->width = lra_plot_wide(columns > 3 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    double left = 1.2, right = f->width - 0.15, bottom = 1.5, gap = 0.15, above = 0.42;
    double side = (right - left - gap * (columns - 1)) / columns;
    if (side > 2.8) side = 2.8;
    left += 0.5 * (right - left - columns * (side + gap) + gap);
    f->height = bottom + n * (side + above) + LRA_LINE_CM * 2.6;
    lra_plot_start(f);
    lra_text_add(&f->script,
                 "set multiplot\nunset grid\nunset tics\nset border 15 lw 0.6\n" LRA_PLOT_SHADES);
    double y = bottom + n * (side + above) - above;
    char *steps = lra_format("horizontal: key, vertical: query (%lld tokens)",
                             (long long)list[0].map[0]->dims[0]);
    lra_plot_add_quoted(&f->script, "set label ", steps, " at screen 0.5, screen %.4g center\n",
                        0.8 / f->height);
    lra_plot_shade_bar(f, 0.5 * f->width - 0.9, 0.3, LRA_MAP_LEAST, LRA_MAP_MOST);
    lra_free(steps);
    for (int i = 0; i < n; i++, y -= side + above) {
        char *whole = lra_model_shown(list[i].name, list[i].run->model, list[i].run->config);
        char *model = lra_plot_fit(whole, side, 8);
        lra_free(whole);
        lra_plot_axis(f, left - 0.8, y - 0.5 * side, model);
        lra_free(model);
        for (int l = 0; l < list[i].layers; l++) {
            char name[32];
            double x = left + l * (side + gap);
            snprintf(name, sizeof name, "layer %d", l);
            lra_plot_box(f, x, x + side, y - side, y);
            lra_map_plot(&f->script,
                         &(lra_map_panel){"las-4.dat", name, block++,
                                          lra_map_pixels(list[i].map[0]), list[i].map[0]->dims[0],
                                          l == 0, i + 1 == n || list[i + 1].layers <= l});
        }
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

static int check_row(const row *own, int n, const row *list, lra_err *e)
{
    if (n == MOST_ROWS)
        return lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                        MOST_ROWS);
    if (n > 0 && own->map[0]->dims[0] != list[0].map[0]->dims[0])
        return lra_fail(
            e, "the maps of '%s' have %lld tokens, those of '%s' %lld; name runs on the same data",
            own->name, (long long)own->map[0]->dims[0], list[0].name,
            (long long)list[0].map[0]->dims[0]);
    return 0;
}

static int add_row(const lra_probe_cell *c, int *n, row *list, lra_plot *f, lra_err *e)
{
    const lra_probe_result *r = c->seed[0];
    row own = {.name = c->name, .run = r};
    int rc = find_maps(r, &own, e);
    bool any = rc == 0 && own.layers > 0;
    if (any) rc = check_row(&own, *n, list, e);
    if (!any || rc != 0) {
        lra_free(own.map);
        return rc;
    }
    add_data(&f->data, &own);
    lra_plot_source(f, "run", r->run);
    lra_plot_source(f, "data", r->fingerprint);
    list[(*n)++] = own;
    return 0;
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_probe_cell *cells;
    row *list = lra_alloc_array(MOST_ROWS, sizeof *list);
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells), n = 0, rc = 0;
    for (int i = 0; i < n_cells && rc == 0; i++) rc = add_row(&cells[i], &n, list, f, e);
    if (rc == 0 && n == 0)
        rc = lra_fail(
            e,
            "no run has attention maps; 'lra-probe attention RUN' measures them for inputs of at "
            "most 256 tokens");
    if (rc == 0) {
        char *drawn = lra_probe_cells_drawn(n_cells, cells);
        f->title = lra_format("Attention maps, mean over heads: %s%s", cells[0].seed[0]->task,
                              drawn);
        lra_free(drawn);
        add_script(f, n, list);
    }
    for (int i = 0; i < n; i++) lra_free(list[i].map);
    lra_probe_cells_free(cells, n_cells);
    lra_free(list);
    return rc;
}

const lra_report_figure lra_figure_las_4 = {
    "las-4", "attention maps of one example, mean over heads, by model and layer", make,
    LRA_FROM_ATTENTION};
