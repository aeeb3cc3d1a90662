/* Requests and answers in files (offline.h). */
#include "probes/audit/offline.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

enum { BUCKETS = 1 << 14 };

typedef struct {
    uint64_t hash; /* hash of the request's frame with its id set to 0 */
    int next;      /* next entry of the same bucket; -1: none */
    bool used;     /* true: this pass has already made the request */
} entry;

struct lra_offline {
    /* weights: identification that the answer to `hello` states, NULL before; plan: hash of the
     * settings */
    char *folder, *weights, plan[17];
    lra_config *settings;
    entry *list; /* request number k is list[k - 1] */
    int n, capacity, bucket[BUCKETS];
    lra_offline_mode mode;
    lra_offline_count count;
    lra_err broken;
};

char *lra_offline_path(const char *folder, const char *kind, int64_t k)
{
    return lra_format("%s/%s/%06" PRId64 ".safetensors", folder, kind, k);
}

int lra_offline_read(const char *path, lra_message *m, lra_err *e)
{
    size_t n;
    *m = (lra_message){.id = -1};
    char *bytes = lra_file_read(path, (size_t)lra_frame_default_limits.payload, &n, e);
    if (!bytes) return LRA_FAILED;
    int rc = lra_message_parse(bytes, n, "file", NULL, m, e);
    m->t.image = bytes;
    return rc == 0 ? 0 : lra_fail_in(e, "'%s'", path);
}

/* ---- the list of requests -------------------------------------------------------------------- */

static int add_entry(lra_offline *o, uint64_t hash)
{
    if (o->n == o->capacity) {
        o->capacity = 2 * o->capacity + 64;
        o->list = lra_resize(o->list, (size_t)o->capacity * sizeof *o->list);
    }
    o->list[o->n] = (entry){hash, -1, false};
    /* new entries go to the end of the bucket's list, so that equal requests are found in order */
    int *at = &o->bucket[hash % BUCKETS];
    while (*at >= 0) at = &o->list[*at].next;
    return *at = o->n++;
}

/* Returns the first unused request with this hash; -1: none. */
static int find_entry(const lra_offline *o, uint64_t hash)
{
    int k = o->bucket[hash % BUCKETS];
    while (k >= 0 && (o->list[k].used || o->list[k].hash != hash)) k = o->list[k].next;
    return k;
}

/* ---- plan.json ------------------------------------------------------------------------------- */

int lra_offline_save(const lra_offline *o, lra_err *e)
{
    json_t *settings = json_object(), *requests = json_array();
    for (int i = 0; lra_config_key(o->settings, i); i++)
        json_object_set_new(settings, lra_config_key(o->settings, i),
                            json_string(lra_config_value(o->settings, i)));
    for (int i = 0; i < o->n; i++) {
        char hash[17];
        snprintf(hash, sizeof hash, "%016" PRIx64, o->list[i].hash);
        json_array_append_new(requests, json_string(hash));
    }
    json_t *root = json_pack("{s:i, s:s, s:i, s:o, s:o}", "version", 1, "plan", o->plan, "count",
                             o->n, "settings", settings, "requests", requests);
    char *text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    char *path = lra_format("%s/plan.json", o->folder);
    int rc = text ? lra_file_write(path, text, strlen(text), e)
                  : lra_fail(e, "a setting of the audit is no valid UTF-8");
    lra_free(path);
    free(text);
    return rc;
}

static int read_requests(lra_offline *o, const json_t *list, const char *path, lra_err *e)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *hex = json_string_value(json_array_get(list, i));
        uint64_t hash;
        char more;
        if (!hex || strlen(hex) != 16 || sscanf(hex, "%" SCNx64 "%c", &hash, &more) != 1)
            return lra_fail(e, "'%s': request %zu has no hash of 16 digits", path, i + 1);
        add_entry(o, hash);
    }
    return 0;
}

/* Fails unless the settings of the plan are those of this audit. */
static int compare_settings(const lra_offline *o, const json_t *is, const char *path, lra_err *e)
{
    for (int i = -1; i < 0 || lra_config_key(o->settings, i); i++) {
        const char *key = i < 0 ? "task" : lra_config_key(o->settings, i);
        const char *now = lra_config_text(o->settings, key);
        const char *was = json_string_value(json_object_get(is, key));
        if (!was) return lra_fail(e, "'%s' has no setting '%s'", path, key);
        if (strcmp(was, now) != 0)
            return lra_fail(e,
                            "'%s' was planned with %s '%.100s', this audit has '%.100s'; repeat "
                            "the options of the plan, or give --plan another folder",
                            o->folder, key, was, now);
    }
    return 0;
}

static int read_plan(lra_offline *o, const char *path, lra_err *e)
{
    size_t n;
    json_error_t why;
    char *text = lra_file_read(path, (size_t)1 << 30, &n, e);
    if (!text) return LRA_FAILED;
    json_t *root = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);
    lra_free_large(text);
    const json_t *list = json_object_get(root, "requests");
    int rc = 0;
    if (!root)
        rc = lra_fail(e, "'%s' is no JSON: %s, line %d", path, why.text, why.line);
    else if (json_integer_value(json_object_get(root, "version")) != 1 || !json_is_array(list))
        rc = lra_fail(e, "'%s' is no plan of version 1", path);
    if (rc == 0) rc = compare_settings(o, json_object_get(root, "settings"), path, e);
    if (rc == 0) rc = read_requests(o, list, path, e);
    json_decref(root);
    return rc;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int make_folders(const lra_offline *o, lra_err *e)
{
    char *request = lra_format("%s/request", o->folder);
    char *result = lra_format("%s/result", o->folder);
    int rc = lra_folder_make(request, e);
    if (rc == 0) rc = lra_folder_make(result, e);
    lra_free(request);
    lra_free(result);
    return rc;
}

