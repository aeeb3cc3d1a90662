/* The convolution kernels of a run, found in its network by op, by initial and by selected weights.
 *   long_conv   the kernel that it reads, whatever makes it: parameters, a state space, averages
 *   conv        taps of each output channel: vectors with a number for each input of its group
 *   scan        what its recurrence and the dense layers around it do together (scans.h): vectors
 *               as above; of very many numbers some outputs, evenly spread
 * A kernel that a state space makes is closed: its modes are known, and with them its energy beyond
 * any lag. */
#ifndef LRA_PROBES_KERNELS_FOUND_H
#define LRA_PROBES_KERNELS_FOUND_H

#include "analysis/kernel_shape.h"
#include "models/training/open.h"
#include "probes/kernels/modes.h"

enum { LRA_FOUND_INITIAL, LRA_FOUND_TRAINED, LRA_FOUND_STATES };

typedef struct {
    char *name;     /* "layer0.conv" */
    const char *op; /* "long_conv" */
    int64_t channels, components, behind, ahead;
    double *k[LRA_FOUND_STATES]; /* (channels, components, behind + ahead), see kernel_shape.h */
    lra_modes mode[LRA_FOUND_STATES]; /* rows 0: not of a state space */
    double *cut[LRA_FOUND_STATES]; /* (channels) share of energy beyond the lags; NULL: the same */
} lra_found_kernels;

typedef struct {
    int n;
    lra_found_kernels *kernels;
} lra_found;

/* Of the longest examples of the run.  The run's data must be loaded. */
int lra_found_open(lra_found *f, const lra_train_spec *run, lra_device *device, lra_err *e);
void lra_found_close(lra_found *f);
/* Channel c of them. */
lra_kernel lra_found_channel(const lra_found_kernels *k, int state, int64_t c);

#endif
