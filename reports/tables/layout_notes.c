/* Adds the notes below the table of a layout (layout_notes.h). */
#include "reports/tables/layout_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/shell.h"
#include "reports/papers/layout.h"

/* Adds each line of a text as a note with this key. */
static void add_lines(lra_table *t, const char *key, const char *lines)
{
    for (const char *at = lines ? lines : ""; *at;) {
        int n = (int)strcspn(at, "\n");
        lra_table_note(t, "%s\t%.*s", key, n, at);
        at += n + (at[n] == '\n');
    }
}

/* ---- cells that are missing ------------------------------------------------------------------ */

/* Columns of a row that are not trained: "PathX, PathX-256", or "" for all; NULL: none. The caller
 * frees it. */
static char *untrained_of(const lra_layout *l, int row)
{
    lra_text columns = {0};
    int n = 0;
    for (int c = 0; c < l->n_columns; c++) {
        lra_config *cell = lra_layout_settings(l, row, c, NULL, NULL);
        if (!cell) lra_text_add(&columns, "%s%s", n++ ? ", " : "", l->column[c].head);
        lra_config_free(cell);
    }
    if (n < l->n_columns) return columns.s;
    lra_text_free(&columns);
    return lra_copy_text("");
}

/* Adds the cells that are not trained, one note for each reason. */
static void add_untrained(lra_table *t, const lra_layout *l)
{
    for (int r = 0; r < l->n_rows; r++) {
        char *columns = untrained_of(l, r);
        bool first = columns != NULL;
        for (int i = 0; i < r && first; i++)
            first = !l->row[i].why || strcmp(l->row[i].why, l->row[r].why) != 0;
        lra_text rows = {0};
        for (int i = r; i < l->n_rows && first; i++)
            if (l->row[i].why && strcmp(l->row[i].why, l->row[r].why) == 0)
                lra_text_add(&rows, "%s%s", rows.n ? ", " : "", l->row[i].label);
        if (first)
            lra_table_note(t, "not trained\t%s%s%s: %s", columns, *columns ? " of " : "", rows.s,
                           l->row[r].why);
        lra_text_free(&rows);
        lra_free(columns);
    }
}

/* Adds the number of cells without results and the command that trains them. */
static void add_missing(lra_table *t, const lra_layout_view *v, const char *out)
{
    const lra_layout *l = v->layout;
    int missing = 0, all = 0;
    for (int r = 0; r < l->n_rows; r++)
        for (int c = 0; c < l->n_columns; c++) {
            lra_config *cell = lra_layout_settings(l, r, c, NULL, NULL);
            if (cell && !lra_layout_is_derived(l, c))
                all++, missing += !lra_layout_cell_at(v, r, c)->group;
            lra_config_free(cell);
        }
    bool other = *v->preset && strcmp(v->preset, "paper") != 0;
    char *word = out ? lra_shell_word(out) : lra_copy_text("");
    if (missing)
        lra_table_note(
            t,
            "blank\t%d of %d cells are not measured; 'lra-probe sweep %s%s%s%s%s' trains "
            "them",
            missing, all, l->id, other ? " --preset " : "", other ? v->preset : "",
            out ? " --out " : "", word);
    lra_free(word);
}

/* ---- differences from the paper -------------------------------------------------------------- */

/* True if the result of a cell has this line of n bytes among its deviations. */
static bool deviates(const lra_layout_cell *cell, const char *line, size_t n)
{
    const char *at = cell->group ? cell->group->run[0]->deviations : NULL;
    while (at && *at) {
        size_t length = strcspn(at, "\n");
        if (length == n && strncmp(at, line, n) == 0) return true;
        at += length + (at[length] == '\n');
    }
    return false;
}

/* Labels of the rows with a cell that has the line; "" for all measured rows. The caller frees
 * it. */
static char *rows_with(const lra_layout_view *v, const char *line, size_t n)
{
    const lra_layout *l = v->layout;
    lra_text rows = {0};
    bool all = true;
    for (int r = 0; r < l->n_rows; r++) {
        bool has = false, measured = false;
        for (int c = 0; c < l->n_columns; c++) {
            const lra_layout_cell *cell = lra_layout_cell_at(v, r, c);
            measured = measured || cell->group;
            has = has || deviates(cell, line, n);
        }
        if (has) lra_text_add(&rows, "%s%s", rows.n ? ", " : " (", l->row[r].label);
        all = all && has == measured;
    }
    if (!all) lra_text_add(&rows, ")");
    char *text = lra_copy_text(all ? "" : rows.s);
    lra_text_free(&rows);
    return text;
}

