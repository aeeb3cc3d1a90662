/* Finds length buckets by dynamic programming. */
#include "datasets/loader/buckets.h"

#include "kernels/base/core/mem.h"

static int64_t unit_of(int64_t longest)
{
    return longest > 512 ? 64 : longest > 64 ? 8 : 2;
}

int64_t lra_buckets_end(const lra_dataset *d)
{
    int64_t unit = d->task->goal == LRA_GOAL_NEXT ? 1 : unit_of(d->longest);
    return (d->longest + unit - 1) / unit * unit;
}

/* Finds bucket lengths by dynamic programming over multiples of the unit. A bucket for the lengths
 * i < length <= j costs (number of these rows) * j, its number of tokens including padding. */
lra_buckets lra_buckets_find(const lra_dataset *d)
{
    if (d->task->goal == LRA_GOAL_NEXT) return (lra_buckets){1, {d->max_length}};
    int64_t unit = unit_of(d->max_length), n = (d->max_length + unit - 1) / unit;
    /* number of rows of length <= i unit */
    int64_t *below = lra_alloc_array((size_t)n + 1, sizeof *below);
    const lra_sequences *train = &d->split[LRA_TRAIN_SPLIT];
    for (int64_t i = 0; i < train->n; i++)
        below[(lra_sequences_length(train, i) + unit - 1) / unit]++;
    for (int64_t i = 1; i <= n; i++) below[i] += below[i - 1];

    size_t cells = (size_t)(LRA_MAX_BUCKETS + 1) * (size_t)(n + 1);
    double *cost = lra_alloc_array(cells, sizeof *cost);
    int64_t *from = lra_alloc_array(cells, sizeof *from);
    /* with 0 buckets only the length 0 is possible: all other costs are infinite */
    for (int64_t j = 1; j <= n; j++) cost[j] = 1e300;
    for (int64_t k = 1; k <= LRA_MAX_BUCKETS; k++)
        for (int64_t j = 0; j <= n; j++) {
            double *best = &cost[k * (n + 1) + j];
            *best = cost[(k - 1) * (n + 1) + j];
            from[k * (n + 1) + j] = j;
            for (int64_t i = 0; i < j; i++) {
                double c = cost[(k - 1) * (n + 1) + i] + (double)((below[j] - below[i]) * j);
                if (c < *best) *best = c, from[k * (n + 1) + j] = i;
            }
        }
    lra_buckets b = {0};
    int64_t ends[LRA_MAX_BUCKETS], at = n;
    for (int64_t k = LRA_MAX_BUCKETS; k > 0 && at > 0; k--) {
        int64_t before = from[k * (n + 1) + at];
        if (before == at) continue;
        ends[b.n++] = at * unit;
        at = before;
    }
    for (int i = 0; i < b.n; i++) b.length[i] = ends[b.n - 1 - i];
    lra_free(below);
    lra_free(cost);
    lra_free(from);
    return b;
}
