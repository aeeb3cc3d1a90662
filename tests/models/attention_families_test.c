/* Attention weights of models without an attention operation (probes/shared/mixing_matrix.h),
 * compared in double with the dense definition computed from the outputs of linear layers for
 * queries, keys and values. Tested for each family: rows, profiles, maps and rollout; the
 * contribution of a key to a position, whose sum over keys must be the model's own result at the
 * position. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/kernel_attention.h"
#include "models/training/session.h"
#include "probes/attention/heads.h"
#include "probes/attention/maps.h"
#include "probes/shared/attention_nodes.h"
#include "probes/attention/rollout.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_group.h"

enum { LAYERS = 2, HEADS = 4, MOST = 64, WIDTH = 64, SOURCES = 8 };

/* ---- what a layer is made of ----------------------------------------------------------------- */

/* Outputs of linear layers, or parameters, of a layer: (.., heads K) for a sequence. */
typedef struct {
    const float *x[SOURCES];
    int64_t width[SOURCES];
    int64_t heads;
    int64_t all; /* number of positions that are keys, possibly including padding */
} parts;

/* Computes the weights of a head for n tokens, (n, n); NAN: the definition allows no weight. */
typedef void (*dense)(const parts *p, int head, int n, double *a);
/* Adds the contribution of token j to the output at position i of the layer after the heads, y
 * (width), for the weights a (heads, n, n). */
typedef void (*added)(const parts *p, const double *a, int i, int j, int n, double *y);

static double dot(const float *x, const float *y, int64_t K)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) sum += (double)x[k] * (double)y[k];
    return sum;
}

static const float *at(const parts *p, int source, int64_t row, int head)
{
    return p->x[source] + row * p->width[source] + head * (p->width[source] / p->heads);
}

static double product(const parts *p, int head, int i, int64_t j, int64_t K, bool relu)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) {
        double q = (double)at(p, 0, i, head)[k], key = (double)at(p, 1, j, head)[k];
        if (relu)
            q = fmax(q, 0) + 1e-3, key = fmax(key, 0) + 1e-3;
        else
            q = q > 0 ? q + 1 : exp(q), key = key > 0 ? key + 1 : exp(key);
        sum += q * key;
    }
    return sum;
}

static void products(const parts *p, int head, int n, bool relu, double *a)
{
    int64_t K = p->width[0] / p->heads;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0, own = 0;
            for (int64_t other = 0; other < p->all; other++) {
                double w = product(p, head, i, other, K, relu);
                sum += w, own = other == j ? w : own;
            }
            a[i * n + j] = own / sum;
        }
}
static void elu_products(const parts *p, int head, int n, double *a)
{
    products(p, head, n, false, a);
}
static void relu_products(const parts *p, int head, int n, double *a)
{
    products(p, head, n, true, a);
}

/* Computes the softmax over m keys of source k, for row i of source q. */
static void softmax(const parts *p, int q, int k, int64_t i, int head, int64_t m, double *a)
{
    int64_t K = p->width[q] / p->heads;
    double sum = 0;
    for (int64_t j = 0; j < m; j++)
        sum += a[j] = exp(dot(at(p, q, i, head), at(p, k, j, head), K) / sqrt((double)K));
    for (int64_t j = 0; j < m; j++) a[j] /= sum;
}

/* Sources: q, keys of the mixtures, the mixture matrix (T, M). */
static void mixed(const parts *p, int head, int n, double *a)
{
    int64_t M = p->width[2];
    double few[MOST];
    for (int i = 0; i < n; i++) {
        softmax(p, 0, 1, i, head, M, few);
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t m = 0; m < M; m++) sum += few[m] * (double)p->x[2][j * M + m];
            a[i * n + j] = sum;
        }
    }
}

enum { M = 5 }; /* number of memory rows */

