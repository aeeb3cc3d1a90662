/* Writes and reads the messages of the handshake. */
#include "probes/audit/ready.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* Names of ops in `ready`, and their LRA_ANSWERS_.. bits. */
static const struct {
    const char *name;
    uint32_t answers;
} ops[] = {{"forward", LRA_ANSWERS_FORWARD}, {"features", LRA_ANSWERS_FEATURES},
           {"vjp", LRA_ANSWERS_VJP},         {"attn", LRA_ANSWERS_ATTENTION},
           {"kernels", LRA_ANSWERS_KERNELS}, {"reset", LRA_ANSWERS_RESET},
           {"logprob", LRA_ANSWERS_LOGPROB}, {"head", LRA_ANSWERS_HEAD}};
/* Values of `attn_rows` in `ready`. */
static const char *const row_sums[] = {
    [LRA_ROWS_ONE] = "1", [LRA_ROWS_ANY] = "any", [LRA_ROWS_RAW] = "raw"};
enum { N_ROW_SUMS = sizeof row_sums / sizeof *row_sums };
enum { N_OPS = sizeof ops / sizeof *ops, MOST_INFLIGHT = 8, MOST_LAYERS = 4096 };

/* ---- hello ----------------------------------------------------------------------------------- */

void lra_hello_meta(const lra_model_task *t, lra_config *meta)
{
    lra_config_set_int(meta, "protocol", LRA_PROTOCOL);
    lra_config_set(meta, "task", t->task);
    lra_config_set(meta, "kind", t->vocab ? "tokens" : "values");
    lra_config_set_int(meta, "classes", t->classes);
    lra_config_set_int(meta, t->vocab ? "vocab" : "width", t->vocab ? t->vocab : t->width);
    lra_config_set_int(meta, "length", t->length);
    lra_config_set_int(meta, "pad", t->pad);
    lra_config_set_int(meta, "towers", t->towers);
}

static int check_protocol(const lra_message *m, lra_err *e)
{
    int64_t protocol;
    if (lra_message_int(m, "protocol", 0, INT32_MAX, &protocol, e) != 0) return LRA_FAILED;
    if (protocol == LRA_PROTOCOL) return 0;
    return lra_fail(e, "'%s' is of protocol %lld, expected %d", m->op, (long long)protocol,
                    LRA_PROTOCOL);
}

int lra_hello_read(const lra_message *m, lra_model_task *t, lra_err *e)
{
    const int64_t most = (int64_t)1 << 31;
    int64_t pad = 0, towers = 1;
    *t = (lra_model_task){.task = lra_message_text(m, "task")};
    const char *kind = lra_message_text(m, "kind");
    if (check_protocol(m, e) != 0) return LRA_FAILED;
    if (!kind || (strcmp(kind, "tokens") != 0 && strcmp(kind, "values") != 0))
        return lra_fail(e, "'hello': 'kind' is '%.40s', expected tokens or values",
                        kind ? kind : "");
    bool tokens = strcmp(kind, "tokens") == 0;
    int rc = lra_message_int(m, "classes", 0, most, &t->classes, e);
    if (rc == 0)
        rc = lra_message_int(m, tokens ? "vocab" : "width", 1, most, tokens ? &t->vocab : &t->width,
                             e);
    if (rc == 0) rc = lra_message_int(m, "length", 1, most, &t->length, e);
    if (rc == 0 && lra_message_text(m, "pad")) rc = lra_message_int(m, "pad", 0, most, &pad, e);
    if (rc == 0 && lra_message_text(m, "towers"))
        rc = lra_message_int(m, "towers", 1, 2, &towers, e);
    t->pad = (int32_t)pad, t->towers = (int)towers;
    return rc;
}

/* ---- ready ----------------------------------------------------------------------------------- */

/* Sets a key to n names, separated by blanks. */
static void set_names(lra_config *meta, const char *key, int n, const char *const *name)
{
    lra_text list = {0};
    for (int i = 0; i < n; i++) lra_text_add(&list, "%s%s", i ? " " : "", name[i]);
    lra_config_set(meta, key, list.s ? list.s : "");
    lra_text_free(&list);
}

