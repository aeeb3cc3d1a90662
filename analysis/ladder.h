/* The ladder: how good can a model with reach R get?  Rungs are models of growing one-sided reach,
 * trained to one protocol.
 *
 * What is measured is an accuracy, or any value of sums over rows (a `measure`), more of which is better.
 *
 *   gain(R) = (accuracy(R) - chance) / (reference - chance)
 *   G(R) = max over R' <= R of clip(gain(R'), 0, 1)
 *   LI = sum over rungs G(R_k) (log2 R_{k+1} - log2 R_k) / (log2 T - log2 R_1), the last rung ends at T
 *
 * R is clipped to T; R = 0 (bag of tokens) is a null row outside LI.  LI.raw has gain instead of G.
 * Intervals: bootstrap of examples, crossed with seeds from three seeds on: seeds are drawn, and one draw of
 * examples serves all seeds and rungs, because they share the test set.  (Drawing examples anew for each seed
 * takes what all seeds find hard for chance: at 12 seeds such 95 % intervals held the truth in 61 % of
 * simulated data sets.)  With one or two seeds examples alone, which does not cover training variation.
 * Coverage of accuracies in tests/coverage_test.c: 94 to 95 % at 12 seeds, 90 to 96 % at 3; differences of rungs
 * are held by 99 %, because the luck of one seed with one example is counted with both draws.
 * Known: the published table of the locality paper with MEGA as reference gives 0.764, 0.764 for Image
 * and 0.783, 0.781 for ListOps (LI, LI.raw). */
#ifndef LRA_ANALYSIS_LADDER_H
#define LRA_ANALYSIS_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/bootstrap.h"
#include "analysis/interval.h"

enum { LRA_LADDER_MAX_RUNGS = 16, LRA_LADDER_MAX_SEEDS = 64, LRA_LADDER_RADII = 3 };

typedef struct {
    int64_t kernel;
    int64_t reach;                                /* one-sided, tokens, not clipped */
    const uint8_t *correct[LRA_LADDER_MAX_SEEDS]; /* (n) by seed: 1 where right */
    const double *row[LRA_LADDER_MAX_SEEDS];      /* with a measure: its rows, by seed */
    double accuracy; /* used when n is 0: a number without examples, no intervals */
} lra_rung;

typedef struct {
    int n_rungs, n_seeds;
    lra_rung rung[LRA_LADDER_MAX_RUNGS]; /* sorted by reach */
    int64_t n;                           /* examples */
    int64_t T;                           /* longest example */
    double chance;
    double reference; /* accuracy; NAN: that of the widest rung, replicate by replicate */
    const uint8_t *reference_correct; /* (n): of another run, drawn with the rungs.  Nullable */
    const double *reference_row;      /* the same with a measure */
    const lra_measure *measure;       /* NULL: accuracies */
    int n_replicates;
    uint64_t key; /* of the random numbers */
    /* Fills n uniform 32-bit words that depend on (key, replicate) alone. */
    void (*words)(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out);
} lra_ladder_data;

typedef struct {
    int64_t kernel, reach; /* clipped to T */
    lra_estimate accuracy, gain;
    lra_estimate over_seeds; /* plain t interval */
    double ratio;            /* to the reference; the published quantity */
    bool null_row;
} lra_ladder_row;

typedef struct {
    int n_rungs, n_seeds;
    lra_ladder_row row[LRA_LADDER_MAX_RUNGS];
    double reference;
    lra_estimate li, li_raw; /* they and gain: NAN when the reference is not above chance */
    int64_t first_reach;     /* R_1 */
    /* Within 1, 2, 5 points of the reference, tokens; INFINITY: never (censored).  A point is 0.01, and with a
     * measure 0.01 of what the reference gains over chance. */
    lra_estimate radius[LRA_LADDER_RADII];
    lra_estimate widest_minus_narrowest; /* non-null rungs */
} lra_ladder;

enum {
    LRA_LADDER_OK = 0,
    LRA_LADDER_EQUAL_REACH = -1,
    LRA_LADDER_NO_MEMORY = -2,
    LRA_LADDER_EMPTY = -3
};
/* On LRA_LADDER_EQUAL_REACH the kernels of the two rungs are in row[0].kernel and row[1].kernel. */
int lra_ladder_compute(const lra_ladder_data *d, lra_ladder *out);

#endif
