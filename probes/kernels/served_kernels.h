/* The kernels of a run for kernels() of the engine's responder, which `lra-probe serve` adds. */
#ifndef LRA_PROBES_KERNELS_SERVED_KERNELS_H
#define LRA_PROBES_KERNELS_SERVED_KERNELS_H

#include "probes/kernels/extract.h"
#include "probes/shared/engine_responder.h"

typedef struct {
    lra_engine_kernels base;
    const lra_train_spec *run;
    lra_device *device;
    lra_extract names;        /* names and sizes of the kernels, without values */
    const char **layer;       /* (names.n) names of the layers */
    char *uncovered;          /* uncovered.h */
    lra_extract values;       /* kernels of the last requested weights; n 0: none */
    lra_weights_kind weights; /* the weights from which `values` were computed */
} lra_served_kernels;

/* Finds the kernels of a run, whose data are loaded; values are computed on request. base.n is 0 if
 * there are none. The caller closes s, also after a failure. */
int lra_served_kernels_open(lra_served_kernels *s, const lra_train_spec *run, lra_device *device,
                            lra_err *e);
void lra_served_kernels_close(lra_served_kernels *s);

#endif
