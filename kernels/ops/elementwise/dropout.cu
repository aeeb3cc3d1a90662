/* Dropout on a GPU: the same draws as on the CPU, bit for bit. */
#include "kernels/ops/cuda_common.h"

#include "kernels/base/core/philox.h"

typedef struct {
    int64_t n, D, T; /* T: rows of D elements that share their draws, with `tied` */
    lra_type t;
    bool wide, tied;
    uint32_t least; /* an element is kept if its 24 random bits, w >> 8, are at least this */
    real kept;
    uint32_t key; /* key of the draws: hash of the node's path */
} dropout_job;

LRA_DEV real factor_of(const dropout_job *j, uint32_t word)
{
    return word >> 8 < j->least ? R(0.0) : j->kept;
}

LRA_DEV lra_philox draw(const lra_rng *key, const lra_step *step, int64_t i)
{
    uint64_t at = (uint64_t)i;
    return lra_philox_at(key->key[0], key->key[1], (uint32_t)step->step,
                         (uint32_t)(step->step >> 32), (uint32_t)at, (uint32_t)(at >> 32));
}

/* Index of the draw of element `at`. */
LRA_DEV int64_t draw_of(const dropout_job *j, int64_t at)
{
    return j->tied ? at / (j->T * j->D) * j->D + at % j->D : at;
}

/* Multiplies four elements, whose draws are the four words of one counter, by their factors. */
LRA_DEV void four(const dropout_job *j, const lra_rng *key, const lra_step *step, int64_t at,
                  real v[4])
{
    lra_philox words = draw(key, step, at / 4);
    LRA_UNROLL for (int k = 0; k < 4; k++) v[k] *= factor_of(j, words.v[k]);
}

/* Multiplies four elements, whose draws may belong to several counters, by their factors. */
LRA_DEV void each(const dropout_job *j, const lra_rng *key, const lra_step *step, int64_t i,
                  real v[4])
{
    LRA_NO_UNROLL for (int k = 0; k < 4; k++)
    {
        int64_t at = draw_of(j, i + k);
        lra_philox words = draw(key, step, at / 4);
        real factor = R(0.0);
        LRA_UNROLL for (int w = 0; w < 4; w++) if (at % 4 == w) factor = factor_of(j, words.v[w]);
        v[k] *= factor;
    }
}

static __global__ void dropout_kernel(dropout_job j, const lra_step *step, const void *x, void *y)
{
    lra_rng key = lra_rng_new(step->seed, j.key, 0);
    for (EACH8(i, j.n)) {
        real v[LRA_LANES];
        load8(x, j.t, i, j.n - i, j.wide, v);
        LRA_UNROLL for (int k = 0; k < LRA_LANES; k += 4)
        {
            if (!j.tied || j.D % 4 == 0)
                four(&j, &key, step, draw_of(&j, i + k), v + k);
            else
                each(&j, &key, step, i + k, v + k);
        }
        store8(y, j.t, i, j.n - i, j.wide, v);
    }
}

LRA_CUDA_BODY(dropout)
{
    const dropout_args *a = (const dropout_args *)c->y->args;
    int64_t n = lra_elements(c->y), D = lra_width(c->y);
    dropout_job j = {n,
                     D,
                     1,
                     c->y->type,
                     is_aligned(c->in[0], NULL, c->out),
                     a->tied,
                     (uint32_t)ceil(a->rate * 0x1p24),
                     (real)(1 / (1 - a->rate)),
                     a->key};
    if (a->tied) j.T = n / (c->y->shape.d[0] * D);
    LRA_LAUNCH(dropout_kernel, lra_grid(n, LRA_BLOCK * LRA_LANES), LRA_BLOCK, 0, stream, j,
               (const lra_step *)c->in[1], c->in[0], c->out);
}
