/* Kernels of a model that answers requests, or of a file, measured by the code that measures those
 * of the built-in models (layer_measurements.h). Modes are unknown, so there are no mode.* and
 * kernel.cut. */
#ifndef LRA_PROBES_KERNELS_OF_MODEL_H
#define LRA_PROBES_KERNELS_OF_MODEL_H

#include "probes/kernels/extract.h"
#include "probes/shared/subject.h"
#include "reports/results/probe_result.h"

/* Requests the kernels of all layers, with the trained weights and, if the model answers reset(),
 * with initial ones. The caller closes f, also after a failure. */
int lra_extract_of_model(const lra_subject *s, lra_extract *f, lra_err *e);
/* Appends a layer; `name` is copied, f->kernels grows. Fails if the trained and the initial kernels
 * have different shapes. Nullable: initial (or its number of channels is 0: unknown) */
int lra_extract_add(lra_extract *f, const char *name, const lra_kernels_answer *trained,
                    const lra_kernels_answer *initial, lra_err *e);
/* Adds a unit for each layer and, if only kernels mix positions, the unit "model". uncovered:
 * lra_responder_facts.uncovered. Nullable: uncovered */
void lra_kernels_measure(const lra_extract *f, int64_t columns, const char *uncovered,
                         lra_probe_result *r);

#endif
