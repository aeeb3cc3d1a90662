/* Kernel self-test: selects the default level of a GPU's kernels, the fastest one that passes.  The
 * test runs in a child process, since a kernel that does not terminate cannot be stopped in this
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
/* The self-test starts this program with these arguments (argv[0] first, NULL last) and
 * LRA_CUDA_LEVEL in its environment; exit code 0: passed.  NULL (initially): no self-test. */
void lra_cuda_self_test_by(char *const *argv);
/* Returns the level, and in `why` (n bytes) the faults of higher levels, "" if there are none.
 * Without a self-test, and below compute capability 9.0: mma.  seconds: time limit of each
 * level. */
lra_cuda_level_kind lra_cuda_self_test(int capability, double seconds, char *why, size_t n);

#ifdef __cplusplus
}
#endif
#endif
