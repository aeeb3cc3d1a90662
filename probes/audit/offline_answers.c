/* Answers the requests of a plan by a program (offline.h). */
#include <inttypes.h>
#include <string.h>

#include "kernels/base/cli/progress.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/signals.h"
#include "probes/audit/offline.h"

typedef struct {
    const char *folder;
    lra_model_process *process[LRA_MODEL_MOST_PROCESSES];
    int copies;
    /* n: number of requests; seed: (copies) seed of the initial weights in use, -1: trained */
    int64_t n, *seed;
    int64_t id; /* id of the next reset or restore, which are not requests of the plan */
} work;

static int write_answer(const work *w, int64_t k, const char *plan, const lra_message *m,
                        lra_err *e)
{
    size_t n;
    lra_config *meta = lra_config_copy(m->t.meta);
    if (plan) lra_config_set(meta, "plan", plan);
    char *frame = lra_frame_write(m->op, k, meta, m->t.n, m->t.tensor, &n, e);
    char *path = lra_offline_path(w->folder, "result", k);
    int rc = frame ? lra_file_write(path, frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, e)
                   : LRA_FAILED;
    lra_free(path);
    lra_free_large(frame);
    lra_config_free(meta);
    return rc;
}

/* Stores an answer. The errors `unsupported` and `out_of_memory` are stored as answers; any other
 * error of the model fails. */
static int keep_answer(const work *w, int64_t k, const lra_message *q, const lra_message *m,
                       lra_err *e)
{
    const char *code = lra_message_text(m, "code"), *text = lra_message_text(m, "text");
    bool error = strcmp(m->op, "error") == 0;
    if (error && code && strcmp(code, "unsupported") != 0 && strcmp(code, "out_of_memory") != 0)
        return lra_fail(e, "the model failed at '%s' (request %" PRId64 "): %.300s", q->op, k,
                        text ? text : code);
    return write_answer(w, k, lra_message_text(q, "plan"), m, e);
}

/* Sends one request to copy `slot`; answer: to be freed, also after a failure. */
static int ask(work *w, const lra_message *q, int slot, lra_message *answer, lra_err *e)
{
    lra_model_exchange x = {.op = q->op, .id = q->id, .slot = 0};
    char *frame = lra_frame_write(q->op, q->id, q->t.meta, q->t.n, q->t.tensor, &x.n, e);
    x.frame = frame;
    int rc = frame ? lra_model_exchange_all(&w->process[slot], 1, &x, 1, e) : LRA_FAILED;
    lra_free_large(frame);
    *answer = x.answer;
    return rc;
}

/* Gives copy `slot` the weights of a request: trained, or initial weights of its key `reset`. */
static int set_weights(work *w, const lra_message *q, int slot, lra_err *e)
{
    int64_t seed = -1;
    if (lra_message_text(q, "reset") && lra_message_int(q, "reset", 0, INT64_MAX, &seed, e) != 0)
        return LRA_FAILED;
    if (seed == w->seed[slot]) return 0;
    lra_message m = {.op = seed < 0 ? "restore" : "reset", .id = w->id++}, answer;
    m.t.meta = lra_config_new();
    if (seed >= 0) lra_config_set_int(m.t.meta, "seed", seed);
    int rc = ask(w, &m, slot, &answer, e);
    if (rc == 0 && strcmp(answer.op, "error") == 0)
        rc = lra_fail(e, "the model does not answer '%s'", m.op);
    lra_config_free(m.t.meta);
    lra_message_free(&answer);
    if (rc == 0) w->seed[slot] = seed;
    return rc;
}

/* Sends `hello` to a new copy, and stores its answer or compares it with the stored one. */
static int greet(work *w, int slot, const lra_message *hello, int64_t *answered, lra_err *e)
{
    lra_message ready = {.id = -1}, stored = {.id = -1};
    char *path = lra_offline_path(w->folder, "result", 1);
    int rc = ask(w, hello, slot, &ready, e);
    if (rc == 0 && strcmp(ready.op, "error") == 0)
        rc = lra_fail(e, "the model refused the task: %.300s",
                      lra_message_text(&ready, "text") ? lra_message_text(&ready, "text") : "");
    if (rc == 0 && !lra_file_exists(path)) {
        rc = write_answer(w, 1, lra_message_text(hello, "plan"), &ready, e);
        *answered += rc == 0;
    } else if (rc == 0) {
        rc = lra_offline_read(path, &stored, e);
        const char *is = rc == 0 ? lra_message_text(&ready, "weights") : NULL;
        const char *was = rc == 0 ? lra_message_text(&stored, "weights") : NULL;
        if (rc == 0 && strcmp(is ? is : "", was ? was : "") != 0)
            rc = lra_fail(e, "the model has the weights '%.80s', '%s' has '%.80s'", is ? is : "",
                          path, was ? was : "");
    }
    lra_free(path);
    lra_message_free(&ready);
    lra_message_free(&stored);
    return rc;
}

