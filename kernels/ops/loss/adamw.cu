/* AdamW on a GPU, in three kernels: squares of all gradients in blocks; one block that decides
 * whether the update is applied; one update of all parameters. Formulas and sources: adamw.c. */
#include "kernels/ops/cuda_common.h"

enum { LOSS, COUNT, STEP, FIRST };
/* Parameters per launch. The kernel arguments are limited to 4 KiB. */
enum { GROUP = 48 };

typedef struct {
    /* n: elements; first_block: index, within the launch, of the first of its blocks of LRA_PIECE
     * elements */
    int64_t n, first_block;
    const real *g;
    real *p, *m, *v;
    uint16_t *shadow; /* bf16 copy of the parameter; NULL: none */
    double factor;
    real decay;
} parameter;

typedef struct {
    int n;
    parameter at[GROUP];
} parameters;

/* Values that decide_kernel passes to the update kernel. */
typedef struct {
    real scale, rate, correct1, correct2;
    int32_t applied;
} decision;

LRA_DEV const parameter *find(const parameters *all, int64_t block)
{
    int k = all->n - 1;
    while (all->at[k].first_block > block) k--;
    return &all->at[k];
}

static __global__ void square_kernel(parameters all, double *part)
{
    LRA_SHARED(double, shared);
    const parameter *p = find(&all, blockIdx.x);
    int64_t first = (blockIdx.x - p->first_block) * LRA_PIECE;
    int64_t end = first + LRA_PIECE < p->n ? first + LRA_PIECE : p->n;
    double s = 0;
    for (int64_t i = first + threadIdx.x; i < end; i += LRA_BLOCK) s += (double)p->g[i] * p->g[i];
    s = block_sum(s, shared);
    if (threadIdx.x == 0) part[blockIdx.x] = s;
}

static __global__ void decide_kernel(int64_t n_parts, const double *part, lra_adamw_spec spec,
                                     const real *loss, const lra_step *step, real *count, real *out,
                                     decision *d)
{
    LRA_SHARED(double, shared);
    double s = 0;
    for (int64_t i = threadIdx.x; i < n_parts; i += LRA_BLOCK) s += part[i];
    double norm = sqrt(block_sum(s, shared));
    if (threadIdx.x != 0) return;
    bool applied = isfinite((double)*loss) && isfinite(norm);
    count[0] += applied ? R(1.0) : R(0.0);
    count[1] = applied ? R(0.0) : count[1] + 1;
    double t = (double)count[0];
    d->applied = applied;
    d->rate = step->rate;
    d->scale = (real)(spec.clip > 0 && norm > spec.clip ? spec.clip / norm : 1);
    d->correct1 = (real)(1 / (1 - pow(spec.beta1, t)));
    d->correct2 = (real)(1 / (1 - pow(spec.beta2, t)));
    out[0] = *loss, out[1] = (real)norm, out[2] = applied, out[3] = count[1];
}

static __global__ void update_kernel(parameters all, real b1, real b2, real eps, const decision *d)
{
    const parameter *p = find(&all, blockIdx.x);
    if (!d->applied) return;
    int64_t first = (blockIdx.x - p->first_block) * LRA_PIECE;
    int64_t end = first + LRA_PIECE < p->n ? first + LRA_PIECE : p->n;
    real scale = d->scale, correct1 = d->correct1, correct2 = d->correct2;
    real rate = (real)(p->factor * (double)d->rate);
    for (int64_t i = first + threadIdx.x; i < end; i += LRA_BLOCK) {
        real g = p->g[i] * scale;
        real m = b1 * p->m[i] + (1 - b1) * g, v = b2 * p->v[i] + (1 - b2) * g * g;
        real x = p->p[i];
        x -= rate * (m * correct1 / (r_sqrt(v * correct2) + eps) + p->decay * x);
        p->m[i] = m, p->v[i] = v, p->p[i] = x;
#if LRA_TYPE_bf16
        if (p->shadow) p->shadow[i] = e_store(x);
#endif
    }
}

/* Collects at most GROUP parameters of the call, from number `first` on. Returns their number of
 * blocks. */
static int64_t collect(const lra_call *c, int first, parameters *all)
{
    const adamw_args *a = (const adamw_args *)c->y->args;
    int64_t n_blocks = 0;
    for (all->n = 0; all->n < GROUP && first + all->n < a->n; all->n++) {
        int k = first + all->n, at = FIRST + k;
        parameter *p = &all->at[all->n];
        p->n = lra_elements(c->y->src[at]), p->first_block = n_blocks;
        p->p = (real *)(uintptr_t)c->in[at];
        p->g = (const real *)c->in[at + a->n];
        p->m = (real *)(uintptr_t)c->in[at + 2 * a->n];
        p->v = (real *)(uintptr_t)c->in[at + 3 * a->n];
        p->shadow = LRA_TYPE_bf16 ? (uint16_t *)c->shadow[at] : NULL;
        p->factor = a->group[k].factor, p->decay = (real)a->group[k].decay;
        n_blocks += (p->n + LRA_PIECE - 1) / LRA_PIECE;
    }
    return n_blocks;
}

/* Scratch: a double for each block of LRA_PIECE elements, then the decision whether the update is
 * applied. */
LRA_CUDA_BODY(adamw)
{
    const adamw_args *a = (const adamw_args *)c->y->args;
    double *part = (double *)c->scratch;
    int64_t n_parts = 0;
    parameters all;
    for (int first = 0; first < a->n; first += GROUP) {
        int64_t n_blocks = collect(c, first, &all);
        LRA_LAUNCH(square_kernel, (unsigned)n_blocks, LRA_BLOCK, LRA_BLOCK_WARPS * sizeof(double),
                   stream, all, part + n_parts);
        n_parts += n_blocks;
    }
    decision *d = (decision *)(part + n_parts);
    LRA_LAUNCH(decide_kernel, 1, LRA_BLOCK, LRA_BLOCK_WARPS * sizeof(double), stream, n_parts, part,
               a->spec, (const real *)c->in[LOSS], (const lra_step *)c->in[STEP],
               (real *)(uintptr_t)c->in[COUNT], (real *)c->out, d);
    for (int first = 0; first < a->n; first += GROUP) {
        int64_t n_blocks = collect(c, first, &all);
        LRA_LAUNCH(update_kernel, (unsigned)n_blocks, LRA_BLOCK, 0, stream, all,
                   (real)a->spec.beta1, (real)a->spec.beta2, (real)a->spec.eps, d);
    }
}
