/* Restricted inputs of language models, and outputs compared without labels, against the
 * definitions evaluated from the parameters. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/training/checkpoint.h"
#include "probes/influence/registry.h"
#include "probes/influence/probabilities.h"
#include "probes/influence/perturbed_answers.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/subject.h"

enum { V = 5, D = 16, BACK = 2, ROWS = 26, CONTEXT = 8 };

/* Encoder: the features are the inputs at a position plus half of those BACK positions before, so
 * that the receptive field is BACK + 1. */
static lra_tensor *two_steps(const lra_build *b, lra_tensor *x)
{
    lra_tensor *none = lra_zeros(b->graph, x->type, LRA_SHAPE(b->B, BACK, lra_width(x)));
    lra_tensor *before = lra_concat(2, (lra_tensor *[]){none, lra_slice(x, 1, 0, b->T - BACK)}, 1);
    return lra_add(x, lra_affine(before, 0.5, 0));
}

static run next;
static lra_model model;
static float table[V * D], w[D * V], bias[V];

/* Makes a model with large embeddings, so that removing tokens costs about 2 nats. */
static int set_up(void **state)
{
    lra_err e = {{0}};
    lra_loaded_model m;
    if (make_folder(state) != 0) return -1;
    open_run(&next, LRA_GOAL_NEXT, "next", 1);
    model = lra_model_resconv, model.encode = two_steps, next.spec.model = &model;
    if (lra_folder_make(next.spec.folder, &e) != 0) return -1;
    if (lra_load_model(&m, &next.spec, &next.device, LRA_INITIAL_WEIGHTS, &e) != 0) return -1;
    lra_loaded_buckets(&m);
    lra_length_graph_output(m.view[0], m.view[0]->network.output);
    if (lra_loaded_plan(&m, &e) != 0 || lra_params_get(m.params, "embed/table", table, &e) != 0)
        return -1;
    for (int i = 0; i < V * D; i++) table[i] *= 8;
    lra_params_set(m.params, "embed/table", table, &e);
    lra_params_get(m.params, "head/w", w, &e);
    lra_params_get(m.params, "head/b", bias, &e);
    int rc = lra_best_write(&next.spec, 1, 0, m.params, &e);
    lra_loaded_free(&m);
    return rc;
}

static int tear_down(void **state)
{
    close_run(&next);
    return remove_folder(state);
}

static int32_t token_at(int64_t i)
{
    return next.data->split[LRA_TEST_SPLIT].token[i];
}

/* Computes the logits at position `at` of the stream if only tokens from `from` on are visible. */
static void logits_of(int64_t from, int64_t at, float *out)
{
    for (int c = 0; c < V; c++) {
        double sum = (double)bias[c];
        for (int d = 0; d < D; d++) {
            double x = (double)table[token_at(at) * D + d];
            if (at - BACK >= from) x += 0.5 * (double)table[token_at(at - BACK) * D + d];
            sum += x * (double)w[d * V + c];
        }
        out[c] = (float)sum;
    }
}

static double probability(const float *logits, int c)
{
    double sum = 0;
    for (int k = 0; k < V; k++) sum += exp((double)logits[k]);
    return exp((double)logits[c]) / sum;
}

static double kl_of(const float *a, const float *b)
{
    double sum = 0;
    for (int c = 0; c < V; c++)
        sum += probability(a, c) * log(probability(a, c) / probability(b, c));
    return sum;
}

static lra_restricted ask(const lra_influence_part *part, int64_t sample)
{
    lra_err e = {{0}};
    lra_restricted r;
    lra_subject subject = subject_of(&next.spec, &next.device);
    OK(lra_restrict_measure(&subject, part->perturbation, 0, sample, NULL, &r, &e));
    close_subject(&subject);
    return r;
}

/* Compares every output under every window; windows larger than the receptive field give bitwise
 * the same outputs as the entire input. */
