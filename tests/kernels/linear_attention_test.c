/* Attention with linear cost: positions of chunks computed by hand, random directions, and padding
 * that is not masked. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/orthogonal.h"
#include "kernels/graph/op.h"
#include "tests/fixtures/tiny_model.h"
#include "tests/fixtures/run_once.h"

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Two examples of two rows each, with at most seven tokens in three chunks. */
enum { N = 4, T = 7, J = 3, C = 3 };

static void places(lra_chunk_part part, int64_t n, int32_t *out)
{
    static const int32_t order[N * T] = {4, 2, 0, 1, 3, 5, 6, 0, 1, 2, 3, 4, 5, 6,
                                         6, 5, 4, 3, 2, 1, 0, 3, 1, 0, 2, 4, 5, 6},
                                   length[2] = {5, 7};
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *at = lra_input(g, "order", LRA_I32, LRA_SHAPE(N, T));
    lra_tensor *tokens = lra_input(g, "length", LRA_I32, LRA_SHAPE(2));
    lra_tensor *y = lra_lsh_buckets(at, tokens, J, part);
    assert_int_equal(lra_elements(y), n);
    run_once(y, 1, 2, (run_input[]){{at, order}, {tokens, length}}, out);
}

/* Five tokens are divided into chunks of two, two and one; seven into chunks of three, three and
 * one. */
TEST(chunks_by_hand)
{
    static const int32_t own[] = {2, 2, 1, 2, 2, 1, 3, 3, 1, 3, 3, 1},
                         seen[] = {3, 4, 3, 3, 4, 3, 4, 6, 4, 4, 6, 4},
                         key[] = {4, 2, 3, 0, 0, 0, 0, 1, 4, 2, 0, 0, 3, 0, 1, 0, 0, 0},
                         last[] = {3, 1, 0, 6, 0, 0, 2, 4, 5, 3, 1, 0, 6, 2, 4, 5, 0, 0},
                         slot[] = {3, 4, 1, 6, 0, 0, 0};
    int32_t out[N * J * 2 * C];
    places(LRA_CHUNK_OWN, N * J, out);
    assert_memory_equal(out, own, sizeof own);
    places(LRA_CHUNK_SEEN, N * J, out);
    assert_memory_equal(out, seen, sizeof seen);
    places(LRA_CHUNK_KEY, N * J * 2 * C, out);
    assert_memory_equal(out, key, sizeof key);
    assert_memory_equal(out + 3 * J * 2 * C, last, sizeof last);
    places(LRA_CHUNK_SLOT, N * T, out);
    assert_memory_equal(out, slot, sizeof slot);
}

/* ---- directions ------------------------------------------------------------------------------ */

/* Random rows are orthogonal within blocks of K rows. Over many draws their lengths are distributed
 * as those of normal vectors, and every component has both signs equally often, which would not
 * hold without the signs of the QR decomposition. */
TEST(rows_are_at_right_angles)
{
    enum { m = 7, K = 5, DRAWS = 4000 };
    double rows[m * K], other[m * K], first = 0, square = 0;
    for (int step = 0; step < DRAWS; step++) {
        lra_orthogonal_rows(11, 3, (uint64_t)step, m, K, rows);
        for (int i = 0; i < m; i++)
            for (int j = 0; j <= i; j++) {
                double sum = 0;
                for (int k = 0; k < K; k++) sum += rows[i * K + k] * rows[j * K + k];
                if (i == j) square += sum / (m * DRAWS);
                if (i != j && i / K == j / K) assert_true(fabs(sum) < 1e-10);
            }
        first += rows[0] / DRAWS;
    }
    assert_true(fabs(square - K) < 0.1 && fabs(first) < 0.06);
    lra_orthogonal_rows(11, 3, DRAWS - 1, m, K, other);
    assert_memory_equal(rows, other, sizeof rows);
    lra_orthogonal_rows(12, 3, DRAWS - 1, m, K, other);
    assert_true(rows[0] != other[0]);
}

