/* Intervals of values that are functions of sums over rows: accuracies, root mean squared errors, R2, bits.
 *   value = mean over the seeds of f(sum over the rows)
 * Replicates draw rows with replacement, one draw for all seeds, because they share the rows, crossed with a draw of
 * seeds from three seeds on; with one or two the interval does not cover the variation of training (ladder.h). */
#ifndef LRA_ANALYSIS_BOOTSTRAP_H
#define LRA_ANALYSIS_BOOTSTRAP_H

#include <stdint.h>

#include "analysis/interval.h"

typedef struct {
    int n_seeds, n_columns;
    int64_t n;                /* rows */
    const double *const *row; /* by seed: (n, n_columns) what each row adds */
    double (*value)(const void *context, const double *sum);
    const void *context;
    int n_replicates;
    uint64_t key; /* of the random numbers */
    /* Fills n uniform 32-bit words that depend on (key, replicate) alone. */
    void (*words)(uint64_t key, uint64_t replicate, int64_t n, uint32_t *out);
} lra_rows_data;

/* The 95 % percentile interval; replicates without a value are left out.  Without memory: no interval (NAN). */
lra_estimate lra_rows_bootstrap(const lra_rows_data *d);

#endif
