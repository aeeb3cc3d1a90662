/* Code shared by the checks: small batches made from the examples, and differences of outputs. */
#ifndef LRA_PROBES_AUDIT_CHECK_WORK_H
#define LRA_PROBES_AUDIT_CHECK_WORK_H

#include "kernels/base/core/philox.h"
#include "probes/audit/check_rows.h"
#include "probes/audit/check_spec.h"

typedef struct {
    lra_responder *r;
    const lra_check_spec *s;
    lra_check *out;
    float *logits; /* (B,C) outputs of all examples */
} lra_check_work;

/* A request that owns its arrays. */
typedef struct {
    lra_request q;
    int32_t *token, *length;
    float *value;
    uint8_t *keep;
} lra_check_batch;

/* Copies n rows of the examples, padded or truncated to T tokens. */
lra_check_batch lra_check_batch_new(const lra_check_work *w, const int64_t *row, int64_t n,
                                    int64_t T);
void lra_check_batch_free(lra_check_batch *b);
/* Replaces the token (or the real inputs) at position t of sequence s by a random other one. */
void lra_check_replace(const lra_check_work *w, lra_check_batch *b, int64_t s, int64_t t,
                       lra_rng *rng);

/* Returns the logits (B,C), which the caller frees; NULL and a message on failure. */
float *lra_check_forward(const lra_check_work *w, const lra_request *q, lra_err *e);
/* Returns the features (n,T,D) likewise. */
float *lra_check_features(const lra_check_work *w, const lra_request *q, lra_err *e);
/* Returns the largest |a - b| of n pairs; infinite if a number is not finite. */
double lra_check_difference(const float *a, const float *b, int64_t n);
/* Returns the largest |a| of n numbers. */
double lra_check_size(const float *a, int64_t n);

/* Set the outcome of a check. They take ownership of `found`, a text from lra_format(). */
void lra_check_pass(lra_check_work *w, int check, char *found);
void lra_check_leave_out(lra_check_work *w, int check, const char *why);
void lra_check_fail(lra_check_work *w, int check, char *found, const char *meaning,
                    const char *cure, const char *disables);

void lra_check_gradient(lra_check_work *w);
void lra_check_attention(lra_check_work *w);
void lra_check_kernels(lra_check_work *w);
void lra_check_accuracy(lra_check_work *w);

#endif
