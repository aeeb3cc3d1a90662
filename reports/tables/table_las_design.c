/* Table las-design: the properties of long-range layers as printed in the LaS paper, with the same
 * properties of this program's layers: decay and smoothness, measured on kernels at initialisation
 * and after training, and the others by their parameterisation. Every printed row appears; a row
 * without a run has no measured values. Runs that differ only in their seed are combined.
 * Source: table 10 of "Viewing Transformers Through the Lens of Long Convolutions Layers" (Zimerman
 * and Wolf, ICML 2024). Source of the numbers: lra-probe kernels. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/model_names.h"
#include "reports/views/probe_view.h"
#include "reports/report.h"

/* The columns of the paper: decaying structure, explicit regularisation, unique initialisation,
 * numerically stable, gating, complex, normalisation, trainable without recurrence. */
enum { DECAYING, REGULARISED, INITIALISED, STABLE, GATED, COMPLEX, NORMALISED, PARALLEL, PRINTED };
typedef struct {
    const char *layer, *model; /* as printed; id of the model, NULL: not in this program */
    /* One letter for each column: Y, N, or - where the property does not apply. here: by the
     * formulas in the header comment of the model, with its default settings; the decay is
     * measured. */
    const char *printed, *here;
} design;
static const design designs[] = {{"SS (LSSL)", NULL, "YNYNNNNY", "--------"},
                                 {"S4", "s4", "YNYYNYNY", "-NYYNYNY"},
                                 {"DSS", "dss", "YNNYNYNY", "-NYYNYYY"},
                                 {"GSS", "gss", "YNNYYNNY", "-NNYYYNY"},
                                 {"MEGA", "mega", "YNYYYNNY", "-NYYYNNY"},
                                 {"S5", "s5", "YNNYNYNN", "-NYNNYNN"},
                                 {"SGConv", "sgconv", "YYYNNNNN", "-YN-NNYY"},
                                 {"DLR", "dlr", "YNNYNYNY", "-NYYNYNY"},
                                 {"H3", "h3", "YNYYYYNY", "-NYYYYNY"},
                                 {"FlashButterfly", "longconv", "YYYNNNNY", "-YN-NNNY"},
                                 {"LRU", "lru", "YNYYNYYN", "-NYYNYYN"},
                                 {"TNN", "tnn", "YNNNNNNY", "-NN-YNNY"}};
enum { DESIGNS = sizeof designs / sizeof *designs };

/* A measured property: Y on this side of the threshold. */
typedef struct {
    const char *id;
    double threshold;
    bool above;
} criterion;
static const criterion decaying = {"decay.falls", 0.5, true}, smooth = {"kernel.smooth", 1, false};

/* ---- measured values ------------------------------------------------------------------------- */

/* Mean over the layers of one run; initial: with the weights before training. */
static double over_layers(const lra_probe_result *r, const char *id, bool initial)
{
    double sum = 0;
    int known = 0;
    for (int u = 0; u < r->n_units; u++) {
        const lra_measurement *f = lra_probe_measurement(r->unit[u], id);
        if (!f || strcmp(r->unit[u]->name, "model") == 0) continue;
        double x = initial ? f->null[LRA_NULL_INIT] : f->value;
        if (isnan(x)) continue;
        sum += x, known++;
    }
    return known ? sum / known : NAN;
}

/* Mean over layers and seeds, with its interval over seeds. */
static lra_measurement measured(const lra_probe_cell *c, const char *id, bool initial)
{
    lra_measurement *by_seed = lra_alloc_array((size_t)c->n_seeds + 1, sizeof *by_seed);
    for (int s = 0; s < c->n_seeds; s++)
        by_seed[s] = lra_measurement_of(id, over_layers(c->seed[s], id, initial));
    lra_measurement f = lra_measurement_of_seeds(c->n_seeds, by_seed);
    lra_free(by_seed);
    return f;
}

/* Y or N; "?" if the interval contains the threshold, "-" without a value. */
static const char *verdict(const criterion *k, const lra_measurement *f)
{
    double lo = isnan(f->lo) ? f->value : f->lo, hi = isnan(f->hi) ? f->value : f->hi;
    if (isnan(f->value)) return "-";
    if (lo <= k->threshold && hi >= k->threshold) return "?";
    return (lo > k->threshold) == k->above ? "Y" : "N";
}

/* Share of the input that the kernels of a run cover, in one direction. */
static double covered(const lra_probe_result *r)
{
    int64_t most = 0;
    for (int u = 0; u < r->n_units; u++) {
        const lra_probe_array *a = lra_probe_array_find(r->unit[u], "mass");
        if (a && a->dims[0] > most) most = a->dims[0];
    }
    return most && r->max_length ? fmin(1, (double)most / (double)r->max_length) : NAN;
}

