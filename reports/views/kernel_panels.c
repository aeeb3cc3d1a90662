/* Selects the panels of kernels (kernel_panels.h). */
#include "reports/views/kernel_panels.h"
#include "reports/views/model_names.h"

#include <string.h>

#include "kernels/base/core/mem.h"

static bool is_layer(const lra_probe_unit *u)
{
    return lra_probe_array_find(u, "kernel") && lra_probe_array_find(u, "kernel0") &&
           lra_probe_array_find(u, "behind");
}

static int layers_of(const lra_probe_result *r)
{
    int n = 0;
    for (int i = 0; i < r->n_units; i++) n += is_layer(r->unit[i]);
    return n;
}

static const lra_probe_unit *layer_at(const lra_probe_result *r, int at)
{
    for (int i = 0; i < r->n_units; i++)
        if (is_layer(r->unit[i]) && at-- == 0) return r->unit[i];
    return NULL;
}

/* Adds at most `most` evenly spaced layers of a cell as panels; with one panel, the middle layer.
 * alone: the figure shows only this cell. */
static void add_cell(lra_kernel_panels *p, const lra_probe_cell *c, int most, bool alone)
{
    int layers = layers_of(c->seed[0]), n = layers < most ? layers : most;
    char *model = lra_model_shown(c->name, c->seed[0]->model, c->seed[0]->config);
    for (int i = 0; i < n; i++) {
        int at = n > 1 ? i * (layers - 1) / (n - 1) : (layers - 1) / 2;
        lra_kernel_panel *x = &p->panel[p->n++];
        x->of = c->seed[0], x->unit = layer_at(c->seed[0], at);
        x->name = alone ? lra_copy_text(x->unit->name) : lra_format("%s, %s", model, x->unit->name);
    }
    lra_free(model);
}

static bool all_of_one_task(const lra_probe_cell *cells, int n)
{
    for (int c = 1; c < n; c++)
        if (strcmp(cells[c].seed[0]->fingerprint, cells[0].seed[0]->fingerprint) != 0) return false;
    return true;
}

int lra_kernel_panels_open(lra_kernel_panels *p, const lra_report_input *in, int most, lra_err *e)
{
    lra_probe_cell *cells;
    int n = lra_probe_cells(in->n_probes, in->probes, &cells), rc = 0;
    *p = (lra_kernel_panels){.n_cells = n};
    if (n > most)
        rc = lra_fail(e, "%d models, one figure holds at most %d; name fewer runs", n, most);
    for (int c = 0; c < n && rc == 0; c++) add_cell(p, &cells[c], most / n, n == 1);
    if (rc == 0 && p->n == 0) rc = lra_fail(e, "no run has convolution kernels");
    const lra_probe_result *r = n ? cells[0].seed[0] : NULL;
    char *drawn = lra_probe_cells_drawn(n, cells);
    char *model = r ? lra_model_shown(cells[0].name, r->model, r->config) : NULL;
    if (rc == 0 && n == 1 && !*drawn)
        p->title = lra_format("%s, preset %s, %s, seed %lld", r->task, r->preset, model,
                              (long long)r->seed);
    else if (rc == 0 && n == 1)
        p->title = lra_format("%s, preset %s, %s%s", r->task, r->preset, model, drawn);
    else if (rc == 0)
        p->title = all_of_one_task(cells, n)
                       ? lra_format("%s, preset %s%s", r->task, r->preset, drawn)
                       : lra_format("several tasks%s", drawn);
    lra_free(drawn);
    lra_free(model);
    lra_probe_cells_free(cells, n);
    return rc;
}

void lra_kernel_panels_close(lra_kernel_panels *p)
{
    for (int i = 0; i < p->n; i++) lra_free(p->panel[i].name);
    lra_free(p->title);
}

void lra_kernel_panels_sources(const lra_kernel_panels *p, lra_plot *to)
{
    for (int i = 0; i < p->n; i++) lra_plot_source(to, "run", p->panel[i].of->run);
    for (int i = 0; i < p->n; i++) lra_plot_source(to, "data", p->panel[i].of->fingerprint);
}
