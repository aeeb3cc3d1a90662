/* The external model as a responder: its results are those of the model in memory, also if requests
 * are divided, with any number of processes, from a recording, and after the error
 * out_of_memory. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "probes/audit/process_responder.h"
#include "tests/fixtures/folder.h"
#include "tests/fixtures/stub_responder.h"
#include "tests/fixtures/test.h"

enum { B = 7, T = 11, C = 3, D = 5, DRAWS = 2, H = 2, LAGS = 6 };
GROUP(make_folder, remove_folder);

static int32_t token[2 * B * T], length[2 * B], position[2 * B];
static float value[2 * B * T * 2], cotangent[2 * B * DRAWS * D];
static uint8_t keep[2 * B * T];

static lra_request a_request(bool values, int towers, bool hide)
{
    for (int i = 0; i < 2 * B * T; i++) token[i] = (5 * i + i * i / 7) % 12, keep[i] = i % 3 != 1;
    for (int i = 0; i < 2 * B; i++) length[i] = 1 + (3 * i + 7) % T, position[i] = length[i] / 2;
    for (int i = 0; i < 2 * B * T * 2; i++) value[i] = (float)(i % 13) / 7 - 1;
    for (int i = 0; i < 2 * B * DRAWS * D; i++) cotangent[i] = (float)(i % 17) / 8 - 1;
    position[3] = -1;
    return (lra_request){.B = B,
                         .T = T,
                         .towers = towers,
                         .token = values ? NULL : token,
                         .value = values ? value : NULL,
                         .width = values ? 2 : 0,
                         .length = length,
                         .keep = hide ? keep : NULL};
}

typedef struct {
    float logits[B * C], hidden[B * C], features[2 * B * T * D], grad[2 * B * DRAWS * T],
        attention[2 * B * H * 4 * T], kernel[D * LAGS], reset[B * C], restored[B * C];
} answers;

static void evaluate_pairs(lra_responder *r, bool values, int towers, answers *a)
{
    lra_err e = {{0}};
    lra_answer x;
    memset(a, 0, sizeof *a);
    lra_request q = a_request(values, towers, false);
    OK(r->is->forward(r, &q, a->logits, &e));
    OK(r->is->features(r, &q, NULL, a->features, &e));
    OK(r->is->vjp(r, &q, "conv", position, DRAWS, cotangent, a->grad, &e));
    /* undefined values, which are not compared */
    memset(a->grad + 3 * DRAWS * T, 0, sizeof(float) * DRAWS * T);
    OK(r->is->attention(r, &q, "conv", 0, 4, &x, &e));
    assert_int_equal(x.dims[0], B * towers);
    assert_int_equal(x.dims[1], H);
    memcpy(a->attention, x.value, sizeof(float) * (size_t)(B * towers * H * 4 * T));
    lra_free(x.value);
    lra_kernels_answer k;
    OK(r->is->kernels(r, "conv", LAGS, &k, &e));
    assert_int_equal(k.channels, D);
    assert_int_equal(k.ahead, LAGS);
    memcpy(a->kernel, k.value, sizeof a->kernel);
    lra_free(k.value);
    OK(r->is->reset(r, 5, &e));
    OK(r->is->forward(r, &q, a->reset, &e));
    OK(r->is->restore(r, &e));
    OK(r->is->forward(r, &q, a->restored, &e));
    q.keep = keep;
    OK(r->is->forward(r, &q, a->hidden, &e));
    assert_memory_equal(a->restored, a->logits, sizeof a->logits);
    assert_memory_not_equal(a->reset, a->logits, sizeof a->logits);
    assert_memory_not_equal(a->hidden, a->logits, sizeof a->logits);
}

typedef struct {
    const char *mode, *second;
    bool values;
    int towers, processes;
    int64_t batch;
    const char *record, *replay;
} variant;

static lra_responder *open_variant(const variant *v, char *words[3], lra_err *e)
{
    const char *build = getenv("LRA_BUILD");
    char *argv[] = {words[0], words[1], words[2], NULL};
    argv[0] = words[0] = lra_format("%s/tests/stub_model", build ? build : ".");
    argv[1] = words[1] = lra_copy_text(v->mode ? v->mode : "none");
    argv[2] = words[2] = lra_copy_text(v->second ? v->second : "none");
    lra_process_options o = {.command = lra_model_command_default(),
                             .task = {.task = "made-up",
                                      .classes = C,
                                      .vocab = v->values ? 0 : 12,
                                      .width = v->values ? 2 : 0,
                                      .length = T,
                                      .towers = v->towers},
                             .processes = v->processes,
                             .batch = v->batch,
                             .record = v->record,
                             .replay = v->replay};
    o.command.argv = argv;
    return lra_process_responder_open(&o, e);
}

