/* Builds networks: inputs, encoder and heads. */
#include "models/network.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/positions.h"

/* length of the graph that checks an encoder's settings; bucket lengths are multiples of it */
enum { TRIAL_STEPS = 64 };

static lra_build build_of(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                          int64_t n, int64_t T)
{
    lra_build b = {.config = c, .B = n, .T = T, .T_max = s->T_max ? s->T_max : T};
    b.grid.rows = s->rows, b.grid.columns = s->columns;
    b.causal = lra_model_causal(m, c);
    return b;
}

/* Adds positions to x and builds the encoder. */
static lra_tensor *encode(const lra_model *m, const lra_build *b, lra_tensor *x)
{
    if (b->T > b->T_max)
        lra_graph_fail(b->graph,
                       "a bucket of %lld positions is longer than the longest input, %lld",
                       (long long)b->T, (long long)b->T_max);
    if (m->positions) x = lra_add_positions(b, x, m->positions(b->config));
    lra_push(b->graph, "encoder");
    x = m->encode(b, x);
    lra_pop(b->graph);
    return x;
}

/* Fails if the encoder does not support the settings ("kernel is 4, expected an odd number"). */
static int check_encoder(const lra_model *m, const lra_config *c, lra_err *e)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_shape s = LRA_SHAPE(1, TRIAL_STEPS, lra_config_int(c, "width"));
    lra_tensor *x = lra_input(g, "x", LRA_F32, s);
    lra_build b = build_of(m, c, &(lra_network_spec){0}, 1, TRIAL_STEPS);
    b.graph = g;
    b.length = lra_input(g, "length", LRA_I32, LRA_SHAPE(1));
    encode(m, &b, x);
    int rc = lra_graph_check(g, e);
    if (rc != 0) lra_fail_in(e, "model '%s'", m->name);
    lra_graph_free(g);
    return rc == 0 ? 0 : LRA_USAGE;
}

static bool has_pool(const lra_network_spec *s)
{
    return s->head != LRA_HEAD_TOKENS && s->head != LRA_HEAD_NEXT;
}

static int check_pool(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                      lra_err *e)
{
    if (!has_pool(s) || s->pool != LRA_POOL_CLS) return 0;
    if (!(m->pools & LRA_POOL_BIT(LRA_POOL_CLS)))
        return lra_fail_usage(e, "model '%s' cannot pool by cls; expected mean, last or max",
                              m->name);
    if (!lra_model_causal(m, c)) return 0;
    return lra_fail_usage(
        e,
        "pool 'cls' reads the first position, where a causal model has no context; expected last, "
        "mean or max");
}

/* Returns the setting that makes the model causal, for a message: " (--set directions=1)", causal=1
 * or the default of another key; "" if there is none. The caller frees it. */
static char *causal_setting(const lra_model *m, const lra_config *c)
{
    char *found = NULL;
    for (const lra_key *k = m->keys; m->causal && k->name && !found; k++) {
        const char *value = strcmp(k->name, "causal") == 0 ? "1" : k->value;
        lra_config *other = lra_config_copy(c);
        lra_config_set(other, k->name, value);
        if (m->causal(other)) found = lra_format(" (--set %s=%s)", k->name, value);
        lra_config_free(other);
    }
    return found ? found : lra_copy_text("");
}

int lra_network_check(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                      lra_err *e)
{
    if (check_encoder(m, c, e) != 0 || check_pool(m, c, s, e) != 0) return LRA_USAGE;
    if (s->head != LRA_HEAD_NEXT || lra_model_causal(m, c)) return 0;
    char *setting = causal_setting(m, c);
    lra_fail_usage(e, "model '%s' sees later tokens, which the task predicts%s%s", m->name,
                   m->causal ? "; it must be causal" : "", setting);
    lra_free(setting);
    return LRA_USAGE;
}

/* ---- inputs and encoder ---------------------------------------------------------------------- */

static lra_embed_start embedding_of(const lra_model *m, const lra_config *c, int64_t channels)
{
    if (m->embedding) {
        lra_embed_start own = m->embedding(c, channels);
        own.bias.no_decay = true; /* no weight decay, because biases never have it */
        return own;
    }
    return (lra_embed_start){.table = {LRA_NORMAL(1)},
                             .weight = {LRA_FAN(channels)},
                             .bias = {LRA_FAN(channels), .no_decay = true}};
}

