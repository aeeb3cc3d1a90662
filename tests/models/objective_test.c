/* Objectives: losses with known values, what pretraining learns and transfers to fine-tuning; runs
 * of every objective that are interrupted and continued have bitwise the same results. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "datasets/prepare.h"
#include "models/training/objective.h"
#include "models/training/session.h"
#include "models/training/transfer.h"
#include "kernels/base/formats/h5.h"
#include "kernels/graph/ops.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/sanitized.h"

static void train_on(run *r, const lra_objective *o, double share)
{
    r->spec.objective = o;
    r->spec.mask = share;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Sets the head so that its logits are the same at every position: weights 0, biases 0.1 i. */
static void set_head(lra_params *p, const char *name)
{
    lra_err e;
    float value[4096] = {0};
    char path[64];
    snprintf(path, sizeof path, "%s/w", name);
    assert_int_equal(lra_params_set(p, path, value, &e), 0);
    for (int i = 0; i < 4096; i++) value[i] = 0.1f * (float)i;
    snprintf(path, sizeof path, "%s/b", name);
    assert_int_equal(lra_params_set(p, path, value, &e), 0);
}

/* Returns -log softmax of these logits at the label. */
static double nats(int n, int32_t label)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += exp(0.1 * i);
    return log(sum) - 0.1 * label;
}

/* Returns the mean loss over the positions that have a target; 0 if there are none. */
static double mean_nats(int n, const int32_t *label, int64_t n_labels)
{
    double sum = 0, target_mask = 0;
    for (int64_t i = 0; i < n_labels; i++) {
        if (label[i] < 0) continue;
        sum += nats(n, label[i]);
        target_mask++;
    }
    return target_mask > 0 ? sum / target_mask : 0;
}

static double expected_loss(const run *r, const lra_objective *o, const lra_batch *b, int64_t T)
{
    int n_words = (int)lra_mask_classes(r->data);
    int64_t B = r->spec.batch;
    double sum = 0, target_mask = 0;
    if (o == &lra_objective_denoise) {
        double first = mean_nats(n_words, b->word, B * T);
        double words = b->n == B ? first
                                 : 0.5 * (first + mean_nats(n_words, b->word + B * T, B * T));
        return mean_nats(2, b->label, B) + words;
    }
    if (b->word) return mean_nats(n_words, b->word, b->n * T);
    for (int64_t i = 0; i < B * T; i++) {
        sum += b->value_mask[i] > 0 ? fabs((double)b->value_target[i]) : 0;
        target_mask += (double)b->value_mask[i];
    }
    return sum / target_mask;
}

static void check_loss(lra_goal goal, const lra_objective *o)
{
    run r;
    lra_err e = {{0}};
    lra_session s;
    open_run(&r, goal, "loss", 1);
    train_on(&r, o, 0.4);
    lra_config_set_int(r.model, "causal", o == &lra_objective_pretrain_causal);
    assert_int_equal(lra_session_open(&s, &r.spec, &r.device, &e), 0);
    set_head(s.params, "head");
    if (!o->pretrains) set_head(s.params, "denoise");
    lra_loader *l = lra_session_loader(&s, LRA_TRAIN_SPLIT, true);
    for (int64_t i = 0; i < 4; i++) {
        const lra_batch *b = lra_loader_get(l, i);
        const lra_step step = {.seed = 1, .step = (uint64_t)i}; /* the learning rate is 0 */
        float status[4];
        assert_int_equal(lra_session_part(&s, b, 0, &step, status, &e), 0);
        double expected = expected_loss(&r, o, b, s.buckets.length[b->bucket]);
        if (fabs((double)status[0] - expected) > 1e-5)
            fail_msg("%s, %s: loss %g, expected %g", tiny_tasks[goal].name, o->name,
                     (double)status[0], expected);
    }
    lra_loader_free(l);
    lra_session_close(&s);
    close_run(&r);
}

