/* Restricted inputs: how a restriction changes a sequence, and that the model receives the changed
 * sequence. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/listops/tree.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/registry.h"
#include "probes/influence/perturbation.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_run.h"

enum { N = 23 };
static int32_t from[N], other[N], to[N];

static void fill(void)
{
    for (int i = 0; i < N; i++) from[i] = i, other[i] = 100 + i, to[i] = -1;
}

static int64_t apply(const lra_influence_part *part, int64_t w, int64_t draw, int64_t n,
                     int64_t other_n)
{
    const lra_perturb c = {.is = part->perturbation, .w = w, .draw = draw, .seed = 5, .row = 3};
    fill();
    return lra_perturb_apply(&c, n, sizeof *from, from, other_n ? other : NULL, other_n, to);
}

/* The first, last, middle and random windows of consecutive tokens. */
TEST(windows_are_kept)
{
    bool seen[N] = {false};
    for (int64_t draw = 0; draw < 11; draw++) {
        assert_int_equal(apply(&lra_part_keep, 5, draw, N, 0), 5);
        for (int i = 0; i < 5; i++) assert_int_equal(to[i], to[0] + i);
        if (draw == 0) assert_int_equal(to[0], 0);
        if (draw == 1) assert_int_equal(to[4], N - 1);
        if (draw == 2) assert_int_equal(to[0], 9);
        seen[to[0]] = true;
    }
    int starts = 0;
    for (int i = 0; i < N; i++) starts += seen[i];
    assert_true(starts > 5);
    assert_int_equal(apply(&lra_part_keep, 5, 11, N, 0), 0);
    assert_int_equal(apply(&lra_part_keep, 64, 0, N, 0), N);
    assert_memory_equal(to, from, sizeof from);
    assert_int_equal(apply(&lra_part_keep, 64, 1, N, 0), 0);
}

/* Tokens outside of the window are replaced by those of another row; if that row is shorter, the
 * remaining tokens are unchanged. */
TEST(what_is_gone_is_swapped)
{
    assert_int_equal(apply(&lra_part_swap, 4, 2, N, 20), N);
    for (int i = 0; i < N; i++)
        assert_int_equal(to[i], (i >= 9 && i < 13) || i >= 20 ? i : 100 + i);
}

/* Tokens outside of the window are replaced by token 0. */
TEST(what_is_gone_is_a_token)
{
    assert_int_equal(apply(&lra_part_token, 4, 2, N, 0), N);
    for (int i = 0; i < N; i++) assert_int_equal(to[i], i >= 9 && i < 13 ? i : 0);
    assert_int_equal(apply(&lra_part_token, 64, 1, N, 0), 0);
}

/* Masked windows have the same tokens as cropped ones, and keep their original positions. */
TEST(masked_windows_know_their_place)
{
    for (int64_t draw = 0; draw < 11; draw++) {
        const lra_perturb c = {
            .is = lra_part_mask.perturbation, .w = 5, .draw = draw, .seed = 5, .row = 3};
        assert_int_equal(apply(&lra_part_keep, 5, draw, N, 0), 5);
        int32_t first = to[0];
        assert_int_equal(apply(&lra_part_mask, 5, draw, N, 0), 5);
        assert_int_equal(to[0], first);
        assert_int_equal(lra_perturb_start(&c, N), first);
    }
}

