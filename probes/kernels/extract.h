/* The convolution kernels of a run, found in its network by op, by initial and by selected weights.
 *   long_conv   the kernel that it reads, whatever makes it: parameters, a state space, averages
 *   conv        taps of each output channel: vectors with a number for each input of its group
 *   scan        what its recurrence and the dense layers around it do together (scans.h): vectors
 *               as above; of very many numbers some outputs, evenly spread
 * A kernel that a state space makes is closed: its modes are known, and with them its energy beyond
 * any lag. */
#ifndef LRA_PROBES_KERNELS_EXTRACT_H
#define LRA_PROBES_KERNELS_EXTRACT_H

#include "analysis/kernel_shape.h"
#include "models/training/loaded_model.h"
#include "probes/kernels/numbers.h"

typedef struct {
    int n;
    lra_extracted_kernels *kernels;
} lra_extract;

/* Of the longest examples of the run.  The run's data must be loaded.  skip: D u beside a kernel is
 * its lag 0 (skip.h). */
int lra_extract_open(lra_extract *f, const lra_train_spec *run, lra_device *device, bool skip,
                     lra_err *e);
void lra_extract_close(lra_extract *f);
/* The name of a node for people: "encoder/layer0/conv/long_conv" is "layer0.conv".  The caller
 * frees it. */
char *lra_found_name(const lra_tensor *node);
/* Channel c of them, and its moduli where there are some. */
lra_kernel lra_extract_channel(const lra_extracted_kernels *k, int state, int64_t c);
lra_kernel lra_extract_modulus(const lra_extracted_kernels *k, int state, int64_t c);

#endif
