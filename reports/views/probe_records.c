/* Makes a table of probe results with one row per measurement (probe_records.h). */
#include "reports/views/probe_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

static const char *const key[] = {
    "run",       "task",     "model",    "kernel",    "preset",       "precision", "data",
    "seed",      "label",    "settings", "part",      "layer",        "head",      "id",
    "x",         "value",    "lo,hi",    "unit",      "null_uniform", "null_init", "null_shuffled",
    "null_perm", "examples", "seeds",    "undefined", "flags"};
enum { COLUMNS = sizeof key / sizeof *key };

/* The number that follows a word in the name of a unit ("layer0.head3"); NAN: the word does not
 * occur. */
static double number_after(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    char *end;
    if (!at || (at != name && at[-1] != '.')) return NAN;
    double x = (double)strtol(at + strlen(word), &end, 10);
    return end == at + strlen(word) ? (double)NAN : x;
}

/* Converts "key=value" lines to words separated by blanks. The caller frees the text. */
static char *words_of(const char *lines)
{
    char *words = lra_copy_text(lines);
    size_t n = strlen(words);
    while (n && words[n - 1] == '\n') words[--n] = 0;
    for (char *at = words; *at; at++)
        if (*at == '\n') *at = ' ';
    return words;
}

/* Starts a table row with the run and the part of the model. */
static void add_run(lra_table *t, const lra_probe_result *r, const lra_probe_unit *u)
{
    lra_table_row(t);
    lra_table_cell(t, "%s", r->run);
    lra_table_cell(t, "%s", r->task);
    lra_table_cell(t, "%s", r->model);
    lra_table_number(t, r->kernel ? (double)r->kernel : NAN, 0);
    lra_table_cell(t, "%s", r->preset);
    lra_table_cell(t, "%s", r->precision);
    lra_table_cell(t, "%s", r->fingerprint);
    lra_table_number(t, (double)r->seed, 0);
    lra_table_cell(t, "%s", r->user_label ? r->user_label : "");
    char *settings = words_of(r->settings);
    lra_table_cell(t, "%s", settings);
    lra_free(settings);
    lra_table_cell(t, "%s", u->name);
    lra_table_number(t, number_after(u->name, "layer"), 0);
    lra_table_number(t, number_after(u->name, "head"), 0);
}

static void add_flags(lra_table *t, uint32_t flags)
{
    lra_text text = {0};
    for (int i = 0; lra_measurement_flag_name(i); i++)
        if (flags >> i & 1)
            lra_text_add(&text, "%s%s", text.n ? " " : "", lra_measurement_flag_name(i));
    lra_table_cell(t, "%s", text.s ? text.s : "");
    lra_text_free(&text);
}

static void add_measurement(lra_table *t, const lra_measurement *f)
{
    lra_table_cell(t, "%s", f->id);
    lra_table_number(t, NAN, 0);
    lra_table_number(t, f->value, 6);
    lra_table_interval(t, f->lo, f->hi, 6);
    lra_table_cell(t, "%s", f->unit);
    for (int k = 0; k < LRA_NULLS; k++) lra_table_number(t, f->null[k], 6);
    lra_table_number(t, (double)f->examples, 0);
    lra_table_number(t, (double)f->seeds, 0);
    lra_table_number(t, (double)f->undefined, 0);
    add_flags(t, f->flags);
}

/* Adds a point of a curve: x, value and interval. */
static void add_point(lra_table *t, const struct lra_probe_curve *c, double x, const float *three)
{
    lra_table_cell(t, "%s", c->name);
    lra_table_number(t, x, 6);
    lra_table_number(t, (double)three[0], 6);
    lra_table_interval(t, (double)three[1], (double)three[2], 6);
    lra_table_cell(t, "%s", c->unit);
    for (int k = 0; k < LRA_NULLS + 3; k++) lra_table_number(t, NAN, 0);
    add_flags(t, 0);
}

/* Adds curves over the points x; their shapes were checked when the file was read. */
static void add_curves(lra_table *t, const lra_probe_result *r, const lra_probe_unit *u)
{
    const lra_probe_array *x = lra_probe_array_find(u, "x");
    for (int k = 0; x && k < LRA_PROBE_CURVES; k++) {
        const struct lra_probe_curve *c = &lra_probe_curves[k];
        const lra_probe_array *a = lra_probe_array_find(u, c->name);
        for (int64_t i = 0; a && a->rank == 2 && a->dims[1] == 3 && i < a->dims[0]; i++) {
            add_run(t, r, u);
            add_point(t, c, (double)x->value[i], a->value + 3 * i);
        }
    }
}

lra_table *lra_probe_records(const char *title, const lra_report_input *in)
{
    const char *head[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) head[c] = key[c];
    lra_table *t = lra_table_new(title, COLUMNS, head);
    lra_table_keys(t, key);
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *r = in->probes[i];
        for (int u = 0; u < r->n_units; u++) {
            for (int f = 0; f < r->unit[u]->n_measurements; f++) {
                add_run(t, r, r->unit[u]);
                add_measurement(t, &r->unit[u]->measurement[f]);
            }
            add_curves(t, r, r->unit[u]);
        }
    }
    return t;
}
