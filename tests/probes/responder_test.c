/* Models that are functions of their tokens, without a training run: every part that needs only the
 * model's responses finds the known distances. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "probes/influence/measure_parts.h"
#include "probes/influence/model_run.h"
#include "probes/influence/registry.h"
#include "probes/shared/subject_result.h"
#include "tests/fixtures/folder.h"

enum { BACK = 7, VOCAB = 4, LONGEST = 32, CONTEXT = 32, FAR = 24, WIDTH = 3 };

/* ---- data ------------------------------------------------------------------------------------ */

/* Makes a task whose label is the token BACK positions before the last; 1 in shorter rows. */
static int make_label(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    static const char *const count[] = {"train", "val", "test"};
    (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < lra_config_int(c, count[s]); i++) {
            uint64_t key = (uint64_t)(lra_config_int(c, "data-seed") * 4 + s);
            lra_rng r = lra_rng_new(key, 0x7E57, (uint64_t)i);
            uint16_t token[4 * LONGEST];
            int64_t n = lra_config_int(c, "length") - i % 2;
            for (int64_t t = 0; t < n; t++) token[t] = (uint16_t)lra_rng_below(&r, VOCAB);
            lra_sequences_add_tokens(&split[s], token, n, n > BACK ? token[n - 1 - BACK] : 1);
        }
    return 0;
}

/* Makes a task whose label is whether two tokens FAR positions apart are in the same half of the
 * vocabulary. */
static int make_pairs(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    int rc = make_label(c, split, e);
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < split[s].n; i++) {
            const uint16_t *token = split[s].token + split[s].start[i];
            split[s].label[i] = token[2] / 2 == token[2 + FAR] / 2;
        }
    return rc;
}

static void mark_last(const lra_row *row, bool *marked)
{
    marked[row->n - 1] = true;
}

/* Makes a stream in which every token is the one BACK + 1 positions before it plus 0, 1 or 2. */
static int make_stream(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        enum { N = 40 * CONTEXT + 1 };
        uint16_t token[N];
        lra_rng r = lra_rng_new(3, 0x7E57, (uint64_t)s);
        for (int t = 0; t <= BACK; t++) token[t] = (uint16_t)lra_rng_below(&r, VOCAB);
        for (int t = BACK + 1; t < N; t++)
            token[t] = (uint16_t)((token[t - 1 - BACK] + t % 3) % VOCAB);
        lra_sequences_add_tokens(&split[s], token, N, 0);
    }
    return 0;
}

static const lra_key keys[] = {LRA_INT_KEY("length", "32", 1, 4 * LONGEST, "tokens of a row"),
                               LRA_COUNT_KEYS("40", "10", "60", 1000), LRA_DATA_SEED_KEY,
                               LRA_KEYS_END};
static const lra_task labels = {.name = "known-label",
                                .goal = LRA_GOAL_CLASS,
                                .n_classes = VOCAB,
                                .keys = keys,
                                .input.vocab = VOCAB,
                                .text.marks = mark_last,
                                .data.longest = lra_longest_length,
                                .data.make = make_label};
static const lra_task pairs = {.name = "known-pair",
                               .goal = LRA_GOAL_CLASS,
                               .n_classes = 2,
                               .keys = keys,
                               .input.vocab = VOCAB,
                               .data.longest = lra_longest_length,
                               .data.make = make_pairs};
static const lra_task stream = {
    .name = "known-stream",
    .goal = LRA_GOAL_NEXT,
    .input.vocab = VOCAB,
    .keys = (const lra_key[]){LRA_INT_KEY("context", "32", 1, 64, ""), LRA_KEYS_END},
    .data.longest = lra_longest_context,
    .data.make = make_stream};

static lra_dataset *dataset_of(const lra_task *t)
{
    lra_err e;
    lra_config *c = lra_keys_config(t->keys);
    lra_dataset *d = lra_dataset_make(t, c, &e);
    NOT_NULL(d);
    lra_config_free(c);
    return d;
}

/* ---- models ---------------------------------------------------------------------------------- */

