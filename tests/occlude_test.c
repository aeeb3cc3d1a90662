/* Occlusion of a model's inputs: scores are margins of its answers, stretches come from another
 * row, draws that change nothing are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "kernels/base/mem.h"
#include "kernels/graph/op.h"
#include "models/training/session.h"
#include "probes/influence/occlude.h"
#include "probes/influence/part.h"
#include "tests/folder.h"
#include "tests/tiny_run.h"

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
} seen;

/* Every pair of rows: tokens 2 .. 5 and 7 of the one in the place of those of the other. */
static int look(const lra_occluder *o, void *context, lra_err *e)
{
    seen *s = context;
    int64_t rows = o->view->rows, T = o->view->T;
    const lra_batch *b = o->batch;
    lra_stretches *of = lra_alloc_array((size_t)rows, sizeof *of);
    double *score = lra_alloc_array((size_t)rows, sizeof *score);
    int32_t *token = lra_alloc_array((size_t)(rows * T), sizeof *token);
    assert_int_equal(lra_occlude_ask(o, of, 0, score, e), 0);
    for (int64_t i = 0; i < rows; i++) {
        if (!lra_occlude_counts(o, i)) continue;
        const float *logits = trained.report.output + b->row[i] * TINY_CLASSES;
        assert_true(fabs(score[i] - margin(logits, b->label[i])) < 1e-5);
        assert_false(lra_occlude_changes(o, i, &of[i], 0));
        of[i] = (lra_stretches){{2, 7}, {6, 8}};
        s->rows++;
    }
    for (int draw = 0; draw < 3; draw++) {
        double *again = lra_alloc_array((size_t)rows, sizeof *again);
        assert_int_equal(lra_occlude_ask(o, of, draw, again, e), 0);
        for (int64_t i = 0; i < rows; i++) {
            if (!lra_occlude_counts(o, i)) continue;
            bool any = false;
            for (int64_t from = 0; from < rows; from++) { /* one of the other rows explains it */
                lra_batch own = *b;
                float output[64 * TINY_CLASSES];
                if (from == i || b->row[from] < 0) continue;
                memcpy(token, b->token, (size_t)(rows * T) * sizeof *token);
                for (int64_t t = 2; t < 8; t++)
                    if (t != 6 && t < b->length[i] && t < b->length[from])
                        token[i * T + t] = b->token[from * T + t];
                own.token = token;
                const lra_network *k = &o->view->network;
                assert_int_equal(lra_session_set(&trained.run.spec, k, o->view->plan, &own, e), 0);
                assert_int_equal(lra_run(o->view->plan, e), 0);
                assert_int_equal(lra_get(o->view->plan, k->output, output, e), 0);
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

static void scores_are_of_changed_inputs(void **state)
{
    (void)state;
    lra_err e = {{0}};
    seen s = {0};
    if (lra_occlude(&trained.run.spec, &trained.device, LRA_BEST_WEIGHTS, 0, NULL, look, &s, &e) !=
        0)
        fail_msg("%s", e.msg);
    assert_true(s.rows >= 4 && s.rows <= TINY_ROWS && s.changed > s.rows);
    assert_null(lra_occlude_undefined(&trained.run.spec));
}

/* ---- part occlusion -------------------------------------------------------------------------- */

enum { DELAY = 3 };

/* Features that are their inputs DELAY steps before. */
static lra_tensor *delayed(const lra_build *b, lra_tensor *x)
{
    lra_tensor *none = lra_zeros(b->graph, x->type, LRA_SHAPE(b->B, DELAY, lra_width(x)));
    return lra_concat(2, (lra_tensor *[]){none, lra_slice(x, 1, 0, b->T - DELAY)}, 1);
}

static void a_delay_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *id;
        double value;
    } known[] = {{"range.mean", DELAY}, {"range.q50", DELAY}, {"range.q99", DELAY},
                 {"side", 1},           {"entropy", 0},       {"shift.w1", 0}};
    char empty[] = "";
    lra_err e = {{0}};
    lra_result result = {.task = empty,
                         .model = empty,
                         .preset = empty,
                         .precision = empty,
                         .fingerprint = empty,
                         .run = empty,
                         .config = empty,
                         .reach = -1};
    lra_finished_run run = {.result = &result};
    lra_model delay = lra_model_resconv;
    lra_origin origin = {0};
    lra_influence p = {.run = &run, .spec = trained.run.spec, .device = trained.device};
    delay.encode = delayed, p.spec.model = &delay;
    p.steps.bar = lra_progress_new("occlusion", 1);
    p.out = lra_probe_result_new("influence", &result, &origin);
    assert_null(lra_part_occlusion.undefined(&p));
    if (lra_part_occlusion.measure(&p, 0, &e) != 0) fail_msg("%s", e.msg);
    const lra_probe_unit *u = lra_probe_unit_find(p.out, "occlusion");
    assert_true(lra_probe_array_find(u, "width")->value[0] == 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const lra_finding *f = lra_probe_finding(u, known[i].id);
        if (!f || !(fabs(f->value - known[i].value) < 1e-9))
            fail_msg("%s: %g, expected %g", known[i].id, f ? f->value : (double)NAN,
                     known[i].value);
    }
    lra_progress_free(p.steps.bar);
    lra_probe_result_free(p.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scores_are_of_changed_inputs),
        cmocka_unit_test(a_delay_is_found),
    };
    return cmocka_run_group_tests_name("occlude", tests, set_up, tear_down);
}
