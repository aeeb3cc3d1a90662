/* ListOps: worked examples, statistics of the generator, files. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/listops/file.h"
#include "datasets/listops/listops.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "tests/fixtures/real_data.h"
#include "tests/fixtures/refused_parameters.h"

static int value_of(const char *expression, int64_t depth, bool drop)
{
    lra_sequences rows = {0};
    lra_err e = {{0}};
    char *line = lra_format("%s\t0\n", expression);
    assert_int_equal(lra_listops_parse(line, strlen(line), "x", false, &rows, &e), 0);
    int value = lra_listops_value(rows.token, rows.start[1], depth, drop, &e);
    lra_sequences_free(&rows);
    lra_free(line);
    return value;
}

TEST(worked_examples)
{
    const char *nested = "[MAX 4 3 [MIN 2 3 ] 1 0 [MED 1 5 8 9 2 ] ]";
    assert_int_equal(value_of(nested, LISTOPS_WHOLE, false), 5);
    assert_int_equal(value_of("[MED 1 2 ]", LISTOPS_WHOLE, false), 1);
    assert_int_equal(value_of("[SM 9 9 9 ]", LISTOPS_WHOLE, false), 7);
    assert_int_equal(value_of("7", LISTOPS_WHOLE, false), 7);
    /* the most frequent label of the root operator is used */
    assert_int_equal(value_of(nested, 1, false), 9);
    /* an inner MIN counts as 0, an inner MED as 4 */
    assert_int_equal(value_of(nested, 2, false), 4);
    assert_int_equal(value_of(nested, 2, true), 4); /* here, inner operators are left out */
    assert_int_equal(value_of("[SM [MAX 1 2 ] 3 ]", 2, false), 2);
    assert_int_equal(value_of("[SM [MAX 1 2 ] 3 ]", 2, true), 3);
}

/* Frequencies of the labels 0 to 9 in 10^6 trees whose root is MIN, MAX, MED, SM. */
static const double expected[4][10] = {
    {.564, .216, .106, .055, .029, .015, .008, .004, .002, .001},
    {.001, .002, .004, .009, .016, .030, .055, .104, .213, .566},
    {.011, .043, .101, .168, .214, .202, .143, .079, .033, .007},
    {.100, .100, .100, .101, .099, .100, .101, .100, .100, .099}};

/* Accuracy of the shallow evaluators A and B for the depths 1 to 5, from the same trees. */
static const double shallow[2][5] = {{.360, .565, .719, .821, .888},
                                     {.360, .484, .673, .795, .871}};

TEST(benchmark_statistics)
{
    enum { N = 8000 };
    const lra_listops_shape shape = {10, 10, 500, 2000, 0.25, false};
    uint16_t token[2002];
    double count[5][10] = {{0}}, n_root[5] = {0}, length = 0, right[2][6] = {{0}};
    for (int i = 0; i < N; i++) {
        lra_err e;
        lra_rng rng = lra_rng_new(1, 2, (uint64_t)i);
        int64_t n = lra_listops_draw(&shape, &rng, token);
        int label = lra_listops_value(token, n, LISTOPS_WHOLE, false, &e);
        int root = lra_listops_root(token);
        count[root][label]++, n_root[root]++;
        length += (double)n / N;
        for (int drop = 0; drop < 2; drop++)
            for (int depth = 1; depth <= 5; depth++)
                right[drop][depth] += lra_listops_value(token, n, depth, drop, &e) == label;
        assert_true(n > 500 && n < 2000);
    }
    assert_true(n_root[4] == 0);
    for (int op = 0; op < 4; op++) {
        assert_true(fabs(n_root[op] / N - 0.25) < 4 * sqrt(0.25 * 0.75 / N));
        for (int k = 0; k < 10; k++) {
            double p = expected[op][k], se = sqrt(p * (1 - p) / n_root[op]);
            assert_true(fabs(count[op][k] / n_root[op] - p) < 4.5 * se + 0.001);
        }
    }
    assert_true(fabs(length - 1034.7) < 4 * 400 / sqrt(N));
    for (int drop = 0; drop < 2; drop++)
        for (int depth = 1; depth <= 5; depth++) {
            double p = shallow[drop][depth - 1];
            assert_true(fabs(right[drop][depth] / N - p) < 4 * sqrt(p * (1 - p) / N) + 0.001);
        }
}

