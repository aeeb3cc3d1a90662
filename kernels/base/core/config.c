/* Configurations: a short array of keys and values, sorted by key. */
#include "kernels/base/core/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"

typedef struct {
    char *key, *value;
} entry;

struct lra_config {
    entry *at; /* sorted by key */
    int n, capacity;
};

lra_config *lra_config_new(void)
{
    return lra_alloc(sizeof(lra_config));
}

void lra_config_free(lra_config *c)
{
    if (!c) return;
    for (int i = 0; i < c->n; i++) {
        lra_free(c->at[i].key);
        lra_free(c->at[i].value);
    }
    lra_free(c->at);
    lra_free(c);
}

/* Index of the first entry whose key is >= `key`. */
static int position(const lra_config *c, const char *key)
{
    int i = 0;
    while (i < c->n && strcmp(c->at[i].key, key) < 0) i++;
    return i;
}

static entry *find(const lra_config *c, const char *key)
{
    int i = position(c, key);
    return i < c->n && strcmp(c->at[i].key, key) == 0 ? &c->at[i] : NULL;
}

void lra_config_set(lra_config *c, const char *key, const char *value)
{
    /* copied first, because `value` may be the text that is freed below */
    char *copy = lra_copy_text(value);
    entry *old = find(c, key);
    if (old) {
        lra_free(old->value);
        old->value = copy;
        return;
    }
    if (c->n == c->capacity) {
        c->capacity = c->capacity ? 2 * c->capacity : 16;
        c->at = lra_resize(c->at, (size_t)c->capacity * sizeof *c->at);
    }
    int i = position(c, key);
    memmove(c->at + i + 1, c->at + i, (size_t)(c->n - i) * sizeof *c->at);
    c->at[i] = (entry){lra_copy_text(key), copy};
    c->n++;
}

void lra_config_set_int(lra_config *c, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    lra_config_set(c, key, text);
}

void lra_config_remove(lra_config *c, const char *key)
{
    entry *old = find(c, key);
    if (!old) return;
    lra_free(old->key);
    lra_free(old->value);
    int i = (int)(old - c->at);
    c->n--;
    memmove(c->at + i, c->at + i + 1, (size_t)(c->n - i) * sizeof *c->at);
}

lra_config *lra_config_copy(const lra_config *c)
{
    lra_config *copy = lra_config_new();
    for (int i = 0; i < c->n; i++) lra_config_set(copy, c->at[i].key, c->at[i].value);
    return copy;
}

lra_config *lra_config_parse(const char *text, lra_err *e)
{
    lra_config *c = lra_config_new();
    static const char blanks[] = " \t\r\n";
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t n = strcspn(text, blanks);
        const char *equals = memchr(text, '=', n);
        if (!equals || equals == text) {
            lra_fail(e, "'%.*s' is not of the form key=value", (int)n, text);
            lra_config_free(c);
            return NULL;
        }
        char *key = lra_format("%.*s", (int)(equals - text), text);
        char *value = lra_format("%.*s", (int)(text + n - equals - 1), equals + 1);
        lra_config_set(c, key, value);
        lra_free(key);
        lra_free(value);
        text += n;
    }
    return c;
}

/* ---- get ------------------------------------------------------------------------------------- */

bool lra_config_has(const lra_config *c, const char *key)
{
    return find(c, key) != NULL;
}

const char *lra_config_text(const lra_config *c, const char *key)
{
    const entry *at = find(c, key);
    if (!at) LRA_BUG("the configuration has no '%s'", key);
    return at->value;
}

bool lra_config_is(const lra_config *c, const char *key, const char *value)
{
    return strcmp(lra_config_text(c, key), value) == 0;
}

int64_t lra_config_int(const lra_config *c, const char *key)
{
    int64_t value = 0;
    const char *text = lra_config_text(c, key);
    if (!lra_parse_int(text, &value)) LRA_BUG("'%s' is '%s', not an integer", key, text);
    return value;
}

double lra_config_real(const lra_config *c, const char *key)
{
    double value = 0;
    const char *text = lra_config_text(c, key);
    if (!lra_parse_real(text, &value)) LRA_BUG("'%s' is '%s', not a number", key, text);
    return value;
}

const char *lra_config_text_or(const lra_config *c, const char *key, const char *other)
{
    const entry *at = find(c, key);
    return at ? at->value : other;
}

double lra_config_real_or(const lra_config *c, const char *key, double other)
{
    return find(c, key) ? lra_config_real(c, key) : other;
}

const char *lra_config_key(const lra_config *c, int i)
{
    return i < c->n ? c->at[i].key : NULL;
}
const char *lra_config_value(const lra_config *c, int i)
{
    return i < c->n ? c->at[i].value : NULL;
}

/* ---- text ------------------------------------------------------------------------------------ */

char *lra_config_lines(const lra_config *c)
{
    lra_text t = {0};
    lra_text_bytes(&t, "", 0);
    for (int i = 0; i < c->n; i++) lra_text_add(&t, "%s=%s\n", c->at[i].key, c->at[i].value);
    return t.s;
}

void lra_config_hash(const lra_config *c, char hex[17])
{
    char *lines = lra_config_lines(c);
    snprintf(hex, 17, "%016" PRIx64, lra_hash64(lines, strlen(lines)));
    lra_free(lines);
}
