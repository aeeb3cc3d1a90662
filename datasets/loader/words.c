/* Words of texts, numbered by frequency.
 * Source: the vocabulary of the language models in the Transformer-XL and state-space repositories.
 * Known: WikiText-2's validation text has 213,886 words in 3,760 lines: 217,646 tokens. */
#include "datasets/loader/words.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"

enum { EOS = 0, MAX_WORDS = 1 << 24, MAX_WORD = 1 << 16 };

typedef struct {
    size_t at, n;         /* offset and length of the word in `bytes` */
    int64_t count, order; /* number of occurrences in the training text; rank by first occurrence */
    int32_t final;
} word;

struct lra_words {
    int32_t n, capacity, n_final;
    word *list; /* (n) words by provisional id */
    lra_text bytes;
    /* (mask + 1) hash table with open addressing; 0: empty slot, else provisional id */
    int32_t *slot;
    uint64_t mask;
    int64_t n_counted;
    int32_t *sorted; /* (n_final) provisional id of each final id */
    int32_t unknown; /* final id of <unk> */
};

lra_words *lra_words_new(void)
{
    lra_words *w = lra_alloc(sizeof *w);
    w->mask = 1023;
    w->slot = lra_alloc_array((size_t)w->mask + 1, sizeof *w->slot);
    w->capacity = 512, w->n = 1; /* the first id is <eos> */
    w->list = lra_alloc_array((size_t)w->capacity, sizeof *w->list);
    return w;
}

void lra_words_free(lra_words *w)
{
    if (!w) return;
    lra_free(w->list);
    lra_free(w->slot);
    lra_free(w->sorted);
    lra_text_free(&w->bytes);
    lra_free(w);
}

void lra_word_text_free(lra_word_text *t)
{
    lra_free(t->token);
    lra_text_free(&t->rest);
    *t = (lra_word_text){0};
}

/* ---- encoding -------------------------------------------------------------------------------- */

/* Returns the slot of the hash table that holds the word, or the free slot for it. */
static int32_t *find_slot(const lra_words *w, const char *s, size_t n)
{
    for (uint64_t i = lra_hash64(s, n);; i++) {
        int32_t *slot = &w->slot[i & w->mask];
        const word *v = &w->list[*slot];
        if (*slot == 0 || (v->n == n && memcmp(w->bytes.s + v->at, s, n) == 0)) return slot;
    }
}

static void double_table(lra_words *w)
{
    lra_free(w->slot);
    w->mask = 2 * w->mask + 1;
    w->slot = lra_alloc_array((size_t)w->mask + 1, sizeof *w->slot);
    for (int32_t i = 1; i < w->n; i++) *find_slot(w, w->bytes.s + w->list[i].at, w->list[i].n) = i;
}

/* Returns the provisional id of a word, adding it if it is new; -1: too many words. */
static int32_t word_id(lra_words *w, const char *s, size_t n)
{
    int32_t *slot = find_slot(w, s, n);
    if (*slot) return *slot;
    if (w->n == MAX_WORDS) return -1;
    if (w->n == w->capacity) {
        w->capacity *= 2;
        w->list = lra_resize(w->list, (size_t)w->capacity * sizeof *w->list);
    }
    w->list[w->n] = (word){.at = w->bytes.n, .n = n};
    lra_text_bytes(&w->bytes, s, n);
    *slot = w->n++;
    if (2 * (uint64_t)w->n > w->mask) double_table(w);
    return w->n - 1;
}

static void add_token(lra_word_text *t, int32_t id)
{
    if (t->n == t->capacity) {
        t->capacity = 2 * t->capacity + 4096;
        t->token = lra_resize(t->token, (size_t)t->capacity * sizeof *t->token);
    }
    t->token[t->n++] = id;
}

