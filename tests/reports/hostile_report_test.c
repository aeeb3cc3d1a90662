/* Results whose texts contain commands for gnuplot, spreadsheets, browsers, LaTeX and terminals.
 * Readers reject them; if a reader accepted one, no script, table or message would execute it. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/os/executable.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/process.h"
#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"
#include "reports/print/table.h"
#include "tests/fixtures/figures.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/golden.h"
#include "tests/fixtures/small_results.h"

/* The last texts contain control characters. */
static const char *const hostile[] = {"x'; system \"touch pwned\"; y='",
                                      "`touch pwned`",
                                      "\"`touch pwned`\" $(touch pwned)",
                                      "@pwned %n%s%d {/=200 x} ^{y} \\",
                                      "a}; system 'touch pwned' # {",
                                      "=cmd|'/c touch pwned'!A1",
                                      "x'\n!touch pwned\n'",
                                      "x\nsystem 'touch pwned'",
                                      "\033[2J\033]0;pwned\007"};
enum { HOSTILE = sizeof hostile / sizeof *hostile, WITHOUT_CONTROL = 6 };

static void change(char **text, const char *to)
{
    lra_free(*text);
    *text = lra_copy_text(to);
}

/* ---- readers --------------------------------------------------------------------------------- */

TEST(readers_refuse_them)
{
    static const struct {
        const char *what;
        size_t offset;
        bool name;
    } field[] = {{"task", offsetof(lra_result, task), true},
                 {"model", offsetof(lra_result, model), true},
                 {"preset", offsetof(lra_result, preset), true},
                 {"precision", offsetof(lra_result, precision), true},
                 {"fingerprint", offsetof(lra_result, fingerprint), true},
                 {"run", offsetof(lra_result, run), true},
                 {"/baseline", offsetof(lra_result, baseline_name), true},
                 {"/config", offsetof(lra_result, config), true},
                 {"/task_parameters", offsetof(lra_result, task_parameters), true},
                 {"ladder", offsetof(lra_result, ladder), false},
                 {"device", offsetof(lra_result, origin.device), false},
                 {"revision", offsetof(lra_result, origin.revision), false},
                 {"command", offsetof(lra_result, origin.command), false},
                 {"/deviations", offsetof(lra_result, deviations), false}};
    char *path = lra_format("%s/result.h5", folder);
    for (size_t i = 0; i < sizeof field / sizeof *field; i++)
        for (int h = field[i].name ? 0 : HOSTILE - 1; h < HOSTILE; h += 2) {
            lra_err e = {{0}};
            lra_result *r = small_result("small", 5, 0, 30);
            if (strcmp(field[i].what, "/baseline") == 0 && strpbrk(hostile[h], "/")) {
                lra_result_free(r); /* this text cannot be the name of a dataset */
                continue;
            }
            change((char **)(void *)((char *)r + field[i].offset), hostile[h]);
            assert_int_equal(lra_result_write(path, r, &e), 0);
            lra_result_free(r);
            r = lra_result_read(path, &e);
            if (r) fail_msg("%s: '%s' was read", field[i].what, hostile[h]);
            if (!strstr(e.msg, field[i].what) || !lra_printable(e.msg)) fail_msg("%s", e.msg);
        }
    lra_free(path);
}

TEST(readers_of_breakdowns_refuse_them)
{
    char *path = lra_format("%s/listops.h5", folder);
    for (int h = 0; h < HOSTILE; h++) {
        lra_listops *r = small_listops(5, 0, 3);
        char **const field[] = {&r->model, &r->config, &r->heuristic_name[0]};
        lra_err e = {{0}};
        change(field[h == 1 ? 2 : h % 2], hostile[h]);
        assert_int_equal(lra_listops_result_write(path, r, &e), 0);
        lra_listops_result_free(r);
        r = lra_listops_result_read(path, &e);
        if (r) fail_msg("'%s' was read", hostile[h]);
        if (!strstr(e.msg, "expected") || !lra_printable(e.msg)) fail_msg("%s", e.msg);
    }
    lra_free(path);
}

