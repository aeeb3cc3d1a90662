/* Breaks predictions down by group: accuracy, comparison with a rival predictor, agreement with a
 * heuristic, confusion matrix.
 *
 * Accuracy is the mean over seeds. 95 % intervals of accuracies and differences are those of
 * sample.h, over examples and seeds; with one seed, over examples alone. If nothing varies (all
 * predictions of a group are correct, or all wrong), Wilson's interval is used.
 * Null values: of an accuracy, the share of the group's most frequent label; of an agreement, the
 * expected agreement of independent predictions with the same marginals in each stratum (chance
 * agreement of Cohen's kappa, 1960).
 * Tests: with several seeds the test that corresponds to the interval of the difference, over
 * examples and seeds (lra_contrast_p()); with one seed McNemar's exact test. lra_holm() adjusts
 * p-values that are shown together. */
#ifndef LRA_ANALYSIS_BREAKDOWN_H
#define LRA_ANALYSIS_BREAKDOWN_H

#include <stdint.h>

#include "analysis/sample.h"

enum { LRA_BREAKDOWN_MAX_SEEDS = LRA_MAX_SEEDS };

typedef struct {
    int64_t n; /* number of examples */
    int n_classes, n_seeds;
    const int32_t *label;                              /* (n) labels 0..n_classes-1 */
    const int32_t *predicted[LRA_BREAKDOWN_MAX_SEEDS]; /* (n) predicted labels of each seed */
} lra_breakdown_data;

typedef struct {
    int64_t n;             /* number of examples */
    double majority;       /* share of the most frequent label among the examples */
    lra_estimate accuracy; /* accuracy of the predictions */
    double rival;          /* accuracy of the rival */
    /* accuracy of the predictions minus that of the rival, paired by example */
    lra_estimate difference;
    double p; /* p-value of the difference, not adjusted */
    /* there are few seeds, and the variance over seeds exceeds the variance over examples */
    bool seeds_dominate;
} lra_breakdown_row;

/* Agreement of the predictions with the labels of a heuristic. Null values: independent predictions
 * with the same label frequencies in every stratum. */
typedef struct {
    lra_estimate all; /* share of all examples where prediction and heuristic agree */
    double all_null;
    int64_t n_errors; /* number of examples where the heuristic is wrong */
    /* share of the heuristic's errors where the prediction is the same wrong label */
    lra_estimate same;
    double same_null;
    lra_estimate right; /* share of the heuristic's errors where the prediction is correct */
    double right_null;
} lra_agreement;

/* Computes row[0] for all examples and row[1 + g] for group g. group: (n) 0..n_groups-1; other
 * values: no group. rival: (n) labels of the rival predictor. A group without examples has n = 0
 * and NAN. */
void lra_breakdown_compute(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                           const int32_t *rival, lra_breakdown_row *row);
/* Computes the agreement with a heuristic. heuristic: (n) labels; stratum: (n) as `group` above. */
void lra_breakdown_agreement(const lra_breakdown_data *d, int n_strata, const int32_t *stratum,
                             const int32_t *heuristic, lra_agreement *out);
/* Computes the confusion matrices count[g][label][predicted], summed over seeds: (n_groups,
 * n_classes, n_classes). */
void lra_breakdown_confusion(const lra_breakdown_data *d, int n_groups, const int32_t *group,
                             int64_t *count);
/* Adjusts p-values in place by Holm's step-down method, to at most 1. NAN values are unchanged and
 * not counted. */
void lra_holm(int n, double *p);

#endif
