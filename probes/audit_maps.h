/* The parts `attention` and `kernels` of lra-probe audit. They are measured as by the commands of
 * these names, and each has a file of its own in the run folder. */
#ifndef LRA_PROBES_AUDIT_MAPS_H
#define LRA_PROBES_AUDIT_MAPS_H

#include "kernels/base/cli/options.h"
#include "probes/shared/subject.h"
#include "reports/results/probe_result.h"

typedef struct {
    const lra_options *options;
    const lra_subject *subject;
    const char *folder; /* run folder; its result.h5 exists unless --dry-run is set */
    /* Returns the reason why a part is not measured. Nullable: NULL is returned for all parts */
    const char *(*refused)(const void *context, const char *part);
    const void *context;
    const lra_model_checks *checks; /* check table of the model, for the file. Nullable */
} lra_audit_maps;

/* Name of part i: attention, kernels; NULL: there are no more. */
const char *lra_audit_maps_part(int i);
/* True if --parts names the part, or is missing. */
bool lra_audit_maps_wants(const lra_options *o, int part);
/* True if the command measures parts of lra-probe influence: --parts is missing, or names one. */
bool lra_audit_maps_others(const lra_options *o);
/* Reason why part i is undefined for the model; NULL: it is defined. */
const char *lra_audit_maps_undefined(const lra_audit_maps *m, int part);
/* Measures part i, unless the folder has the same measurements, and writes FOLDER/PART.h5. *out:
 * the measurements, which the caller frees, or NULL if the part is undefined for this model; then,
 * if --parts names nothing else, fails with the reason. */
int lra_audit_maps_measure(const lra_audit_maps *m, int part, lra_probe_result **out, lra_err *e);
/* Makes the requests of part i for a plan (audit/offline.h), and writes nothing. */
int lra_audit_maps_plan(const lra_audit_maps *m, int part, lra_err *e);

#endif