TEST(losses_are_known)
{
    check_loss(LRA_GOAL_CLASS, &lra_objective_denoise);
    check_loss(LRA_GOAL_PAIR, &lra_objective_denoise);
    for (lra_goal goal = LRA_GOAL_CLASS; goal <= LRA_GOAL_TOKENS; goal++) {
        check_loss(goal, &lra_objective_pretrain_masked);
        check_loss(goal, &lra_objective_pretrain_causal);
    }
}

/* The sums of an evaluation count the targets of the objective: denoising reads unmasked rows,
 * pretraining masked ones. */
TEST(evaluation)
{
    static const lra_objective *const all[] = {&lra_objective_denoise,
                                               &lra_objective_pretrain_masked};
    for (int k = 0; k < 2; k++) {
        run r;
        lra_err e = {{0}};
        lra_session s;
        lra_sums total;
        open_run(&r, LRA_GOAL_PAIR, "evaluation", 1);
        train_on(&r, all[k], 0.4);
        assert_int_equal(lra_session_open(&s, &r.spec, &r.device, &e), 0);
        set_head(s.params, "head");
        lra_loader *l = lra_session_loader(&s, LRA_VAL_SPLIT, false);
        double loss = 0, target_mask = 0;
        for (int64_t i = 0; i < lra_loader_batches(l); i++) {
            const lra_batch *b = lra_loader_get(l, i);
            assert_int_equal(b->word != NULL, k == 1);
            int64_t n = k ? b->n * s.buckets.length[b->bucket] : 8;
            const int32_t *label = k ? b->word : b->label;
            for (int64_t j = 0; j < n; j++) {
                loss += label[j] >= 0 ? nats(k ? 8 : 2, label[j]) : 0;
                target_mask += label[j] >= 0;
            }
        }
        assert_int_equal(lra_session_evaluate(&s, l, &total, NULL, NULL, &e), 0);
        assert_true((double)total.n == target_mask && target_mask > 0);
        assert_true(fabs(total.loss - loss) < 1e-4 * loss);
        lra_loader_free(l);
        lra_session_close(&s);
        close_run(&r);
    }
}

/* ---- what pretraining learns ----------------------------------------------------------------- */

/* Makes rows that count modulo 5 from any start, so that a masked token follows from its
 * neighbours. The label is whether the first token is 0. */
static int make_counting(const lra_config *c, lra_sequences split[LRA_N_SPLITS], lra_err *e)
{
    (void)c, (void)e;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int i = 0; i < 64; i++) {
            uint16_t token[12];
            for (int t = 0; t < 12; t++) token[t] = (uint16_t)((i + s + t) % 5);
            lra_sequences_add_tokens(&split[s], token, 9 + i % 4, (i + s) % 5 == 0);
        }
    return 0;
}

static const lra_task counting = {.name = "counting",
                                  .data.steps = 12,
                                  .n_classes = 2,
                                  .input.vocab = 5,
                                  .keys = NULL,
                                  .data.make = make_counting};

static void open_counting(run *r, const char *name, const lra_objective *o, int64_t epochs)
{
    lra_err e;
    lra_config *c = lra_config_new();
    open_run(r, LRA_GOAL_CLASS, name, epochs);
    lra_dataset_free(r->data);
    r->spec.data = r->data = lra_dataset_make(&counting, c, &e);
    lra_config_free(c);
    train_on(r, o, 0.2);
    lra_config_set_int(r->model, "causal", o == &lra_objective_pretrain_causal);
}

TEST(pretraining_learns)
{
    if (sanitized) skip(); /* with sanitizers, the pretraining code is covered by other tests */
    static const lra_objective *const all[] = {&lra_objective_pretrain_masked,
                                               &lra_objective_pretrain_causal};
    for (int k = 0; k < 2; k++) {
        run r;
        open_counting(&r, all[k]->name, all[k], 25);
        const lra_metric *m = lra_objective_metric(all[k], r.data);
        assert_string_equal(m->name, "bits-per-token");
        assert_true(fabs(lra_objective_chance(all[k], r.data, 0) - log2(5)) < 1e-12);
        lra_train_report report = train(&r);
        double bits = m->value(&report.test);
        if (!(bits < 0.5)) fail_msg("%s: %g bits a token, expected below 0.5", all[k]->name, bits);
        assert_null(report.output);
        lra_train_report_free(&report);
        close_run(&r);
    }
}

