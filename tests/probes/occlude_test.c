/* Occlusion of a model's inputs: scores are margins of its outputs, replacement tokens come from
 * another row, draws that change no token are reported. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "models/training/objective.h"
#include "probes/influence/occlude.h"
#include "probes/influence/registry.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_run.h"

static int set_up(void **state)
{
    const char *model = "layers=1 width=4 hidden=4 kernel=5";
    return make_folder(state) != 0 || tiny_train(folder, model, 2) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

static double margin(const float *logits, int32_t label)
{
    double best = -INFINITY;
    for (int c = 0; c < TINY_CLASSES; c++)
        if (c != label) best = fmax(best, (double)logits[c]);
    return (double)logits[label] - best;
}

typedef struct {
    int rows, changed;
    lra_responder *model;
} seen;

/* Two sets of tokens to replace: tokens 2 .. 5 and 7; and the middle two of each five tokens, three
 * times, which is a square of an image. */
static const lra_token_runs asked[] = {{{2, 7}, {6, 8}, 0, 0}, {{6, 0}, {8, 0}, 3, 5}};

static bool is_asked(int k, int64_t t)
{
    return k ? t >= 5 && t < 20 && (t % 5 == 1 || t % 5 == 2) : (t >= 2 && t < 6) || t == 7;
}

/* Compares each replaced row with all possibilities: tokens of one row replaced by those of
 * another. */
static int look(const lra_occluder *o, void *context, lra_err *e)
{
    seen *s = context;
    int64_t rows = o->request->B, T = o->request->T;
    lra_responder *model = ((seen *)context)->model;
    const lra_batch *b = o->batch;
    lra_token_runs *of = lra_alloc_array((size_t)rows, sizeof *of);
    double *score = lra_alloc_array((size_t)rows, sizeof *score);
    int32_t *token = lra_alloc_array((size_t)(rows * T), sizeof *token);
    assert_int_equal(lra_occlude_scores(o, of, 0, score, e), 0);
    for (int64_t i = 0; i < rows; i++) {
        if (!lra_occlude_counts(o, i)) continue;
        const float *logits = trained.report.output + b->row[i] * TINY_CLASSES;
        assert_true(fabs(score[i] - margin(logits, b->label[i])) < 1e-5);
        assert_false(lra_occlude_changes(o, i, &of[i], 0));
        s->rows++;
    }
    for (int draw = 0; draw < 6; draw++) {
        double *again = lra_alloc_array((size_t)rows, sizeof *again);
        for (int64_t i = 0; i < rows; i++) of[i] = asked[draw % 2];
        assert_int_equal(lra_occlude_scores(o, of, draw, again, e), 0);
        for (int64_t i = 0; i < rows; i++) {
            if (!lra_occlude_counts(o, i)) continue;
            bool any = false;
            /* one of the other rows must give the same output */
            for (int64_t from = 0; from < rows; from++) {
                lra_request own = *o->request;
                float output[64 * TINY_CLASSES];
                if (from == i || b->row[from] < 0) continue;
                memcpy(token, b->token, (size_t)(rows * T) * sizeof *token);
                for (int64_t t = 0; t < T; t++)
                    if (is_asked(draw % 2, t) && t < b->length[i] && t < b->length[from])
                        token[i * T + t] = b->token[from * T + t];
                own.token = token;
                assert_int_equal(model->is->forward(model, &own, output, e), 0);
                any |= again[i] == margin(output + i * TINY_CLASSES, b->label[i]);
            }
            assert_true(any);
            bool changes = lra_occlude_changes(o, i, &of[i], draw);
            if (!changes) assert_true(again[i] == score[i]);
            s->changed += again[i] != score[i];
        }
        lra_free(again);
    }
    lra_free(of);
    lra_free(score);
    lra_free(token);
    return 0;
}

TEST(scores_are_of_changed_inputs)
{
    lra_err e = {{0}};
    lra_subject subject = subject_of(&trained.run.spec, &trained.device);
    seen s = {.model = subject.model};
    OK(lra_occlude(&subject, LRA_TRAINED_WEIGHTS, LRA_ANSWERS_FORWARD, 0, NULL, look, &s, &e));
    assert_true(s.rows >= 4 && s.rows <= TINY_ROWS && s.changed > s.rows);
    assert_null(lra_occlude_undefined(&subject));
    close_subject(&subject);
}

/* ---- part occlusion -------------------------------------------------------------------------- */

enum { DELAY = 3 };

/* Encoder: the features are the inputs DELAY positions before. */
static lra_tensor *delayed(const lra_build *b, lra_tensor *x)
{
    lra_tensor *none = lra_zeros(b->graph, x->type, LRA_SHAPE(b->B, DELAY, lra_width(x)));
    return lra_concat(2, (lra_tensor *[]){none, lra_slice(x, 1, 0, b->T - DELAY)}, 1);
}

