/* Computes rows of mixing matrices: code shared by all families. */
#include "probes/shared/mixing_matrix.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"

static const lra_matrix_family *const families[LRA_MIXING_KINDS] = {
    [LRA_MIX_FEATURES] = &lra_matrix_linear_attention,
    [LRA_MIX_MIXTURES] = &lra_matrix_linformer,
    [LRA_MIX_MEMORY] = &lra_matrix_luna,
    [LRA_MIX_BUCKETS] = &lra_matrix_reformer,
    [LRA_MIX_MAP] = &lra_matrix_masked_average,
    [LRA_MIX_STATE] = &lra_matrix_of_state};

/* ---- in a graph ------------------------------------------------------------------------------ */

static void fill_unit(const lra_fill *f, double *v)
{
    int64_t n = f->shape.d[0];
    for (int64_t i = 0; i < n * n; i++) v[i] = i % n == i / n;
}

lra_tensor *lra_matrix_unit(lra_graph *g, int64_t B, int64_t n, int64_t H)
{
    const lra_param_spec spec = {LRA_FILL(fill_unit)};
    char name[40];
    snprintf(name, sizeof name, "unit%lld", (long long)n);
    lra_tensor *unit = lra_find(g, name); /* exists if another layer has already created it */
    if (!unit) unit = lra_constant(g, name, LRA_SHAPE(n, n), &spec);
    unit = lra_reshape(lra_cast(unit, lra_elem(g)), LRA_SHAPE(1, n, 1, n));
    return lra_add(lra_zeros(g, lra_elem(g), LRA_SHAPE(B, n, H, n)), unit);
}

lra_matrix lra_matrix_at(const lra_tensor *node, int64_t n, int64_t T)
{
    const lra_mixing *of = lra_mixing_of(node);
    lra_matrix w = {.family = families[of->kind], .node = node, .of = of, .T = T};
    if (w.family) w.family->open(n, &w);
    return w;
}

/* ---- after a run ----------------------------------------------------------------------------- */

void lra_matrix_add_outputs(lra_length_graph *v, const lra_matrix *w)
{
    for (int k = 0; k < LRA_MATRIX_ARRAYS && w->array[k]; k++)
        lra_length_graph_output(v, w->array[k]);
}

static int read_real(const lra_length_graph *v, const lra_tensor *x, float **to, lra_err *e)
{
    *to = lra_alloc_array((size_t)lra_elements(x) + 1, sizeof **to);
    return lra_get(v->plan, x, *to, e);
}

int lra_matrix_read(const lra_length_graph *v, const lra_matrix *w, lra_matrix_values *to,
                    lra_err *e)
{
    *to = (lra_matrix_values){.of = w};
    int rc = 0;
    for (int k = 0; k < LRA_MATRIX_ARRAYS && w->array[k] && rc == 0; k++) {
        if (w->array[k]->type == LRA_I32) {
            to->index[k] = lra_alloc_array((size_t)lra_elements(w->array[k]) + 1, sizeof(int32_t));
            rc = lra_get(v->plan, w->array[k], to->index[k], e);
        } else {
            rc = read_real(v, w->array[k], &to->number[k], e);
        }
    }
    if (rc == 0 && w->gram) rc = read_real(v, w->gram, &to->gram, e);
    if (rc == 0 && w->gram && w->by_path) rc = read_real(v, w->by_path, &to->by_path, e);
    return rc;
}

void lra_matrix_free(lra_matrix_values *v)
{
    for (int k = 0; k < LRA_MATRIX_ARRAYS; k++) {
        lra_free(v->number[k]);
        lra_free(v->index[k]);
    }
    lra_free(v->by_path);
    lra_free(v->gram);
    *v = (lra_matrix_values){0};
}

/* ---- rows ------------------------------------------------------------------------------------ */

double lra_matrix_dot(const float *x, const float *y, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return (double)sum;
}

/* Replaces the weights w (T) of a row by their magnitudes, normalised to sum 1, and by -1 where
 * masked (NAN). Returns the number of unmasked weights, or 0 if their sum is 0. */
