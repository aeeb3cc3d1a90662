/* Intervals of values that are functions of sums over rows: accuracies, root mean squared errors, R2, bits.
 *   value = mean over the seeds of f(sum over the rows)
 * Replicates draw rows with replacement, one draw for all seeds, because they share the rows, crossed with a draw of
 * seeds from three seeds on; with one or two the interval does not cover the variation of training (ladder.h). */
#ifndef LRA_ANALYSIS_BOOTSTRAP_H
#define LRA_ANALYSIS_BOOTSTRAP_H

#include <stdint.h>

#include "analysis/interval.h"

/* A value of sums over rows of n_columns numbers. */
typedef struct {
    int n_columns; /* at most 16 */
    int64_t n;     /* rows */
    double (*value)(const void *context, const double *sum);
    const void *context;
} lra_measure;
/* The value of (n, n_columns) rows: each once, or as drawn by n uniform words.  Nullable: word */
double lra_measure_rows(const lra_measure *m, const double *row, const uint32_t *word);

typedef struct {
    lra_measure measure;
    int n_seeds;
    const double *const *row; /* by seed */
    int n_replicates;
    uint64_t key; /* of the random numbers */
    /* Fills n uniform 32-bit words that depend on (key, replicate) alone. */
    void (*words)(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out);
} lra_rows_data;

/* The 95 % percentile interval; replicates without a value are left out.  Without memory: no interval (NAN). */
lra_estimate lra_rows_bootstrap(const lra_rows_data *d);

#endif
