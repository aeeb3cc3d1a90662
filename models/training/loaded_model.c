/* Loads trained models for evaluation. */
#include "models/training/loaded_model.h"

#include <string.h>

#include "datasets/loader/chance.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/graph/distance_limit.h"
#include "kernels/graph/op.h"
#include "models/training/checkpoint.h"
#include "models/training/objective.h"
#include "models/training/published.h"
#include "models/training/session.h"
#include "models/training/transfer.h"
#include "models/training/weights.h"

/* ---- weights --------------------------------------------------------------------------------- */

static int centre_head(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    lra_network_spec network = lra_session_network(s);
    bool has_head = false; /* false for plans that compute only features */
    for (int i = 0; i < lra_params_count(p); i++)
        has_head = has_head || strcmp(lra_params_path(p, i), "head/b") == 0;
    if (network.head != LRA_HEAD_VALUE || !has_head) return 0;
    float *bias = lra_alloc_array((size_t)network.outputs, sizeof *bias);
    for (int j = 0; j < network.outputs; j++) bias[j] = (float)lra_dataset_mean_target(s->data, j);
    int rc = lra_params_set(p, "head/b", bias, e);
    lra_free(bias);
    return rc;
}

/* Fails if the weights are those of another model of this suite, because different models can have
 * arrays of the same names and shapes. Files of other programs may contain any model name. */
static int check_model(const lra_train_spec *s, lra_err *e)
{
    const char *name = lra_config_text_or(s->weights->meta, "lra.model", s->model->name);
    if (strcmp(name, s->model->name) == 0 || !lra_model_find(name, NULL)) return 0;
    return lra_fail(e, "'%s' has the weights of model '%s' (metadata 'lra.model'), expected '%s'",
                    s->weights_path, name, s->model->name);
}

static int import_weights(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    int converted, n_put, rc;
    bool published = lra_has_published_names(s->model, s->weights);
    if (check_model(s, e) != 0) return LRA_FAILED;
    rc = published
             ? lra_published_import(p, s->model, s->weights, s->weights_path, &converted, &n_put, e)
             : lra_weights_import(p, s->weights, s->weights_path, &converted, e);
    if (rc != 0) return LRA_FAILED;
    if (published)
        lra_note("%s: %d of %d arrays of '%s' initialise the training", s->title, n_put,
                 s->weights->n, s->weights_path);
    if (converted)
        lra_note("%s: %d of %d arrays of '%s' are converted to float32", s->title, converted,
                 s->weights->n, s->weights_path);
    return 0;
}

static int read_initial(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    if (centre_head(s, p, e) != 0) return LRA_FAILED;
    if (s->weights && import_weights(s, p, e) != 0) return LRA_FAILED;
    return s->from ? lra_transfer(p, s->from, e) : 0;
}

static int read_last(const lra_train_spec *s, lra_params *p, int64_t *step, lra_err *e)
{
    lra_run_state last = {0};
    bool found;
    int rc = lra_checkpoint_read(s, &last, p, &found, e);
    if (rc == 0 && !found) rc = lra_fail(e, "'%s' has no checkpoint", s->folder);
    if (step) *step = last.step;
    lra_free(last.history);
    return rc;
}

int lra_weights_read(const lra_train_spec *run, lra_params *p, lra_weights_kind which,
                     int64_t *step, lra_err *e)
{
    switch (which) {
    case LRA_INITIAL_WEIGHTS: return read_initial(run, p, e);
    case LRA_BEST_WEIGHTS: return lra_best_read(run, p, e);
    case LRA_LAST_WEIGHTS: return read_last(run, p, step, e);
    }
    LRA_BUG("weights %d", (int)which);
}

/* ---- a model --------------------------------------------------------------------------------- */

int lra_load_model(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                   lra_weights_kind weights, lra_err *e)
{
    *m = (lra_loaded_model){
        .run = run, .device = dev, .weights = weights, .type = run->type, .step = -1};
    if (lra_objective_check(lra_session_objective(run), run->data, run->model, run->model_config,
                            e) != 0)
        return LRA_FAILED;
    m->buckets = lra_buckets_find(run->data);
    m->params = lra_params_new(dev, run->seed);
    m->space = lra_space_new(dev);
    return 0;
}

