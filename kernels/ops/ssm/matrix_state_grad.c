/* Gradients of a matrix state (matrix_state.c), one array after the other: q, k, v, [w], [a, b],
 * all real. With u_t = S_(t-1) a_t and G_t, the gradient of S_t, from the last token back:
 *   G_t += dy_t q_t^T;  dq_t = S_t^T dy_t;  dv_t = G_t k_t;  dk_t = G_t^T v_t;  db_t = -G_t^T u_t
 *   du_t = -G_t b_t;  da_t = S_(t-1)^T du_t;  dw_t = sum over rows of S_(t-1) G_t
 *   G_(t-1) = G_t diag(w_t) + du_t a_t^T
 * The states before every CHUNK tokens are stored by a first pass; those in between are computed
 * again, for a few rows of the state at a time.
 * With a distance limit, the gradients follow from the effective attention: for each token t
 *   dA_tj = dy_t . v_j;  dv_j += A_tj dy_t;  dk_j += dA_tj z_j;  and, from the most distant j on,
 *   dz_j = dA_tj k_j + w_j dz_(j-1) - (a_j . dz_(j-1)) b_j;  dq_t = dz_t
 *   dw_j += z_j dz_(j-1);  da_j -= (b_j . z_j) dz_(j-1);  db_j -= (a_j . dz_(j-1)) z_j */
#include <omp.h>

#include "kernels/ops/ssm/matrix_state_template.h"

/* Gradients of a head, in the order of the recurrence: (T,KP), v (T,VP); w, a, b: NULL as in
 * head. */
typedef struct {
    real *q, *k, *v, *w, *a, *b;
} head_gradients;

/* Scratch of a thread without a limit: states before each chunk, states within a chunk and u for
 * ROWS rows, gradient of the state. With a limit: z_j for all tokens of a window, b_j . z_j, A_tj,
 * two vectors dz. */
static inline int64_t recurrence_reals(matrix_state_sizes s)
{
    int64_t KP = padded(s.K, WIDTH), VP = padded(s.V, ROWS), chunks = (s.T + CHUNK - 1) / CHUNK;
    return (chunks + 1) * VP * KP + (CHUNK + 1) * ROWS * KP + CHUNK * ROWS;
}
static inline int64_t window_reals(matrix_state_sizes s)
{
    return (s.T + 3) * padded(s.K, WIDTH) + 2 * s.T;
}
static inline int64_t backward_reals(matrix_state_sizes s)
{
    int64_t own = recurrence_reals(s), window = window_reals(s);
    int64_t VP = padded(s.V, ROWS);
    return padded(2 * head_reals(s) + s.T * VP + (own > window ? own : window), 16);
}

/* Stores the state before each chunk: chunk (chunks,VP,KP). */
static inline void store_states(const head *x, real *chunk)
{
    int64_t KP = x->KP, size = x->VP * KP;
    memset(chunk, 0, (size_t)size * sizeof *chunk);
    for (int64_t from = 0; from + CHUNK < x->tokens; from += CHUNK, chunk += size) {
        real *next = chunk + size, u[ROWS];
        memcpy(next, chunk, (size_t)size * sizeof *chunk);
        for (int64_t row = 0; row < x->VP; row += ROWS)
            for (int64_t t = from; t < from + CHUNK; t++)
                step_rows(KP, row_of(x->w, t, KP), row_of(x->a, t, KP), row_of(x->b, t, KP),
                          x->k + t * KP, x->q + t * KP, x->v + t * x->VP + row, next + row * KP,
                          next + row * KP, u, NULL);
    }
}

/* Vectors of one token that the backward step reads, and their gradients. */
typedef struct {
    const real *q, *k, *w, *a, *b, *v, *dy;
    real *dq, *dk, *dw, *da, *db, *dv;
} token;

static inline token token_of(const head *x, const real *dy, const head_gradients *g, int64_t t,
                             int64_t row)
{
    int64_t KP = x->KP, at = t * x->VP + row;
    token o = {.q = x->q + t * KP,
               .k = x->k + t * KP,
               .v = x->v + at,
               .dy = dy + at,
               .dq = g->q + t * KP,
               .dk = g->k + t * KP,
               .dv = g->v + at};
    if (x->w) o.w = x->w + t * KP, o.dw = g->w + t * KP;
    if (x->a) o.a = x->a + t * KP, o.da = g->a + t * KP, o.b = x->b + t * KP, o.db = g->b + t * KP;
    return o;
}

