/* labels: slow timeout: 900 */
/* Measured reach compared with known truth, for ladders that are trained here. Two-token XOR with a
 * linear head after mean pooling: rungs whose field 2R + 1 does not include the distance are at
 * chance, the others solve the task. The delay line: R2 is 0 for rungs whose reach is less than the
 * delay, and near 1 for the others. */
#include "tests/fixtures/test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/process.h"
#include "tests/fixtures/folder.h"

enum { MAX_DISTANCES = 3, MAX_RUNGS = 4 };

/* A sweep and its expected outcome. */
typedef struct {
    const char *arguments, *what;
    int n_distances, n_rungs, distance[MAX_DISTANCES];
    int64_t field[MAX_RUNGS];
    double chance, noise, solved;
} truth;

static const truth truths[] = {
    /* One layer, whose field is K. noise: four standard deviations of 1,000 random predictions. */
    {"--task xor --distance 4,8,16 --kernels 3,7,13,25 --set width=16 --set hidden=32 --set length=80 --set copies=1 "
     "--set train=9600 --set val=400 --set test=1000",
     "percent",
     3,
     4,
     {4, 8, 16},
     {3, 7, 13, 25},
     50,
     6.4,
     95},
    {"--task copy --distance 4,8 --kernels 5,9,17 --set width=16 --set hidden=32 --set length=40 --set train=9600 "
     "--set val=200 --set test=400",
     "value",
     2,
     3,
     {4, 8},
     {3, 5, 9},
     0,
     0.1,
     0.8}};
enum { TRUTHS = sizeof truths / sizeof *truths };

static json_t *run_sweep(const truth *t)
{
    lra_err e;
    json_error_t where;
    const char *build = getenv("LRA_BUILD");
    char *program = lra_format("%s/lra-probe", build ? build : "."), *answer = NULL, *rest = NULL;
    char *line = lra_format(
        "receptive-field %s --set layers=1 --set epochs=1 --seeds 1 --quiet --json --threads 1 "
        "--precision f32 --device cpu --out %s",
        t->arguments, folder);
    char *argv[64] = {program};
    int n = 1;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    int status = lra_process_run(argv, NULL, &answer, NULL, &e);
    if (status != 0)
        fail_msg("exit %d%s%s", status, status < 0 ? ": " : "", status < 0 ? e.msg : "");
    json_t *all = json_loads(answer, JSON_REJECT_DUPLICATES, &where);
    if (!all) fail_msg("line %d: %s", where.line, where.text);
    lra_free(answer);
    lra_free(line);
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

static void check_rung(const truth *t, int r, const json_t *row)
{
    int64_t field = (int64_t)json_number_value(json_object_get(row, "field"));
    assert_int_equal(field, t->field[r]);
    for (int i = 0; i < t->n_distances; i++) {
        double value = number(row, t->distance[i], t->what);
        double lo = number(row, t->distance[i], "lo"), hi = number(row, t->distance[i], "hi");
        printf("field %2d distance %2d: %.4g (%.4g to %.4g)\n", (int)field, t->distance[i], value,
               lo, hi);
        assert_true(lo <= value && value <= hi);
        if (field > t->distance[i])
            assert_true(value > t->solved);
        else
            assert_true(value > t->chance - t->noise && value < t->chance + t->noise);
    }
}

TEST(at_chance_until_the_field_covers)
{
    for (int k = 0; k < TRUTHS; k++) {
        json_t *all = run_sweep(&truths[k]), *tables = json_object_get(all, "tables");
        assert_int_equal(json_array_size(tables), 1);
        const json_t *rows = json_object_get(json_array_get(tables, 0), "rows");
        for (int r = 0; r < truths[k].n_rungs; r++)
            check_rung(&truths[k], r, json_array_get(rows, (size_t)r));
        json_decref(all);
    }
}

GROUP(make_folder, remove_folder);
