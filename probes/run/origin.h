/* Origin of this program's results: version, libraries, device. */
#ifndef LRA_PROBES_RUN_ORIGIN_H
#define LRA_PROBES_RUN_ORIGIN_H

#include "kernels/base/core/origin.h"
#include "kernels/graph/backend.h"

/* Names and versions of the libraries on which results depend. The caller frees it. */
char *lra_probe_libraries(void);
/* Fills the origin record of this program on a device; lra_origin_free() frees it. */
void lra_probe_origin(const lra_device *d, lra_origin *o);

#endif
