/* The inputs of the checks of a model (check.h). */
#ifndef LRA_PROBES_AUDIT_CHECK_SPEC_H
#define LRA_PROBES_AUDIT_CHECK_SPEC_H

#include "probes/shared/responder.h"

typedef struct {
    const lra_request *examples; /* up to 200 rows without keep and place */
    const int32_t *label;        /* (B); -1: none. Nullable: a regression, or no labels */
    int64_t batch;               /* rows of a request */
    int32_t pad;                 /* token at positions >= length */
    int64_t longest;             /* tokens that a request may have; 0: any */
    uint64_t seed;
} lra_check_spec;

#endif
