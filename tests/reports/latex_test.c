/* Tables in LaTeX, checked without LaTeX: environments and braces are balanced, every row has the
 * columns of its tabular, and special characters in texts are escaped. */
#include "tests/fixtures/test.h"

#include <ctype.h>

#include "reports/print/table.h"
#include "tests/fixtures/golden.h"

enum { DEPTH = 16 };

/* State of the parser of a document. */
typedef struct {
    char environment[DEPTH][32];
    int depth, braces, line;
    int columns, cells; /* columns of the open tabular, and cells of its current row */
    bool math;
} tex_state;

/* Reads the text in braces at *at, including nested braces, and moves *at after it. */
static void group(const char **at, char *to, size_t size)
{
    int open = 0;
    size_t n = 0;
    do {
        if (**at == '{') open++;
        if (**at == '}') open--;
        if (n + 1 < size) to[n++] = **at;
        (*at)++;
    } while (open && **at);
    to[n] = 0;
}

/* Returns the number of columns of "{@{}lp{0.8\linewidth}@{}}": letters outside of inner braces. */
static int columns_of(const char *spec)
{
    int open = 0, n = 0;
    for (; *spec; spec++) {
        if (*spec == '{') open++;
        if (*spec == '}') open--;
        n += open == 1 && strchr("lrcp", *spec) != NULL;
    }
    return n;
}

static void begin(tex_state *s, const char **at)
{
    char name[32], spec[64];
    group(at, name, sizeof name);
    assert_true(s->depth < DEPTH);
    snprintf(s->environment[s->depth++], sizeof name, "%s", name);
    if (strcmp(name, "{tabular}") != 0) return;
    assert_int_equal(s->columns, 0);
    group(at, spec, sizeof spec);
    s->columns = columns_of(spec), s->cells = 1;
    assert_true(s->columns > 0);
}

static void end(tex_state *s, const char **at)
{
    char name[32];
    group(at, name, sizeof name);
    if (!s->depth || strcmp(s->environment[s->depth - 1], name) != 0)
        fail_msg("line %d: \\end%s closes %s", s->line, name,
                 s->depth ? s->environment[s->depth - 1] : "nothing");
    s->depth--;
    if (strcmp(name, "{tabular}") == 0) s->columns = 0;
}

/* Reads a command after its backslash. */
static void command(tex_state *s, const char **at)
{
    char name[32];
    size_t n = 0;
    if (!isalpha((unsigned char)**at)) {
        bool row = **at == '\\';
        (*at)++;
        if (row && s->columns && s->cells != s->columns)
            fail_msg("line %d: a row of %d cells in %d columns", s->line, s->cells, s->columns);
        if (row) s->cells = 1;
        return;
    }
    for (; isalpha((unsigned char)**at); (*at)++)
        if (n + 1 < sizeof name) name[n++] = **at;
    name[n] = 0;
    if (strcmp(name, "begin") == 0) begin(s, at);
    if (strcmp(name, "end") == 0) end(s, at);
}

static void check_document(const char *text)
{
    tex_state s = {.line = 1};
    for (const char *at = text; *at;) {
        char c = *at++;
        if (c == '\\') {
            command(&s, &at);
            continue;
        }
        if (c == '%')
            at += strcspn(at, "\n"); /* a comment; texts in tables have none, as checked below */
        if (c == '\n' && s.math) fail_msg("line %d: '$' is not closed", s.line);
        s.line += c == '\n';
        s.braces += (c == '{') - (c == '}');
        if (s.braces < 0) fail_msg("line %d: '}' without '{'", s.line);
        if (c == '$') s.math = !s.math;
        if (c == '&') s.cells++;
        if (c == '&' && !s.columns) fail_msg("line %d: '&' outside a table", s.line);
        if (c == '\t') fail_msg("line %d: a tab", s.line);
        if (strchr("#~", c) ||
            (strchr("_^<>", c) && !s.math && strncmp(at, "\\linewidth", 10) != 0))
            fail_msg("line %d: '%c' is not escaped", s.line, c);
    }
    if (s.depth) fail_msg("%s is not closed", s.environment[s.depth - 1]);
    assert_int_equal(s.braces, 0);
}

