/* AdamW with decoupled weight decay, over all parameters at once, with clipping of the global
 * gradient norm and a check for finite values.
 *   g = clip/norm g if norm > clip;  m = b1 m + (1-b1) g;  v = b2 v + (1-b2) g^2;
 *   p -= rate (m/(1-b1^t) / (sqrt(v/(1-b2^t)) + eps) + decay p)
 * Loshchilov & Hutter 2019, algorithm 2; t counts applied updates. If the loss or the gradient norm
 * is not finite, the update is skipped and only the number of consecutive skipped updates is
 * incremented.
 * Sources: loss, count (2), step, then n parameters, n gradients, n m, n v. */
#include "kernels/ops/args.h"
#include "kernels/ops/typed.h"

#include "kernels/base/core/mem.h"

enum { LOSS, COUNT, STEP, FIRST };

/* Sum of squares of all gradients in double: blocks of LRA_PIECE elements, added in order. */
static inline double square_norm(const lra_call *c, int n)
{
    double *part = c->scratch, total = 0;
    int64_t n_parts = 0;
    for (int k = 0; k < n; k++) {
        int64_t size = lra_elements(c->y->src[FIRST + k]);
        int64_t n_blocks = (size + LRA_PIECE - 1) / LRA_PIECE;
        const real *g = c->in[FIRST + n + k];
#pragma omp parallel for num_threads(c->n_threads) if (size >= LRA_PARALLEL_MIN)
        for (int64_t b = 0; b < n_blocks; b++) {
            int64_t first = b * LRA_PIECE;
            int64_t last = first + LRA_PIECE < size ? first + LRA_PIECE : size;
            double s = 0;
#pragma omp simd reduction(+ : s)
            for (int64_t i = first; i < last; i++) s += (double)g[i] * (double)g[i];
            part[n_parts + b] = s;
        }
        n_parts += n_blocks;
    }
    for (int64_t b = 0; b < n_parts; b++) total += part[b];
    return total;
}

/* Constants of an update for all elements of one parameter. */
typedef struct {
    real scale, b1, b2, rate, decay, correct1, correct2, eps;
} adamw_step;

static inline void update_piece(int64_t from, int64_t end, adamw_step s, const real *restrict g,
                                real *restrict p, real *restrict m, real *restrict v)
{
#pragma omp simd
    for (int64_t i = from; i < end; i++) {
        real gi = g[i] * s.scale;
        m[i] = s.b1 * m[i] + (1 - s.b1) * gi;
        v[i] = s.b2 * v[i] + (1 - s.b2) * gi * gi;
        p[i] -= s.rate * (m[i] * s.correct1 / (r_sqrt(v[i] * s.correct2) + s.eps) + s.decay * p[i]);
    }
}

/* Updates the bf16 copy (shadow) of a parameter, which products read. Nullable: shadow */
static inline void write_shadow(int64_t from, int64_t end, const real *p, uint16_t *shadow)
{
#if LRA_TYPE_bf16
    for (int64_t i = from; i < end; i++) shadow[i] = e_store(p[i]);
#else
    (void)from, (void)end, (void)p, (void)shadow;
#endif
}

static inline void update(const lra_call *c, int n, int k, adamw_step s)
{
    int64_t size = lra_elements(c->y->src[FIRST + k]);
    real *p = (real *)(uintptr_t)c->in[FIRST + k];
    const real *g = c->in[FIRST + n + k];
    real *m = (real *)(uintptr_t)c->in[FIRST + 2 * n + k];
    real *v = (real *)(uintptr_t)c->in[FIRST + 3 * n + k];
    uint16_t *shadow = LRA_TYPE_bf16 ? c->shadow[FIRST + k] : NULL;
#pragma omp parallel for num_threads(c->n_threads) if (size >= LRA_PARALLEL_MIN)
    for (int64_t from = 0; from < size; from += LRA_PIECE) {
        int64_t end = from + LRA_PIECE < size ? from + LRA_PIECE : size;
        update_piece(from, end, s, g, p, m, v);
        if (shadow) write_shadow(from, end, p, shadow);
    }
}