static void ask_variant(const variant *v, answers *a)
{
    lra_err e = {{0}};
    char *words[3] = {NULL};
    lra_responder *r = open_variant(v, words, &e);
    NOT_NULL(r);
    assert_int_equal(r->facts.width, D);
    assert_int_equal(r->facts.n_layers, 1);
    assert_true(r->facts.mask);
    evaluate_pairs(r, v->values, v->towers, a);
    OK(lra_process_responder_end(r, &e));
    for (int i = 0; i < 3; i++) lra_free(words[i]);
}

static void ask_memory(bool values, int towers, answers *a)
{
    stub_spec s = stub_spec_default();
    if (values) s.vocab = 0, s.width = 2;
    lra_responder *r = stub_responder_new(&s);
    evaluate_pairs(r, values, towers, a);
    lra_responder_close(r);
}

TEST(answers_equal_those_in_memory)
{
    static const variant list[] = {
        {.towers = 1, .processes = 1, .batch = 64},
        {.towers = 1, .processes = 1, .batch = 1},
        {.towers = 1, .processes = 2, .batch = 3},
        {.towers = 1, .processes = 4, .batch = 2},
        {.mode = "no-width", .towers = 1, .processes = 1, .batch = 3},
        {.mode = "values", .values = true, .towers = 1, .processes = 2, .batch = 3},
        {.mode = "values",
         .second = "no-width",
         .values = true,
         .towers = 1,
         .processes = 1,
         .batch = 9},
        {.mode = "two-towers", .towers = 2, .processes = 1, .batch = 4},
        {.mode = "out-of-memory", .towers = 1, .processes = 1, .batch = 64},
        {.mode = "out-of-memory", .towers = 1, .processes = 3, .batch = 4}};
    static answers got, expected;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        ask_memory(list[i].values, list[i].towers, &expected);
        ask_variant(&list[i], &got);
        assert_memory_equal(&got, &expected, sizeof got);
    }
}

/* Missing rows are not sent; the results of the other rows are stored at their indices. */
TEST(missing_rows)
{
    static const int64_t row[B] = {4, -1, 7, 0, -1, -1, 2};
    static answers all;
    static float logits[B * C], features[B * T * D];
    lra_err e = {{0}};
    char *words[3] = {NULL};
    variant v = {.towers = 1, .processes = 1, .batch = 2};
    ask_memory(false, 1, &all);
    lra_responder *r = open_variant(&v, words, &e);
    NOT_NULL(r);
    lra_request q = a_request(false, 1, false);
    q.row = row;
    OK(r->is->forward(r, &q, logits, &e));
    OK(r->is->features(r, &q, NULL, features, &e));
    for (int i = 0; i < B; i++) {
        const float none[T * D] = {0};
        const float *of_logits = row[i] < 0 ? none : all.logits + i * C;
        const float *of_features = row[i] < 0 ? none : all.features + i * T * D;
        assert_memory_equal(logits + i * C, of_logits, C * sizeof *logits);
        assert_memory_equal(features + i * T * D, of_features, T * D * sizeof *features);
    }
    OK(lra_process_responder_end(r, &e));
    for (int i = 0; i < 3; i++) lra_free(words[i]);
}

TEST(batches_are_halved)
{
    lra_err e = {{0}};
    char *words[3] = {NULL};
    float logits[B * C];
    variant v = {.mode = "out-of-memory", .towers = 1, .processes = 1, .batch = 64};
    lra_responder *r = open_variant(&v, words, &e);
    NOT_NULL(r);
    lra_request q = a_request(false, 1, false);
    OK(r->is->forward(r, &q, logits, &e));
    assert_int_equal(lra_process_responder_batch(r), 3); /* 7 rows were halved to 3 */
    lra_responder_close(r);
    for (int i = 0; i < 3; i++) lra_free(words[i]);
    v.mode = "no-memory";
    r = open_variant(&v, words, &e);
    NOT_NULL(r);
    assert_int_equal(r->is->forward(r, &q, logits, &e), LRA_FAILED);
    assert_string_equal(e.msg,
                        "the model is out of memory at 'forward' with one row: out of memory at "
                        "batch 1");
    lra_responder_close(r);
    for (int i = 0; i < 3; i++) lra_free(words[i]);
}

