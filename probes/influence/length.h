/* Evaluates a trained model on inputs of other lengths than in training; the task generates these
 * rows with another data seed. For shorter inputs, the run's model is used unchanged. For longer
 * inputs, the model is built again for the new length: it must have the same parameters, and its
 * outputs on the run's own rows must be equal bit for bit. Models with a table of position
 * embeddings fail the first condition. S4, whose kernel depends on the longest length, fails the
 * second. */
#ifndef LRA_PROBES_INFLUENCE_LENGTH_H
#define LRA_PROBES_INFLUENCE_LENGTH_H

#include "probes/shared/steps.h"
#include "probes/shared/subject.h"

/* number of the run's own rows on which the model built for longer inputs is compared */
enum { LRA_LENGTH_CHECKED = 64 };

/* Name of the task's length parameter: "length", or "max-length" (with "min-length"). NULL if the
 * task has no such parameter or generates no rows. */
const char *lra_length_key(const lra_dataset *d);
/* Computes the outputs for n generated test rows of a length: to (n), in row order. */
int lra_length_evaluate(const lra_subject *s, int64_t length, int64_t n, lra_steps *steps,
                        lra_sums *to, lra_err *e);

/* Outputs for a sample of the test rows, by lra_own_outputs_evaluate(). */
typedef struct {
    int64_t n, *index; /* n: number of rows; index (n): row indices in the test split */
    lra_sums *row;     /* (n) outputs */
} lra_own_outputs;
/* longest: length that the model is built for, 0 = that of its training data. */
int lra_own_outputs_evaluate(const lra_subject *s, int64_t longest, int64_t sample,
                             lra_steps *steps, lra_own_outputs *out, lra_err *e);
void lra_own_outputs_free(lra_own_outputs *a);
/* Reason why a model has no contributions to the metric, or NULL if it has. */
const char *lra_own_answers_undefined(const lra_subject *s);

#endif
