/* The ladder: metric of models as a function of their reach R.  Rungs are models of growing
 * one-sided reach, trained with one protocol.  The metric is an accuracy, or any mean of row
 * values, and larger is better.
 *
 *   gain(R) = (value(R) - chance) / (reference - chance)
 *   G(R) = max over R' <= R of clip(gain(R'), 0, 1)
 *   LI = sum over rungs G(R_k) (log2 R_{k+1} - log2 R_k) / (log2 E - log2 R_1), the last rung ends at E
 *
 * A reach of T - 1 or more counts as T. R = 0 (bag of tokens) is a null row, which is not part of
 * LI. LI.raw has gain instead of G. LI is given only if (a) two rungs have R > 0, and (b) the half
 * width of the paired interval of reference - chance is below half of this difference: otherwise
 * ladders would be selected by chance.  E is T if a rung or the reference sees all tokens. If only
 * the reference does, the value of the widest rung is used for all wider reaches (`extrapolated`).
 * If neither does, E is the reach of the widest rung (`span`). Intervals are those of sample.h.
 * The interval of LI extends from the lower end of LI.raw to the upper end of LI, because the
 * running maximum is biased upward.
 * Known: the published table of the locality paper with MEGA as reference gives 0.764, 0.764 for
 * Image and 0.783, 0.781 for ListOps (LI, LI.raw). */
#ifndef LRA_ANALYSIS_LADDER_H
#define LRA_ANALYSIS_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/curve.h"
#include "analysis/interval.h"
#include "analysis/sample.h"

enum { LRA_LADDER_MAX_SEEDS = LRA_MAX_SEEDS };

typedef struct {
    int64_t kernel;
    /* one-sided reach in tokens, not clipped to T; -1: unbounded */
    int64_t reach;
    int n_seeds; /* number of seeds; 0: that of the ladder */
    /* (n) of each seed: 1 if the prediction is correct, else 0 */
    const uint8_t *correct[LRA_MAX_SEEDS];
    /* (n) of each seed: row values of a metric other than accuracy (jackknife.h) */
    const double *row[LRA_MAX_SEEDS];
    double accuracy; /* accuracy without examples, used if n is 0; no intervals */
} lra_rung;

typedef enum {
    LRA_REFERENCE_WIDEST,
    LRA_REFERENCE_RUNG,
    LRA_REFERENCE_RUN,
    LRA_REFERENCE_NUMBER
} lra_reference_kind;

typedef struct {
    int n_rungs, n_seeds;
    lra_rung rung[LRA_LADDER_MAX_RUNGS]; /* rungs, sorted by reach */
    int64_t n;                           /* number of examples */
    int64_t T;                           /* length of the longest example in tokens */
    /* the metric is a mean of row values instead of an accuracy */
    bool values;
    bool all_learned; /* true: seeds that did not learn are not detected */
    double chance;
    /* (n) correctness of the constant prediction. Nullable: `chance` is used */
    const uint8_t *chance_correct;
    const double *chance_row; /* (n) row values of the constant prediction. Nullable */
    lra_reference_kind kind;
    /* rung that is the reference, if kind is LRA_REFERENCE_RUNG */
    int reference_rung;
    /* published value, if kind is LRA_REFERENCE_NUMBER; counts as unrestricted */
    double reference;
    /* reach of the reference, if kind is LRA_REFERENCE_RUN; -1: unbounded */
    int64_t reference_reach;
    /* (n) correctness of a reference run with one seed, if kind is LRA_REFERENCE_RUN */
    const uint8_t *reference_correct;
    const double *reference_row;
    /* Number of ladders whose sufficient reaches are interpreted together (correction for multiple
     * tests); 0: one. */
    int n_tasks;
    int n_replicates; /* number of replicates; 0: no intervals */
    uint64_t key;     /* key of the random numbers */
} lra_ladder_data;

typedef struct {
    int64_t kernel, reach; /* kernel size; reach in tokens, clipped to T */
    int n_seeds, n_learned;
    bool learned[LRA_MAX_SEEDS]; /* seeds that learned; the others are excluded from all values */
    lra_estimate accuracy, gain;
    double seed_sd; /* standard deviation over seeds; NAN: one seed */
    double ratio;   /* metric / reference, the quantity of published tables */
    bool null_row, seeds_dominate;
} lra_ladder_row;

/* The sufficient reach: the smallest reach such that no rung from it up to the widest is worse than
 * the reference by more than a margin. The rungs are tested in order from the widest, each at
 * one-sided 97.5 % (with m tasks at 100 - 2.5 / m), until one fails. INFINITY: the widest rung
 * fails. unresolved: the widest rung fails because its interval is wide: the half width of its
 * difference from the reference exceeds the margin, and the interval is not entirely below
 * -margin. */
typedef struct {
    double reach;
    bool unresolved;
} lra_sufficient;

typedef enum { LRA_LI_GIVEN, LRA_LI_ONE_RUNG, LRA_LI_AT_CHANCE } lra_li_state;

typedef struct {
    int n_rungs, n_seeds;
    lra_ladder_row row[LRA_LADDER_MAX_RUNGS];
    double reference, chance;
    /* index of the reference among the rungs; -1: it is not a rung */
    int reference_rung;
    lra_estimate reference_minus_chance; /* paired difference */
    /* Reason if li is NAN; with LRA_LI_AT_CHANCE gains are NAN, too. */
    lra_li_state state;
    bool span, one_seed, few_seeds; /* few_seeds: seeds_dominate is set in a row */
    /* share of the axis beyond the widest rung; 0: no extrapolation */
    double extrapolated;
    lra_estimate li, li_raw;
    int64_t first_reach, last_reach, end; /* R_1, R_n and E, in tokens */
    /* Smallest reach in tokens within 1, 2, 5 points of the reference. first_reach: at most that
     * reach; INFINITY: above last_reach. A point is 0.01; for row values 0.01 of the reference's
     * gain over chance. */
    lra_estimate radius[LRA_LADDER_RADII];
    lra_sufficient sufficient[LRA_LADDER_RADII];
    /* difference of the metric between the widest and the narrowest rung with R > 0 */
    lra_estimate widest_minus_narrowest;
    /* change of the metric per doubling of R, by least squares over rungs with R > 0; NAN: one
     * rung */
    lra_estimate slope;
    /* rung minus reference, paired; NAN for the reference */
    lra_estimate above[LRA_LADDER_MAX_RUNGS];
    lra_estimate above_chance[LRA_LADDER_MAX_RUNGS]; /* rung minus chance, paired */
    /* rung minus the rung with R = 0, paired; NAN: there is none */
    lra_estimate above_null[LRA_LADDER_MAX_RUNGS];
} lra_ladder;

enum { LRA_LADDER_OK = 0, LRA_LADDER_EQUAL_REACH = -1, LRA_LADDER_EMPTY = -2 };
/* Computes all results. LRA_LADDER_EQUAL_REACH: two rungs have the same reach; row[0].kernel and
 * row[1].kernel are their kernel sizes. */
int lra_ladder_compute(const lra_ladder_data *d, lra_ladder *out);

/* Returns the accuracy of a baseline minus that of the reference, paired; correct: (n). */
lra_estimate lra_ladder_against(const lra_ladder_data *d, const lra_ladder *l,
                                const uint8_t *correct);

/* Returns the series of a ladder: its rungs in order (learned seeds only), the reference (if it is
 * a run or a number), chance.  The caller frees it with lra_sample_free(). */
lra_sample *lra_ladder_sample(const lra_ladder_data *d, const lra_ladder *l);

#endif