static int64_t shares(int64_t T, double *w)
{
    double sum = 0;
    int64_t n = 0;
    for (int64_t j = 0; j < T; j++) {
        w[j] = isnan(w[j]) ? -1 : fabs(w[j]);
        if (w[j] >= 0) sum += w[j], n++;
    }
    for (int64_t j = 0; j < T && sum > 0; j++) w[j] = w[j] >= 0 ? w[j] / sum : -1;
    return sum > 0 ? n : 0;
}

int64_t lra_matrix_n_rows(const lra_matrix_rows *r, int64_t T)
{
    return r->most > 0 && r->most < T ? r->most : T;
}

int64_t lra_matrix_row_at(const lra_matrix_rows *r, int64_t p, int64_t T)
{
    /* its first n multiples, modulo 1, are spread evenly over (0,1) for any n */
    const double golden = 0.61803398874989485;
    int64_t n = lra_matrix_n_rows(r, T);
    double start = fmod((double)(r->example + 1) * golden, 1);
    int64_t i = (int64_t)(((double)p + start) * (double)T / (double)n);
    return n == T ? p : i < T ? i : T - 1;
}

/* Adds row p to the column sums: its weights w (T), of which n are unmasked, and the uniform weight
 * 1/n. some: only a sample of rows is evaluated, so rows alternate between `choice` and `mean`. */
static void add_columns(int64_t p, bool some, int64_t T, int64_t n, const double *w, double *rows,
                        const lra_matrix_columns *to)
{
    for (int part = 0; part < 2; part++) {
        double *sum = part ? to->mean : to->choice;
        if (n == 0 || (some && p % 2 != part)) continue;
        rows[part]++;
        for (int64_t j = 0; j < T; j++) {
            if (w[j] < 0) continue;
            sum[j] += w[j];
            if (part) to->equal[j] += 1 / (double)n;
        }
    }
}

void lra_matrix_profile_begin(lra_matrix_profiles *p)
{
    const lra_matrix_columns *columns = p->columns;
    p->n_rows[0] = p->n_rows[1] = 0;
    for (int64_t j = 0; j < p->T && columns; j++)
        columns->choice[j] = columns->mean[j] = columns->equal[j] = 0;
    if (p->tokens) lra_profile_begin(p->tokens, p->T);
    if (p->pixels) lra_profile_begin(p->pixels, p->T);
}

void lra_matrix_profile_rows(lra_matrix_profiles *x, const lra_matrix_values *v, int64_t s,
                             int64_t head, int64_t from, int64_t to)
{
    int64_t T = x->T, n_selected = lra_matrix_n_rows(&x->rows, T);
    double *w = lra_alloc_array((size_t)T + 1, sizeof *w);
    for (int64_t p = from; p < to; p++) {
        int64_t i = lra_matrix_row_at(&x->rows, p, T);
        v->of->family->row(v, s, head, i, T, w);
        if (x->hole >= 0) w[x->hole] = NAN;
        int64_t n = shares(T, w);
        if (x->tokens) lra_profile_row(x->tokens, i, 0, T, w);
        if (x->pixels) lra_profile_row(x->pixels, i, 0, T, w);
        if (x->columns)
            add_columns(p, n_selected > 1 && n_selected < T, T, n, w, x->n_rows, x->columns);
    }
    lra_free(w);
}

void lra_matrix_profile_end(lra_matrix_profiles *p)
{
    const lra_matrix_columns *columns = p->columns;
    if (p->tokens) lra_profile_end(p->tokens);
    if (p->pixels) lra_profile_end(p->pixels);
    for (int64_t j = 0; j < p->T && columns; j++) {
        columns->choice[j] /= p->n_rows[0] > 0 ? p->n_rows[0] : 1;
        columns->mean[j] /= p->n_rows[1] > 0 ? p->n_rows[1] : 1;
        columns->equal[j] /= p->n_rows[1] > 0 ? p->n_rows[1] : 1;
    }
}

void lra_matrix_profile(const lra_matrix_values *v, int64_t s, int64_t head, lra_matrix_profiles *p)
{
    lra_matrix_profile_begin(p);
    lra_matrix_profile_rows(p, v, s, head, 0, lra_matrix_n_rows(&p->rows, p->T));
    lra_matrix_profile_end(p);
}