/* A model that is a function of the tokens of one sequence. */
typedef struct {
    lra_responder base;
    void (*logits)(int64_t n, const int32_t *token, float *out);
    int64_t needs; /* smallest distance limit that does not change the outputs */
} known;

static int64_t positions; /* positions of all requests, padding included */

static int forward(lra_responder *r, const lra_request *q, float *logits, lra_err *e)
{
    (void)e;
    positions += q->B * q->T;
    for (int64_t i = 0; i < q->B; i++) {
        float *out = logits + i * r->facts.classes;
        for (int64_t c = 0; c < r->facts.classes; c++) out[c] = 0;
        if (q->limit && q->limit->r < ((known *)r)->needs) continue;
        ((known *)r)->logits(q->length[i], q->token + i * q->T, out);
    }
    return 0;
}

static void token_before_last(int64_t n, const int32_t *token, float *out)
{
    if (n > BACK) out[token[n - 1 - BACK]] = 9;
}

/* Gives equal logits to the three tokens that can follow, given the token BACK positions before the
 * last. */
static void next_token(int64_t n, const int32_t *token, float *out)
{
    if (n > BACK)
        for (int add = 0; add < 3; add++) out[(token[n - 1 - BACK] + add) % VOCAB] = 9;
}

static void same_half(int64_t n, const int32_t *token, float *out)
{
    if (n > 2 + FAR) out[token[2] / 2 == token[2 + FAR] / 2] = 9;
}

/* Returns entry (d, v) of the matrix A (WIDTH, VOCAB); the features are h_i = A e_j with j = i -
 * BACK, or 0 if there is no such token. */
static float entry(int64_t d, int64_t v)
{
    return (float)(1 + (d * 2 + v * 3) % 5);
}

static int features(lra_responder *r, const lra_request *q, const char *layer, float *out,
                    lra_err *e)
{
    (void)r, (void)layer, (void)e;
    for (int64_t s = 0; s < lra_request_sequences(q); s++)
        for (int64_t i = 0; i < q->T; i++)
            for (int64_t d = 0; d < WIDTH; d++) {
                float *to = &out[(s * q->T + i) * WIDTH + d];
                *to = i < BACK ? 0 : entry(d, q->token[s * q->T + i - BACK]);
            }
    return 0;
}

/* Reads the token BACK positions before the last one from the last position's features. */
static int head(lra_responder *r, const lra_request *q, const float *h, float *logits, lra_err *e)
{
    (void)e;
    for (int64_t i = 0; i < q->B; i++) {
        const float *last = h + (i * q->T + (q->length[i] ? q->length[i] - 1 : 0)) * WIDTH;
        for (int64_t v = 0; v < r->facts.classes; v++) {
            bool is = true;
            for (int64_t d = 0; d < WIDTH; d++) is = is && last[d] == entry(d, v);
            logits[i * r->facts.classes + v] = is ? 9 : 0;
        }
    }
    return 0;
}

static int vjp(lra_responder *r, const lra_request *q, const char *layer, const int32_t *position,
               int64_t draws, const float *cotangent, float *grad_sq, lra_err *e)
{
    (void)r, (void)layer, (void)e;
    for (int64_t s = 0; s < lra_request_sequences(q); s++)
        for (int64_t k = 0; k < draws; k++) {
            const float *v = cotangent + (s * draws + k) * WIDTH;
            float *to = grad_sq + (s * draws + k) * q->T;
            for (int64_t j = 0; j < q->T; j++) to[j] = 0;
            for (int64_t c = 0; c < VOCAB && position[s] >= BACK; c++) {
                float sum = 0;
                for (int64_t d = 0; d < WIDTH; d++) sum += v[d] * entry(d, c);
                to[position[s] - BACK] += sum * sum;
            }
        }
    return 0;
}

static void close_known(lra_responder *r)
{
    (void)r;
}

static const lra_responder_functions functions = {
    .forward = forward, .features = features, .head = head, .vjp = vjp, .close = close_known};
enum { ALL = LRA_ANSWERS_FORWARD | LRA_ANSWERS_FEATURES | LRA_ANSWERS_VJP | LRA_ANSWERS_PLACE };