/* Builds the input layer: (n,T) ids or (n,T,channels) numbers to (n,T,D). */
static lra_tensor *embed(lra_network *k)
{
    lra_graph *g = k->graph;
    int64_t width = lra_config_int(k->config, "width"), channels = k->spec.channels;
    lra_embed_start start = embedding_of(k->model, k->config, channels);
    lra_tensor *x;
    if (k->spec.vocab == 0) {
        k->values = lra_input(g, "values", lra_real(g), LRA_SHAPE(k->n, k->T, channels));
        x = lra_layer_linear_from(lra_cast(k->values, lra_elem(g)), "embed", width, &start.weight,
                                  &start.bias);
    } else {
        k->tokens = lra_input(g, "tokens", LRA_I32, LRA_SHAPE(k->n, k->T));
        lra_push(g, "embed");
        lra_tensor *table = lra_param(g, "table", LRA_SHAPE(k->spec.vocab, width), &start.table);
        x = lra_embedding(table, k->tokens);
        lra_pop(g);
    }
    return start.scale != 0 && start.scale != 1 ? lra_affine(x, start.scale, 0) : x;
}

/* Appends `more` positions of padding to x (n,T,D): the vector of token 0, or of the numbers 0. */
static lra_tensor *add_padding(const lra_network *k, lra_tensor *x, int64_t more)
{
    lra_graph *g = k->graph;
    double scale = embedding_of(k->model, k->config, k->spec.channels).scale;
    lra_tensor *row = lra_shared(g, k->tokens ? "embed/table" : "embed/b");
    if (k->tokens) row = lra_slice(row, 0, 0, 1);
    row = lra_affine(lra_cast(row, x->type), scale != 0 ? scale : 1, 0);
    row = lra_broadcast(lra_reshape(row, LRA_SHAPE(1, 1, lra_width(x))),
                        LRA_SHAPE(k->n, more, lra_width(x)));
    return lra_concat(2, (lra_tensor *[]){x, row}, 1);
}

/* Returns length + 1 for each row: the argmax of a one-hot vector of the length that is preceded by
 * one zero. */
static lra_tensor *one_more(lra_tensor *length, int64_t T)
{
    lra_tensor *place = lra_one_hot(length, T + 1);
    int64_t n = place->shape.d[0];
    lra_tensor *row[] = {lra_zeros(length->graph, place->type, LRA_SHAPE(n, 1)), place};
    return lra_argmax(lra_concat(2, row, 1));
}

/* Prepends the CLS vector: (n,T,D) to (n,T+1,D). */
static lra_tensor *add_cls(const lra_network *k, lra_tensor *x)
{
    lra_graph *g = k->graph;
    int64_t D = lra_width(x);
    lra_push(g, "cls");
    lra_tensor *v = lra_cast(lra_param(g, "vector", LRA_SHAPE(D), NULL), lra_elem(g));
    v = lra_broadcast(lra_reshape(v, LRA_SHAPE(1, 1, D)), LRA_SHAPE(k->n, 1, D));
    lra_pop(g);
    return lra_concat(2, (lra_tensor *[]){v, x}, 1);
}

bool lra_adds_positions(const lra_model *m, const lra_config *c)
{
    lra_positions kind = m->positions ? m->positions(c) : LRA_POSITIONS_NONE;
    return kind == LRA_POSITIONS_SINUSOIDAL || kind == LRA_POSITIONS_LEARNED;
}

