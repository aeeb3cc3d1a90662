/* Distance of the tokens that models rely on, from results and the probe files in their folders: a
 * row for each model, over its seeds.  The entire model is measured by its Jacobians and by
 * distance limits (influence); its layers by their kernels and heads (kernels, attention). */
#ifndef LRA_REPORTS_VIEWS_LOCALITY_VIEW_H
#define LRA_REPORTS_VIEWS_LOCALITY_VIEW_H

#include "reports/views/probe_view.h"
#include "reports/report_input.h"
#include "reports/results/result_metric.h"

/* A measurement of the table: LRA_LOCALITY_MEAN and others. */
typedef enum {
#define LRA_LOCALITY(name, source, id, columns) LRA_LOCALITY_##name,
#include "reports/views/locality.def"
#undef LRA_LOCALITY
    LRA_LOCALITIES
} lra_locality;

typedef struct {
    const char *id;      /* of the measurement: "dist.mean.rel" */
    const char *prefix;  /* of its head and key, NULL: none; "kernels", "heads": of the layers */
    const char *columns; /* as in locality.def */
} lra_locality_column;
lra_locality_column lra_locality_column_of(lra_locality what);

/* Mask: the positions that a model may use; models with different masks are not comparable. */
typedef enum { LRA_MASK_BOTH, LRA_MASK_CAUSAL, LRA_MASK_UNKNOWN, LRA_MASKS } lra_mask;
extern const char *const lra_mask_names[LRA_MASKS]; /* "both", "causal", "unknown" */

typedef struct {
    const lra_result_group *group;
    char *name;
    lra_estimate value;                      /* of the task's metric */
    lra_measurement at[LRA_LOCALITIES];      /* NAN where it is missing */
    lra_measurement initial[LRA_LOCALITIES]; /* before training, over the same seeds; NAN: none */
    const char *missing[LRA_LOCALITIES];     /* reason for a missing value; NULL: present */
    lra_mask mask;
    /* LRA_LOCALITY_MEAN after training minus at initialisation: mean of the seeds' differences, 95
     * % by Student's t, S - 1 degrees of freedom; one seed: no interval; NAN: not known */
    lra_measurement grew;
    int decay[3]; /* seeds by kind of decay: none, exp, power */
    bool ahead;   /* lra_probe_equal_ahead() of a seed */
} lra_locality_row;

typedef struct {
    int n, n_groups;
    lra_locality_row *row; /* by task, preset and mask, the most local first */
    lra_result_group *groups;
    void *index; /* files of probes by their runs */
    int n_indexed;
} lra_locality_view;

/* Makes the view of in->list and of in->probes of any kind.  Fails if there are no results. */
int lra_locality_open(lra_locality_view *v, const lra_report_input *in, lra_err *e);
void lra_locality_close(lra_locality_view *v);
/* Counts the rows with a known growth by their interval: entirely above 0, entirely below 0,
 * neither. */
void lra_locality_growth(const lra_locality_view *v, int *grew, int *fell, int *undecided);
/* The file of a probe on that run; NULL: there is none. */
const lra_probe_result *lra_locality_probe(const lra_locality_view *v, const lra_result *r,
                                           const char *probe);
/* "listops, quick, f32"; the caller frees it. */
char *lra_locality_data_name(const lra_locality_row *r);

#endif
