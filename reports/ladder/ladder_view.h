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

/* One ladder: rungs by value of the axis (stored as `kernel` in data and ladder for every axis),
 * each with its seeds.  If smaller values of the metric are better, the ladder and its data hold
 * the negatives: lra_ladder_value() undoes it. */
typedef struct {
    const lra_result *first; /* any of them: task, preset, precision */
    lra_ladder_kind kind;
    const lra_result *run[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    const lra_metric *metric;
    lra_ladder_data data; /* n_seeds: the fewest of a rung */
    lra_ladder ladder;
    char reference[128]; /* in words: "the widest rung" */
    const char *chance;  /* "the label most frequent in training" */
    int n_left_out;      /* number of duplicate results */
    void **owned;        /* rows that data and info hold */
    int n_owned;
    /* ---- diagnostics (ladder_diagnostics.c) ---- */
    int best_rung;   /* on validation; -1: not recorded */
    lra_ladder best; /* ladder with the best rung as reference, if that is neither the widest nor
                        the reference */
    bool has_best, has_info, has_gap;
    lra_ladder info;  /* of information in nats: losses, negative */
    lra_estimate gap; /* generalisation gap: that of the reference minus that of the narrowest
                         rung */
    double train[LRA_LADDER_MAX_RUNGS]; /* of the metric, mean over seeds; NAN: not recorded */
    double val[LRA_LADDER_MAX_RUNGS];
    const char *simple; /* the best baseline that needs no order; NULL: none */
    lra_estimate above_simple[LRA_LADDER_MAX_RUNGS]; /* rung minus baseline, paired */
    int n_rivals;
    lra_ladder_rival rival[LRA_MAX_BASELINES];
    unsigned flags; /* LRA_FLAG_... */
} lra_ladder_view;

/* Converts a value, or an interval, of the ladder to the metric (undoes the negation). */
double lra_ladder_value(const lra_ladder_view *v, double score);
lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score);
/* Adds columns that identify a ladder in CSV and JSON: data, axis, match, settings (all options of
 * the configuration that the rungs share). */
void lra_ladder_add_identity(const lra_ladder_view *v, lra_table *t);
/* Hands rows over to the view, which frees them; returns rows. */
void *lra_ladder_keep(lra_ladder_view *v, void *rows);
/* Computes the ladder; an error names the rungs that do not make one. */
int lra_ladder_run(const lra_ladder_data *d, lra_ladder *to, lra_err *e);

#endif