lra_network lra_network_open(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                             const lra_network_spec *s, int64_t B, int64_t T)
{
    lra_graph *g = lra_graph_new(type, mode);
    lra_network k = {.graph = g, .model = m, .config = c, .spec = *s, .B = B, .T = T, .n = B};
    const char *no_limit_reason = lra_model_no_limit_reason(m, c);
    if (s->limited && no_limit_reason)
        lra_graph_fail(g, "a distance limit is undefined: %s", no_limit_reason);
    if (s->limited) lra_graph_limit(g);
    if (s->head == LRA_HEAD_PAIR) k.n = 2 * B;
    lra_tensor *x = embed(&k);
    k.inputs = x;
    k.length = lra_input(g, "length", LRA_I32, LRA_SHAPE(k.n));
    lra_build b = build_of(m, c, s, k.n, T);
    bool unmasked = m->unmasked && m->unmasked(c);
    b.graph = g, b.length = unmasked ? NULL : k.length;
    if (unmasked && T < b.T_max) x = add_padding(&k, x, b.T_max - T), b.T = b.T_max;
    bool cls = has_pool(s) && s->pool == LRA_POOL_CLS;
    if (cls) {
        x = add_cls(&k, x);
        b.length = unmasked ? NULL : one_more(k.length, T), b.T++, b.T_max++;
    }
    if (s->explicit_positions && (cls || unmasked))
        lra_graph_fail(g, "position ids exist for tokens, not for CLS or padding that counts");
    if (s->explicit_positions && (lra_adds_positions(m, c) || m->reads_position_ids))
        k.position_ids = b.position_ids = lra_input(g, "places", LRA_I32, LRA_SHAPE(k.n, T));
    x = encode(m, &b, x);
    if (cls) k.cls = lra_reshape(lra_slice(x, 1, 0, 1), LRA_SHAPE(k.n, lra_width(x)));
    if (cls || unmasked) x = lra_slice(x, 1, cls, T);
    k.features = lra_name(x, "features");
    k.limit = lra_limit_input(g);
    return k;
}

