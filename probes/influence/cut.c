/* Interventions. */
#include "probes/influence/cut.h"

#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "probes/influence/sample_rows.h"

/* ---- layers ---------------------------------------------------------------------------------- */

/* "layer0" of "encoder/layer0/attention": the first part of the path that is called so, else all of
 * it. */
static char *layer_of(const lra_tensor *node)
{
    const char *path = lra_tensor_path(node);
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "layer", 5) == 0) return lra_format("%.*s", (int)strcspn(at, "/"), at);
    }
    return lra_copy_text(path);
}

/* The curves: all layers, then each; layer[i]: the curve of limit i. */
static void find_layers(const lra_opened *m, lra_cut *c, int *layer)
{
    c->curve = lra_alloc_array((size_t)m->n_limits + 1, sizeof *c->curve);
    c->n_curves = 1;
    c->attention = true;
    for (int i = 0; i < m->n_limits; i++) {
        const lra_tensor *node = lra_open_limited_node(m, i);
        char *name = layer_of(node);
        int k = 1;
        c->attention = c->attention &&
                       (node->op == &lra_op_attention || node->op == &lra_op_attention_near);
        while (k < c->n_curves && strcmp(c->curve[k].layer, name) != 0) k++;
        layer[i] = k;
        if (k == c->n_curves)
            c->curve[c->n_curves++].layer = name;
        else
            lra_free(name);
    }
    if (c->n_curves == 2) { /* one layer is all of them */
        lra_free(c->curve[1].layer);
        c->n_curves = 1;
    }
}

/* ---- answers --------------------------------------------------------------------------------- */

/* All limits of a curve at r, the others wide.  From the longest input on a limit reaches across
 * the padding of the longest graph too: kernels are as long as that, and where they are cut a
 * Fourier transform has other last bits. */
static int ask(lra_opened *m, const int *layer, int curve, double r, lra_sample_answers *a,
               lra_sums *to, lra_err *e)
{
    bool whole = r >= (double)m->run->data->max_length;
    int64_t steps = whole ? m->buckets.length[m->buckets.n - 1] : (int64_t)r;
    for (int i = 0; i < m->n_limits; i++)
        m->limit[i] = curve == 0 || layer[i] == curve ? (int32_t)steps : LRA_NO_LIMIT;
    a->row = to;
    return lra_open_run(m, LRA_TEST_SPLIT, NULL, lra_sample_keep, a, e);
}

static bool same(const lra_sums *a, const lra_sums *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (a[i].right != b[i].right || a[i].loss != b[i].loss) return false;
    return true;
}

static int ask_all(lra_opened *m, const int *layer, lra_sample_answers *a, lra_cut *c, lra_err *e)
{
    int rc = ask(m, layer, 0, LRA_NO_LIMIT, a, c->full, e);
    for (int k = 0; k < c->n_curves && rc == 0; k++)
        for (int p = 0; p < c->n_points && rc == 0; p++) {
            lra_sums *to = c->curve[k].row + p * c->n;
            /* A layer with the last r is the whole model, as all layers are. */
            if (k > 0 && p == c->n_points - 1)
                memcpy(to, c->full, (size_t)c->n * sizeof *to);
            else
                rc = ask(m, layer, k, c->r[p], a, to, e);
        }
    if (rc == 0 && !same(c->full, c->curve[0].row + (c->n_points - 1) * c->n, c->n))
        rc = lra_fail(e,
                      "with a limit of %.0f steps, which is none, answers are others than "
                      "without",
                      c->r[c->n_points - 1]);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

int64_t lra_cut_runs(int n_layers, int64_t T)
{
    double r[LRA_GAIN_POINTS];
    int n = lra_gain_axis(0, T, r);
    return n_layers > 1 ? 1 + n + n_layers * (n - 1) : 1 + n;
}

static int measure(lra_opened *m, lra_sample_answers *a, lra_cut *c, lra_err *e)
{
    int *layer = lra_alloc_array((size_t)m->n_limits + 1, sizeof *layer);
    find_layers(m, c, layer);
    c->n_points = lra_gain_axis(0, m->run->data->max_length, c->r);
    c->n = lra_sample_answers_open(a, m, &c->index);
    c->full = lra_alloc_array((size_t)c->n + 1, sizeof *c->full);
    for (int k = 0; k < c->n_curves; k++)
        c->curve[k].row = lra_alloc_array((size_t)(c->n * c->n_points) + 1, sizeof(lra_sums));
    int rc = lra_open_plan(m, e);
    if (rc == 0) rc = ask_all(m, layer, a, c, e);
    lra_free(layer);
    return rc;
}

int lra_cut_measure(const lra_train_spec *run, lra_device *dev, int64_t sample, lra_steps *steps,
                    lra_cut *out, lra_err *e)
{
    lra_opened m;
    lra_sample_answers a = {.steps = steps};
    *out = (lra_cut){0};
    int rc = lra_open(&m, run, dev, LRA_BEST_WEIGHTS, e);
    m.sample = sample;
    if (rc == 0) rc = lra_open_limited(&m, e);
    if (rc == 0) lra_open_buckets(&m);
    if (rc == 0 && m.n_limits == 0) rc = lra_fail_usage(e, "the model has no op between positions");
    if (rc == 0) rc = measure(&m, &a, out, e);
    lra_sample_answers_free(&a);
    lra_open_close(&m);
    return rc;
}

void lra_cut_free(lra_cut *c)
{
    for (int k = 0; k < c->n_curves; k++) {
        lra_free(c->curve[k].layer);
        lra_free(c->curve[k].row);
    }
    lra_free(c->curve);
    lra_free(c->full);
    lra_free(c->index);
    *c = (lra_cut){0};
}
