/* Results of several predictors on the same n examples, each trained with several seeds, reduced to
 * the statistics that intervals are computed from.
 *
 * A series is a rung of a ladder, a reference run, a baseline, the most frequent class: a number
 * for each example and seed: 1 if the prediction is right, or a row value whose mean is the metric
 * (jackknife.h).  Its value is the mean over both.  Examples are shared by all series and seeds;
 * seeds of different series are independent draws.
 *
 * Means and contrasts, any weights g over series:
 *   V_E = var_i( sum_r g_r x_ri ) / n                 examples; x_ri: mean over the seeds
 *   V_S = sum_r g_r^2 s_r^2 / S_r                     seeds; s_r: of the seeds' means
 *   nu  = V_S^2 / sum_r (g_r^2 s_r^2 / S_r)^2 / (S_r - 1)     Satterthwaite, of the seed part alone
 *   interval = value +- sqrt( z^2 V_E + t(nu)^2 V_S )
 * With one t for both parts the coverage drops to 92 % at three seeds; a percentile bootstrap of
 * examples crossed with seeds covers 77 to 88 % if seed noise exceeds the sampling noise of the
 * test set, because three seeds have no 95 % percentile (tests/analysis/coverage_test.c).
 *
 * Functions of the curve (locality index, radii): replicates of all series at once: a normal vector
 * with the covariance of x_ri over n, which is replaced by a bootstrap of the examples if there are
 * fewer than 500, plus t(S_r - 1) s_r / sqrt(S_r) for each series, s_r without the interaction of
 * examples and seeds, which the covariance contains already. */
#ifndef LRA_ANALYSIS_SAMPLE_H
#define LRA_ANALYSIS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/interval.h"

/* LRA_MAX_SEEDS: of ladders and breakdowns; a sample takes any number. */
enum { LRA_MAX_SERIES = 20, LRA_MAX_SEEDS = 1024, LRA_REDRAW_BELOW = 500, LRA_REPLICATES = 10000 };

typedef struct {
    int n_seeds;            /* 0: no seeds, the predictor is deterministic */
    double value, *by_seed; /* by_seed: (n_seeds) */
    double sd, own_sd;      /* over seeds; without the interaction.  NAN: fewer than two seeds */
    double seed_error;      /* standard error of one seed's mean over examples, RMS over seeds */
    double *row;            /* (n) mean over seeds */
} lra_series;

typedef struct {
    int64_t n;   /* examples; 0: the series are single numbers without intervals */
    bool shares; /* values are 0 to 1 */
    bool paired; /* seed k of one series is paired with seed k of the others, by design */
    int n_series;
    lra_series series[LRA_MAX_SERIES];
} lra_sample;

lra_sample *lra_sample_new(int64_t n, bool shares);
void lra_sample_free(lra_sample *s); /* Nullable: s */
/* Each returns the index of the new series.  correct, row: (n) by seed. */
int lra_sample_add_correct(lra_sample *s, int n_seeds, const uint8_t *const *correct);
int lra_sample_add_rows(lra_sample *s, int n_seeds, const double *const *row);
int lra_sample_add_fixed(lra_sample *s, const uint8_t *correct); /* a predictor without seeds */
int lra_sample_add_number(lra_sample *s, double value);          /* also for samples without
                                                                    examples */

/* Components of the variance of a contrast. */
typedef struct {
    double examples, seeds, df; /* df 0: no estimate of the seed variance */
} lra_variance;
lra_variance lra_contrast_variance(const lra_sample *s, const double *g);
/* Sum of g_r times the value of series r; level 0.95.  If nothing varies: Wilson's interval of 0
 * discordant pairs in n. */
lra_estimate lra_contrast(const lra_sample *s, const double *g, double level);
/* Two-sided p of the contrast being 0: 1 - level of the widest interval that excludes 0, so that p
 * < 0.05 exactly if the 95 % interval excludes it.  At least 1e-12; NAN: no interval, or nothing
 * varies. */
double lra_contrast_p(const lra_sample *s, const double *g);
/* Value of series a minus that of series b. */
lra_estimate lra_sample_difference(const lra_sample *s, int a, int b, double level);
/* The value of one series; Wilson's interval for a share with one seed, or without variation. */
lra_estimate lra_sample_value(const lra_sample *s, int r);
/* True if there are few seeds and the seed variance exceeds the example variance. */
bool lra_sample_seeds_dominate(const lra_sample *s, int r);
/* Difference of the generalisation gaps of series 0 and series 1: the gap is the value on one set
 * of examples (`train`) minus that on another (`other`).  Both samples have the two series, of the
 * same runs in the same order. */
lra_estimate lra_gap_difference(const lra_sample *train, const lra_sample *other);
/* Mean over m tasks with independent examples and seeds. */
lra_estimate lra_mean_of_tasks(int m, const double *value, const lra_variance *v);

/* Draws bootstrap replicates of all values: out (n_replicates, n_series); the key is the seed. */
void lra_sample_draw(const lra_sample *s, uint64_t key, int n_replicates, double *out);

/* Determines which of n seeds have learned: all but the k lowest, if these gain less than half of
 * `full` over chance and the gap between the two groups exceeds both ten standard deviations of the
 * upper group (at least two seeds) and four times `error`, the standard error of one seed's mean
 * over examples.  full NAN: the mean of the upper group, because the reference of a ladder has no
 * other reference.  Returns the number of learned seeds. The gap in standard deviations alone
 * occurs in 11 % of healthy triples; accuracies of seeds at chance take few discrete values, so
 * that two are often equal. */
int lra_seeds_learned(int n, const double *value, double chance, double full, double error,
                      bool *learned);

#endif
