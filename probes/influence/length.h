/* Evaluates a trained model on inputs of other lengths than it was trained on; the task generates
 * them anew (another data seed). For shorter inputs the model is that of the run. Longer inputs
 * need a model made for them: it must have the same parameters, and give the outputs of the run's
 * own rows bit for bit. Models with a position table do not have the same parameters; S4, whose
 * kernel depends on the longest length, does not give the same outputs. */
#ifndef LRA_PROBES_INFLUENCE_LENGTH_H
#define LRA_PROBES_INFLUENCE_LENGTH_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

/* number of the run's own rows on which a longer model is compared */
enum { LRA_LENGTH_CHECKED = 64 };

/* Name of the task's length parameter: "length", or "max-length" (together with "min-length");
 * NULL: none, or the task generates no rows. */
const char *lra_length_key(const lra_dataset *d);
/* Computes the outputs for n test rows of a length, in their order: to (n). */
int lra_length_ask(const lra_train_spec *run, lra_device *dev, int64_t length, int64_t n,
                   lra_steps *steps, lra_sums *to, lra_err *e);

/* Computes the outputs for a sample of the run's own test rows. */
typedef struct {
    int64_t n, *index; /* index: rows of the split */
    lra_sums *row;     /* (n) */
} lra_own_answers;
int lra_own_answers_ask(const lra_train_spec *run, lra_device *dev, int64_t sample,
                        lra_steps *steps, lra_own_answers *out, lra_err *e);
void lra_own_answers_free(lra_own_answers *a);

#endif
