/* Prints tables in LaTeX with booktabs: special characters are escaped, minus signs and powers of
 * ten are typeset in math mode; no text is smaller than 7 points. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/print/latex_layout.h"
#include "reports/print/table_parts.h"

static const struct {
    const char *plain, *tex;
} signs[] = {
    {"<=", "$\\le$"},
    {">=", "$\\ge$"},
    {"+-", "$\\pm$"},
    {"<", "$<$"},
    {">", "$>$"},
    {"\\", "\\textbackslash{}"},
    {"~", "\\textasciitilde{}"},
    {"^", "\\textasciicircum{}"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"$", "\\$"},
    {"{", "\\{"},
    /* after the end of a row, "[" would open an optional argument, and "*" would be part of
     * "\\*" */
    {"[", "{[}"},
    {"*", "{*}"},
    {"}", "\\}"}};
enum { N_SIGNS = sizeof signs / sizeof *signs };

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* Prints "5e-05" at the start of a word as a power of ten. Returns the number of bytes consumed; 0:
 * no such number. */
static size_t print_power(const char *at, bool starts, FILE *out)
{
    size_t n = strspn(at, "0123456789."), digits = 0;
    if (!starts || !n || at[n] != 'e' || (at[n + 1] != '-' && at[n + 1] != '+')) return 0;
    while (is_digit(at[n + 2 + digits])) digits++;
    if (!digits) return 0;
    const char *power = at + n + 2;
    size_t zeros = strspn(power, "0");
    if (zeros == digits) zeros--;
    fputc('$', out);
    if (n != 1 || *at != '1') fprintf(out, "%.*s\\cdot", (int)n, at);
    fprintf(out, "10^{%s%.*s}$", at[n + 1] == '-' ? "-" : "", (int)(digits - zeros), power + zeros);
    return n + 2 + digits;
}

/* Prints the word "R_1" as a letter with a subscript. Returns the number of bytes consumed; 0: no
 * such word. */
static size_t print_index(const char *at, bool starts, FILE *out)
{
    bool index = starts && isalpha((unsigned char)*at) && at[1] == '_' && is_digit(at[2]) &&
                 !isalnum((unsigned char)at[3]) && at[3] != '_';
    if (index) fprintf(out, "$%.3s$", at);
    return index ? 3 : 0;
}

/* Prints "-" for LaTeX: an en dash if it is the only character of the cell (no value) or between
 * numbers (a range), a minus sign before a number or between blanks, else a hyphen. */
static void print_dash(const char *text, const char *at, FILE *out)
{
    bool digit_after = is_digit(at[1]), first = at == text;
    bool opens = first || at[-1] == ' ' || at[-1] == '(';
    if (digit_after && opens)
        fputs("$-$", out);
    else if ((first && !at[1]) || (digit_after && is_digit(at[-1])))
        fputs("--", out);
    else if (opens && at[1] == ' ')
        fputs("$-$", out);
    else
        fputc('-', out);
}

static void print_tex(const char *text, FILE *out)
{
    for (const char *at = text; *at;) {
        bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '.');
        size_t math = print_power(at, starts, out);
        if (!math) math = print_index(at, starts, out);
        int i = 0;
        at += math;
        if (math) continue;
        while (i < N_SIGNS && strncmp(at, signs[i].plain, strlen(signs[i].plain)) != 0) i++;
        if (i < N_SIGNS) {
            fputs(signs[i].tex, out);
            at += strlen(signs[i].plain);
            continue;
        }
        if (*at == '-')
            print_dash(text, at, out);
        else
            fputc(*at, out);
        at++;
    }
}

/* Prints a cell; leading blanks become an indent. */
static void print_cell(const char *text, FILE *out)
{
    size_t blanks = strspn(text, " ");
    for (size_t i = 0; i < blanks / 2; i++) fputs("\\enspace{}", out);
    print_tex(text + blanks, out);
}

enum { LABEL = 48 };

/* Label of a table: letters and digits of its title up to the first ";" or "(", joined by "-". A
 * label that is too long is cut at a word. */
static void label_of(const char *title, char label[LABEL])
{
    size_t n = 0, words = 0;
    for (; *title && !strchr(";(", *title) && n + 1 < LABEL; title++) {
        unsigned char c = (unsigned char)*title;
        if (isalnum(c) && c < 0x80)
            label[n++] = (char)tolower(c);
        else if (n && label[n - 1] != '-')
            words = n, label[n++] = '-';
    }
    bool cut = n + 1 == LABEL;
    label[cut || (n && label[n - 1] == '-') ? words : n] = 0;
}

/* Prints the label of a table or of one of its parts. A number is appended to a part, and to a
 * table whose label an earlier table in the list has. */
