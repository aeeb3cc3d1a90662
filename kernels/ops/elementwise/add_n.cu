/* y = x_1 + ... + x_n on a GPU, added in real from left to right and rounded once. */
#include "kernels/ops/cuda_common.h"

enum { MAX_TERMS = 256 };

typedef struct {
    const void *x[MAX_TERMS];
} terms;

static __global__ void sum_kernel(int64_t n, lra_type t, bool wide, int n_terms, terms from,
                                  void *y)
{
    for (EACH8(i, n)) {
        real s[LRA_LANES], v[LRA_LANES];
        load8(from.x[0], t, i, n - i, wide, s);
        for (int j = 1; j < n_terms; j++) {
            load8(from.x[j], t, i, n - i, wide, v);
            for (int k = 0; k < LRA_LANES; k++) s[k] += v[k];
        }
        store8(y, t, i, n - i, wide, s);
    }
}

LRA_CUDA_BODY(add_n)
{
    int64_t n = lra_elements(c->y);
    int n_terms = c->y->n_src;
    bool wide = is_aligned(c->out, NULL, NULL);
    terms from;
    if (n_terms > MAX_TERMS) LRA_BUG("a sum of %d terms, at most %d", n_terms, MAX_TERMS);
    for (int i = 0; i < n_terms; i++) {
        from.x[i] = c->in[i];
        wide = wide && is_aligned(c->in[i], NULL, NULL);
    }
    LRA_LAUNCH(sum_kernel, lra_grid(n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, n, c->y->type,
               wide, n_terms, from, c->out);
}
