/* Extracts the convolution kernels of a run, found in its network by op, for the initial and for
 * the selected weights.
 *   long_conv   the kernel that it reads, from any source: parameters, a state space, averages
 *   conv        taps of each output channel: vectors with a number for each input of its group
 *   scan        the combined kernel of its recurrence and the dense layers around it
 *               (scan_kernels.h): vectors as above; of very many outputs a sample, evenly spread
 * The kernel of a state space has a closed form: its modes are known, and with them its energy
 * beyond any lag. */
#ifndef LRA_PROBES_KERNELS_EXTRACT_H
#define LRA_PROBES_KERNELS_EXTRACT_H

#include "analysis/kernel_shape.h"
#include "models/training/loaded_model.h"
#include "probes/kernels/numbers.h"

typedef struct {
    int n;
    lra_extracted_kernels *kernels;
} lra_extract;

/* Extracts at the length of the run's longest examples. The run's data must be loaded. skip: the
 * direct path D u of a kernel is counted as its lag 0 (skip.h). */
int lra_extract_open(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                     lra_err *e);
void lra_extract_close(lra_extract *f);
/* Short name of a node: "encoder/layer0/conv/long_conv" is "layer0.conv". The caller frees it. */
char *lra_found_name(const lra_tensor *node);
/* Copies channel c of the kernels, and its moduli if there are any. */
lra_kernel lra_extract_channel(const lra_extracted_kernels *k, int state, int64_t c);
lra_kernel lra_extract_modulus(const lra_extracted_kernels *k, int state, int64_t c);

#endif
