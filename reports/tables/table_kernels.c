/* Table kernels: distance, decay and shape of the convolution kernels of runs, by layer: medians
 * over channels, with the null values of initial kernels and of uniform weights. Runs that differ
 * only in their seed are combined.
 * Source of the numbers: lra-probe kernels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/probe_view.h"
#include "reports/views/probe_records.h"
#include "reports/views/weight_phases.h"
#include "reports/report.h"
#include "reports/verdict/verdict_probe.h"
#include "reports/views/model_names.h"

/* A measurement. HIDE: only CSV and JSON contain it; MEDIAN: it is a median over channels, and its
 * interquartile range follows. */
enum { HIDE = 1, MEDIAN = 2 };
typedef struct {
    const char *id;
    int show; /* bit mask of HIDE and MEDIAN */
} column;
static const column reach[] = {{"dist.mean.rel", MEDIAN},
                               {"self", MEDIAN},
                               {"dist.mean", HIDE | MEDIAN},
                               {"dist.q50", MEDIAN},
                               {"dist.q90", HIDE | MEDIAN},
                               {"dist.q95", MEDIAN},
                               {"dist.q95.mod", HIDE | MEDIAN},
                               {"dist.q99", MEDIAN},
                               {"range.mean.rel", HIDE | MEDIAN},
                               {"range.mean", HIDE | MEDIAN},
                               {"range.q50", HIDE | MEDIAN},
                               {"range.q90", HIDE | MEDIAN},
                               {"range.q95", HIDE | MEDIAN},
                               {"range.q95.mod", HIDE | MEDIAN},
                               {"range.q99", HIDE | MEDIAN},
                               {"shift.w1", 0},
                               {"shift.peak", HIDE},
                               {"local.2.px", HIDE | MEDIAN},
                               {"local.5.px", HIDE | MEDIAN}},
                    decay[] = {{"decay.exp", 0},          {"decay.power", 0},
                               {"decay.falls", 0},        {"decay.tau", MEDIAN},
                               {"decay.tau.mod", MEDIAN}, {"kernel.tail", MEDIAN},
                               {"kernel.cut", MEDIAN}},
                    shape[] = {{"kernel.smooth", MEDIAN},
                               {"kernel.centroid", MEDIAN},
                               {"kernel.erank", 0}};
#define COLUMNS(list) list, sizeof list / sizeof *list
typedef struct {
    const char *title;
    const column *column;
    int n;
} group;
static const group groups[] = {{"Distance of convolution kernels, per layer", COLUMNS(reach)},
                               {"Decay of convolution kernels", COLUMNS(decay)},
                               {"Shape of convolution kernels", COLUMNS(shape)}};
enum { GROUPS = sizeof groups / sizeof *groups, BEFORE = 8 };

/* True if any measurement has a null value for permuted labels. */
static bool any_shuffled(const lra_report_input *in)
{
    for (int i = 0; i < in->n_probes; i++)
        for (int u = 0; u < in->probes[i]->n_units; u++) {
            const lra_measurement *f = lra_probe_measurement(in->probes[i]->unit[u],
                                                             "range.mean.rel");
            if (f && !isnan(f->null[LRA_NULL_SHUFFLED])) return true;
        }
    return false;
}

static lra_table *new_table(const group *g, bool shuffled)
{
    static const char *const first[BEFORE][2] = {
        {"model", "model"}, {"task", "task"}, {"", "preset"},     {"", "data"},
        {"seeds", "seeds"}, {"", "skip"},     {"layer", "layer"}, {"channels", "channels"}};
    lra_columns columns = {.n = 0};
    for (int i = 0; i < BEFORE; i++) lra_columns_add(&columns, first[i][0], first[i][1]);
    for (int i = 0; i < g->n; i++) {
        const char *id = g->column[i].id;
        bool shown = !(g->column[i].show & HIDE);
        lra_columns_measurement(&columns, NULL, id, LRA_COLUMN_VALUE, shown);
        lra_columns_measurement(&columns, NULL, id, LRA_COLUMN_IQR,
                                shown && g->column[i].show & MEDIAN);
        lra_columns_measurement(&columns, NULL, id, LRA_COLUMN_INITIAL, shown);
        lra_columns_measurement(&columns, NULL, id, LRA_COLUMN_SHUFFLED, shown && shuffled);
        lra_columns_measurement(&columns, NULL, id, LRA_COLUMN_INTERVAL, false);
    }
    return lra_columns_table(&columns, g->title);
}

