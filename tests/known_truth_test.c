/* labels: slow timeout: 600 */
/* Reach measured against a known truth: the ladder on two-token XOR, with a linear head after mean pooling, is at
 * chance on every rung whose field 2R + 1 does not cover the distance, and solves the task on those that do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "tests/folder.h"

enum { DISTANCES = 3, RUNGS = 4 };
static const int distances[DISTANCES] = {4, 8, 16}, kernels[RUNGS] = {3, 7, 13, 25};

static json_t *run_sweep(void)
{
    lra_err e = {{0}};
    json_error_t where;
    const char *build = getenv("LRA_BUILD");
    char *program = lra_format("%s/lra-probe", build ? build : "."), *answer = NULL;
    char *
        rest = NULL,
       line[] =
           "receptive-field --task xor --distance 4,8,16 --kernels 3,7,13,25 --seeds 1 --quiet "
           "--json --threads 1 --precision f32 --device cpu --set layers=1 --set width=16 "
           "--set hidden=32 --set length=80 --set copies=1 --set train=9600 --set val=400 --set test=1000 "
           "--set epochs=1 --out";
    char *argv[64] = {program};
    int n = 1;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    argv[n] = folder;
    int status = lra_process_run(argv, NULL, &answer, NULL, &e);
    if (status != 0) fail_msg("exit %d: %s", status, status < 0 ? e.msg : "see its folder");
    json_t *all = json_loads(answer, JSON_REJECT_DUPLICATES, &where);
    if (!all) fail_msg("line %d: %s", where.line, where.text);
    lra_free(answer);
    lra_free(program);
    return all;
}

static double number(const json_t *row, int distance, const char *what)
{
    char *key = lra_format("distance_%d_%s", distance, what);
    const json_t *x = json_object_get(row, key);
    if (!json_is_number(x)) fail_msg("'%s' is no number", key);
    lra_free(key);
    return json_number_value(x);
}

static void at_chance_until_the_field_covers(void **state)
{
    (void)state;
    json_t *all = run_sweep(), *tables = json_object_get(all, "tables");
    assert_int_equal(json_array_size(tables), 1);
    const json_t *rows = json_object_get(json_array_get(tables, 0), "rows");
    assert_true(json_array_size(rows) > RUNGS);
    for (int r = 0; r < RUNGS; r++) {
        const json_t *row = json_array_get(rows, (size_t)r);
        int64_t field = json_integer_value(json_object_get(row, "field"));
        if (json_is_real(json_object_get(row, "field")))
            field = (int64_t)json_real_value(json_object_get(row, "field"));
        assert_int_equal(field, kernels[r]); /* one layer */
        for (int i = 0; i < DISTANCES; i++) {
            double percent = number(row, distances[i], "percent");
            double lo = number(row, distances[i], "lo"), hi = number(row, distances[i], "hi");
            assert_true(lo <= percent && percent <= hi);
            printf("field %2d distance %2d: %6.2f %% (%.2f to %.2f)\n", (int)field, distances[i],
                   percent, lo, hi);
            if (field > distances[i])
                assert_true(percent > 95);
            else /* four standard deviations of 1,000 guesses */
                assert_true(percent > 43.6 && percent < 56.4);
        }
    }
    json_decref(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(at_chance_until_the_field_covers)};
    return cmocka_run_group_tests_name("known truth", tests, make_folder, remove_folder);
}
