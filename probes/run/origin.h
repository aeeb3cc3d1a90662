/* Origin of this program's results: version, libraries, device. */
#ifndef LRA_PROBES_RUN_ORIGIN_H
#define LRA_PROBES_RUN_ORIGIN_H

#include "kernels/base/core/origin.h"
#include "kernels/graph/backend.h"

/* The libraries that results depend on, with their versions; caller frees. */
char *lra_probe_libraries(void);
/* Origin record of this program on a device; the caller frees it with lra_origin_free(). */
void lra_probe_origin(const lra_device *d, lra_origin *o);

#endif
