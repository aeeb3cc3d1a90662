/* What the checks share: small batches made from the examples, and their differences. */
#ifndef LRA_PROBES_AUDIT_CHECK_WORK_H
#define LRA_PROBES_AUDIT_CHECK_WORK_H

#include "kernels/base/core/philox.h"
#include "probes/audit/check_rows.h"
#include "probes/audit/check_spec.h"

typedef struct {
    lra_responder *r;
    const lra_check_spec *s;
    lra_check *out;
    float *logits; /* (B,C) of all examples */
} lra_check_work;

/* A request of its own memory. */
typedef struct {
    lra_request q;
    int32_t *token, *length;
    float *value;
    uint8_t *keep;
} lra_check_batch;

/* Copies n rows of the examples; T: tokens of the copy, more (padded) or fewer (cut) than those of
 * the examples. */
lra_check_batch lra_check_batch_new(const lra_check_work *w, const int64_t *row, int64_t n,
                                    int64_t T);
void lra_check_batch_free(lra_check_batch *b);
/* Replaces position t of sequence s by another token, or by other numbers. */
void lra_check_replace(const lra_check_work *w, lra_check_batch *b, int64_t s, int64_t t,
                       lra_rng *rng);

/* Logits (B,C); the caller frees them.  NULL with a message on failure. */
float *lra_check_forward(const lra_check_work *w, const lra_request *q, lra_err *e);
/* Features (n,T,D); the same. */
float *lra_check_features(const lra_check_work *w, const lra_request *q, lra_err *e);
/* Largest |a - b| of n numbers; infinite if one of them is not finite. */
double lra_check_difference(const float *a, const float *b, int64_t n);
/* Largest |a|. */
double lra_check_size(const float *a, int64_t n);

/* Sets the outcome of a row; takes `found` (lra_format()). */
void lra_check_pass(lra_check_work *w, int check, char *found);
void lra_check_leave_out(lra_check_work *w, int check, const char *why);
void lra_check_fail(lra_check_work *w, int check, char *found, const char *meaning,
                    const char *cure, const char *disables);

void lra_check_gradient(lra_check_work *w);
void lra_check_accuracy(lra_check_work *w);

#endif