static void set_windows(lra_config *meta, const lra_responder_facts *f)
{
    lra_text list = {0};
    for (int k = 0; k < f->n_attention_layers; k++) {
        const int64_t *w = f->window + 2 * k;
        if (w[0] < 0)
            lra_text_add(&list, "%s-", k ? " " : "");
        else
            lra_text_add(&list, "%s%lld:%lld", k ? " " : "", (long long)w[0], (long long)w[1]);
    }
    if (list.s) lra_config_set(meta, "attn_window", list.s);
    lra_text_free(&list);
}

/* Adds the keys that describe attention matrices and kernels. */
static void add_layers(const lra_responder_facts *f, lra_config *meta)
{
    set_names(meta, "layers", f->n_layers, f->layer);
    if (f->n_feature_layers)
        set_names(meta, "feature_layers", f->n_feature_layers, f->feature_layer);
    if (f->answers & LRA_ANSWERS_ATTENTION) {
        set_names(meta, "attn_layers", f->n_attention_layers, f->attention_layer);
        if (f->window) set_windows(meta, f);
        lra_config_set_int(meta, "attn_prepended", f->prepended);
        lra_config_set(meta, "attn_rows", row_sums[f->row_sums]);
    }
    if (!(f->answers & LRA_ANSWERS_KERNELS)) return;
    set_names(meta, "kernel_layers", f->n_kernel_layers, f->kernel_layer);
    if (f->uncovered) lra_config_set(meta, "uncovered", f->uncovered);
}

void lra_ready_meta(const lra_responder_facts *f, int64_t max_batch, lra_config *meta)
{
    lra_text list = {0};
    for (int i = 0; i < N_OPS; i++)
        if (f->answers & ops[i].answers)
            lra_text_add(&list, "%s%s", list.n ? " " : "", ops[i].name);
    if (f->answers & LRA_ANSWERS_RESET) lra_text_add(&list, " restore");
    lra_config_set_int(meta, "protocol", LRA_PROTOCOL);
    lra_config_set(meta, "ops", list.s ? list.s : "");
    lra_config_set(meta, "model", f->model ? f->model : "");
    lra_config_set(meta, "framework", f->framework ? f->framework : "");
    if (f->weights) lra_config_set(meta, "weights", f->weights);
    lra_config_set_int(meta, "classes", f->classes);
    lra_config_set_int(meta, "vocab", f->vocab);
    bool any = f->answers & LRA_ANSWERS_LONGER;
    lra_config_set_int(meta, "max_length", any ? 0 : f->max_length);
    if (f->fixed_length) lra_config_set_int(meta, "fixed_length", f->fixed_length);
    lra_config_set_int(meta, "max_batch", max_batch);
    lra_config_set(meta, "mask", f->mask ? "1" : "0");
    lra_config_set(meta, "causal", f->causal ? "1" : "0");
    add_layers(f, meta);
    lra_config_set_int(meta, "width", f->width);
    if (f->reach >= 0) lra_config_set_int(meta, "reach", f->reach);
    if (f->answers & LRA_ANSWERS_PLACE) lra_config_set(meta, "place", "1");
    if (f->no_positions) lra_config_set(meta, "positions", "0");
    if (f->period) lra_config_set_int(meta, "period", f->period);
    if (f->limits) {
        lra_config_set(meta, "limits", f->limits == LRA_LIMITS_LAYERS ? "layers" : "attention");
        lra_config_set_int(meta, "limit_depth", f->limit_depth);
        set_names(meta, "limit_layers", f->n_limit_layers, f->limit_layer);
    }
    if (f->next) lra_config_set(meta, "next", "1");
    if (f->has_bos) lra_config_set_int(meta, "bos", f->bos);
    lra_text_free(&list);
}

