/* Which level the kernels of a GPU use when nobody says so: the fastest that passes a trial.  A
 * trial runs in a process of its own, since a kernel that waits for ever cannot be ended in this
 * one. */
#ifndef LRA_CUDA_SELF_TEST_H
#define LRA_CUDA_SELF_TEST_H

#include <stddef.h>

#include "kernels/cuda/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_SELF_TEST_SECONDS = 20 };

/* "plain", "mma", "wgmma" */
const char *lra_cuda_level_name(lra_cuda_level_kind level);
/* Trials are this program once more, with these arguments (argv[0] first, NULL last) and
 * LRA_CUDA_LEVEL in its environment; exit code 0: passed.  NULL, as at first: there are none. */
void lra_cuda_self_test_by(char *const *argv);
/* The level, and in `why` (n bytes) the faults of those above it, "" where there are none.  Without
 * trials, and below compute capability 9.0: mma.  seconds: of each trial. */
lra_cuda_level_kind lra_cuda_self_test(int capability, double seconds, char *why, size_t n);

#ifdef __cplusplus
}
#endif
#endif
