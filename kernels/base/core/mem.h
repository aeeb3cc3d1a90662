/* Memory: checked allocation, arenas, growing text. Only mem.c and large.c call malloc. If a small
 * allocation fails, the program ends with one line. Large allocations (data, workspaces) use
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

/* Allocates zeroed memory. Ends the program with exit code 1 if the allocation fails. n_bytes may
 * be 0. */
void *lra_alloc(size_t n_bytes);
/* Allocates n zeroed elements of `size` bytes; the product is checked for overflow. Ends the
 * program with exit code 1 if the allocation fails. */
void *lra_alloc_array(size_t n, size_t size);
/* Like realloc(); new bytes are not cleared. Ends the program with exit code 1 if the allocation
 * fails. */
void *lra_resize(void *p, size_t n_bytes);
void lra_free(void *p);             /* Nullable: p */
char *lra_copy_text(const char *s); /* Nullable: s */
/* formatted text, which the caller frees with lra_free() */
char *lra_format(const char *fmt, ...) LRA_PRINTF(1, 2);

/* Allocates 64-byte aligned memory, not cleared, for data and workspaces; returns NULL with "'what'
 * needs 1.2 GiB: ..." if there is not enough.  Freed with lra_free_large().  Debug builds fail the
 * n-th such call when LRA_FAIL_ALLOC=n is in the environment.  Sizes above the free memory of the
 * machine are refused before the kernel's overcommit can accept them (from 1 MiB on). */
void *lra_try_alloc(size_t n_bytes, const char *what, lra_err *e);
void lra_free_large(void *p); /* Nullable: p */
/* True if n bytes can be allocated now. For calls of libraries that crash if an allocation
 * fails. */
bool lra_memory_room(size_t n_bytes);
/* Allocates a zeroed array whose size comes from a file; n * size is checked for overflow. Returns
 * NULL with an error in e on failure. Freed with lra_free(). */
void *lra_try_array(int64_t n, size_t size, const char *what, lra_err *e);

/* ---- arena: many small things freed together ------------------------------------------------ */

typedef struct lra_arena lra_arena;

lra_arena *lra_arena_new(void);
void lra_arena_free(lra_arena *a); /* Nullable: a */
/* returns zeroed memory, aligned to 16 bytes */
void *lra_arena_alloc(lra_arena *a, size_t n_bytes);
char *lra_arena_text(lra_arena *a, const char *s);
char *lra_arena_format(lra_arena *a, const char *fmt, ...) LRA_PRINTF(2, 3);

/* ---- text that grows ------------------------------------------------------------------------- */

/* Growing text. Initialised as {0}; `s` is NULL or terminated by 0; at most 1 GiB. */
typedef struct {
    char *s;
    size_t n, capacity;
} lra_text;

void lra_text_add(lra_text *t, const char *fmt, ...) LRA_PRINTF(2, 3);
void lra_text_addv(lra_text *t, const char *fmt, va_list args);
void lra_text_bytes(lra_text *t, const void *bytes, size_t n);
void lra_text_free(lra_text *t);

/* A size for messages: "141.2 GiB", "12 bytes". Returns buf. */
char *lra_size_text(char buf[32], double n_bytes);

#ifdef __cplusplus
}
#endif
#endif