/* Answers the next requests without an answer, at most one for each copy, at the same time. *k: the
 * first request to look at, advanced past those that were handled. */
static int answer_round(work *w, int64_t *k, int64_t *answered, lra_err *e)
{
    lra_message q[LRA_MODEL_MOST_PROCESSES];
    lra_model_exchange x[LRA_MODEL_MOST_PROCESSES];
    int64_t number[LRA_MODEL_MOST_PROCESSES];
    int n = 0, rc = 0;
    for (; *k <= w->n && n < w->copies && rc == 0; ++*k) {
        char *result = lra_offline_path(w->folder, "result", *k);
        bool there = lra_file_exists(result);
        lra_free(result);
        if (there) continue;
        char *path = lra_offline_path(w->folder, "request", *k);
        x[n] = (lra_model_exchange){.slot = n};
        number[n] = *k;
        rc = lra_offline_read(path, &q[n++], e);
        lra_free(path);
        lra_message *last = &q[n - 1];
        if (rc == 0) rc = set_weights(w, last, n - 1, e);
        x[n - 1].op = last->op, x[n - 1].id = last->id;
        if (rc == 0)
            x[n - 1].frame = lra_frame_write(last->op, last->id, last->t.meta, last->t.n,
                                             last->t.tensor, &x[n - 1].n, e);
        if (rc == 0 && !x[n - 1].frame) rc = LRA_FAILED;
    }
    if (rc == 0 && n > 0) rc = lra_model_exchange_all(w->process, w->copies, x, n, e);
    for (int i = 0; i < n; i++) {
        if (rc == 0) rc = keep_answer(w, number[i], &q[i], &x[i].answer, e);
        *answered += rc == 0;
        lra_message_free(&x[i].answer);
        lra_free_large((char *)(uintptr_t)x[i].frame);
        lra_message_free(&q[i]);
    }
    return rc;
}

/* Returns the number of the last request file. */
static int64_t count_requests(const char *folder, lra_err *e)
{
    char **names, *path = lra_format("%s/request", folder);
    int n = lra_folder_list(path, &names, e);
    int64_t most = 0, k;
    for (int i = 0; i < n; i++)
        if (sscanf(names[i], "%" SCNd64 ".safetensors", &k) == 1 && k > most) most = k;
    if (n >= 0) lra_names_free(names, n);
    if (n >= 0 && most == 0)
        lra_fail(e, "'%s' contains no requests; 'lra-probe audit --plan %s ...' writes them", path,
                 folder);
    lra_free(path);
    return most;
}

static int answer_all(work *w, const lra_model_command *command, int64_t *answered, lra_err *e)
{
    lra_message hello;
    char *path = lra_offline_path(w->folder, "request", 1);
    int rc = lra_offline_read(path, &hello, e);
    w->id = w->n + 1;
    for (int i = 0; i < w->copies && rc == 0; i++) {
        w->process[i] = lra_model_process_start(command, i, w->copies, e);
        rc = w->process[i] ? greet(w, i, &hello, answered, e) : LRA_FAILED;
    }
    lra_progress *bar = rc == 0 ? lra_progress_new("answers", (double)w->n) : NULL;
    for (int64_t k = 2; k <= w->n && rc == 0;) {
        rc = answer_round(w, &k, answered, e);
        lra_progress_at(bar, (double)k, NULL);
        if (rc == 0 && lra_stop_signal()) rc = lra_fail(e, "stopped");
    }
    lra_progress_free(bar);
    lra_message_free(&hello);
    lra_free(path);
    return rc;
}

int lra_offline_answer_all(const char *folder, const lra_model_command *command, int copies,
                           int64_t *answered, lra_err *e)
{
    work w = {.folder = folder, .copies = copies};
    *answered = 0;
    w.n = count_requests(folder, e);
    if (w.n == 0) return LRA_FAILED;
    w.seed = lra_alloc_array((size_t)copies, sizeof *w.seed);
    for (int i = 0; i < copies; i++) w.seed[i] = -1;
    int rc = answer_all(&w, command, answered, e);
    for (int i = 0; i < copies && w.process[i]; i++)
        if (rc == 0)
            lra_model_process_bye(w.process[i], w.id);
        else
            lra_model_process_free(w.process[i]);
    lra_free(w.seed);
    return rc;
}
