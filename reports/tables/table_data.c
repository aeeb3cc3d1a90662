/* Prints tables as CSV with one header, and as JSON (table.h). */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/utf8.h"
#include "reports/print/table.h"
#include "reports/print/table_parts.h"

/* Writes the names of a column's fields: none, its key, or the two keys of an interval. Returns
 * their number. */
static int names_of(const lra_table *t, int c, char name[2][64])
{
    const char *key = t->key[c], *comma = strchr(key, ',');
    if (!*key) return 0;
    snprintf(name[0], 64, "%.*s", (int)(comma ? comma - key : (int)strlen(key)), key);
    if (comma) snprintf(name[1], 64, "%s", comma + 1);
    return comma ? 2 : 1;
}

static void csv_field(const char *text, bool *first, FILE *out)
{
    bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (!*first) fputc(',', out);
    *first = false;
    if (quoted) fputc('"', out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    if (quoted) fputc('"', out);
}

/* Prints a CSV field. Spreadsheets interpret a text that begins with =, +, - or @ as a formula,
 * which can run programs; a leading apostrophe prevents this. */
static void csv_text(const char *text, bool *first, FILE *out)
{
    const char *start = text + strspn(text, " ");
    bool formula = *start && strchr("=+-@", *start);
    char *plain = lra_format("%s%s", formula ? "'" : "", text);
    csv_field(plain, first, out);
    lra_free(plain);
}

static void csv_number(double x, bool *first, FILE *out)
{
    char text[40] = "";
    if (isfinite(x)) snprintf(text, sizeof text, "%.17g", x);
    csv_field(text, first, out);
}

/* A field of every CSV row or JSON object: a key, or one end of an interval. */
typedef struct {
    char name[64];
} field;

/* The fields of all tables, in order of their first occurrence. The caller frees them. */
static field *all_fields(lra_table *const *list, int n, int *n_fields)
{
    field *all = NULL;
    *n_fields = 0;
    for (int i = 0; i < n; i++)
        for (int c = 0; c < list[i]->n_columns; c++) {
            char name[2][64];
            int m = names_of(list[i], c, name);
            for (int k = 0; k < m; k++) {
                int at = 0;
                while (at < *n_fields && strcmp(all[at].name, name[k]) != 0) at++;
                if (at < *n_fields) continue;
                all = lra_resize(all, (size_t)(at + 1) * sizeof *all);
                memcpy(all[(*n_fields)++].name, name[k], sizeof all->name);
            }
        }
    return all;
}

/* Source of each field in a table: its column, and which end of an interval it is; column -1: the
 * table does not have it. */
typedef struct {
    int column, end;
} source;

static source *sources_of(const lra_table *t, int n_fields, const field *all)
{
    source *at = lra_alloc_array((size_t)n_fields + 1, sizeof *at);
    for (int f = 0; f < n_fields; f++) at[f].column = -1;
    for (int c = 0; c < t->n_columns; c++) {
        char name[2][64];
        int m = names_of(t, c, name);
        for (int k = 0; k < m; k++)
            for (int f = 0; f < n_fields; f++)
                if (strcmp(all[f].name, name[k]) == 0) at[f] = (source){c, k};
    }
    return at;
}

static void csv_cell(const lra_cell *x, int end, bool *first, FILE *out)
{
    if (!x || !x->text)
        csv_field("", first, out);
    else if (x->kind != LRA_CELL_TEXT)
        csv_number(end ? x->hi : x->x, first, out);
    else
        csv_text(end || strcmp(x->text, "-") == 0 ? "" : x->text, first, out);
}

void lra_tables_print_csv(lra_table *const *list, int n, FILE *out)
{
    int n_fields;
    field *all = all_fields(list, n, &n_fields);
    bool first = true, several = n > 1;
    for (int f = 0; f < n_fields; f++) csv_text(all[f].name, &first, out);
    if (several) csv_field("table", &first, out);
    fputc('\n', out);
    for (int i = 0; i < n; i++) {
        source *at = sources_of(list[i], n_fields, all);
        for (int r = 0; r < list[i]->n_rows; r++) {
            first = true;
            for (int f = 0; f < n_fields; f++)
                csv_cell(at[f].column < 0 ? NULL : &list[i]->cell[r][at[f].column], at[f].end,
                         &first, out);
            if (several) csv_text(list[i]->title, &first, out);
            fputc('\n', out);
        }
        lra_free(at);
    }
    lra_free(all);
}

static json_t *json_of(double x)
{
    if (!isfinite(x)) return json_null();
    return floor(x) == x && fabs(x) < 9e15 ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *json_row(const lra_table *t, int r)
{
    json_t *row = json_object();
    char name[2][64];
    for (int c = 0; c < t->n_columns; c++) {
        int n = names_of(t, c, name);
        const lra_cell *x = &t->cell[r][c];
        bool none = !x->text ||
                    (x->kind == LRA_CELL_TEXT && (!*x->text || strcmp(x->text, "-") == 0));
        for (int i = 0; i < n; i++)
            json_object_set_new(row, name[i],
                                none || (i && x->kind == LRA_CELL_TEXT) ? json_null()
                                : x->kind == LRA_CELL_TEXT              ? json_string(x->text)
                                                           : json_of(i ? x->hi : x->x));
    }
    return row;
}

static json_t *json_verdict(const lra_verdict *v)
{
    json_t *sentences = json_array();
    for (int i = 0; i < v->n; i++) json_array_append_new(sentences, json_string(v->sentence[i]));
    return sentences;
}

static json_t *json_table(const lra_table *t)
{
    json_t *facts = json_object(), *rows = json_array(), *notes = json_array();
    for (int i = 0; i < t->n_facts; i++)
        json_object_set_new(facts, t->fact[i].key,
                            t->fact[i].text ? json_string(t->fact[i].text) : json_of(t->fact[i].x));
    for (int r = 0; r < t->n_rows; r++) json_array_append_new(rows, json_row(t, r));
    for (int i = 0; i < t->n_notes; i++) {
        char key[LRA_NOTE_KEY];
        const char *text = lra_note_split(t->note[i], key);
        json_array_append_new(notes, json_sprintf("%s%s%s", key, *key ? ": " : "", text));
    }
    json_t *table = json_pack("{s:s}", "title", t->title);
    json_t *parts = t->n_parts ? json_array() : NULL;
    for (int i = 0; i < t->n_parts; i++)
        json_array_append_new(parts, json_pack("{s:s,s:o}", "table", t->part[i].title, "verdict",
                                               json_verdict(&t->part[i].verdict)));
    if (t->verdict.n) json_object_set_new(table, "verdict", json_verdict(&t->verdict));
    if (parts) json_object_set_new(table, "verdicts", parts);
    json_object_set_new(table, "facts", facts);
    json_object_set_new(table, "rows", rows);
    json_object_set_new(table, "notes", notes);
    return table;
}

/* Fails if a text of the table cannot be encoded in JSON. */
static int check_texts(const lra_table *t, lra_err *e)
{
    int rc = lra_utf8_check(t->title, e);
    for (int i = 0; i < t->n_facts && rc == 0; i++) rc = lra_utf8_check(t->fact[i].text, e);
    for (int i = 0; i < t->n_notes && rc == 0; i++) rc = lra_utf8_check(t->note[i], e);
    for (int i = 0; i < t->verdict.n && rc == 0; i++)
        rc = lra_utf8_check(t->verdict.sentence[i], e);
    for (int i = 0; i < t->n_parts && rc == 0; i++) {
        rc = lra_utf8_check(t->part[i].title, e);
        for (int k = 0; k < t->part[i].verdict.n && rc == 0; k++)
            rc = lra_utf8_check(t->part[i].verdict.sentence[k], e);
    }
    for (int i = 0; i < t->n_rows * t->n_columns && rc == 0; i++)
        rc = lra_utf8_check(t->cell[i / t->n_columns][i % t->n_columns].text, e);
    return rc;
}

int lra_tables_print_json(lra_table *const *list, int n, FILE *out, lra_err *e)
{
    for (int i = 0; i < n; i++)
        if (check_texts(list[i], e) != 0) return LRA_FAILED;
    json_t *tables = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(tables, json_table(list[i]));
    json_t *all = json_pack("{s:i,s:o}", "schema", 1, "tables", tables);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(all);
    return 0;
}
