/* The result of the checks of a model (check.h): a table of rows. */
#ifndef LRA_PROBES_AUDIT_CHECK_ROWS_H
#define LRA_PROBES_AUDIT_CHECK_ROWS_H

#include <stdio.h>

#include "reports/results/model_checks.h"

/* X(identifier, label) */
#define LRA_CHECKS(X)                                                                              \
    X(handshake, "handshake, shapes")                                                              \
    X(finite, "finite")                                                                            \
    X(deterministic, "deterministic")                                                              \
    X(batch, "batch invariance")                                                                   \
    X(padding, "padding invariance")                                                               \
    X(keep, "keep honoured")                                                                       \
    X(causal, "causal as declared")                                                                \
    X(gradient, "gradient")                                                                        \
    X(maps, "attention maps")                                                                      \
    X(map_values, "maps finite, >= 0")                                                             \
    X(map_sums, "map rows sum to 1")                                                               \
    X(map_mask, "maps masked")                                                                     \
    X(kernels, "kernels")                                                                          \
    X(head, "head of the features")                                                                \
    X(accuracy, "accuracy")                                                                        \
    X(speed, "speed")

enum {
#define LRA_CHECK(id, label) LRA_CHECK_##id,
    LRA_CHECKS(LRA_CHECK)
#undef LRA_CHECK
        LRA_N_CHECKS
};

typedef struct {
    const char *label;
    lra_check_outcome outcome;
    /* measured numbers, or the reason why the check was skipped; NULL: the check does not apply to
     * the model, and is not printed */
    char *found;
    /* Failed checks, else NULL: the usual meaning, a remedy in one line, and the names of the parts
     * that it disables, separated by blanks ("all": every part, "gains": the gains of all parts,
     * "": none). */
    const char *meaning, *cure, *disables;
} lra_check_row;

typedef struct {
    lra_check_row row[LRA_N_CHECKS];
    double noise;               /* largest difference between outputs of equal requests */
    double examples_per_second; /* speed at batch size `best_batch` */
    int64_t best_batch;
} lra_check;

void lra_check_free(lra_check *c);
/* Returns false if a failed check disables the part with this name. */
bool lra_check_allows(const lra_check *c, const char *part);
/* Prints the table: check, outcome, numbers; below a failed check its meaning, its remedy, and the
 * parts that it disables. */
void lra_check_print(const lra_check *c, FILE *out);
/* Returns the printed rows for a result file. The caller frees them. */
lra_model_checks lra_check_rows(const lra_check *c);

#endif