/* Texts in probe files: names of the run, units, arrays, numbers and their units of measure, and
 * settings. */
TEST(readers_of_probes_refuse_them)
{
    char *path = lra_format("%s/kernels.h5", folder);
    for (int h = 0; h < HOSTILE; h++)
        for (int what = 0; what < 6; what++) {
            lra_result *of = small_result("small", 5, 0, 30);
            lra_probe_result *r = lra_probe_result_new("kernels", of, &(lra_origin){0});
            lra_probe_unit *u = lra_probe_unit_new(r, "layer0.conv");
            lra_measurement f = lra_measurement_of("range.mean", 1);
            lra_err e = {{0}};
            lra_result_free(of);
            /* this text cannot be the name of a dataset */
            if (what == 2 && strpbrk(hostile[h], "/")) what++;
            if (what == 0) change(&r->model, hostile[h]);
            if (what == 1) change(&u->name, hostile[h]);
            if (what == 2) lra_probe_unit_array(u, hostile[h], 1, (int64_t[]){1}, (double[]){1});
            if (what == 3) snprintf(f.id, sizeof f.id, "%s", hostile[h]);
            if (what == 4) snprintf(f.unit, sizeof f.unit, "%s", hostile[h]);
            if (what == 5) lra_probe_result_set(r, hostile[h], "1");
            lra_probe_unit_measurements(u, 1, &f);
            assert_int_equal(lra_probe_result_write(path, r, &e), 0);
            lra_probe_result_free(r);
            r = lra_probe_result_read(path, "kernels", &e);
            if (r) fail_msg("%d: '%s' was read", what, hostile[h]);
            if (!lra_printable(e.msg)) fail_msg("%s", e.msg);
        }
    lra_free(path);
}

/* Measurements with a unit that was not declared, or outside of their range, are rejected;
 * identifiers of other versions are accepted. */
TEST(measurements_are_those_declared)
{
    static const struct {
        const char *id, *unit;
        double value;
        const char *why; /* expected message; NULL: the file is read */
    } known[] = {{"range.mean", "tokens", 3, NULL},
                 {"range.mean.px", "pixels", 3, NULL},
                 {"of.another-version", "furlongs", -3, NULL},
                 {"range.mean", "bits", 3, "'range.mean' has the unit 'bits', expected 'tokens'"},
                 {"self", "1", 1.5, "'self' is 1.5, expected 0 to 1"},
                 {"range.mean", "tokens", -1, "'range.mean' is -1, expected 0 to T"}};
    char *path = lra_format("%s/kernels.h5", folder);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_result *of = small_result("small", 5, 0, 30);
        lra_probe_result *r = lra_probe_result_new("kernels", of, &(lra_origin){0});
        lra_measurement f = {.value = known[i].value, .lo = NAN, .hi = NAN, .seeds = 1};
        lra_err e = {{0}};
        lra_result_free(of);
        snprintf(f.id, sizeof f.id, "%s", known[i].id);
        snprintf(f.unit, sizeof f.unit, "%s", known[i].unit);
        lra_probe_unit_measurements(lra_probe_unit_new(r, "layer0.conv"), 1, &f);
        assert_int_equal(lra_probe_result_write(path, r, &e), 0);
        lra_probe_result_free(r);
        r = lra_probe_result_read(path, "kernels", &e);
        if (!r != !!known[i].why || (!r && !strstr(e.msg, known[i].why)))
            fail_msg("%s: '%s'", known[i].id, r ? "was read" : e.msg);
        lra_probe_result_free(r);
    }
    lra_free(path);
}

