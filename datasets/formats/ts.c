/* Reads files of the time series regression archive (.ts). */
#include "datasets/formats/ts.h"

#include "datasets/formats/bom.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

enum { MAX_WORD = 64 };

/* A line of a file: the position of the parser in it, and its end. */
typedef struct {
    const char *at, *end;
} line;

typedef enum { GOOD, MISSING, DAMAGED } verdict;

/* Values of one series, dimension by dimension. */
typedef struct {
    float *value;
    int64_t n, capacity;
    int dimensions;
    int64_t length; /* number of values of each dimension */
    float target;
} series;

/* Sets *l to the next line without surrounding blanks and its line end; returns false after the
 * last line. */
static bool next_line(const char **at, const char *end, line *l)
{
    if (*at >= end) return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    l->at = *at, l->end = stop ? stop : end;
    *at = stop ? stop + 1 : end;
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t')) l->at++;
    while (l->at < l->end && (l->end[-1] == '\r' || l->end[-1] == ' ' || l->end[-1] == '\t'))
        l->end--;
    return true;
}

/* ---- header ---------------------------------------------------------------------------------- */

static bool starts_with(const line *l, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(l->end - l->at) < n) return false;
    for (size_t i = 0; i < n; i++) {
        char c = l->at[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if (c != word[i]) return false;
    }
    return true;
}

/* Reads the header up to "@data". Fails on unsupported headers. */
static int read_header(const char **at, const char *end, const char *name, lra_err *e)
{
    line l;
    while (next_line(at, end, &l)) {
        if (l.at == l.end || *l.at == '#') continue;
        if (starts_with(&l, "@data")) return 0;
        if (starts_with(&l, "@timestamps true"))
            return lra_fail(e, "'%s' has time stamps, expected plain values", name);
        if (starts_with(&l, "@targetlabel false") || starts_with(&l, "@classlabel false"))
            return lra_fail(e, "'%s' has no targets", name);
        if (*l.at != '@')
            return lra_fail(e, "'%s' does not start with lines of '@' like a .ts file", name);
    }
    return lra_fail(e, "'%s' has no line '@data'", name);
}

/* ---- series ---------------------------------------------------------------------------------- */

/* Reads a number that ends with ',' or ':' or at the end of the line, and moves l->at to its
 * end. */
static verdict read_number(line *l, float *value)
{
    char word[MAX_WORD], *stop;
    size_t n = 0;
    while (l->at < l->end && *l->at == ' ') l->at++;
    while (l->at < l->end && *l->at != ',' && *l->at != ':' && n < MAX_WORD - 1)
        word[n++] = *l->at++;
    while (n && word[n - 1] == ' ') n--;
    word[n] = 0;
    if (strcmp(word, "?") == 0 || strcmp(word, "NaN") == 0) return MISSING;
    if (n == 0 || strspn(word, "+-.0123456789eE") != n) return DAMAGED;
    *value = (float)strtod(word, &stop);
    return *stop == 0 && isfinite(*value) ? GOOD : DAMAGED;
}

static void add_value(series *s, float value)
{
    if (s->n == s->capacity) {
        s->capacity = 2 * s->capacity + 4096;
        s->value = lra_resize(s->value, (size_t)s->capacity * sizeof *s->value);
    }
    s->value[s->n++] = value;
}

/* Reads the values of one dimension, which ends with ':'. *last: true if it ends with the line
 * instead; that dimension is the target. */
static verdict read_dimension(line *l, series *s, bool *last)
{
    int64_t from = s->n;
    for (;;) {
        float value = 0;
        verdict v = read_number(l, &value);
        if (v != GOOD) return v;
        add_value(s, value);
        *last = l->at == l->end;
        if (*last || *l->at == ':') break;
        if (*l->at++ != ',' || s->n - from > LRA_TS_MAX_LENGTH) return DAMAGED;
    }
    if (!*last) l->at++;
    int64_t length = s->n - from;
    if (*last) return length == 1 && s->dimensions > 0 ? GOOD : DAMAGED;
    if (s->dimensions == LRA_TS_MAX_DIMENSIONS || (s->dimensions && length != s->length))
        return DAMAGED;
    s->dimensions++, s->length = length;
    return GOOD;
}

static verdict read_series(line *l, series *s)
{
    bool last = false;
    s->n = s->length = 0, s->dimensions = 0;
    while (!last) {
        verdict v = read_dimension(l, s, &last);
        if (v != GOOD) return v;
    }
    s->target = s->value[--s->n];
    return GOOD;
}

/* Appends a series, transposed to (length, dimensions). */
static void append(lra_ts *t, const series *s)
{
    int64_t size = s->length * s->dimensions;
    if (t->n == t->capacity) {
        t->capacity = 2 * t->capacity + 16;
        t->value = lra_resize(t->value, (size_t)(t->capacity * size) * sizeof *t->value);
        t->target = lra_resize(t->target, (size_t)t->capacity * sizeof *t->target);
    }
    float *to = t->value + t->n * size;
    for (int64_t k = 0; k < s->length; k++)
        for (int d = 0; d < s->dimensions; d++)
            to[k * s->dimensions + d] = s->value[d * s->length + k];
    t->target[t->n++] = s->target;
}

static void leave_out(lra_ts *t, verdict v, const char *name, int64_t number, const series *s)
{
    if (t->n_missing + t->n_damaged == 0) {
        if (v == MISSING)
            lra_fail(&t->first, "series %lld of '%s' has a missing value", (long long)number, name);
        else
            lra_fail(&t->first,
                     "series %lld of '%s' is not %d dimensions of %lld numbers and a target "
                     "(after %d and %lld)",
                     (long long)number, name, t->dimensions, (long long)t->length, s->dimensions,
                     (long long)s->n);
    }
    t->n_missing += v == MISSING;
    t->n_damaged += v == DAMAGED;
}

int lra_ts_parse(const void *bytes, size_t n, const char *name, lra_ts *to, lra_err *e)
{
    const char *at = bytes, *end = at + n;
    at += lra_bom_size(at, n);
    line l;
    series s = {0};
    int64_t number = 0, before = to->n;
    if (read_header(&at, end, name, e) != 0) return LRA_FAILED;
    while (next_line(&at, end, &l)) {
        if (l.at == l.end || *l.at == '#') continue;
        verdict v = read_series(&l, &s);
        number++;
        if (v == GOOD && to->dimensions == 0) to->dimensions = s.dimensions, to->length = s.length;
        if (v == GOOD && (s.dimensions != to->dimensions || s.length != to->length)) v = DAMAGED;
        if (v == GOOD)
            append(to, &s);
        else
            leave_out(to, v, name, number, &s);
    }
    lra_free(s.value);
    if (to->n > before) return 0;
    return lra_fail(e, "'%s' contains no series%s%s", name, number ? ": " : "",
                    number ? to->first.msg : "");
}

void lra_ts_free(lra_ts *t)
{
    lra_free(t->value);
    lra_free(t->target);
    *t = (lra_ts){0};
}
