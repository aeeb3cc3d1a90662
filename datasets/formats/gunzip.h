/* Unpacks gzip. After every member the CRC and the length are checked, which libarchive does not
 * do. */
#ifndef LRA_DATASETS_FORMATS_GUNZIP_H
#define LRA_DATASETS_FORMATS_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct lra_gunzip lra_gunzip;

/* Returns true if the first n bytes of a file are the start of a gzip stream. */
bool lra_gunzip_is(const void *bytes, size_t n);
/* Returns a reader of a file, from its current position, or of n bytes of memory; the caller keeps
 * ownership of both. Nullable: file, bytes. */
lra_gunzip *lra_gunzip_new(FILE *file, const void *bytes, size_t n);
/* Unpacks the next block and returns its number of bytes. 0: the end, with correct checksums. -1:
 * failure, explained by lra_gunzip_error(). */
int64_t lra_gunzip_next(lra_gunzip *g, const void **block);
const char *lra_gunzip_error(const lra_gunzip *g);
uint64_t lra_gunzip_total(const lra_gunzip *g); /* total number of unpacked bytes so far */
void lra_gunzip_free(lra_gunzip *g);            /* Nullable: g */

#endif