LRA_ROW_FN void add_lanes(real *y, lanes v)
{
    lanes_write(y, lanes_read(y) + v);
}

/* Backward step of ROWS rows. before, after: S_(t-1), S_t; grad: G, updated; u: u_t. */
LRA_ROW_FN void back_rows(int64_t KP, const token *o, bool decays, bool corrects,
                          const real *before, const real *after, const real *u, real *grad)
{
    lanes dv[ROWS], du[ROWS];
    for (int r = 0; r < ROWS; r++) dv[r] = du[r] = lanes_of(0);
    for (int64_t j = 0; j < KP; j += LANES) {
        lanes q = lanes_read(o->q + j), k = lanes_read(o->k + j), dq = lanes_of(0), dk = dq;
        lanes b = corrects ? lanes_read(o->b + j) : dq, dw = lanes_of(0), db = dw;
        for (int r = 0; r < ROWS; r++) {
            lanes g = lanes_read(grad + r * KP + j) + o->dy[r] * q;
            lanes_write(grad + r * KP + j, g);
            dq += o->dy[r] * lanes_read(after + r * KP + j);
            dk += o->v[r] * g;
            dv[r] += g * k;
            if (decays) dw += g * lanes_read(before + r * KP + j);
            if (corrects) du[r] -= g * b, db -= u[r] * g;
        }
        add_lanes(o->dq + j, dq), add_lanes(o->dk + j, dk);
        if (decays) add_lanes(o->dw + j, dw);
        if (corrects) add_lanes(o->db + j, db);
    }
    for (int r = 0; r < ROWS; r++) o->dv[r] = lanes_sum(dv[r]);
    if (!decays && !corrects) return;
    real each[ROWS];
    for (int r = 0; r < ROWS; r++) each[r] = lanes_sum(du[r]);
    for (int64_t j = 0; j < KP; j += LANES) {
        lanes w = decays ? lanes_read(o->w + j) : lanes_of(1), da = lanes_of(0);
        lanes a = corrects ? lanes_read(o->a + j) : da;
        for (int r = 0; r < ROWS; r++) {
            lanes g = lanes_read(grad + r * KP + j) * w;
            if (corrects) g += each[r] * a, da += each[r] * lanes_read(before + r * KP + j);
            lanes_write(grad + r * KP + j, g);
        }
        if (corrects) add_lanes(o->da + j, da);
    }
}

/* Scratch of the backward pass of a recurrence: state (CHUNK+1,ROWS,KP), u (CHUNK,ROWS). */
typedef struct {
    real *chunks, *grad, *state, *u;
} recurrence;

/* Tokens [from, to), backward, for ROWS rows whose state before them is `start`. */
LRA_ROW_FN void back_chunk(const head *x, const real *dy, const head_gradients *g, int64_t row,
                           int64_t from, int64_t to, bool decays, bool corrects, const real *start,
                           const recurrence *m)
{
    int64_t KP = x->KP, size = ROWS * KP;
    memcpy(m->state, start + row * KP, (size_t)size * sizeof *start);
    for (int64_t t = from; t < to; t++) {
        real *s = m->state + (t - from) * size;
        step_rows(KP, decays ? x->w + t * KP : NULL, corrects ? x->a + t * KP : NULL,
                  corrects ? x->b + t * KP : NULL, x->k + t * KP, x->q + t * KP,
                  x->v + t * x->VP + row, s, s + size, m->u + (t - from) * ROWS, NULL);
    }
    for (int64_t t = to - 1; t >= from; t--) {
        const real *s = m->state + (t - from) * size;
        token o = token_of(x, dy, g, t, row);
        back_rows(KP, &o, decays, corrects, s, s + size, m->u + (t - from) * ROWS,
                  m->grad + row * KP);
    }
}