static known model_of(uint32_t answers, int64_t classes,
                      void (*logits)(int64_t n, const int32_t *token, float *out))
{
    return (known){.base = {.is = &functions,
                            .facts = {.answers = answers,
                                      .model = "known",
                                      .framework = "C 11",
                                      .weights = "seed 1",
                                      .classes = classes,
                                      .vocab = VOCAB,
                                      .width = WIDTH,
                                      .reach = -1}},
                   .logits = logits};
}

/* ---- measurements ---------------------------------------------------------------------------- */

typedef struct {
    lra_dataset *data;
    lra_result *result;
    lra_influence p;
} measured;

static void open_measured(measured *m, const lra_task *t, known *model)
{
    lra_err e = {{0}};
    lra_origin origin = {0};
    m->data = dataset_of(t);
    m->p = (lra_influence){.subject = lra_subject_of(&model->base, m->data, "known", 8, 5)};
    m->result = lra_subject_result(&m->p.subject, "user.known", &e);
    if (!m->result) fail_msg("%s", e.msg);
    m->p.result = m->result;
    m->p.steps.bar = lra_progress_new("known", 1);
    m->p.out = lra_probe_result_new("influence", m->result, &origin);
}

static void close_measured(measured *m)
{
    lra_progress_free(m->p.steps.bar);
    lra_probe_result_free(m->p.out);
    lra_result_free(m->result);
    lra_dataset_free(m->data);
}

static void measure(measured *m, const lra_influence_part *part)
{
    lra_err e = {{0}};
    m->p.steps.done = 0;
    if (lra_part_undefined(part, &m->p))
        fail_msg("%s: %s", part->name, lra_part_undefined(part, &m->p));
    if (lra_part_measure(part, &m->p, 0, &e) != 0) fail_msg("%s: %s", part->name, e.msg);
    assert_true(m->p.steps.done > 0 && m->p.steps.done <= lra_part_passes(part, &m->p, 0));
}

static const lra_measurement *found(const measured *m, const char *unit, const char *id)
{
    const lra_probe_unit *u = lra_probe_unit_find(m->p.out, unit);
    const lra_measurement *f = u ? lra_probe_measurement(u, id) : NULL;
    if (!f) fail_msg("%s has no %s", unit, id);
    return f;
}

static void equals(const measured *m, const char *unit, const char *id, double value)
{
    const lra_measurement *f = found(m, unit, id);
    if (!(fabs(f->value - value) < 1e-6))
        fail_msg("%s %s: %g, expected %g", unit, id, f->value, value);
}

/* The result agrees with the rows: every prediction is right. */
TEST(a_result_without_a_run)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    uint8_t *correct = lra_result_correct(m.result);
    for (int64_t i = 0; i < m.result->n; i++) assert_int_equal(correct[i], 1);
    assert_int_equal(m.result->n, 60);
    assert_string_equal(m.result->model, "user.known");
    lra_free(correct);
    close_measured(&m);
}

/* Gradients and occlusion of features that depend on the token BACK positions before. */
TEST(features_of_a_delay)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    measure(&m, &lra_part_jacobian);
    measure(&m, &lra_part_occlusion);
    measure(&m, &lra_part_field);
    static const char *const unit[] = {"jacobian", "occlusion"};
    for (int k = 0; k < 2; k++) {
        equals(&m, unit[k], "dist.mean", BACK);
        equals(&m, unit[k], "range.mean", BACK);
        equals(&m, unit[k], "range.q50", BACK);
        equals(&m, unit[k], "range.q99", BACK);
        equals(&m, unit[k], "side", 1);
        equals(&m, unit[k], "self", 0);
        /* There are no initial weights, so differences from them are NaN. */
        assert_true(isnan(found(&m, unit[k], "dist.mean")->null[LRA_NULL_INIT]));
        assert_null(lra_probe_measurement(lra_probe_unit_find(m.p.out, unit[k]), "shift.w1"));
    }
    assert_null(lra_probe_unit_find(m.p.out, "jacobian.init"));
    equals(&m, "field", "erf.r99", BACK);
    close_measured(&m);
}

/* The last token is marked, and the token BACK positions before it determines the label: 8 is the
 * smallest width that includes it. */