static void measures(const char *expression, int root, int arity, int depth, int length)
{
    lra_sequences rows = {0};
    lra_err e = {{0}};
    char *line = lra_format("%s\t0\n", expression);
    assert_int_equal(lra_listops_parse(line, strlen(line), "x", false, &rows, &e), 0);
    lra_listops_facts f = lra_listops_row_facts(rows.token, rows.start[1]);
    assert_true(f.root == root && f.arity == arity && f.depth == depth && f.length == length);
    lra_sequences_free(&rows);
    lra_free(line);
}

TEST(facts_of_rows)
{
    measures("[MAX 4 3 [MIN 2 3 ] 1 0 [MED 1 5 8 9 2 ] ]", 1, 6, 3, 17);
    measures("[SM [MIN [MED 1 2 ] 3 ] [MAX 1 2 ] ]", 3, 2, 4, 13);
    measures("7", 4, 0, 1, 1);
}

/* Label frequencies of the generator with the benchmark's parameters: the table in the header of
 * the task. */
TEST(expected_labels)
{
    enum { ROWS = 4000 };
    int64_t count[LISTOPS_ROOTS][LISTOPS_LABELS], total[LISTOPS_ROOTS] = {0};
    lra_err e = {{0}};
    lra_listops_shape s;
    lra_config *c = lra_task_config(&lra_task_listops, "paper", &e);
    assert_int_equal(lra_listops_shape_read(c, &s, &e), 0);
    lra_listops_expected(&s, 5, ROWS, count[0]);
    for (int r = 0; r < LISTOPS_ROOTS; r++)
        for (int k = 0; k < LISTOPS_LABELS; k++) total[r] += count[r][k];
    assert_int_equal(total[0] + total[1] + total[2] + total[3] + total[4], ROWS);
    /* frequencies of MIN = 0, MAX = 9, MED = 4 and any label of SM: within five standard errors for
     * a thousand rows */
    const double known[] = {0.564, 0.566, 0.214, 0.1};
    const int label[] = {0, 9, 4, 3};
    for (int r = 0; r < 4; r++) {
        double p = known[r], found = (double)count[r][label[r]] / (double)total[r];
        assert_true(fabs(found - p) < 5 * sqrt(p * (1 - p) / (double)total[r]));
    }
    lra_config_free(c);
}

TEST(shuffling_keeps_label_and_length)
{
    const lra_listops_shape shape = {5, 6, 20, 200, 0.4, true};
    uint16_t token[202], other[202];
    int changed = 0;
    for (int i = 0; i < 200; i++) {
        lra_err e;
        lra_rng rng = lra_rng_new(3, 4, (uint64_t)i);
        int64_t n = lra_listops_draw(&shape, &rng, token);
        memcpy(other, token, sizeof token);
        lra_listops_shuffle(&rng, other, n);
        changed += memcmp(other, token, (size_t)n * sizeof *token) != 0;
        assert_int_equal(lra_listops_value(token, n, LISTOPS_WHOLE, false, &e),
                         lra_listops_value(other, n, LISTOPS_WHOLE, false, &e));
    }
    assert_true(changed > 150);
}

static void refuses(const char *text, const char *message)
{
    lra_sequences rows = {0};
    lra_err e = {{0}};
    assert_int_equal(lra_listops_parse(text, strlen(text), "x.tsv", true, &rows, &e), -1);
    size_t n = strlen(message);
    assert_memory_equal(e.msg, message, n);
    assert_string_equal(e.msg + n, strstr(message, "no rows") ? "" : "; wrong rows: 1 of 1");
    lra_sequences_free(&rows);
}

TEST(bad_files)
{
    refuses("Source\tTarget\r\n[MAXX 1 2 ]\t2\r\n",
            "'x.tsv' line 2: unknown token '[MAXX'; expected one of [MAX [MIN [MED [SM ] 0-9");
    refuses("[MAX 1 2 ]\n", "'x.tsv' line 1 has 1 column, expected 2");
    refuses("[MAX 1 2 ]\t2\t3\n", "'x.tsv' line 1 has more than 2 columns, expected 2");
    refuses("[MAX 1 2 ]\t12\n", "'x.tsv' line 1: label is '12', expected 0 to 9");
    refuses("[MAX 1 2 ]\t1\n", "'x.tsv' line 1: label is 1, but the expression evaluates to 2");
    refuses("[MAX 1 2\t2\n", "'x.tsv' line 1: the expression is not closed");
    refuses("[MAX 1 2 ] 3\t2\n", "'x.tsv' line 1: text after the expression");
    refuses("[MAX ]\t9\n", "'x.tsv' line 1: operator [MAX has no arguments");
    refuses("]\t9\n", "'x.tsv' line 1: the expression is not closed");
    refuses("", "'x.tsv' contains no rows");
    refuses("Source\tTarget\n", "'x.tsv' contains no rows");
}