TEST(windows_of_a_stream)
{
    lra_restricted r = ask(&lra_part_keep, 0);
    assert_int_equal(r.n, ROWS * r.answers);
    assert_true(r.w[0] == 1 && r.w[1] == 2 && r.w[2] == 4 && r.w[r.n_points - 1] == CONTEXT);
    int64_t asked = 0, changed = 0, lost = 0;
    for (int64_t i = 0; i < r.n; i++) {
        /* the last row has 2 tokens, fewer than the number of evaluated positions */
        if (r.step[i] < 0) {
            assert_true(r.index[i] == ROWS - 1 && r.full[i].n == 0 && r.kl[i] == 0);
            continue;
        }
        float whole[V], part[V];
        int64_t first = r.index[i] * CONTEXT, at = first + r.step[i];
        int32_t follows = token_at(at + 1);
        assert_true(r.index[i] == i / r.answers && at < 202);
        if (asked && r.index[i] == r.index[i - 1]) assert_true(r.step[i] > r.step[i - 1]);
        logits_of(first, at, whole);
        double loss = -log(probability(whole, follows));
        assert_true(fabs(r.full[i].loss - loss) < 1e-4);
        for (int p = 0; p < r.n_points; p++) {
            const lra_sums *x = &r.row[p * r.n + i];
            int64_t from = at + 1 - (int64_t)r.w[p];
            logits_of(from > first ? from : first, at, part);
            double own = -log(probability(part, follows)), kl = kl_of(whole, part);
            assert_int_equal(x->n, 1);
            assert_true(fabs(x->loss - own) < 1e-4);
            assert_true(fabs(r.kl[p * r.n + i] - kl) < 1e-4);
            if (r.w[p] > BACK || r.step[i] < BACK) assert_true(r.kl[p * r.n + i] == 0);
            changed += r.kl[p * r.n + i] > 0, lost += own - loss > 2;
        }
        asked++;
    }
    assert_int_equal(asked, (ROWS - 1) * CONTEXT + 2);
    assert_true(changed > asked / 2 && lost > 0);
    lra_restricted_free(&r);
}

/* The tokens before the window are those of another row at the same positions, token 0, or
 * permuted. */
TEST(other_restrictions_of_a_stream)
{
    lra_restricted token = ask(&lra_part_token, 0), swap = ask(&lra_part_swap, 0);
    for (int64_t i = 0; i < token.n; i++) {
        if (token.step[i] < BACK) continue;
        float whole[V], part[V];
        int64_t first = token.index[i] * CONTEXT, at = first + token.step[i];
        logits_of(first, at, whole);
        for (int c = 0; c < V; c++) {
            double sum = (double)bias[c];
            for (int d = 0; d < D; d++)
                sum += ((double)table[token_at(at) * D + d] + 0.5 * (double)table[d]) *
                       (double)w[d * V + c];
            part[c] = (float)sum;
        }
        for (int p = 0; p < token.n_points; p++) {
            double kl = token.w[p] <= BACK ? kl_of(whole, part) : 0;
            assert_true(fabs(token.kl[p * token.n + i] - kl) < 1e-4);
            if (token.w[p] > BACK) assert_true(swap.kl[p * token.n + i] == 0);
        }
    }
    lra_restricted_free(&token);
    lra_restricted_free(&swap);
    static const lra_influence_part *const order[] = {&lra_part_order_in, &lra_part_order_out};
    for (int k = 0; k < 2; k++) {
        lra_restricted r = ask(order[k], 0);
        double most = 0;
        assert_int_equal(r.answers, 1);
        int same = k ? -1 : 0; /* windows of one token cannot be permuted */
        for (int p = 0; p < r.n_points; p++)
            for (int64_t i = 0; i < r.n; i++) {
                if (p == same) assert_true(r.kl[p * r.n + i] == 0);
                most = fmax(most, r.kl[p * r.n + i]);
            }
        assert_true(most > 0);
        lra_restricted_free(&r);
    }
}

/* ---- measurements ---------------------------------------------------------------------------- */

static lra_result result;
static lra_engine_run engine;

static lra_influence influence_of(void)
{
    static char empty[] = "";
    lra_err e;
    lra_origin origin = {0};
    result = (lra_result){.task = empty,
                          .model = empty,
                          .preset = empty,
                          .precision = empty,
                          .fingerprint = empty,
                          .run = empty,
                          .config = empty,
                          .reach = -1,
                          .n = ROWS,
                          .chance = V,
                          .metric = lra_metric_find("perplexity", &e)};
    engine = (lra_engine_run){.spec = next.spec, .device = next.device};
    lra_influence p = {
        .result = &result, .engine = &engine, .subject = subject_of(&engine.spec, &engine.device)};
    p.steps.bar = lra_progress_new("keep", 1);
    p.out = lra_probe_result_new("influence", &result, &origin);
    return p;
}

static void close_influence(lra_influence *p)
{
    close_subject(&p->subject);
    lra_progress_free(p->steps.bar);
    lra_probe_result_free(p->out);
}

static void near(double x, double expected)
{
    if (!(fabs(x - expected) < 1e-4)) fail_msg("%g, expected %g", x, expected);
}