static inline void back_recurrence(const head *x, const real *dy, const head_gradients *g,
                                   const recurrence *m)
{
    int64_t size = x->VP * x->KP;
    store_states(x, m->chunks);
    memset(m->grad, 0, (size_t)size * sizeof *m->grad);
    for (int64_t i = (x->tokens + CHUNK - 1) / CHUNK - 1; i >= 0; i--) {
        int64_t from = i * CHUNK, to = from + CHUNK < x->tokens ? from + CHUNK : x->tokens;
        const real *start = m->chunks + i * size;
        for (int64_t row = 0; row < x->VP; row += ROWS) {
            if (x->a && x->w)
                back_chunk(x, dy, g, row, from, to, true, true, start, m);
            else if (x->a)
                back_chunk(x, dy, g, row, from, to, false, true, start, m);
            else if (x->w)
                back_chunk(x, dy, g, row, from, to, true, false, start, m);
            else
                back_chunk(x, dy, g, row, from, to, false, false, start, m);
        }
    }
}

/* ---- with a distance limit ------------------------------------------------------------------- */

/* y += factor x, KP elements */
LRA_ROW_FN void add_scaled(real *y, real factor, const real *x, int64_t n)
{
    for (int64_t j = 0; j < n; j++) y[j] += factor * x[j];
}

/* dz_j from dz_(j-1) = `from`, and the gradients of w, a, b of token j. share: b_j . z_j */
LRA_ROW_FN void back_token(const head *x, const head_gradients *g, int64_t j, const real *z,
                           real share, const real *from, real *dz)
{
    int64_t KP = x->KP;
    real into = x->a ? dot(x->a + j * KP, from, KP) : 0;
    for (int64_t i = 0; i < KP; i++) {
        dz[i] += (x->w ? x->w[j * KP + i] : 1) * from[i];
        if (x->w) g->w[j * KP + i] += z[i] * from[i];
        if (!x->a) continue;
        dz[i] -= into * x->b[j * KP + i];
        g->a[j * KP + i] -= share * from[i];
        g->b[j * KP + i] -= into * z[i];
    }
}

/* Adds the gradients of token t. scratch: window_reals() */
static inline void back_window(const head *x, const real *dy, const head_gradients *g, int64_t t,
                               real *scratch)
{
    int64_t KP = x->KP, VP = x->VP, first = t > x->limit ? t - x->limit : 0, n = t - first + 1;
    real *z = scratch, *share = z + (n + 1) * KP, *from = share + n, *to = from + KP;
    memcpy(z, x->q + t * KP, (size_t)KP * sizeof *z);
    for (int64_t i = 0; i < n; i++) share[i] = step_back(x, t - i, z + i * KP, z + (i + 1) * KP);
    memset(from, 0, (size_t)KP * sizeof *from);
    for (int64_t i = n - 1; i >= 0; i--) {
        int64_t j = t - i;
        real weight = dot(x->k + j * KP, z + i * KP, KP), change = 0;
        for (int64_t v = 0; v < VP; v++) change += dy[t * VP + v] * x->v[j * VP + v];
        add_scaled(g->v + j * VP, weight, dy + t * VP, VP);
        add_scaled(g->k + j * KP, change, z + i * KP, KP);
        for (int64_t c = 0; c < KP; c++) to[c] = change * x->k[j * KP + c];
        if (i < n - 1) back_token(x, g, j, z + i * KP, share[i], from, to);
        real *free = from;
        from = to, to = free;
    }
    memcpy(g->q + t * KP, from, (size_t)KP * sizeof *from);
}

/* ---- body ------------------------------------------------------------------------------------ */

/* Writes the gradient of a source from (T,stride): `width` channels, or, for a decay that all
 * channels share, their sum. The gradient of padding is 0. */
static inline void write_gradient(const head_place *p, const real *from, int64_t width,
                                  int64_t stride, bool shared, real *to)
{
    for (int64_t k = 0; k < p->s.T; k++) {
        bool there = k < p->tokens;
        int64_t t = there ? matrix_state_place(p->back, k, p->tokens) : k;
        real *y = to + ((p->b * p->s.T + t) * p->s.H + p->h) * width;
        for (int64_t i = 0; i < width; i++) y[i] = there ? from[k * stride + i] : 0;
        if (there && shared)
            for (int64_t i = 1; i < p->s.K; i++) y[0] += from[k * stride + i];
    }
}