/* Sources: pack_q, pack_k, unpack_q, unpack_k. */
static void packed(const parts *p, int head, int n, double *a)
{
    double pack[M][MOST] = {{0}}, one[MOST], unpack[M];
    for (int m = 0; m < M; m++)
        for (int g = 0; g < p->heads; g++) {
            softmax(p, 0, 1, m, g, n, one);
            for (int j = 0; j < n; j++) pack[m][j] += one[j] / (double)p->heads;
        }
    for (int i = 0; i < n; i++) {
        softmax(p, 2, 3, i, head, M, unpack);
        for (int j = 0; j < n; j++) {
            a[i * n + j] = 0;
            for (int m = 0; m < M; m++) a[i * n + j] += unpack[m] * pack[m][j];
        }
    }
}

/* Returns the bucket of a token: the index of the largest of [q R, -q R], R (K, half). */
static int bucket_of(const parts *p, int head, int i)
{
    int64_t K = p->width[0] / p->heads, half = p->width[1];
    const float *q = at(p, 0, i, head), *R = p->x[1] + head * K * half;
    double most = -INFINITY;
    int best = 0;
    for (int b = 0; b < 2 * half; b++) {
        double sum = 0;
        for (int64_t k = 0; k < K; k++) sum += (double)q[k] * (double)R[k * half + b % half];
        if (b >= half) sum = -sum;
        if (sum > most) most = sum, best = b;
    }
    return best;
}

/* Sources: q, rotations. There are 3 chunks; each attends to itself and to the previous one. */
static void hashed(const parts *p, int head, int n, double *a)
{
    enum { J = 3 };
    int64_t K = p->width[0] / p->heads;
    int order[MOST], place[MOST], c = (n + J - 1) / J, last = (n + c - 1) / c - 1;
    double sum;
    for (int i = 0; i < n; i++) { /* place[i]: number of tokens before token i in the order */
        place[i] = 0;
        for (int j = 0; j < n; j++) {
            int one = bucket_of(p, head, j), own = bucket_of(p, head, i);
            place[i] += one < own || (one == own && j < i);
        }
        order[place[i]] = i;
    }
    for (int i = 0; i < n; i++) {
        int own = place[i] / c, before = own > 0 ? own - 1 : last;
        sum = 0;
        for (int j = 0; j < n; j++) a[i * n + j] = NAN;
        for (int both = 0; both < 2; both++)
            for (int at_place = 0; at_place < n; at_place++) {
                int j = order[at_place];
                if (at_place / c != (both ? before : own) || (!both && j == i)) continue;
                double w = exp(dot(at(p, 0, i, head), at(p, 0, j, head), K) / sqrt((double)K));
                a[i * n + j] = isnan(a[i * n + j]) ? w : a[i * n + j] + w;
                sum += w;
            }
        for (int j = 0; j < n; j++) a[i * n + j] /= sum;
    }
}

/* Sources: q, k. Causal softmax weights are averaged over 3 columns; columns after the query are
 * masked again, and each row is divided by its sum. There is no decay. */
static void remasked(const parts *p, int head, int n, double *a)
{
    double one[MOST];
    for (int i = 0; i < n; i++) {
        double sum = 0;
        softmax(p, 0, 1, i, head, i + 1, one);
        for (int j = 0; j < n; j++) {
            a[i * n + j] = j > i ? NAN : 0;
            for (int k = j - 1; k <= j + 1 && j <= i; k++)
                if (k >= 0 && k <= i) a[i * n + j] += one[k];
            sum += j > i ? 0 : a[i * n + j];
        }
        for (int j = 0; j <= i; j++) a[i * n + j] /= sum;
    }
}

/* ---- what a key adds ------------------------------------------------------------------------- */

/* Adds a v W to y (width), where W are the rows of source w from row `from` on, one for each of the
 * V elements of v. */
static void add_times(const parts *p, double a, const double *v, int64_t V, int w, int64_t from,
                      double *y)
{
    int64_t D = p->width[w];
    for (int64_t k = 0; k < V; k++)
        for (int64_t d = 0; d < D; d++) y[d] += a * v[k] * (double)p->x[w][(from + k) * D + d];
}

