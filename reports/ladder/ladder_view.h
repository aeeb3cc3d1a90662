/* One ladder for reports: its results and their analysis. */
#ifndef LRA_REPORTS_LADDER_LADDER_VIEW_H
#define LRA_REPORTS_LADDER_LADDER_VIEW_H

#include "analysis/ladder.h"
#include "reports/ladder/ladder_rungs.h"
#include "reports/results/result_metric.h"
#include "reports/results/result.h"
#include "reports/print/table.h"

enum { LRA_LADDER_REPLICATES = LRA_REPLICATES };

/* A baseline that is better than the reference. */
typedef struct {
    const char *name;
    lra_estimate above; /* baseline minus reference, paired */
    double li;          /* index with this baseline as reference; NAN: none */
} lra_ladder_rival;

/* One ladder: rungs by value of the axis (stored as `kernel` in data and ladder, whatever the axis
 * is), each with its seeds. If smaller values of the metric are better, the ladder and its data
 * contain negated values; lra_ladder_value() undoes this. */
typedef struct {
    /* any of the results, for the properties that all share: task, preset, precision */
    const lra_result *first;
    lra_ladder_kind kind;
    const lra_result *run[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    const lra_metric *metric;
    lra_ladder_data data; /* data.n_seeds: smallest number of seeds of a rung */
    lra_ladder ladder;
    char reference[128]; /* reference as text: "the widest rung" */
    const char *chance;  /* chance as text: "the label most frequent in training" */
    int n_left_out;      /* number of duplicate results that are not used */
    void **owned;        /* arrays to which data and info point */
    int n_owned;
    /* ---- diagnostics (ladder_diagnostics.c) ---- */
    int best_rung; /* index of the best rung on validation; -1: not recorded */
    /* ladder with the best rung as reference, if the best rung is neither the widest nor the
     * reference */
    lra_ladder best;
    bool has_best, has_info, has_gap;
    lra_ladder info;  /* ladder of negative losses, for the information in nats */
    lra_estimate gap; /* generalisation gap of the reference minus that of the narrowest rung */
    /* metric on the training sample, mean over seeds; NAN: not recorded */
    double train[LRA_LADDER_MAX_RUNGS];
    double val[LRA_LADDER_MAX_RUNGS];
    const char *simple; /* the best order-free baseline; NULL: none */
    /* value of each rung minus that baseline, paired */
    lra_estimate above_simple[LRA_LADDER_MAX_RUNGS];
    int n_rivals;
    lra_ladder_rival rival[LRA_MAX_BASELINES];
    unsigned flags; /* bit mask of LRA_FLAG_.. */
} lra_ladder_view;

/* Convert a value, or an interval, of the ladder to the metric (undo the negation). */
double lra_ladder_value(const lra_ladder_view *v, double score);
lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score);
/* Adds columns that identify a ladder in CSV and JSON: data, axis, match, settings (all options of
 * the configuration that the rungs share). */
void lra_ladder_add_identity(const lra_ladder_view *v, lra_table *t);
/* Gives an array to the view, which frees it; returns the array. */
void *lra_ladder_keep(lra_ladder_view *v, void *rows);
/* Computes the ladder; an error message names the rungs that cannot form a ladder. */
int lra_ladder_run(const lra_ladder_data *d, lra_ladder *to, lra_err *e);

#endif
