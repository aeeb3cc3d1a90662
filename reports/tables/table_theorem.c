/* Table theorem: attention heads that realise the convolution kernels of runs, by layer: the errors
 * of one and of two heads, the share of a kernel that one head cannot realise, and the error of one
 * head by distance. Runs that differ only in their seed are combined.
 * Source: theorem B.1 of "Viewing Transformers Through the Lens of Long Convolutions Layers" (Zimerman
 * and Wolf, ICML 2024); analysis/realised_kernel.h. Source of the numbers: lra-probe kernels. */
#include <math.h>
#include <string.h>

#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_view.h"
#include "reports/report.h"

enum { FIRST = 5, DISTANCES = 10, SHARE = 2 };
static const char *const head_of[FIRST][2] = {
    {"model", "model"}, {"task", "task"}, {"", "preset"}, {"seeds", "seeds"}, {"layer", "layer"}};
/* Errors are those of the worst channel, the share is the median over channels. */
static const char *const shown[] = {"theorem.one:max", "theorem.two:max", "theorem.negative"};
enum { SHOWN = sizeof shown / sizeof *shown };

static lra_table *new_table(bool by_distance)
{
    lra_columns c = {.n = 0};
    for (int i = 0; i < FIRST; i++) lra_columns_add(&c, head_of[i][0], head_of[i][1]);
    for (int i = 0; i < SHOWN && !by_distance; i++) {
        lra_columns_measurement(&c, NULL, shown[i], LRA_COLUMN_VALUE, true);
        lra_columns_measurement(&c, NULL, shown[i], LRA_COLUMN_INTERVAL, false);
        if (i == SHARE) lra_columns_measurement(&c, NULL, shown[i], LRA_COLUMN_IQR, true);
        lra_columns_measurement(&c, NULL, shown[i], LRA_COLUMN_INITIAL, true);
    }
    for (int i = 0; i < DISTANCES && by_distance; i++) {
        char *id = lra_format("theorem.distance.%d", i ? 1 << (i - 1) : 0);
        lra_columns_measurement(&c, NULL, id, LRA_COLUMN_VALUE, true);
        lra_free(id);
    }
    return lra_columns_table(&c, by_distance ? "Error of one attention head by distance"
                                             : "Convolution kernels realised by attention heads "
                                               "(theorem B.1 of the LaS paper)");
}

static void begin_row(lra_table *t, const lra_probe_cell *c, const char *layer)
{
    const lra_probe_result *r = c->seed[0];
    lra_table_row(t);
    lra_table_model(t, c->name, r->model, r->config);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->preset);
    lra_table_number(t, c->n_seeds, 0);
    lra_table_cell(t, "%s", layer);
}

static lra_measurement measured(const lra_probe_cell *c, const char *layer, const char *id)
{
    lra_measurement f = lra_measurement_of(id, NAN);
    lra_probe_cell_measurement(c, layer, id, &f);
    return f;
}

static void add_error(lra_table *t, double x)
{
    if (isfinite(x))
        lra_table_value(t, x, "%.1e", x);
    else
        lra_table_value(t, NAN, "-");
}

static void add_share(lra_table *t, const lra_probe_cell *c, const char *layer,
                      const lra_measurement *f)
{
    lra_table_number(t, f->value, 3);
    lra_table_interval(t, f->lo, f->hi, 3);
    lra_table_interval(t, measured(c, layer, "theorem.negative:q1").value,
                       measured(c, layer, "theorem.negative:q3").value, 3);
    lra_table_number(t, f->null[LRA_NULL_INIT], 3);
}

static void add_rows(lra_table *const list[2], const lra_probe_cell *c, const char *layer)
{
    begin_row(list[0], c, layer);
    for (int i = 0; i < SHOWN; i++) {
        lra_measurement f = measured(c, layer, shown[i]);
        if (i == SHARE) {
            add_share(list[0], c, layer, &f);
            continue;
        }
        add_error(list[0], f.value);
        lra_table_interval_text(list[0], f.lo, f.hi, "");
        add_error(list[0], f.null[LRA_NULL_INIT]);
    }
    begin_row(list[1], c, layer);
    for (int i = 0; i < DISTANCES; i++) {
        char *id = lra_format("theorem.distance.%d", i ? 1 << (i - 1) : 0);
        add_error(list[1], measured(c, layer, id).value);
        lra_free(id);
    }
}

static void add_notes(lra_table *t, const char *const *id, int n)
{
    lra_note_measurements(t, n, id, false);
    lra_table_note(t, "channels\tat most 16 evenly spaced channels of each layer");
    lra_table_note(t, "-\tno positive value, or no lag at this distance");
}

/* Adds the conclusions that hold for all rows. */
static void add_facts(lra_table *t, int n, const lra_probe_cell *cells)
{
    double one = 0, two = 0, negative = 0;
    for (int c = 0; c < n; c++)
        for (int u = 0; u < cells[c].seed[0]->n_units; u++) {
            const char *layer = cells[c].seed[0]->unit[u]->name;
            if (strcmp(layer, "model") == 0) continue;
            one = fmax(one, measured(&cells[c], layer, "theorem.one:max").value);
            two = fmax(two, measured(&cells[c], layer, "theorem.two:max").value);
            negative = fmax(negative, measured(&cells[c], layer, "theorem.negative:max").value);
        }
    lra_table_fact(t, "largest_error_one_head", one);
    lra_table_fact(t, "largest_error_two_heads", two);
    lra_table_fact(t, "largest_negative_share", negative);
    lra_table_note(t,
                   "theorem\tone head realises the positive part with a relative error of at most "
                   "%.1e; up to %.0f %% of the energy of a kernel is negative and needs a second "
                   "head (error at most %.1e)",
                   one, 100 * negative, two);
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    static const char *const distance[] = {"theorem.distance.1"};
    lra_probe_cell *cells;
    int n = lra_probe_cells(in->n_probes, in->probes, &cells), rows = 0;
    *list = lra_alloc_array(2, sizeof **list);
    for (int k = 0; k < 2; k++) (*list)[k] = new_table(k);
    for (int c = 0; c < n; c++)
        for (int u = 0; u < cells[c].seed[0]->n_units; u++) {
            const lra_probe_unit *unit = cells[c].seed[0]->unit[u];
            if (strcmp(unit->name, "model") == 0 ||
                !lra_probe_measurement(unit, "theorem.negative"))
                continue;
            add_rows(*list, &cells[c], unit->name);
            rows++;
        }
    if (rows) {
        add_notes((*list)[0], shown, SHOWN);
        add_notes((*list)[1], distance, 1);
        add_facts((*list)[0], n, cells);
    }
    lra_probe_cells_free(cells, n);
    if (rows) return 2;
    lra_tables_free(*list, 2);
    return lra_fail(e, "no layer has kernels with one value per lag and these measurements "
                       "(older files lack them: repeat 'lra-probe kernels RUN')");
}

const lra_report_table lra_table_theorem = {
    "theorem", "convolution kernels realised by attention heads: errors, and what needs two heads",
    make, LRA_FROM_KERNELS, NULL};
