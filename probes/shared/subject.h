/* The subject of a measurement: a model that answers requests (responder.h), and the test rows on
 * which it is measured, in batches. A training run is not needed. */
#ifndef LRA_PROBES_SHARED_SUBJECT_H
#define LRA_PROBES_SHARED_SUBJECT_H

#include "datasets/loader/batch.h"
#include "datasets/loader/buckets.h"
#include "kernels/base/core/metric.h"
#include "probes/shared/responder.h"

typedef struct {
    lra_responder *model; /* not owned */
    const char *title;    /* name of the subject in messages */
    const lra_dataset *data;
    lra_buckets buckets;
    int64_t batch; /* number of rows of a batch; a multiple of `donors` */
    /* Number of consecutive rows, in the order of the loader, that exchange tokens: replacement
     * tokens of a row come from the rows of its block. Blocks do not depend on `batch`. */
    int64_t donors;
    uint64_t seed;        /* seed of random draws: positions, perturbations, bootstrap */
    uint64_t sample_seed; /* seed of the sample of test rows */
    lra_masking masking;  /* masking of the inputs, for models trained by masking */
    /* Contributions of a batch to the metric, row (B), for models with an output at each position.
     * Nullable */
    int (*score)(lra_responder *r, const lra_request *q, const lra_batch *b, lra_sums *row,
                 lra_err *e);
    uint32_t score_answers; /* LRA_ANSWERS_.. bits that are announced before score() */
} lra_subject;

typedef enum { LRA_TRAINED_WEIGHTS, LRA_RESET_WEIGHTS } lra_subject_weights;

/* Subject that consists of `model` and the test rows of `data`, in batches of `batch` rows, which
 * exchange tokens within the batch. */
lra_subject lra_subject_of(lra_responder *model, const lra_dataset *data, const char *title,
                           int64_t batch, uint64_t seed);
/* Announces requests about the batches of the subject, with trained or with initial weights. Fills
 * in the batch size and the lengths. Fails if the model does not answer such requests. */
int lra_subject_prepare(const lra_subject *s, lra_subject_weights weights, lra_preparation p,
                        lra_err *e);
/* Allows the model to release the memory of earlier requests. */
void lra_subject_release(const lra_subject *s);
/* Loader of the test rows; sample: number of rows, stratified by label, 0: all. */
lra_loader *lra_subject_loader(const lra_subject *s, int64_t sample);
/* The inputs of a batch, as a request. */
lra_request lra_subject_request(const lra_subject *s, const lra_batch *b);
/* Calls `each` with every batch of a sample; it returns 0 to continue. The caller has called
 * lra_subject_prepare(). */
int lra_subject_each(const lra_subject *s, int64_t sample,
                     int (*each)(const lra_request *q, const lra_batch *b, void *context,
                                 lra_err *e),
                     void *context, lra_err *e);
/* Returns the number of rows of a sample. index: (n) their rows in the split; place: for each row
 * of the split, its rank in the sample. The caller frees both. */
int64_t lra_subject_rows(const lra_subject *s, int64_t sample, int64_t **index, int64_t **place);
/* Number of test rows; of a stream, its windows. */
int64_t lra_subject_test_rows(const lra_subject *s);
/* Computes the contributions of rows with these logits (B,C) to the sums of the metric: row (B), 0
 * for missing rows. Rows without labels (lra_task.unlabelled): n is 1, the loss is NAN. Not for
 * language models. */
void lra_subject_sums(const lra_subject *s, const lra_request *q, const lra_batch *b,
                      const float *logits, lra_sums *row);

/* Number of sequences of a request. */
static inline int64_t lra_request_sequences(const lra_request *q)
{
    return q->B * q->towers;
}
/* Returns the tokens of sequence s, and the bytes of each. */
const char *lra_request_tokens(const lra_request *q, int64_t s, size_t *size);
/* Copies the inputs of a request without the positions that are padding in all its rows. *to: the
 * request with the fewest positions T, at least 1; its inputs are the returned memory, which the
 * caller frees. Returns NULL if there are no such positions; *to is then equal to q. */
void *lra_request_shorten(const lra_request *q, lra_request *to);
/* Index of the row that provides replacement tokens for row i of a batch of B rows: number `draw`
 * (modulo their count) of the other valid rows of its block after i, cyclically. row (B): -1 for
 * missing rows. Returns -1 if the block has no other row. */
int64_t lra_subject_donor(int64_t donors, int64_t B, const int64_t *row, int64_t i, int64_t draw);

#endif
