/* A loaded model answers requests with any number of rows and any length with the same results as
 * for its own batches: single rows without padding, and more rows than its graphs have. */
#include "tests/fixtures/test.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "tests/fixtures/subject.h"
#include "tests/fixtures/tiny_group.h"

enum { MOST = 1 << 16, DRAWS = 2 };
static float whole[MOST], other[MOST], cotangent[MOST];

/* Returns how many numbers a response contains for a row of T tokens. */
static int64_t size_of(const lra_responder *r, uint32_t answer, int64_t T)
{
    if (answer == LRA_ANSWERS_FORWARD) return r->facts.classes;
    return T * (answer == LRA_ANSWERS_VJP ? DRAWS : r->facts.width);
}

static int ask(lra_responder *r, uint32_t answer, const lra_request *q, float *out, lra_err *e)
{
    int32_t position[64];
    for (int64_t i = 0; i < q->B; i++) position[i] = q->length[i] > 0 ? q->length[i] / 2 : -1;
    if (answer == LRA_ANSWERS_FORWARD) return r->is->forward(r, q, out, e);
    if (answer == LRA_ANSWERS_FEATURES) return r->is->features(r, q, NULL, out, e);
    return r->is->vjp(r, q, NULL, position, DRAWS, cotangent, out, e);
}

static void near(const float *a, const float *b, int64_t n)
{
    for (int64_t i = 0; i < n; i++) assert_true(fabsf(a[i] - b[i]) <= 1e-5f * (1 + fabsf(a[i])));
}

/* Sends row 0 alone, without padding. */
static void row_alone(lra_responder *r, uint32_t answer, const lra_request *q)
{
    lra_err e = {{0}};
    lra_request one = *q;
    int64_t n = q->length[0], per = size_of(r, answer, 1), lines = answer == LRA_ANSWERS_VJP;
    one.B = 1, one.T = n;
    OK(ask(r, answer, &one, other, &e));
    if (answer == LRA_ANSWERS_FORWARD)
        near(whole, other, per);
    else if (!lines)
        near(whole, other, n * per);
    for (int64_t k = 0; k < DRAWS && lines; k++) near(whole + k * q->T, other + k * n, n);
}

/* Sends a request that contains the batch twice. */
static void twice(lra_responder *r, uint32_t answer, const lra_request *q)
{
    lra_err e = {{0}};
    lra_request two = *q;
    int64_t n = q->B * q->T, all = q->B * size_of(r, answer, q->T);
    int32_t *token = lra_alloc_array((size_t)(2 * n), sizeof *token), length[64];
    for (int k = 0; k < 2; k++) {
        memcpy(token + k * n, q->token, (size_t)n * sizeof *token);
        memcpy(length + k * q->B, q->length, (size_t)q->B * sizeof *length);
    }
    two.B = 2 * q->B, two.token = token, two.length = length;
    OK(ask(r, answer, &two, other, &e));
    assert_memory_equal(other, whole, (size_t)all * sizeof *other);
    assert_memory_equal(other + all, whole, (size_t)all * sizeof *other);
    lra_free(token);
}

TEST(requests_of_other_shapes)
{
    static const uint32_t answers[] = {LRA_ANSWERS_FORWARD, LRA_ANSWERS_FEATURES, LRA_ANSWERS_VJP};
    lra_err e = {{0}};
    lra_subject s = subject_of(&trained.run.spec, &trained.device);
    lra_loader *l = lra_subject_loader(&s, 0);
    const lra_batch *b = lra_loader_get(l, 0);
    const lra_request q = lra_subject_request(&s, b);
    assert_true(b->row[0] >= 0 && 2 * q.B <= 64);
    for (int k = 0; k < 3; k++) {
        const lra_preparation p = {.answers = answers[k], .exact = true, .draws = DRAWS};
        OK(lra_subject_prepare(&s, LRA_TRAINED_WEIGHTS, p, &e));
        int64_t D = s.model->facts.width;
        assert_true(2 * q.B * size_of(s.model, answers[k], q.T) <= MOST);
        for (int64_t i = 0; i < MOST; i++) cotangent[i] = (float)(i % (DRAWS * D) + 1);
        OK(ask(s.model, answers[k], &q, whole, &e));
        row_alone(s.model, answers[k], &q);
        twice(s.model, answers[k], &q);
    }
    lra_loader_free(l);
    close_subject(&s);
}

/* Requests of lengths that were not prepared are answered; those longer than the model's maximum
 * are rejected. */
TEST(requests_without_preparation)
{
    lra_err e = {{0}};
    lra_subject s = subject_of(&trained.run.spec, &trained.device);
    lra_loader *l = lra_subject_loader(&s, 0);
    const lra_batch *b = lra_loader_get(l, 0);
    lra_request q = lra_subject_request(&s, b);
    OK(s.model->is->forward(s.model, &q, whole, &e));
    for (int64_t i = 0; i < q.B; i++)
        for (int c = 0; c < TINY_CLASSES && b->row[i] >= 0; c++)
            assert_true(whole[i * TINY_CLASSES + c] ==
                        trained.report.output[b->row[i] * TINY_CLASSES + c]);
    q.T = s.model->facts.max_length + 1;
    assert_int_equal(s.model->is->forward(s.model, &q, whole, &e), LRA_FAILED);
    assert_non_null(strstr(e.msg, "tokens, the request has"));
    lra_loader_free(l);
    close_subject(&s);
}

GROUP(tiny_set_up, tiny_tear_down);
