/* Modes of state spaces. */
#define LRA_PASS 64 /* modes in double, whatever the graph computes in */
#include "probes/kernels/modes.h"

#include <complex.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/ssm_kernel_fn.h"

lra_tensor *lra_modes_node(lra_tensor *x)
{
    while (x->op != &lra_op_ssm_kernel && (x->op->flags & LRA_ALIAS) && x->n_src == 1 &&
           lra_elements(x) == lra_elements(x->src[0]))
        x = x->src[0];
    return x->op == &lra_op_ssm_kernel ? x : NULL;
}

void lra_modes_ask(lra_view *v, lra_tensor *node)
{
    for (int i = 0; i < node->n_src; i++) lra_view_ask(v, node->src[i]);
}

/* A source, in double; caller frees. */
static double *read_source(const lra_view *v, const lra_tensor *x, lra_err *e)
{
    int64_t n = lra_elements(x);
    float *from = lra_alloc_array((size_t)n, sizeof *from);
    double *to = lra_alloc_array((size_t)n, sizeof *to);
    int rc = lra_get(v->plan, x, from, e);
    for (int64_t i = 0; i < n; i++) to[i] = (double)from[i];
    lra_free(from);
    if (rc == 0) return to;
    lra_free(to);
    return NULL;
}

static void fill(const ssm_kernel_args *s, double *const *source, lra_modes *m)
{
    m->rows = s->R, m->n = s->N;
    m->x = lra_alloc_array((size_t)(s->R * s->N * 2), sizeof *m->x);
    m->w = lra_alloc_array((size_t)(s->R * s->N * 2), sizeof *m->w);
    for (int64_t r = 0; r < s->R; r++)
        for (int64_t n = 0; n < s->N; n++) {
            ssm_mode one = ssm_mode_at(s, source[0], source[1], source[2], r, n);
            double *x = m->x + (r * s->N + n) * 2, *w = m->w + (r * s->N + n) * 2;
            x[0] = one.x.re, x[1] = one.x.im, w[0] = one.w.re, w[1] = one.w.im;
            m->scale = one.scale;
        }
}

int lra_modes_get(const lra_view *v, lra_tensor *node, lra_modes *m, lra_err *e)
{
    double *source[3] = {NULL};
    int rc = 0;
    for (int i = 0; i < node->n_src && rc == 0; i++)
        rc = (source[i] = read_source(v, node->src[i], e)) ? 0 : LRA_FAILED;
    if (rc == 0) fill(node->args, source, m);
    for (int i = 0; i < 3; i++) lra_free(source[i]);
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

/* sum_(d >= from) k^2 / scale^2, by Re a Re b = Re(a b + a conj b)/2 and geometric sums. */
static double energy(const lra_modes *m, int64_t row, int64_t from)
{
    const double *x = m->x + row * m->n * 2, *w = m->w + row * m->n * 2;
    double sum = 0;
    for (int64_t n = 0; n < m->n; n++)
        for (int64_t k = 0; k <= n; k++) {
            double complex both = at(x, n) + at(x, k), turn = at(x, n) + conj(at(x, k));
            double pair = creal(at(w, n) * at(w, k) * cexp(both * (double)from) / (1 - cexp(both)) +
                                at(w, n) * conj(at(w, k)) * cexp(turn * (double)from) /
                                    (1 - cexp(turn)));
            sum += (k < n ? 2 : 1) * pair / 2;
        }
    return sum;
}

double lra_modes_cut(const lra_modes *m, int n_rows, const int64_t *row, int64_t T)
{
    double far = 0, all = 0;
    for (int i = 0; i < n_rows; i++) {
        for (int64_t n = row[i] * m->n; n < (row[i] + 1) * m->n; n++)
            if (m->x[2 * n] >= 0) return 1;
        far += energy(m, row[i], T), all += energy(m, row[i], 0);
    }
    return all > 0 ? fmin(fmax(far / all, 0), 1) : NAN;
}
