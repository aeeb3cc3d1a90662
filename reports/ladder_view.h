/* Ladders from result files: which results belong together, and what the analysis says of them. */
#ifndef LRA_REPORTS_LADDER_VIEW_H
#define LRA_REPORTS_LADDER_VIEW_H

#include "analysis/ladder.h"
#include "kernels/base/options.h"
#include "reports/ladder_rungs.h"
#include "reports/result_metric.h"
#include "reports/result.h"

/* What gains are measured against: options that both programs share. */
extern const lra_option lra_ladder_scale_options[]; /* --reference --chance */
typedef struct {
    const char *
        reference; /* "widest", "best" (on validation), "published", a run; NULL: published for `paper`, else
                              widest */
    lra_result *run; /* of a reference that is a run */
    bool uniform;    /* chance is one over the number of classes */
} lra_ladder_scale;
/* A run is a result file, a run folder, or the name of one below OUT/runs. */
int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e);
void lra_ladder_scale_close(lra_ladder_scale *s);

/* A baseline that is better than the reference. */
typedef struct {
    const char *name;
    lra_estimate above; /* it less the reference, paired */
    double li;          /* the index against it; NAN: none */
} lra_ladder_rival;

/* One ladder: rungs by value of its axis (`kernel` in data and ladder, whatever the key), each with its seeds.  Where less of the metric is better, the ladder and its data hold
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
    int n_rivals;
    lra_ladder_rival rival[LRA_MAX_BASELINES];
    unsigned flags; /* LRA_FLAG_... */
} lra_ladder_view;

/* The ladders in a list of results (same task, data, preset, precision and configuration but for
 * what differs inside a ladder); returns their number, or -1.  The results must outlive the views. */
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

/* ---- parts of it ---- */

enum { LRA_LADDER_REPLICATES = LRA_REPLICATES };
/* Rows that the view frees; returns them. */
void *lra_ladder_keep(lra_ladder_view *v, void *rows);
/* Sets what gains are measured against (ladder_scale.c). */
int lra_ladder_set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);
/* Computes the ladder; an error names the rungs that do not make one. */
int lra_ladder_run(const lra_ladder_data *d, lra_ladder *to, lra_err *e);
/* What stands beside the index: validation, information, training, rivals, flags (ladder_beside.c). */
void lra_ladder_set_validation(
    lra_ladder_view *v); /* before the scale, which may ask for the best rung */
int lra_ladder_set_beside(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e);

#endif
