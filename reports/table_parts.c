/* What the printers of tables share. */
#include "reports/table_parts.h"

#include <string.h>

const char *lra_table_text(const lra_table *t, int row, int column)
{
    const char *text = row < 0 ? t->head[column] : t->cell[row][column].text;
    return text ? text : "";
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

const char *lra_note_split(const char *note, char key[LRA_NOTE_KEY])
{
    const char *tab = strchr(note, '\t');
    snprintf(key, LRA_NOTE_KEY, "%.*s", tab ? (int)(tab - note) : 0, note);
    return tab ? tab + 1 : note;
}