/* Means over rows, shares of outputs, and the cost of removing everything, compared with sums
 * computed here. */
TEST(measurements_of_a_stream)
{
    lra_err e = {{0}};
    lra_influence p = influence_of();
    lra_restricted r = ask(&lra_part_keep, 0);
    double kl[LRA_GAIN_POINTS] = {0}, key[LRA_GAIN_POINTS] = {0}, mean[V] = {0}, nothing = 0;
    for (int64_t i = 0; i < r.n; i++) {
        float whole[V];
        if (r.step[i] < 0) continue;
        double share = 1.0 / ROWS / (r.index[i] == ROWS - 1 ? 2 : CONTEXT), n = 202;
        logits_of(r.index[i] * CONTEXT, r.index[i] * CONTEXT + r.step[i], whole);
        for (int c = 0; c < V; c++) mean[c] += probability(whole, c) / n;
        for (int k = 0; k < r.n_points; k++) {
            kl[k] += share * r.kl[k * r.n + i];
            key[k] += share * (r.row[k * r.n + i].loss - r.full[i].loss > 2);
        }
    }
    for (int64_t i = 0; i < r.n; i++) {
        float whole[V];
        if (r.step[i] < 0) continue;
        double share = 1.0 / ROWS / (r.index[i] == ROWS - 1 ? 2 : CONTEXT);
        logits_of(r.index[i] * CONTEXT, r.index[i] * CONTEXT + r.step[i], whole);
        for (int c = 0; c < V; c++) /* H(mean p) of outputs, minus the mean over rows of H(p) */
            nothing += probability(whole, c) * log(probability(whole, c)) * share;
    }
    for (int c = 0; c < V; c++) nothing -= mean[c] * log(mean[c]);
    assert_null(lra_part_undefined(&lra_part_keep, &p));
    assert_non_null(lra_part_undefined(&lra_part_bag, &p));
    assert_true(lra_part_passes(&lra_part_keep, &p, ROWS) ==
                /* the complete input and n_points widths; the complete input and one width with the
                 * other filler */
                ROWS * 8 * (1 + r.n_points + 2));
    OK(lra_part_measure(&lra_part_keep, &p, 0, &e));
    const lra_probe_unit *u = lra_probe_unit_find(p.out, "keep");
    const lra_probe_array *own = lra_probe_array_find(u, "kl"), *x = lra_probe_array_find(u, "key");
    const lra_measurement *most = lra_probe_measurement(u, "kl.most"),
                          *w95 = lra_probe_measurement(u, "kl.w95");
    assert_true(own->dims[0] == r.n_points && lra_probe_array_find(u, "steps")->dims[0] == 202);
    for (int k = 0; k < r.n_points; k++) {
        near((double)own->value[3 * k], kl[k]);
        near((double)x->value[3 * k], key[k]);
        assert_true(x->value[3 * k + 1] <= x->value[3 * k]);
        if (kl[k] > 0) assert_true(own->value[3 * k + 1] < own->value[3 * k]);
    }
    near(most->value, fmax(kl[0], kl[1]));
    near(most->null[LRA_NULL_UNIFORM], nothing);
    assert_true(most->lo < most->value && most->value < most->hi && most->examples == ROWS);
    /* the next smaller window costs more than 5 %, so that w95 is 4 tokens */
    assert_true(kl[1] / nothing > 0.05);
    assert_true(w95->value == 4 && w95->null[LRA_NULL_UNIFORM] == CONTEXT);
    int least = r.n_points - 1;
    for (int k = least; k >= 0; k--)
        if (key[k] <= 0.05) least = k;
    assert_true(lra_probe_measurement(u, "key.w05")->value == r.w[least]);
    lra_restricted_free(&r);
    close_influence(&p);
}

/* The reported difference between the gains of two kinds of replacement agrees with the curves of
 * both parts. */
