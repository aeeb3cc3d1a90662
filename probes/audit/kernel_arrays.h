/* Convolution kernels as arrays of a message or of a safetensors file.
 *   kernel           (channels,lags) or (channels,components,lags), lag 0 first, looking back
 *   kernel_back      the other direction; its first lag is the next token
 *   kernel_im, kernel_back_im   imaginary parts, if the kernels are complex
 * In a file the names are kernel/LAYER, kernel/LAYER/back, kernel/LAYER/im, kernel/LAYER/back/im,
 * and kernel0/LAYER.. at initialisation. All but the first are optional. */
#ifndef LRA_PROBES_AUDIT_KERNEL_ARRAYS_H
#define LRA_PROBES_AUDIT_KERNEL_ARRAYS_H

#include "probes/audit/wire.h"

/* Reads the arrays of an answer to `kernels`; fails if they have more than `lags` lags, different
 * channels, or numbers that are not finite. The caller frees *out, also after a failure. */
int lra_kernels_of_message(const lra_safetensors *t, int64_t lags, lra_kernels_answer *out,
                           lra_err *e);
/* Reads the arrays PREFIX/LAYER.. of a file. */
int lra_kernels_of_file(const lra_safetensors *t, const char *prefix, const char *layer,
                        lra_kernels_answer *out, lra_err *e);
/* Adds the arrays of an answer to a message. Of complex kernels only the moduli are known, so the
 * imaginary part is sqrt(modulus^2 - real part^2); with several components, it is stored in the
 * first one. */
void lra_kernels_to_message(const lra_kernels_answer *k, lra_wire *to);
void lra_kernels_answer_free(lra_kernels_answer *k);

#endif
