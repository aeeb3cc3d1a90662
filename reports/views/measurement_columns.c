/* Adds columns and notes of tables of measurements (measurement_columns.h). */
#include "reports/views/measurement_columns.h"

#include <string.h>

#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"

const char *const lra_column_heads[LRA_COLUMN_KINDS] = {
    [LRA_COLUMN_VALUE] = "",          [LRA_COLUMN_INTERVAL] = "CI",
    [LRA_COLUMN_IQR] = "IQR",         [LRA_COLUMN_INITIAL] = "initial",
    [LRA_COLUMN_UNIFORM] = "uniform", [LRA_COLUMN_SHUFFLED] = "shuffled"};

void lra_columns_add(lra_columns *c, const char *head, const char *key)
{
    if (c->n == LRA_TABLE_COLUMNS) LRA_BUG("a table of more than %d columns", c->n);
    c->head[c->n] = lra_copy_text(head), c->key[c->n++] = lra_copy_text(key);
}

/* ---- measurements ---------------------------------------------------------------------------- */

/* Suffixes of the keys of a column; for an interval, those of its lower and upper end. */
typedef struct {
    const char *one, *other;
} suffix;
static const suffix plain[LRA_COLUMN_KINDS] = {{"", NULL},       {"_lo", "_hi"},
                                               {"_q1", "_q3"},   {"_initial", NULL},
                                               {"_equal", NULL}, {"_shuffled", NULL}};
static const suffix dotted[LRA_COLUMN_KINDS] = {{"", NULL},       {".lo", ".hi"},
                                                {":q1", ":q3"},   {".init", NULL},
                                                {".equal", NULL}, {".shuffled", NULL}};

/* Head of a column with its unit, "d95 (tokens)". The caller frees it. */
static char *with_unit(const char *head, const char *id)
{
    uint32_t set;
    const lra_measurement_info *info = lra_measurement_info_find(id, &set);
    bool named = info && strcmp(info->unit, "kind") != 0 && strcmp(info->unit, "position") != 0;
    const char *unit = named ? lra_unit_text(info->unit) : "";
    return *unit && !set ? lra_format("%s (%s)", head, unit) : lra_copy_text(head);
}

static void add(lra_columns *c, const char *prefix, const char *id, lra_column_kind kind,
                const char *key, const suffix *end, bool shown)
{
    char *own = lra_measurement_head(id);
    char *head = prefix ? lra_format("%s %s", prefix, own) : lra_copy_text(own);
    char *name = end->other ? lra_format("%s%s,%s%s", key, end->one, key, end->other)
                            : lra_format("%s%s", key, end->one);
    char *full = kind ? lra_format("%s %s", head, lra_column_heads[kind]) : with_unit(head, id);
    lra_columns_add(c, shown ? full : "", name);
    lra_free(full);
    lra_free(name);
    lra_free(head);
    lra_free(own);
}

void lra_columns_measurement(lra_columns *c, const char *prefix, const char *id,
                             lra_column_kind kind, bool shown)
{
    char *own = lra_measurement_key(id);
    char *key = prefix ? lra_format("%s_%s", prefix, own) : lra_copy_text(own);
    add(c, prefix, id, kind, key, &plain[kind], shown);
    lra_free(key);
    lra_free(own);
}

void lra_columns_measurement_dotted(lra_columns *c, const char *id, lra_column_kind kind,
                                    bool shown)
{
    add(c, NULL, id, kind, id, &dotted[kind], shown);
}

lra_table *lra_columns_table(lra_columns *c, const char *title)
{
    lra_table *t = lra_table_new(title, c->n, (const char *const *)c->head);
    lra_table_keys(t, (const char *const *)c->key);
    for (int i = 0; i < c->n; i++) {
        lra_free(c->head[i]);
        lra_free(c->key[i]);
    }
    c->n = 0;
    return t;
}

/* ---- notes ----------------------------------------------------------------------------------- */

/* Appends the heads of all ids that share a declaration, separated by blanks. */
static void add_heads(lra_text *t, int n, const char *const *id, const lra_measurement_info *info)
{
    for (int i = 0; i < n; i++) {
        if (lra_measurement_info_find(id[i], NULL) != info) continue;
        char *head = lra_measurement_head(id[i]);
        lra_text_add(t, "%s%s", t->n ? " " : "", head);
        lra_free(head);
    }
}

/* Adds the note on the declaration of id[i], unless an earlier id has the same declaration. */
static void note_declaration(lra_table *t, int n, const char *const *id, int i, bool by_id)
{
    const lra_measurement_info *info = lra_measurement_info_find(id[i], NULL);
    for (int k = 0; k < i; k++)
        if (lra_measurement_info_find(id[k], NULL) == info) return;
    lra_text word = {0};
    if (by_id || !strstr(info->head, "NAME"))
        lra_text_add(&word, "%s", by_id ? info->id : info->head);
    else
        add_heads(&word, n, id, info);
    bool named = strcmp(info->unit, "kind") != 0 && strcmp(info->unit, "position") != 0;
    const char *unit = named ? lra_unit_text(info->unit) : "";
    lra_table_note(t, "%s\t%s%s%s", word.s, info->sentence, *unit ? "; " : "", unit);
    lra_text_free(&word);
}

void lra_note_measurements(lra_table *t, int n, const char *const *id, bool by_id)
{
    uint32_t any = 0, set;
    for (int i = 0; i < n; i++) {
        if (!lra_measurement_info_find(id[i], &set)) continue;
        any |= set;
        note_declaration(t, n, id, i, by_id);
    }
    for (int k = 0; lra_measurement_modifier_at(k); k++) {
        const lra_measurement_modifier *m = lra_measurement_modifier_at(k);
        const char *head = m->head + strspn(m->head, " ");
        if ((any >> k & 1) == 0) continue;
        if (by_id)
            lra_table_note(t, "%s%s%s\t%s", m->suffix ? "ID" : "", m->text, m->suffix ? "" : "ID",
                           m->sentence);
        else
            lra_table_note(t, "%.*s\t%s", (int)strcspn(head, ":"), head, m->sentence);
    }
}
