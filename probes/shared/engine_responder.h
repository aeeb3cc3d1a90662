/* A trained model of the built-in engine that answers requests (responder.h): forward(),
 * features(), vjp() and, if they were added, attention() and kernels(), with the weights of the
 * selected epoch or with the initial weights of the run (reset() ignores its seed: the initial
 * weights belong to the run's own seed).
 * prepare() builds the graphs of the announced requests. Requests with the announced number of rows
 * and length run without a copy; others are padded to the next larger graph. Without prepare() the
 * graphs of the run's own batches are built on the first request of a kind.
 * forward() exists for models with one output per input, and for language models, whose answer is
 * that at the last token; not for models with an output at each position. */
#ifndef LRA_PROBES_SHARED_ENGINE_RESPONDER_H
#define LRA_PROBES_SHARED_ENGINE_RESPONDER_H

#include "models/training/loaded_model.h"
#include "probes/shared/subject.h"

/* Bit of lra_preparation.answers for lra_engine_score(), which only the engine has. */
enum { LRA_ENGINE_SCORES = 1 << 16 };

/* Declares a model without loading it. Both arguments must outlive the responder; the run's data
 * are loaded. */
lra_responder *lra_engine_responder_new(const lra_train_spec *run, lra_device *device);
/* Finds the attention layers of the run, so that the responder answers attention(). */
int lra_engine_responder_add_attention(lra_responder *r, lra_err *e);
/* Makes the responder answer head(), unless the model has an output at every position. period:
 * facts.period */
void lra_engine_responder_add_head(lra_responder *r, int64_t period);
/* Kernels of the run's layers, for kernels(). */
typedef struct {
    int n;
    const char *const *layer; /* (n) names */
    const char *uncovered;    /* lra_responder_facts.uncovered */
    void *context;
    /* Computes the kernels of layer k with these weights. */
    int (*get)(void *context, int k, lra_weights_kind weights, int64_t lags,
               lra_kernels_answer *out, lra_err *e);
} lra_engine_kernels;
/* Makes the responder answer kernels(); `kernels` must outlive it. */
void lra_engine_responder_add_kernels(lra_responder *r, const lra_engine_kernels *kernels);
/* Selects these weights, now and in later calls of restore(), instead of those of the best
 * epoch. */
void lra_engine_responder_use(lra_responder *r, lra_weights_kind trained);
/* Subject that consists of `model`, a responder for this run, and the test rows of the run. */
lra_subject lra_engine_subject(const lra_train_spec *run, lra_responder *model);
/* Contributions of the rows of a batch to the sums of the metric, also for models with an output at
 * each position; row: (B). Needs an announcement of LRA_ENGINE_SCORES. */
int lra_engine_score(lra_responder *r, const lra_request *q, const lra_batch *b, lra_sums *row,
                     lra_err *e);

#endif
