/* Staging of inputs for a GPU. Inputs are gathered contiguously in a slot, so that the inputs of a
 * step need one host-device transfer. If their destinations have the same spacing as in the slot,
 * one copy on the device distributes them, too. */
#ifndef LRA_CUDA_STAGING_H
#define LRA_CUDA_STAGING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_STAGED_MOST = 16, LRA_STAGED_APART = 256 };

/* A part of the slot: bytes [at, at + n_bytes) are copied to `to`. */
typedef struct {
    char *to;
    size_t at, n_bytes;
} lra_staged;
typedef struct {
    lra_staged part[LRA_STAGED_MOST];
    int n;
    size_t used; /* bytes of the slot in use */
} lra_staging;

/* Reserves space for n_bytes, with destination `to`, in a slot of `size` bytes. Returns its offset;
 * -1: the slot has too little space. */
int64_t lra_staging_add(lra_staging *s, void *to, size_t n_bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