/* Encoder: cumulative sums, computed in log2 T additions. */
static lra_tensor *summed(const lra_build *b, lra_tensor *x)
{
    for (int64_t n = 1; n < b->T; n *= 2) {
        lra_tensor *none = lra_zeros(b->graph, x->type, LRA_SHAPE(b->B, n, lra_width(x)));
        lra_tensor *before[] = {none, lra_slice(x, 1, 0, b->T - n)};
        x = lra_add(x, lra_concat(2, before, 1));
    }
    return x;
}

static int64_t boundless(const lra_config *c)
{
    (void)c;
    return -1;
}

static bool always(const lra_config *c)
{
    (void)c;
    return true;
}

typedef struct {
    const char *id;
    double value;
} known;

/* Returns the measurements of a part for a run whose model is replaced; grid: width of an image.
 * The caller frees them. */
static lra_probe_result *measured(const lra_influence_part *part, const lra_train_spec *spec,
                                  const lra_model *model, lra_device *dev, int64_t grid,
                                  int64_t examples)
{
    char empty[] = "";
    lra_err e = {{0}};
    lra_result result = {.task = empty,
                         .model = empty,
                         .preset = empty,
                         .precision = empty,
                         .fingerprint = empty,
                         .run = empty,
                         .config = empty,
                         .grid = grid,
                         .n = examples,
                         .reach = -1};
    lra_origin origin = {0};
    lra_engine_run engine = {.spec = *spec, .device = *dev};
    engine.spec.model = model;
    lra_influence p = {
        .result = &result, .engine = &engine, .subject = subject_of(&engine.spec, &engine.device)};
    p.steps.bar = lra_progress_new(part->name, 1);
    p.out = lra_probe_result_new("influence", &result, &origin);
    assert_null(lra_part_undefined(part, &p));
    OK(lra_part_measure(part, &p, 0, &e));
    assert_true(p.steps.done > 0 && p.steps.done <= lra_part_passes(part, &p, 0));
    lra_progress_free(p.steps.bar);
    close_subject(&p.subject);
    return p.out;
}

/* Measures part occlusion of the delay and compares with known values. */
static void find(const lra_train_spec *spec, lra_device *dev, int64_t grid, const char *unit,
                 int64_t examples, int n, const known *list)
{
    lra_model delay = lra_model_resconv;
    delay.encode = delayed;
    lra_probe_result *out = measured(&lra_part_occlusion, spec, &delay, dev, grid, examples);
    assert_int_equal(lra_probe_unit_find(out, "occlusion.px") != NULL, grid > 0);
    const lra_probe_unit *u = lra_probe_unit_find(out, unit);
    assert_true(lra_probe_array_find(u, "width")->value[0] == 1);
    for (int i = 0; i < n; i++) {
        const lra_measurement *f = lra_probe_measurement(u, list[i].id);
        if (!f || !(fabs(f->value - list[i].value) < 1e-9))
            fail_msg("%s: %g, expected %g", list[i].id, f ? f->value : (double)NAN, list[i].value);
    }
    lra_probe_result_free(out);
}

TEST(a_delay_is_found)
{
    static const known list[] = {{"range.mean", DELAY}, {"range.q50", DELAY}, {"range.q99", DELAY},
                                 {"side", 1},           {"entropy", 0},       {"shift.w1", 0}};
    find(&trained.run.spec, &trained.device, 0, "occlusion", TINY_ROWS, 6, list);
}

/* If images have rows of three pixels, the delay of three tokens is the pixel above: distance 1,
 * with blocks of one pixel. */
TEST(a_pixel_above_is_found)
{
    static const known list[] = {
        {"range.mean.px", 1}, {"range.q99.px", 1}, {"side.px", 1}, {"shift.w1.px", 0}};
    find(&trained.run.spec, &trained.device, DELAY, "occlusion.px", TINY_ROWS, 4, list);
}

/* Encoder: the features are the input at the same position. All importance is on the own token, so
 * no distance and no direction is defined, also with blocks of several tokens. */
static lra_tensor *by_itself(const lra_build *b, lra_tensor *x)
{
    (void)b;
    return x;
}

TEST(a_bag_has_no_direction)
{
    lra_model bag = lra_model_resconv;
    bag.encode = by_itself;
    lra_probe_result *out = measured(&lra_part_occlusion, &trained.run.spec, &bag, &trained.device,
                                     16, TINY_ROWS);
    const lra_probe_unit *u = lra_probe_unit_find(out, "occlusion.px");
    assert_true(lra_probe_array_find(u, "width")->value[0] == 2);
    assert_true(fabs(lra_probe_measurement(u, "self.px")->value - 1) < 1e-9);
    assert_true(isnan(lra_probe_measurement(u, "side.px")->value));
    assert_true(isnan(lra_probe_measurement(u, "dist.mean.px")->value));
    assert_true(lra_probe_measurement(u, "dist.mean.px")->undefined > 0);
    lra_probe_result_free(out);
}

