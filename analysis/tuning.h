/* Choice of a setting's value from trials: each of n values is trained with some seeds and has a
 * score, its mean metric on the validation rows. The best value has the highest score. The window
 * of a margin d holds the values that work, whose score is at most d below the best:
 *   T(d) = { f : max_g s_g - s_f <= d },
 *   width = log2(v_last / v_first) octaves of the widest run of neighbouring values in T(d).
 * The width is a lower bound if the run reaches an end of the list, because values beyond it were
 * not tried.
 *
 * Interval of the width. With simultaneous intervals of all pairs s_g - s_f (Bonferroni), f belongs
 * to T(d) surely if no pair's upper end exceeds d, and possibly if no pair's lower end exceeds d.
 * The widest runs of these two sets enclose the width with a probability of at least 95 %, because
 * the width grows with the set, also if another value than the observed best is the best one (Hsu
 * 1996, Multiple Comparisons, chapter 4: comparisons with the best). Score differences have
 * intervals over validation rows and, with several seeds, over seeds, which values share
 * (sample.h). */
#ifndef LRA_ANALYSIS_TUNING_H
#define LRA_ANALYSIS_TUNING_H

#include "analysis/sample.h"

enum { LRA_MAX_TRIALS = LRA_MAX_SERIES };

/* A width in octaves; from_edge: its run reaches an end of the list, so that it is a lower
 * bound. */
typedef struct {
    double octaves;
    bool from_edge;
} lra_octaves;

typedef struct {
    int first, last;    /* run of values that work; first > last: there is none */
    lra_octaves width;  /* NAN: no value has a score */
    lra_octaves lo, hi; /* 95 % interval; NAN: the scores have no rows */
} lra_tuning_window;

/* Index of the highest score. Among equal scores: of the value nearest to `base` by its ratio, then
 * of the smaller value. NAN: the trial diverged, and is never chosen. Returns -1 if no value has a
 * score. value: (n) positive, ascending. */
int lra_tuning_best(int n, const double *value, const double *score, double base);
/* Window of a margin. score: (n) NAN if the trial diverged. rows: sample of the scores over
 * validation rows; series[i]: its series for value i (ignored if score[i] is NAN). Nullable:
 * rows */
lra_tuning_window lra_tuning_window_of(int n, const double *value, const double *score,
                                       const lra_sample *rows, const int *series, double margin);

#endif
