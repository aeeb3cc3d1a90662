/* Computes kernels of scans (scan_kernels.h). */
#include "probes/kernels/scan_kernels.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/ssm/scan_body.h"

enum { MOST_NODES = 4096, MOST_SIDES = 2 };

/* ---- in the graph ---------------------------------------------------------------------------- */

/* Returns the tensor of which x is a copy in another type; x itself if there is none. */
static lra_tensor *bare(lra_tensor *x)
{
    while (x->op == &lra_op_cast) x = x->src[0];
    return x;
}

static bool looks_ahead(const lra_tensor *scan)
{
    return ((const scan_args *)scan->args)->back;
}

static int all_scans(const lra_graph *g, lra_tensor **scan)
{
    int n = lra_graph_nodes(g, &lra_op_scan, MOST_NODES, scan);
    return n < MOST_NODES ? n : MOST_NODES;
}

/* The scan of the same inputs with the same lambda in the other direction, or NULL. */
static lra_tensor *other_side(const lra_graph *g, lra_tensor *scan)
{
    lra_tensor *all[MOST_NODES];
    int n = all_scans(g, all);
    for (int i = 0; i < n; i++)
        if (all[i] != scan && bare(all[i]->src[0]) == bare(scan->src[0]) &&
            bare(all[i]->src[1]) == bare(scan->src[1]) && looks_ahead(all[i]) != looks_ahead(scan))
            return all[i];
    return NULL;
}

int lra_scans_find(const lra_graph *g, int most, lra_tensor **scan)
{
    lra_tensor *all[MOST_NODES];
    int n = all_scans(g, all), found = 0;
    for (int i = 0; i < n && found < most; i++)
        if (!looks_ahead(all[i]) || !other_side(g, all[i])) scan[found++] = all[i];
    return found;
}

/* Weights of the dense layer that reads x; NULL if no layer or several layers read it. */
static lra_tensor *read_by(const lra_graph *g, const lra_tensor *x)
{
    lra_tensor *all[MOST_NODES], *w = NULL;
    int n = lra_graph_nodes(g, &lra_op_linear, MOST_NODES, all), readers = 0;
    for (int i = 0; i < n && i < MOST_NODES; i++)
        if (bare(all[i]->src[0]) == x) w = all[i]->src[1], readers++;
    return readers == 1 ? w : NULL;
}

/* Tensors around a scan: lambda (2,N); in (D,2N): weights that compute the inputs of the states;
 * out (2N,H): weights that read the states, for each direction. */
typedef struct {
    int sides;
    lra_tensor *lambda, *in, *out[MOST_SIDES];
} parts;

static int find_parts(const lra_length_graph *v, lra_tensor *scan, parts *p, lra_err *e)
{
    const lra_graph *g = v->network.graph;
    lra_tensor *side[] = {scan, other_side(g, scan)}, *source = bare(scan->src[0]);
    *p = (parts){.sides = side[1] ? 2 : 1, .lambda = scan->src[1]};
    bool known = source->op == &lra_op_linear;
    if (known) p->in = source->src[1];
    for (int s = 0; s < p->sides && known; s++) known = (p->out[s] = read_by(g, side[s])) != NULL;
    if (known) return 0;
    return lra_fail(e, "the scan of '%s' is not between two dense layers", scan->scope);
}

int lra_scan_sizes(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e)
{
    parts p;
    if (find_parts(v, scan, &p, e) != 0) return LRA_FAILED;
    *m = (lra_scan_map){
        p.sides, lra_width(p.lambda), p.in->shape.d[0], lra_width(p.out[0]), NULL, NULL, NULL};
    if (looks_ahead(scan)) /* a backward scan without a forward scan */
        return lra_fail(e, "the scan of '%s' only runs backwards; expected a forward scan",
                        scan->scope);
    return 0;
}

int lra_scan_add_outputs(lra_length_graph *v, lra_tensor *scan, lra_err *e)
{
    parts p;
    if (find_parts(v, scan, &p, e) != 0) return LRA_FAILED;
    lra_length_graph_output(v, p.lambda);
    lra_length_graph_output(v, p.in);
    for (int s = 0; s < p.sides; s++) lra_length_graph_output(v, p.out[s]);
    return 0;
}

