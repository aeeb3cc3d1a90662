/* Verdicts of tables of results say no more than the numbers in the table. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"
#include "reports/verdict/verdict_results.h"
#include "tests/fixtures/synthetic_result.h"

enum { MOST = 64 };

/* A table of generated results. */
typedef struct {
    lra_result *list[MOST];
    int n;
} results;

static lra_result *add(results *all, int kernel, int seed, double share)
{
    return all->list[all->n++] = made_result(kernel, kernel, seed, share);
}

static lra_verdict verdict_of(const results *all)
{
    lra_verdict v = {0};
    lra_result_group *groups;
    int n = lra_results_group(all->list, all->n, &groups);
    lra_verdict_of_results(n, groups, &v);
    lra_result_groups_free(groups, n);
    return v;
}

static void close_results(results *all, lra_verdict *v)
{
    for (int i = 0; i < all->n; i++) lra_result_free(all->list[i]);
    lra_verdict_free(v);
}

static void says(const lra_verdict *v, int i, const char *text)
{
    if (i >= v->n) fail_msg("no sentence %d, expected '%s'", i, text);
    if (!strstr(v->sentence[i], text)) fail_msg("'%s' is not in '%s'", text, v->sentence[i]);
}

static void never_says(const lra_verdict *v, const char *text)
{
    for (int i = 0; i < v->n; i++)
        if (strstr(v->sentence[i], text)) fail_msg("'%s' is in '%s'", text, v->sentence[i]);
}

TEST(one_row_of_one_seed)
{
    results all = {.n = 0};
    add(&all, 5, 0, 0.5);
    lra_verdict v = verdict_of(&all);
    says(&v, 0, "Resconv K = 5 on listops has accuracy ");
    says(&v, 0, "chance (the null value) is 25.00 %: it is significantly better.");
    says(&v, 1, "It is measured on one seed");
    assert_int_equal(v.n, 2);
    close_results(&all, &v);
}

/* If no model learns, no row is called the best. */
TEST(at_chance)
{
    results all = {.n = 0};
    for (int i = 0; i < 9; i++) add(&all, 3 + 2 * (i / 3), i % 3, 0.25);
    lra_verdict v = verdict_of(&all);
    says(&v, 0, "0 of 3 rows are significantly better than chance, the null value (");
    says(&v, 0, "difference not significant: resconv K = 3, resconv K = 5 and resconv K = 7.");
    never_says(&v, "best");
    never_says(&v, "differ in size");
    close_results(&all, &v);
    all.n = 0;
    for (int i = 0; i < 4; i++) add(&all, 3 + 2 * (i / 2), i % 2, i < 2 ? 0.1 : 0.5);
    v = verdict_of(&all);
    says(&v, 0, "1 of 2 rows are significantly better than chance");
    says(&v, 0, "; significantly worse: resconv K = 3.");
    close_results(&all, &v);
}

TEST(a_better_row)
{
    results all = {.n = 0};
    for (int i = 0; i < 9; i++) add(&all, 3 + 2 * (i / 3), i % 3, i / 3 == 1 ? 0.6 : 0.5);
    lra_verdict v = verdict_of(&all);
    says(&v, 0, "3 of 3 rows are significantly better than chance");
    says(&v, 1, "On listops the best of 3 rows is resconv K = 5, ");
    never_says(&v, "not significant");
    says(&v, 2, "The models differ in size (3000 to 7000 parameters)");
    close_results(&all, &v);
    all.n = 0;
    for (int i = 0; i < 4; i++) add(&all, 3 + 2 * (i / 2), i % 2, 0.4 + 0.1 * (i / 2));
    all.list[3]->unsealed = true;
    v = verdict_of(&all);
    says(&v, 2, "1 of 2 rows is from files without a seal");
    close_results(&all, &v);
}

/* Returns the share of 400 tables of equal models in which the verdict calls the best row
 * better. */
static int named(int rows, int seeds)
{
    enum { TABLES = 400 };
    int found = 0;
    for (int k = 0; k < TABLES; k++) {
        results all = {.n = 0};
        for (int i = 0; i < rows * seeds; i++)
            add(&all, 3 + 2 * (i / seeds), 1000 * k + i % seeds, 0.5)->n = 400;
        lra_verdict v = verdict_of(&all);
        says(&v, 1, " rows is resconv K = ");
        found += !strstr(v.sentence[1], "not significant");
        close_results(&all, &v);
    }
    print_message("%d rows, %d seeds: %d of %d tables of equal models name a better one\n", rows,
                  seeds, found, TABLES);
    return found;
}

/* At most 5 % plus 3 standard errors of 400 tables. */
TEST(equal_rows)
{
    const int most = (int)(400 * (0.05 + 3 * sqrt(0.05 * 0.95 / 400)));
    assert_true(named(2, 1) <= most);
    assert_true(named(6, 1) <= most);
    assert_true(named(6, 2) <= most);
}

