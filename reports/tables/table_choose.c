/* Selects the columns of a table (--columns). */
#include <stdbool.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/print/table.h"

/* True if a word of n characters is the key of the column, or its head, or, for an interval with
 * the key "KEY_lo,KEY_hi", the word KEY. */
static bool is_named(const lra_table *t, int column, const char *word, size_t n)
{
    const char *key = t->key[column];
    size_t first = strcspn(key, ",");
    if (first == n && strncmp(key, word, n) == 0) return true;
    /* the head "d95 (tokens)" also matches d95 */
    const char *head = t->head[column], *unit = strstr(head, " (");
    if (strncmp(head, word, n) == 0 && (strlen(head) == n || unit == head + n)) return true;
    return key[first] == ',' && first == n + 3 && strncmp(key, word, n) == 0 &&
           strncmp(key + n, "_lo", 3) == 0;
}

static void show(lra_table *t, int column)
{
    if (*t->head[column]) return;
    lra_free(t->head[column]);
    size_t n = strcspn(t->key[column], ",");
    bool interval = t->key[column][n] && n > 3 && strncmp(t->key[column] + n - 3, "_lo", 3) == 0;
    t->head[column] = interval ? lra_format("%.*s " LRA_TABLE_CI, (int)n - 3, t->key[column])
                               : lra_copy_text(t->key[column]);
}

static void hide(lra_table *t, int column)
{
    lra_free(t->head[column]);
    lra_free(t->key[column]);
    t->head[column] = lra_copy_text("");
    t->key[column] = lra_copy_text("");
}

int lra_tables_choose(lra_table *const *list, int n, const char *columns, lra_err *e)
{
    bool(*keep)[LRA_TABLE_COLUMNS] = lra_alloc_array((size_t)n + 1, sizeof *keep);
    int rc = 0;
    for (const char *at = columns; *at && rc == 0;) {
        size_t size = strcspn(at, ",");
        bool found = size == 0;
        for (int i = 0; i < n; i++)
            for (int c = 0; c < list[i]->n_columns; c++)
                if (size && is_named(list[i], c, at, size)) found = keep[i][c] = true;
        if (!found)
            rc = lra_fail_usage(e,
                                "--columns: unknown column '%.*s'; the first line of '--format "
                                "csv' lists all columns",
                                (int)size, at);
        at += size + (at[size] == ',');
    }
    for (int i = 0; i < n && rc == 0; i++)
        for (int c = 0; c < list[i]->n_columns; c++) {
            if (keep[i][c])
                show(list[i], c);
            else
                hide(list[i], c);
        }
    lra_free(keep);
    return rc;
}
