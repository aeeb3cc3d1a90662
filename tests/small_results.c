/* Results in memory. */
#include "tests/small_results.h"

#include "kernels/base/mem.h"

lra_result *small_result(const char *preset, int kernel, int seed, int right)
{
    lra_result *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("listops"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text(preset), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0123456789abcdef"), r->run = lra_copy_text("fedcba9876543210");
    r->config = lra_format("model.kernel=%d\nseed=%d\ntask=listops\n", kernel, seed);
    r->deviations = lra_copy_text("made up\n");
    r->seed = seed, r->kernel = kernel, r->reach = 6 * (kernel - 1) / 2, r->max_length = 2000;
    r->n_epochs = r->best_epoch = 1, r->history = lra_alloc_array(7, sizeof(double));
    r->n = SMALL_ROWS, r->n_classes = SMALL_CLASSES;
    r->logits = lra_alloc_array((size_t)SMALL_ROWS * SMALL_CLASSES, sizeof(float));
    r->label = lra_alloc_array(SMALL_ROWS, sizeof(int32_t));
    r->baseline[0] = lra_alloc_array(SMALL_ROWS, sizeof(int32_t));
    r->baseline_name[0] = lra_copy_text("majority-by-operator");
    r->n_baselines = 1;
    for (int i = 0; i < SMALL_ROWS; i++) {
        r->label[i] = i % SMALL_CLASSES;
        r->logits[i * SMALL_CLASSES + (i < right ? i % SMALL_CLASSES : (i + 1) % SMALL_CLASSES)] =
            1;
    }
    return r;
}

/* ---- breakdowns ------------------------------------------------------------------------------ */

enum { N = SMALL_LISTOPS_ROWS };

static int32_t *column(int32_t (*value)(int i))
{
    int32_t *to = lra_alloc_array(N, sizeof *to);
    for (int i = 0; i < N; i++) to[i] = value(i);
    return to;
}

/* Forty rows of MIN with label 0, then 8; MAX with 9, 1; MED and SM with all labels. */
static int32_t root_of(int i)
{
    return i / 60;
}
static int32_t label_of(int i)
{
    return i < 40 ? 0 : i < 60 ? 8 : i < 100 ? 9 : i < 120 ? 1 : i % 10;
}
static int32_t arity_of(int i)
{
    return 2 + i % 3;
}
static int32_t depth_of(int i)
{
    return 2 + i % 7 / 4;
}
static int32_t length_of(int i)
{
    return 10 + i % 50;
}
static int32_t greedy_of(int i)
{
    return root_of(i) == 0 ? 0 : root_of(i) == 1 ? 9 : 4;
}
static int32_t constant_of(int i)
{
    return (void)i, 0;
}
static int32_t shallow_of(int i)
{
    return i % 4 ? label_of(i) : 0;
}

int small_results_free(int n, lra_result **list)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
    return 0;
}

lra_listops *small_listops(int kernel, int seed, int right)
{
    static int32_t (*const value[])(int) = {constant_of, greedy_of, shallow_of};
    static const char *const name[] = {"constant", "majority-by-operator", "shallow-a-2"};
    lra_listops *r = lra_alloc(sizeof *r);
    r->task = lra_copy_text("listops"), r->model = lra_copy_text("resconv");
    r->preset = lra_copy_text("small"), r->precision = lra_copy_text("f32");
    r->fingerprint = lra_copy_text("0123456789abcdef");
    r->run = lra_format("%08x%08x", kernel, seed);
    r->config = lra_format("model.kernel=%d\nseed=%d\ntask=listops\n", kernel, seed);
    r->seed = seed, r->kernel = kernel, r->reach = 2 * (kernel - 1), r->max_length = 60, r->n = N;
    r->label = column(label_of), r->root = column(root_of), r->arity = column(arity_of);
    r->depth = column(depth_of), r->length = column(length_of), r->predicted = column(greedy_of);
    for (int i = 0; i < N; i++)
        if ((i + seed) % 10 < right) r->predicted[i] = r->label[i];
    for (int h = 0; h < 3; h++, r->n_heuristics++) {
        r->heuristic_name[h] = lra_copy_text(name[h]);
        r->heuristic[h] = column(value[h]);
    }
    for (int i = 0; i < N; i++) {
        r->train_count[root_of(i)][label_of(i)] += 100;
        r->expected_count[root_of(i)][label_of(i)] += 90 + i % 20;
    }
    return r;
}
