/* Distance of the tokens on which models rely, from results and the probe files in their folders:
 * one row per model, over its seeds. The complete model is measured by its Jacobians and by
 * distance limits (influence); its layers by their kernels and heads (kernels, attention). */
#ifndef LRA_REPORTS_VIEWS_LOCALITY_VIEW_H
#define LRA_REPORTS_VIEWS_LOCALITY_VIEW_H

#include "reports/views/locality_row.h"
#include "reports/views/probe_view.h"
#include "reports/report_input.h"
#include "reports/results/result_metric.h"

typedef struct {
    int n, n_groups;
    char *made;            /* origin of the reference results (locality_reference.h); NULL: none */
    lra_locality_row *row; /* rows by task, preset and mask, in ascending order of distance */
    lra_result_group *groups;
    void *index; /* sorted list of probe files by run */
    int n_indexed;
} lra_locality_view;

/* Creates the view from in->list, from in->probes of any kind, and from in->reference. Fails if
 * there are no results. */
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