/* Reads an optional integer; *to is unchanged if the key is missing. */
static int read_optional(const lra_message *m, const char *key, int64_t most, int64_t *to,
                         lra_err *e)
{
    return lra_message_text(m, key) ? lra_message_int(m, key, 0, most, to, e) : 0;
}

static int read_ops(const char *list, uint32_t *answers, lra_err *e)
{
    bool restore = false;
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, " ");
        int k = 0;
        while (k < N_OPS && (strlen(ops[k].name) != n || strncmp(ops[k].name, at, n) != 0)) k++;
        if (k < N_OPS)
            *answers |= ops[k].answers;
        else if (n == 7 && strncmp(at, "restore", n) == 0)
            restore = true;
        else if (n > 0)
            return lra_fail(e, "'ready' lists the op '%.*s', which the protocol does not have",
                            n > 40 ? 40 : (int)n, at);
        at += n;
        at += strspn(at, " ");
    }
    /* without restore(), the trained weights would be lost */
    if (!restore) *answers &= ~(uint32_t)LRA_ANSWERS_RESET;
    if (*answers & LRA_ANSWERS_FORWARD) return 0;
    bool given = *answers & LRA_ANSWERS_LOGPROB;
    return lra_fail(e, "'ready' lists the ops '%.80s', expected 'forward' among them%s", list,
                    given
                        ? ": log-probabilities of given tokens are not enough, KL divergences need "
                          "those of all tokens"
                        : "");
}

/* Reads names that are separated by blanks. The caller frees *to by free_names(), also after a
 * failure. */
static int read_names(const char *key, const char *list, int *count, char ***to, lra_err *e)
{
    int n = 0;
    for (const char *at = list; *at; at += strspn(at, " ")) {
        size_t k = strcspn(at, " ");
        if (k) n++;
        at += k;
    }
    if (n > MOST_LAYERS)
        return lra_fail(e, "'ready': '%s' lists %d layers, at most %d are accepted", key, n,
                        MOST_LAYERS);
    *to = lra_alloc_array((size_t)n + 1, sizeof **to);
    for (const char *at = list + strspn(list, " "); *at; at += strspn(at, " ")) {
        size_t k = strcspn(at, " ");
        (*to)[(*count)++] = lra_format("%.*s", (int)k, at);
        at += k;
    }
    return 0;
}

static void free_names(int n, char **name)
{
    for (int i = 0; i < n; i++) lra_free(name[i]);
    lra_free(name);
}

/* Reads a number of at most 12 digits at the start of a word; returns the number of digits, 0:
 * there is no such number. */
static size_t read_tokens(const char *word, int64_t *to)
{
    size_t n = strspn(word, "0123456789");
    if (n == 0 || n > 12) return 0;
    *to = strtoll(word, NULL, 10);
    return n;
}

/* Reads a word of attn_window: A:B, W or -; to: (2). Returns false if it is none of these. */
static bool read_window(const char *word, int64_t to[2])
{
    to[0] = to[1] = -1;
    if (strcmp(word, "-") == 0) return true;
    size_t n = read_tokens(word, &to[0]);
    to[1] = to[0];
    if (n == 0 || !word[n]) return n > 0;
    size_t m = word[n] == ':' ? read_tokens(word + n + 1, &to[1]) : 0;
    return m > 0 && !word[n + 1 + m];
}

static int read_windows(lra_ready *r, lra_err *e)
{
    lra_responder_facts *f = &r->facts;
    const char *list = lra_config_text_or(r->meta, "attn_window", "");
    char **word = NULL;
    int n = 0, layers = f->n_attention_layers, rc = read_names("attn_window", list, &n, &word, e);
    if (rc == 0 && n > 1 && n != layers)
        rc = lra_fail(
            e, "'ready': 'attn_window' has %d words, expected 1 or one for each of %d layers", n,
            layers);
    if (rc == 0 && n) r->window = lra_alloc_array(2 * (size_t)layers + 1, sizeof *r->window);
    for (int k = 0; k < layers && n && rc == 0; k++)
        if (!read_window(word[n > 1 ? k : 0], r->window + 2 * k))
            rc = lra_fail(e,
                          "'ready': 'attn_window' has '%.40s', expected A:B (tokens before and "
                          "after a query), a number, or -",
                          word[n > 1 ? k : 0]);
    f->window = r->window;
    free_names(n, word);
    return rc;
}