/* Invalid rows are counted, and the rows after them are read; a byte order mark and blank lines at
 * the end are not rows. */
TEST(wrong_rows_are_counted)
{
    static const char text[] = "\xEF\xBB\xBFSource\tTarget\r\n"
                               "[MAX 1 2 ]\t2\r\n[MAX 1 2 ]\t1\r\n\r\n[MIN 3 4 ]\t3\r\n\r\n \r\n";
    lra_sequences rows = {0};
    lra_err e = {{0}};
    assert_int_equal(lra_listops_parse(text, sizeof text - 1, "x.tsv", true, &rows, &e), -1);
    assert_string_equal(
        e.msg, "'x.tsv' line 3: label is 1, but the expression evaluates to 2; wrong rows: 2 of 4");
    assert_int_equal(rows.n, 2);
    assert_int_equal(rows.label[1], 3);
    lra_sequences_free(&rows);
    static const char good[] = "\xEF\xBB\xBF"
                               "2\t[MAX 1 2 ]\n\n\n";
    assert_int_equal(lra_listops_parse(good, sizeof good - 1, "x.tsv", true, &rows, &e), 0);
    assert_int_equal(rows.n, 1);
    lra_sequences_free(&rows);
    static const char wide[] = "\xFF\xFE"
                               "2\0\t\0[\0M\0";
    assert_int_equal(lra_listops_parse(wide, sizeof wide - 1, "x.tsv", true, &rows, &e), -1);
    assert_non_null(strstr(e.msg, "'x.tsv' is UTF-16 text"));
    assert_int_equal(rows.n, 0);
}

TEST(no_byte_is_trusted)
{
    const char *text = "Source\tTarget\r\n( ( ( [MAX 2 ) 9 ) ] )\t9\r\n5\t[SM 2 3 ]\n";
    size_t n = strlen(text);
    for (size_t cut = 0; cut <= n; cut++)
        for (int byte = -1; byte < 256; byte += byte < 0 ? 1 : 7) {
            char copy[128];
            lra_sequences rows = {0};
            lra_err e;
            memcpy(copy, text, n);
            if (byte >= 0 && cut < n) copy[cut] = (char)byte;
            lra_listops_parse(copy, byte < 0 ? cut : n, "x", true, &rows, &e);
            lra_sequences_free(&rows);
        }
}

static lra_config *tiny(void)
{
    lra_err e;
    lra_config *c = lra_task_config(&lra_task_listops, "quick", &e);
    lra_config_set(c, "train", "3000");
    lra_config_set(c, "val", "100");
    lra_config_set(c, "test", "107");
    return c;
}

TEST(splits_are_distinct_and_round_trip)
{
    lra_err e = {{0}};
    lra_sequences split[LRA_N_SPLITS] = {{0}}, again = {0};
    lra_config *c = tiny();
    assert_int_equal(lra_task_listops.data.make(c, split, &e), 0);
    assert_int_equal(split[0].n, 3000);
    for (int64_t i = 0; i < split[2].n; i++)
        for (int64_t k = 0; k < split[0].n; k++) {
            int64_t n = split[2].start[i + 1] - split[2].start[i];
            bool same = n == split[0].start[k + 1] - split[0].start[k] &&
                        memcmp(split[2].token + split[2].start[i],
                               split[0].token + split[0].start[k], (size_t)n * 2) == 0;
            assert_false(same);
        }
    const char *path = "listops_test.tsv";
    assert_int_equal(lra_listops_write(path, &split[1], &e), 0);
    assert_int_equal(lra_listops_read(path, true, &again, &e), 0);
    assert_int_equal(again.n, split[1].n);
    size_t bytes = (size_t)again.start[again.n] * sizeof(uint16_t);
    assert_memory_equal(again.token, split[1].token, bytes);
    remove(path);
    lra_sequences_free(&again);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_config_free(c);
}

