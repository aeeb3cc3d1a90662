/* Table kernels: how far the convolution kernels of runs reach, how they decay, how rough they are,
 * layer by layer; medians over channels, beside the initial kernels and equal weights.  Runs that
 * differ in their seed alone are one.  Source of the numbers: lra-probe kernels. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "reports/probe_view.h"
#include "reports/report.h"

/* A number, its column for people ("": files only), and whether null values are shown beside it:
 * the initial one, and that of a run on permuted labels where one was asked for. */
typedef struct {
    const char *id, *head, *key, *key_interval, *key_initial, *key_shuffled;
    bool initial;
} column;
#define COLUMN(id, head, key, initial)                                                             \
    {                                                                                              \
        id, head, key, key "_lo," key "_hi", key "_initial", key "_shuffled", initial              \
    }
static const column columns[] = {COLUMN("range.mean.rel", "mean/equal", "range_mean_rel", true),
                                 COLUMN("range.mean", "", "range_mean", false),
                                 COLUMN("range.q50", "r50", "range_q50", false),
                                 COLUMN("range.q90", "", "range_q90", false),
                                 COLUMN("range.q95", "r95", "range_q95", true),
                                 COLUMN("range.q99", "r99", "range_q99", false),
                                 COLUMN("shift.w1", "moved", "shift_w1", false),
                                 COLUMN("shift.peak", "", "shift_peak", false),
                                 COLUMN("decay.exp", "exp", "decay_exp", false),
                                 COLUMN("decay.power", "power", "decay_power", false),
                                 COLUMN("decay.falls", "falls", "decay_falls", true),
                                 COLUMN("decay.tau", "tau", "decay_tau", true),
                                 COLUMN("decay.tau.mod", "mod", "decay_tau_mod", false),
                                 COLUMN("range.q95.mod", "", "range_q95_mod", false),
                                 COLUMN("kernel.tail", "tail", "kernel_tail", true),
                                 COLUMN("kernel.cut", "cut", "kernel_cut", true),
                                 COLUMN("kernel.smooth", "rough", "kernel_smooth", true),
                                 COLUMN("kernel.centroid", "freq", "kernel_centroid", true),
                                 COLUMN("kernel.erank", "erank", "kernel_erank", true),
                                 COLUMN("local.2.px", "", "local_2_px", false),
                                 COLUMN("local.5.px", "", "local_5_px", false)};
enum { N = sizeof columns / sizeof *columns, BEFORE = 8, COLUMNS = BEFORE + 4 * N };

/* Is the null value of permuted labels known of anything? */
static bool any_shuffled(const lra_report_input *in)
{
    for (int i = 0; i < in->n_probes; i++)
        for (int u = 0; u < in->probes[i]->n_units; u++) {
            const lra_finding *f = lra_probe_finding(in->probes[i]->unit[u], "range.mean.rel");
            if (f && !isnan(f->null[LRA_NULL_SHUFFLED])) return true;
        }
    return false;
}

static lra_table *new_table(bool shuffled)
{
    static const char *const head[BEFORE] = {"model", "task", "", "", "seeds", "", "layer", "ch."};
    static const char *const key[BEFORE] = {"model", "task", "preset", "data",
                                            "seeds", "skip", "layer",  "channels"};
    const char *heads[LRA_TABLE_COLUMNS], *keys[LRA_TABLE_COLUMNS];
    for (int i = 0; i < BEFORE; i++) heads[i] = head[i], keys[i] = key[i];
    for (int i = 0; i < N; i++) {
        const column *c = &columns[i];
        int at = BEFORE + 4 * i;
        heads[at] = c->head, heads[at + 1] = c->initial ? "initial" : "";
        heads[at + 2] = c->initial && shuffled ? "shuffled" : "", heads[at + 3] = "";
        keys[at] = c->key, keys[at + 1] = c->key_initial, keys[at + 2] = c->key_shuffled;
        keys[at + 3] = c->key_interval;
    }
    lra_table *t = lra_table_new("Convolution kernels, trained and initial", COLUMNS, heads);
    lra_table_keys(t, keys);
    return t;
}

/* With as many digits as it needs, and its half width over seeds. */
static void add_value(lra_table *t, double x, double half)
{
    int decimals = isnan(x) || fabs(x) >= 100 ? 0 : fabs(x) >= 10 ? 1 : fabs(x) >= 1 ? 2 : 3;
    if (x == floor(x)) decimals = 0;
    if (isnan(x))
        lra_table_value(t, NAN, "-");
    else if (isinf(x))
        lra_table_value(t, NAN, "> T");
    else if (isfinite(half))
        lra_table_value(t, x, "%.*f +-%.2g", decimals, x, half);
    else
        lra_table_value(t, x, "%.*f", decimals, x);
}