/* The values are source `v`, and the output matrix is source `out`. */
static void by_heads(const parts *p, int v, int out, const double *a, int i, int j, int n,
                     double *y)
{
    int64_t V = p->width[v] / p->heads;
    double own[WIDTH];
    for (int64_t d = 0; d < p->width[out]; d++) y[d] = 0;
    for (int h = 0; h < p->heads; h++) {
        double w = a[(h * n + i) * n + j];
        for (int64_t k = 0; k < V; k++) own[k] = (double)at(p, v, j, h)[k];
        if (!isnan(w)) add_times(p, w, own, V, out, h * V, y);
    }
}
static void values_out(const parts *p, const double *a, int i, int j, int n, double *y)
{
    by_heads(p, 2, 3, a, i, j, n, y);
}

/* The values are source u multiplied by a matrix. */
static void of_mixtures(const parts *p, const double *a, int i, int j, int n, double *y)
{
    enum { U = 3, V, OUT };
    double all[WIDTH] = {0}, u[WIDTH];
    for (int64_t k = 0; k < p->width[U]; k++) u[k] = (double)p->x[U][j * p->width[U] + k];
    add_times(p, 1, u, p->width[U], V, 0, all);
    int64_t K = p->width[V] / p->heads;
    for (int64_t d = 0; d < p->width[OUT]; d++) y[d] = 0;
    for (int h = 0; h < p->heads; h++)
        add_times(p, a[(h * n + i) * n + j], all + h * K, K, OUT, h * K, y);
}

/* Adds, for each row of the memory, the product of what token j writes to it and what token i reads
 * from it. */
static void through_memory(const parts *p, const double *a, int i, int j, int n, double *y)
{
    enum { PACK_V = 4, UNPACK_V, OUT };
    int64_t K = p->width[PACK_V] / p->heads;
    double one[MOST], left[WIDTH], passed[WIDTH], own[WIDTH], unpack[M];
    (void)a;
    for (int64_t d = 0; d < p->width[OUT]; d++) y[d] = 0;
    for (int m = 0; m < M; m++) {
        for (int g = 0; g < p->heads; g++) {
            softmax(p, 0, 1, m, g, n, one);
            for (int64_t k = 0; k < K; k++)
                left[g * K + k] = one[j] * (double)at(p, PACK_V, j, g)[k];
        }
        for (int64_t d = 0; d < p->width[UNPACK_V]; d++) passed[d] = 0;
        add_times(p, 1, left, p->width[PACK_V], UNPACK_V, 0, passed);
        for (int h = 0; h < p->heads; h++) {
            softmax(p, 2, 3, i, h, M, unpack);
            for (int64_t k = 0; k < K; k++) own[k] = unpack[m] * passed[h * K + k];
            add_times(p, 1, own, K, OUT, h * K, y);
        }
    }
}

/* ---- families -------------------------------------------------------------------------------- */

/* Names of the sources: the output of a linear layer; "=name": a parameter; "<name": the input of a
 * linear layer. The last source is the input of the layer after the heads. */
#define HEADS_OF "v", "=out/w", "<out"
#define MIXED    "q", "k", "=mixture", "<q", "=v/w", "=out/w", "<out"
#define PACKED   "pack_q", "pack_k", "unpack_q", "unpack_k", "pack_v", "=unpack_v/w", "=out/w", "<out"
static const struct {
    const lra_model *model;
    const char *variant, *part[SOURCES];
    dense a;
    added y;
    bool cls, padded; /* padded: positions of the padding are keys */
} families[] = {
    {&lra_model_linear_transformer,
     "layers=2",
     {"q", "k", HEADS_OF},
     elu_products,
     values_out,
     0,
     0},
    {&lra_model_linear_transformer,
     "layers=2 heads=4",
     {"q", "k", HEADS_OF},
     elu_products,
     values_out,
     1,
     0},
    {&lra_model_linear_transformer,
     "layers=2 masked=0",
     {"q", "k", HEADS_OF},
     elu_products,
     values_out,
     1,
     1},
    {&lra_model_performer, "layers=2", {"q", "k", HEADS_OF}, relu_products, values_out, 0, 0},
    {&lra_model_linformer, "layers=2 rank=5", {MIXED}, mixed, of_mixtures, 0, 0},
    {&lra_model_linformer, "layers=2 rank=3 masked=0", {MIXED}, mixed, of_mixtures, 1, 1},
    {&lra_model_luna, "layers=2 memory=5", {PACKED}, packed, through_memory, 0, 0},
    {&lra_model_reformer,
     "layers=2 buckets=4 chunks=3",
     {"q", "=rotations", HEADS_OF},
     hashed,
     values_out,
     1,
     0},
    {&lra_model_s, "smoothing=centred-remask", {"q", "k", HEADS_OF}, remasked, values_out, 0, 0},
};
enum { FAMILIES = sizeof families / sizeof *families };

