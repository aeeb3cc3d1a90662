/* Functions that the printers of tables share (table_parts.h). */
#include "reports/print/table_parts.h"

#include <string.h>

const char *lra_table_text(const lra_table *t, int row, int column)
{
    if (row < 0) return t->head[column];
    const lra_cell *x = &t->cell[row][column];
    return x->shown ? x->shown : x->text ? x->text : "";
}

int lra_table_shown(const lra_table *t, int column[LRA_TABLE_COLUMNS])
{
    int n = 0;
    for (int c = 0; c < t->n_columns; c++)
        if (*t->head[c]) column[n++] = c;
    return n;
}

int lra_text_width(const char *text)
{
    int n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
    return n;
}

int lra_table_column_width(const lra_table *t, int column)
{
    int most = 0;
    for (int r = -1; r < t->n_rows; r++) {
        int w = lra_text_width(lra_table_text(t, r, column));
        if (w > most) most = w;
    }
    return most;
}

int lra_table_text_width(const lra_table *t, int n, const int *column)
{
    int total = 0;
    for (int c = 0; c < n; c++) total += lra_table_column_width(t, column[c]) + (c ? 2 : 0);
    return total;
}

bool lra_table_is_tied(const lra_table *t, int column)
{
    if (strchr(t->key[column], ',')) return true;
    for (int r = 0; r < t->n_rows; r++)
        if (t->cell[r][column].text) return t->cell[r][column].kind == LRA_CELL_INTERVAL;
    return false;
}

bool lra_table_is_name(const lra_table *t, int column)
{
    static const char *const number[] = {"kernel", "seed", "layer", "head"};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        if (strcmp(t->key[column], number[i]) == 0) return true;
    bool any = false;
    for (int r = 0; r < t->n_rows; r++) {
        const lra_cell *x = &t->cell[r][column];
        if (x->text && x->kind != LRA_CELL_TEXT) return false;
        any = any || (x->text && *x->text);
    }
    return any;
}

const char *lra_table_constant(const lra_table *t, int column)
{
    const char *same = NULL;
    int empty = 0;
    if (t->n_rows == 1) return NULL;
    for (int r = 0; r < t->n_rows; r++) {
        const char *text = lra_table_text(t, r, column);
        if (!*text || strcmp(text, "-") == 0) {
            empty++;
            continue;
        }
        if (same && strcmp(text, same) != 0) return NULL;
        same = text;
    }
    if (!same) return "";
    return empty || strchr(same, '.') ? NULL : same;
}

const char *lra_note_split(const char *note, char key[LRA_NOTE_KEY])
{
    const char *tab = strchr(note, '\t');
    snprintf(key, LRA_NOTE_KEY, "%.*s", tab ? (int)(tab - note) : 0, note);
    return tab ? tab + 1 : note;
}
