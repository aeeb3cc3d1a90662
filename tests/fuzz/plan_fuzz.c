/* Offline audits: plan.json and answers of arbitrary bytes. An input is the size of the plan (two
 * bytes, little-endian), the plan, and the answer to its first request. They are accepted or
 * rejected with a message; an accepted plan remains the same when it is saved and opened again. */
#include <stdio.h>
#include <unistd.h>

#include "kernels/base/os/file.h"
#include "probes/audit/offline.h"
#include "tests/fuzz/fuzz.h"

static char folder[64], plan_path[96];

static void must(int rc, const lra_err *e)
{
    if (rc != 0) LRA_BUG("%s", e->msg);
}

static void make_folder(void)
{
    lra_err e;
    if (*folder) return;
    bool fast = lra_is_folder("/dev/shm") && access("/dev/shm", W_OK) == 0;
    snprintf(folder, sizeof folder, "%s/lra-plan-%ld", fast ? "/dev/shm" : "/tmp", (long)getpid());
    snprintf(plan_path, sizeof plan_path, "%s/plan.json", folder);
    must(lra_folder_make(folder, &e), &e);
}

/* Settings of the audit; the caller frees them. */
static lra_config *settings(void)
{
    lra_config *c = lra_config_new();
    lra_config_set(c, "task", "listops");
    lra_config_set(c, "parts", "keep,jacobian");
    return c;
}

/* Returns the frame of `hello`, n bytes; the caller frees it with lra_free_large(). */
static char *hello(size_t *n)
{
    lra_err e;
    lra_config *meta = lra_config_new();
    lra_config_set(meta, "task", "listops");
    char *frame = lra_frame_write("hello", 0, meta, 0, NULL, n, &e);
    if (!frame) LRA_BUG("%s", e.msg);
    lra_config_free(meta);
    return frame;
}

/* Makes the request `hello`. Returns the result of lra_offline_answer(). */
static int ask(lra_offline *o, lra_offline_mode mode, lra_err *e)
{
    lra_model_exchange x = {.op = "hello", .slot = -1};
    char *frame = hello(&x.n);
    x.frame = frame;
    lra_offline_begin(o, mode);
    int rc = lra_offline_answer(o, &x, 1, e);
    const lra_offline_count count = lra_offline_counted(o);
    if (count.requests != 1 || count.missing > 1) LRA_BUG("one request was not counted");
    lra_message_free(&x.answer);
    lra_free_large(frame);
    return rc;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    lra_err e;
    must(lra_file_write(path, bytes, n, &e), &e);
}

static void clean(void)
{
    char *request = lra_offline_path(folder, "request", 1);
    char *result = lra_offline_path(folder, "result", 1);
    remove(plan_path);
    remove(request);
    remove(result);
    lra_free(request);
    lra_free(result);
}

static void add_plan(lra_text *to)
{
    lra_err e;
    size_t n;
    lra_config *c = settings();
    clean();
    lra_offline *o = lra_offline_open(folder, c, true, &e);
    if (!o) LRA_BUG("%s", e.msg);
    must(ask(o, LRA_OFFLINE_WRITE, &e), &e);
    must(lra_offline_save(o, &e), &e);
    lra_offline_close(o);
    lra_config_free(c);
    char *text = lra_file_read(plan_path, 1 << 16, &n, &e);
    if (!text) LRA_BUG("%s", e.msg);
    const char size[2] = {(char)(n & 255), (char)(n >> 8)};
    lra_text_bytes(to, size, 2);
    lra_text_bytes(to, text, n);
    lra_free_large(text);
}

static void add_answer(lra_text *to, const char *op, int64_t id, const char *key, const char *value)
{
    lra_err e;
    size_t n;
    lra_config *meta = lra_config_new();
    lra_config_set(meta, key, value);
    char *frame = lra_frame_write(op, id, meta, 0, NULL, &n, &e);
    if (!frame) LRA_BUG("%s", e.msg);
    lra_text_bytes(to, frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD);
    lra_free_large(frame);
    lra_config_free(meta);
}

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const struct {
        const char *op;
        int64_t id;
        const char *key, *value;
    } answers[] = {{"ready", 1, "ops", "forward vjp"},
                   {"ready", 1, "weights", "17.25"},
                   {"error", 1, "text", "out of memory"},
                   {"ready", 2, "plan", "0123456789abcdef"},
                   {"result", 1, "weights", "another"}};
    if (i >= (int)(sizeof answers / sizeof *answers)) return false;
    make_folder();
    add_plan(to);
    add_answer(to, answers[i].op, answers[i].id, answers[i].key, answers[i].value);
    clean();
    return true;
}

static void use_plan(lra_offline *o, const lra_config *c)
{
    lra_err e = {{0}};
    if (ask(o, LRA_OFFLINE_READ, &e) != 0) lra_fuzz_check_message(&e);
    must(lra_offline_save(o, &e), &e);
    lra_offline *again = lra_offline_open(folder, c, false, &e);
    if (!again) LRA_BUG("a saved plan is refused: %s", e.msg);
    lra_offline_close(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    if (n < 2) return 0;
    size_t size = (size_t)data[0] | (size_t)data[1] << 8;
    if (size > n - 2) size = n - 2;
    make_folder();
    lra_config *c = settings();
    char *result = lra_offline_path(folder, "result", 1);
    write_file(plan_path, data + 2, size);
    lra_offline *o = lra_offline_open(folder, c, false, &e);
    if (!o) {
        lra_fuzz_check_message(&e);
    } else {
        write_file(result, data + 2 + size, n - 2 - size);
        use_plan(o, c);
    }
    lra_offline_close(o);
    lra_config_free(c);
    lra_free(result);
    clean();
    return 0;
}
