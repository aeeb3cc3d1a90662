/* One ladder as reports see it: its results, and what the analysis says of them. */
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
    lra_estimate above; /* it less the reference, paired */
    double li;          /* the index against it; NAN: none */
} lra_ladder_rival;

/* One ladder: rungs by value of its axis (`kernel` in data and ladder, whatever the key), each with
 * its seeds.  Where less of the metric is better, the ladder and its data hold the negatives:
 * lra_ladder_value() undoes it. */
typedef struct {
    const lra_result *first; /* any of them: task, preset, precision */
    lra_ladder_kind kind;
    const lra_result *run[LRA_LADDER_MAX_RUNGS][LRA_LADDER_MAX_SEEDS];
    const lra_metric *metric;
    lra_ladder_data data; /* n_seeds: the fewest of a rung */
    lra_ladder ladder;
    char reference[128]; /* in words: "the widest rung" */
    const char *chance;  /* "the label most frequent in training" */
    int n_left_out;      /* results that are there twice */
    void **owned;        /* rows that data and info hold */
    int n_owned;
    /* ---- beside the index (ladder_beside.c) ---- */
    int best_rung;   /* on validation; -1: not recorded */
    lra_ladder best; /* against it, where that is neither the widest nor the reference */
    bool has_best, has_info, has_gap;
    lra_ladder info;  /* of information in nats: losses, negative */
    lra_estimate gap; /* training less validation: reference less narrowest rung */
    double train[LRA_LADDER_MAX_RUNGS]; /* of the metric, mean over seeds; NAN: not recorded */
    double val[LRA_LADDER_MAX_RUNGS];
    const char *simple; /* the best baseline that needs no order; NULL: none */
    lra_estimate above_simple[LRA_LADDER_MAX_RUNGS]; /* rung less it, paired */
    int n_rivals;
    lra_ladder_rival rival[LRA_MAX_BASELINES];
    unsigned flags; /* LRA_FLAG_... */
} lra_ladder_view;

/* A number, or an interval, of the ladder as a value of the metric. */
double lra_ladder_value(const lra_ladder_view *v, double score);
lra_estimate lra_ladder_values(const lra_ladder_view *v, lra_estimate score);
/* Columns for programs that tell ladders apart: data, axis, match, settings (every option of the
 * configuration that all its rungs share). */
void lra_ladder_add_identity(const lra_ladder_view *v, lra_table *t);
/* Rows that the view frees; returns them. */
void *lra_ladder_keep(lra_ladder_view *v, void *rows);
/* Computes the ladder; an error names the rungs that do not make one. */
int lra_ladder_run(const lra_ladder_data *d, lra_ladder *to, lra_err *e);

#endif