/* ---- the table of kernels -------------------------------------------------------------------- */

static lra_table *kernels_table(void)
{
    static const char *const head[] = {
        "layer",          "model", "task",           "",           "seeds",   "decaying printed",
        "initial",        "CI",    "trained",        LRA_TABLE_CI, "initial", "trained",
        "rough. initial", "CI",    "rough. trained", LRA_TABLE_CI, "smooth",  "lags/T"};
    static const char *const key[] = {"layer",
                                      "model",
                                      "task",
                                      "preset",
                                      "seeds",
                                      "decaying_printed",
                                      "decaying_share_initial",
                                      "decaying_share_initial_lo,decaying_share_initial_hi",
                                      "decaying_share",
                                      "decaying_share_lo,decaying_share_hi",
                                      "decaying_initial",
                                      "decaying",
                                      "roughness_initial",
                                      "roughness_initial_lo,roughness_initial_hi",
                                      "roughness",
                                      "roughness_lo,roughness_hi",
                                      "smooth",
                                      "covered"};
    enum { N = sizeof head / sizeof *head };
    const char *shown[N];
    for (int i = 0; i < N; i++) shown[i] = head[i];
    shown[6] = "share initial", shown[7] = LRA_TABLE_CI, shown[8] = "share trained";
    shown[10] = "decaying initial", shown[11] = "decaying trained", shown[13] = LRA_TABLE_CI;
    lra_table *t = lra_table_new("Long-range layers: decay and smoothness of their kernels (table "
                                 "10 of the LaS paper)",
                                 N, shown);
    lra_table_keys(t, key);
    return t;
}

static void add_value(lra_table *t, const lra_measurement *f)
{
    lra_table_number(t, f->value, 2);
    lra_table_interval(t, f->lo, f->hi, 2);
}

/* Adds a row; d NULL: a layer that the paper does not list; c NULL: no run. */
static void add_kernels(lra_table *t, const design *d, const lra_probe_cell *c)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", d ? d->layer : "-");
    if (c) {
        const lra_probe_result *r = c->seed[0];
        lra_table_model(t, c->name, r->model, r->config);
        lra_table_cell(t, "%s", r->task);
        lra_table_cell(t, "%s", r->preset);
        lra_table_number(t, c->n_seeds, 0);
    } else {
        lra_table_cell(t, "%s", d && d->model ? "no run" : "none");
        for (int i = 0; i < 2; i++) lra_table_cell(t, "-");
        lra_table_number(t, NAN, 0);
    }
    if (d)
        lra_table_cell(t, "%c", d->printed[DECAYING]);
    else
        lra_table_cell(t, "-");
    lra_measurement f[4];
    for (int i = 0; i < 4; i++) {
        const char *id = i < 2 ? decaying.id : smooth.id;
        f[i] = c ? measured(c, id, i % 2 == 0) : lra_measurement_of(id, NAN);
    }
    for (int i = 0; i < 2; i++) {
        if (f[i].lo < 0) f[i].lo = 0;
        if (f[i].hi > 1) f[i].hi = 1;
    }
    add_value(t, &f[0]);
    add_value(t, &f[1]);
    lra_table_cell(t, "%s", verdict(&decaying, &f[0]));
    lra_table_cell(t, "%s", verdict(&decaying, &f[1]));
    add_value(t, &f[2]);
    add_value(t, &f[3]);
    lra_table_cell(t, "%s", verdict(&smooth, &f[3]));
    lra_table_number(t, c ? covered(c->seed[0]) : NAN, 2);
}

static bool has_kernels(const lra_probe_cell *c)
{
    for (int u = 0; u < c->seed[0]->n_units; u++)
        if (lra_probe_measurement(c->seed[0]->unit[u], decaying.id)) return true;
    return false;
}

static bool is_listed(const char *model)
{
    for (int i = 0; i < DESIGNS; i++)
        if (designs[i].model && strcmp(designs[i].model, model) == 0) return true;
    return false;
}