TEST(two_modes)
{
    static const struct {
        const lra_influence_part *part;
        const char *other;
    } of[] = {{&lra_part_keep, NULL}, {&lra_part_swap, "keep"}, {&lra_part_token, "keep"}};
    lra_err e = {{0}};
    double swapped = NAN;
    lra_influence p = influence_of();
    result.chance = 1e6; /* otherwise the untrained weights have no gain */
    for (int k = 0; k < 3; k++) {
        OK(lra_part_measure(of[k].part, &p, 0, &e));
        const lra_probe_unit *u = lra_probe_unit_find(p.out, of[k].part->name);
        const lra_measurement *f = lra_probe_measurement(u, "mode.difference"),
                              *wide = lra_probe_measurement(u, "mode.width");
        assert_true(wide->value <= CONTEXT / 4.0 && 2 * wide->value > CONTEXT / 4.0);
        assert_true(f->lo < f->value && f->value < f->hi && f->null[LRA_NULL_UNIFORM] == 0);
        assert_true(f->examples == ROWS && fabs(f->value) > 1e-4);
        if (!of[k].other) continue;
        const lra_probe_unit *v = lra_probe_unit_find(p.out, of[k].other);
        const lra_probe_array *x = lra_probe_array_find(u, "x"), *a, *b;
        int at = 0;
        while ((double)x->value[at] != wide->value) at++;
        a = lra_probe_array_find(u, "gain"), b = lra_probe_array_find(v, "gain");
        assert_true(fabs(f->value - (double)(a->value[3 * at] - b->value[3 * at])) < 1e-5);
        if (k == 1) swapped = f->value;
    }
    const lra_probe_unit *keep = lra_probe_unit_find(p.out, "keep");
    assert_true(fabs(lra_probe_measurement(keep, "mode.difference")->value + swapped) < 1e-12);
    close_influence(&p);
}

/* With a single row there are means without an interval, and no shares of the unknown variation
 * between rows. */
TEST(one_row_of_a_stream)
{
    lra_err e = {{0}};
    lra_influence p = influence_of();
    OK(lra_part_measure(&lra_part_keep, &p, 1, &e));
    const lra_probe_unit *u = lra_probe_unit_find(p.out, "keep");
    assert_true(lra_probe_measurement(u, "kl.most")->value > 0);
    assert_true(isnan(lra_probe_measurement(u, "kl.most")->lo));
    assert_true(isnan(lra_probe_measurement(u, "kl.w95")->value));
    close_influence(&p);
}

/* The mean of outputs by its definition. */
TEST(means_of_answers)
{
    static const float a[3][2] = {{0, 0}, {2, -1}, {-3, 4}};
    lra_mean_output m = {0};
    double mean[2] = {0}, kl = 0, entropy = 0;
    for (int i = 0; i < 3; i++) {
        double p = 1 / (1 + exp((double)(a[i][1] - a[i][0])));
        mean[0] += p / 3, mean[1] += (1 - p) / 3;
        entropy += lra_mean_output_add(&m, 2, a[i]) / 3;
        assert_true(lra_kl(2, a[i], a[i]) == 0);
    }
    for (int i = 0; i < 3; i++) {
        const float logits[2] = {(float)log(mean[0]), (float)log(mean[1])};
        kl += lra_kl(2, a[i], logits) / 3;
    }
    assert_true(fabs(kl - (lra_mean_output_entropy(&m) - entropy)) < 1e-7);
    assert_true(fabs(lra_kl(2, a[0], a[1]) - (-log(2) + log(1 + exp(3)) - 1.5)) < 1e-12);
    lra_mean_output_free(&m);
}

/* ---- other goals ----------------------------------------------------------------------------- */

/* For other goals every row has outputs for every width, and the last width has no restriction. */
TEST(rows_of_other_goals)
{
    static const lra_influence_part *const kind[] = {&lra_part_keep, &lra_part_bag,
                                                     &lra_part_order_out, &lra_part_swap};
    lra_err e = {{0}};
    for (int goal = LRA_GOAL_CLASS; goal <= LRA_GOAL_VALUE; goal++) {
        run own;
        open_run(&own, (lra_goal)goal, "other", 1);
        lra_train_report report = train(&own);
        for (int k = 0; k < 4; k++) {
            lra_restricted r;
            lra_subject subject = subject_of(&own.spec, &own.device);
            OK(lra_restrict_measure(&subject, kind[k]->perturbation, 0, 0, NULL, &r, &e));
            close_subject(&subject);
            assert_int_equal(r.n, own.data->split[LRA_TEST_SPLIT].n);
            assert_int_equal(r.kl == NULL, goal == LRA_GOAL_VALUE);
            assert_null(r.step);
            for (int64_t i = 0; i < r.n * r.n_points; i++) {
                assert_true(r.row[i].n > 0 && isfinite(r.row[i].loss));
                if (!r.kl) continue;
                assert_true(isfinite(r.kl[i]));
                if (i / r.n == r.n_points - 1 && kind[k] != &lra_part_order_out)
                    assert_true(r.kl[i] == 0);
            }
            lra_restricted_free(&r);
        }
        lra_train_report_free(&report);
        close_run(&own);
    }
}

GROUP(set_up, tear_down);