static int decimals_of(double x)
{
    if (x == floor(x)) return 0;
    return isnan(x) || fabs(x) >= 100 ? 0 : fabs(x) >= 10 ? 1 : fabs(x) >= 1 ? 2 : 3;
}

/* Adds a value with a suitable number of digits, and its half width over seeds. */
static void add_value(lra_table *t, double x, double half)
{
    if (isnan(x))
        lra_table_value(t, NAN, "-");
    else if (isinf(x))
        lra_table_value(t, NAN, "> T");
    else if (isfinite(half))
        lra_table_value(t, x, "%.*f +-%.2g", decimals_of(x), x, half);
    else
        lra_table_value(t, x, "%.*f", decimals_of(x), x);
}

/* Adds the interquartile range over channels; for several seeds, the means of the quartiles. */
static void add_half(lra_table *t, const lra_probe_cell *c, const char *unit, const char *id)
{
    char *lower = lra_format("%s:q1", id), *upper = lra_format("%s:q3", id);
    lra_measurement a = lra_measurement_of(id, NAN), b = a;
    lra_probe_cell_measurement(c, unit, lower, &a);
    lra_probe_cell_measurement(c, unit, upper, &b);
    if (isfinite(a.value) && isinf(b.value)) {
        char *text = lra_format("%.*f to > T", decimals_of(a.value), a.value);
        lra_table_interval_text(t, a.value, b.value, text);
        lra_free(text);
    } else if (isinf(a.value) && isinf(b.value)) {
        lra_table_interval_text(t, a.value, b.value, "> T");
    } else {
        int decimals = decimals_of(a.value);
        if (decimals_of(b.value) > decimals) decimals = decimals_of(b.value);
        lra_table_interval(t, a.value, b.value, decimals);
    }
    lra_free(lower);
    lra_free(upper);
}

static int64_t channels_of(const lra_probe_unit *u)
{
    const lra_probe_array *a = lra_probe_array_find(u, "channels");
    int64_t last = a ? a->dims[0] - 1 : -1;
    return last >= 0 && a->rank == 1 ? (int64_t)a->value[last] + 1 : 0;
}

static void add_row(lra_table *t, const group *g, const lra_probe_cell *c, const lra_probe_unit *u)
{
    const lra_probe_result *r = c->seed[0];
    lra_table_row(t);
    lra_table_model(t, c->name, c->seed[0]->model, c->seed[0]->config);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->fingerprint);
    lra_table_number(t, c->n_seeds, 0);
    lra_table_number(t, lra_probe_skip(r), 0);
    lra_table_cell(t, "%s", u->name);
    lra_table_number(t, channels_of(u) ? (double)channels_of(u) : NAN, 0);
    for (int i = 0; i < g->n; i++) {
        const column *x = &g->column[i];
        lra_measurement f = lra_measurement_of(x->id, NAN);
        lra_probe_cell_measurement(c, u->name, x->id, &f);
        add_value(t, f.value, (f.hi - f.lo) / 2);
        add_half(t, c, u->name, x->id);
        add_value(t, f.null[LRA_NULL_INIT], NAN);
        add_value(t, f.null[LRA_NULL_SHUFFLED], NAN);
        lra_table_interval(t, f.lo, f.hi, 3);
    }
}

/* Adds notes on models that also mix positions without kernels, because the table then describes
 * only a part of them. */