/* Rows of 23 tokens with marks at 4 and 20; images of 5 columns with marks at (0,4) and (4,0). */
TEST(far_of_marks_is_dropped)
{
    bool marked[N] = {[4] = true, [20] = true};
    int32_t near[N], px[N];
    lra_nearest_mark(N, 0, marked, near);
    lra_nearest_mark(N, 5, marked, px);
    for (int i = 0; i < N; i++) {
        int a = abs(i - 4), b = abs(i - 20), y = i / 5, x = i % 5;
        assert_int_equal(near[i], a < b ? a : b);
        a = y > 4 - x ? y : 4 - x, b = 4 - y > x ? 4 - y : x;
        assert_int_equal(px[i], a < b ? a : b);
    }
    for (int64_t w = 0; w < 16; w++)
        for (int swap = 0; swap < 2; swap++) {
            const lra_perturb c = {.is = swap ? lra_part_drop.perturbation
                                              : lra_part_drop_token.perturbation,
                                   .w = w,
                                   .near = near};
            fill();
            assert_int_equal(lra_perturb_apply(&c, N, sizeof *from, from, other, 18, to), N);
            for (int i = 0; i < N; i++) {
                /* the row that provides the new tokens has only 18 tokens */
                bool stays = near[i] <= w || (swap && i >= 18);
                assert_int_equal(to[i], stays ? i : swap ? 100 + i : 0);
            }
        }
    assert_int_equal(lra_part_drop.perturbation->geometry->draws(3, N), 1);
    memset(marked, 0, sizeof marked);
    lra_nearest_mark(N, 0, marked, near);
    for (int i = 0; i < N; i++)
        assert_int_equal(near[i], 0); /* nothing is marked, so that all tokens remain */
}

TEST(bags_are_side_by_side)
{
    int next = 0;
    for (int64_t draw = 0; draw < 5; draw++) {
        int64_t n = apply(&lra_part_bag, 5, draw, N, 0);
        assert_int_equal(n, draw < 4 ? 5 : 3);
        for (int i = 0; i < n; i++) assert_int_equal(to[i], next++);
    }
    assert_int_equal(next, N);
    assert_int_equal(apply(&lra_part_bag, 5, 5, N, 0), 0);
}

TEST(orders_are_lost)
{
    for (int64_t w = 1; w <= 32; w *= 2) {
        int sum = 0, steps = 0, moved = 0;
        assert_int_equal(apply(&lra_part_order_in, w, 0, N, 0), N);
        for (int i = 0; i < N; i++) { /* no token moves by w or more */
            sum += to[i];
            assert_true(to[i] - i < w && i - to[i] < w);
            moved += to[i] != i;
        }
        assert_int_equal(sum, N * (N - 1) / 2);
        assert_int_equal(moved > 0, w > 1);
        assert_int_equal(apply(&lra_part_order_out, w, 0, N, 0), N);
        sum = 0;
        for (int i = 0; i < N; i++) sum += to[i];
        for (int i = 1; i < N; i++) steps += to[i] != to[i - 1] + 1;
        assert_int_equal(sum, N * (N - 1) / 2);
        /* order changes only between neighbouring windows */
        assert_true(steps <= (N + w - 1) / w + 1);
        if (w < 8) assert_true(steps > 0);
    }
}

