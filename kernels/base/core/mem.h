/* Memory: checked allocation, arenas, growing text.  malloc stands in mem.c and large.c alone.
 * Small allocations that fail end the program with one line; large ones (data, workspaces) use
 * lra_try_alloc(), whose failure the user can act on. */
#ifndef LRA_BASE_CORE_MEM_H
#define LRA_BASE_CORE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zeroed memory; ends the program, exit code 1, when there is none.  n may be 0. */
void *lra_alloc(size_t n_bytes);
/* n elements of `size` bytes, zeroed, product checked; ends the program, exit code 1, when there is
 * none. */
void *lra_alloc_array(size_t n, size_t size);
/* Like realloc, ends the program, exit code 1, when there is none; new bytes are not cleared. */
void *lra_resize(void *p, size_t n_bytes);
void lra_free(void *p);                                  /* Nullable: p */
char *lra_copy_text(const char *s);                      /* Nullable: s */
char *lra_format(const char *fmt, ...) LRA_PRINTF(1, 2); /* caller frees with lra_free() */

/* 64-byte aligned memory, not cleared, for data and workspaces; NULL with "'what' needs 1.2 GiB:
 * ..." when there is none.  Freed with lra_free_large().  Debug builds fail the n-th such call when
 * LRA_FAIL_ALLOC=n is in the environment.  Sizes above the free memory of the machine are refused
 * before the kernel's overcommit can accept them (from 1 MiB on). */
void *lra_try_alloc(size_t n_bytes, const char *what, lra_err *e);
void lra_free_large(void *p); /* Nullable: p */
/* Could n bytes be had now?  Asked before a library is called that cannot live without. */
bool lra_memory_room(size_t n_bytes);
/* The same for an array whose size a file says: zeroed, n * size checked, freed with lra_free(). */
void *lra_try_array(int64_t n, size_t size, const char *what, lra_err *e);

/* ---- arena: many small things freed together ------------------------------------------------ */

typedef struct lra_arena lra_arena;
typedef struct {
    void *block;
    size_t used;
} lra_mark;

lra_arena *lra_arena_new(void);
void lra_arena_free(lra_arena *a);                   /* Nullable: a */
void *lra_arena_alloc(lra_arena *a, size_t n_bytes); /* zeroed, 16-byte aligned */
char *lra_arena_text(lra_arena *a, const char *s);
char *lra_arena_format(lra_arena *a, const char *fmt, ...) LRA_PRINTF(2, 3);
lra_mark lra_arena_mark(const lra_arena *a);
void lra_arena_reset(lra_arena *a, lra_mark m); /* frees everything allocated since the mark */

/* ---- text that grows ------------------------------------------------------------------------- */

/* Starts as {0}; `s` is NULL or terminated; never longer than 1 GiB. */
typedef struct {
    char *s;
    size_t n, capacity;
} lra_text;

void lra_text_add(lra_text *t, const char *fmt, ...) LRA_PRINTF(2, 3);
void lra_text_addv(lra_text *t, const char *fmt, va_list args);
void lra_text_bytes(lra_text *t, const void *bytes, size_t n);
void lra_text_free(lra_text *t);

/* "141.2 GiB", "12 bytes": for messages; returns buf. */
char *lra_size_text(char buf[32], double n_bytes);

#ifdef __cplusplus
}
#endif
#endif