typedef struct {
    lra_loaded_model *m;
    int family, heads;
    lra_attention_nodes nodes[LRA_MAX_BUCKETS];
    lra_tensor *part[LRA_MAX_BUCKETS][LAYERS][SOURCES];
    lra_profile *profile[LAYERS * HEADS], *some[LAYERS * HEADS], *rolled, *value[LAYERS],
        *some_value[LAYERS];
    int longest, target_mask;
    double *kept; /* maps (layers heads, longest, longest) */
} work;

static lra_tensor *part_of(const lra_length_graph *v, int layer, const char *name)
{
    char path[64];
    lra_graph *g = v->network.graph;
    bool given = *name == '<';
    if (*name == '=') {
        snprintf(path, sizeof path, "encoder/layer%d/%s", layer, name + 1);
        return lra_affine(lra_find(g, path), 1, 0);
    }
    lra_tensor *node[64];
    int n = lra_graph_nodes(g, &lra_op_linear, 64, node);
    snprintf(path, sizeof path, "encoder/layer%d/%s/w", layer, name + given);
    for (int i = 0; i < n; i++)
        if (strcmp(lra_tensor_path(node[i]->src[1]), path) == 0)
            return given ? lra_affine(node[i]->src[0], 1, 0) : node[i];
    fail_msg("no layer %s", path);
    return NULL;
}

/* Replaces weights by magnitudes over the sum of their row; -1: the definition allows no weight. */
static void normalise(int n, double *a)
{
    for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
            a[i * n + j] = isnan(a[i * n + j]) ? -1 : fabs(a[i * n + j]);
            sum += fmax(a[i * n + j], 0);
        }
        for (int j = 0; j < n; j++)
            if (a[i * n + j] >= 0) a[i * n + j] /= sum;
    }
}

static void compare_rows(const lra_matrix_values *is, int64_t s, int h, int n, const double *a)
{
    double row[MOST];
    for (int i = 0; i < n; i++) {
        is->of->family->row(is, s, h, i, n, row);
        for (int j = 0; j < n; j++) {
            double wanted = a[i * n + j];
            if (!(fabs(row[j] - wanted) < 2e-6) && !(isnan(row[j]) && isnan(wanted)))
                fail_msg("head %d, weight %d of row %d: %g, expected %g", h, j, i, row[j], wanted);
        }
    }
}

enum { SOME = 3 };

/* Adds at most `rows` rows to a profile: one row in each of that many equal parts of the sequence.
 * The offset within a part depends on the example. If n <= SOME, all rows are added. */
static void add_some(lra_profile *p, int n, int rows, int example, const double *a)
{
    double place = 0.6180339887498949 * (example + 1);
    place -= floor(place);
    if (n <= SOME) rows = n;
    lra_profile_begin(p, n);
    for (int k = 0; k < rows; k++) {
        int i = n <= SOME ? k : (int)floor((k + place) * n / rows);
        lra_profile_row(p, i, 0, n, a + i * n);
    }
    lra_profile_end(p);
}

/* Adds the profile of the contributions of keys to positions, for weights a (heads, n, n). The sum
 * of all contributions must be the output of the layer after the heads. */