void lra_loaded_free(lra_loaded_model *m)
{
    for (int i = 0; i < m->n_views; i++) {
        lra_plan_free(m->view[i]->plan);
        lra_graph_free(m->view[i]->network.graph);
        lra_free(m->view[i]->out);
        lra_free(m->view[i]);
    }
    lra_free(m->view);
    lra_free(m->limit);
    lra_space_free(m->space);
    lra_params_free(m->params);
    *m = (lra_loaded_model){0};
}

int lra_loaded_limit(lra_loaded_model *m, lra_err *e)
{
    const lra_model *model = m->run->model;
    if (m->n_views) LRA_BUG("a distance limit must be set before the graphs are built");
    const char *no_limit_reason = lra_model_no_limit_reason(model, m->run->model_config);
    if (no_limit_reason)
        return lra_fail_usage(e, "a distance limit is undefined for model '%s': %s", model->name,
                              no_limit_reason);
    m->limited = true;
    return 0;
}

/* Returns a node that reads x, NULL if there is none. */
static const lra_tensor *reader_of(const lra_graph *g, const lra_tensor *x)
{
    for (int k = 0; lra_op_at(k); k++) {
        int n = lra_graph_nodes(g, lra_op_at(k), 0, NULL);
        lra_tensor **node = lra_alloc_array((size_t)n + 1, sizeof *node), *found = NULL;
        lra_graph_nodes(g, lra_op_at(k), n, node);
        for (int i = 0; i < n && !found; i++)
            for (int s = 0; s < node[i]->n_src; s++)
                if (node[i]->src[s] == x) found = node[i];
        lra_free(node);
        if (found) return found;
    }
    return NULL;
}

const lra_tensor *lra_loaded_limited_node(const lra_loaded_model *m, int i)
{
    const lra_graph *g = m->view[0]->network.graph;
    const lra_tensor *part = lra_limits_at(g, 0), *found = NULL;
    int64_t at = i;
    for (int k = 0; part && at >= lra_elements(part); part = lra_limits_at(g, ++k))
        at -= lra_elements(part);
    if (part) found = reader_of(g, part);
    if (!found) LRA_BUG("no op applies this distance limit");
    return found;
}

/* ---- graphs and plans ------------------------------------------------------------------------ */

/* Allocates the distance limits. Their number is that of the first graph; all graphs are of one
 * model. */
static void make_limits(lra_loaded_model *m, const lra_tensor *limit)
{
    if (m->limit || !limit) return;
    m->n_limits = (int)lra_elements(limit);
    m->limit = lra_alloc_array((size_t)m->n_limits, sizeof *m->limit);
    for (int i = 0; i < m->n_limits; i++) m->limit[i] = LRA_NO_LIMIT;
}

static lra_length_graph *add_view(lra_loaded_model *m, const lra_network *k, int64_t rows,
                                  int64_t T)
{
    lra_length_graph *v = lra_alloc(sizeof *v);
    *v = (lra_length_graph){.network = *k, .rows = rows, .T = T};
    m->view = lra_resize(m->view, (size_t)(m->n_views + 1) * sizeof *m->view);
    return m->view[m->n_views++] = v;
}

lra_length_graph *lra_loaded_graph(lra_loaded_model *m, int64_t rows, int64_t T)
{
    lra_network k = lra_session_build(m->run, m->type, LRA_EVAL, rows, T, m->limited,
                                      m->explicit_positions);
    make_limits(m, k.limit);
    return add_view(m, &k, rows, T);
}

lra_length_graph *lra_loaded_head(lra_loaded_model *m, int64_t rows, int64_t T, int64_t D)
{
    lra_network k = lra_session_head(m->run, m->type, LRA_EVAL, rows, T, D);
    return add_view(m, &k, rows, T);
}

void lra_loaded_buckets(lra_loaded_model *m)
{
    for (int b = 0; b < m->buckets.n; b++) lra_loaded_graph(m, m->run->batch, m->buckets.length[b]);
}

void lra_length_graph_output(lra_length_graph *v, lra_tensor *x)
{
    v->out = lra_resize(v->out, (size_t)(v->n_out + 1) * sizeof(lra_tensor *));
    v->out[v->n_out++] = x;
}

int lra_loaded_plan(lra_loaded_model *m, lra_err *e)
{
    for (int i = 0; i < m->n_views; i++) {
        lra_length_graph *v = m->view[i];
        v->plan = lra_plan_new(v->network.graph, m->params, m->space, v->n_out, v->out, e);
        if (!v->plan) return lra_fail_in(e, "model '%s'", m->run->model->name);
        lra_plan_threads(v->plan, m->run->threads);
    }
    return lra_weights_read(m->run, m->params, m->weights, &m->step, e);
}