TEST(tokens_far_of_marks_are_dropped)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    static const lra_influence_part *const part[] = {&lra_part_drop, &lra_part_drop_token};
    for (int k = 0; k < 2; k++) {
        measure(&m, part[k]);
        equals(&m, part[k]->name, "drop.w95", BACK + 1);
        /* the interval begins one token above the previous width, 4 */
        assert_true(found(&m, part[k]->name, "drop.w95")->lo == 5);
    }
    close_measured(&m);
}

/* Only the bin that contains the determining position has an effect. */
TEST(the_position_that_decides)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    measure(&m, &lra_part_position);
    const lra_probe_array *effect = lra_probe_array_find(lra_probe_unit_find(m.p.out, "position"),
                                                         "effect");
    /* In rows of 31 and 32 tokens, positions 23 and 24 are in bin 15 of 20. */
    for (int k = 0; k < 20; k++) assert_int_equal(effect->value[3 * k] > 0, k == 15);
    close_measured(&m);
}

/* Windows of a stream that end at the predicted position: the token BACK positions before it
 * requires windows of BACK + 1 tokens. */
TEST(windows_of_a_stream)
{
    known model = model_of(LRA_ANSWERS_FORWARD, VOCAB, next_token);
    measured m;
    open_measured(&m, &stream, &model);
    static const lra_influence_part *const part[] = {&lra_part_keep, &lra_part_swap,
                                                     &lra_part_token};
    for (int k = 0; k < 3; k++) measure(&m, part[k]);
    equals(&m, "keep", "keep.w95", BACK + 1);
    equals(&m, "keep", "kl.w95", BACK + 1);
    assert_true(found(&m, "keep", "keep.w95")->lo == 5);
    close_measured(&m);
}

static bool equal_units(const lra_probe_unit *a, const lra_probe_unit *b)
{
    bool equal = a->n_arrays == b->n_arrays && a->n_measurements == b->n_measurements;
    for (int k = 0; k < a->n_arrays && equal; k++) {
        const lra_probe_array *x = &a->array[k], *y = &b->array[k];
        size_t n = sizeof *x->value;
        for (int d = 0; d < x->rank; d++) n *= (size_t)x->dims[d];
        equal = x->dims[0] == y->dims[0] && memcmp(x->value, y->value, n) == 0;
    }
    for (int k = 0; k < a->n_measurements && equal; k++)
        equal = memcmp(&a->measurement[k], &b->measurement[k], sizeof *a->measurement) == 0;
    return equal;
}

/* Models for which short requests cost less receive windows without their padding: the same
 * numbers, at a fraction of the announced and of the actual cost. */
TEST(windows_without_padding)
{
    static const lra_task *const tasks[] = {&labels, &stream};
    static const lra_influence_part *const part[] = {&lra_part_keep, &lra_part_bag};
    for (int k = 0; k < 3; k++) { /* part bag is undefined for language models */
        const lra_task *t = tasks[k / 2];
        known model = model_of(LRA_ANSWERS_FORWARD, VOCAB, k / 2 ? next_token : token_before_last);
        measured m[2];
        int64_t sent[2];
        for (int any = 0; any < 2; any++) {
            open_measured(&m[any], t, &model);
            model.base.facts.any_length = any;
            positions = 0;
            measure(&m[any], part[k % 2]);
            sent[any] = positions;
        }
        model.base.facts.any_length = false;
        double padded = lra_part_passes(part[k % 2], &m[0].p, 0);
        model.base.facts.any_length = true;
        assert_true(lra_part_passes(part[k % 2], &m[1].p, 0) < 0.7 * padded);
        assert_true(10 * sent[1] < 7 * sent[0]);
        assert_true(equal_units(m[0].p.out->unit[0], m[1].p.out->unit[0]));
        for (int any = 1; any >= 0; any--) close_measured(&m[any]); /* progress bars are nested */
    }
}

