/* Converts wide tables to one long table (table_melt.h). */
#include "reports/tables/table_melt.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { MOST_NAMES = 32, OWN = 4 };

/* Names that identify a row: n_facts facts of the table, then columns. */
typedef struct {
    int n_facts, n;
    const char *key[MOST_NAMES];
} names;

static bool has(const names *all, const char *key)
{
    for (int i = 0; i < all->n; i++)
        if (strcmp(all->key[i], key) == 0) return true;
    return false;
}

static void add(names *all, const char *key)
{
    if (all->n < MOST_NAMES && !has(all, key)) all->key[all->n++] = key;
}

static names find_names(lra_table *const *list, int n, const char *const *id)
{
    names all = {0};
    for (int i = 0; i < n; i++)
        for (int k = 0; k < list[i]->n_facts; k++)
            if (list[i]->fact[k].text && strcmp(list[i]->fact[k].key, "flags") != 0)
                add(&all, list[i]->fact[k].key);
    all.n_facts = all.n;
    for (int k = 0; id[k]; k++) add(&all, id[k]);
    return all;
}

static int column_of(const lra_table *t, const char *key)
{
    for (int c = 0; c < t->n_columns; c++)
        if (strcmp(t->key[c], key) == 0) return c;
    return -1;
}

/* Adds a cell for name k: a fact of the table, or a column of the row. */
static void add_name(lra_table *to, const lra_table *t, int row, const names *all, int k)
{
    const char *key = all->key[k];
    for (int i = 0; k < all->n_facts && i < t->n_facts; i++)
        if (strcmp(t->fact[i].key, key) == 0) {
            lra_table_cell(to, "%s", t->fact[i].text ? t->fact[i].text : "");
            return;
        }
    int c = column_of(t, key);
    const lra_cell *x = c < 0 ? NULL : &t->cell[row][c];
    if (x && x->text && x->kind == LRA_CELL_NUMBER)
        lra_table_number(to, x->x, 0);
    else
        lra_table_cell(to, "%s", x && x->text ? x->text : "");
}

/* The interval of column c: the next column, if its key is "KEY_lo,KEY_hi"; else NULL. */
static const lra_cell *interval_of(const lra_table *t, int row, int c)
{
    bool next = c + 1 < t->n_columns && strchr(t->key[c + 1], ',');
    return next ? &t->cell[row][c + 1] : NULL;
}

static void add_number(lra_table *to, const lra_table *t, int row, int c, const names *all)
{
    const lra_cell *x = &t->cell[row][c], *interval = interval_of(t, row, c);
    bool known = interval && interval->text && interval->kind == LRA_CELL_INTERVAL;
    lra_table_row(to);
    for (int k = 0; k < all->n; k++) add_name(to, t, row, all, k);
    lra_table_cell(to, "%s", t->key[c]);
    lra_table_number(to, x->x, 6);
    lra_table_interval(to, known ? interval->x : NAN, known ? interval->hi : NAN, 6);
}

lra_table *lra_tables_melt(lra_table *const *list, int n, const char *title, const char *const *id)
{
    static const char *const own[] = {"column", "value", "lo,hi"};
    names all = find_names(list, n, id);
    const char *key[MOST_NAMES + OWN];
    for (int k = 0; k < all.n; k++) key[k] = all.key[k];
    for (int k = 0; k < 3; k++) key[all.n + k] = own[k];
    lra_table *to = lra_table_new(title, all.n + 3, key);
    lra_table_keys(to, key);
    for (int i = 0; i < n; i++)
        for (int r = 0; r < list[i]->n_rows; r++)
            for (int c = 0; c < list[i]->n_columns; c++) {
                const lra_cell *x = &list[i]->cell[r][c];
                if (!*list[i]->key[c] || !x->text || x->kind != LRA_CELL_NUMBER || isnan(x->x) ||
                    has(&all, list[i]->key[c]))
                    continue;
                add_number(to, list[i], r, c, &all);
            }
    return to;
}
