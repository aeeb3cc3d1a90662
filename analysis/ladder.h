/* The ladder: metric of models as a function of their reach R.  Rungs are models of growing
 * one-sided reach, trained with one protocol.  The metric is an accuracy, or any mean of row
 * values, and larger is better.
 *
 *   gain(R) = (value(R) - chance) / (reference - chance)
 *   G(R) = max over R' <= R of clip(gain(R'), 0, 1)
 *   LI = sum over rungs G(R_k) (log2 R_{k+1} - log2 R_k) / (log2 E - log2 R_1), the last rung ends at E
 *
 * Reach T - 1 and more is T.  R = 0 (bag of tokens) is a null row outside LI.  LI.raw has gain
 * instead of G.
 * LI is given only when (a) two rungs have R > 0, and (b) the half width of the paired interval of
 * reference - chance is below half of it: references that are only just above chance would select
 * ladders by luck.  E is T if a rung or the reference sees all tokens; if only the reference does,
 * the value of the widest rung is used for all wider reaches (`extrapolated`); if neither does, E
 * is the widest rung's reach (`span`).
 * Intervals are those of sample.h.  The interval of LI extends from the lower end of LI.raw to the
 * upper end of LI, because the running maximum is biased upward.
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
    int64_t reach;                         /* one-sided, tokens, not clipped; -1: unbounded */
    int n_seeds;                           /* 0: the ladder's number of seeds */
    const uint8_t *correct[LRA_MAX_SEEDS]; /* (n) by seed: 1 where right */
    const double *row[LRA_MAX_SEEDS];      /* not of accuracies: row values (jackknife.h) */
    double accuracy; /* used when n is 0: a number without examples, no intervals */
} lra_rung;

typedef enum {
    LRA_REFERENCE_WIDEST,
    LRA_REFERENCE_RUNG,
    LRA_REFERENCE_RUN,
    LRA_REFERENCE_NUMBER
} lra_reference_kind;

typedef struct {
    int n_rungs, n_seeds;
    lra_rung rung[LRA_LADDER_MAX_RUNGS]; /* sorted by reach */
    int64_t n;                           /* examples */
    int64_t T;                           /* longest example */
    bool values;                         /* row values instead of accuracies */
    bool all_learned;                    /* no detection of failed seeds */
    double chance;
    const uint8_t *chance_correct; /* (n): of the constant answer.  Nullable: the number */
    const double *chance_row;      /* the same of row values.  Nullable */
    lra_reference_kind kind;
    int reference_rung;               /* of LRA_REFERENCE_RUNG */
    double reference;                 /* of LRA_REFERENCE_NUMBER: as published, unrestricted */
    int64_t reference_reach;          /* of LRA_REFERENCE_RUN; -1: unbounded */
    const uint8_t *reference_correct; /* (n): of LRA_REFERENCE_RUN, one seed */
    const double *reference_row;
    int n_tasks;      /* number of ladders whose sufficient reaches are interpreted together; 0:
                         one */
    int n_replicates; /* 0: values only, no replicates */
    uint64_t key;     /* of the random numbers */
} lra_ladder_data;

typedef struct {
    int64_t kernel, reach; /* clipped to T */
    int n_seeds, n_learned;
    bool learned[LRA_MAX_SEEDS]; /* seeds that did not learn are left out of all values */
    lra_estimate accuracy, gain;
    double seed_sd; /* over the seeds; NAN: one */
    double ratio;   /* value / reference, the quantity of published tables */
    bool null_row, seeds_dominate;
} lra_ladder_row;

/* The smallest reach such that no rung from it up to the widest is worse than the reference by more
 * than a margin.  The rungs are tested in order from the widest, each at one-sided 97.5 % (over m
 * tasks at 100 - 2.5 / m), up to the first that fails.  INFINITY: the widest rung fails already.
 * unresolved: the half width of the interval of the widest rung's difference to the reference
 * exceeds the margin, and the interval extends above -margin; an interval entirely below -margin
 * shows that the rung is worse, independent of its width. */
typedef struct {
    double reach;
    bool unresolved;
} lra_sufficient;

typedef enum { LRA_LI_GIVEN, LRA_LI_ONE_RUNG, LRA_LI_AT_CHANCE } lra_li_state;

typedef struct {
    int n_rungs, n_seeds;
    lra_ladder_row row[LRA_LADDER_MAX_RUNGS];
    double reference, chance;
    int reference_rung;                  /* -1: not one of them */
    lra_estimate reference_minus_chance; /* paired */
    lra_li_state state;                  /* reason for a li of NAN; gains are NAN, too, if at
                                            chance */
    bool span, one_seed, few_seeds;      /* few_seeds: seeds_dominate in a row */
    double extrapolated;                 /* share of the axis beyond the widest rung; 0: none */
    lra_estimate li, li_raw;
    int64_t first_reach, last_reach, end; /* R_1, R_n, E */
    /* Within 1, 2, 5 points of the reference, tokens; first_reach: at most that; INFINITY: beyond
     * last_reach.  A point is 0.01; for row values 0.01 of the reference's gain over chance. */
    lra_estimate radius[LRA_LADDER_RADII];
    lra_sufficient sufficient[LRA_LADDER_RADII];
    lra_estimate widest_minus_narrowest; /* rungs with R > 0 */
    lra_estimate slope; /* per doubling of R, least squares over them; NAN: one rung */
    lra_estimate above[LRA_LADDER_MAX_RUNGS]; /* rung minus reference, paired; NAN: the reference */
    lra_estimate above_chance[LRA_LADDER_MAX_RUNGS]; /* rung minus chance, paired */
    lra_estimate above_null[LRA_LADDER_MAX_RUNGS];   /* rung minus the rung of R = 0; NAN: none */
} lra_ladder;

enum { LRA_LADDER_OK = 0, LRA_LADDER_EQUAL_REACH = -1, LRA_LADDER_EMPTY = -2 };
/* On LRA_LADDER_EQUAL_REACH the kernels of the two rungs are in row[0].kernel and row[1].kernel. */
int lra_ladder_compute(const lra_ladder_data *d, lra_ladder *out);

/* Returns a baseline minus the reference, paired; correct: (n). */
lra_estimate lra_ladder_against(const lra_ladder_data *d, const lra_ladder *l,
                                const uint8_t *correct);

/* Returns the series of a ladder: its rungs in order (learned seeds only), the reference (if it is
 * a run or a number), chance.  The caller frees it with lra_sample_free(). */
lra_sample *lra_ladder_sample(const lra_ladder_data *d, const lra_ladder *l);

#endif