lra_offline *lra_offline_open(const char *folder, const lra_config *settings, bool create,
                              lra_err *e)
{
    lra_offline *o = lra_alloc(sizeof *o);
    *o = (lra_offline){.folder = lra_copy_text(folder), .settings = lra_config_copy(settings)};
    for (int i = 0; i < BUCKETS; i++) o->bucket[i] = -1;
    lra_config_hash(o->settings, o->plan);
    char *path = lra_format("%s/plan.json", folder);
    int rc = 0;
    char *first = lra_offline_path(folder, "request", 1);
    if (lra_file_exists(path))
        rc = read_plan(o, path, e);
    else if (!create)
        rc = lra_fail(e, "there is no plan '%s'; 'lra-probe audit --plan %s ...' writes it", path,
                      folder);
    else if (lra_file_exists(first))
        rc = lra_fail(e, "'%s' exists without 'plan.json': give --plan another folder", first);
    if (rc == 0) rc = make_folders(o, e);
    lra_free(path);
    lra_free(first);
    if (rc == 0) return o;
    lra_offline_close(o);
    return NULL;
}

void lra_offline_close(lra_offline *o)
{
    if (!o) return;
    lra_config_free(o->settings);
    lra_free(o->folder);
    lra_free(o->weights);
    lra_free(o->list);
    lra_free(o);
}

void lra_offline_begin(lra_offline *o, lra_offline_mode mode)
{
    o->mode = mode;
    o->count = (lra_offline_count){.first = 0};
    for (int i = 0; i < o->n; i++) o->list[i].used = false;
}

lra_offline_count lra_offline_counted(const lra_offline *o)
{
    return o->count;
}

/* ---- one request ----------------------------------------------------------------------------- */

/* Writes the request with its number as id, and with the key `plan`. */
static int write_request(const lra_offline *o, const lra_model_exchange *x, int64_t k,
                         const char *path, lra_err *e)
{
    lra_message m;
    size_t n;
    int rc = lra_message_parse(x->frame + LRA_FRAME_HEAD, x->n - LRA_FRAME_HEAD, "request", NULL,
                               &m, e);
    if (rc == 0) {
        lra_config_set(m.t.meta, "plan", o->plan);
        char *op = lra_copy_text(m.op);
        char *frame = lra_frame_write(op, k, m.t.meta, m.t.n, m.t.tensor, &n, e);
        rc = frame ? lra_file_write(path, frame + LRA_FRAME_HEAD, n - LRA_FRAME_HEAD, e)
                   : LRA_FAILED;
        lra_free_large(frame);
        lra_free(op);
    }
    lra_message_free(&m);
    return rc;
}

/* Fails unless the answer belongs to request k of this plan, and to the weights that `ready`
 * names. */
static int check_answer(lra_offline *o, const lra_message *m, int64_t k, const char *path,
                        lra_err *e)
{
    const char *plan = lra_message_text(m, "plan"), *weights = lra_message_text(m, "weights");
    if (m->id != k)
        return lra_fail(e, "'%s' has id %" PRId64 ", expected %" PRId64, path, m->id, k);
    if (plan && strcmp(plan, o->plan) != 0)
        return lra_fail(e,
                        "'%s' answers a request of another plan (%.40s, expected %s): remove it, "
                        "and answer the request again",
                        path, plan, o->plan);
    if (strcmp(m->op, "ready") == 0) {
        lra_free(o->weights);
        o->weights = lra_copy_text(weights);
    } else if (weights && o->weights && strcmp(weights, o->weights) != 0) {
        return lra_fail(e,
                        "'%s' was computed with the weights '%.60s'; the model of this plan has "
                        "'%.60s'",
                        path, weights, o->weights);
    }
    if (strcmp(m->op, k == 1 ? "ready" : "result") != 0 && strcmp(m->op, "error") != 0)
        return lra_fail(e, "'%s' has op '%.40s', expected '%s' or 'error'", path, m->op,
                        k == 1 ? "ready" : "result");
    return 0;
}

static int answer_one(lra_offline *o, lra_model_exchange *x, lra_err *e)
{
    uint64_t hash = lra_hash64(x->frame, x->n);
    int at = find_entry(o, hash), rc = 0;
    bool added = at < 0;
    if (added) at = add_entry(o, hash);
    o->list[at].used = true;
    x->id = at + 1;
    char *request = lra_offline_path(o->folder, "request", x->id);
    char *result = lra_offline_path(o->folder, "result", x->id);
    bool there = lra_file_exists(result), written = !added && lra_file_exists(request);
    o->count.requests++;
    if (!written) o->count.added++, o->count.bytes += (double)(x->n - LRA_FRAME_HEAD);
    if (!written && o->mode == LRA_OFFLINE_WRITE) rc = write_request(o, x, x->id, request, e);
    lra_message_free(&x->answer);
    if (rc == 0 && there) rc = lra_offline_read(result, &x->answer, e);
    if (rc == 0 && there) rc = check_answer(o, &x->answer, x->id, result, e);
    if (!there && o->count.missing++ == 0) o->count.first = x->id;
    if (rc == 0 && !there && o->mode == LRA_OFFLINE_READ)
        rc = lra_fail_absent(e, "a request has no answer yet: '%s'", result);
    lra_free(request);
    lra_free(result);
    return rc;
}

int lra_offline_answer(lra_offline *o, lra_model_exchange *x, int n, lra_err *e)
{
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) rc = answer_one(o, &x[i], e);
    if (rc != 0 && rc != LRA_ABSENT && !o->count.broken) {
        o->broken = *e;
        o->count.broken = o->broken.msg;
    }
    return rc;
}