TEST(label_first_files)
{
    const char *with = "Target\tSource\n9\t( ( ( [MAX 2 ) 9 ) ] )\n5\t5\n";
    for (int skip = 0; skip < 2; skip++) {
        const char *text = with + (skip ? strlen("Target\tSource\n") : 0);
        lra_sequences rows = {0};
        lra_err e;
        assert_int_equal(lra_listops_parse(text, strlen(text), "x", true, &rows, &e), 0);
        assert_int_equal(rows.n, 2);
        assert_int_equal(rows.label[0], 9);
        assert_int_equal(rows.start[1], 5);
        lra_sequences_free(&rows);
    }
}

TEST(workers_do_not_matter)
{
    lra_sequences split[2][LRA_N_SPLITS] = {{{0}}};
    lra_config *c = tiny();
    lra_err e;
    for (int k = 0; k < 2; k++) {
        omp_set_num_threads(1 + 2 * k);
        assert_int_equal(lra_task_listops.data.make(c, split[k], &e), 0);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *a = &split[0][s], *b = &split[1][s];
        assert_int_equal(a->n, b->n);
        assert_memory_equal(a->start, b->start, (size_t)(a->n + 1) * sizeof *a->start);
        assert_memory_equal(a->label, b->label, (size_t)a->n * sizeof *a->label);
        assert_memory_equal(a->token, b->token, (size_t)a->start[a->n] * sizeof *a->token);
        lra_sequences_free(&split[0][s]);
        lra_sequences_free(&split[1][s]);
    }
    lra_config_free(c);
}

TEST(bad_parameters)
{
    task_refuses_change(&lra_task_listops, "quick", "max-depth=0", "an integer from 1 to 64");
    task_refuses_change(&lra_task_listops, "quick", "max-args=1", "an integer from 2 to 1000");
    task_refuses_change(&lra_task_listops, "quick", "max-length=9", "lengths are 8 to 9");
    task_refuses_change(&lra_task_listops, "quick", "op=1.5", "'op' is '1.5', expected a number");
    task_refuses_change(&lra_task_listops, "quick", "root=none",
                        "'root' is 'none', expected op or any");
    task_refuses_change(&lra_task_listops, "quick", "val=0", "'val' is '0'");
    task_refuses_change(&lra_task_listops, "quick", "max-depth=1",
                        /* trees of depth 1 have at most 7 tokens, fewer than the minimum length */
                        "none of 200000 trees of depth <= 1");
    lra_err e = {{0}};
    assert_null(lra_task_config(&lra_task_listops, "huge", &e));
    assert_string_equal(e.msg, "task 'listops' has no preset 'huge'");
}

/* Too few distinct rows: depth 1 and up to 2 arguments give 400 trees of 4 tokens. */
TEST(too_few_distinct_rows)
{
    lra_err e = {{0}};
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    lra_config *c = tiny();
    lra_config_set(c, "max-depth", "1");
    lra_config_set(c, "max-args", "2");
    lra_config_set(c, "min-length", "3");
    assert_int_equal(lra_task_listops.data.make(c, split, &e), -1);
    assert_string_equal(e.msg, "these parameters do not allow 3207 distinct rows");
    assert_int_equal(split[0].n, 400);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    lra_config_free(c);
}

TEST(real_rows_are_read_and_written_byte_for_byte)
{
    char *path = real_file("listops/sample/basic_test.tsv");
    if (!path) skip();
    lra_sequences rows = {0};
    lra_err e = {{0}};
    size_t n, n_again;
    assert_int_equal(lra_listops_read(path, true, &rows, &e), 0);
    assert_int_equal(lra_listops_write("listops_real.tsv", &rows, &e), 0);
    char *bytes = lra_file_read(path, 1 << 30, &n, &e);
    char *again = lra_file_read("listops_real.tsv", 1 << 30, &n_again, &e);
    assert_int_equal(n, n_again);
    assert_memory_equal(bytes, again, n);
    remove("listops_real.tsv");
    lra_free_large(bytes);
    lra_free_large(again);
    lra_sequences_free(&rows);
    lra_free(path);
}