static void add_uncovered_notes(lra_table *t, int n, const lra_probe_cell *cells)
{
    for (int c = 0; c < n; c++) {
        lra_err e;
        lra_config *settings = lra_config_parse(cells[c].seed[0]->settings, &e);
        char *names = lra_copy_text(settings ? lra_config_text_or(settings, "uncovered", "") : "");
        for (char *at = names; *at; at++)
            if (*at == '+') *at = ' ';
        const lra_probe_result *r = cells[c].seed[0];
        char *model = lra_model_shown(cells[c].name, r->model, r->config);
        if (*names)
            lra_table_note(t,
                           "%s\tno row 'model', because these layers mix positions without a "
                           "kernel: %s",
                           model, names);
        lra_free(model);
        lra_free(names);
        lra_config_free(settings);
    }
}

/* Adds a note if lag 0 of the n cells includes the skip path D u. */
static void add_skip_note(lra_table *t, int n, const lra_probe_cell *cells)
{
    int counted = 0;
    for (int c = 0; c < n; c++) counted += lra_probe_skip(cells[c].seed[0]);
    lra_table_note(t, "D u\tskip connection parallel to a kernel: %s",
                   counted == 0   ? "not included ('lra-probe kernels --kernel-skip' includes it)"
                   : counted == n ? "included as lag 0"
                                  : "included as lag 0 for models named 'with D u'");
}

/* True if any unit of the n cells has the measurement. */
static bool has_any(int n, const lra_probe_cell *cells, const char *id)
{
    for (int c = 0; c < n; c++)
        for (int u = 0; u < cells[c].seed[0]->n_units; u++)
            if (lra_probe_measurement(cells[c].seed[0]->unit[u], id)) return true;
    return false;
}

static bool one_seed(int n, const lra_probe_cell *cells)
{
    for (int c = 0; c < n; c++)
        if (cells[c].n_seeds > 1) return false;
    return true;
}

static lra_table *group_table(const group *g, bool shuffled, int n, const lra_probe_cell *cells)
{
    lra_table *t = new_table(g, shuffled);
    for (int c = 0; c < n; c++)
        for (int u = 0; u < cells[c].seed[0]->n_units; u++)
            add_row(t, g, &cells[c], cells[c].seed[0]->unit[u]);
    const char *id[LRA_TABLE_COLUMNS];
    int shown = 0;
    for (int i = 0; i < g->n; i++)
        if (!(g->column[i].show & HIDE) && has_any(n, cells, g->column[i].id))
            id[shown++] = g->column[i].id;
    lra_note_measurements(t, shown, id, false);
    lra_table_note(t, "weight\tenergy |k|^2 of the kernel at a lag; L layers together reach L "
                      "times as far as one layer");
    lra_table_note(t, "IQR\tinterquartile range over channels (values are medians over "
                      "channels); row model: mean over layers");
    lra_table_note(t, "initial\t%s%s", lra_phase_initial(n, cells),
                   shuffled ? "; shuffled: after training on permuted labels" : "");
    lra_table_note(t, "%s",
                   one_seed(n, cells)
                       ? "one seed\tno intervals: values are computed exactly from the weights"
                       : "+-\thalf width of the 95 % confidence interval over seeds; none for "
                         "one seed");
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_probe_cell *cells;
    bool shuffled = any_shuffled(in);
    int n = lra_probe_cells(in->n_probes, in->probes, &cells);
    (void)e;
    *list = lra_alloc_array(GROUPS, sizeof **list);
    for (int g = 0; g < GROUPS; g++) (*list)[g] = group_table(&groups[g], shuffled, n, cells);
    add_skip_note((*list)[0], n, cells);
    add_uncovered_notes((*list)[0], n, cells);
    lra_verdict_of_kernels(n, cells, &(*list)[0]->verdict);
    lra_probe_cells_free(cells, n);
    return GROUPS;
}

static lra_table *records(const lra_report_input *in, lra_table *const *list, int n)
{
    (void)n;
    return lra_probe_records(list[0]->title, in);
}

const lra_report_table lra_table_kernels = {"kernels",
                                            "distance, decay and shape of convolution kernels, per "
                                            "layer",
                                            make, LRA_FROM_KERNELS, records};
