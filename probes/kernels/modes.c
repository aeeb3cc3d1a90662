/* Computes the modes of state spaces (modes.h). */
#define LRA_TYPE     f64
#define LRA_TYPE_f64 1 /* modes are computed in double, whatever the type of the graph */
#include "probes/kernels/modes.h"

#include <complex.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/ssm/dplr_kernel_body.h"
#include "kernels/ops/ssm/ssm_kernel_body.h"

static bool makes_kernels(const lra_tensor *x)
{
    return x->op == &lra_op_ssm_kernel || x->op == &lra_op_dplr_kernel;
}

lra_tensor *lra_modes_node(lra_tensor *x)
{
    while (!makes_kernels(x)) {
        bool moves = (x->op->flags & LRA_ALIAS) || x->op == &lra_op_slice_copy ||
                     x->op == &lra_op_concat || x->op == &lra_op_cast;
        if (!moves) return NULL;
        x = x->src[0];
    }
    return x;
}

void lra_modes_add_outputs(lra_length_graph *v, lra_tensor *node)
{
    for (int i = 0; i < node->n_src; i++) lra_length_graph_output(v, node->src[i]);
}

double *lra_view_numbers(const lra_length_graph *v, const lra_tensor *x, lra_err *e)
{
    int64_t n = lra_elements(x);
    double *to = lra_alloc_array((size_t)n, sizeof *to);
    float *from = x->type == LRA_F64 ? NULL : lra_alloc_array((size_t)n, sizeof *from);
    int rc = lra_get(v->plan, x, from ? (void *)from : to, e);
    for (int64_t i = 0; i < n && from; i++) to[i] = (double)from[i];
    lra_free(from);
    if (rc == 0) return to;
    lra_free(to);
    return NULL;
}

static void fill_diagonal(const ssm_kernel_args *s, double *const *source, lra_modes *m)
{
    m->rows = s->R, m->n = s->N;
    m->x = lra_alloc_array((size_t)(s->R * s->N * 2), sizeof *m->x);
    m->w = lra_alloc_array((size_t)(s->R * s->N * 2), sizeof *m->w);
    for (int64_t r = 0; r < s->R; r++)
        for (int64_t n = 0; n < s->N; n++) {
            ssm_mode one = ssm_mode_at(s, source[0], source[2], r, n);
            c_number weight = c_mul(ssm_weight_at(s, source[1], r, n), one.gain);
            double *x = m->x + (r * s->N + n) * 2, *w = m->w + (r * s->N + n) * 2;
            x[0] = one.x.re, x[1] = one.x.im, w[0] = weight.re, w[1] = weight.im;
            m->scale = one.scale;
        }
}

static void fill_low_rank(const dplr_args *s, double *const *source, lra_modes *m)
{
    const lra_dplr_numbers numbers = {s->L,      s->H,      s->R,      s->N,      source[0],
                                      source[1], source[2], source[3], source[4], source[5]};
    lra_dplr_exact *exact = lra_dplr_exact_new(&numbers);
    if (!lra_dplr_modes(&numbers, m)) m->rows = s->R; /* the modes are then unknown (n = 0) */
    m->exact = exact;
}

void lra_modes_free(lra_modes *m)
{
    lra_free(m->x);
    lra_free(m->w);
    lra_dplr_exact_free(m->exact);
    *m = (lra_modes){0};
}

enum { SOURCES = 6 };

int lra_modes_get(const lra_length_graph *v, lra_tensor *node, lra_modes *m, lra_err *e)
{
    double *source[SOURCES] = {NULL};
    int rc = 0;
    for (int i = 0; i < node->n_src && rc == 0; i++)
        rc = (source[i] = lra_view_numbers(v, node->src[i], e)) ? 0 : LRA_FAILED;
    if (rc == 0 && node->op == &lra_op_ssm_kernel) fill_diagonal(node->args, source, m);
    if (rc == 0 && node->op == &lra_op_dplr_kernel) fill_low_rank(node->args, source, m);
    for (int i = 0; i < SOURCES; i++) lra_free(source[i]);
    return rc;
}

static double complex at(const double *z, int64_t i)
{
    return z[2 * i] + z[2 * i + 1] * I;
}

double lra_modes_value(const lra_modes *m, int64_t row, int64_t d)
{
    double sum = 0;
    for (int64_t n = row * m->n; n < (row + 1) * m->n; n++)
        sum += creal(at(m->w, n) * cexp(at(m->x, n) * (double)d));
    return m->scale * sum;
}

void lra_modes_complex(const lra_modes *m, int64_t row, int64_t n, double *z)
{
    if (m->exact) {
        lra_dplr_complex(m->exact, row, n, z);
        return;
    }
    double complex *now = lra_alloc_array((size_t)(2 * m->n), sizeof *now), *turn = now + m->n;
    for (int64_t i = 0; i < m->n; i++) {
        now[i] = m->scale * at(m->w, row * m->n + i);
        turn[i] = cexp(at(m->x, row * m->n + i));
    }
    for (int64_t d = 0; d < n; d++) {
        double complex sum = 0;
        for (int64_t i = 0; i < m->n; i++) sum += now[i], now[i] *= turn[i];
        z[2 * d] = creal(sum), z[2 * d + 1] = cimag(sum);
    }
    lra_free(now);
}

/* Uses Re a Re b = Re(a b + a conj b)/2 and geometric sums over lags. */
double lra_modes_energy(const lra_modes *m, int64_t row, int64_t from)
{
    const double *x = m->x + row * m->n * 2, *w = m->w + row * m->n * 2;
    double sum = 0;
    for (int64_t n = 0; n < m->n; n++)
        if (x[2 * n] >= 0) return INFINITY;
    for (int64_t n = 0; n < m->n; n++)
        for (int64_t k = 0; k <= n; k++) {
            double complex both = at(x, n) + at(x, k), turn = at(x, n) + conj(at(x, k));
            double pair = creal(at(w, n) * at(w, k) * cexp(both * (double)from) / (1 - cexp(both)) +
                                at(w, n) * conj(at(w, k)) * cexp(turn * (double)from) /
                                    (1 - cexp(turn)));
            sum += (k < n ? 2 : 1) * pair / 2;
        }
    return m->scale * m->scale * sum;
}