/* Reads the keys that describe attention matrices and kernels; without attn_layers or kernel_layers
 * the names of `layers` are used. */
static int read_layers(lra_ready *r, lra_err *e)
{
    lra_responder_facts *f = &r->facts;
    const char *all = lra_config_text_or(r->meta, "layers", "");
    const char *maps = lra_config_text_or(r->meta, "attn_layers", all);
    const char *kernels = lra_config_text_or(r->meta, "kernel_layers", all);
    const char *rows = lra_config_text_or(r->meta, "attn_rows", "1");
    int rc = read_names("layers", all, &f->n_layers, &r->layer, e);
    f->layer = (const char *const *)r->layer;
    if (rc == 0)
        rc = read_names("attn_layers", maps, &f->n_attention_layers, &r->attention_layer, e);
    f->attention_layer = (const char *const *)r->attention_layer;
    if (rc == 0)
        rc = read_names("kernel_layers", kernels, &f->n_kernel_layers, &r->kernel_layer, e);
    f->kernel_layer = (const char *const *)r->kernel_layer;
    const char *limited = lra_config_text_or(r->meta, "limit_layers", "");
    if (rc == 0) rc = read_names("limit_layers", limited, &f->n_limit_layers, &r->limit_layer, e);
    f->limit_layer = (const char *const *)r->limit_layer;
    const char *features = lra_config_text_or(r->meta, "feature_layers", "");
    if (rc == 0)
        rc = read_names("feature_layers", features, &f->n_feature_layers, &r->feature_layer, e);
    f->feature_layer = (const char *const *)r->feature_layer;
    int kind = 0;
    while (kind < N_ROW_SUMS && strcmp(rows, row_sums[kind]) != 0) kind++;
    if (rc == 0 && kind == N_ROW_SUMS)
        rc = lra_fail(e, "'ready': 'attn_rows' is '%.40s', expected 1, any or raw", rows);
    f->row_sums = kind == N_ROW_SUMS ? LRA_ROWS_ONE : (lra_row_sums)kind;
    f->uncovered = lra_config_text_or(r->meta, "uncovered", NULL);
    return rc;
}

static int read_limits(lra_ready *r, const lra_message *m, lra_err *e)
{
    static const char *const kinds[] = {"none", "attention", "layers"};
    const char *word = lra_config_text_or(r->meta, "limits", kinds[0]);
    int kind = 0;
    while (kind < 3 && strcmp(word, kinds[kind]) != 0) kind++;
    if (kind == 3)
        return lra_fail(e, "'ready': 'limits' is '%.40s', expected attention or layers", word);
    r->facts.limits = (lra_limits)kind, r->facts.limit_depth = 1;
    return read_optional(m, "limit_depth", 1 << 20, &r->facts.limit_depth, e);
}

static int compare(const lra_responder_facts *f, const lra_model_task *t, lra_err *e)
{
    if (t->classes && f->classes != t->classes)
        return lra_fail(e,
                        "the model has %lld outputs, the task '%s' has %lld; the labels must be "
                        "those of the model, and own data without labels (--label none) need none",
                        (long long)f->classes, t->task, (long long)t->classes);
    if (t->vocab && f->vocab < t->vocab)
        return lra_fail(
            e,
            "the model has a vocabulary of %lld tokens, the task '%s' has %lld; its inputs "
            "must be the token ids of the model",
            (long long)f->vocab, t->task, (long long)t->vocab);
    if (f->max_length && f->max_length < t->length && !f->fixed_length)
        return lra_fail(e,
                        "the model accepts at most %lld tokens, the longest input of the task '%s' "
                        "has %lld; --length cuts the inputs of own data",
                        (long long)f->max_length, t->task, (long long)t->length);
    return 0;
}

