/* Predictions broken down by group: accuracy, comparison with a rival, agreement with a heuristic,
 * confusion.
 *
 * Accuracy is the mean over seeds; 95 % intervals of accuracies and differences are those of
 * sample.h, over examples and seeds; with one seed over examples alone.  If nothing varies (all
 * predictions of a group are right, or all wrong): Wilson's interval.
 * Null values: the share of the group's most frequent label; for an agreement the expected
 * agreement of independent predictions with the same marginals per stratum (chance agreement of
 * Cohen's kappa, 1960).
 * Tests: with several seeds the test that belongs to the interval of the difference, over examples
 * and seeds (lra_contrast_p()); with one seed McNemar's exact test.  lra_holm() adjusts those that
 * are shown together. */
#ifndef LRA_ANALYSIS_BREAKDOWN_H
#define LRA_ANALYSIS_BREAKDOWN_H

#include <stdint.h>

#include "analysis/sample.h"

enum { LRA_BREAKDOWN_MAX_SEEDS = LRA_MAX_SEEDS };

typedef struct {
    int64_t n; /* examples */
    int n_classes, n_seeds;
    const int32_t *label;                              /* (n): 0..n_classes-1 */
    const int32_t *predicted[LRA_BREAKDOWN_MAX_SEEDS]; /* (n) by seed */
} lra_breakdown_data;

typedef struct {
    int64_t n;               /* examples */
    double majority;         /* share of the most frequent label among them */
    lra_estimate accuracy;   /* of the predictions */
    double rival;            /* accuracy of the rival */
    lra_estimate difference; /* accuracy - rival, paired by example */
    double p;                /* of the difference; not adjusted */
    bool seeds_dominate;     /* few seeds, and seed variance exceeds example variance */
} lra_breakdown_row;

/* Agreement of the predictions with a heuristic.  Null values: independent predictions with the
 * same labels in every stratum. */
typedef struct {
    lra_estimate all; /* share of all examples */
    double all_null;
    int64_t n_errors;  /* examples where the heuristic is wrong; among them: */
    lra_estimate same; /* share where the prediction is the heuristic's wrong label */
    double same_null;
    lra_estimate right; /* share where the prediction is right */
    double right_null;
} lra_agreement;

/* Computes row[0] for all examples and row[1 + g] for group g.  group: (n), 0..n_groups-1; other
 * values: no group.
 * rival: (n) labels.  A group without examples has n = 0 and NAN. */
void lra_breakdown_compute(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                           const int32_t *rival, lra_breakdown_row *row);
/* heuristic: (n) labels; strata as groups above. */
void lra_breakdown_agreement(const lra_breakdown_data *d, int n_strata, const int32_t *stratum,
                             const int32_t *heuristic, lra_agreement *out);
/* count[g][label][predicted], summed over seeds: (n_groups, n_classes, n_classes). */
void lra_breakdown_confusion(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                             int64_t *count);
/* Holm's step-down method: p (n) becomes adjusted, at most 1; NAN stays and does not count. */
void lra_holm(int n, double *p);

#endif
