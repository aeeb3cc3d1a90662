/* Makes tables of the measurements of probes (probe_measurements.h). */
#include "reports/views/probe_measurements.h"

#include <math.h>
#include <string.h>

#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "reports/views/measurement_columns.h"
#include "reports/views/weight_phases.h"

char *lra_probe_run_name(const lra_probe_result *r)
{
    char *kernel = r->kernel ? lra_format(" K = %lld", (long long)r->kernel) : lra_copy_text("");
    char *name = lra_format("%s%s, %s, seed %lld (%.6s)", r->model, kernel, r->task,
                            (long long)r->seed, r->run);
    lra_free(kernel);
    return name;
}

/* Number of decimals with which x is printed, in the unit of f. */
static int decimals_of(const lra_measurement *f, double x)
{
    int decimals = lra_unit_decimals(f->unit);
    return decimals >= 0 ? decimals : x == floor(x) ? 0 : 1;
}

static void add_flags(lra_table *t, const lra_measurement *f)
{
    lra_text text = {0};
    for (int i = 0; lra_measurement_flag_name(i); i++)
        if (f->flags >> i & 1)
            lra_text_add(&text, "%s%s", text.n ? " " : "", lra_measurement_flag_name(i));
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

void lra_measurement_add_number(lra_table *t, const lra_measurement *f, double x)
{
    if (isinf(x))
        lra_table_value(t, x, "> T");
    else
        lra_table_number(t, x, decimals_of(f, x));
}

void lra_measurement_add_value(lra_table *t, const lra_measurement *f)
{
    if (f->flags & LRA_CENSORED && isfinite(f->value))
        lra_table_value(t, f->value, "> %.*f", decimals_of(f, f->value), f->value);
    else
        lra_measurement_add_number(t, f, f->value);
}

void lra_measurement_add_interval(lra_table *t, const lra_measurement *f)
{
    int decimals = lra_unit_decimals(f->unit) >= 0 ? lra_unit_decimals(f->unit) : 1;
    if (isinf(f->hi)) {
        char *text = isinf(f->lo) ? lra_copy_text("> T")
                                  : lra_format("%.*f to > T", decimals, f->lo);
        lra_table_interval_text(t, f->lo, f->hi, text);
        lra_free(text);
        return;
    }
    lra_table_interval(t, f->lo, f->hi, decimals);
}

static void add_measurement(lra_table *t, const lra_probe_result *r, const lra_probe_unit *u,
                            const lra_measurement *f)
{
    char *name = lra_probe_run_name(r);
    lra_table_row(t);
    lra_table_cell(t, "%s", name);
    lra_table_cell(t, "%s", r->run);
    lra_table_cell(t, "%s", u->name);
    lra_table_cell(t, "%s", f->id);
    lra_measurement_add_value(t, f);
    lra_measurement_add_interval(t, f);
    bool equal = !isnan(f->null[LRA_NULL_UNIFORM]);
    lra_measurement_add_number(t, f, f->null[equal ? LRA_NULL_UNIFORM : LRA_NULL_PERM]);
    lra_measurement_add_number(t, f, f->null[LRA_NULL_INIT]);
    lra_measurement_add_number(t, f, f->null[LRA_NULL_SHUFFLED]);
    lra_table_cell(t, "%s", lra_unit_text(f->unit));
    lra_table_number(t, (double)f->examples, 0);
    add_flags(t, f);
    lra_free(name);
}

bool lra_measurement_is(const char *id, const char *wanted)
{
    size_t n = strlen(wanted) - 1;
    return wanted[n] == '*' ? strncmp(wanted, id, n) == 0 : strcmp(wanted, id) == 0;
}

static bool among(const char *id, const char *const *ids)
{
    for (int i = 0; ids[i]; i++)
        if (lra_measurement_is(id, ids[i])) return true;
    return false;
}

/* Explanations of the flags. */
static const struct {
    uint32_t flag;
    const char *text;
} flags[] = {{LRA_CENSORED | LRA_CENSORED_LO | LRA_CENSORED_HI,
              "censored: the value is a bound, because the threshold is not reached; censored-lo, "
              "censored-hi: the end of the interval is a bound"},
             {LRA_FLAT, "flat: indistinguishable from no dependence on distance"},
             {LRA_ONE_SEED, "one-seed: the variation over seeds is not known"},
             {LRA_FEW_SEEDS, "few-seeds: fewer than 5 seeds, and they vary more than the examples"},
             {LRA_CLIPPED, "clipped: the interval exceeds the range of the quantity"},
             {LRA_APPROX, "approx: computed from a sample"},
             {LRA_FALLBACK, "fallback: computed by another method than requested"},
             {LRA_ILL_FORMED, "ill-formed: measured on inputs that the task does not produce"},
             {LRA_NOISE, "noise: a share is below 0 because of noise"},
             {LRA_NO_GAIN,
              "no-gain: undefined, because the examples have no labels, or the outputs "
              "of the model are in another order than the labels"},
             {LRA_NO_MEDIAN, "no-median: undefined, because the median that divides it is below "
                             "0.001 of the mean"}};

/* Adds a note that explains the flags of the table. */
static void note_flags(lra_table *t, uint32_t seen)
{
    lra_text text = {0};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (seen & flags[i].flag) lra_text_add(&text, "%s%s", text.n ? "; " : "", flags[i].text);
    if (text.s) lra_table_note(t, "flags\t%s", text.s);
    lra_text_free(&text);
}

/* True if any measurement has a null value for permuted labels. */
static bool any_shuffled(lra_probe_result *const *list, int n, const char *const *ids)
{
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++)
            for (int f = 0; f < list[i]->unit[u]->n_measurements; f++) {
                const lra_measurement *own = &list[i]->unit[u]->measurement[f];
                if (among(own->id, ids) && !isnan(own->null[LRA_NULL_SHUFFLED])) return true;
            }
    return false;
}

