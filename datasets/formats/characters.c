/* Characters of texts, numbered by frequency.
 * Source: the state-space repository's loaders of IMDB and AAN.
 * Known: counting characters that occur at least 15 times, the 25,000 training reviews of IMDB have
 * 131 in the first 4,095 characters of each review and 126 in the first 2,047. With the three
 * special ids of S4 these are 134 and 129 ids. */
#include "datasets/formats/characters.h"

#include <stdlib.h>

#include "datasets/formats/bytes.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/utf8.h"

enum { N_POINTS = 0x110000, REPLACEMENT = 0xFFFD, MAX_IDS = 1 << 16 };

typedef struct {
    uint32_t point;
    int64_t count;
} character;

struct lra_characters {
    uint16_t *provisional; /* (N_POINTS) provisional id of each code point; 0: not seen */
    int n;                 /* number of provisional ids, special ids included */
    character *seen;       /* (n) code point and count of each provisional id */
    bool full;             /* a character was found after all ids were in use */
    int n_final;
    uint16_t *final;    /* (n) final id of each provisional id */
    character *ordered; /* (n_final) code point and count of each final id */
};

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

size_t lra_utf8_read(const char *s, size_t n, uint32_t *point)
{
    const unsigned char *u = (const unsigned char *)s;
    size_t size = lra_utf8_character(u, n);
    *point = size ? u[0] & (size == 1 ? 0x7Fu : 0x7Fu >> size) : REPLACEMENT;
    for (size_t i = 1; i < size; i++) *point = *point << 6 | (u[i] & 0x3Fu);
    return size ? size : 1;
}

size_t lra_utf8_write(uint32_t p, char *s)
{
    if (p < 0x80) {
        s[0] = (char)p;
        return 1;
    }
    size_t size = p < 0x800 ? 2 : p < 0x10000 ? 3 : 4;
    static const unsigned lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i-- > 1; p >>= 6) s[i] = (char)(0x80 | (p & 0x3F));
    s[0] = (char)(lead[size] | p);
    return size;
}

/* ---- encoding -------------------------------------------------------------------------------- */

lra_characters *lra_characters_new(void)
{
    lra_characters *c = lra_alloc(sizeof *c);
    c->provisional = lra_alloc_array(N_POINTS, sizeof *c->provisional);
    c->seen = lra_alloc_array(MAX_IDS, sizeof *c->seen);
    c->n = LRA_BYTES_FIRST;
    return c;
}

void lra_characters_free(lra_characters *c)
{
    if (!c) return;
    lra_free(c->provisional);
    lra_free(c->seen);
    lra_free(c->final);
    lra_free(c->ordered);
    lra_free(c);
}

static uint16_t provisional_id(lra_characters *c, uint32_t point, bool counted)
{
    uint16_t *id = &c->provisional[point];
    if (*id == 0 && c->n == MAX_IDS) {
        c->full = true;
        return LRA_BYTES_UNK;
    }
    if (*id == 0) {
        c->seen[c->n].point = point;
        *id = (uint16_t)c->n++;
    }
    c->seen[*id].count += counted;
    return *id;
}

int64_t lra_characters_encode(lra_characters *c, const char *text, size_t n, int64_t length,
                              bool counted, uint16_t *token)
{
    int64_t k = 0;
    for (size_t at = 0; at < n && k < length - 1; k++) {
        uint32_t point;
        if (!c) {
            token[k] = (uint16_t)(LRA_BYTES_FIRST + (unsigned char)text[at++]);
        } else {
            at += lra_utf8_read(text + at, n - at, &point);
            token[k] = provisional_id(c, point, counted);
        }
    }
    token[k] = LRA_BYTES_EOS;
    return k + 1;
}

/* ---- the vocabulary -------------------------------------------------------------------------- */

static int by_frequency(const void *a, const void *b)
{
    const character *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->point > y->point) - (x->point < y->point);
}

int lra_characters_fix(lra_characters *c, int64_t least, lra_err *e)
{
    if (c->full)
        return lra_fail(e, "the texts have more than %d different characters", (int)MAX_IDS);
    c->ordered = lra_alloc_array((size_t)c->n, sizeof *c->ordered);
    c->n_final = LRA_BYTES_FIRST;
    for (int i = LRA_BYTES_FIRST; i < c->n; i++)
        if (c->seen[i].count > 0 && c->seen[i].count >= least)
            c->ordered[c->n_final++] = c->seen[i];
    qsort(c->ordered + LRA_BYTES_FIRST, (size_t)(c->n_final - LRA_BYTES_FIRST), sizeof *c->ordered,
          by_frequency);
    c->final = lra_alloc_array((size_t)c->n, sizeof *c->final);
    for (int i = 0; i < c->n; i++) c->final[i] = i < LRA_BYTES_FIRST ? (uint16_t)i : LRA_BYTES_UNK;
    for (int i = LRA_BYTES_FIRST; i < c->n_final; i++)
        c->final[c->provisional[c->ordered[i].point]] = (uint16_t)i;
    return c->n_final;
}

void lra_characters_renumber(const lra_characters *c, uint16_t *token, int64_t n)
{
    for (int64_t i = 0; i < n; i++) token[i] = c->final[token[i]];
}

char *lra_characters_words(const lra_characters *c)
{
    lra_text t = {0};
    lra_text_add(&t, "<pad>\n<unk>\n<eos>\n<mask>\n");
    for (int i = LRA_BYTES_FIRST; i < c->n_final; i++) {
        char s[5] = {0};
        size_t n = lra_utf8_write(c->ordered[i].point, s);
        if (s[0] == '\n' || s[0] == '\\' || s[0] == 0)
            lra_text_add(&t, s[0] == '\n' ? "\\n" : s[0] ? "\\\\" : "\\0");
        else
            lra_text_bytes(&t, s, n);
        lra_text_bytes(&t, "\n", 1);
    }
    return t.s;
}
