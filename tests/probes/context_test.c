/* Part context, for every goal and every model of the registry. A model of reach rho has the same
 * outputs for crops of R >= rho tokens as for the entire input, and other outputs for smaller
 * crops. A crop keeps the positions of its tokens in the entire input. */
#include "tests/fixtures/test.h"

#include <math.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "probes/influence/context.h"
#include "tests/fixtures/goal_run.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/tiny_run.h"

/* Returns the largest relative difference between the losses of two evaluations, a and b; *flips is
 * the number of rows that only one of them predicts correctly. */
static double difference(const lra_sums *a, const lra_sums *b, int64_t n, int *flips)
{
    double most = 0;
    *flips = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(a[i].loss - b[i].loss) / fmax(1, fabs(b[i].loss));
        most = isfinite(d) ? fmax(most, d) : INFINITY;
        *flips += a[i].right != b[i].right;
    }
    return most;
}

static double ask(lra_context *c, int64_t R, int *flips)
{
    lra_err e = {{0}};
    lra_sums *row = lra_alloc_array((size_t)c->n + 1, sizeof *row);
    if (lra_context_evaluate(c, R, row, &e) != 0) fail_msg("R = %lld: %s", (long long)R, e.msg);
    double d = difference(row, c->full, c->n, flips);
    lra_free(row);
    return d;
}

/* ---- goals ----------------------------------------------------------------------------------- */

enum { BACK = 2 };

/* Encoder: the features are the inputs at a position plus half of those BACK positions before. */
static lra_tensor *two_steps(const lra_build *b, lra_tensor *x)
{
    lra_tensor *none = lra_zeros(b->graph, x->type, LRA_SHAPE(b->B, BACK, lra_width(x)));
    if (b->T <= BACK) return x;
    lra_tensor *before = lra_concat(2, (lra_tensor *[]){none, lra_slice(x, 1, 0, b->T - BACK)}, 1);
    return lra_add(x, lra_affine(before, 0.5, 0));
}

TEST(every_goal)
{
    for (int goal = 0; goal < N_TINY_TASKS; goal++) {
        lra_err e = {{0}};
        run r;
        lra_context c;
        int flips;
        open_run(&r, (lra_goal)goal, "context", 1);
        lra_model model = lra_model_resconv;
        model.encode = two_steps, r.spec.model = &model;
        assert_null(lra_context_undefined(&r.spec));
        OK(lra_context_open(&c, &r.spec, &r.device, LRA_INITIAL_WEIGHTS, 0, NULL, &e));
        assert_true(c.n > 0);
        double at = ask(&c, BACK, &flips), below = ask(&c, BACK - 1, &flips);
        if (!(at < 1e-5)) fail_msg("goal %d: at its reach the loss differs by %g", goal, at);
        if (!(below > 1e-4))
            fail_msg("goal %d: below its reach the loss differs by %g", goal, below);
        assert_true(ask(&c, c.longest - 1, &flips) == 0);
        lra_context_close(&c);
        close_run(&r);
    }
}

/* ---- models ---------------------------------------------------------------------------------- */

static int defined, bounded;

static void check_model(const lra_model *m, const char *variant)
{
    lra_err e = {{0}};
    lra_context c;
    int flips;
    lra_train_spec s = trained.run.spec;
    lra_config *settings = model_tiny(m, variant);
    s.model = m, s.model_config = settings;
    const char *why = lra_context_undefined(&s);
    bool counts = m->unmasked && m->unmasked(settings);
    assert_int_equal(why != NULL, counts || strcmp(m->name, "bigbird") == 0);
    int64_t reach = m->reach ? m->reach(settings) : -1;
    if (!why) {
        if (lra_context_open(&c, &s, &trained.device, LRA_INITIAL_WEIGHTS, 0, NULL, &e) != 0)
            fail_msg("%s %s: %s", m->name, variant, e.msg);
        defined++;
        for (int64_t R = 0; R < c.longest - 1; R = 2 * R + 1) {
            double d = ask(&c, R, &flips);
            if (!isfinite(d)) fail_msg("%s %s: R = %lld", m->name, variant, (long long)R);
            if (reach < 0 || R < reach) continue;
            bounded++;
            if (!(d < 1e-4) || flips)
                fail_msg("%s %s: reach %lld, but of R = %lld the loss differs by %g", m->name,
                         variant, (long long)reach, (long long)R, d);
        }
        lra_context_close(&c);
    }
    lra_config_free(settings);
}

TEST(every_model)
{
    each_model(check_model);
    assert_true(defined > 50 && bounded > 20);
}

/* gmlp adds a number to each position. If all other taps are 0, crops of one token have the outputs
 * of the entire input only if the model receives the original positions. */
TEST(positions_are_those_of_the_whole)
{
    lra_err e = {{0}};
    lra_context c;
    int flips;
    lra_train_spec s = trained.run.spec;
    lra_config *settings = model_tiny(&lra_model_gmlp, "");
    s.model = &lra_model_gmlp, s.model_config = settings;
    OK(lra_context_open(&c, &s, &trained.device, LRA_INITIAL_WEIGHTS, 0, NULL, &e));
    for (int k = 0; k < lra_params_count(c.m.params); k++) {
        const char *path = lra_params_path(c.m.params, k), *end = strstr(path, "/gate/");
        int64_t n = lra_shape_elements(lra_params_shape(c.m.params, k));
        bool taps = end && strcmp(end, "/gate/taps") == 0;
        if (!taps && !(end && strcmp(end, "/gate/b") == 0)) continue;
        float *v = lra_alloc_array((size_t)n, sizeof *v);
        for (int64_t i = 0; i < n; i++) v[i] = taps ? 0 : (float)sin(2.0 * (double)i);
        assert_int_equal(lra_params_set(c.m.params, path, v, &e), 0);
        lra_free(v);
    }
    assert_int_equal(lra_context_evaluate(&c, c.longest - 1, c.full, &e), 0);
    assert_true(ask(&c, 0, &flips) < 1e-5);
    lra_context_close(&c);
    lra_config_free(settings);
}

static int set_up(void **state)
{
    return make_folder(state) != 0 ||
                   tiny_train(folder, "layers=1 width=4 hidden=4 kernel=3", 1) != 0
               ? -1
               : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

GROUP(set_up, tear_down);
