/* A loaded model that answers requests. */
#include "probes/shared/engine_responder.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/objective.h"
#include "models/training/session.h"
#include "probes/shared/engine_maps.h"

/* Inputs and output of vjp() in the graph of one length. */
typedef struct {
    /* position (n) int32: evaluated position of each sequence; cotangent (n,draws,D): random
     * vectors */
    lra_tensor *position, *cotangent;
    lra_tensor *square; /* (n,draws,T) squared norms of the gradients */
} gradient;

typedef struct {
    lra_responder base;
    const lra_train_spec *run;
    lra_device *device;
    lra_network_spec network;
    lra_weights_kind weights, trained; /* weights in the graphs; weights that restore() uses */
    /* arguments of the last prepare(); answers 0: there are no graphs */
    uint32_t answers;
    int64_t draws;
    lra_dataset data;    /* data of the run, possibly with a larger max_length */
    lra_train_spec spec; /* specification of the run, with `data` as its data */
    lra_loaded_model model;
    gradient *gradient; /* one for each graph of `model` */
    int n_graphs;       /* graphs of complete networks; those of their heads follow (head()) */
    /* Language models: loss of each target (n,T), one for each graph; NULL: not announced */
    lra_tensor **loss;
    lra_engine_layers layers;
    lra_engine_maps *maps; /* for attention(). NULL: no request yet with these weights */
    const lra_engine_kernels *kernels; /* NULL: kernels() is not answered */
} engine;

/* ---- graphs ---------------------------------------------------------------------------------- */

/* Language models: builds the logits at the last token of each input, (n,V), instead of the losses
 * at all tokens. */
static lra_tensor *last_logits(const lra_network *k)
{
    lra_graph *g = k->graph;
    lra_tensor *x = lra_cast(lra_pool(k->features, k->length, LRA_POOL_LAST), lra_elem(g));
    x = lra_linear(x, lra_shared(g, "head/w"), lra_shared(g, "head/b"), LRA_ACT_NONE, NULL);
    return lra_cast(x, lra_real(g));
}

/* sum over channels of (d (v . h_i) / d e_j)^2 for draw k, (n,1,T); at: (n,T,1), 1 at i. */
static lra_tensor *one_draw(const lra_network *k, const gradient *q, lra_tensor *at, int64_t draw)
{
    lra_tensor *v = lra_slice(q->cotangent, 1, draw, 1), *dx;
    lra_tensor *seed = lra_mul(at, v); /* (n,T,D): v at position i, 0 at the others */
    lra_grad(k->features, lra_cast(seed, lra_tensor_type(k->features)), 1, &k->inputs, &dx);
    dx = lra_cast(dx, lra_real(k->graph));
    lra_tensor *sum = lra_reduce_sum(lra_mul(dx, dx), LRA_SHAPE(k->n, k->T, 1));
    return lra_reshape(sum, LRA_SHAPE(k->n, 1, k->T));
}

static gradient add_gradient(const lra_network *k, int64_t draws)
{
    lra_graph *g = k->graph;
    gradient q = {.position = lra_input(g, "position", LRA_I32, LRA_SHAPE(k->n)),
                  .cotangent = lra_input(g, "draw", lra_real(g),
                                         LRA_SHAPE(k->n, draws, lra_width(k->features)))};
    lra_tensor *at = lra_cast(lra_one_hot(q.position, k->T), lra_real(g));
    at = lra_reshape(at, LRA_SHAPE(k->n, k->T, 1));
    lra_tensor **part = lra_alloc_array((size_t)draws, sizeof(lra_tensor *));
    for (int64_t d = 0; d < draws; d++) part[d] = one_draw(k, &q, at, d);
    q.square = draws > 1 ? lra_concat((int)draws, part, 1) : part[0];
    lra_free(part);
    return q;
}

static void close_maps(engine *g)
{
    lra_engine_maps_close(g->maps);
    g->maps = NULL;
}

static void unload(engine *g)
{
    if (g->answers) lra_loaded_free(&g->model);
    lra_free(g->gradient);
    lra_free(g->loss);
    g->gradient = NULL, g->loss = NULL, g->answers = 0, g->n_graphs = 0;
}

