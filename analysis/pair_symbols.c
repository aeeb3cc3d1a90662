/* Ranks and merges symbols, and sorts examples. */
#include "analysis/pair_symbols.h"

#include <stdlib.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { ORDER_OF = 0x494F };

int lra_symbols_rank(const lra_symbols *s, int order[LRA_SYMBOL_VALUES])
{
    int64_t count[LRA_SYMBOL_VALUES] = {0};
    int n = 0;
    for (int64_t i = 0; i < s->start[s->n]; i++) count[s->symbol[i]]++;
    for (int v = 0; v < LRA_SYMBOL_VALUES; v++) {
        int at = v;
        for (; at > 0 && count[order[at - 1]] < count[v]; at--) order[at] = order[at - 1];
        order[at] = v;
        n += count[v] > 0;
    }
    return n;
}

void lra_symbols_merge(const int order[LRA_SYMBOL_VALUES], int k, uint8_t to[LRA_SYMBOL_VALUES])
{
    for (int v = 0; v < LRA_SYMBOL_VALUES; v++) to[order[v]] = (uint8_t)(v < k - 1 ? v : k - 1);
}

typedef struct {
    int64_t length, row;
    uint32_t chance;
} place;

static int by_length(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->length != y->length) return (x->length > y->length) - (x->length < y->length);
    if (x->chance != y->chance) return (x->chance > y->chance) - (x->chance < y->chance);
    return (x->row > y->row) - (x->row < y->row);
}

void lra_symbols_sort(const lra_symbols *s, uint64_t key, int64_t *row)
{
    place *x = lra_alloc_array((size_t)s->n + 1, sizeof *x);
    for (int64_t i = 0; i < s->n; i++) {
        lra_rng rng = lra_rng_new(key, ORDER_OF, (uint64_t)i);
        x[i] = (place){s->start[i + 1] - s->start[i], i, lra_rng_u32(&rng)};
    }
    qsort(x, (size_t)s->n, sizeof *x, by_length);
    for (int64_t i = 0; i < s->n; i++) row[i] = x[i].row;
    lra_free(x);
}

double lra_information_skew(double value, double half)
{
    return value > half / 4 ? half * half / (4 * value) : half;
}
