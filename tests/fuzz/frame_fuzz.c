/* Arbitrary bytes on the model's stdout, read as LRAX/1 frames. A message that is accepted remains
 * the same when it is written and read again. */
#include "probes/audit/frame.h"
#include "tests/fuzz/fuzz.h"

static void add_frame(lra_text *to, const char *op, int64_t id, const char *key, const char *value,
                      int n)
{
    static const float number[6] = {1, 2, 3, 4, 5, 6};
    static const int32_t length[2] = {3, 2};
    lra_safetensor t[2] = {
        {"logits", {.dtype = LRA_DTYPE_F32, .rank = 2, .dims = {2, 3}, .bytes = number}},
        {"length", {.dtype = LRA_DTYPE_I32, .rank = 1, .dims = {2}, .bytes = length}}};
    lra_err e;
    size_t bytes;
    lra_config *meta = lra_config_new();
    if (key) lra_config_set(meta, key, value);
    char *frame = lra_frame_write(op, id, meta, n, t, &bytes, &e);
    if (!frame) LRA_BUG("%s", e.msg);
    lra_text_bytes(to, frame, bytes);
    lra_free_large(frame);
    lra_config_free(meta);
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    switch (i) {
    case 0: add_frame(to, "result", 12, NULL, NULL, 2); return true;
    case 1: add_frame(to, "error", 3, "text", "out of memory", 0); return true;
    case 2:
        add_frame(to, "ready", 0, "layers", "layer0 layer1", 0);
        add_frame(to, "result", 1, NULL, NULL, 1);
        return true;
    case 3: lra_text_add(to, "LRAX-like text\n"); return true;
    case 4: lra_text_add(to, "Loading checkpoint\n"); return true;
    default: return false;
    }
}

static void check_message(const lra_message *m)
{
    lra_err e = {{0}};
    lra_message again;
    size_t n;
    if (m->id < 0 || !m->op) LRA_BUG("a message without op or id");
    char *frame = lra_frame_write(m->op, m->id, m->t.meta, m->t.n, m->t.tensor, &n, &e);
    if (!frame) LRA_BUG("%s", e.msg);
    if (lra_message_parse(frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, "x", NULL, &again, &e) != 0)
        LRA_BUG("%s", e.msg);
    if (again.t.n != m->t.n || again.id != m->id) LRA_BUG("a message changes when it is written");
    lra_message_free(&again);
    lra_free_large(frame);
}

/* The bytes arrive in portions of 1, 2, 3, ... bytes, as they may from a pipe. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_frame_reader r;
    const lra_frame_limits limits = {1 << 16, 1 << 12, 8};
    lra_frame_reader_init(&r, "model", &limits);
    int rc = 0;
    for (size_t at = 0, step = 1; at < n && rc == 0; step++) {
        bool complete;
        void *to;
        size_t room = lra_frame_room(&r, &to), k = room < step ? room : step;
        if (k > n - at) k = n - at;
        memcpy(to, data + at, k);
        at += k;
        rc = lra_frame_took(&r, k, &complete, &e);
        if (rc != 0 || !complete) continue;
        lra_message m;
        rc = lra_frame_message(&r, &m, &e);
        if (rc == 0) check_message(&m);
        lra_message_free(&m);
    }
    if (rc != 0) lra_fuzz_check_message(&e);
    lra_frame_reader_free(&r);
    return 0;
}