/* ---- fine-tuning ----------------------------------------------------------------------------- */

/* Returns an array of a run's parameters; the caller frees it. */
static float *array(const lra_params *p, const char *path)
{
    lra_err e = {{0}};
    for (int i = 0; i < lra_params_count(p); i++) {
        if (strcmp(lra_params_path(p, i), path) != 0) continue;
        float *v = lra_alloc_array((size_t)lra_shape_elements(lra_params_shape(p, i)), sizeof *v);
        assert_int_equal(lra_params_get(p, path, v, &e), 0);
        return v;
    }
    fail_msg("there is no '%s'", path);
    return NULL;
}

static void assert_carried(const lra_params *from, const lra_params *to, const char *path, int n,
                           bool carried)
{
    float *a = array(from, path), *b = array(to, path);
    assert_int_equal(memcmp(a, b, (size_t)n * sizeof *a) == 0, carried);
    lra_free(a);
    lra_free(b);
}

/* Pretraining has an additional token, or an additional channel, for masked positions. In
 * fine-tuning this row of the table is removed, the bias is kept, and the head is not
 * transferred. */
TEST(weights_are_carried)
{
    for (int k = 0; k < 2; k++) {
        run r, fine;
        lra_err e = {{0}};
        lra_session a, b;
        lra_goal goal = k ? LRA_GOAL_VALUE : LRA_GOAL_CLASS;
        open_run(&r, goal, "carry", 1);
        open_run(&fine, goal, "fine", 1);
        train_on(&r, &lra_objective_pretrain_masked, 0.5);
        fine.spec.seed = 77;
        lra_train_report report = train(&r);
        lra_train_report_free(&report);
        char *best = lra_format("%s/best.h5", r.spec.folder);
        assert_int_equal(lra_session_open(&a, &r.spec, &r.device, &e), 0);
        assert_int_equal(lra_transfer(a.params, best, &e), 0);
        assert_int_equal(lra_session_open(&b, &fine.spec, &r.device, &e), 0);
        assert_carried(a.params, b.params, "encoder/layer0/conv/kernel", 3 * 16 * 16, false);
        assert_int_equal(lra_transfer(b.params, best, &e), 0);
        assert_carried(a.params, b.params, "encoder/layer0/conv/kernel", 3 * 16 * 16, true);
        if (k) assert_carried(a.params, b.params, "embed/w", 16, true);
        if (k) assert_carried(a.params, b.params, "embed/b", 16, true);
        if (!k) assert_carried(a.params, b.params, "embed/table", 6 * 16, true);
        assert_carried(a.params, b.params, "head/w", 16, false);
        lra_session_close(&a);
        lra_session_close(&b);
        fine.spec.from = best;
        report = train(&fine);
        lra_train_report_free(&report);
        lra_free(best);
        close_run(&r);
        close_run(&fine);
    }
}

TEST(another_model_is_refused)
{
    run r, fine;
    lra_err e = {{0}};
    lra_train_report report;
    open_run(&r, LRA_GOAL_CLASS, "narrow", 1);
    train_on(&r, &lra_objective_pretrain_masked, 0.5);
    report = train(&r);
    lra_train_report_free(&report);
    open_run(&fine, LRA_GOAL_CLASS, "wide", 1);
    lra_config_set_int(fine.model, "hidden", 20);
    char *best = lra_format("%s/best.h5", r.spec.folder);
    fine.spec.from = best;
    assert_int_equal(lra_train(&fine.spec, &fine.device, &report, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "cannot start from '"));
    assert_non_null(strstr(e.msg, "has shape (3,16,16), expected (3,16,20)"));
    fine.spec.from = "nowhere.h5";
    assert_int_equal(lra_train(&fine.spec, &fine.device, &report, &e), LRA_FAILED);
    lra_free(best);
    close_run(&r);
    close_run(&fine);
}

