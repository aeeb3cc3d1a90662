/* Inputs of other lengths than a run was trained on, which its task makes anew (another data seed),
 * answered by its weights.  The model is that of the run.  Longer inputs need one that is made for
 * them: it must have the same parameters, and give its answers to the run's own rows bit for bit; a
 * table of positions has not, S4, whose kernel depends on the longest length, does not. */
#ifndef LRA_PROBES_INFLUENCE_LENGTH_H
#define LRA_PROBES_INFLUENCE_LENGTH_H

#include "models/training/loaded_model.h"
#include "probes/shared/steps.h"

enum { LRA_LENGTH_CHECKED = 64 }; /* own rows that a longer model is asked, by both models */

/* The parameter of the task that says how long rows are, "length", or "max-length", with which
 * "min-length" goes; NULL: none, or it makes no rows. */
const char *lra_length_key(const lra_dataset *d);
/* Answers to n test rows of a length, in their order: to (n). */
int lra_length_ask(const lra_train_spec *run, lra_device *dev, int64_t length, int64_t n,
                   lra_steps *steps, lra_sums *to, lra_err *e);

/* Answers to a sample of the run's own test rows. */
typedef struct {
    int64_t n, *index; /* index: rows of the split */
    lra_sums *row;     /* (n) */
} lra_own_answers;
int lra_own_answers_ask(const lra_train_spec *run, lra_device *dev, int64_t sample,
                        lra_steps *steps, lra_own_answers *out, lra_err *e);
void lra_own_answers_free(lra_own_answers *a);

#endif
