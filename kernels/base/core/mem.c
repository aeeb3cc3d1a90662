/* Memory: small allocations, arenas, growing text. Large allocations are in large.c; no other file
 * calls malloc. */
#include "kernels/base/core/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(size_t n_bytes)
{
    fprintf(stderr,
            "out of memory: %zu more bytes are needed; use a smaller batch or fewer threads\n",
            n_bytes);
    _Exit(1); /* leaves no incomplete file: a file gets its final name after its last byte */
}

void *lra_alloc(size_t n_bytes)
{
    void *p = calloc(n_bytes ? n_bytes : 1, 1);
    if (!p) out_of_memory(n_bytes);
    return p;
}

void *lra_alloc_array(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1); /* calloc checks the product for overflow */
    if (!p) out_of_memory(n);
    return p;
}

void *lra_resize(void *p, size_t n_bytes)
{
    void *q = realloc(p, n_bytes ? n_bytes : 1);
    if (!q) out_of_memory(n_bytes);
    return q;
}

void lra_free(void *p)
{
    free(p);
}

char *lra_copy_text(const char *s)
{
    if (!s) return NULL;
    size_t n = strlen(s) + 1;
    return memcpy(lra_alloc(n), s, n);
}

static char *format(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) LRA_BUG("bad format '%s'", fmt);
    char *s = lra_alloc((size_t)n + 1);
    vsnprintf(s, (size_t)n + 1, fmt, args);
    return s;
}

char *lra_format(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *s = format(fmt, args);
    va_end(args);
    return s;
}

char *lra_size_text(char buf[32], double n_bytes)
{
    static const char *unit[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    int i = 0;
    for (; n_bytes >= 1024 && i < 6; i++) n_bytes /= 1024;
    snprintf(buf, 32, i ? "%.1f %s" : "%.0f %s", n_bytes, unit[i]);
    return buf;
}

/* ---- arena ----------------------------------------------------------------------------------- */

enum { BLOCK = 1 << 16 };

typedef struct block {
    struct block *before;
    size_t size, used;
    /* the bytes of the block follow this header, aligned to 16 bytes */
} block;

struct lra_arena {
    block *top;
};

static size_t aligned(size_t n)
{
    return (n + 15) & ~(size_t)15;
}
static char *bytes_of(block *b)
{
    return (char *)b + aligned(sizeof *b);
}

lra_arena *lra_arena_new(void)
{
    return lra_alloc(sizeof(lra_arena));
}

void lra_arena_free(lra_arena *a)
{
    if (!a) return;
    while (a->top) {
        block *before = a->top->before;
        free(a->top);
        a->top = before;
    }
    free(a);
}

void *lra_arena_alloc(lra_arena *a, size_t n_bytes)
{
    size_t n = aligned(n_bytes ? n_bytes : 1);
    if (!a->top || a->top->size - a->top->used < n) {
        size_t size = n > BLOCK ? n : BLOCK;
        block *b = lra_alloc(aligned(sizeof *b) + size);
        b->before = a->top;
        b->size = size;
        a->top = b;
    }
    void *p = bytes_of(a->top) + a->top->used;
    a->top->used += n;
    return memset(p, 0, n);
}

char *lra_arena_text(lra_arena *a, const char *s)
{
    size_t n = strlen(s) + 1;
    return memcpy(lra_arena_alloc(a, n), s, n);
}

char *lra_arena_format(lra_arena *a, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    char *s = format(fmt, args);
    va_end(args);
    char *copy = lra_arena_text(a, s);
    lra_free(s);
    return copy;
}

/* ---- text ------------------------------------------------------------------------------------ */

enum { TEXT_MAX = 1 << 30 };

void lra_text_bytes(lra_text *t, const void *bytes, size_t n)
{
    if (n > TEXT_MAX - t->n - 1) LRA_BUG("text longer than 1 GiB");
    if (t->n + n + 1 > t->capacity) {
        t->capacity = 2 * (t->n + n + 1);
        t->s = lra_resize(t->s, t->capacity);
    }
    if (n) memcpy(t->s + t->n, bytes, n);
    t->n += n;
    t->s[t->n] = 0;
}

void lra_text_addv(lra_text *t, const char *fmt, va_list args)
{
    char *s = format(fmt, args);
    lra_text_bytes(t, s, strlen(s));
    lra_free(s);
}

void lra_text_add(lra_text *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lra_text_addv(t, fmt, args);
    va_end(args);
}

void lra_text_free(lra_text *t)
{
    lra_free(t->s);
    *t = (lra_text){0};
}
