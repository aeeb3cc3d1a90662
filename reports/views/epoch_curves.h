/* Figures of the metric on the validation split by training epoch: one panel for each task, one
 * curve for each model. Thin lines: seeds; thick line: their mean, up to the last epoch that all
 * seeds have; hollow points at the right edge: published values. */
#ifndef LRA_REPORTS_VIEWS_EPOCH_CURVES_H
#define LRA_REPORTS_VIEWS_EPOCH_CURVES_H

#include "reports/draw/plot.h"
#include "reports/report_input.h"

typedef struct {
    const char *figure, *title;
    /* Tasks in the order of the panels, NULL-terminated; tasks without results have no panel. */
    const char *const *task;
    const char *metric;        /* name in the published table: "bpb" */
    const char *paper, *table; /* of the published values */
} lra_epoch_curves;

int lra_epoch_curves_make(const lra_epoch_curves *s, const lra_report_input *in, lra_plot *f,
                          lra_err *e);

#endif
