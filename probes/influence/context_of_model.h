/* Context limit of a complete model that answers requests (definition: context.h), by requests for
 * the features of crops and for the outputs of the pooled features:
 *   h_R(i) = features(x[lo .. hi])(i - lo),  outputs = head(h_R)
 * A crop is a shorter input; its tokens keep the position ids of the complete input if the model
 * accepts them (LRA_ANSWERS_PLACE). Undefined if the head reads the features of the first position
 * alone, a class token; this is tested on the first batch. */
#ifndef LRA_PROBES_INFLUENCE_CONTEXT_OF_MODEL_H
#define LRA_PROBES_INFLUENCE_CONTEXT_OF_MODEL_H

#include "probes/influence/part.h"

typedef struct {
    const lra_subject *subject;
    int64_t n, *index, *place; /* (n) rows of the sample; rank of each row of the split */
    lra_sums *full;            /* (n) outputs for complete inputs */
    /* Only if the outputs are probabilities, else NULL: whole: (n,C) logits for complete inputs;
     * entropy: (n) of them; mean_entropy: entropy of their mean (probabilities.h) */
    float *whole;
    double *entropy, mean_entropy;
    int64_t sample;
    lra_steps *steps;
} lra_model_context;

/* Reason why the context limit is undefined for a subject, or NULL if it is defined. */
const char *lra_model_context_undefined(const lra_subject *s);
/* True if crops have other position ids than the complete input, which changes the model. */
bool lra_model_context_moves(const lra_responder_facts *f);
/* Maximum number of tokens of a crop with radius R. */
int64_t lra_model_context_width(const lra_subject *s, int64_t R);
/* Computes the outputs for complete inputs. sample: number of rows of the test split, 0 = all.
 * Returns LRA_ABSENT if the head reads the first position alone. The caller calls
 * lra_model_context_close() also after a failure. */
int lra_model_context_open(lra_model_context *c, const lra_subject *s, int64_t sample,
                           lra_steps *steps, lra_err *e);
/* Computes the outputs with radius R < T - 1: row (n); kl: (n) their KL divergences from the
 * outputs for complete inputs in nats. Nullable: kl, which needs c->whole */
int lra_model_context_evaluate(lra_model_context *c, int64_t R, lra_sums *row, double *kl,
                               lra_err *e);
void lra_model_context_close(lra_model_context *c);

#endif