static lra_table *make_kernels(int n, const lra_probe_cell *cells)
{
    lra_table *t = kernels_table();
    for (int i = 0; i < DESIGNS; i++) {
        int rows = 0;
        for (int c = 0; c < n; c++)
            if (designs[i].model && strcmp(cells[c].seed[0]->model, designs[i].model) == 0 &&
                has_kernels(&cells[c])) {
                add_kernels(t, &designs[i], &cells[c]);
                rows++;
            }
        if (!rows) add_kernels(t, &designs[i], NULL);
    }
    for (int c = 0; c < n; c++)
        if (!is_listed(cells[c].seed[0]->model) && has_kernels(&cells[c]))
            add_kernels(t, NULL, &cells[c]);
    lra_table_note(t, "share\tshare of the channels with a significant decay (Kendall's test of "
                      "block maxima, Holm correction); mean over layers");
    lra_table_note(
        t,
        "decaying\tY: share above %.1f; N: below; ?: the interval contains %.1f (at most "
        "5 %% of channels of white noise decay; short kernels have few blocks, so that the test "
        "finds fewer)",
        decaying.threshold, decaying.threshold);
    lra_table_note(t, "rough.\troughness: sum of squared differences of adjacent lags over energy "
                      "(white noise: 2); median over channels, mean over layers");
    lra_table_note(t, "smooth\tafter training, Y: roughness below %.0f", smooth.threshold);
    lra_table_note(t, "lags/T\tlags of the kernels in one direction over the length of the longest "
                      "example; 1: global");
    lra_table_note(t, "CI\t95 %% interval over seeds; none for one seed");
    lra_table_note(t, "layer\tname in the paper; -: not in its table. FlashButterfly is compared "
                      "with longconv, of the same paper");
    return t;
}

/* ---- the table of parameterisations ---------------------------------------------------------- */

static lra_table *make_parameters(void)
{
    static const char *const name[PRINTED][2] = {
        {"", ""},       {"R", "regularised"}, {"U.I", "initialised"}, {"stable", "stable"},
        {"G", "gated"}, {"C", "complex"},     {"N", "normalised"},    {"parallel", "parallel"}};
    enum { N = 2 + 2 * (PRINTED - 1) };
    char *head[N] = {lra_copy_text("layer"), lra_copy_text("here")};
    char *key[N] = {lra_copy_text("layer"), lra_copy_text("model")};
    int n = 2, differ = 0, compared = 0;
    for (int k = 1; k < PRINTED; k++) {
        head[n] = lra_copy_text(name[k][0]), key[n++] = lra_format("%s_printed", name[k][1]);
        head[n] = lra_copy_text("here"), key[n++] = lra_format("%s_here", name[k][1]);
    }
    lra_table *t = lra_table_new("Long-range layers: properties as printed, and by the formulas of "
                                 "this program's layers (here)",
                                 N, (const char *const *)head);
    lra_table_keys(t, (const char *const *)key);
    for (int i = 0; i < N; i++) lra_free(head[i]), lra_free(key[i]);
    for (int i = 0; i < DESIGNS; i++) {
        const design *d = &designs[i];
        lra_table_row(t);
        lra_table_cell(t, "%s", d->layer);
        lra_table_cell(t, "%s", d->model ? d->model : "-");
        for (int k = 1; k < PRINTED; k++) {
            bool both = d->here[k] != '-', unlike = both && d->here[k] != d->printed[k];
            compared += both, differ += unlike;
            lra_table_cell(t, "%c", d->printed[k]);
            lra_table_cell(t, unlike ? "%c*" : "%c", d->here[k]);
        }
    }
    lra_table_fact(t, "compared", compared);
    lra_table_fact(t, "different", differ);
    lra_table_note(t, "*\tdifferent from the printed value: %d of %d", differ, compared);
    lra_table_note(t, "R\tregularisation of the kernel itself: a factor that decreases with the "
                      "distance, soft thresholding");
    lra_table_note(t,
                   "U.I\tunique initialisation; here: initial values follow a rule (HiPPO, ring, "
                   "grid, alternating signs), not only a distribution around 0");
    lra_table_note(t,
                   "stable\there: |lambda| < 1 for all values of the parameters; -: no recurrence");
    lra_table_note(t,
                   "G\tgating; here: the convolution is multiplied by another branch of the layer");
    lra_table_note(t, "C, N\tcomplex parameters; states or kernels are divided by a norm");
    lra_table_note(t, "parallel\ttrainable without recurrence; here: convolution, not scan");
    return t;
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_probe_cell *cells;
    int n = lra_probe_cells(in->n_probes, in->probes, &cells);
    (void)e;
    *list = lra_alloc_array(2, sizeof **list);
    (*list)[0] = make_kernels(n, cells);
    (*list)[1] = make_parameters();
    lra_probe_cells_free(cells, n);
    return 2;
}

const lra_report_table lra_table_las_design = {
    "las-design",
    "design of long-range layers as printed in the LaS paper, with measured decay and smoothness",
    make, LRA_FROM_KERNELS, NULL};