static int64_t channels_of(const lra_probe_unit *u)
{
    const lra_probe_array *a = lra_probe_array_find(u, "channels");
    int64_t last = a ? a->dims[0] - 1 : -1;
    return last >= 0 && a->rank == 1 ? (int64_t)a->value[last] + 1 : 0;
}

static void add_row(lra_table *t, const lra_probe_cell *c, const lra_probe_unit *u)
{
    const lra_probe_result *r = c->seed[0];
    lra_table_row(t);
    lra_table_cell(t, "%s", c->name);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->fingerprint);
    lra_table_number(t, c->n_seeds, 0);
    lra_table_number(t, lra_probe_skip(r), 0);
    lra_table_cell(t, "%s", u->name);
    lra_table_number(t, channels_of(u) ? (double)channels_of(u) : NAN, 0);
    for (int i = 0; i < N; i++) {
        lra_finding f = lra_finding_of(columns[i].id, "1", NAN);
        lra_probe_cell_finding(c, u->name, columns[i].id, &f);
        add_value(t, f.value, (f.hi - f.lo) / 2);
        add_value(t, f.null[LRA_NULL_INIT], NAN);
        add_value(t, f.null[LRA_NULL_SHUFFLED], NAN);
        lra_table_interval(t, f.lo, f.hi, 3);
    }
}

/* Whether lag 0 holds the direct path of the n cells. */
static void add_skip_note(lra_table *t, int n, const lra_probe_cell *cells)
{
    int counted = 0;
    for (int c = 0; c < n; c++) counted += lra_probe_skip(cells[c].seed[0]);
    lra_table_note(t, "D u\tthe direct path beside a kernel: %s",
                   counted == 0   ? "not counted ('lra-probe kernels --kernel-skip' does)"
                   : counted == n ? "counted as its lag 0"
                                  : "counted as its lag 0 where the name says so");
}

static void add_notes(lra_table *t)
{
    lra_table_note(
        t,
        "mean/equal\tmean distance of energy over that of equal weights on the same lags; 1: indifferent "
        "to distance");
    lra_table_note(
        t, "r50 r95 r99\tsmallest distance within which so many %% of the energy lie, tokens");
    lra_table_note(t, "moved\tshift.w1: how far training moved the energy, tokens");
    lra_table_note(
        t,
        "exp power falls\tshares of channels: fitted best by exp(-d/tau), by d^-beta (AIC); that fall "
        "(Kendall, Holm)");
    lra_table_note(t,
                   "tau\tof exp(-d/tau) fitted to block maxima of |k|, tokens; > T: does not fall");
    lra_table_note(t,
                   "mod\tthe same of the modulus, where the kernel is the real part of a complex "
                   "one");
    lra_table_note(
        t, "tail cut\tenergy in the far half of the lags; beyond the last lag (state spaces)");
    lra_table_note(
        t, "rough freq\tsquared steps over energy, white noise 2; mean frequency, cycles a token");
    lra_table_note(t, "erank\thow many different kernels: effective rank of channels by lags");
    lra_table_note(
        t,
        "Medians over channels; row model: mean over layers; +-: 95 %% over seeds, none with one seed.");
}

static int make(const lra_report_input *in, lra_table ***list, lra_err *e)
{
    lra_probe_cell *cells;
    lra_table *t = new_table(any_shuffled(in));
    int n = lra_probe_cells(in->n_probes, in->probes, &cells), rows = 0;
    for (int c = 0; c < n; c++) rows += cells[c].seed[0]->n_units;
    if (rows > LRA_TABLE_ROWS) {
        lra_fail(e, "the table would have %d rows, at most %d; name fewer runs", rows,
                 LRA_TABLE_ROWS);
    } else {
        for (int c = 0; c < n; c++)
            for (int u = 0; u < cells[c].seed[0]->n_units; u++)
                add_row(t, &cells[c], cells[c].seed[0]->unit[u]);
        add_notes(t);
        add_skip_note(t, n, cells);
    }
    lra_probe_cells_free(cells, n);
    *list = lra_alloc_array(1, sizeof **list);
    (*list)[0] = t;
    if (rows <= LRA_TABLE_ROWS) return 1;
    lra_tables_free(*list, 1);
    *list = NULL;
    return LRA_FAILED;
}

const lra_report_table lra_table_kernels = {
    "kernels", "reach and decay of convolution kernels, layer by layer", make, LRA_FROM_KERNELS};
