/* Kernel self-test: selects the default instruction level of a GPU's kernels, which is the fastest
 * one that passes. The test runs in a child process, because a kernel that does not terminate
 * cannot be stopped in this process. */
#ifndef LRA_CUDA_SELF_TEST_H
#define LRA_CUDA_SELF_TEST_H

#include <stddef.h>

#include "kernels/cuda/level.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LRA_SELF_TEST_SECONDS = 20 };

/* Name of a level: "plain", "mma", "wgmma". */
const char *lra_cuda_level_name(lra_cuda_level_kind level);
/* Sets the program of the self-test. It is started with these arguments (argv[0] first, NULL last)
 * and LRA_CUDA_LEVEL in its environment; exit code 0 means passed. NULL (initially): no
 * self-test. */
void lra_cuda_self_test_by(char *const *argv);
/* Runs the self-test and returns the level. why (n bytes): the errors of higher levels, "" if there
 * are none. Without a self-test, and below compute capability 9.0, the level is mma. seconds: time
 * limit per level. */
lra_cuda_level_kind lra_cuda_self_test(int capability, double seconds, char *why, size_t n);

#ifdef __cplusplus
}
#endif
#endif
