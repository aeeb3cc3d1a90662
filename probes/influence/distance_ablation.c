/* Measures outputs under distance limits on all layers, on one layer or on heads. */
#include "probes/influence/distance_ablation.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/distance_limit.h"
#include "kernels/graph/op.h"
#include "probes/influence/context.h"
#include "probes/shared/sample_rows.h"

/* ---- layers and heads ------------------------------------------------------------------------ */

/* Returns the first path component that begins with "layer" ("layer0" of
 * "encoder/layer0/attention"), or the complete path if there is none. */
static char *layer_of(const lra_tensor *node)
{
    const char *path = lra_tensor_path(node);
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "layer", 5) == 0) return lra_format("%.*s", (int)strcspn(at, "/"), at);
    }
    return lra_copy_text(path);
}

/* A unit to which a distance limit applies: a node, or one head of an attention op. */
typedef struct {
    char *layer;
    int head; /* index of the head within its layer; -1 if the node is not an attention op */
    int curve;
} place;

static bool is_attention(const lra_tensor *node)
{
    return node->op == &lra_op_attention || node->op == &lra_op_attention_windowed;
}

/* Finds the layer and head of each limited node. If a layer has several attention nodes, its heads
 * are numbered consecutively over them. */
static place *find_places(const lra_loaded_model *m, lra_ablation *c)
{
    place *p = lra_alloc_array((size_t)m->n_limits + 1, sizeof *p);
    c->attention = true;
    for (int i = 0; i < m->n_limits; i++) {
        const lra_tensor *node = lra_loaded_limited_node(m, i);
        p[i] = (place){.layer = layer_of(node), .head = is_attention(node) ? 0 : -1};
        c->attention = c->attention && is_attention(node);
        for (int k = 0; k < i && p[i].head >= 0; k++)
            p[i].head += p[k].head >= 0 && strcmp(p[k].layer, p[i].layer) == 0;
    }
    return p;
}

static void free_places(place *p, int n)
{
    for (int i = 0; i < n; i++) lra_free(p[i].layer);
    lra_free(p);
}

/* Returns the index of the curve with this name, which is added if it is missing. Takes ownership
 * of the name. */
static int curve_of(lra_ablation *c, char *name)
{
    for (int k = 0; k < c->n_curves; k++)
        if (c->curve[k].name && strcmp(c->curve[k].name, name) == 0) {
            lra_free(name);
            return k;
        }
    c->curve[c->n_curves].name = name;
    return c->n_curves++;
}

/* Curve 0 limits all layers; the others limit one layer each. */
static void find_layers(int n, place *p, lra_ablation *c)
{
    c->n_curves = 1;
    for (int i = 0; i < n; i++) p[i].curve = curve_of(c, lra_copy_text(p[i].layer));
    if (c->n_curves > 2) return;
    lra_free(c->curve[1].name); /* a single layer gives the same curve as all layers */
    c->n_curves = 1;
}

/* Assigns the heads of each layer to at most `groups` groups of adjacent heads, one curve each.
 * Creates no curve if no layer has several heads. */
static void find_heads(int n, int groups, place *p, lra_ablation *c)
{
    bool several = false;
    for (int i = 0; i < n; i++) {
        int heads = 0;
        p[i].curve = -1;
        if (p[i].head < 0) continue;
        for (int k = 0; k < n; k++) heads += p[k].head >= 0 && strcmp(p[k].layer, p[i].layer) == 0;
        int parts = heads < groups ? heads : groups, g = ((p[i].head + 1) * parts - 1) / heads;
        int from = heads * g / parts, to = heads * (g + 1) / parts - 1;
        several = several || heads > 1;
        p[i].curve = curve_of(c, from == to ? lra_format("%s.head%d", p[i].layer, from)
                                            : lra_format("%s.head%d-%d", p[i].layer, from, to));
    }
    while (!several && c->n_curves) lra_free(c->curve[--c->n_curves].name);
}

/* groups: maximum number of head groups per layer; 0: one curve per layer. Returns the curve index
 * of each limit. */
static int *find_curves(const lra_loaded_model *m, int groups, lra_ablation *c)
{
    place *p = find_places(m, c);
    int *curve = lra_alloc_array((size_t)m->n_limits + 1, sizeof *curve);
    c->curve = lra_alloc_array((size_t)m->n_limits + 2, sizeof *c->curve);
    if (groups)
        find_heads(m->n_limits, groups, p, c);
    else
        find_layers(m->n_limits, p, c);
    for (int i = 0; i < m->n_limits; i++) curve[i] = p[i].curve;
    free_places(p, m->n_limits);
    return curve;
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* Evaluates one curve (ALL: every limit) at distance r; limits of other curves are set to
 * LRA_NO_LIMIT. If r covers the longest input, the limit is set to the padded length of the longest
 * graph: a kernel truncated below it would change the last bits of a Fourier transform. */
enum { ALL = -1 };
static int ask(lra_loaded_model *m, const int *of, int curve, double r, lra_sample_outputs *a,
               lra_sums *to, lra_err *e)
{
    bool whole = r >= (double)m->run->data->max_length;
    int64_t steps = whole ? m->buckets.length[m->buckets.n - 1] : (int64_t)r;
    for (int i = 0; i < m->n_limits; i++)
        m->limit[i] = curve == ALL || of[i] == curve ? (int32_t)steps : LRA_NO_LIMIT;
    a->row = to;
    return lra_loaded_run(m, LRA_TEST_SPLIT, NULL, lra_sample_keep, a, e);
}

static bool same(const lra_sums *a, const lra_sums *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i].right != b[i].right || a[i].loss != b[i].loss) return false;
    return true;
}

