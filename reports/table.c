/* Tables. */
#include "reports/table.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

lra_table *lra_table_new(const char *title, int n_columns, const char *const *head)
{
    lra_table *t = lra_alloc(sizeof *t);
    t->title = lra_copy_text(title);
    t->n_columns = n_columns;
    for (int c = 0; c < n_columns; c++) t->head[c] = lra_copy_text(head[c]);
    return t;
}

void lra_table_free(lra_table *t)
{
    if (!t) return;
    for (int c = 0; c < t->n_columns; c++) lra_free(t->head[c]);
    for (int r = 0; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++) lra_free(t->cell[r][c]);
    for (int i = 0; i < t->n_notes; i++) lra_free(t->note[i]);
    lra_free(t->title);
    lra_free(t);
}

static char *format_text(const char *fmt, va_list args)
{
    lra_text text = {0};
    lra_text_addv(&text, fmt, args);
    return text.s;
}

void lra_table_row(lra_table *t)
{
    if (t->n_rows == LRA_TABLE_ROWS) LRA_BUG("a table of more than %d rows", LRA_TABLE_ROWS);
    t->n_rows++;
}

void lra_table_cell(lra_table *t, const char *fmt, ...)
{
    char **row = t->cell[t->n_rows - 1];
    int c = 0;
    while (c < t->n_columns && row[c]) c++;
    if (c == t->n_columns) LRA_BUG("a row of more than %d cells", t->n_columns);
    va_list args;
    va_start(args, fmt);
    row[c] = format_text(fmt, args);
    va_end(args);
}

void lra_table_note(lra_table *t, const char *fmt, ...)
{
    if (t->n_notes == LRA_TABLE_NOTES) return;
    va_list args;
    va_start(args, fmt);
    t->note[t->n_notes++] = format_text(fmt, args);
    va_end(args);
}

/* ---- formats ------------------------------------------------------------------------------------------------- */

static const char *cell(const lra_table *t, int r, int c)
{
    const char *text = r < 0 ? t->head[c] : t->cell[r][c];
    return text ? text : "";
}

static void print_text(const lra_table *t, FILE *out)
{
    int width[LRA_TABLE_COLUMNS] = {0}, total = 0;
    for (int c = 0; c < t->n_columns; c++) {
        for (int r = -1; r < t->n_rows; r++)
            if ((int)strlen(cell(t, r, c)) > width[c]) width[c] = (int)strlen(cell(t, r, c));
        total += width[c] + (c ? 2 : 0);
    }
    fprintf(out, "%s\n\n", t->title);
    for (int r = -1; r < t->n_rows; r++) {
        int last = t->n_columns - 1;
        while (last > 0 && !*cell(t, r, last)) last--;
        for (int c = 0; c <= last; c++) {
            const char *text = cell(t, r, c);
            if (c == last && c == 0)
                fputs(text, out);
            else if (c == 0)
                fprintf(out, "%-*s", width[c], text);
            else
                fprintf(out, "  %*s", width[c], text);
        }
        fputc('\n', out);
        for (int i = 0; r < 0 && i < total; i++) fputc('-', out);
        if (r < 0) fputc('\n', out);
    }
    if (t->n_notes) fputc('\n', out);
    for (int i = 0; i < t->n_notes; i++) fprintf(out, "%s\n", t->note[i]);
}

static void print_markdown(const lra_table *t, FILE *out)
{
    fprintf(out, "**%s**\n\n", t->title);
    for (int r = -1; r < t->n_rows; r++) {
        for (int c = 0; c < t->n_columns; c++) fprintf(out, "| %s ", cell(t, r, c));
        fputs("|\n", out);
        for (int c = 0; r < 0 && c < t->n_columns; c++) fputs(c ? "| ---: " : "| --- ", out);
        if (r < 0) fputs("|\n", out);
    }
    fputc('\n', out);
    for (int i = 0; i < t->n_notes; i++) fprintf(out, "* %s\n", t->note[i]);
}

static void print_tex(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (strchr("%_&#$", *text)) fputc('\\', out);
        if (*text == '>' || *text == '<')
            fprintf(out, "$%c$", *text);
        else
            fputc(*text, out);
    }
}

static void print_latex(const lra_table *t, FILE *out)
{
    fputs("% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n\\caption{", out);
    print_tex(t->title, out);
    fputs("}\n\\begin{tabular}{l", out);
    for (int c = 1; c < t->n_columns; c++) fputc('r', out);
    fputs("}\n\\toprule\n", out);
    for (int r = -1; r < t->n_rows; r++) {
        for (int c = 0; c < t->n_columns; c++) {
            if (c) fputs(" & ", out);
            print_tex(cell(t, r, c), out);
        }
        fputs(r < 0 ? " \\\\\n\\midrule\n" : " \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
    for (int i = 0; i < t->n_notes; i++) {
        fputs(i ? "\\\\\n" : "\n\\smallskip\\footnotesize ", out);
        print_tex(t->note[i], out);
    }
    fputs("\n\\end{table}\n", out);
}

static void print_csv(const lra_table *t, FILE *out)
{
    for (int r = -1; r < t->n_rows; r++)
        for (int c = 0; c < t->n_columns; c++) {
            const char *text = cell(t, r, c);
            bool quoted = strpbrk(text, ",\"\n") != NULL;
            if (quoted) fputc('"', out);
            for (; *text; text++) {
                if (*text == '"') fputc('"', out);
                fputc(*text, out);
            }
            if (quoted) fputc('"', out);
            fputc(c + 1 < t->n_columns ? ',' : '\n', out);
        }
}

static void print_json(const lra_table *t, FILE *out)
{
    json_t *rows = json_array(), *notes = json_array();
    for (int r = 0; r < t->n_rows; r++) {
        json_t *row = json_object();
        for (int c = 0; c < t->n_columns; c++)
            json_object_set_new(row, cell(t, -1, c), json_string(cell(t, r, c)));
        json_array_append_new(rows, row);
    }
    for (int i = 0; i < t->n_notes; i++) json_array_append_new(notes, json_string(t->note[i]));
    json_t *all = json_pack("{s:s,s:o,s:o}", "title", t->title, "rows", rows, "notes", notes);
    char *text = json_dumps(all, JSON_INDENT(1));
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(all);
}

int lra_table_print(const lra_table *t, const char *format, FILE *out, lra_err *e)
{
    if (strcmp(format, "text") == 0)
        print_text(t, out);
    else if (strcmp(format, "markdown") == 0)
        print_markdown(t, out);
    else if (strcmp(format, "latex") == 0)
        print_latex(t, out);
    else if (strcmp(format, "csv") == 0)
        print_csv(t, out);
    else if (strcmp(format, "json") == 0)
        print_json(t, out);
    else
        LRA_BUG("unknown table format '%s'", format);
    return ferror(out) ? lra_fail_errno(e, "cannot write the table") : 0;
}
