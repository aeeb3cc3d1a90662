/* Values of the kernels of one layer, with initial weights and with those of the best
 * checkpoint. */
#ifndef LRA_PROBES_KERNELS_NUMBERS_H
#define LRA_PROBES_KERNELS_NUMBERS_H

#include "probes/kernels/modes.h"

enum { LRA_FOUND_INITIAL, LRA_FOUND_TRAINED, LRA_FOUND_STATES };

typedef struct {
    char *name;     /* name of the layer, for example "layer0.conv" */
    const char *op; /* op that uses the kernels, for example "long_conv" */
    int64_t channels, components, behind, ahead;
    int64_t step; /* channel c is output channel c * step of the layer */
    /* (channels, components, behind + ahead) kernel values; see kernel_shape.h */
    double *k[LRA_FOUND_STATES];
    /* modes; rows = 0 if the kernels do not come from a state space */
    lra_modes mode[LRA_FOUND_STATES];
    /* (channels, behind + ahead) moduli of the complex kernels whose real parts are k; with several
     * components, their norms. NAN: unknown for this channel. NULL: the kernels are real. */
    double *mod[LRA_FOUND_STATES];
    /* (channels) D, which was added at lag 0; NULL: not added, or no direct path */
    double *skip[LRA_FOUND_STATES];
    /* (channels) share of the energy beyond the lags of k; NULL: unknown */
    double *cut[LRA_FOUND_STATES];
} lra_extracted_kernels;

#endif
