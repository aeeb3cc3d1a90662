/* Writes and reads recordings of frames. */
#include "probes/audit/recording.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

/* ---- writing --------------------------------------------------------------------------------- */

struct lra_recorder {
    lra_file *file;
    char *path;
};

lra_recorder *lra_recorder_create(const char *path, lra_err *e)
{
    lra_file *file = lra_file_create(path, e);
    if (!file) return NULL;
    lra_recorder *r = lra_alloc(sizeof *r);
    *r = (lra_recorder){file, lra_copy_text(path)};
    return r;
}

int lra_recorder_add(lra_recorder *r, const lra_model_exchange *x, int n, lra_err *e)
{
    FILE *f = lra_file_stream(r->file);
    bool ok = true;
    for (int i = 0; i < n && ok; i++) {
        ok = fwrite(x[i].frame, 1, x[i].n, f) == x[i].n;
        if (!ok || !x[i].answer.op) continue;
        unsigned char head[LRA_FRAME_HEAD];
        lra_frame_head(head, x[i].answer.n);
        ok = fwrite(head, 1, sizeof head, f) == sizeof head &&
             fwrite(x[i].answer.payload, 1, x[i].answer.n, f) == x[i].answer.n;
    }
    return ok ? 0 : lra_fail_errno(e, "cannot write '%s'", r->path);
}

int lra_recorder_close(lra_recorder *r, lra_err *e)
{
    if (!r) return 0;
    int rc = lra_file_commit(r->file, e);
    lra_free(r->path);
    lra_free(r);
    return rc;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct {
    int64_t id;
    const char *frame, *answer; /* complete frames, including heads; NULL: not recorded */
    size_t n_frame, n_answer;
} recorded;

struct lra_replay {
    char *bytes, *path;
    recorded *list;
    int n, capacity;
};

static const char *next_frame(const char *at, const char *end, const char *path, size_t *n,
                              lra_err *e)
{
    lra_frame_reader head;
    bool complete;
    lra_frame_reader_init(&head, "recording", NULL);
    size_t have = (size_t)(end - at);
    void *to;
    size_t room = lra_frame_room(&head, &to);
    if (have < room) {
        lra_fail(e, "'%s' ends inside a frame", path);
        return NULL;
    }
    memcpy(to, at, room);
    int rc = lra_frame_took(&head, room, &complete, e);
    uint64_t payload = head.n;
    lra_frame_reader_free(&head);
    if (rc != 0) {
        lra_fail_in(e, "'%s'", path);
        return NULL;
    }
    if (payload > have - LRA_FRAME_HEAD) {
        lra_fail(e, "'%s' ends inside a frame", path);
        return NULL;
    }
    *n = LRA_FRAME_HEAD + (size_t)payload;
    return at;
}

static int parse(lra_replay *r, size_t total, lra_err *e)
{
    const char *end = r->bytes + total;
    size_t n = 0;
    for (const char *at = r->bytes; at < end; at += n) {
        lra_message m;
        if (!next_frame(at, end, r->path, &n, e)) return LRA_FAILED;
        int rc = lra_message_parse(at + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, "recording", NULL, &m,
                                   e);
        bool answer = rc == 0 && (strcmp(m.op, "ready") == 0 || strcmp(m.op, "result") == 0 ||
                                  strcmp(m.op, "error") == 0);
        int64_t id = m.id;
        lra_message_free(&m);
        if (rc != 0) return lra_fail_in(e, "'%s'", r->path);
        recorded *last = r->n ? &r->list[r->n - 1] : NULL;
        if (answer) {
            if (!last || last->id != id || last->answer)
                return lra_fail(e, "'%s' holds an answer with id %lld without its request", r->path,
                                (long long)id);
            last->answer = at, last->n_answer = n;
            continue;
        }
        if (r->n == r->capacity) {
            r->capacity = 2 * r->capacity + 16;
            r->list = lra_resize(r->list, (size_t)r->capacity * sizeof *r->list);
        }
        r->list[r->n++] = (recorded){id, at, NULL, n, 0};
    }
    return 0;
}

lra_replay *lra_replay_open(const char *path, lra_err *e)
{
    size_t n;
    char *bytes = lra_file_read(path, (size_t)1 << 40, &n, e);
    if (!bytes) return NULL;
    lra_replay *r = lra_alloc(sizeof *r);
    *r = (lra_replay){.bytes = bytes, .path = lra_copy_text(path)};
    if (parse(r, n, e) == 0) return r;
    lra_replay_close(r);
    return NULL;
}

static const recorded *find(const lra_replay *r, int64_t id)
{
    /* Ids count from 0, so that entry `id` usually has this id: the search begins there. */
    for (int i = 0; i < r->n; i++)
        if (r->list[(i + id) % r->n].id == id) return &r->list[(i + id) % r->n];
    return NULL;
}

int lra_replay_answer(lra_replay *r, lra_model_exchange *x, int n, lra_err *e)
{
    for (int i = 0; i < n; i++) {
        const recorded *is = find(r, x[i].id);
        if (!is || !is->answer)
            return lra_fail(e,
                            "'%s' has no answer to request '%s' (id %lld): the recording ends "
                            "before it, or options differ",
                            r->path, x[i].op, (long long)x[i].id);
        if (is->n_frame != x[i].n || memcmp(is->frame, x[i].frame, x[i].n) != 0)
            return lra_fail(e,
                            "request '%s' (id %lld) differs from the one in '%s': it was "
                            "recorded with other options, data or version",
                            x[i].op, (long long)x[i].id, r->path);
        lra_message_free(&x[i].answer);
        if (lra_message_parse(is->answer + LRA_FRAME_HEAD, is->n_answer - LRA_FRAME_HEAD, "model",
                              NULL, &x[i].answer, e) != 0)
            return LRA_FAILED;
    }
    return 0;
}

void lra_replay_close(lra_replay *r)
{
    if (!r) return;
    lra_free_large(r->bytes);
    lra_free(r->path);
    lra_free(r->list);
    lra_free(r);
}
