/* What several predictors do on the same n examples, each trained with some seeds, reduced to what
 * intervals need.
 *
 * A series is a rung of a ladder, a reference run, a baseline, the most frequent class: a number
 * for each example and seed, 1 where right, or a row value whose mean is the metric (jackknife.h).
 * Its value is the mean over both.  Examples are shared by all series and seeds; seeds of different
 * series are independent draws.
 *
 * Means and contrasts, any weights g over series:
 *   V_E = var_i( sum_r g_r x_ri ) / n                 examples; x_ri: mean over the seeds
 *   V_S = sum_r g_r^2 s_r^2 / S_r                     seeds; s_r: of the seeds' means
 *   nu  = V_S^2 / sum_r (g_r^2 s_r^2 / S_r)^2 / (S_r - 1)     Satterthwaite, of the seed part alone
 *   interval = value +- sqrt( z^2 V_E + t(nu)^2 V_S )
 * One t for both parts falls to 92 % at three seeds; a percentile bootstrap of examples crossed
 * with seeds holds 77 to 88 % where seed noise exceeds the test set's, because three seeds have no
 * 95 % percentile (tests/analysis/coverage_test.c).
 *
 * Functions of the curve (locality index, radii): replicates of all series at once: a normal vector
 * with the covariance of x_ri over n, which below 500 examples is a real redraw of them, plus t(S_r
 * - 1) s_r / sqrt(S_r) for each series, s_r without the interaction of examples and seeds, which
 * the covariance holds already. */
#ifndef LRA_ANALYSIS_SAMPLE_H
#define LRA_ANALYSIS_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/interval.h"

/* LRA_MAX_SEEDS: of ladders and breakdowns; a sample takes any number. */
enum { LRA_MAX_SERIES = 20, LRA_MAX_SEEDS = 1024, LRA_REDRAW_BELOW = 500, LRA_REPLICATES = 10000 };

typedef struct {
    int n_seeds;            /* 0: no seeds, it would be the same again */
    double value, *by_seed; /* by_seed: (n_seeds) */
    double sd, own_sd;      /* over seeds; without the interaction.  NAN: fewer than two seeds */
    double seed_error;      /* standard error of one seed's mean over examples, RMS over seeds */
    double *row;            /* (n) mean over seeds */
} lra_series;

typedef struct {
    int64_t n;   /* examples; 0: numbers alone, and no intervals */
    bool shares; /* values are 0 to 1 */
    bool paired; /* seed k of one series goes with seed k of the others, by design */
    int n_series;
    lra_series series[LRA_MAX_SERIES];
} lra_sample;

lra_sample *lra_sample_new(int64_t n, bool shares);
void lra_sample_free(lra_sample *s); /* Nullable: s */
/* Each returns the index of the new series.  correct, row: (n) by seed. */
int lra_sample_add_correct(lra_sample *s, int n_seeds, const uint8_t *const *correct);
int lra_sample_add_rows(lra_sample *s, int n_seeds, const double *const *row);
int lra_sample_add_fixed(lra_sample *s, const uint8_t *correct); /* a predictor without seeds */
int lra_sample_add_number(lra_sample *s, double value);          /* without examples, too */

/* The parts of a contrast's variance. */
typedef struct {
    double examples, seeds, df; /* df 0: nothing is known of the seeds */
} lra_variance;
lra_variance lra_contrast_variance(const lra_sample *s, const double *g);
/* Sum of g_r times the value of series r; level 0.95.  Where nothing varies: Wilson's interval of
 * no discordant pair in n. */
lra_estimate lra_contrast(const lra_sample *s, const double *g, double level);
/* Two-sided p of the contrast being 0: 1 - level of the widest interval that excludes 0, so that p
 * < 0.05 exactly where the 95 % interval excludes it.  At least 1e-12; NAN: no interval, or nothing
 * varies. */
double lra_contrast_p(const lra_sample *s, const double *g);
/* Series a less series b. */
lra_estimate lra_sample_difference(const lra_sample *s, int a, int b, double level);
/* The value of one series; Wilson's interval of a share with one seed, or that does not vary. */
lra_estimate lra_sample_value(const lra_sample *s, int r);
/* Few seeds, and they vary more than the examples make sure. */
bool lra_sample_seeds_dominate(const lra_sample *s, int r);
/* How much more series 0 loses than series 1 from one set of examples to the other, such as from
 * training to validation
 * rows: both samples have the two series, of the same runs in the same order. */
lra_estimate lra_gap_difference(const lra_sample *train, const lra_sample *other);
/* Mean over m tasks, whose examples and seeds are independent. */
lra_estimate lra_mean_of_tasks(int m, const double *value, const lra_variance *v);

/* n_replicates draws of all values: out (n_replicates, n_series).  They depend on the key alone. */
void lra_sample_draw(const lra_sample *s, uint64_t key, int n_replicates, double *out);

/* Which of n seeds have learned: all but the k lowest, where these gain less than half of `full`
 * over chance, and the gap between the two groups exceeds both ten standard deviations of the upper
 * group (at least two seeds) and four times `error`, the standard error of one seed's mean over
 * examples.  full NAN: the mean of the upper group, as the reference of a ladder is judged by
 * itself.  Returns the number of learned seeds. The gap in standard deviations alone occurs in 11 %
 * of healthy triples; of seeds at chance, whose accuracies are few discrete values, two are often
 * equal. */
int lra_seeds_learned(int n, const double *value, double chance, double full, double error,
                      bool *learned);

#endif
