/* Inputs on their way to a GPU: gathered one behind the other in a slot, so that a step's go over
 * the bus in one copy. Where their places on the device stand apart as they do in the slot, one
 * copy moves them there, too. */
#ifndef LRA_CUDA_STAGING_H
#define LRA_CUDA_STAGING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_STAGED_MOST = 16, LRA_STAGED_APART = 256 };

/* Bytes [at, at + n_bytes) of the slot go to `to`. */
typedef struct {
    char *to;
    size_t at, n_bytes;
} lra_staged;
typedef struct {
    lra_staged part[LRA_STAGED_MOST];
    int n;
    size_t used; /* bytes of the slot */
} lra_staging;

/* Where n_bytes for `to` are to be put in a slot of `size` bytes; -1: there is no room. */
int64_t lra_staging_add(lra_staging *s, void *to, size_t n_bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
