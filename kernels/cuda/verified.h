/* GPU models on which tests/gpu.sh has passed. The script records a model in a file of the user.
 * Until then the GPU is called experimental when it is opened. */
#ifndef LRA_CUDA_VERIFIED_H
#define LRA_CUDA_VERIFIED_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Path of this file: XDG_STATE_HOME/lra-locality/verified-gpus, else
 * ~/.local/state/lra-locality/... NULL if neither variable is set. To be freed with lra_free(). */
char *lra_cuda_verified_file(void);
/* True if a line of the file begins with the model ("NVIDIA H100 80GB HBM3") and a tab. */
bool lra_cuda_is_verified(const char *model);

#ifdef __cplusplus
}
#endif
#endif