/* Adds the graph of one length, with the announced answers as outputs. */
static void add_graph(engine *g, const lra_preparation *p, int64_t B, int64_t T)
{
    lra_length_graph *v = lra_loaded_graph(&g->model, B, T);
    int k = g->model.n_views - 1;
    bool speaks = g->network.head == LRA_HEAD_NEXT;
    if (p->answers & LRA_ANSWERS_LOGPROB) {
        g->loss = lra_resize(g->loss, (size_t)(k + 1) * sizeof *g->loss);
        g->loss[k] = v->network.output;
        lra_length_graph_output(v, g->loss[k]);
    }
    if (p->answers & LRA_ANSWERS_FORWARD) {
        if (speaks) v->network.output = last_logits(&v->network);
        lra_length_graph_output(v, v->network.output);
    }
    if (p->answers & LRA_ENGINE_SCORES) lra_length_graph_output(v, v->network.output);
    if (p->answers & LRA_ANSWERS_FEATURES) lra_length_graph_output(v, v->network.features);
    if (p->answers & LRA_ANSWERS_VJP) {
        g->gradient = lra_resize(g->gradient, (size_t)(k + 1) * sizeof *g->gradient);
        g->gradient[k] = add_gradient(&v->network, p->draws);
        lra_length_graph_output(v, g->gradient[k].square);
    }
    g->base.facts.width = lra_width(v->network.features);
}

/* Adds the graphs of the heads alone, in the order of the complete networks. */
static void add_heads(engine *g)
{
    for (int k = 0; k < g->n_graphs; k++) {
        const lra_length_graph *v = g->model.view[k];
        lra_length_graph *h = lra_loaded_head(&g->model, v->rows, v->T, g->base.facts.width);
        lra_length_graph_output(h, h->network.output);
    }
}

static int prepare(lra_responder *r, const lra_preparation *p, lra_err *e)
{
    /* attention and kernels have graphs of their own, which are built on request */
    const uint32_t others = LRA_ANSWERS_ATTENTION | LRA_ANSWERS_KERNELS;
    engine *g = (engine *)r;
    unload(g);
    if (!p) close_maps(g);
    if (!p || !(p->answers & ~others)) return 0;
    g->data = *g->run->data, g->spec = *g->run, g->spec.data = &g->data;
    if (p->longest > g->data.longest) g->data.longest = p->longest;
    int rc = lra_load_model(&g->model, &g->spec, g->device, g->weights, e);
    if (rc != 0) {
        lra_loaded_free(&g->model);
        return rc;
    }
    g->answers = p->answers, g->draws = p->draws;
    if (p->exact) g->model.type = LRA_F32;
    g->model.explicit_positions = p->answers & LRA_ANSWERS_PLACE;
    int64_t B = p->B ? p->B : g->run->batch;
    for (int i = 0; i < p->n_lengths; i++) add_graph(g, p, B, p->length[i]);
    for (int i = 0; i < g->model.buckets.n && p->n_lengths == 0; i++)
        add_graph(g, p, B, g->model.buckets.length[i]);
    g->n_graphs = g->model.n_views;
    if (p->answers & LRA_ANSWERS_HEAD) add_heads(g);
    rc = lra_loaded_plan(&g->model, e);
    if (rc != 0) unload(g);
    return rc;
}