/* The features of a position from crops around it: the distance of the delay is the context. */
TEST(context_of_a_delay)
{
    for (int k = 0; k < 3; k++) {
        known model = model_of(ALL | LRA_ANSWERS_HEAD, VOCAB, token_before_last);
        measured m;
        if (k > 0) model.base.facts.answers &= ~(uint32_t)LRA_ANSWERS_PLACE;
        model.base.facts.no_positions = k == 2;
        model.base.facts.causal = k == 2;
        open_measured(&m, &labels, &model);
        measure(&m, &lra_part_context);
        equals(&m, "context", "context.r99", BACK);
        equals(&m, "context", "context.r50", BACK);
        const lra_probe_unit *u = lra_probe_unit_find(m.p.out, "context");
        const lra_probe_array *x = lra_probe_array_find(u, "x"),
                              *kl = lra_probe_array_find(u, "kl");
        for (int64_t i = 0; i < x->dims[0]; i++)
            assert_true(x->value[i] < BACK ? kl->value[3 * i] > 1 : kl->value[3 * i] == 0);
        const lra_measurement *f = found(&m, "context", "context.r99");
        assert_true(f->lo == BACK && f->hi == BACK);
        assert_int_equal((f->flags & LRA_FALLBACK) != 0, k == 1); /* position ids begin at 0 */
        close_measured(&m);
    }
}

/* Limits per layer, sent with the requests: thresholds of all layers, of attention, and of the
 * layer that can be limited alone. A model whose outputs change with a limit that restricts nothing
 * is refused. */
TEST(limits_of_layers)
{
    static const char *const layer[] = {"Block 1"};
    known model = model_of(LRA_ANSWERS_FORWARD, VOCAB, token_before_last);
    model.needs = 8;
    model.base.facts.limits = LRA_LIMITS_ATTENTION, model.base.facts.limit_depth = 2;
    model.base.facts.n_limit_layers = 1, model.base.facts.limit_layer = layer;
    measured m;
    open_measured(&m, &labels, &model);
    measure(&m, &lra_part_cut);
    equals(&m, "cut", "cut.r99", 8);
    equals(&m, "cut", "cut.reach99", 16);
    equals(&m, "cut.window", "window.w99", 8);
    equals(&m, "cut.block-1", "layer.w50", 8);
    assert_true(found(&m, "cut", "cut.r99")->lo == 5);
    model.needs = LONGEST;
    lra_err e = {{0}};
    assert_int_equal(lra_part_measure(&lra_part_cut, &m.p, 0, &e), LRA_FAILED);
    if (!strstr(e.msg,
                "a distance limit of 31 tokens, which restricts nothing, changes outputs by 9"))
        fail_msg("%s", e.msg);
    model.base.facts.limits = LRA_LIMITS_NONE;
    assert_non_null(strstr(lra_part_undefined(&lra_part_cut, &m.p), "accepts no distance limits"));
    close_measured(&m);
}

/* Two tokens FAR apart interact: only their pair of blocks has a second difference. */
TEST(tokens_that_act_together)
{
    known model = model_of(LRA_ANSWERS_FORWARD, 2, same_half);
    measured m;
    open_measured(&m, &pairs, &model);
    measure(&m, &lra_part_interaction);
    equals(&m, "interaction", "inter.peak", FAR);
    equals(&m, "interaction", "inter.mean", FAR);
    assert_null(lra_probe_unit_find(m.p.out, "interaction.init"));
    close_measured(&m);
}

/* A model that ignores position ids does not change with them; a model that counts from the end
 * changes with the length. */
TEST(positions_and_lengths)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    measure(&m, &lra_part_shift);
    equals(&m, "shift", "position.shift.1", 0);
    measure(&m, &lra_part_length);
    static const char *const id[] = {"length.gain.x0.25", "length.gain.x0.5", "length.gain.x1",
                                     "length.gain.x2"};
    for (int k = 1; k < 4; k++) equals(&m, "length", id[k], 1);
    assert_true(found(&m, "length", id[0])->value < 0.9); /* half of the rows have 7 tokens */
    close_measured(&m);
}

/* Every part is either measured or has a reason why not. */
TEST(all_parts)
{
    known model = model_of(ALL, VOCAB, token_before_last);
    measured m;
    int ran = 0;
    open_measured(&m, &labels, &model);
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        const char *why = lra_part_undefined(part, &m.p);
        if (part->engine) assert_string_equal(why, "it needs the graphs of a built-in model");
        if (why) continue;
        measure(&m, part);
        ran++;
    }
    assert_int_equal(ran, 16);
    close_measured(&m);
}