static void add_values(const work *w, const parts *p, int layer, int n, const double *a)
{
    const char *const *names = families[w->family].part;
    int last = 0;
    while (last + 1 < SOURCES && names[last + 1]) last++;
    int64_t D = p->width[last - 1], V = p->width[last];
    double all[MOST * MOST], y[WIDTH], sum[WIDTH], is[WIDTH], made[WIDTH];
    lra_profile_begin(w->value[layer], n);
    for (int i = 0; i < n; i++) {
        double *row = all + i * n;
        for (int64_t d = 0; d < D; d++) sum[d] = made[d] = 0;
        for (int j = 0; j < n; j++) {
            bool seen = false;
            row[j] = 0;
            families[w->family].y(p, a, i, j, n, y);
            for (int h = 0; h < p->heads; h++) seen |= !isnan(a[(h * n + i) * n + j]);
            for (int64_t d = 0; d < D; d++) sum[d] += y[d], row[j] += y[d] * y[d];
            row[j] = seen ? sqrt(row[j]) : -1;
        }
        for (int64_t k = 0; k < V; k++) is[k] = (double)p->x[last][i * V + k];
        add_times(p, 1, is, V, last - 1, 0, made);
        for (int64_t d = 0; d < D && !families[w->family].padded; d++)
            if (!(fabs(sum[d] - made[d]) < 1e-5))
                fail_msg("channel %d of row %d: %g, expected %g", (int)d, i, sum[d], made[d]);
        lra_profile_row(w->value[layer], i, 0, n, row);
    }
    lra_profile_end(w->value[layer]);
    /* half as many rows in both passes of a head */
    bool pairs = families[w->family].model == &lra_model_luna;
    add_some(w->some_value[layer], n, pairs ? (SOME + 1) / 2 : SOME, w->target_mask, all);
}

/* Computes all rows of the rollout of maps (layers, heads, n, n), from the lowest layer upward; -1:
 * no path leads to the token. */
static void roll(const double *a, int layers, int H, int n, double *all)
{
    double *next = lra_alloc_array((size_t)(n * n), sizeof *next);
    for (int i = 0; i < n * n; i++) all[i] = i / n == i % n ? 1 : -1;
    for (int l = 0; l < layers; l++) {
        for (int i = 0; i < n * n; i++) next[i] = -1;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) {
                double mean = i == k ? 0.5 : 0;
                bool seen = i == k;
                for (int h = 0; h < H; h++) {
                    double w = a[((l * H + h) * n + i) * n + k];
                    mean += 0.5 * fmax(w, 0) / H, seen |= w >= 0;
                }
                for (int j = 0; j < n && seen; j++)
                    if (all[k * n + j] >= 0)
                        next[i * n + j] = fmax(next[i * n + j], 0) + mean * all[k * n + j];
            }
        memcpy(all, next, (size_t)(n * n) * sizeof *all);
    }
    lra_free(next);
}

static void add_profile(lra_profile *p, int n, const double *a)
{
    lra_profile_begin(p, n);
    for (int i = 0; i < n; i++) lra_profile_row(p, i, 0, n, a + i * n);
    lra_profile_end(p);
}