/* Digits in a window, and the operators around them. */
TEST(windows_of_expressions)
{
    enum { ROW = 15 }; /* [MAX 4 [MIN 2 [SM 3 5 X ] X 9 [MED 0 1 X X <eos> */
    static const int32_t row[ROW] = {16, 8, 14, 6, 17, 7, 9, 3, 3, 13, 16, 4, 3, 3, 2};
    static const struct {
        int64_t from, end;
        int32_t left[ROW];
    } known[] = {{0, 15, {16, 8, 14, 6, 17, 7, 9, 3, 3, 13, 16, 4, 3, 3, 2}},
                 {1, 2, {16, 8, 3, 2}},
                 {3, 6, {16, 14, 6, 17, 7, 3, 3, 3, 2}},
                 /* no digit is within the window: the later of the two nearest digits is kept */
                 {7, 9, {16, 13, 3, 2}},
                 /* the window is a single operator: its first digit is kept */
                 {4, 5, {16, 14, 17, 7, 3, 3, 3, 2}},
                 {13, 15, {16, 16, 4, 3, 3, 2}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        int32_t left[ROW];
        int64_t n = lra_listops_prune(ROW, row, known[i].from, known[i].end, left);
        assert_true(n > 0 && known[i].left[n - 1] != 0);
        assert_memory_equal(left, known[i].left, (size_t)n * sizeof *left);
        assert_true(n == ROW || known[i].left[n] == 0);
    }
    static const int32_t digit[] = {9, 2};
    int32_t left[2];
    assert_int_equal(lra_listops_prune(2, digit, 1, 2, left), 2);
    assert_memory_equal(left, digit, sizeof digit);
    const lra_perturb c = {
        .is = lra_part_prune.perturbation, .w = 1, .draw = 0, .seed = 5, .row = 3};
    int32_t to_row[ROW];
    assert_int_equal(lra_perturb_apply(&c, ROW, sizeof *row, row, NULL, 0, to_row), 4);
    assert_memory_equal(to_row, known[1].left, 4 * sizeof *row);
}

/* The label is the parity of the number of ones: the order has no effect, and a part of the row
 * contains no information. The gains are exactly 1 and 0. */
TEST(parity_of_ones)
{
    enum { ROWS = 400, T = 16, WIDTHS = 5 };
    static const lra_influence_part *const kind[] = {&lra_part_order_in, &lra_part_order_out,
                                                     &lra_part_keep};
    static const double x[WIDTHS] = {1, 2, 4, 8, T};
    for (int k = 0; k < 3; k++) {
        /* (widths, complete input, chance; rows) share of correct predictions */
        static double row[WIDTHS + 2][ROWS];
        memset(row, 0, sizeof row);
        for (int i = 0; i < ROWS; i++) {
            lra_rng r = lra_rng_new(7, 7, (uint64_t)i);
            int32_t bit[T], changed[T];
            int ones = 0;
            for (int t = 0; t < T; t++) ones += bit[t] = (int32_t)lra_rng_below(&r, 2);
            for (int p = 0; p < WIDTHS + 2; p++) {
                int64_t n = T;
                lra_perturb c = {.is = kind[k]->perturbation, .seed = 5, .row = (uint64_t)i};
                if (p < WIDTHS) c.w = (int64_t)x[p];
                memcpy(changed, bit, sizeof bit);
                int draws = 0;
                for (; c.draw < (p < WIDTHS ? c.is->geometry->draws(c.w, T) : 1); c.draw++) {
                    if (p < WIDTHS)
                        n = lra_perturb_apply(&c, T, sizeof *bit, bit, NULL, 0, changed);
                    int odd = 0;
                    for (int64_t t = 0; t < n; t++) odd += (int)changed[t];
                    /* without tokens the accuracy is one half */
                    row[p][i] += p > WIDTHS ? i % 2 : odd % 2 == ones % 2;
                    draws++;
                }
                row[p][i] /= draws;
            }
        }
        lra_sample *s = lra_sample_new(ROWS, true);
        for (int p = 0; p < WIDTHS + 2; p++)
            lra_sample_add_rows(s, 1, (const double *const[]){row[p]});
        lra_gain g;
        lra_gain_compute(s, x, 1, &g);
        lra_sample_free(s);
        assert_false(g.at_chance);
        for (int p = 0; p < WIDTHS; p++) {
            bool whole = k < 2 || p == WIDTHS - 1;
            if (whole)
                assert_true(g.gain[p].value == 1);
            else
                assert_true(fabs(g.gain[p].value) < 0.1 && g.gain[p].hi > 0);
        }
    }
}

/* ---- a model --------------------------------------------------------------------------------- */

static int measure(const lra_train_spec *run, const lra_influence_part *part, lra_restricted *r,
                   lra_err *e)
{
    lra_subject subject = subject_of(run, &trained.device);
    int rc = lra_restrict_measure(&subject, part->perturbation, 0, 0, NULL, r, e);
    close_subject(&subject);
    return rc;
}

/* Widths without an effect give the outputs of the entire input, small widths do not, and every
 * draw is counted. */
TEST(a_model_is_asked)
{
    lra_err e = {{0}};
    const lra_influence_part *const kinds[] = {&lra_part_keep, &lra_part_swap, &lra_part_bag,
                                               &lra_part_order_in, &lra_part_token};
    for (int k = 0; k < 5; k++) {
        lra_restricted r;
        OK(measure(&trained.run.spec, kinds[k], &r, &e));
        assert_int_equal(r.n, trained.report.n_rows);
        bool order = kinds[k] == &lra_part_order_in;
        int same = order ? 0 : r.n_points - 1, changed = order ? 2 : 0, differ = 0;
        int differ_kl = 0;
        for (int64_t i = 0; i < r.n; i++) {
            const lra_sums *whole = &r.row[same * r.n + i], *part = &r.row[changed * r.n + i];
            assert_true(r.full[i].loss == trained.report.row[i].loss);
            assert_int_equal(whole->n, 1);
            assert_true(whole->loss == r.full[i].loss);
            assert_true(r.kl[same * r.n + i] == 0);
            differ_kl += r.kl[changed * r.n + i] > 0;
            assert_int_equal(part->n, kinds[k] == &lra_part_keep || kinds[k] == &lra_part_swap ||
                                              kinds[k] == &lra_part_token
                                          ? 11
                                          : 1);
            differ += part->loss != r.full[i].loss;
        }
        assert_true(differ > 0 && differ_kl > 0);
        lra_restricted_free(&r);
    }
}

static double kl_of(const float *a, const float *b)
{
    double all_a = 0, all_b = 0, kl = 0;
    for (int c = 0; c < TINY_CLASSES; c++) all_a += exp((double)a[c]), all_b += exp((double)b[c]);
    for (int c = 0; c < TINY_CLASSES; c++) {
        double p = exp((double)a[c]) / all_a;
        kl += p * log(p / (exp((double)b[c]) / all_b));
    }
    return kl;
}

/* Marks the first token: the test removes tokens itself, row by row, and the results must be
 * equal. */
static void mark_first(const lra_row *row, bool *marked)
{
    marked[0] = row->n > 0;
}

TEST(marks_are_asked)
{
    lra_err e = {{0}};
    lra_restricted r;
    lra_task marking = *trained.run.data->task;
    lra_dataset data = *trained.run.data, dropped = data;
    lra_train_spec run = trained.run.spec;
    lra_sums row[TINY_ROWS];
    float output[TINY_ROWS * TINY_CLASSES];
    const lra_sequences *of = &data.split[LRA_TEST_SPLIT];
    size_t steps = (size_t)of->start[of->n];
    uint16_t *token = lra_alloc_array(steps, sizeof *token);
    marking.text.marks = mark_first;
    data.task = &marking, run.data = &data;
    OK(measure(&run, &lra_part_drop_token, &r, &e));
    assert_true(r.w[0] == 0 && r.w[1] == 1);
    for (int p = 0; p < r.n_points; p++) {
        memcpy(token, of->token, steps * sizeof *token);
        for (int64_t i = 0; i < of->n; i++)
            for (int64_t t = of->start[i]; t < of->start[i + 1]; t++)
                if ((double)(t - of->start[i]) > r.w[p]) token[t] = 0;
        dropped.split[LRA_TEST_SPLIT].token = token;
        run.data = &dropped;
        assert_int_equal(
            lra_evaluate(&run, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, output, row, &e),
            0);
        for (int64_t i = 0; i < r.n; i++) {
            int64_t at = r.index[i] * TINY_CLASSES;
            assert_true(r.row[p * r.n + i].loss == row[r.index[i]].loss);
            assert_true(fabs(r.kl[p * r.n + i] - kl_of(trained.report.output + at, output + at)) <
                        1e-9);
        }
    }
    assert_true(r.kl[0] > 0 && r.kl[(r.n_points - 1) * r.n] == 0);
    assert_true(r.row[0].loss != r.full[0].loss);
    lra_restricted_free(&r);
    lra_free(token);
}

/* Computes the losses of all rows of the split if all tokens except the first are replaced by those
 * of row j, as far as row j has tokens. */
static void evaluate_swapped(const lra_train_spec *own, int64_t j, double *loss)
{
    lra_err e = {{0}};
    lra_dataset data = *own->data;
    lra_train_spec run = *own;
    lra_sums row[TINY_ROWS];
    float output[TINY_ROWS * TINY_CLASSES];
    const lra_sequences *of = &own->data->split[LRA_TEST_SPLIT];
    size_t steps = (size_t)of->start[of->n];
    uint16_t *token = lra_alloc_array(steps, sizeof *token);
    memcpy(token, of->token, steps * sizeof *token);
    int64_t n = of->start[j + 1] - of->start[j];
    for (int64_t i = 0; i < of->n; i++)
        for (int64_t t = 1; t < n && t < of->start[i + 1] - of->start[i]; t++)
            token[of->start[i] + t] = of->token[of->start[j] + t];
    data.split[LRA_TEST_SPLIT].token = token;
    run.data = &data;
    OK(lra_evaluate(&run, &trained.device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, output, row, &e));
    for (int64_t i = 0; i < of->n; i++) loss[i] = row[i].loss;
    lra_free(token);
}

/* If a batch has only one row, replacement tokens come from a row of another batch. Cases: batches
 * of one row, and a last batch of one row. */
TEST(lonely_rows_swap_too)
{
    lra_err e = {{0}};
    static const int64_t batches[] = {1, TINY_ROWS - 1};
    for (int k = 0; k < 2; k++) {
        lra_restricted r;
        lra_task marking = *trained.run.data->task;
        lra_dataset data = *trained.run.data;
        lra_train_spec run = trained.run.spec;
        double loss[TINY_ROWS][TINY_ROWS];
        marking.text.marks = mark_first;
        data.task = &marking, run.data = &data, run.batch = batches[k];
        for (int64_t j = 0; j < TINY_ROWS; j++) evaluate_swapped(&run, j, loss[j]);
        OK(measure(&run, &lra_part_drop, &r, &e));
        assert_int_equal(r.n, TINY_ROWS);
        for (int64_t i = 0; i < r.n; i++) {
            bool found = false;
            for (int64_t j = 0; j < TINY_ROWS; j++)
                found = found || (j != r.index[i] && r.row[i].loss == loss[j][r.index[i]]);
            assert_true(found);
        }
        lra_restricted_free(&r);
    }
}

static int64_t marks_of(const lra_task *t, const char *rows, int64_t row, bool *marked)
{
    lra_err e = {{0}};
    lra_config *c = lra_task_config(t, "quick", &e);
    lra_keys_apply(t->keys, c, rows);
    lra_dataset *d = lra_dataset_make(t, c, &e);
    NOT_NULL(d);
    lra_row r = lra_sequences_row(&d->split[LRA_TRAIN_SPLIT], row);
    int64_t n = 0;
    t->text.marks(&r, marked);
    for (int64_t i = 0; i < r.n; i++) n += marked[i];
    lra_dataset_free(d);
    lra_config_free(c);
    return n;
}

/* The task marks two pairs of bits in each copy, and two markers in an image. */
TEST(tasks_mark_places)
{
    bool marked[1024] = {false}, none[1024] = {false};
    const char *rows = "train=4 val=2 test=2 copies=2 distance=4 length=70";
    assert_int_equal(marks_of(&lra_task_xor, rows, 1, marked), 8);
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            marks_of(&lra_task_pathfinder_easy, "images=10", i, memcpy(marked, none, sizeof none)),
            2);
}

static int set_up(void **state)
{
    const char *model = "layers=2 width=4 hidden=6 kernel=5";
    return make_folder(state) != 0 || tiny_train(folder, model, 1) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    tiny_forget();
    return remove_folder(state);
}

GROUP(set_up, tear_down);
