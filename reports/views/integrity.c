/* Adds notes on files without a seal, and on results from different instruction sets
 * (integrity.h). */
#include "reports/views/integrity.h"

#include <string.h>

#include "kernels/base/core/mem.h"

enum { MOST_NAMES = 3 };

static void add_name(lra_text *names, int n, const char *task, const char *model, const char *run)
{
    if (n < MOST_NAMES)
        lra_text_add(names, "%s%s %s %s", n ? ", " : "", task, model, run);
    else if (n == MOST_NAMES)
        lra_text_add(names, " and more");
}

static int count(const lra_report_input *in, lra_text *names)
{
    int n = 0;
    for (int i = 0; i < in->n; i++) {
        const lra_result *r = in->list[i];
        if (r->unsealed) add_name(names, n++, r->task, r->model, r->run);
    }
    for (int i = 0; i < in->n_listops; i++) {
        const lra_listops *r = in->listops[i];
        if (r->unsealed) add_name(names, n++, r->task, r->model, r->run);
    }
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_result *r = in->probes[i];
        if (r->unsealed) add_name(names, n++, r->task, r->model, r->run);
    }
    for (int i = 0; i < in->n_tuned; i++) {
        const lra_result *r = in->tuned[i];
        if (r->unsealed) add_name(names, n++, r->task, r->model, r->run);
    }
    const lra_result *reference = in->scale.run;
    if (reference && reference->unsealed)
        add_name(names, n++, reference->task, reference->model, reference->run);
    return n;
}

char *lra_report_integrity(const lra_report_input *in)
{
    lra_text names = {0};
    int n = count(in, &names),
        all = in->n + in->n_listops + in->n_probes + in->n_tuned + (in->scale.run != NULL);
    char *text = n == 0
                     ? NULL
                     : lra_format("unsealed: %d of %d file%s %s no seal, %s values may have been "
                                  "changed: %s",
                                  n, all, all == 1 ? "" : "s", n == 1 ? "has" : "have",
                                  n == 1 ? "its" : "their", names.s);
    lra_text_free(&names);
    return text;
}

/* Index of the column `flags` of CSV and JSON output; adds it if it is missing. -1: no more columns
 * are possible. */
static int flags_column(lra_table *t)
{
    int c = 0;
    while (c < t->n_columns && strcmp(t->key[c], "flags") != 0) c++;
    if (c < t->n_columns) return c;
    if (c == LRA_TABLE_COLUMNS) return -1;
    t->head[c] = lra_copy_text(""), t->key[c] = lra_copy_text("flags");
    t->n_columns++;
    return c;
}

static void mark(lra_table *t, const char *text, int n)
{
    int c = flags_column(t);
    lra_table_note(t, "%s", text);
    lra_table_fact(t, "unsealed", n);
    for (int r = 0; r < t->n_rows && c >= 0; r++) {
        lra_cell *cell = &t->cell[r][c];
        const char *flags = cell->text ? cell->text : "";
        if (strstr(flags, "unsealed")) continue;
        char *more = lra_format("%s%sunsealed", flags, *flags ? " " : "");
        lra_free(cell->text);
        *cell = (lra_cell){.text = more, .kind = LRA_CELL_TEXT};
    }
}

void lra_report_mark_integrity(const lra_report_input *in, lra_table **list, int n)
{
    lra_text names = {0};
    int n_unsealed = count(in, &names);
    char *text = lra_report_integrity(in);
    for (int i = 0; text && i < n; i++) mark(list[i], text, n_unsealed);
    lra_free(text);
    lra_text_free(&names);
}

/* ---- instruction levels ---------------------------------------------------------------------- */

enum { MOST_LEVELS = 8 };

typedef struct {
    const char *level[MOST_LEVELS];
    int runs[MOST_LEVELS], n;
    bool mixed; /* true if runs of one precision used different instruction sets */
} levels;

/* Counts the instruction set of a run. bf16 runs are counted separately, because their results need
 * not agree bit for bit with others. */
static void add_level(levels *of, const lra_origin *o, bool bf16)
{
    int i = 0;
    if (!o->level || !o->device || strcmp(o->device, "cpu") != 0) return;
    while (i < of->n && !lra_level_same(of->level[i], o->level, bf16)) i++;
    if (i == MOST_LEVELS) return;
    if (i == of->n) of->level[of->n++] = o->level;
    of->runs[i]++;
    of->mixed = of->mixed || of->n > 1 || strchr(o->level, '+');
}

static void count_levels(const lra_report_input *in, levels of[2])
{
    for (int i = 0; i < in->n; i++) {
        bool bf16 = strcmp(in->list[i]->precision, "bf16") == 0;
        add_level(&of[bf16], &in->list[i]->origin, bf16);
    }
    for (int i = 0; i < in->n_probes; i++) {
        bool bf16 = strcmp(in->probes[i]->precision, "bf16") == 0;
        add_level(&of[bf16], &in->probes[i]->origin, bf16);
    }
}

void lra_report_note_levels(const lra_report_input *in, lra_table **list, int n)
{
    levels of[2] = {{.n = 0}, {.n = 0}};
    lra_text t = {0};
    count_levels(in, of);
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < of[b].n && of[b].mixed; i++)
            lra_text_add(&t, "%s%s (%d)", t.n ? ", " : "", of[b].level[i], of[b].runs[i]);
    for (int i = 0; t.n && i < n; i++)
        lra_table_note(
            list[i],
            "the files are from different instruction levels: %s; results of the same run differ between levels "
            "by rounding",
            t.s);
    lra_text_free(&t);
}
