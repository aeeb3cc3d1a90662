/* Tables in LaTeX, with booktabs: what has a meaning there is escaped, signs and powers of ten are set as such. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "reports/table_parts.h"

/* From so many columns on there is less space between them. */
enum { MANY_COLUMNS = 9 };

static const struct {
    const char *plain, *tex;
} signs[] = {{"<=", "$\\le$"},
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
             {"}", "\\}"}};
enum { N_SIGNS = sizeof signs / sizeof *signs };

static bool is_digit(char c)
{
    return isdigit((unsigned char)c) != 0;
}

/* "5e-05" at the start of a word: its powers of ten; returns how many bytes it took, 0: another thing. */
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

/* "R_1" as a word: a letter with an index; returns as print_power() does. */
static size_t print_index(const char *at, bool starts, FILE *out)
{
    bool index = starts && isalpha((unsigned char)*at) && at[1] == '_' && is_digit(at[2]) &&
                 !isalnum((unsigned char)at[3]) && at[3] != '_';
    if (index) fprintf(out, "$%.3s$", at);
    return index ? 3 : 0;
}

/* "-" alone is an empty cell, before a number a minus, between numbers a range, between words with blanks a minus. */
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

/* Blanks in front are an indent. */
static void print_cell(const char *text, FILE *out)
{
    size_t blanks = strspn(text, " ");
    for (size_t i = 0; i < blanks / 2; i++) fputs("\\enspace{}", out);
    print_tex(text + blanks, out);
}

/* A table that is wider than the text shrinks to it. */
static void print_head(const lra_table *t, int n, FILE *out)
{
    fputs("% needs \\usepackage{booktabs,graphicx}\n\\begin{table}\n\\centering\n\\caption{", out);
    print_tex(t->title, out);
    fputs("}\n\\smallskip\n\\small\n", out);
    if (n >= MANY_COLUMNS) fputs("\\setlength{\\tabcolsep}{3pt}\n", out);
    fputs("\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
          "\\begin{tabular}{l",
          out);
    for (int c = 1; c < n; c++) fputc('r', out);
    fputs("}\n\\toprule\n", out);
}

/* Notes with a key are a table of their own; others are a paragraph. */
static void print_notes(const lra_table *t, FILE *out)
{
    char key[LRA_NOTE_KEY];
    bool keys = false, open = false;
    for (int i = 0; i < t->n_notes; i++) {
        const char *text = lra_note_split(t->note[i], key);
        if (!i || keys != (*key != 0)) {
            if (open) fputs(keys ? "\\end{tabular}\n" : "}\n", out);
            keys = *key != 0, open = true;
            fputs("\n\\smallskip\n", out);
            fputs(keys ? "\\begin{tabular}{@{}lp{0.8\\linewidth}@{}}\n"
                       : "\\parbox{\\linewidth}{\\footnotesize\n",
                  out);
        } else if (!keys) {
            fputs("\\\\\n", out);
        }
        if (keys) fputs("\\footnotesize ", out);
        print_tex(key, out);
        if (keys) fputs(" & \\footnotesize ", out);
        print_tex(text, out);
        if (keys) fputs(" \\\\\n", out);
    }
    if (open) fputs(keys ? "\\end{tabular}\n" : "}\n", out);
}

void lra_table_print_latex(const lra_table *t, FILE *out)
{
    int column[LRA_TABLE_COLUMNS], n = lra_table_shown(t, column);
    print_head(t, n, out);
    for (int r = -1; r < t->n_rows; r++) {
        for (int c = 0; c < n; c++) {
            if (c) fputs(" & ", out);
            print_cell(lra_table_text(t, r, column[c]), out);
        }
        fputs(r < 0 ? " \\\\\n\\midrule\n" : " \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}}\n", out);
    print_notes(t, out);
    fputs("\\end{table}\n", out);
}