/* Builds graphs for these answers if the existing ones do not have them. */
static int need(engine *g, uint32_t answers, int64_t draws, lra_err *e)
{
    bool has = (g->answers & answers) == answers;
    if (has && (g->draws == draws || !(answers & LRA_ANSWERS_VJP))) return 0;
    const lra_preparation p = {.answers = answers, .exact = true, .draws = draws};
    return prepare(&g->base, &p, e);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* One request; position and cotangent are those of vjp(), target is that of logprob(). */
typedef struct {
    uint32_t answer;
    lra_request inputs;
    const int32_t *position;
    const float *cotangent;
    const int32_t *target;
    float *out;
} requested;

/* Sets the targets of the losses of graph k. Nullable: target (none) */
static int set_targets(engine *g, int k, const int32_t *target, lra_err *e)
{
    const lra_network *network = &g->model.view[k]->network;
    if (!g->loss) return 0;
    size_t n = (size_t)(network->n * network->T);
    int32_t *none = target ? NULL : lra_alloc_array(n, sizeof *none);
    for (size_t i = 0; i < n && none; i++) none[i] = -1;
    int rc = lra_set(g->model.view[k]->plan, network->label, target ? target : none, e);
    lra_free(none);
    return rc;
}

static int run_graph(engine *g, int k, const requested *a, lra_err *e)
{
    const lra_length_graph *v = g->model.view[k];
    const lra_request *q = &a->inputs;
    lra_batch b = {.n = lra_request_sequences(q),
                   .token = (int32_t *)(uintptr_t)q->token,
                   .value = (float *)(uintptr_t)q->value,
                   .length = (int32_t *)(uintptr_t)q->length,
                   .place = q->place};
    int rc = lra_session_set_inputs(&v->network, v->plan, &b, e);
    if (rc == 0) rc = set_targets(g, k, a->target, e);
    if (rc == 0 && a->position) rc = lra_set(v->plan, g->gradient[k].position, a->position, e);
    if (rc == 0 && a->position) rc = lra_set(v->plan, g->gradient[k].cotangent, a->cotangent, e);
    return rc == 0 ? lra_length_graph_run(&g->model, v, e) : rc;
}

static const lra_tensor *tensor_of(const engine *g, int k, uint32_t answer)
{
    const lra_network *network = &g->model.view[k]->network;
    if (answer == LRA_ANSWERS_VJP) return g->gradient[k].square;
    if (answer == LRA_ANSWERS_LOGPROB) return g->loss[k];
    return answer == LRA_ANSWERS_FEATURES ? network->features : network->output;
}

/* Index of the graph for exactly B rows of T tokens; otherwise of the shortest graph for at least T
 * tokens; -1: there is none. */
static int graph_for(const engine *g, int64_t B, int64_t T)
{
    int best = -1;
    for (int k = 0; k < g->n_graphs; k++) {
        const lra_length_graph *v = g->model.view[k];
        if (v->rows == B && v->T == T) return k;
        if (v->T >= T && (best < 0 || v->T < g->model.view[best]->T)) best = k;
    }
    return best;
}

/* Rows first .. first + n-1 of a request, padded to the graph's rows and tokens. */
typedef struct {
    requested a;
    char *token;
    int32_t *length, *place, *position, *target;
    float *cotangent, *out;
} padded;

static void open_padded(padded *p, const requested *a, const lra_length_graph *v,
                        int64_t n_cotangent, int64_t n_out)
{
    size_t size, n = (size_t)v->network.n;
    lra_request_tokens(&a->inputs, 0, &size);
    *p = (padded){.a = *a,
                  .token = lra_alloc_array(n * (size_t)v->T, size),
                  .length = lra_alloc_array(n, sizeof *p->length),
                  .place = lra_alloc_array(n, sizeof *p->place),
                  .position = lra_alloc_array(n, sizeof *p->position),
                  .target = lra_alloc_array(n * (size_t)v->T, sizeof *p->target),
                  .cotangent = lra_alloc_array((size_t)n_cotangent + 1, sizeof *p->cotangent),
                  .out = lra_alloc_array((size_t)n_out, sizeof *p->out)};
    lra_request *q = &p->a.inputs;
    q->B = v->rows, q->T = v->T;
    if (q->token) q->token = (const int32_t *)(const void *)p->token;
    if (q->value) q->value = (const float *)(const void *)p->token;
    q->length = p->length;
    if (q->place) q->place = p->place;
    if (a->position) p->a.position = p->position, p->a.cotangent = p->cotangent;
    if (a->target) p->a.target = p->target;
}

static void close_padded(padded *p)
{
    lra_free(p->token);
    lra_free(p->length);
    lra_free(p->place);
    lra_free(p->position);
    lra_free(p->target);
    lra_free(p->cotangent);
    lra_free(p->out);
}

/* Copies the inputs of rows first .. first + rows - 1. per: number of values in the cotangents of
 * one sequence. */
static void fill_padded(padded *p, const requested *a, int64_t first, int64_t rows, int64_t per)
{
    const lra_request *from = &a->inputs, *to = &p->a.inputs;
    size_t size;
    memset(p->length, 0, (size_t)lra_request_sequences(to) * sizeof *p->length);
    memset(p->place, 0, (size_t)lra_request_sequences(to) * sizeof *p->place);
    for (int64_t s = 0; s < lra_request_sequences(to); s++) {
        int64_t row = s % to->B, own = s / to->B * from->B + first + row;
        char *copy = (char *)(uintptr_t)lra_request_tokens(to, s, &size);
        memset(copy, 0, (size_t)to->T * size);
        p->position[s] = -1;
        for (int64_t t = 0; t < to->T; t++) p->target[s * to->T + t] = -1;
        if (row >= rows) continue;
        memcpy(copy, lra_request_tokens(from, own, &size), (size_t)from->T * size);
        p->length[s] = from->length[own];
        if (from->place) p->place[s] = from->place[own];
        if (a->target)
            memcpy(p->target + s * to->T, a->target + own * from->T,
                   (size_t)from->T * sizeof *p->target);
        if (!a->position) continue;
        p->position[s] = a->position[own];
        memcpy(p->cotangent + s * per, a->cotangent + own * per, (size_t)per * sizeof(float));
    }
}

/* Copies the outputs of a padded request to a->out, without the padding. Their shape is (rows,D)
 * for logits, else (sequences,lines,T,D). */
static void take_padded(const padded *p, const requested *a, int64_t first, int64_t rows,
                        int64_t lines, int64_t D)
{
    bool logits = a->answer == LRA_ANSWERS_FORWARD;
    const lra_request *from = &p->a.inputs, *to = &a->inputs;
    int64_t n = logits ? from->B : lra_request_sequences(from);
    int64_t wide = logits ? D : from->T * D, own = logits ? D : to->T * D;
    for (int64_t s = 0; s < n; s++) {
        int64_t row = s % from->B, at = s / from->B * to->B + first + row;
        for (int64_t k = 0; k < lines && row < rows; k++)
            memcpy(a->out + (at * lines + k) * own, p->out + (s * lines + k) * wide,
                   (size_t)own * sizeof(float));
    }
}

static int answer_padded(engine *g, int k, const requested *a, lra_err *e)
{
    const lra_length_graph *v = g->model.view[k];
    const lra_tensor *of = tensor_of(g, k, a->answer);
    int64_t D = g->base.facts.width, lines = a->answer == LRA_ANSWERS_VJP ? g->draws : 1;
    int64_t per = lines * D, rc = 0;
    padded p;
    open_padded(&p, a, v, a->position ? v->network.n * per : 0, lra_elements(of));
    if (a->answer == LRA_ANSWERS_FORWARD) D = g->base.facts.classes;
    if (a->answer == LRA_ANSWERS_VJP || a->answer == LRA_ANSWERS_LOGPROB) D = 1;
    for (int64_t first = 0; first < a->inputs.B && rc == 0; first += v->rows) {
        int64_t left = a->inputs.B - first, rows = left < v->rows ? left : v->rows;
        fill_padded(&p, a, first, rows, per);
        rc = run_graph(g, k, &p.a, e);
        if (rc == 0) rc = lra_get(v->plan, of, p.out, e);
        if (rc == 0) take_padded(&p, a, first, rows, lines, D);
    }
    close_padded(&p);
    return (int)rc;
}

static int answer(engine *g, const requested *a, lra_err *e)
{
    const lra_request *q = &a->inputs;
    int k = graph_for(g, q->B, q->T);
    if (q->keep) return lra_fail(e, "the built-in engine cannot hide positions");
    if (k < 0)
        return lra_fail(e, "model '%s' is built for %" PRId64 " tokens, the request has %" PRId64,
                        g->run->model->name, g->model.view[g->n_graphs - 1]->T, q->T);
    const lra_length_graph *v = g->model.view[k];
    if (v->rows != q->B || v->T != q->T) return answer_padded(g, k, a, e);
    int rc = run_graph(g, k, a, e);
    return rc == 0 ? lra_get(v->plan, tensor_of(g, k, a->answer), a->out, e) : rc;
}

/* Fails if a layer is named: the engine has no features of single layers. Nullable: layer */
static int check_layer(const char *layer, lra_err *e)
{
    return layer ? lra_fail(e, "the built-in engine has no features of layer '%s'", layer) : 0;
}

static int forward(lra_responder *r, const lra_request *q, float *logits, lra_err *e)
{
    engine *g = (engine *)r;
    const requested a = {.answer = LRA_ANSWERS_FORWARD, .inputs = *q, .out = logits};
    if (!lra_responder_answers(r, LRA_ANSWERS_FORWARD))
        return lra_fail(e, "model '%s' has an output at each position", g->run->model->name);
    int rc = need(g, LRA_ANSWERS_FORWARD | (q->place ? LRA_ANSWERS_PLACE : 0), 0, e);
    return rc == 0 ? answer(g, &a, e) : rc;
}

static int logprob(lra_responder *r, const lra_request *q, const int32_t *target, float *out,
                   lra_err *e)
{
    const requested a = {.answer = LRA_ANSWERS_LOGPROB, .inputs = *q, .target = target, .out = out};
    if (!lra_responder_answers(r, LRA_ANSWERS_LOGPROB))
        return lra_fail(e, "the model does not predict the next token");
    int rc = need((engine *)r, LRA_ANSWERS_LOGPROB | (q->place ? LRA_ANSWERS_PLACE : 0), 0, e);
    if (rc == 0) rc = answer((engine *)r, &a, e);
    /* converts losses to log-probabilities */
    for (int64_t i = 0; i < q->B * q->T && rc == 0; i++) out[i] = -out[i];
    return rc;
}

static int features(lra_responder *r, const lra_request *q, const char *layer, float *out,
                    lra_err *e)
{
    const requested a = {.answer = LRA_ANSWERS_FEATURES, .inputs = *q, .out = out};
    int rc = check_layer(layer, e);
    if (rc == 0) rc = need((engine *)r, LRA_ANSWERS_FEATURES, 0, e);
    return rc == 0 ? answer((engine *)r, &a, e) : rc;
}

/* Runs the head of graph k on rows first .. first + rows - 1 of a request; given (n,T,D) and length
 * (n) are buffers of the graph's size. */
static int run_head(engine *g, int k, const lra_request *q, const float *features, int64_t first,
                    int64_t rows, float *given, int32_t *length, lra_err *e)
{
    const lra_length_graph *h = g->model.view[g->n_graphs + k];
    int64_t B = h->rows, D = g->base.facts.width, n = B * q->towers;
    memset(given, 0, (size_t)(n * h->T * D) * sizeof *given);
    for (int64_t s = 0; s < n; s++) {
        int64_t own = s / B * q->B + first + s % B;
        length[s] = s % B < rows ? q->length[own] : 1;
        if (s % B < rows)
            memcpy(given + s * h->T * D, features + own * q->T * D,
                   (size_t)(q->T * D) * sizeof *given);
    }
    int rc = lra_set(h->plan, h->network.given, given, e);
    if (rc == 0 && h->network.length) rc = lra_set(h->plan, h->network.length, length, e);
    return rc == 0 ? lra_length_graph_run(&g->model, h, e) : rc;
}

static int head(lra_responder *r, const lra_request *q, const float *features, float *logits,
                lra_err *e)
{
    engine *g = (engine *)r;
    int rc = need(g, LRA_ANSWERS_HEAD, 0, e), k = rc == 0 ? graph_for(g, q->B, q->T) : 0;
    if (rc != 0) return rc;
    if (k < 0)
        return lra_fail(e, "model '%s' has no graph for %" PRId64 " tokens", g->run->model->name,
                        q->T);
    const lra_length_graph *h = g->model.view[g->n_graphs + k];
    int64_t C = r->facts.classes, n = h->rows * q->towers;
    float *given = lra_alloc_array((size_t)(n * h->T * r->facts.width), sizeof *given);
    float *out = lra_alloc_array((size_t)lra_elements(h->network.output), sizeof *out);
    int32_t *length = lra_alloc_array((size_t)n, sizeof *length);
    for (int64_t first = 0; first < q->B && rc == 0; first += h->rows) {
        int64_t rows = q->B - first < h->rows ? q->B - first : h->rows;
        rc = run_head(g, k, q, features, first, rows, given, length, e);
        if (rc == 0) rc = lra_get(h->plan, h->network.output, out, e);
        if (rc == 0) memcpy(logits + first * C, out, (size_t)(rows * C) * sizeof *logits);
    }
    lra_free(given);
    lra_free(out);
    lra_free(length);
    return rc;
}

static int vjp(lra_responder *r, const lra_request *q, const char *layer, const int32_t *position,
               int64_t draws, const float *cotangent, float *grad_sq, lra_err *e)
{
    const requested a = {.answer = LRA_ANSWERS_VJP,
                         .inputs = *q,
                         .position = position,
                         .cotangent = cotangent,
                         .out = grad_sq};
    int rc = check_layer(layer, e);
    if (rc == 0) rc = need((engine *)r, LRA_ANSWERS_VJP, draws, e);
    return rc == 0 ? answer((engine *)r, &a, e) : rc;
}

/* ---- attention, kernels ---------------------------------------------------------------------- */

/* Index of a layer; layer NULL: the first one. Returns -1 and a message if there is none. */
static int layer_at(const char *layer, int n, const char *const *name, lra_err *e)
{
    for (int k = 0; k < n; k++)
        if (!layer || strcmp(layer, name[k]) == 0) return k;
    lra_fail_absent(e, "the model has no such layer '%s'", layer ? layer : "");
    return -1;
}

static int attention(lra_responder *r, const lra_request *q, const char *layer, int64_t from,
                     int64_t to, lra_answer *out, lra_err *e)
{
    engine *g = (engine *)r;
    int k = layer_at(layer, r->facts.n_attention_layers, r->facts.attention_layer, e);
    *out = (lra_answer){.rank = 0};
    if (k < 0) return LRA_ABSENT;
    if (!g->maps) g->maps = lra_engine_maps_open(g->run, g->device, g->weights, q->B, e);
    return g->maps ? lra_engine_maps_rows(g->maps, q, k, from, to, out, e) : LRA_FAILED;
}

static int kernels(lra_responder *r, const char *layer, int64_t lags, lra_kernels_answer *out,
                   lra_err *e)
{
    engine *g = (engine *)r;
    int k = layer_at(layer, r->facts.n_kernel_layers, r->facts.kernel_layer, e);
    *out = (lra_kernels_answer){.channels = 0};
    return k < 0 ? LRA_ABSENT : g->kernels->get(g->kernels->context, k, g->weights, lags, out, e);
}

void lra_engine_responder_add_head(lra_responder *r, int64_t period)
{
    if (!lra_responder_answers(r, LRA_ANSWERS_FORWARD) || r->facts.next) return;
    r->facts.answers |= LRA_ANSWERS_HEAD;
    r->facts.period = period;
}

int lra_engine_responder_add_attention(lra_responder *r, lra_err *e)
{
    engine *g = (engine *)r;
    int rc = lra_engine_layers_find(g->run, g->device, &g->layers, e);
    if (rc != 0 || g->layers.n == 0) return rc;
    r->facts.answers |= LRA_ANSWERS_ATTENTION;
    r->facts.n_attention_layers = g->layers.n;
    r->facts.attention_layer = (const char *const *)g->layers.layer;
    r->facts.prepended = g->layers.prepended;
    r->facts.row_sums = g->layers.softmax ? LRA_ROWS_ONE : LRA_ROWS_RAW;
    return 0;
}

void lra_engine_responder_add_kernels(lra_responder *r, const lra_engine_kernels *kernels)
{
    ((engine *)r)->kernels = kernels;
    r->facts.uncovered = kernels->uncovered;
    if (kernels->n == 0) return;
    r->facts.answers |= LRA_ANSWERS_KERNELS;
    r->facts.n_kernel_layers = kernels->n;
    r->facts.kernel_layer = kernels->layer;
}

/* ---- weights --------------------------------------------------------------------------------- */

static int use_weights(engine *g, lra_weights_kind weights)
{
    if (g->weights != weights) unload(g), close_maps(g);
    g->weights = weights;
    return 0;
}

static int reset(lra_responder *r, uint64_t seed, lra_err *e)
{
    (void)seed;
    (void)e;
    return use_weights((engine *)r, LRA_INITIAL_WEIGHTS);
}

static int restore(lra_responder *r, lra_err *e)
{
    (void)e;
    return use_weights((engine *)r, ((engine *)r)->trained);
}

void lra_engine_responder_use(lra_responder *r, lra_weights_kind trained)
{
    ((engine *)r)->trained = trained;
    use_weights((engine *)r, trained);
}

/* ---- the responder --------------------------------------------------------------------------- */

static void close_engine(lra_responder *r)
{
    engine *g = (engine *)r;
    unload(g);
    close_maps(g);
    lra_engine_layers_free(&g->layers);
    lra_free(r);
}

lra_responder *lra_engine_responder_new(const lra_train_spec *run, lra_device *device)
{
    static const lra_responder_functions functions = {.prepare = prepare,
                                                      .forward = forward,
                                                      .logprob = logprob,
                                                      .features = features,
                                                      .head = head,
                                                      .vjp = vjp,
                                                      .attention = attention,
                                                      .kernels = kernels,
                                                      .reset = reset,
                                                      .restore = restore,
                                                      .close = close_engine};
    engine *g = lra_alloc(sizeof *g);
    *g = (engine){.base.is = &functions,
                  .run = run,
                  .device = device,
                  .weights = LRA_BEST_WEIGHTS,
                  .trained = LRA_BEST_WEIGHTS};
    g->network = lra_session_network(run);
    bool pretrained = lra_session_objective(run)->pretrains;
    bool one = g->network.head != LRA_HEAD_TOKENS && !pretrained;
    bool next = g->network.head == LRA_HEAD_NEXT && !pretrained;
    const lra_buckets buckets = lra_buckets_find(run->data);
    g->base.facts = (lra_responder_facts){
        .answers = LRA_ANSWERS_FEATURES | LRA_ANSWERS_VJP | LRA_ANSWERS_RESET | LRA_ANSWERS_PLACE |
                   LRA_ANSWERS_LONGER | LRA_ENGINE_SCORES | (one ? LRA_ANSWERS_FORWARD : 0) |
                   (next ? LRA_ANSWERS_LOGPROB : 0),
        .model = run->model->name,
        .framework = "lra-locality",
        .classes = g->network.outputs,
        .vocab = g->network.vocab,
        .max_length = buckets.length[buckets.n - 1],
        .reach = run->model->reach ? run->model->reach(run->model_config) : -1,
        .causal = lra_model_causal(run->model, run->model_config),
        .next = next};
    return &g->base;
}

/* ---- the subject ----------------------------------------------------------------------------- */

lra_subject lra_engine_subject(const lra_train_spec *run, lra_responder *model)
{
    lra_subject s = lra_subject_of(model, run->data, run->title, run->batch, run->seed);
    s.sample_seed = run->sample_seed;
    s.masking = (lra_masking){lra_session_objective(run)->evaluation, run->mask};
    if (!lra_responder_answers(model, LRA_ANSWERS_FORWARD))
        s.score = lra_engine_score, s.score_answers = LRA_ENGINE_SCORES;
    return s;
}

int lra_engine_score(lra_responder *r, const lra_request *q, const lra_batch *b, lra_sums *row,
                     lra_err *e)
{
    engine *g = (engine *)r;
    int rc = need(g, LRA_ENGINE_SCORES, 0, e), k = rc == 0 ? graph_for(g, q->B, q->T) : -1;
    if (rc != 0) return rc;
    const lra_length_graph *v = k >= 0 ? g->model.view[k] : NULL;
    if (!v || v->rows != q->B || v->T != q->T) LRA_BUG("a batch that was not announced");
    float *output = lra_alloc_array((size_t)lra_elements(v->network.output), sizeof *output);
    rc = lra_session_set(&g->spec, &v->network, v->plan, b, e);
    if (rc == 0) rc = lra_length_graph_run(&g->model, v, e);
    if (rc == 0) rc = lra_get(v->plan, v->network.output, output, e);
    if (rc == 0) lra_session_rows(&g->spec, b, v->rows, v->T, output, row);
    lra_free(output);
    return rc;
}