int lra_scan_read(const lra_length_graph *v, lra_tensor *scan, lra_scan_map *m, lra_err *e)
{
    parts p;
    if (lra_scan_sizes(v, scan, m, e) != 0 || find_parts(v, scan, &p, e) != 0) return LRA_FAILED;
    int64_t N = m->N, D = m->inputs, H = m->outputs;
    double *lambda = lra_view_numbers(v, p.lambda, e);
    double *in = lambda ? lra_view_numbers(v, p.in, e) : NULL;
    int rc = in ? 0 : LRA_FAILED;
    m->lambda = lra_alloc_array((size_t)(2 * N), sizeof(double));
    m->b = lra_alloc_array((size_t)(2 * D * N), sizeof(double));
    m->g = lra_alloc_array((size_t)(2 * p.sides * N * H), sizeof(double));
    for (int64_t i = 0; i < 2 * N && rc == 0; i++) m->lambda[2 * (i % N) + i / N] = lambda[i];
    for (int64_t i = 0; i < 2 * D * N && rc == 0; i++)
        m->b[2 * (i / (2 * N) * N + i % N) + i % (2 * N) / N] = in[i];
    for (int s = 0; s < p.sides && rc == 0; s++) {
        double *out = lra_view_numbers(v, p.out[s], e);
        if (!out) rc = LRA_FAILED;
        /* the layer computes y = Re x times its upper N rows + Im x times its lower N rows */
        for (int64_t i = 0; i < N * H && rc == 0; i++) {
            double *to = m->g + 2 * (s * N * H + i);
            to[0] = out[i], to[1] = -out[N * H + i];
        }
        lra_free(out);
    }
    lra_free(lambda);
    lra_free(in);
    return rc;
}

void lra_scan_map_free(lra_scan_map *m)
{
    lra_free(m->lambda);
    lra_free(m->b);
    lra_free(m->g);
    *m = (lra_scan_map){0};
}

/* ---- numbers --------------------------------------------------------------------------------- */

static double complex at(const double *z, int64_t i)
{
    return z[2 * i] + z[2 * i + 1] * I;
}

/* Adds the kernel of one direction to z (inputs, behind + ahead), from lag 0 on. side: 1 for the
 * anticausal direction */
static void add_side(const lra_scan_map *m, int side, int64_t output, int64_t behind, int64_t ahead,
                     double complex *z)
{
    int64_t lags = behind + ahead, n_lags = side ? behind + 1 : ahead;
    double complex *now = lra_alloc_array((size_t)m->N, sizeof *now);
    for (int64_t n = 0; n < m->N; n++) now[n] = at(m->g, (side * m->N + n) * m->outputs + output);
    for (int64_t d = 0; d < n_lags; d++) {
        for (int64_t i = 0; i < m->inputs; i++) {
            const double *b = m->b + 2 * i * m->N;
            double re = 0, im = 0;
            for (int64_t n = 0; n < m->N; n++) {
                re += creal(now[n]) * b[2 * n] - cimag(now[n]) * b[2 * n + 1];
                im += creal(now[n]) * b[2 * n + 1] + cimag(now[n]) * b[2 * n];
            }
            z[i * lags + behind + (side ? -d : d)] += re + im * I;
        }
        for (int64_t n = 0; n < m->N; n++) now[n] *= at(m->lambda, n);
    }
    lra_free(now);
}

bool lra_scan_kernels(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                      double *k, double *mod)
{
    int64_t lags = behind + ahead, size = m->inputs * lags;
    double complex *z = lra_alloc_array((size_t)size, sizeof *z);
    bool turns = false;
    for (int64_t c = 0; c < n; c++, k += size) {
        memset(z, 0, (size_t)size * sizeof *z);
        for (int s = 0; s < m->sides; s++) add_side(m, s, c * step, behind, ahead, z);
        for (int64_t i = 0; i < size; i++) {
            k[i] = creal(z[i]);
            turns = turns || cimag(z[i]) != 0;
        }
        for (int64_t j = 0; j < lags && mod; j++) {
            double squares = 0;
            for (int64_t i = j; i < size; i += lags)
                squares += creal(z[i]) * creal(z[i]) + cimag(z[i]) * cimag(z[i]);
            mod[c * lags + j] = sqrt(squares);
        }
    }
    lra_free(z);
    return turns;
}

