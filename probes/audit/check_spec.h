/* The inputs of the checks of a model (check.h). */
#ifndef LRA_PROBES_AUDIT_CHECK_SPEC_H
#define LRA_PROBES_AUDIT_CHECK_SPEC_H

#include "probes/shared/responder.h"

typedef struct {
    const lra_request *examples; /* at most 200 rows; their keep and place are NULL */
    const int32_t *label;        /* (B) class, -1: no label. Nullable: regression, or no labels */
    int64_t batch;               /* number of rows of a request */
    int32_t pad;                 /* token at padding positions */
    int64_t longest;             /* maximum number of tokens of a request; 0: no maximum */
    uint64_t seed;
    bool untimed; /* true: the speed of the answers is not that of the model */
} lra_check_spec;

#endif