/* ---- running --------------------------------------------------------------------------------- */

static lra_length_graph *view_of(const lra_loaded_model *m, int64_t rows, int64_t T)
{
    for (int i = 0; i < m->n_views; i++)
        if (m->view[i]->T == T && m->view[i]->rows == rows && !m->view[i]->network.given)
            return m->view[i];
    LRA_BUG("no graph for batches of %lld rows of length %lld", (long long)rows, (long long)T);
}

int lra_length_graph_run(const lra_loaded_model *m, const lra_length_graph *v, lra_err *e)
{
    const lra_tensor *limit = v->network.limit;
    int rc = limit ? lra_set(v->plan, limit, m->limit, e) : 0;
    return rc == 0 ? lra_run(v->plan, e) : rc;
}

/* Sets the row indices of rows that are not wanted to -1; returns the number of wanted rows. */
static int64_t choose(const lra_batch *b, int64_t n, const bool *wanted, int64_t *row)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        row[i] = b->row[i] >= 0 && (!wanted || wanted[b->row[i]]) ? b->row[i] : -1;
        count += row[i] >= 0;
    }
    return count;
}

int lra_loaded_run(lra_loaded_model *m, int split, const bool *wanted,
                   int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                               lra_err *e),
                   void *context, lra_err *e)
{
    const lra_session s = {.spec = m->run, .buckets = m->buckets};
    lra_loader_spec spec = lra_session_loader_spec(&s, split, false);
    spec.sample = m->sample, spec.sample_seed = m->run->sample_seed, spec.stratified = true;
    lra_loader *l = lra_loader_new(&spec);
    int64_t B = m->run->batch, *row = lra_alloc_array((size_t)B, sizeof *row);
    int rc = 0;
    for (int64_t i = 0; i < lra_loader_batches(l) && rc == 0; i++) {
        lra_batch b = *lra_loader_get(l, i);
        const lra_length_graph *v = view_of(m, B, m->buckets.length[b.bucket]);
        if (choose(&b, B, wanted, row) == 0) continue;
        b.row = row;
        rc = lra_session_set(m->run, &v->network, v->plan, &b, e);
        if (rc == 0) rc = lra_length_graph_run(m, v, e);
        if (rc == 0) rc = each(v, &b, context, e);
    }
    lra_loader_free(l);
    lra_free(row);
    return rc;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

typedef struct {
    const lra_train_spec *run;
    float *batch, *output; /* outputs of one batch, outputs of all rows */
    lra_sums *sums, *row;
    int64_t width;
} evaluation;

static int evaluate_batch(const lra_length_graph *v, const lra_batch *b, void *context, lra_err *e)
{
    const evaluation *a = context;
    if (lra_get(v->plan, v->network.output, a->batch, e) != 0) return LRA_FAILED;
    lra_session_rows(a->run, b, v->rows, v->T, a->batch, a->sums);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        if (a->row) a->row[b->row[i]] = a->sums[i];
        if (a->output)
            memcpy(a->output + b->row[i] * a->width, a->batch + i * a->width,
                   (size_t)a->width * sizeof *a->output);
    }
    return 0;
}

int lra_evaluate(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights, int split,
                 float *output, lra_sums *row, lra_err *e)
{
    lra_loaded_model m;
    evaluation a = {.run = run,
                    .output = output,
                    .row = row,
                    .width = lra_session_network(run).outputs,
                    .sums = lra_alloc_array((size_t)run->batch, sizeof *a.sums)};
    int64_t most = 1;
    int rc = lra_load_model(&m, run, dev, weights, e);
    if (rc == 0) lra_loaded_buckets(&m);
    for (int i = 0; i < m.n_views; i++) {
        int64_t n = lra_elements(m.view[i]->network.output);
        if (n > most) most = n;
        lra_length_graph_output(m.view[i], m.view[i]->network.output);
    }
    a.batch = lra_alloc_array((size_t)most, sizeof *a.batch);
    if (rc == 0) rc = lra_loaded_plan(&m, e);
    if (rc == 0) rc = lra_loaded_run(&m, split, NULL, evaluate_batch, &a, e);
    lra_free(a.sums);
    lra_free(a.batch);
    lra_loaded_free(&m);
    return rc;
}
