/* Computes permutations of labels. */
#include "datasets/loader/permute.h"

#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"

enum { LABEL_STREAM = 0x4C41 };

int64_t *lra_label_permutation(int64_t n, uint64_t seed, int split)
{
    int64_t *from = lra_alloc_array((size_t)n + 1, sizeof *from);
    lra_rng rng = lra_rng_new(seed, LABEL_STREAM + (uint32_t)split, 0);
    for (int64_t i = 0; i < n; i++) from[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t k = lra_rng_below(&rng, (uint32_t)(i + 1)), swap = from[i];
        from[i] = from[k], from[k] = swap;
    }
    return from;
}