/* Appends an id to the list if it is new; returns the length of the list. */
static int add_id(const char ***list, int n, const char *id)
{
    for (int i = 0; i < n; i++)
        if (strcmp((*list)[i], id) == 0) return n;
    *list = lra_resize(*list, (size_t)(n + 1) * sizeof **list);
    (*list)[n] = id;
    return n + 1;
}

lra_table *lra_probe_measurements_table(const char *title, lra_probe_result *const *list, int n,
                                        const char *const *ids)
{
    bool shuffled = any_shuffled(list, n, ids);
    const char *head[] = {"run",         "",         "part",
                          "measurement", "value",    LRA_TABLE_CI,
                          "null value",  "initial",  shuffled ? "shuffled" : "",
                          "unit",        "examples", "flags"};
    static const char *const key[] = {"name",  "run",  "part",     "id",   "value",    "lo,hi",
                                      "equal", "init", "shuffled", "unit", "examples", "flags"};
    lra_table *t = lra_table_new(title, 12, head);
    uint32_t seen = 0;
    lra_table_keys(t, key);
    const char **shown = NULL;
    int n_shown = 0;
    for (int i = 0; i < n; i++)
        for (int u = 0; u < list[i]->n_units; u++) {
            const lra_probe_unit *unit = list[i]->unit[u];
            for (int f = 0; f < unit->n_measurements; f++) {
                if (!among(unit->measurement[f].id, ids)) continue;
                add_measurement(t, list[i], unit, &unit->measurement[f]);
                seen |= unit->measurement[f].flags;
                n_shown = add_id(&shown, n_shown, unit->measurement[f].id);
            }
        }
    lra_note_measurements(t, n_shown, shown, true);
    lra_free(shown);
    lra_table_note(
        t,
        "null value\tvalue of uniform weights, of permuted blocks, or of the full input; "
        "initial: %s%s",
        lra_phase_initial_of(n, list),
        shuffled ? "; shuffled: after training on permuted labels" : "");
    note_flags(t, seen);
    return t;
}