/* Rows with different test sets are not compared. */
TEST(two_tasks)
{
    results all = {.n = 0};
    for (int i = 0; i < 4; i++) add(&all, 5, i % 2, i < 2 ? 0.4 : 0.6);
    for (int i = 2; i < 4; i++) {
        lra_result *r = all.list[i];
        lra_free(r->task);
        r->task = lra_copy_text("text"), r->fingerprint[0] = 'f';
    }
    lra_verdict v = verdict_of(&all);
    says(&v, 0, "2 of 2 rows are significantly better than chance");
    never_says(&v, "best");
    close_results(&all, &v);
    all.n = 0;
    for (int i = 0; i < 8; i++) {
        lra_result *r = add(&all, 3 + 2 * (i / 2 % 2), i % 2, i / 2 == 1 ? 0.7 : 0.5);
        if (i < 4) continue;
        lra_free(r->task);
        r->task = lra_copy_text("text"), r->fingerprint[0] = 'f';
    }
    v = verdict_of(&all);
    says(&v, 1, "On 1 of the 2 test sets with several rows");
    says(&v, 1, ": listops (resconv K = 5).");
    close_results(&all, &v);
}

TEST(published)
{
    results all = {.n = 0};
    lra_result *r = add(&all, 5, 0, 0.5);
    const lra_published_cell cells[] = {{r, 5, 3, {0.5, 0.48, 0.52}, 0.49},
                                        {r, 7, 3, {0.5, 0.48, 0.52}, 0.6},
                                        {r, 9, 3, {0.5, 0.48, 0.52}, NAN},
                                        {r, 11, 3, {0.5, NAN, NAN}, 0.5}};
    lra_verdict v = {0};
    lra_verdict_of_published(4, cells, &v);
    says(&v, 0,
         "Of 4 measured cells the 95 % intervals of 1 contain the published value, 0 are "
         "above it and 1 below; 1 without a published value; 1 without an interval.");
    says(&v, 1,
         "The largest difference, of K = 7 on listops, is -10.00 points (-12.00 to -8.00, "
         "the published value taken as exact).");
    says(&v, 2, "Published values have neither seeds nor intervals");
    lra_verdict_free(&v);
    lra_free(r->deviations);
    r->deviations = lra_copy_text("made up\n");
    lra_verdict_of_published(1, cells + 2, &v);
    says(&v, 0, "K = 9 on listops has 50.00 % (48.00 to 52.00); no value is published.");
    says(&v, 1, "It is measured with deviations");
    close_results(&all, &v);
}

/* Every table with a verdict shows it, in each format that has a place for verdicts. */
TEST(tables_show_them)
{
    static const lra_report_table *const table[] = {&lra_table_tasks, &lra_table_models};
    static const char *const format[] = {"text", "markdown", "json"};
    results all = {.n = 0};
    for (int i = 0; i < 4; i++) add(&all, 3 + 2 * (i / 2), i % 2, 0.4 + 0.1 * (i / 2));
    lra_report_input in = {.list = all.list, .n = all.n};
    for (int k = 0; k < 6; k++) {
        char *text = NULL;
        size_t size;
        lra_err e = {{0}};
        FILE *f = open_memstream(&text, &size);
        assert_int_equal(lra_report_print(table[k / 3], f, &in, format[k % 3], &e), 0);
        fclose(f);
        if (!strstr(text, "2 of 2 rows are significantly better than chance")) fail_msg("%s", text);
        lra_free(text);
    }
    close_results(&all, &(lra_verdict){0});
}

/* A brief table leaves out details and says how many lines are left out. */
TEST(brief_tables)
{
    static const char *const head[] = {"model"};
    lra_table *t = lra_table_new("made up", 1, head), *other = lra_table_new("other", 1, head);
    lra_table *list[] = {t, other};
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    lra_table_note(t, "first\t1");
    lra_table_note(t, "radius\t2");
    lra_table_note(t, "radius of it\t3");
    lra_table_note(t, "last\t4");
    lra_table_note(other, "first\t5");
    lra_table_detail(t, "radius");
    lra_table_detail(t, "missing");
    lra_tables_brief(list, 2);
    lra_tables_brief(list, 2); /* the second call changes nothing */
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(lra_tables_print(list, 2, "text", f, &e), 0);
    fclose(f);
    assert_non_null(strstr(text, "first         1\nradius of it  3\nlast          4\n"
                                 "more          1 more line of statistics: --verbose\n"));
    assert_non_null(strstr(text, "\nfirst  5\n"));
    lra_free(text);
    lra_table_free(t);
    lra_table_free(other);
}

/* A tidy table has the verdicts of the tables from which it is made. */
TEST(verdicts_of_parts)
{
    static const char *const head[] = {"model"};
    lra_table *t = lra_table_new("tidy", 1, head);
    for (int i = 0; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "part %d", i);
        lra_table *part = lra_table_new(name, 1, head);
        if (i != 1) lra_verdict_add(&part->verdict, "of %s.", name);
        lra_table_take_verdict(t, part);
        assert_int_equal(part->verdict.n, 0);
        lra_table_free(part);
    }
    char *text = NULL;
    size_t size;
    lra_err e = {{0}};
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(lra_table_print(t, "json", f, &e), 0);
    fclose(f);
    if (!strstr(text, "\"table\": \"part 0\",\n     \"verdict\": [\n      \"Of part 0.\"") ||
        !strstr(text, "\"Of part 2.\"") || strstr(text, "part 1"))
        fail_msg("%s", text);
    lra_free(text);
    lra_table_free(t);
}