/* Computes sum_i b_(i,n) b_(i,k), returned, and sum_i b_(i,n) conj b_(i,k), in *turned: (N,N) each,
 * for k <= n. The caller frees the returned array, which contains both. */
static double complex *products(const lra_scan_map *m, double complex **turned)
{
    int64_t N = m->N;
    double complex *same = lra_alloc_array((size_t)(2 * N * N), sizeof *same);
    *turned = same + N * N;
    for (int64_t i = 0; i < m->inputs; i++)
        for (int64_t n = 0; n < N; n++)
            for (int64_t k = 0; k <= n; k++) {
                double complex a = at(m->b, i * N + n), b = at(m->b, i * N + k);
                same[n * N + k] += a * b, (*turned)[n * N + k] += a * conj(b);
            }
    return same;
}

/* Multiplies `same` by sum_(d >= from) (lambda_n lambda_k)^d and `turned` by sum_(d >= from)
 * (lambda_n conj lambda_k)^d. */
static void sum_lags(const lra_scan_map *m, int64_t from, double complex *same,
                     double complex *turned)
{
    for (int64_t n = 0; n < m->N; n++)
        for (int64_t k = 0; k <= n; k++) {
            double complex x = at(m->lambda, n), y = at(m->lambda, k);
            same[n * m->N + k] *= cpow(x * y, (double)from) / (1 - x * y);
            turned[n * m->N + k] *= cpow(x * conj(y), (double)from) / (1 - x * conj(y));
        }
}

/* Energy of one output in one direction, from the results of sum_lags(), with Re a Re b = Re(a b +
 * a conj b)/2. */
static double energy(const lra_scan_map *m, int side, int64_t output, const double complex *same,
                     const double complex *turned)
{
    double sum = 0;
    for (int64_t n = 0; n < m->N; n++)
        for (int64_t k = 0; k <= n; k++) {
            double complex g = at(m->g, (side * m->N + n) * m->outputs + output);
            double complex h = at(m->g, (side * m->N + k) * m->outputs + output);
            double pair = creal(g * h * same[n * m->N + k] + g * conj(h) * turned[n * m->N + k]);
            sum += (k < n ? 2 : 1) * pair / 2;
        }
    return sum;
}

void lra_scan_cuts(const lra_scan_map *m, int64_t n, int64_t step, int64_t behind, int64_t ahead,
                   const double *k, double *cut)
{
    int64_t size = m->inputs * (behind + ahead);
    bool decays = true;
    for (int64_t i = 0; i < m->N; i++) decays = decays && cabs(at(m->lambda, i)) < 1;
    for (int64_t c = 0; c < n; c++) cut[c] = decays ? 0 : INFINITY;
    for (int s = 0; s < m->sides && decays; s++) {
        double complex *turned, *same = products(m, &turned);
        sum_lags(m, s ? behind + 1 : ahead, same, turned);
        for (int64_t c = 0; c < n; c++) cut[c] += fmax(energy(m, s, c * step, same, turned), 0);
        lra_free(same);
    }
    for (int64_t c = 0; c < n; c++) {
        double near = 0;
        for (int64_t i = 0; i < size; i++) near += k[c * size + i] * k[c * size + i];
        cut[c] = isinf(cut[c]) ? 1 : cut[c] + near > 0 ? cut[c] / (cut[c] + near) : (double)NAN;
    }
}

void lra_scan_modes(const lra_scan_map *m, lra_modes *to)
{
    to->rows = m->sides, to->n = m->N, to->scale = 1;
    to->x = lra_alloc_array((size_t)(2 * to->rows * to->n), sizeof *to->x);
    to->w = lra_alloc_array((size_t)(2 * to->rows * to->n), sizeof *to->w);
    for (int64_t r = 0; r < m->sides; r++)
        for (int64_t n = 0; n < m->N; n++) {
            double *x = to->x + 2 * (r * m->N + n), in = 0, out = 0;
            double complex rate = clog(at(m->lambda, n));
            for (int64_t i = 0; i < m->inputs; i++) in += pow(cabs(at(m->b, i * m->N + n)), 2);
            for (int64_t c = 0; c < m->outputs; c++)
                out += pow(cabs(at(m->g, (r * m->N + n) * m->outputs + c)), 2);
            x[0] = creal(rate), x[1] = cimag(rate);
            to->w[2 * (r * m->N + n)] = sqrt(in * out);
        }
}
