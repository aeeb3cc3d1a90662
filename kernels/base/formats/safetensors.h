/* The safetensors format: a JSON header, followed by named dense arrays.
 *   8 bytes   N, little-endian
 *   N bytes   {"NAME": {"dtype": "F32", "shape": [2,3], "data_offsets": [BEGIN, END]}, ...,
 *              "__metadata__": {"key": "value"}}, then spaces
 *   the rest  data, row-major, little-endian; offsets count from here
 * The reader is as strict as the reference implementation: no duplicate key, no hole, no overlap,
 * no byte after the last array; every size is checked before it is used. The format has no
 * checksum. Results that are derived from a file therefore store its `hash`. */
#ifndef LRA_BASE_FORMATS_SAFETENSORS_H
#define LRA_BASE_FORMATS_SAFETENSORS_H

#include "kernels/base/core/config.h"
#include "kernels/base/formats/ndarray.h"

typedef struct {
    char *name;
    lra_ndarray array;
} lra_safetensor;

typedef struct {
    int n;
    lra_safetensor *tensor; /* (n) arrays, in the order of their data in the file */
    lra_config *meta;       /* __metadata__; empty if the file has none */
    uint64_t hash;          /* xxh3-64 of all bytes of the file */
    char *image; /* memory of lra_safetensors_read(); NULL: the caller's memory is used */
} lra_safetensors;

/* Parses the arrays in n bytes of memory; the arrays point to these bytes. `name` is used in
 * messages. */
int lra_safetensors_parse(const void *bytes, size_t n, const char *name, lra_safetensors *t,
                          lra_err *e);
int lra_safetensors_read(const char *path, lra_safetensors *t, lra_err *e);
/* Frees the arrays, also after a failure. t is empty afterwards. */
void lra_safetensors_free(lra_safetensors *t);
const lra_ndarray *lra_safetensors_find(const lra_safetensors *t,
                                        const char *name); /* NULL: there is no such array */

/* Writes PATH completely or not at all, in the order of the reference implementation: larger
 * elements first, then by name. Metadata, whose order the reference does not define, are sorted by
 * key. The fields dtype, rank, dims and bytes (row-major, little-endian) of an array are used.
 * Nullable: meta. */
int lra_safetensors_write(const char *path, int n, const lra_safetensor *tensor,
                          const lra_config *meta, lra_err *e);

/* Returns the bytes of a safetensors file in memory, preceded by `before` zero bytes; *bytes: total
 * size. The caller frees them with lra_free_large(). `name` is used in messages. Nullable: meta. */
char *lra_safetensors_image(const char *name, int n, const lra_safetensor *tensor,
                            const lra_config *meta, size_t before, size_t *bytes, lra_err *e);

/* Fails unless every reader accepts this name: 1 to 512 bytes, no control characters, no component
 * that is "..", no empty first component. */
int lra_safetensors_check_name(const char *name, lra_err *e);

#endif