lra_network lra_network_of_features(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_network_spec *s, int64_t B,
                                    int64_t T, int64_t D)
{
    lra_graph *g = lra_graph_new(type, mode);
    lra_network k = {.graph = g, .model = m, .config = c, .spec = *s, .B = B, .T = T, .n = B};
    if (s->head == LRA_HEAD_PAIR) k.n = 2 * B;
    if (has_pool(s) && s->pool == LRA_POOL_CLS)
        lra_graph_fail(g, "features without CLS cannot be the input of a head that pools by CLS");
    k.given = lra_input(g, "features", lra_real(g), LRA_SHAPE(k.n, T, D));
    k.features = lra_cast(k.given, lra_elem(g));
    k.length = lra_input(g, "length", LRA_I32, LRA_SHAPE(k.n));
    lra_network_head(&k);
    return k;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

lra_tensor *lra_network_linear(lra_tensor *x, const char *name, int64_t outputs)
{
    lra_graph *g = x->graph;
    lra_tensor *y = lra_layer_linear(lra_cast(x, lra_elem(g)), name, outputs, LRA_ACT_NONE, NULL);
    return lra_cast(y, lra_real(g));
}

lra_tensor *lra_network_mse(lra_tensor *x, lra_tensor *target, lra_tensor *target_mask,
                            lra_tensor *scale)
{
    return lra_mul(lra_mse(lra_mul(x, target_mask), target), scale);
}

lra_tensor *lra_network_l1(lra_tensor *x, lra_tensor *target, lra_tensor *target_mask,
                           lra_tensor *scale)
{
    return lra_mul(lra_l1(lra_mul(x, target_mask), target), scale);
}

/* ---- heads ----------------------------------------------------------------------------------- */

/* Returns the pooled features: (n,D). */
static lra_tensor *pool(const lra_network *k)
{
    return k->cls ? k->cls : lra_pool(k->features, k->length, k->spec.pool);
}

/* Builds the classifier of MEGA (lra_model.mega_head). */
static lra_tensor *mega_logits(const lra_network *k, lra_tensor *p, const lra_classifier *c)
{
    const lra_param_spec weights = {LRA_XAVIER(1)}, biases = {.no_decay = true};
    p = lra_layer_linear_from(p, "hidden", c->hidden, &weights, &biases);
    p = lra_activation(lra_dropout(p, c->dropout, false), c->act);
    p = lra_layer_linear_from(p, "head", k->spec.outputs, &weights, NULL);
    return lra_cast(p, lra_real(k->graph));
}

static void classify(lra_network *k, lra_tensor *p)
{
    lra_classifier c = {0};
    if (k->model->classifier) c = k->model->classifier(k->config);
    k->label = lra_input(k->graph, "label", LRA_I32, LRA_SHAPE(k->B));
    if (c.hidden) p = lra_cast(p, lra_elem(k->graph));
    if (c.hidden && !k->model->mega_head)
        p = lra_dropout(lra_layer_linear(p, "hidden", c.hidden, c.act, NULL), c.dropout, false);
    k->output = k->model->mega_head ? mega_logits(k, p, &c)
                                    : lra_network_linear(p, "head", k->spec.outputs);
    lra_name(k->output, "logits");
    k->loss = lra_cross_entropy(k->output, k->label);
}

/* Adds the inputs and the loss of a regression: `numbers` of shape s against targets. */
static void regress(lra_network *k, lra_tensor *numbers, lra_shape s)
{
    lra_graph *g = k->graph;
    lra_type real = lra_real(g);
    k->target = lra_input(g, "target", real, s);
    k->target_mask = lra_input(g, "asked", real, s);
    k->scale = lra_input(g, "scale", real, (lra_shape){0});
    k->output = lra_name(numbers, "numbers");
    k->loss = k->spec.absolute ? lra_network_l1(k->output, k->target, k->target_mask, k->scale)
                               : lra_network_mse(k->output, k->target, k->target_mask, k->scale);
}

static void class_head(lra_network *k)
{
    classify(k, pool(k));
}

static void pair_head(lra_network *k)
{
    lra_tensor *p = lra_cast(pool(k), lra_elem(k->graph));
    lra_tensor *a = lra_slice(p, 0, 0, k->B), *b = lra_slice(p, 0, k->B, k->B);
    if (k->model->mega_head) {
        classify(k, lra_concat(2, (lra_tensor *[]){b, a}, 1));
        return;
    }
    lra_tensor *both[] = {a, b, lra_sub(a, b), lra_mul(a, b)};
    lra_tensor *x = lra_concat(4, both, 1);
    classify(k, lra_layer_linear(x, "pair", lra_width(p), LRA_ACT_GELU, NULL));
}

static void value_head(lra_network *k)
{
    lra_tensor *p = pool(k);
    regress(k, lra_layer_linear_real(p, "head", k->spec.outputs), LRA_SHAPE(k->B, k->spec.outputs));
}

static void steps_head(lra_network *k)
{
    regress(k, lra_network_linear(k->features, "head", k->spec.outputs),
            LRA_SHAPE(k->B, k->T, k->spec.outputs));
}

static void next_head(lra_network *k)
{
    k->label = lra_input(k->graph, "label", LRA_I32, LRA_SHAPE(k->B, k->T));
    lra_tensor *logits = lra_network_linear(k->features, "head", k->spec.outputs);
    logits = lra_name(logits, "logits");
    k->output = lra_name(lra_cross_entropy_rows(logits, k->label), "nats");
    k->loss = lra_cross_entropy(logits, k->label);
}

void lra_network_head(lra_network *k)
{
    switch (k->spec.head) {
    case LRA_HEAD_CLASS: class_head(k); return;
    case LRA_HEAD_PAIR: pair_head(k); return;
    case LRA_HEAD_VALUE: value_head(k); return;
    case LRA_HEAD_TOKENS: steps_head(k); return;
    case LRA_HEAD_NEXT: next_head(k); return;
    }
}

/* ---- all of the network ---------------------------------------------------------------------- */

lra_network lra_network_build(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                              const lra_network_spec *s, int64_t B, int64_t T)
{
    lra_network k = lra_network_open(type, mode, m, c, s, B, T);
    lra_network_head(&k);
    return k;
}

int64_t lra_network_parameters(const lra_model *m, const lra_config *c, const lra_network_spec *s)
{
    int64_t T = s->T_max ? s->T_max : TRIAL_STEPS;
    lra_network k = lra_network_build(LRA_F32, LRA_EVAL, m, c, s, 1, T);
    int n = lra_graph_params(k.graph, NULL);
    lra_tensor **param = lra_alloc_array((size_t)n + 1, sizeof *param);
    lra_graph_params(k.graph, param);
    int64_t total = 0;
    for (int i = 0; i < n; i++) total += lra_elements(param[i]);
    lra_free(param);
    lra_graph_free(k.graph);
    return total;
}