static int add_word(lra_words *w, lra_word_text *t, const char *s, size_t n, lra_err *e)
{
    int32_t id = word_id(w, s, n);
    if (id < 0) return lra_fail(e, "the texts have more than %d different words", (int)MAX_WORDS);
    word *v = &w->list[id];
    if (t->counted && v->count++ == 0) v->order = w->n_counted++;
    add_token(t, id);
    return 0;
}

static void end_line(lra_word_text *t)
{
    add_token(t, EOS);
    t->n_lines++;
    t->open = false;
}

static bool is_blank(char s)
{
    return s == ' ' || (s >= '\t' && s <= '\r') || s == 0;
}

/* Adds the word that began in an earlier piece of the text and is now complete. */
static int end_rest(lra_words *w, lra_word_text *t, lra_err *e)
{
    int rc = t->rest.n ? add_word(w, t, t->rest.s, t->rest.n, e) : 0;
    t->rest.n = 0;
    return rc;
}

int lra_words_encode(lra_words *w, lra_word_text *t, const char *bytes, size_t n, lra_err *e)
{
    int rc = 0;
    if (n == 0) {
        rc = end_rest(w, t, e);
        if (rc == 0 && t->open) end_line(t);
        return rc;
    }
    for (size_t i = 0; i < n && rc == 0;) {
        size_t end = i;
        while (end < n && !is_blank(bytes[end])) end++;
        if (end - i + t->rest.n > MAX_WORD)
            return lra_fail(e, "line %lld has a word of more than %d bytes",
                            (long long)t->n_lines + 1, (int)MAX_WORD);
        /* the word may continue in the next piece, or it began in an earlier one */
        if (end == n || t->rest.n)
            lra_text_bytes(&t->rest, bytes + i, end - i);
        else if (end > i)
            rc = add_word(w, t, bytes + i, end - i, e);
        t->open = true;
        if (end == n) break;
        if (rc == 0) rc = end_rest(w, t, e);
        if (rc == 0 && bytes[end] == '\n') end_line(t);
        i = end + 1;
    }
    return rc;
}

/* ---- the vocabulary -------------------------------------------------------------------------- */

typedef struct {
    int64_t count, order;
    int32_t id;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

int lra_words_fix(lra_words *w)
{
    static const char unk[] = "<unk>";
    int32_t special = word_id(w, unk, sizeof unk - 1), n = 0;
    ranked *r = lra_alloc_array((size_t)w->n, sizeof *r);
    if (special > 0 && w->list[special].count == 0) w->list[special].order = w->n_counted;
    for (int32_t i = 1; i < w->n; i++)
        if (w->list[i].count > 0 || i == special)
            r[n++] = (ranked){w->list[i].count, w->list[i].order, i};
    if (n) qsort(r, (size_t)n, sizeof *r, by_rank);
    w->sorted = lra_alloc_array((size_t)n + 1, sizeof *w->sorted);
    w->n_final = n + 1;
    for (int32_t i = 1; i < w->n; i++) w->list[i].final = -1;
    for (int32_t i = 0; i < n; i++) {
        w->sorted[i + 1] = r[i].id;
        w->list[r[i].id].final = i + 1;
    }
    w->unknown = special > 0 ? w->list[special].final : EOS;
    lra_free(r);
    return w->n_final;
}

void lra_words_renumber(const lra_words *w, int32_t *token, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        int32_t final = w->list[token[i]].final;
        token[i] = final < 0 ? w->unknown : final;
    }
}

char *lra_words_lines(const lra_words *w)
{
    lra_text t = {0};
    lra_text_add(&t, "<eos>\n");
    for (int32_t i = 1; i < w->n_final; i++) {
        const word *v = &w->list[w->sorted[i]];
        for (size_t k = 0; k < v->n; k++) {
            const char *s = w->bytes.s + v->at + k;
            lra_text_bytes(&t, "\\", *s == '\\');
            lra_text_bytes(&t, s, 1);
        }
        lra_text_bytes(&t, "\n", 1);
    }
    return t.s;
}