/* Curves without points, or with fewer or more points than their measurements. */
TEST(curves_have_their_points)
{
    static const struct {
        int points, rows, columns;
    } shape[] = {{0, 4, 3}, {4, 2, 3}, {2, 4, 3}, {4, 4, 1}, {4, 4, 3}};
    static const char *const told[] = {"gain", "value", "kl", "key"};
    const double number[16] = {1};
    char *path = lra_format("%s/influence.h5", folder);
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 4; k++) {
            lra_result *of = small_result("small", 5, 0, 30);
            lra_probe_result *r = lra_probe_result_new("influence", of, &(lra_origin){0});
            lra_probe_unit *u = lra_probe_unit_new(r, "cut");
            lra_err e = {{0}};
            lra_result_free(of);
            if (shape[i].points)
                lra_probe_unit_array(u, "x", 1, (int64_t[]){shape[i].points}, number);
            lra_probe_unit_array(u, told[k], 2, (int64_t[]){shape[i].rows, shape[i].columns},
                                 number);
            assert_int_equal(lra_probe_result_write(path, r, &e), 0);
            lra_probe_result_free(r);
            r = lra_probe_result_read(path, "influence", &e);
            assert_int_equal(r != NULL, i == 4);
            if (!r) assert_non_null(strstr(e.msg, "three numbers for each point of 'x'"));
            lra_probe_result_free(r);
        }
    lra_free(path);
}