/* The message names the operation that a model does not support. */
TEST(answers_that_are_missing)
{
    known model = model_of(LRA_ANSWERS_FORWARD, VOCAB, token_before_last);
    measured m;
    open_measured(&m, &labels, &model);
    static const struct {
        const lra_influence_part *part;
        const char *why;
    } missing[] = {{&lra_part_jacobian, "the model gives no gradients"},
                   {&lra_part_field, "the model gives no gradients"},
                   {&lra_part_occlusion, "the model gives no features of its positions"},
                   {&lra_part_mask, "the model takes no position ids"},
                   {&lra_part_shift, "the model takes no position ids"}};
    for (int k = 0; k < 5; k++)
        assert_string_equal(lra_part_undefined(missing[k].part, &m.p), missing[k].why);
    assert_null(lra_part_undefined(&lra_part_keep, &m.p));
    close_measured(&m);
}

/* ---- a folder -------------------------------------------------------------------------------- */

static const lra_option flags[] = {{.name = "force", .kind = LRA_OPTION_FLAG, .help = ""},
                                   {.name = "dry-run", .kind = LRA_OPTION_FLAG, .help = ""},
                                   {.name = NULL}};
static const lra_option *const tables[] = {lra_influence_sampling_options, lra_part_length_options,
                                           lra_part_heads_options, flags, NULL};
static const lra_command command = {.program = "audit", .tables = tables, .max_args = 0};

static lra_probe_result *audited(known *model, const lra_dataset *d, const char *parts,
                                 char **result_folder)
{
    lra_err e = {{0}};
    lra_options *o;
    lra_terminal_init(LRA_LOG_QUIET);
    char *argv[] = {(char *)(uintptr_t) "--parts", (char *)(uintptr_t)parts};
    NOT_NULL(o = lra_options_parse(&command, 2, argv, &e));
    const lra_model_run run = {.model = &model->base,
                               .data = d,
                               .name = "known",
                               .out = folder,
                               .batch = 8,
                               .seed = 5,
                               .options = o};
    lra_probe_result *out;
    if (lra_model_run_measure(&run, &out, result_folder, &e) != 0) fail_msg("%s", e.msg);
    lra_options_free(o);
    return out;
}

/* The folder can be read like that of a run. A second command keeps its parts, unless the responses
 * of the model differ. */
TEST(a_folder_of_a_model)
{
    lra_err e = {{0}};
    known model = model_of(ALL, VOCAB, token_before_last);
    lra_dataset *d = dataset_of(&labels);
    char *first, *second, *third;
    lra_probe_result *a = audited(&model, d, "jacobian", &first);
    lra_probe_result *b = audited(&model, d, "drop", &second);
    assert_string_equal(first, second);
    assert_non_null(lra_probe_unit_find(b, "jacobian"));
    char *path = lra_format("%s/result.h5", first);
    lra_result *r = lra_result_read(path, &e);
    NOT_NULL(r);
    assert_true(r->n == 60 && lra_result_metric(r)->value && r->reach == -1);
    assert_string_equal(r->model, "user.known");
    lra_free(path);
    path = lra_format("%s/influence.h5", first);
    lra_probe_result *read = lra_probe_result_read(path, "influence", &e);
    NOT_NULL(read);
    assert_non_null(lra_probe_unit_find(read, "drop"));
    model.logits = next_token;
    lra_probe_result *c = audited(&model, d, "drop", &third);
    assert_string_equal(first, third);
    assert_null(lra_probe_unit_find(c, "jacobian"));
    lra_probe_result *const all[] = {a, b, c, read};
    for (int k = 0; k < 4; k++) lra_probe_result_free(all[k]);
    lra_result_free(r);
    lra_free(path);
    lra_free(first);
    lra_free(second);
    lra_free(third);
    lra_dataset_free(d);
}

TEST(names_of_models)
{
    char *name = lra_model_run_name("My Net/v1.2");
    assert_string_equal(name, "my-net-v1.2");
    lra_free(name);
}

GROUP(make_folder, remove_folder);
