/* Results of several predictors on the same n examples, each trained with several seeds, reduced to
 * the statistics from which intervals are computed.
 *
 * A series is one predictor: a rung of a ladder, a reference run, a baseline, or the most frequent
 * class. It has a number for each example and seed: 1 if the prediction is correct (else 0), or a
 * row value whose mean is the metric (jackknife.h). Its value is the mean over examples and seeds.
 * Examples are shared by all series and seeds; seeds of different series are independent draws.
 *
 * Means and contrasts, with any weights g over series:
 *   V_E = var_i( sum_r g_r x_ri ) / n                 examples; x_ri: mean over the seeds
 *   V_S = sum_r g_r^2 s_r^2 / S_r                     seeds; s_r: standard deviation of the seeds' means
 *   nu  = V_S^2 / sum_r (g_r^2 s_r^2 / S_r)^2 / (S_r - 1)     Satterthwaite, of the seed part alone
 *   interval = value +- sqrt( z^2 V_E + t(nu)^2 V_S )
 * With one t for both parts the coverage drops to 92 % at three seeds; a percentile bootstrap of
 * examples crossed with seeds covers 77 to 88 % if seed noise exceeds the sampling noise of the
 * test set, because three seeds have no 95 % percentile (tests/analysis/coverage_test.c).
 *
 * Functions of the curve (locality index, radii) use replicates of all series at once. A replicate
 * is a normal vector with covariance cov(x_ri) / n (with fewer than 500 examples, a bootstrap of
 * the examples), plus t(S_r - 1) s_r / sqrt(S_r) for each series. Here s_r excludes the interaction
 * of examples and seeds, which the covariance already contains. */
#ifndef LRA_ANALYSIS_SAMPLE_H
#define LRA_ANALYSIS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/interval.h"

/* LRA_MAX_SEEDS limits ladders and breakdowns; a sample can have any number of seeds. */
enum { LRA_MAX_SERIES = 20, LRA_MAX_SEEDS = 1024, LRA_REDRAW_BELOW = 500, LRA_REPLICATES = 10000 };

typedef struct {
    int n_seeds;            /* number of seeds; 0: the predictor is deterministic */
    double value, *by_seed; /* mean over seeds and examples; (n_seeds) mean of each seed */
    /* standard deviation over seeds, with and without the interaction of examples and seeds. NAN:
     * fewer than two seeds */
    double sd, own_sd;
    /* standard error over examples of one seed's mean; root mean square over seeds */
    double seed_error;
    double *row; /* (n) mean over seeds of each example */
} lra_series;

typedef struct {
    int64_t n;   /* number of examples; 0: the series are single numbers without intervals */
    bool shares; /* values are shares between 0 and 1 */
    bool paired; /* seed k of one series is paired with seed k of the other series, by design */
    int n_series;
    lra_series series[LRA_MAX_SERIES];
} lra_sample;

lra_sample *lra_sample_new(int64_t n, bool shares);
void lra_sample_free(lra_sample *s); /* Nullable: s */
/* Each function adds a series and returns its index. correct, row: (n) arrays, one for each
 * seed. */
int lra_sample_add_correct(lra_sample *s, int n_seeds, const uint8_t *const *correct);
int lra_sample_add_rows(lra_sample *s, int n_seeds, const double *const *row);
/* adds a predictor without seeds */
int lra_sample_add_fixed(lra_sample *s, const uint8_t *correct);
/* adds a single number; the only function for samples without examples */
int lra_sample_add_number(lra_sample *s, double value);

/* Components of the variance of a contrast: over examples and over seeds. */
typedef struct {
    double examples, seeds, df; /* df: degrees of freedom of `seeds`; 0: unknown */
} lra_variance;
lra_variance lra_contrast_variance(const lra_sample *s, const double *g);
/* Returns the sum of g_r times the value of series r, with its interval; level: for example 0.95.
 * If nothing varies, the interval is Wilson's for 0 discordant pairs of n. */
lra_estimate lra_contrast(const lra_sample *s, const double *g, double level);
/* Two-sided p-value of the contrast being 0: 1 - level of the widest interval that excludes 0.
 * Hence p < 0.05 exactly if the 95 % interval excludes 0. At least 1e-12; NAN: there is no
 * interval, or nothing varies. */
double lra_contrast_p(const lra_sample *s, const double *g);
/* Returns the value of series a minus that of series b, with its interval. */
lra_estimate lra_sample_difference(const lra_sample *s, int a, int b, double level);
/* Returns the value of one series with its interval: Wilson's for a share with one seed or without
 * variation. */
lra_estimate lra_sample_value(const lra_sample *s, int r);
/* Returns true if there are few seeds and the variance over seeds exceeds the variance over
 * examples. */
bool lra_sample_seeds_dominate(const lra_sample *s, int r);
/* Returns the difference of the generalisation gaps of series 0 and series 1. A gap is the value on
 * one set of examples (`train`) minus that on another (`other`). Both samples have the two series,
 * of the same runs in the same order. */
lra_estimate lra_gap_difference(const lra_sample *train, const lra_sample *other);
/* Returns the mean over m tasks with independent examples and seeds. */
lra_estimate lra_mean_of_tasks(int m, const double *value, const lra_variance *v);

/* Draws bootstrap replicates of the values of all series: out (n_replicates, n_series). key: seed
 * of the random numbers. */
void lra_sample_draw(const lra_sample *s, uint64_t key, int n_replicates, double *out);

/* Determines which of n seeds have learned: all but the k lowest, if two conditions hold. These k
 * gain less than half of `full` over chance. The gap between the two groups exceeds both ten
 * standard deviations of the upper group (at least two seeds) and four times `error`, the standard
 * error of one seed's mean over examples. full NAN: the mean of the upper group is used (for the
 * reference of a ladder). Returns the number of learned seeds. The condition on `error` is needed:
 * the gap in standard deviations alone occurs in 11 % of the triples of normal seeds, because
 * accuracies take few discrete values, so that two are often equal. */
int lra_seeds_learned(int n, const double *value, double chance, double full, double error,
                      bool *learned);

#endif