/* Divides a row by its sum. */
static void normalise(int64_t T, double *w)
{
    double sum = 0;
    for (int64_t j = 0; j < T; j++) sum += w[j];
    for (int64_t j = 0; j < T; j++) w[j] /= sum;
}

/* Row i of A' = (mean over heads of A + 1) / 2, normalised to sum 1: mean (T). seen (T): 1 where
 * any head has an unmasked weight. own (T): scratch. */
static void mean_row(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *own,
                     double *mean, uint8_t *seen)
{
    double heads = 0;
    memset(seen, 0, (size_t)T);
    for (int64_t j = 0; j < T; j++) mean[j] = 0;
    for (int64_t h = 0; h < v->of->heads; h++) {
        v->of->family->row(v, s, h, i, T, own);
        for (int64_t j = 0; j < T && v->raw; j++) own[j] = isnan(own[j]) ? -1 : fabs(own[j]);
        bool defined = v->raw || shares(T, own) > 0;
        heads += defined;
        for (int64_t j = 0; j < T && defined; j++)
            if (own[j] >= 0) mean[j] += own[j], seen[j] = 1;
    }
    for (int64_t j = 0; j < T; j++) mean[j] *= heads > 0 ? 0.5 / heads : 0;
    mean[i] += heads > 0 ? 0.5 : 1;
    seen[i] = 1;
    if (v->raw) normalise(T, mean);
}

/* Adds a row of A', times `from`, to a row of the product: to (T). reached (T): set to 1 where the
 * row of A' has an unmasked weight (`seen`). */
static void add_row(int64_t T, double from, const double *mean, const uint8_t *seen, double *to,
                    uint8_t *reached)
{
#pragma omp simd
    for (int64_t j = 0; j < T; j++) to[j] += from * mean[j];
#pragma omp simd
    for (int64_t j = 0; j < T; j++) reached[j] |= seen[j];
}

struct lra_roll {
    int64_t T, n;
    double *r, *next;          /* (n,T) rows of the product so far, and of the next one */
    uint8_t *before, *reached; /* (n,T) 1: a path leads to the position, in r and in next */
};

lra_roll *lra_roll_new(int64_t T, int64_t n, const int32_t *position)
{
    size_t all = (size_t)(n * T);
    lra_roll *x = lra_alloc(sizeof *x);
    *x = (lra_roll){.T = T,
                    .n = n,
                    .r = lra_alloc_array(all + 1, sizeof *x->r),
                    .next = lra_alloc_array(all + 1, sizeof *x->next),
                    .before = lra_alloc_array(all + 1, 1),
                    .reached = lra_alloc_array(all + 1, 1)};
    for (int64_t k = 0; k < n * T; k++) x->r[k] = x->before[k] = k % T == position[k / T];
    return x;
}

void lra_roll_begin(lra_roll *x)
{
    size_t all = (size_t)(x->n * x->T);
    memset(x->next, 0, all * sizeof *x->next);
    memset(x->reached, 0, all);
}

void lra_roll_rows(lra_roll *x, const lra_matrix_values *layer, int64_t s, int64_t from, int64_t to)
{
    int64_t T = x->T;
    double *own = lra_alloc_array((size_t)(2 * T) + 1, sizeof *own), *mean = own + T;
    uint8_t *seen = lra_alloc_array((size_t)T + 1, 1);
    for (int64_t i = from; i < to; i++) {
        mean_row(layer, s, i, T, own, mean, seen);
        for (int64_t p = 0; p < x->n; p++)
            if (x->before[p * T + i])
                add_row(T, x->r[p * T + i], mean, seen, x->next + p * T, x->reached + p * T);
    }
    lra_free(seen);
    lra_free(own);
}

void lra_roll_end(lra_roll *x)
{
    size_t all = (size_t)(x->n * x->T);
    memcpy(x->r, x->next, all * sizeof *x->r);
    memcpy(x->before, x->reached, all);
}

double *lra_roll_finish(lra_roll *x)
{
    double *r = x->r;
    for (int64_t k = 0; k < x->n * x->T; k++) r[k] = x->before[k] ? r[k] : -1;
    lra_free(x->next);
    lra_free(x->before);
    lra_free(x->reached);
    lra_free(x);
    return r;
}