static int take(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int view = 0, H = w->heads, extra = families[w->family].cls;
    while (w->m->view[view] != v) view++;
    const lra_attention_nodes *nodes = &w->nodes[view];
    lra_matrix_values is[LAYERS];
    float *x[LAYERS][SOURCES] = {{NULL}};
    for (int l = 0; l < LAYERS; l++) {
        assert_int_equal(lra_matrix_read(v, &nodes->matrix[l], &is[l], e), 0);
        for (int k = 0; k < SOURCES && w->part[view][l][k]; k++) {
            const lra_tensor *t = w->part[view][l][k];
            x[l][k] = lra_alloc_array((size_t)lra_elements(t), sizeof(float));
            assert_int_equal(lra_get(v->plan, t, x[l][k], e), 0);
        }
    }
    for (int64_t s = 0; s < v->network.n; s++) {
        if (b->row[s % v->rows] < 0) continue;
        int n = b->length[s] + extra;
        double *a = lra_alloc_array((size_t)((LAYERS * H + 1) * n * n), sizeof *a);
        double *rolled = a + LAYERS * H * n * n;
        for (int l = 0; l < LAYERS; l++) {
            parts p = {.heads = H, .all = families[w->family].padded ? nodes->matrix[l].T : n};
            for (int k = 0; k < SOURCES && x[l][k]; k++) {
                const lra_tensor *t = w->part[view][l][k];
                bool parameter = families[w->family].part[k][0] == '=';
                int64_t each = lra_elements(t) / v->network.n;
                p.x[k] = x[l][k] + (parameter ? 0 : s * each), p.width[k] = lra_width(t);
            }
            double *own = a + l * H * n * n;
            for (int h = 0; h < H; h++) {
                families[w->family].a(&p, h, n, own + h * n * n);
                compare_rows(&is[l], s, h, n, own + h * n * n);
            }
            add_values(w, &p, l, n, own);
            for (int h = 0; h < H; h++) {
                normalise(n, own + h * n * n);
                add_profile(w->profile[l * H + h], n, own + h * n * n);
                add_some(w->some[l * H + h], n, SOME, w->target_mask, own + h * n * n);
            }
        }
        w->target_mask++;
        roll(a, LAYERS, H, n, rolled);
        if (n <= LRA_ROLLOUT_ROWS) add_profile(w->rolled, n, rolled);
        if (n > w->longest) {
            size_t all = (size_t)(LAYERS * H * n * n);
            w->longest = n, w->kept = lra_resize(w->kept, all * sizeof *w->kept);
            memcpy(w->kept, a, all * sizeof *a);
        }
        lra_free(a);
    }
    for (int l = 0; l < LAYERS; l++) {
        lra_matrix_free(&is[l]);
        for (int k = 0; k < SOURCES; k++) lra_free(x[l][k]);
    }
    return 0;
}

static lra_train_spec spec_of(int family, lra_config **config)
{
    lra_train_spec spec = trained.run.spec;
    *config = model_tiny(families[family].model, families[family].variant);
    spec.model = families[family].model, spec.model_config = *config;
    if (families[family].cls) spec.pool = LRA_POOL_CLS;
    return spec;
}

/* Computes the expected results by the definition, with the initial weights. */
static void expect(work *w, int family, const lra_train_spec *spec)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    *w = (work){.m = &m, .family = family};
    OK(lra_load_model(&m, spec, &trained.device, LRA_INITIAL_WEIGHTS, &e));
    m.type = LRA_F32;
    lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++) {
        lra_length_graph *v = m.view[i];
        for (int l = 0; l < LAYERS; l++)
            for (int k = 0; k < SOURCES && families[family].part[k]; k++) {
                w->part[i][l][k] = part_of(v, l, families[family].part[k]);
                lra_length_graph_output(v, w->part[i][l][k]);
            }
        OK(lra_attention_nodes_of(v, &w->nodes[i], &e));
        assert_int_equal(w->nodes[i].n, LAYERS);
        assert_int_equal(w->nodes[i].n_left_out, 0);
        for (int l = 0; l < LAYERS; l++) lra_matrix_add_outputs(v, &w->nodes[i].matrix[l]);
    }
    w->heads = (int)lra_attention_layer_heads(&w->nodes[0], 0);
    for (int i = 0; i < LAYERS * w->heads; i++) {
        w->profile[i] = lra_profile_new(MOST, 0);
        w->some[i] = lra_profile_new(MOST, 0);
    }
    w->rolled = lra_profile_new(MOST, 0);
    for (int l = 0; l < LAYERS; l++) {
        w->value[l] = lra_profile_new(MOST, 0);
        w->some_value[l] = lra_profile_new(MOST, 0);
    }
    OK(lra_loaded_plan(&m, &e));
    OK(lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, take, w, &e));
    lra_loaded_free(&m);
}