/* A table has a row for every head. */
TEST(every_head_has_its_row)
{
    lra_result *of = small_result("small", 5, 0, 30);
    lra_probe_result *r = lra_probe_result_new("attention", of, &(lra_origin){0});
    lra_report_input in = {.n_probes = 1, .probes = &r};
    lra_err e = {{0}};
    enum { HEADS = 515 };
    static char text[1 << 18];
    lra_result_free(of);
    for (int i = 0; i < HEADS; i++) {
        char name[32];
        snprintf(name, sizeof name, "layer%d.head%d", i / 16, i % 16);
        lra_measurement found[] = {lra_measurement_of("range.mean", 1),
                                   lra_measurement_of("head.kind", 3)};
        lra_probe_unit_measurements(lra_probe_unit_new(r, name), 2, found);
    }
    FILE *f = tmpfile();
    assert_non_null(f);
    OK(lra_report_print(&lra_table_attention, f, &in, "text", &e));
    rewind(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    const char *last = strstr(text, "layer32.head2");
    assert_non_null(last); /* each head occurs in two tables: distances, and kinds */
    assert_non_null(strstr(last + 1, "layer32.head2"));
    lra_probe_result_free(r);
}

/* ---- figures --------------------------------------------------------------------------------- */

/* Returns true if the word occurs outside of single quotes and comments in a script, where gnuplot
 * would execute it. */
static bool is_outside(const char *script, const char *word)
{
    bool quoted = false;
    for (const char *at = script; *at; at++) {
        if (*at == '\n') assert_false(quoted);
        if (!quoted && *at == '#') at += strcspn(at, "\n") - 1;
        if (*at == '\'')
            quoted = !quoted;
        else if (!quoted && strncmp(at, word, strlen(word)) == 0)
            return true;
    }
    return false;
}

/* Draws a figure with gnuplot, if it is installed, in a folder in which the commands would create a
 * file. */
static void draw(const char *name)
{
    char *script = lra_format("%s.gp", name), *said = NULL, *pwned = lra_format("%s/pwned", folder);
    char *argv[] = {"gnuplot", "-d", "-c", script, "svg", "-", NULL};
    lra_err e = {{0}};
    lra_text image = {0};
    char *gnuplot = lra_process_find("gnuplot");
    if (gnuplot) {
        int status = lra_process_run_in(folder, argv, 1 << 20, &image, &said, &e);
        bool gaps = status == 0 &&
                    /* labels without rows leave gaps in a confusion matrix, about which gnuplot
                     * warns */
                    strstr(said, "matrix contains missing");
        if (status != 0 || (*said && !gaps)) fail_msg("exit %d: %s", status, said ? said : e.msg);
        assert_non_null(strstr(image.s, "</svg>"));
        lra_free(said);
    }
    assert_false(lra_file_exists(pwned));
    lra_text_free(&image);
    lra_free(gnuplot);
    lra_free(script);
    lra_free(pwned);
}

/* A control character is rejected if the figure shows the text; other characters are shown. */
static void expect_harmless(const lra_report_figure *f, const lra_report_input *in, int h)
{
    lra_err e = {{0}};
    int rc = write_figure(f, folder, in, &e);
    if (rc != 0) {
        if (h < WITHOUT_CONTROL || !lra_printable(e.msg)) fail_msg("%s", e.msg);
        if (!strstr(e.msg, "holds a control character")) fail_msg("%s", e.msg);
        return;
    }
    char *path = lra_format("%s/%s.gp", folder, f->name), *script = take_file(path);
    bool shown = h >= WITHOUT_CONTROL && strstr(script, "pwned");
    if (shown || is_outside(script, "pwned") || strstr(script, "cd '")) fail_msg("%s", script);
    assert_int_equal(lra_file_write(path, script, strlen(script), &e), 0);
    lra_free_large(script);
    lra_free(path);
    if (h < WITHOUT_CONTROL) draw(f->name);
}

TEST(no_figure_of_results_carries_them_out)
{
    for (int h = 0; h < HOSTILE; h++)
        for (int field = h % 2; field < 5; field += 2) {
            lra_result *list[4];
            for (int i = 0; i < 4; i++) {
                list[i] = small_result("small", i % 2 ? 5 : 9, 0, 20 + 5 * i);
                char **const text[] = {&list[i]->task, &list[i]->preset, &list[i]->model,
                                       &list[i]->precision};
                if (field < 4) change(text[field], hostile[h]);
                lra_free(list[i]->task_parameters);
                list[i]->task_parameters = lra_format(field < 4 ? "distance=%d%s\n"
                                                                : "distance=%d_%s\n",
                                                      i < 2 ? 4 : 8, field < 4 ? "" : hostile[h]);
                list[i]->fingerprint[0] = i < 2 ? 'a' : 'b';
            }
            lra_report_input in = {.list = list, .n = 4};
            /* A setting of a sweep is a single word: texts with blanks cannot be one. */
            if (field < 4 || !strpbrk(hostile[h], " \n"))
                expect_harmless(&lra_figure_sweep, &in, h);
            expect_harmless(&lra_figure_loc_t1, &in, h);
            for (int i = 0; i < 4; i++) lra_result_free(list[i]);
        }
}

TEST(no_figure_of_breakdowns_carries_them_out)
{
    static const lra_report_figure *const figures[] = {&lra_figure_loc_1, &lra_figure_loc_2,
                                                       &lra_figure_loc_3};
    for (int h = 0; h < HOSTILE; h++) {
        lra_listops *list[] = {small_listops(5, 0, 3), small_listops(0, 0, 8)};
        for (int i = 0; i < 2; i++) change(&list[i]->model, hostile[h]);
        for (int i = 0; i < 2; i++) change(&list[i]->preset, hostile[h]);
        lra_report_input in = {.listops = list, .n_listops = 2};
        expect_harmless(figures[h % 3], &in, h);
        for (int i = 0; i < 2; i++) lra_listops_result_free(list[i]);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Returns a table that contains the text in every place; free it by lra_free_large(). */
static char *print(const char *text, const char *format)
{
    const char *head[] = {"name", text};
    lra_err e = {{0}};
    lra_table *t = lra_table_new(text, 2, head);
    for (int r = 0; r < 2; r++) {
        lra_table_row(t);
        lra_table_cell(t, "%s", text);
        lra_table_cell(t, "%s%d", text, r);
    }
    lra_table_note(t, "%s", text);
    lra_table_note(t, "%s\t%s", text, text);
    lra_table_fact_text(t, "fact", text);
    char *path = lra_format("%s/table", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(lra_table_print(t, format, f, &e), 0);
    fclose(f);
    lra_table_free(t);
    char *printed = take_file(path);
    lra_free(path);
    return printed;
}

/* Single quotes are doubled everywhere; in labels of ticks percent signs are doubled as well. */
TEST(quotes_are_doubled)
{
    lra_text t = {0};
    lra_plot_string(&t, "it's 5 %");
    assert_string_equal(t.s, "'it''s 5 %'");
    lra_text_free(&t);
    lra_plot_tick(&t, "it's 5 %", 2);
    assert_string_equal(t.s, "'it''s 5 %%' 2");
    lra_text_free(&t);
}

TEST(no_table_emits_control_characters)
{
    static const char *const formats[] = {"text", "markdown", "latex", "csv", "json"};
    for (int h = 0; h < HOSTILE; h++)
        for (int f = 0; f < 5; f++) {
            char *text = print(hostile[h], formats[f]);
            for (char *at = text; *at; at++)
                if (*at == '\n') *at = ' ';
            if (!lra_printable(text)) fail_msg("%s: %s", formats[f], text);
            lra_free_large(text);
        }
    char *c1 = print("\xc2\x9b"
                     "2J \xff",
                     "text"); /* CSI as a single character, and bytes that are not UTF-8 */
    assert_non_null(strstr(c1, "??2J ?"));
    lra_free_large(c1);
}

/* Markdown shows HTML tags as text. */
TEST(no_cell_is_a_tag)
{
    char *text = print("<img src=x onerror=alert(1)>", "md");
    if (!strstr(text, "\\<img src=x")) fail_msg("%s", text);
    lra_free_large(text);
}

/* A result whose chance or loss no run can have is neither written nor read. */
TEST(no_chance_or_loss_that_is_none)
{
    char *path = lra_format("%s/result.h5", folder);
    for (int k = 0; k < 3; k++) {
        const double loss[] = {INFINITY, -1, -INFINITY};
        lra_err e = {{0}};
        lra_result *r = small_result("small", 5, 0, 30);
        r->n_train = 10, r->train_value = 0.5, r->train_loss = loss[k];
        assert_int_equal(lra_result_write(path, r, &e), LRA_FAILED);
        assert_non_null(strstr(e.msg, "train_loss"));
        r->train_loss = 0.5;
        r->history[LRA_HISTORY_VAL_LOSS] = -1;
        assert_int_equal(lra_result_write(path, r, &e), LRA_FAILED);
        assert_non_null(strstr(e.msg, "epoch 1 has a loss of -1"));
        lra_result_free(r);
    }
    lra_free(path);
}

TEST(no_cell_is_a_formula)
{
    static const struct {
        const char *text, *csv;
    } known[] = {{"=1+1", "\n'=1+1,"},
                 {"+1", "\n'+1,"},
                 {"-1+cmd|' /c calc'!A1", "\n'-1+cmd|' /c calc'!A1,"},
                 {"@SUM(A1,A2)", "\n\"'@SUM(A1,A2)\","},
                 {"+1+1", "\n'+1+1,"},
                 {" =1+1", "\n' =1+1,"},
                 {"a=1", "\na=1,"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *text = print(known[i].text, "csv");
        if (!strstr(text, known[i].csv)) fail_msg("%s", text);
        lra_free_large(text);
    }
    static const char *const head[] = {"x"};
    lra_err e = {{0}};
    lra_table *t = lra_table_new("numbers stay numbers", 1, head);
    lra_table_row(t);
    lra_table_number(t, -1.5, 1);
    char *path = lra_format("%s/table", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(lra_table_print(t, "csv", f, &e), 0);
    fclose(f);
    char *text = take_file(path);
    assert_string_equal(text, "x\n-1.5\n");
    lra_free_large(text);
    lra_free(path);
    lra_table_free(t);
}

TEST(markdown_is_text)
{
    static const struct {
        const char *text, *markdown;
    } known[] = {{"<script>alert(1)</script>", "| \\<script>alert(1)\\</script> |"},
                 {"[a](javascript:b)", "| \\[a\\](javascript:b) |"},
                 {"`a` | *b* _c_ \\", "| \\`a\\` \\| \\*b\\* \\_c\\_ \\\\ |"},
                 {"R_1 <= 5 & x > 3", "| R_1 <= 5 & x > 3 |"},
                 {"&lt; $x$ ~~d~~", "| \\&lt; \\$x\\$ \\~\\~d\\~\\~ |"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char *text = print(known[i].text, "markdown");
        if (!strstr(text, known[i].markdown)) fail_msg("%s", text);
        lra_free_large(text);
    }
}

GROUP(make_folder, remove_folder);
