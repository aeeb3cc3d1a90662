/* Frames of LRAX/1: golden bytes, limits, and a message for every error. */
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/audit/frame.h"
#include "tests/fixtures/test.h"

/* Passes the bytes to a reader in portions of `step` bytes; returns the first error code, or 0. */
static int feed(lra_frame_reader *r, const char *bytes, size_t n, size_t step, bool *complete,
                lra_err *e)
{
    *complete = false;
    for (size_t at = 0; at < n && !*complete;) {
        void *to;
        size_t room = lra_frame_room(r, &to), k = room < step ? room : step;
        if (k > n - at) k = n - at;
        memcpy(to, bytes + at, k);
        at += k;
        if (lra_frame_took(r, k, complete, e) != 0) return LRA_FAILED;
    }
    return 0;
}

static char *a_frame(const char *op, size_t *n)
{
    static const int32_t length[2] = {3, 5};
    static const float value[4] = {1, 2, 3, 4};
    lra_safetensor t[2] = {
        {"length", {.dtype = LRA_DTYPE_I32, .rank = 1, .dims = {2}, .bytes = length}},
        {"logits", {.dtype = LRA_DTYPE_F32, .rank = 2, .dims = {2, 2}, .bytes = value}}};
    lra_err e;
    return lra_frame_write(op, 7, NULL, 2, t, n, &e);
}

/* The bytes of a small frame, written by hand. */
TEST(golden)
{
    lra_err e;
    size_t n;
    static const char head[] = "LRAX\1\0\0\0\60\0\0\0\0\0\0\0\50\0\0\0\0\0\0\0"
                               "{\"__metadata__\":{\"id\":\"3\",\"op\":\"bye\"}}  ";
    char *frame = lra_frame_write("bye", 3, NULL, 0, NULL, &n, &e);
    NOT_NULL(frame);
    assert_int_equal(n, sizeof head - 1);
    assert_memory_equal(frame, head, n);
    lra_free_large(frame);
}

TEST(round_trip_in_all_portions)
{
    lra_err e;
    size_t n;
    char *frame = a_frame("result", &n);
    NOT_NULL(frame);
    for (size_t step = 1; step <= n; step++) {
        lra_frame_reader r;
        lra_message m;
        bool complete;
        float value[4];
        lra_frame_reader_init(&r, "model", NULL);
        OK(feed(&r, frame, n, step, &complete, &e));
        assert_true(complete);
        OK(lra_frame_message(&r, &m, &e));
        assert_true(lra_frame_reader_empty(&r));
        assert_string_equal(m.op, "result");
        assert_int_equal(m.id, 7);
        OK(lra_message_floats(&m, "logits", 2, (int64_t[]){2, 2}, value, &e));
        assert_true(value[3] == 4);
        assert_non_null(lra_message_array(&m, "length", LRA_DTYPE_I32, 1, (int64_t[]){-1}, &e));
        lra_message_free(&m);
        lra_frame_reader_free(&r);
    }
    lra_free_large(frame);
}

/* Checks the message of a reader for a frame of which one part was changed. */
static void refuse(size_t at, const char *bytes, size_t n_bytes, const char *said)
{
    lra_err e = {{0}};
    size_t n;
    bool complete;
    lra_frame_reader r;
    lra_message m = {.id = -1};
    char *frame = a_frame("result", &n);
    memcpy(frame + at, bytes, n_bytes);
    lra_frame_reader_init(&r, "model", NULL);
    int rc = feed(&r, frame, n, n, &complete, &e);
    if (rc == 0 && complete) rc = lra_frame_message(&r, &m, &e);
    assert_int_equal(rc, LRA_FAILED);
    if (!strstr(e.msg, said)) fail_msg("'%s' without '%s'", e.msg, said);
    lra_message_free(&m);
    lra_frame_reader_free(&r);
    lra_free_large(frame);
}

TEST(failures_have_messages)
{
    refuse(0, "Load", 4, "model wrote text to stdout: 'Load");
    refuse(3, "x", 1, "wrote text to stdout: 'LRAx");
    refuse(4, "\2", 1, "LRAX version 2, expected 1");
    refuse(6, "\1", 1, "flags 1, expected 0");
    refuse(8, "\0\0\0\0\0\0\1\0", 8, "256.0 TiB, at most 4.0 GiB are accepted (--max-frame)");
    refuse(8, "\7\0\0\0\0\0\0\0", 8, "a frame of 7 bytes, a message has at least 8");
    refuse(16, "\0\0\40\0\0\0\0\0", 8, "a header of 2097152 bytes, at most 1048576");
    refuse(16, "\0\0\2\0\0\0\0\0", 8, "no complete safetensors");
    refuse(24, "[", 1, "does not start with '{'");
}