static void print_label(lra_table *const *list, int i, int part, FILE *out)
{
    char label[2][LABEL];
    int n = 1;
    label_of(list[i]->title, label[0]);
    for (int k = 0; k < i; k++) {
        label_of(list[k]->title, label[1]);
        n += strcmp(label[0], label[1]) == 0;
    }
    fprintf(out, "\\label{tab:%s", label[0]);
    if (n > 1) fprintf(out, "-%d", n);
    if (part) fprintf(out, "-part-%d", part + 1);
    fputs("}\n", out);
}

static void print_head(lra_table *const *list, int i, const lra_latex_layout *l, int part,
                       FILE *out)
{
    fprintf(out, "\\begin{table%s}\n\\centering\n\\caption{", l->wide ? "*" : "");
    print_tex(list[i]->title, out);
    if (l->same.n) fputs(". In all rows: ", out);
    if (l->same.n) print_tex(l->same.s, out);
    int parts = l->n_parts * l->n_row_parts;
    if (parts > 1) fprintf(out, " (part %d of %d)", part + 1, parts);
    fputs("}\n", out);
    print_label(list, i, part, out);
    fprintf(out, "\\smallskip\n\\%s\n\\setlength{\\tabcolsep}{%dpt}\n", l->size, l->space);
}

/* The i-th column of a part: first the columns that identify a row; -1 after the last. */
static int column_of(const lra_latex_layout *l, int part, int i)
{
    int at = i < l->n_names ? i : l->part[part] + i - l->n_names;
    return at < l->part[part + 1] ? l->column[at] : -1;
}

static void print_part(const lra_table *t, const lra_latex_layout *l, int part, int rows, FILE *out)
{
    fputs("\\begin{tabular}{l", out);
    for (int i = 1; column_of(l, part, i) >= 0; i++)
        fputc(lra_latex_is_words(t, column_of(l, part, i)) ? 'l' : 'r', out);
    fputs("}\n\\toprule\n", out);
    for (int k = l->row[rows] - 1; k < l->row[rows + 1]; k++) {
        int r = k < l->row[rows] ? -1 : k; /* the head, row -1, precedes the rows */
        for (int i = 0; column_of(l, part, i) >= 0; i++) {
            if (i) fputs(" & ", out);
            print_cell(lra_table_text(t, r, column_of(l, part, i)), out);
        }
        fputs(r < 0 ? " \\\\\n\\midrule\n" : " \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

/* Maximum length of a key for which notes have the usual layout, with texts 0.8 lines wide; longer
 * keys are broken. */
enum { SHORT_KEY = 12 };
static bool has_long_keys(const lra_table *t)
{
    char key[LRA_NOTE_KEY];
    for (int i = 0; i < t->n_notes; i++) {
        lra_note_split(t->note[i], key);
        if (strlen(key) > SHORT_KEY) return true;
    }
    return false;
}

/* Prints the notes: those with a key as a separate table, the others as a paragraph. */
static void print_notes(const lra_table *t, bool wide, FILE *out)
{
    char key[LRA_NOTE_KEY];
    bool keys = false, open = false, broken = !wide || has_long_keys(t);
    const char *columns = broken ? "p{0.24\\linewidth}p{0.7\\linewidth}" : "lp{0.8\\linewidth}";
    for (int i = 0; i < t->n_notes; i++) {
        const char *text = lra_note_split(t->note[i], key);
        if (!i || keys != (*key != 0)) {
            if (open) fputs(keys ? "\\end{tabular}\n" : "}\n", out);
            keys = *key != 0, open = true;
            fputs("\n\\smallskip\n", out);
            if (keys)
                fprintf(out, "\\begin{tabular}{@{}%s@{}}\n", columns);
            else
                fputs("\\parbox{\\linewidth}{\\footnotesize\n", out);
        } else if (!keys) {
            fputs("\\\\\n", out);
        }
        if (keys) fputs(broken ? "\\raggedright\\footnotesize " : "\\footnotesize ", out);
        print_tex(key, out);
        if (keys) fputs(" & \\footnotesize ", out);
        print_tex(text, out);
        if (keys) fputs(" \\\\\n", out);
    }
    if (open) fputs(keys ? "\\end{tabular}\n" : "}\n", out);
}

void lra_table_print_latex(lra_table *const *list, int i, FILE *out)
{
    const lra_table *t = list[i];
    lra_latex_layout l;
    lra_latex_layout_find(&l, t);
    fputs("% needs \\usepackage{booktabs}\n", out);
    for (int k = 0; k < t->verdict.n; k++) fprintf(out, "%% %s\n", t->verdict.sentence[k]);
    int n = l.n_parts * l.n_row_parts;
    for (int p = 0; p < n; p++) {
        print_head(list, i, &l, p, out);
        print_part(t, &l, p % l.n_parts, p / l.n_parts, out);
        if (p + 1 == n) print_notes(t, l.wide, out);
        fprintf(out, "\\end{table%s}\n", l.wide ? "*" : "");
    }
    lra_latex_layout_free(&l);
}
