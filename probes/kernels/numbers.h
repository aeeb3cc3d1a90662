/* The numbers of the kernels of one layer, with initial and with selected weights. */
#ifndef LRA_PROBES_KERNELS_NUMBERS_H
#define LRA_PROBES_KERNELS_NUMBERS_H

#include "probes/kernels/modes.h"

enum { LRA_FOUND_INITIAL, LRA_FOUND_TRAINED, LRA_FOUND_STATES };

typedef struct {
    char *name;     /* "layer0.conv" */
    const char *op; /* "long_conv" */
    int64_t channels, components, behind, ahead;
    int64_t step;                /* channel c is output c * step */
    double *k[LRA_FOUND_STATES]; /* (channels, components, behind + ahead), see kernel_shape.h */
    lra_modes mode[LRA_FOUND_STATES]; /* rows 0: not of a state space */
    /* (channels, behind + ahead) moduli of complex kernels, of which k are the real parts; of
     * vectors, their norms; NAN: unknown for this channel. NULL: the kernels are real. */
    double *mod[LRA_FOUND_STATES];
    double *skip[LRA_FOUND_STATES]; /* (channels) D, counted at lag 0; NULL: not counted, or none */
    double *cut[LRA_FOUND_STATES];  /* (channels) share of energy beyond the lags; NULL: unknown */
} lra_extracted_kernels;

#endif