static const int32_t lengths[] = {6, 3};

/* Returns the loss of one batch in training, without an update. */
static double loss_at(const char *settings, int step)
{
    tiny_model f;
    model_case what = {.model = &lra_model_performer,
                       .variant = settings,
                       .type = LRA_F64,
                       .vocab = TRIAL_VOCAB,
                       .B = 2,
                       .T = 6,
                       .T_max = 8,
                       .rate = 1e-30,
                       .what = MODEL_UPDATE};
    model_open(&f, &what);
    model_set(&f, lengths, 0);
    double loss = model_step(&f, step);
    model_close(&f);
    return loss;
}

TEST(directions_are_drawn_at_every_step)
{
    const char *drawn = "kernel=softmax", *kept = "kernel=softmax redraw=0";
    assert_true(loss_at(drawn, 1) == loss_at(drawn, 1));
    assert_true(loss_at(drawn, 1) != loss_at(drawn, 2));
    assert_true(loss_at(kept, 1) == loss_at(kept, 2));
}

/* ---- padding that counts --------------------------------------------------------------------- */

/* Returns the logits of two rows in a bucket of T tokens, with zeros after the ends of rows; the
 * caller frees them. */
static double *answer(const lra_model *m, const char *settings, int64_t steps, int64_t channels,
                      lra_pool_kind pool)
{
    int32_t token[2 * 16] = {0};
    tiny_model f;
    model_case what = {.model = m,
                       .variant = settings,
                       .type = LRA_F64,
                       .vocab = channels ? 0 : TRIAL_VOCAB,
                       .B = 2,
                       .T = steps,
                       .T_max = 12,
                       .pool = pool,
                       .what = MODEL_FORWARD};
    model_open(&f, &what);
    for (int b = 0; b < 2; b++)
        for (int t = 0; t < steps; t++)
            token[b * steps + t] = t < lengths[b] ? (b + 3 * t) % 8 + 1 : channels ? 4 : 0;
    model_set_tokens(&f, lengths, token);
    model_run(&f);
    double *logits = model_get(&f, f.k.output);
    model_close(&f);
    return logits;
}

/* Checks that logits without a mask are the same in every bucket, and differ from those with a
 * mask. */
static void check_unmasked(const lra_model *m, const char *masked, const char *unmasked,
                           int64_t channels, lra_pool_kind pool)
{
    double *without = answer(m, masked, 6, channels, pool), more = 0;
    double *first = answer(m, unmasked, 6, channels, pool);
    double *second = answer(m, unmasked, 12, channels, pool);
    for (int i = 0; i < 2 * TRIAL_CLASSES; i++) {
        if (!(fabs(first[i] - second[i]) < 1e-12))
            fail_msg("%s %s: %g and %g", m->name, unmasked, first[i], second[i]);
        more = fmax(more, fabs(first[i] - without[i]));
    }
    if (more < 1e-6) fail_msg("%s %s: padding does not count", m->name, unmasked);
    lra_free(without);
    lra_free(first);
    lra_free(second);
}

TEST(padding_counts_where_it_is_said)
{
    const char *soft = "kernel=softmax features=3", *soft0 = "kernel=softmax features=3 masked=0";
    for (int64_t channels = 0; channels < 2; channels++)
        for (int cls = 0; cls < 2; cls++) {
            lra_pool_kind pool = cls ? LRA_POOL_CLS : LRA_POOL_MEAN;
            check_unmasked(&lra_model_linear_transformer, "", "masked=0", channels, pool);
            check_unmasked(&lra_model_linformer, "", "masked=0", channels, pool);
            check_unmasked(&lra_model_performer, "", "masked=0", channels, pool);
            check_unmasked(&lra_model_performer, soft, soft0, channels, pool);
            check_unmasked(&lra_model_reformer, "", "form=arena", channels, pool);
        }
}
