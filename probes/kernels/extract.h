/* Extracts the convolution kernels of a run, with the initial weights and with those of the best
 * checkpoint. Kernels are found in the network by op:
 *   long_conv   the kernel that the op reads, from any source: parameters, a state space, averages
 *   conv        taps of each output channel: a vector per lag, with one value for each input
 *               channel of its group
 *   scan        the combined kernel of the recurrence and of the dense layers around it
 *               (scan_kernels.h): vectors as for conv; if there are very many outputs, an evenly
 *               spaced sample of them
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

/* Extracts the kernels at the length of the run's longest examples. The data of the run must be
 * loaded. skip: the direct path D u of a kernel is added to its lag 0 (skip.h). */
int lra_extract_open(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                     lra_err *e);
/* Same with any weights: state s, below n_states, has those of which[s]. n_states 0: the kernels
 * have names and sizes, but no values. */
int lra_extract_states(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                       int n_states, const lra_weights_kind *which, lra_err *e);
void lra_extract_close(lra_extract *f);
/* Short name of a node: "layer0.conv" for "encoder/layer0/conv/long_conv". The caller frees it. */
char *lra_found_name(const lra_tensor *node);
/* View of the kernel of channel c, and of its moduli, which must exist. Nothing is copied. */
lra_kernel lra_extract_channel(const lra_extracted_kernels *k, int state, int64_t c);
lra_kernel lra_extract_modulus(const lra_extracted_kernels *k, int state, int64_t c);

#endif