/* Returns the table as LaTeX; free it by lra_free_large(). */
static char *print(const lra_table *t)
{
    lra_err e = {{0}};
    FILE *f = fopen("latex_table", "w");
    assert_non_null(f);
    assert_int_equal(lra_table_print(t, "latex", f, &e), 0);
    fclose(f);
    return take_file("latex_table");
}

/* Checks that a table of one cell with the text `plain` contains the cell `tex`. */
static void expect_cell(const char *plain, const char *tex)
{
    static const char *const head[] = {"name", "cell"};
    lra_table *t = lra_table_new("a title", 2, head);
    lra_table_row(t);
    lra_table_cell(t, "row");
    lra_table_cell(t, "%s", plain);
    char *text = print(t), *expected = lra_format("row & %s \\\\\n", tex);
    if (!strstr(text, expected)) fail_msg("'%s' should become '%s' in\n%s", plain, tex, text);
    check_document(text);
    lra_free_large(text);
    lra_free(expected);
    lra_table_free(t);
}

TEST(cells)
{
    expect_cell("50 % of a_b & #3", "50 \\% of a\\_b \\& \\#3");
    expect_cell("a%b", "a\\%b");
    expect_cell("{x} ~ $5^2 \\n",
                "\\{x\\} \\textasciitilde{} \\$5\\textasciicircum{}2 \\textbackslash{}n");
    expect_cell("T <= 5 >= 4 < 3 > 2 +- 1", "T $\\le$ 5 $\\ge$ 4 $<$ 3 $>$ 2 $\\pm$ 1");
    expect_cell("-", "--");
    expect_cell("-1.5", "$-$1.5");
    expect_cell("-1.5 to -0.5", "$-$1.5 to $-$0.5");
    expect_cell("0.4-0.6", "0.4--0.6");
    expect_cell("path-x-256 (-3)", "path-x-256 ($-$3)");
    expect_cell("widest - narrowest", "widest $-$ narrowest");
    expect_cell("5e-05", "$5\\cdot10^{-5}$");
    expect_cell("1e-06", "$10^{-6}$");
    expect_cell("<1e-6", "$<$$10^{-6}$");
    expect_cell("2.5e+10 of sha1e-5", "$2.5\\cdot10^{10}$ of sha1e-5");
    expect_cell("1e+00", "$10^{0}$");
    expect_cell("R_1 but not R_12 or xR_1", "$R_1$ but not R\\_12 or xR\\_1");
    expect_cell("    95 % CI from", "\\enspace{}\\enspace{}95 \\% CI from");
    expect_cell("", "");
}

/* All special characters in every place that contains text. */
TEST(every_place)
{
    const char *nasty = "a_b 50 % & #1 {x} ~^ $ \\ <= > -3 R_1 1e-06";
    char heads[12][64];
    const char *head[12];
    for (int c = 0; c < 12; c++) {
        /* a column without a head is not shown */
        snprintf(heads[c], sizeof heads[c], "%s", c == 3 ? "" : nasty);
        head[c] = heads[c];
    }
    lra_table *t = lra_table_new(nasty, 12, head);
    for (int r = 0; r < 3; r++) {
        lra_table_row(t);
        for (int c = 0; c < (r == 2 ? 5 : 12); c++) lra_table_cell(t, "%s", nasty);
    }
    lra_table_note(t, "%s", nasty);
    lra_table_note(t, "%s", nasty);
    lra_table_note(t, "%s\t%s", nasty, nasty);
    lra_table_note(t, "key\ttext");
    lra_table_note(t, "%s", nasty);
    char *text = print(t);
    check_document(text);
    lra_free_large(text);
    lra_table_free(t);
}

/* LaTeX would take a star or a bracket after the end of a row as an argument. */
TEST(rows_begin_with_their_text)
{
    static const char *const head[] = {"[1cm]", "*"};
    lra_table *t = lra_table_new("[title]", 2, head);
    for (int r = 0; r < 2; r++) {
        lra_table_row(t);
        lra_table_cell(t, r ? "*" : "[1cm]");
        lra_table_cell(t, "%d", r);
    }
    char *text = print(t);
    assert_non_null(
        strstr(text, "\n{[}1cm] & {*} \\\\\n\\midrule\n{[}1cm] & 0 \\\\\n{*} & 1 \\\\\n"));
    check_document(text);
    lra_free_large(text);
    lra_table_free(t);
}

