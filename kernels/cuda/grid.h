/* Limits of grid sizes, for every launch on a GPU and on the host shim of the tests. */
#ifndef LRA_CUDA_GRID_H
#define LRA_CUDA_GRID_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum number of blocks that CUDA allows along y and along z. Along x the maximum is 2^31 -
 * 1. */
enum { LRA_MAX_GRID_Y = 65535 };
/* True if CUDA allows a grid of this size. */
static inline bool lra_grid_allowed(unsigned x, unsigned y, unsigned z)
{
    return x > 0 && y > 0 && z > 0 && x <= INT32_MAX && y <= LRA_MAX_GRID_Y && z <= LRA_MAX_GRID_Y;
}

#endif
