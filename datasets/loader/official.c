/* Divides official files into splits. */
#include "datasets/loader/official.h"

#include "datasets/loader/split.h"
#include "kernels/base/core/mem.h"

enum { SPLIT_SEED = 42, MIN_TRAIN = 2 };

/* Appends `wanted` (0: all) of n rows, evenly spaced: rows first + order[i], or first + i without
 * an order. */
static int add_rows(const lra_official *o, int64_t first, const int64_t *order, int64_t n,
                    int64_t wanted, lra_sequences *to, lra_err *e)
{
    int64_t taken = wanted && wanted < n ? wanted : n;
    uint16_t *token = lra_sequences_extend(to, taken, o->length, o->width, e);
    if (!token) return LRA_FAILED;
    int32_t *label = to->label + to->n - taken;
    for (int64_t k = 0; k < taken; k++) {
        int64_t i = lra_split_spaced(k, n, taken);
        o->row(o->of, first + (order ? order[i] : i), token + k * o->length * o->width, &label[k]);
    }
    return 0;
}

int lra_official_divide(const lra_official *o, const lra_config *c, lra_dataset *d, lra_err *e)
{
    lra_sequences *split = d->split;
    d->n_official[LRA_TRAIN_SPLIT] = o->n_train, d->n_official[LRA_TEST_SPLIT] = o->n_test;
    int64_t n = o->n_train, rows = lra_config_int(c, "rows");
    if (n < MIN_TRAIN || o->n_test < 1)
        return lra_fail(e, "%lld training and %lld test rows, expected at least %d and 1",
                        (long long)n, (long long)o->n_test, (int)MIN_TRAIN);
    int64_t *order = lra_alloc_array((size_t)n, sizeof *order);
    int64_t kept = lra_split_carve(SPLIT_SEED, n, lra_config_real(c, "val-split"), order);
    int rc = add_rows(o, 0, order, kept, rows, &split[LRA_TRAIN_SPLIT], e);
    if (rc == 0) rc = add_rows(o, 0, order + kept, n - kept, rows, &split[LRA_VAL_SPLIT], e);
    if (rc == 0) rc = add_rows(o, n, NULL, o->n_test, rows, &split[LRA_TEST_SPLIT], e);
    lra_free(order);
    return rc;
}

const char *lra_baseline_constant(int b, const lra_sequences *train, const lra_sequences *of,
                                  int32_t *predicted)
{
    int32_t label, n_classes = 1;
    if (b != 0) return NULL;
    for (int64_t i = 0; i < train->n; i++)
        if (train->label[i] >= n_classes) n_classes = train->label[i] + 1;
    lra_sequences_majority(train, n_classes, &label);
    for (int64_t i = 0; i < of->n; i++) predicted[i] = label;
    return "constant";
}