/* An additional row of an array is taken as that of the mask token only in layers that read
 * inputs. */
TEST(only_inputs_may_have_a_row_more)
{
    static const char *const paths[] = {"embed/table", "embed/w", "encoder/table",
                                        "positions/table"};
    const float all[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    lra_device device;
    lra_err e = {{0}};
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    char *path = lra_format("%s/more.h5", folder);
    for (int i = 0; i < 4; i++)
        for (int64_t rows = 4; rows <= 6; rows++) {
            float values[8] = {0}, wide[12] = {0};
            memcpy(wide, all, sizeof all);
            lra_h5 *f = lra_h5_create(path, "checkpoint", &e);
            char *name = lra_format("/param/%s", paths[i]);
            assert_int_equal(lra_h5_put(f, name, LRA_H5_F32, 2, (int64_t[]){rows, 2}, wide, &e), 0);
            assert_int_equal(lra_h5_commit(f, &e), 0);
            lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
            lra_tensor *y = lra_param(g, paths[i], LRA_SHAPE(4, 2), NULL);
            y = lra_affine(y, 1, 0);
            lra_params *params = lra_params_new(&device, 1);
            lra_space *space = lra_space_new(&device);
            lra_plan *plan = lra_plan_new(g, params, space, 1, &y, &e);
            assert_non_null(plan);
            bool good = rows == 4 || (rows == 5 && i < 2);
            assert_int_equal(lra_transfer(params, path, &e) == 0, good);
            assert_int_equal(lra_params_get(params, paths[i], values, &e), 0);
            if (good) assert_memory_equal(values, all, sizeof values);
            lra_plan_free(plan);
            lra_space_free(space);
            lra_params_free(params);
            lra_graph_free(g);
            lra_free(name);
        }
    lra_free(path);
}

/* ---- every objective goes on ----------------------------------------------------------------- */

static void goes_on(lra_goal goal, const lra_objective *o, int64_t accumulate)
{
    run whole, parts;
    open_run(&whole, goal, "whole", 3);
    open_run(&parts, goal, "parts", 3);
    for (int k = 0; k < 2; k++) {
        run *r = k ? &parts : &whole;
        train_on(r, o, o->training ? 0.3 : 0);
        lra_config_set_int(r->model, "causal", o == &lra_objective_pretrain_causal);
        r->spec.accumulate = accumulate;
        r->spec.fraction = 0.8;
        r->spec.same_steps = true;
        if (accumulate > 1) r->spec.batch = 2;
    }
    same_in_parts(&whole, &parts);
}

TEST(goes_on_with_the_same_bits)
{
    for (int i = 0; lra_objective_at(i); i++) goes_on(LRA_GOAL_PAIR, lra_objective_at(i), 0);
    goes_on(LRA_GOAL_VALUE, &lra_objective_pretrain_masked, 0);
    goes_on(LRA_GOAL_CLASS, &lra_objective_denoise, 4);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void refused(lra_goal goal, const lra_objective *o, const char *message)
{
    run r;
    lra_err e = {{0}};
    lra_train_report report;
    open_run(&r, goal, "refused", 1);
    lra_config_set_int(r.model, "causal", 0);
    train_on(&r, o, 0.3);
    assert_int_equal(lra_train(&r.spec, &r.device, &report, &e), LRA_USAGE);
    if (!strstr(e.msg, message)) fail_msg("'%s' lacks '%s'", e.msg, message);
    close_run(&r);
}

TEST(what_cannot_be_learned)
{
    refused(LRA_GOAL_NEXT, &lra_objective_pretrain_masked, "already predicts the next token");
    refused(LRA_GOAL_VALUE, &lra_objective_denoise, "denoising needs tokens");
    refused(LRA_GOAL_CLASS, &lra_objective_pretrain_causal, "it must be causal");
    refused(LRA_GOAL_VALUE, &lra_objective_pretrain_causal, "it must be causal");
}

GROUP(make_folder, remove_folder);