static void refuse_meta(const char *header, const char *said)
{
    lra_err e = {{0}};
    lra_message m;
    lra_text t = {0};
    const char length[8] = {(char)strlen(header)};
    lra_text_bytes(&t, length, 8);
    lra_text_add(&t, "%s", header);
    assert_int_equal(lra_message_parse(t.s, t.n, "model", NULL, &m, &e), LRA_FAILED);
    if (!strstr(e.msg, said)) fail_msg("'%s' without '%s'", e.msg, said);
    lra_message_free(&m);
    lra_text_free(&t);
}

TEST(messages_need_op_and_id)
{
    refuse_meta("{}", "without 'op'");
    refuse_meta("{\"__metadata__\":{\"op\":\"result\"}}", "'result' without 'id'");
    refuse_meta("{\"__metadata__\":{\"op\":\"result\",\"id\":\"x\"}}", "with id 'x'");
    refuse_meta("{\"__metadata__\":{\"op\":\"result\",\"id\":\"-1\"}}", "with id '-1'");
    refuse_meta("{\"__metadata__\":{\"op\":\"result\",\"id\":\"01\"}}", "with id '01'");
    refuse_meta("{\"__metadata__\":{\"op\":\"result\",\"id\":\"99999999999999999999\"}}",
                "with id");
    refuse_meta("{\"__metadata__\":{\"op\":3}}", "is not text");
}

TEST(too_many_arrays)
{
    lra_err e = {{0}};
    lra_safetensor t[LRA_FRAME_TENSORS + 1];
    char name[LRA_FRAME_TENSORS + 1][16];
    lra_message m;
    size_t n;
    for (int i = 0; i <= LRA_FRAME_TENSORS; i++) {
        snprintf(name[i], sizeof name[i], "a%d", i);
        t[i] = (lra_safetensor){name[i], {.dtype = LRA_DTYPE_U8, .rank = 1, .dims = {0}}};
    }
    char *frame = lra_frame_write("result", 1, NULL, LRA_FRAME_TENSORS + 1, t, &n, &e);
    NOT_NULL(frame);
    assert_int_equal(
        lra_message_parse(frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, "model", NULL, &m, &e),
        LRA_FAILED);
    assert_non_null(strstr(e.msg, "with 65 arrays, at most 64"));
    lra_message_free(&m);
    lra_free_large(frame);
}

TEST(arrays_are_checked)
{
    lra_err e = {{0}};
    lra_message m;
    size_t n;
    float value[4];
    char *frame = a_frame("result", &n);
    OK(lra_message_parse(frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, "model", NULL, &m, &e));
    assert_int_not_equal(lra_message_floats(&m, "logits", 2, (int64_t[]){2, 3}, value, &e), 0);
    assert_string_equal(e.msg, "'logits' is F32 (2,2), expected F32 (2,3)");
    assert_int_not_equal(lra_message_floats(&m, "features", 1, (int64_t[]){2}, value, &e), 0);
    assert_string_equal(e.msg, "'result' has no array 'features'");
    assert_int_not_equal(lra_message_floats(&m, "length", 1, (int64_t[]){2}, value, &e), 0);
    assert_string_equal(e.msg, "'length' is I32, expected F32, F64, F16 or BF16");
    assert_null(lra_message_array(&m, "logits", LRA_DTYPE_I32, 2, (int64_t[]){-1, -1}, &e));
    assert_string_equal(e.msg, "'logits' is F32, expected I32");
    lra_message_free(&m);
    lra_free_large(frame);
}

/* Metadata that are not valid UTF-8 are rejected with a message. */
TEST(metadata_must_be_text)
{
    lra_err e = {{0}};
    size_t n;
    lra_config *meta = lra_config_new();
    lra_config_set(meta, "text", "\xff");
    assert_null(lra_frame_write("error", 1, meta, 0, NULL, &n, &e));
    assert_non_null(strstr(e.msg, "not UTF-8"));
    lra_config_free(meta);
}