/* Evaluates all curves at all r. The last r covers every input, so its outputs are those of the
 * unlimited model: they are checked once, with all limits set, and copied to every curve. */
static int evaluate_pairs(lra_loaded_model *m, const int *of, lra_sample_outputs *a,
                          lra_ablation *c, lra_err *e)
{
    int last = c->n_points - 1;
    lra_sums *whole = lra_alloc_array((size_t)c->n + 1, sizeof *whole);
    int rc = ask(m, of, ALL, LRA_NO_LIMIT, a, c->full, e);
    if (rc == 0) rc = ask(m, of, ALL, c->r[last], a, whole, e);
    for (int k = 0; k < c->n_curves && rc == 0; k++) {
        lra_sums *row = c->curve[k].row;
        for (int p = 0; p < last && rc == 0; p++)
            rc = ask(m, of, c->curve[k].name ? k : ALL, c->r[p], a, row + p * c->n, e);
        memcpy(row + last * c->n, c->full, (size_t)c->n * sizeof *row);
    }
    if (rc == 0 && !same(c->full, whole, c->n))
        rc = lra_fail(e,
                      "a distance limit of %.0f tokens, which covers all inputs, changes "
                      "outputs",
                      c->r[last]);
    lra_free(whole);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

int64_t lra_ablation_runs(int n_curves, int64_t T)
{
    double r[LRA_GAIN_POINTS];
    return 2 + n_curves * (lra_gain_axis(0, T, r) - 1);
}

static int open_limited(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev, lra_err *e)
{
    int rc = lra_load_model(m, run, dev, LRA_BEST_WEIGHTS, e);
    return rc == 0 ? lra_loaded_limit(m, e) : rc;
}

int lra_ablation_curves(const lra_train_spec *run, lra_device *dev, int groups)
{
    lra_loaded_model m;
    lra_ablation c = {0};
    lra_err e = {{0}};
    if (open_limited(&m, run, dev, &e) == 0) {
        lra_loaded_graph(&m, 1, m.buckets.length[0]);
        lra_free(find_curves(&m, groups, &c));
    }
    int n = c.n_curves;
    lra_ablation_free(&c);
    lra_loaded_free(&m);
    return n;
}

const char *lra_ablation_hint(const lra_train_spec *run)
{
    bool limited = lra_model_no_limit_reason(run->model, run->model_config) == NULL;
    return limited || lra_context_undefined(run) ? NULL
                                                 : "'--parts context' limits the complete model";
}

static int measure(lra_loaded_model *m, int groups, lra_sample_outputs *a, lra_ablation *c,
                   lra_err *e)
{
    int *of = find_curves(m, groups, c);
    const lra_network *first = &m->view[0]->network;
    c->depth = lra_limit_depth(first->graph, first->values ? first->values : first->tokens);
    c->n_points = lra_gain_axis(0, m->run->data->max_length, c->r);
    c->n = lra_sample_outputs_open(a, m, &c->index);
    c->full = lra_alloc_array((size_t)c->n + 1, sizeof *c->full);
    for (int k = 0; k < c->n_curves; k++)
        c->curve[k].row = lra_alloc_array((size_t)(c->n * c->n_points) + 1, sizeof(lra_sums));
    int rc = lra_loaded_plan(m, e);
    if (rc == 0) rc = evaluate_pairs(m, of, a, c, e);
    lra_free(of);
    return rc;
}

int lra_ablation_measure(const lra_train_spec *run, lra_device *dev, int groups, int64_t sample,
                         lra_steps *steps, lra_ablation *out, lra_err *e)
{
    lra_loaded_model m;
    lra_sample_outputs a = {.steps = steps};
    *out = (lra_ablation){0};
    int rc = open_limited(&m, run, dev, e);
    m.sample = sample;
    if (rc == 0) lra_loaded_buckets(&m);
    if (rc == 0 && m.n_limits == 0)
        rc = lra_fail_usage(e, "the model has no operation that mixes positions");
    if (rc == 0) rc = measure(&m, groups, &a, out, e);
    lra_sample_outputs_free(&a);
    lra_loaded_free(&m);
    return rc;
}

void lra_ablation_free(lra_ablation *c)
{
    for (int k = 0; k < c->n_curves; k++) {
        lra_free(c->curve[k].name);
        lra_free(c->curve[k].row);
    }
    lra_free(c->curve);
    lra_free(c->full);
    lra_free(c->index);
    *c = (lra_ablation){0};
}