/* A column with the same text in all rows is moved to the caption; columns of measured numbers
 * remain even if they are equal, and so do columns with an empty cell. */
TEST(constants_move_to_the_caption)
{
    static const char *const head[] = {"model", "seeds", "value", "precision", "empty", "rank"};
    lra_table *t = lra_table_new("A title", 6, head);
    for (int r = 0; r < 3; r++) {
        lra_table_row(t);
        lra_table_cell(t, "row %d", r);
        lra_table_cell(t, r == 2 ? "-" : "3");
        lra_table_number(t, 0.5, 2);
        lra_table_cell(t, "bf16");
        lra_table_cell(t, "-");
        lra_table_cell(t, "%d", r);
    }
    char *text = print(t);
    assert_non_null(strstr(text, "\\caption{A title. In all rows: precision bf16}\n"
                                 "\\label{tab:a-title}\n"));
    assert_non_null(strstr(text, "\nmodel & seeds & value & rank \\\\\n"));
    assert_null(strstr(text, "resizebox"));
    check_document(text);
    lra_free_large(text);
    lra_table_free(t);
}

/* No text is smaller than 7 points: tables that are too wide or too long are divided, and every
 * part contains the names of its rows. */
TEST(large_tables_are_parted)
{
    enum { COLUMNS = 20, ROWS = 50 };
    const char *head[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) head[c] = c ? "12345.67" : "name";
    lra_table *list[2];
    for (int k = 0; k < 2; k++) {
        list[k] = lra_table_new("Large, of numbers; the same beginning", COLUMNS, head);
        for (int r = 0; r < ROWS; r++) {
            lra_table_row(list[k]);
            lra_table_cell(list[k], r % 10 ? "  part %d" : "row %d", r);
            for (int c = 1; c < COLUMNS; c++) lra_table_number(list[k], r + c / 100.0, 2);
        }
        lra_table_note(list[k], "key\tof table %d", k);
    }
    lra_err e = {{0}};
    FILE *f = fopen("latex_table", "w");
    assert_non_null(f);
    assert_int_equal(lra_tables_print(list, 2, "latex", f, &e), 0);
    fclose(f);
    char *text = take_file("latex_table");
    check_document(text);
    /* Rows of a group stay together: a part has 30 rows, although 36 would fit. */
    assert_non_null(strstr(text, "\\enspace{}part 29 & 29.01"));
    static const char *const labels[] = {"{tab:large-of-numbers}", "{tab:large-of-numbers-part-6}",
                                         "{tab:large-of-numbers-2}",
                                         "{tab:large-of-numbers-2-part-6}"};
    for (int i = 0; i < 4; i++)
        if (!strstr(text, labels[i])) fail_msg("no label %s in\n%s", labels[i], text);
    /* Notes follow the last part. */
    const char *notes[] = {strstr(text, "of table 0"), strstr(text, "of table 1")};
    assert_true(notes[0] && notes[1] && strstr(text, "{tab:large-of-numbers-part-6}") < notes[0] &&
                notes[0] < strstr(text, "{tab:large-of-numbers-2") &&
                strstr(text, "{tab:large-of-numbers-2-part-6}") < notes[1]);
    int heads = 0, row_30 = 0;
    for (const char *at = text; (at = strstr(at, "\nname & ")) != NULL; at++) heads++;
    for (const char *at = text; (at = strstr(at, "\\midrule\nrow 30 & ")) != NULL; at++) row_30++;
    /* two tables, each divided into 3 parts of columns and 2 of rows */
    assert_int_equal(heads, 12);
    assert_int_equal(row_30, 6);
    lra_free_large(text);
    for (int k = 0; k < 2; k++) lra_table_free(list[k]);
}

TEST(tables_of_the_reports)
{
    static const char *const names[] = {"ladder.latex", "listops.latex"};
    const char *source = getenv("LRA_SOURCE");
    for (int i = 0; i < 2; i++) {
        lra_err e = {{0}};
        size_t n;
        char *path = lra_format("%s/tests/golden/%s", source ? source : ".", names[i]);
        char *text = lra_file_read(path, 1 << 20, &n, &e);
        NOT_NULL(text);
        check_document(text);
        lra_free_large(text);
        lra_free(path);
    }
}