int lra_ready_read(const lra_message *m, const lra_model_task *t, lra_ready *r, lra_err *e)
{
    const int64_t most = (int64_t)1 << 40;
    int64_t mask = 0, causal = 0, inflight = 1, place = 0, next = 0, bos = -1, positions = 1;
    *r = (lra_ready){.facts = {.reach = -1}, .meta = lra_config_copy(m->t.meta)};
    lra_responder_facts *f = &r->facts;
    int rc = check_protocol(m, e);
    if (rc != 0) return rc;
    const char *list = lra_config_text_or(r->meta, "ops", NULL);
    if (!list) return lra_fail(e, "'ready' has no 'ops'");
    rc = read_ops(list, &f->answers, e);
    if (rc == 0) rc = lra_message_int(m, "classes", 1, most, &f->classes, e);
    if (rc == 0 && t->vocab) rc = lra_message_int(m, "vocab", 1, most, &f->vocab, e);
    if (rc == 0) rc = read_optional(m, "max_length", most, &f->max_length, e);
    if (rc == 0) rc = read_optional(m, "fixed_length", most, &f->fixed_length, e);
    if (rc == 0 && f->fixed_length) f->max_length = f->fixed_length;
    f->any_length = f->fixed_length == 0;
    if (rc == 0) rc = read_optional(m, "max_batch", most, &r->max_batch, e);
    if (rc == 0) rc = read_optional(m, "mask", 1, &mask, e);
    if (rc == 0) rc = read_optional(m, "causal", 1, &causal, e);
    if (rc == 0) rc = read_optional(m, "width", 1 << 24, &f->width, e);
    if (rc == 0) rc = read_optional(m, "reach", most, &f->reach, e);
    if (rc == 0) rc = read_optional(m, "place", 1, &place, e);
    if (rc == 0) rc = read_optional(m, "positions", 1, &positions, e);
    if (rc == 0) rc = read_optional(m, "period", most, &f->period, e);
    if (rc == 0) rc = read_optional(m, "next", 1, &next, e);
    if (rc == 0) rc = read_optional(m, "bos", INT32_MAX, &bos, e);
    if (rc == 0) rc = read_optional(m, "inflight", MOST_INFLIGHT, &inflight, e);
    if (rc == 0) rc = read_optional(m, "attn_prepended", 1 << 10, &f->prepended, e);
    if (rc == 0) rc = read_layers(r, e);
    if (rc == 0) rc = read_windows(r, e);
    if (rc == 0) rc = read_limits(r, m, e);
    if (rc == 0) rc = compare(f, t, e);
    f->mask = r->mask = mask != 0, f->causal = causal != 0;
    f->no_positions = positions == 0;
    f->next = next != 0, f->has_bos = bos >= 0, f->bos = (int32_t)bos;
    if (!f->next) f->answers &= ~(uint32_t)LRA_ANSWERS_LOGPROB;
    if (place) f->answers |= LRA_ANSWERS_PLACE;
    if (f->max_length == 0) f->answers |= LRA_ANSWERS_LONGER;
    r->inflight = inflight < 1 ? 1 : (int)inflight;
    f->model = lra_config_text_or(r->meta, "model", NULL);
    f->framework = lra_config_text_or(r->meta, "framework", NULL);
    f->weights = lra_config_text_or(r->meta, "weights", NULL);
    return rc;
}

void lra_ready_free(lra_ready *r)
{
    free_names(r->facts.n_layers, r->layer);
    free_names(r->facts.n_attention_layers, r->attention_layer);
    free_names(r->facts.n_kernel_layers, r->kernel_layer);
    free_names(r->facts.n_feature_layers, r->feature_layer);
    free_names(r->facts.n_limit_layers, r->limit_layer);
    lra_free(r->window);
    lra_config_free(r->meta);
    *r = (lra_ready){.inflight = 0};
}