static char *read_bytes(const char *path, size_t *n)
{
    lra_err e;
    char *bytes = lra_file_read(path, 1 << 30, n, &e);
    NOT_NULL(bytes);
    return bytes;
}

/* The recording does not depend on the number of processes, and gives the same results as the
 * model. */
TEST(recording)
{
    static answers one, three, again;
    size_t n1, n3, n4;
    char *file1 = lra_format("%s/one.lrax", folder), *file3 = lra_format("%s/three.lrax", folder);
    char *file4 = lra_format("%s/again.lrax", folder);
    ask_variant(&(variant){.towers = 1, .processes = 1, .batch = 2, .record = file1}, &one);
    ask_variant(&(variant){.towers = 1, .processes = 3, .batch = 2, .record = file3}, &three);
    ask_variant(&(variant){.mode = "silent",
                           .towers = 1,
                           .processes = 1,
                           .batch = 2,
                           .replay = file1,
                           .record = file4},
                &again);
    assert_memory_equal(&three, &one, sizeof one);
    assert_memory_equal(&again, &one, sizeof one);
    char *a = read_bytes(file1, &n1), *b = read_bytes(file3, &n3), *c = read_bytes(file4, &n4);
    assert_int_equal(n1, n3);
    assert_memory_equal(a, b, n1);
    assert_int_equal(n1, n4);
    assert_memory_equal(a, c, n1);
    lra_free_large(a);
    lra_free_large(b);
    lra_free_large(c);

    /* A request that differs from the recorded one fails, and the message names it. */
    lra_err e = {{0}};
    char *words[3] = {NULL};
    float logits[B * C];
    variant v = {.towers = 1, .processes = 1, .batch = 2, .replay = file1};
    lra_responder *r = open_variant(&v, words, &e);
    NOT_NULL(r);
    lra_request q = a_request(false, 1, false);
    token[0] ^= 1;
    assert_int_not_equal(r->is->forward(r, &q, logits, &e), 0);
    assert_non_null(strstr(e.msg, "request 'forward' (id 1) differs from the one in"));
    lra_responder_close(r);
    for (int i = 0; i < 3; i++) lra_free(words[i]);
    remove(file1), remove(file3), remove(file4);
    lra_free(file1), lra_free(file3), lra_free(file4);
}

/* Attention maps and kernels of wrong shapes or values are rejected with a one-line message. */
TEST(wrong_maps_and_kernels)
{
    static const struct {
        const char *mode, *message;
    } wrong[] = {{"maps-shape", "'attn' has the shape (3,2,4,"},
                 {"kernels-nan", "'kernel' is nan in channel 0 at lag 1"}};
    for (int i = 0; i < 2; i++) {
        lra_err e = {{0}};
        char *words[3] = {NULL};
        variant v = {.mode = wrong[i].mode, .towers = 1, .processes = 1, .batch = 3};
        lra_responder *r = open_variant(&v, words, &e);
        NOT_NULL(r);
        lra_request q = a_request(false, 1, false);
        lra_answer a;
        lra_kernels_answer k;
        int rc = i == 0 ? r->is->attention(r, &q, "conv", 0, 4, &a, &e)
                        : r->is->kernels(r, "conv", LAGS, &k, &e);
        assert_int_equal(rc, LRA_FAILED);
        if (!strstr(e.msg, wrong[i].message)) fail_msg("%s", e.msg);
        lra_responder_close(r);
        for (int j = 0; j < 3; j++) lra_free(words[j]);
    }
}

/* Without `width` and `features` gradients cannot be requested; the message names the missing
 * operations. */
TEST(missing_ops)
{
    lra_err e = {{0}};
    char *words[3] = {NULL};
    float grad[B * DRAWS * T];
    variant v = {.mode = "no-vjp", .towers = 1, .processes = 1, .batch = 8};
    lra_responder *r = open_variant(&v, words, &e);
    NOT_NULL(r);
    lra_request q = a_request(false, 1, false);
    assert_int_equal(r->is->vjp(r, &q, NULL, position, DRAWS, cotangent, grad, &e), LRA_ABSENT);
    assert_string_equal(e.msg, "the model does not answer 'vjp'");
    OK(lra_process_responder_end(r, &e));
    for (int i = 0; i < 3; i++) lra_free(words[i]);
}
