/* A row of table locality: a model with its metric and its distances, over its seeds. */
#ifndef LRA_REPORTS_VIEWS_LOCALITY_ROW_H
#define LRA_REPORTS_VIEWS_LOCALITY_ROW_H

#include "analysis/interval.h"
#include "analysis/measurement.h"
#include "reports/results/result_metric.h"

/* A measurement of the table: LRA_LOCALITY_MEAN and others. */
typedef enum {
#define LRA_LOCALITY(name, source, id, columns) LRA_LOCALITY_##name,
#include "reports/views/locality.def"
#undef LRA_LOCALITY
    LRA_LOCALITIES
} lra_locality;

typedef struct {
    const char *id; /* id of the measurement, "dist.mean.rel" */
    /* prefix of the column's head and key; "kernels", "heads" for measurements of layers; NULL:
     * none */
    const char *prefix;
    const char *columns; /* columns to show, as in locality.def */
} lra_locality_column;
lra_locality_column lra_locality_column_of(lra_locality what);

/* Mask: the positions that an output can depend on. Models with different masks are not
 * comparable. */
typedef enum { LRA_MASK_BOTH, LRA_MASK_CAUSAL, LRA_MASK_UNKNOWN, LRA_MASKS } lra_mask;
extern const char *const lra_mask_names[LRA_MASKS]; /* "both", "causal", "unknown" */

typedef struct {
    const lra_result_group *group;
    char *name;
    lra_estimate value;                 /* value of the task's metric */
    lra_measurement at[LRA_LOCALITIES]; /* measurements; NAN if missing */
    /* the same at initialisation, over the same seeds; NAN if missing */
    lra_measurement initial[LRA_LOCALITIES];
    /* reason for a missing value; NULL: the value exists */
    const char *missing[LRA_LOCALITIES];
    lra_mask mask;
    /* LRA_LOCALITY_MEAN after training minus at initialisation: mean over seeds with its 95 %
     * interval by Student's t with S - 1 degrees of freedom; no interval for one seed; NAN:
     * unknown */
    lra_measurement grew;
    int decay[3];   /* number of seeds by kind of decay: none, exponential, power */
    bool ahead;     /* true if lra_probe_equal_ahead() is true for a seed */
    bool reference; /* true: a reference result (locality_reference.h) */
} lra_locality_row;

#endif