/* Documents of a pair are measured separately, because neither affects the features of the
 * other. */
TEST(a_delay_in_pairs_is_found)
{
    static const known list[] = {{"range.mean", DELAY}, {"range.q99", DELAY}, {"side", 1}};
    run pairs;
    open_run(&pairs, LRA_GOAL_PAIR, "pairs", 1);
    lra_train_report report = train(&pairs);
    lra_subject subject = subject_of(&pairs.spec, &pairs.device);
    assert_non_null(lra_occlude_undefined(&subject));
    close_subject(&subject);
    find(&pairs.spec, &pairs.device, 0, "occlusion", report.n_rows, 3, list);
    lra_train_report_free(&report);
    close_run(&pairs);
}

/* A regression has gradients with trained and with initial weights. The initial bias of the head is
 * the mean of the targets; graphs of features have no head, and this must not be an error. */
TEST(gradients_of_a_regression)
{
    run own;
    open_run(&own, LRA_GOAL_VALUE, "value", 1);
    lra_train_report report = train(&own);
    lra_probe_result *out = measured(&lra_part_jacobian, &own.spec, own.spec.model, &own.device, 0,
                                     report.n_rows);
    const lra_measurement *mean = lra_probe_measurement(lra_probe_unit_find(out, "jacobian"),
                                                        "range.mean");
    assert_true(mean->value > 0 && mean->null[LRA_NULL_INIT] > 0);
    lra_probe_result_free(out);
    lra_train_report_free(&report);
    close_run(&own);
}

/* A pretrained model has outputs at its positions, but none for the entire input, although the task
 * has labels. */
TEST(no_scores_of_a_pretrained_model)
{
    lra_err e;
    lra_train_spec spec = trained.run.spec;
    spec.objective = lra_objective_find("pretrain-masked", &e), spec.mask = 0.15;
    lra_subject subject = subject_of(&spec, &trained.device);
    assert_non_null(lra_occlude_undefined(&subject));
    close_subject(&subject);
}

/* Cumulative sums have equal weights on all earlier tokens: the measured distance is the uniform
 * baseline if the model is declared causal, and less if it is not. */
TEST(equal_weights_of_a_causal_model)
{
    lra_model sums = lra_model_resconv;
    sums.encode = summed, sums.reach = boundless;
    for (int causal = 0; causal < 2; causal++) {
        sums.causal = causal ? always : NULL;
        lra_probe_result *out = measured(&lra_part_jacobian, &trained.run.spec, &sums,
                                         &trained.device, 0, TINY_ROWS);
        const lra_probe_unit *u = lra_probe_unit_find(out, "jacobian");
        const lra_measurement *mean = lra_probe_measurement(u, "range.mean.rel"),
                              *side = lra_probe_measurement(u, "side"),
                              *spread = lra_probe_measurement(u, "entropy.rel");
        assert_true(side->value == 1 && (fabs(side->null[LRA_NULL_UNIFORM] - causal) < 1e-9));
        assert_int_equal(fabs(mean->value - 1) < 1e-6, causal);
        assert_int_equal(fabs(spread->value - 1) < 1e-6, causal);
        assert_true(lra_probe_measurement(u, "range.mean")->value > 1);
        lra_probe_result_free(out);
    }
}

/* In an image, pixels of the same column have the same importance as their neighbours. */
TEST(rows_of_an_image_weigh_alike)
{
    lra_model sums = lra_model_resconv;
    sums.encode = summed, sums.reach = boundless, sums.causal = always;
    for (int64_t grid = 0; grid <= DELAY; grid += DELAY) {
        lra_probe_result *out = measured(&lra_part_jacobian, &trained.run.spec, &sums,
                                         &trained.device, grid, TINY_ROWS);
        const lra_measurement *f = lra_probe_measurement(lra_probe_unit_find(out, "jacobian"),
                                                         "periodic.p");
        assert_int_equal(f != NULL, grid > 0);
        assert_true(!f || fabs(f->value - 1) < 0.05);
        lra_probe_result_free(out);
    }
}

/* Blocks that begin after a position cannot affect a causal model. */
TEST(blocks_of_a_causal_model)
{
    for (int64_t grid = 0; grid <= DELAY; grid += DELAY) {
        lra_model sums = lra_model_resconv;
        sums.encode = summed, sums.reach = boundless, sums.causal = always;
        lra_probe_result *out = measured(&lra_part_occlusion, &trained.run.spec, &sums,
                                         &trained.device, grid, TINY_ROWS);
        const lra_probe_unit *u = lra_probe_unit_find(out, grid ? "occlusion.px" : "occlusion");
        const lra_measurement *side = lra_probe_measurement(u, grid ? "side.px" : "side");
        assert_true(side->value == 1 && side->null[LRA_NULL_UNIFORM] == 1);
        lra_probe_result_free(out);
    }
}

GROUP(set_up, tear_down);