LRA_BODY(adamw)
{
    const adamw_args *a = c->y->args;
    const lra_adamw_spec *spec = &a->spec;
    real *count = (real *)(uintptr_t)c->in[COUNT], *out = c->out;
    real loss = *(const real *)c->in[LOSS];
    double norm = sqrt(square_norm(c, a->n));
    bool applied = isfinite((double)loss) && isfinite(norm);
    if (applied) {
        lra_step step;
        memcpy(&step, c->in[STEP], sizeof step);
        count[0] += 1, count[1] = 0;
        double t = (double)count[0];
        adamw_step s = {.b1 = (real)spec->beta1, .b2 = (real)spec->beta2, .eps = (real)spec->eps};
        s.scale = (real)(spec->clip > 0 && norm > spec->clip ? spec->clip / norm : 1);
        s.correct1 = (real)(1 / (1 - pow(spec->beta1, t)));
        s.correct2 = (real)(1 / (1 - pow(spec->beta2, t)));
        for (int k = 0; k < a->n; k++) {
            s.rate = (real)(a->group[k].factor * (double)step.rate);
            s.decay = (real)a->group[k].decay;
            update(c, a->n, k, s);
        }
    } else
        count[1] += 1;
    out[0] = loss, out[1] = (real)norm, out[2] = applied, out[3] = count[1];
}

#if LRA_RECORD
LRA_DECLARE(adamw)

static int shape(lra_tensor *y, lra_err *e)
{
    const adamw_args *a = y->args;
    if (lra_expect_shape(y->src[LOSS], (lra_shape){0}, "loss", e) != 0) return LRA_FAILED;
    for (int k = 0; k < a->n; k++) {
        const lra_tensor *p = y->src[FIRST + k], *g = y->src[FIRST + a->n + k];
        if (lra_expect_shape(g, p->shape, "a gradient", e) != 0) return LRA_FAILED;
        if (g->type != p->type) return lra_fail(e, "a gradient is not real");
    }
    y->shape = LRA_SHAPE(4);
    y->type = lra_real(y->graph);
    return 0;
}

static double flops(const lra_tensor *y)
{
    const adamw_args *a = y->args;
    double n = 0;
    for (int k = 0; k < a->n; k++) n += (double)lra_elements(y->src[FIRST + k]);
    return 14 * n;
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    (void)n_threads;
    const adamw_args *a = y->args;
    int64_t n = 0;
    for (int k = 0; k < a->n; k++)
        n += (lra_elements(y->src[FIRST + k]) + LRA_PIECE - 1) / LRA_PIECE;
    return n * (int64_t)sizeof(double);
}

/* Scratch of the CUDA body: that of the CPU body, then the decision whether the update is applied
 * (adamw.cu). */
static int64_t cuda_scratch(const lra_tensor *y)
{
    return scratch(y, 1) + 64;
}

static adamw_group group_of(const lra_tensor *p, const lra_adamw_spec *spec)
{
    const lra_param_spec *own = lra_spec_of(p);
    adamw_group group = {own->rate_factor > 0 ? own->rate_factor : 1,
                         own->no_decay ? 0 : spec->decay};
    if (own->rate <= 0) return group;
    if (spec->rate <= 0)
        lra_graph_fail(p->graph, "'%s' has the rate %g, but the base rate is not given",
                       lra_tensor_path(p), own->rate);
    group.factor = own->rate / spec->rate;
    return group;
}

/* ---- builder --------------------------------------------------------------------------------- */

static lra_tensor *moment(lra_graph *g, const char *which, const lra_tensor *p)
{
    char *path = lra_format("adam/%s/%s", which, lra_tensor_path(p));
    lra_tensor *m = lra_state_at(g, path, p->shape, NULL);
    lra_free(path);
    return m;
}