static void same(const lra_profile *is, const lra_profile *wanted, int family)
{
    static const char *const ids[] = {"self",           "dist.mean", "dist.mean.rel", "range.mean",
                                      "range.mean.rel", "range.q95", "local.1",       "side",
                                      "entropy",        "support",   "entropy.rel"};
    lra_measurement a[LRA_PROFILE_MEASUREMENTS], b[LRA_PROFILE_MEASUREMENTS];
    int n = lra_profile_measurements(is, &(lra_profile_options){.key = 1}, a);
    int m = lra_profile_measurements(wanted, &(lra_profile_options){.key = 1}, b);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const lra_measurement *x = lra_measurement_find(n, a, ids[i]),
                              *y = lra_measurement_find(m, b, ids[i]);
        double null = x->null[LRA_NULL_UNIFORM], expected = y->null[LRA_NULL_UNIFORM];
        if (!(fabs(x->value - y->value) < 1e-4) || !(isnan(null) || fabs(null - expected) < 1e-9))
            fail_msg("family %d, %s: %g (equal %g), expected %g (%g)", family, ids[i], x->value,
                     null, y->value, expected);
    }
}

TEST(rows_are_the_definition)
{
    for (int f = 0; f < FAMILIES; f++) {
        lra_err e = {{0}};
        lra_config *config;
        lra_train_spec spec = spec_of(f, &config);
        lra_heads heads, some;
        lra_maps maps;
        lra_profile *rolled;
        work w;
        expect(&w, f, &spec);
        const lra_weights_kind initial = LRA_INITIAL_WEIGHTS;
        if (lra_heads_measure(&spec, &trained.device, initial, 0, 0, &heads, &e) != 0 ||
            lra_heads_measure(&spec, &trained.device, initial, 0, SOME, &some, &e) != 0 ||
            lra_maps_measure(&spec, &trained.device, initial, 0, heads.n_heads, NULL, &maps, &e) !=
                0 ||
            lra_rollout_measure(&spec, &trained.device, initial, 0, &rolled, &e) != 0)
            fail_msg("%s", e.msg);
        int n = w.longest;
        assert_int_equal(heads.n_heads, LAYERS * w.heads);
        assert_int_equal(maps.n_heads, heads.n_heads);
        assert_non_null(heads.family);
        for (int i = 0; i < heads.n_heads; i++) {
            same(heads.head[i].tokens, w.profile[i], f);
            same(some.head[i].tokens, w.some[i], f);
            assert_int_equal(maps.head[i].T, n);
            for (int k = 0; k < n * n; k++)
                assert_true(fabs(maps.head[i].map[k] - fmax(w.kept[i * n * n + k], 0)) < 2e-6);
            lra_profile_free(w.profile[i]);
            lra_profile_free(w.some[i]);
        }
        assert_false(heads.sampled);
        assert_true(some.sampled);
        if (n <= LRA_ROLLOUT_ROWS) same(rolled, w.rolled, f);
        for (int l = 0; l < LAYERS; l++) {
            same(heads.layer[l].value, w.value[l], f);
            same(some.layer[l].value, w.some_value[l], f);
            lra_profile_free(w.value[l]);
            lra_profile_free(w.some_value[l]);
        }
        lra_profile_free(w.rolled);
        lra_profile_free(rolled);
        lra_free(w.kept);
        lra_maps_free(&maps);
        lra_heads_free(&heads);
        lra_heads_free(&some);
        lra_config_free(config);
    }
}

/* Every row is selected equally often, independent of the length. */
TEST(rows_are_spread)
{
    enum { EXAMPLES = 4000, T = 100, MOST_ROWS = 8 };
    int told[T] = {0};
    for (int example = 0; example < EXAMPLES; example++) {
        const lra_matrix_rows r = {.most = MOST_ROWS, .example = example};
        assert_int_equal(lra_matrix_n_rows(&r, T), MOST_ROWS);
        for (int p = 0; p < MOST_ROWS; p++) told[lra_matrix_row_at(&r, p, T)]++;
        assert_int_equal(lra_matrix_n_rows(&r, MOST_ROWS - 1), MOST_ROWS - 1);
        assert_int_equal(lra_matrix_row_at(&r, 5, MOST_ROWS - 1), 5);
    }
    /* 320 selections of each row are expected */
    for (int i = 0; i < T; i++) assert_in_range(told[i], 310, 330);
}