/* Adds the deviations of cell i that no earlier cell has. */
static void add_deviations_of(lra_table *t, const lra_layout_view *v, int i)
{
    const char *at = v->cell[i].group ? v->cell[i].group->run[0]->deviations : NULL;
    while (at && *at) {
        size_t n = strcspn(at, "\n");
        int k = 0;
        while (k < i && !deviates(&v->cell[k], at, n)) k++;
        char *rows = rows_with(v, at, n);
        if (k == i) lra_table_note(t, "deviation\t%.*s%s", (int)n, at, rows);
        lra_free(rows);
        at += n + (at[n] == '\n');
    }
}

static void add_deviations(lra_table *t, const lra_layout_view *v)
{
    int n = v->layout->n_rows * v->layout->n_columns, others = 0;
    for (int i = 0; i < n; i++) {
        add_deviations_of(t, v, i);
        others += v->cell[i].n_others > 0;
    }
    if (others)
        lra_table_note(t,
                       "selected\t%d cells have results of several configurations; the one with "
                       "the best validation value is shown",
                       others);
}

/* Writes a number with commas between thousands. Returns text. */
static const char *thousands(int64_t n, char text[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, n), to = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) text[to++] = ',';
        text[to++] = digits[i];
    }
    text[to] = 0;
    return text;
}

/* Adds the number of parameters of each measured row. */
static void add_sizes(lra_table *t, const lra_layout_view *v)
{
    const lra_layout *l = v->layout;
    char least_text[32], most_text[32];
    for (int r = 0; r < l->n_rows; r++) {
        int64_t least = 0, most = 0;
        for (int c = 0; c < l->n_columns; c++) {
            const lra_result_group *g = lra_layout_cell_at(v, r, c)->group;
            int64_t n = g ? g->run[0]->training.parameters : 0;
            if (n > 0 && (least == 0 || n < least)) least = n;
            if (n > most) most = n;
        }
        thousands(least, least_text), thousands(most, most_text);
        if (most > 0)
            lra_table_note(t, "size\t%s: %s%s%s parameters", l->row[r].label, least_text,
                           least < most ? " to " : "", least < most ? most_text : "");
    }
}

/* True if an earlier cell has results on the same data. */
static bool has_data(const lra_layout_view *v, int cell, const lra_result *r)
{
    int i = 0;
    while (i < cell && !(v->cell[i].group &&
                         strcmp(v->cell[i].group->run[0]->fingerprint, r->fingerprint) == 0 &&
                         strcmp(v->cell[i].group->run[0]->task, r->task) == 0))
        i++;
    return i < cell;
}

/* Adds the numbers of rows of the data of the measured cells. */
static void add_data(lra_table *t, const lra_layout_view *v)
{
    char train[32], test[32], longest[32];
    for (int i = 0; i < v->layout->n_rows * v->layout->n_columns; i++) {
        const lra_result *r = v->cell[i].group ? v->cell[i].group->run[0] : NULL;
        if (!r || has_data(v, i, r)) continue;
        lra_err e;
        lra_config *c = lra_config_parse(r->task_parameters ? r->task_parameters : "", &e);
        double rows = c ? lra_config_real_or(c, "train", 0) : 0;
        lra_config_free(c);
        thousands((int64_t)rows, train), thousands(r->n, test), thousands(r->max_length, longest);
        lra_table_note(t, "data\t%s: %s%s%s test rows of at most %s tokens", r->task,
                       rows > 0 ? train : "", rows > 0 ? " training and " : "", test, longest);
    }
}

static void add_preset(lra_table *t, const lra_layout_view *v)
{
    if (!*v->preset || strcmp(v->preset, "paper") == 0) return;
    lra_table_note(t,
                   "preset\t%s: sizes of models and data, numbers of epochs and rates are this "
                   "suite's; measured values are not comparable with published ones",
                   v->preset);
}

void lra_layout_notes(lra_table *t, const lra_layout_view *v, const char *out)
{
    const lra_layout *l = v->layout;
    add_lines(t, "remark", l->notes);
    add_untrained(t, l);
    add_missing(t, v, out);
    add_preset(t, v);
    add_sizes(t, v);
    add_data(t, v);
    add_deviations(t, v);
    if (*v->preset) lra_table_note_ci(t);
}