static inline void write_gradients(const lra_call *c, const head_place *p, const head *x,
                                   const head_gradients *g)
{
    const matrix_state_args *a = c->y->args;
    matrix_state_sizes s = p->s;
    const real *const from[] = {g->q, g->k, g->v, g->w, g->a, g->b};
    const int64_t width[] = {s.K, s.K, s.V, s.W, s.K, s.K};
    for (int i = 0; i <= STATE_B; i++)
        if (from[i])
            write_gradient(p, from[i], width[i], i == STATE_V ? x->VP : x->KP,
                           i == STATE_W && s.W == 1, (real *)c->out + matrix_state_offset(a, s, i));
}

/* Cleared gradients of a head at `at`, which is advanced. */
static inline head_gradients new_gradients(const head *x, matrix_state_sizes s, real **at)
{
    int64_t wide = s.T * x->KP, values = s.T * x->VP;
    head_gradients g = {*at, *at + wide, *at + 2 * wide, NULL, NULL, NULL};
    memset(*at, 0, (size_t)head_reals(s) * sizeof **at);
    real *rest = g.v + values;
    if (x->w) g.w = rest;
    if (x->a) g.a = rest + wide, g.b = rest + 2 * wide;
    *at += head_reals(s);
    return g;
}

/* Sources: dy, q, k, v, [w], [a, b], [length], [limit]. */
LRA_BODY(matrix_state_grad)
{
    matrix_state_sizes s = matrix_state_sizes_of(c->y, 1);
    lra_type type = c->y->src[0]->type;
#pragma omp parallel for num_threads(c->n_threads) schedule(static)
    for (int64_t i = 0; i < s.B * s.H; i++) {
        real *at = (real *)c->scratch + omp_get_thread_num() * backward_reals(s);
        head_place p;
        head x = read_head(c, 1, i, &p, &at);
        head_gradients g = new_gradients(&x, s, &at);
        real *dy = at;
        LRA_BY_TYPE(copy_rows, type, &p, c->in[0], s.V, x.VP, dy);
        at += s.T * x.VP;
        if (x.limit < s.T - 1) {
            for (int64_t t = 0; t < x.tokens; t++) back_window(&x, dy, &g, t, at);
        } else {
            int64_t chunks = (s.T + CHUNK - 1) / CHUNK, size = x.VP * x.KP;
            recurrence m = {.chunks = at, .grad = at + chunks * size};
            m.state = m.grad + size, m.u = m.state + (CHUNK + 1) * ROWS * x.KP;
            back_recurrence(&x, dy, &g, &m);
        }
        write_gradients(c, &p, &x, &g);
    }
}

#if LRA_RECORD
LRA_DECLARE(matrix_state_grad)

static int shape(lra_tensor *y, lra_err *e)
{
    if (lra_matrix_state_check(y, 1, e) != 0) return LRA_FAILED;
    if (lra_expect_float(y->src[0], "dy", e) != 0 ||
        lra_expect_shape(y->src[0], y->src[1 + STATE_V]->shape, "dy", e) != 0)
        return LRA_FAILED;
    y->shape = LRA_SHAPE(matrix_state_offset(y->args, matrix_state_sizes_of(y, 1), STATE_LENGTH));
    y->type = lra_real(y->graph);
    return 0;
}

/* FLOP: the forward recurrence twice, without S q in the first pass, and 13 for each element of a
 * state with decay and correction. */
static double flops(const lra_tensor *y)
{
    const matrix_state_args *a = y->args;
    matrix_state_sizes s = matrix_state_sizes_of(y, 1);
    double forward = 2 + a->decays + 4 * a->corrects;
    double backward = 8 + 3 * a->decays + 8 * a->corrects;
    return (double)(s.B * s.T * s.H) * (double)(s.K * s.V) * (2 * forward + backward);
}

static int64_t scratch(const lra_tensor *y, int n_threads)
{
    return n_threads * backward_reals(matrix_state_sizes_of(y, 1)) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

static int64_t cuda_scratch(const lra_tensor *y)
{
    return matrix_state_grad_reals(y->args, matrix_state_sizes_of(y, 1)) *
           (int64_t)lra_type_size(lra_real(y->graph));
}

const lra_op lra_op_matrix_state_grad = {.name = "matrix_state_grad",
                                         .flags = LRA_NOGRAD,
                                         .shape = shape,
                                         .flops = flops,
                                         .scratch = scratch,
                                         .cuda_scratch = cuda_scratch,
                                         .cpu = LRA_BODIES(matrix_state_grad),
                                         .sample = lra_matrix_state_grad_sample};
#endif