/* Sets features whose products give the third token almost all of the weight, and equal weights to
 * the others. */
static void fill_key(const lra_fill *f, double *v)
{
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++)
        v[i] = i / f->shape.d[3] % f->shape.d[1] == 2 ? 1e5 : 1;
}

static lra_tensor *encode_sink(const lra_build *b, lra_tensor *x)
{
    char name[32];
    const lra_param_spec key = {LRA_FILL(fill_key)};
    lra_shape s = LRA_SHAPE(b->B, b->T, 1, lra_width(x));
    snprintf(name, sizeof name, "key%d", (int)b->T);
    lra_tensor *v = lra_reshape(x, s), *zeros = lra_affine(v, 0, 0), *q = lra_affine(v, 0, 1);
    lra_tensor *k = lra_constant(b->graph, name, LRA_SHAPE(1, b->T, 1, lra_width(x)), &key);
    k = lra_add(zeros, lra_cast(k, lra_elem(b->graph)));
    return lra_reshape(lra_kernel_attention(b, q, k, v, 1e-6, INFINITY), lra_tensor_shape(x));
}

/* Sets features with which every token attends to itself only. */
static void fill_place(const lra_fill *f, double *v)
{
    for (int64_t i = 0; i < lra_shape_elements(f->shape); i++) v[i] = i % MOST == i / MOST;
}

static lra_tensor *encode_itself(const lra_build *b, lra_tensor *x)
{
    char name[32];
    const lra_param_spec place = {LRA_FILL(fill_place)};
    const lra_type elem = lra_elem(b->graph);
    snprintf(name, sizeof name, "place%d", (int)b->T);
    lra_tensor *v = lra_reshape(x, LRA_SHAPE(b->B, b->T, 1, lra_width(x)));
    lra_tensor *k = lra_constant(b->graph, name, LRA_SHAPE(1, b->T, 1, MOST), &place);
    k = lra_add(lra_zeros(b->graph, elem, LRA_SHAPE(b->B, b->T, 1, MOST)), lra_cast(k, elem));
    return lra_reshape(lra_kernel_attention(b, k, k, v, 1e-6, INFINITY), lra_tensor_shape(x));
}

TEST(chance_makes_no_sinks)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    lra_model itself = lra_model_resconv;
    itself.encode = encode_itself, spec.model = &itself;
    /* of two sampled rows, each attends to its own token, so that a key seems to have half of the
     * weight */
    for (int rows = 0; rows <= 2; rows += 2) {
        lra_heads h;
        OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, rows, &h, &e));
        assert_int_equal(h.sampled, rows > 0);
        assert_null(h.head[0].nosink);
        lra_heads_free(&h);
    }
}

TEST(sinks_are_left_out)
{
    lra_err e = {{0}};
    lra_train_spec spec = trained.run.spec;
    lra_model sink = lra_model_resconv;
    const lra_sequences *q = &trained.run.data->split[LRA_TEST_SPLIT];
    lra_profile *wanted = lra_profile_new(MOST, 0);
    double a[MOST * MOST];
    lra_heads h;
    sink.encode = encode_sink, spec.model = &sink;
    for (int64_t b = 0; b < q->n; b++) {
        int n = (int)lra_sequences_length(q, b);
        for (int k = 0; k < n * n; k++) a[k] = k % n == 2 ? (double)NAN : 1;
        normalise(n, a);
        add_profile(wanted, n, a);
    }
    for (int rows = 0; rows <= SOME; rows += SOME) {
        OK(lra_heads_measure(&spec, &trained.device, LRA_INITIAL_WEIGHTS, 0, rows, &h, &e));
        assert_int_equal(h.n_heads, 1);
        assert_int_equal(h.head[0].sink_at[0], 2);
        assert_true(h.head[0].sink[0] > 0.99);
        assert_non_null(h.head[0].nosink);
        if (rows == 0) same(h.head[0].nosink, wanted, -1);
        lra_heads_free(&h);
    }
    lra_profile_free(wanted);
}

GROUP(tiny_set_up, tiny_tear_down);