/* Gradient accumulation: adds the gradients of this micro-batch to the sums of earlier ones, and
 * stores the sums unless this is the last micro-batch. */
static void accumulate(lra_graph *g, int n, lra_tensor *const *params, lra_tensor **grad, int part,
                       int n_parts)
{
    for (int k = 0; k < n; k++) {
        lra_tensor *sum = moment(g, "sum", params[k]);
        if (part > 0) grad[k] = lra_add(sum, grad[k]);
        if (part < n_parts - 1) lra_assign(sum, grad[k]);
    }
}

lra_tensor *lra_adamw_part(lra_tensor *loss, int n_params, lra_tensor *const *params,
                           const lra_adamw_spec *spec, int part, int n_parts)
{
    lra_graph *g = loss->graph;
    size_t size = sizeof(adamw_args) + (size_t)n_params * sizeof(adamw_group);
    adamw_args *a = lra_alloc(size);
    lra_tensor **src = lra_alloc_array((size_t)(FIRST + 4 * n_params), sizeof *src), *y;
    int n = 0;
    a->spec = *spec;
    for (int i = 0; i < n_params; i++) {
        if (lra_spec_of(params[i])->frozen) continue;
        a->group[n] = group_of(params[i], spec);
        src[FIRST + n++] = params[i];
    }
    a->n = n;
    if (n == 0) lra_graph_fail(g, "adamw: there is no parameter to train");
    y = loss = lra_cast(loss, lra_real(g));
    if (n_parts > 1) y = lra_affine(loss, 1.0 / n_parts, 0);
    lra_grad(y, NULL, n, src + FIRST, src + FIRST + n);
    if (n_parts > 1) accumulate(g, n, src + FIRST, src + FIRST + n, part, n_parts);
    src[LOSS] = loss;
    src[STEP] = lra_step_input(g);
    y = loss;
    if (part == n_parts - 1) {
        src[COUNT] = lra_state_at(g, "adam/count", LRA_SHAPE(2), NULL);
        for (int k = 0; k < n; k++) {
            src[FIRST + 2 * n + k] = moment(g, "m", src[FIRST + k]);
            src[FIRST + 3 * n + k] = moment(g, "v", src[FIRST + k]);
        }
        y = lra_node(&lra_op_adamw, g, FIRST + 4 * n, src, a, size);
    }
    lra_free(src);
    lra_free(a);
    return y;
}

lra_tensor *lra_adamw(lra_tensor *loss, int n_params, lra_tensor *const *params,
                      const lra_adamw_spec *spec)
{
    return lra_adamw_part(loss, n_params, params, spec, 0, 1);
}

static lra_tensor *sample(lra_graph *g, int i)
{
    if (i) return NULL;
    lra_adamw_spec spec = {
        .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .decay = 0.01, .clip = 0.1, .rate = 0.01};
    lra_tensor *p[] = {
        lra_param(g, "w", LRA_SHAPE(3, 5), LRA_SPEC(LRA_NORMAL(1), .rate_factor = 0.1)),
        lra_param(g, "b", LRA_SHAPE(5), LRA_SPEC(LRA_NORMAL(1), .rate = 0.001, .no_decay = true)),
        lra_param(g, "fixed", LRA_SHAPE(5), LRA_SPEC(LRA_CONSTANT(1), .frozen = true))};
    lra_tensor *y = lra_add(lra_mul(p[0], p[2]), p[1]);
    lra_tensor *target = lra_sample_input(g, "target", "normal", LRA_SHAPE(3, 5));
    return lra_adamw(lra_mse(y, target), 3, p, &spec);
}

const lra_op lra_op_adamw = {.name = "adamw",
                             .flags = LRA_NOGRAD | LRA_WRITES,
                             .shape = shape,
                             .flops = flops,
                             .scratch = scratch,
                             .cuda_scratch = cuda_scratch,
                             .cpu = LRA_BODIES(adamw),
                             .sample = sample};
#endif
