/* Distance of the tokens on which models rely, from results and the probe files in their folders:
 * one row per model, over its seeds. The complete model is measured by its Jacobians and by
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
    bool reference; /* true if the row is a reference result, from a file with the same table */
} lra_locality_row;

typedef struct {
    int n, n_groups;
    char *made;            /* origin of the reference results (locality_reference.h); NULL: none */
    lra_locality_row *row; /* rows by task, preset and mask, in ascending order of distance */
    lra_result_group *groups;
    void *index; /* sorted list of probe files by run */
    int n_indexed;
} lra_locality_view;

/* Creates the view from in->list, from in->probes of any kind, and from in->reference. Fails if there are no results. */
int lra_locality_open(lra_locality_view *v, const lra_report_input *in, lra_err *e);
void lra_locality_close(lra_locality_view *v);
/* Counts the rows with a known growth: those whose interval lies entirely above 0, entirely below
 * 0, and the others. */
void lra_locality_growth(const lra_locality_view *v, int *grew, int *fell, int *undecided);
/* The file of a probe on this run, or NULL. */
const lra_probe_result *lra_locality_probe(const lra_locality_view *v, const lra_result *r,
                                           const char *probe);
/* Name of the data of a row: "listops, quick, f32". The caller frees it. */
char *lra_locality_data_name(const lra_locality_row *r);

#endif
