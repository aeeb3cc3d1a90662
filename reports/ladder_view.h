/* Ladders from result files: which results belong together, and what the analysis says of them. */
#ifndef LRA_REPORTS_LADDER_VIEW_H
#define LRA_REPORTS_LADDER_VIEW_H

#include "analysis/ladder.h"
#include "kernels/base/options.h"
#include "reports/measure.h"
#include "reports/result.h"

/* What gains are measured against: options that both programs share. */
extern const lra_option lra_ladder_scale_options[]; /* --reference --chance */
typedef struct {
    const char
        *reference;  /* "widest", "published", a run; NULL: published for `paper`, else widest */
    lra_result *run; /* of a reference that is a run */
    bool uniform;    /* chance is one over the number of classes */
} lra_ladder_scale;
/* A run is a result file, a run folder, or the name of one below OUT/runs. */
int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e);
void lra_ladder_scale_close(lra_ladder_scale *s);

/* One ladder: rungs by kernel, seeds that every rung has.  Where less of the metric is better, the ladder and its data
 * hold the negatives: lra_ladder_value() undoes it. */
typedef struct {
    const lra_result *first; /* any of them: task, preset, precision */
    const lra_result *run[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    uint8_t *correct[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    const lra_metric *metric;
    lra_measure *measure; /* of the metric; NULL: accuracies */
    double *row[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    double *reference_row;
    lra_ladder_data data;
    lra_ladder ladder;
    char reference[128]; /* in words: "the widest rung" */
    const char *chance;  /* "the most frequent class" */
    uint8_t *reference_correct;
    int n_left_out; /* results whose seed not every rung has */
} lra_ladder_view;

/* The ladders in a list of results (same task, data, preset, precision and configuration but for kernel
 * and seed); returns their number, or -1.  The results must outlive the views. */
int lra_ladder_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                     lra_ladder_view **views, lra_err *e);
/* Those of them whose metric is accuracy; fails when there is none. */
int lra_ladder_accuracy_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                              lra_ladder_view **views, lra_err *e);
/* The same, or, where there is none, all of them, which must share a metric: what fits on one axis. */
int lra_ladder_alike_views(lra_result *const *list, int n, const lra_ladder_scale *scale,
                           lra_ladder_view **views, lra_err *e);
/* A number, or an interval, of the ladder as a value of the metric. */
double lra_ladder_value(const lra_ladder_view *v, double score);
lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score);
void lra_ladder_views_free(lra_ladder_view *views, int n);

#endif
