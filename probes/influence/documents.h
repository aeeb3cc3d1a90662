/* Rows of tokens for measurements of language models, and predictions of tokens in them from a part
 * of the tokens before.
 *   target u     the token at index u of a row, u >= 1; it is predicted from tokens before it
 *   context c    the c tokens u-c .. u-1
 * A context is a shorter input without padding on its left. If the model accepts position ids
 * (LRA_ANSWERS_PLACE), its tokens keep those of the complete row; otherwise they begin at 0. If a
 * row begins with the model's begin-of-sequence token (facts.bos), every context has that token in
 * front, and it is not counted. */
#ifndef LRA_PROBES_INFLUENCE_DOCUMENTS_H
#define LRA_PROBES_INFLUENCE_DOCUMENTS_H

#include "probes/shared/subject.h"

typedef struct {
    int64_t index;  /* row of the split; of a stream: window */
    int64_t n;      /* number of tokens of the model's input */
    int32_t *token; /* (n + 1) tokens; token[n] is the target after the last one, -1: unknown */
    int64_t first;  /* number of tokens in front that are not counted: 1 with a bos token, else 0 */
} lra_document;

typedef struct {
    int64_t n, longest; /* longest: largest number of counted tokens before a target */
    lra_document *row;
} lra_documents;

typedef struct {
    const lra_document *row;
    int64_t at; /* index u of the target, at least row->first + 1 */
} lra_target;

/* Reason why a subject is no language model with rows of tokens, or NULL if it is one. */
const char *lra_documents_undefined(const lra_subject *s);
/* Copies a sample of the test rows; sample: number of rows, 0: all. */
int lra_documents_load(const lra_subject *s, int64_t sample, lra_documents *out, lra_err *e);
void lra_documents_free(lra_documents *d);
/* Number of counted tokens before the last known target of a row. */
int64_t lra_document_context(const lra_document *d);

/* Announces requests of these kinds, about inputs of the given lengths (n). */
int lra_documents_prepare(const lra_subject *s, uint32_t answers, int n, const int64_t *length,
                          lra_err *e);
/* Computes the logits (n,C) of n targets from c tokens before each; c = 0: all tokens before.
 * Needs LRA_ANSWERS_FORWARD. */
int lra_documents_predict(const lra_subject *s, int64_t n, const lra_target *of, int64_t c,
                          float *logits, lra_err *e);
/* Number of targets whose logits fit into a moderate amount of memory (32 MiB). */
int64_t lra_documents_chunk(const lra_subject *s);
/* -ln p of a token, for logits (C). */
double lra_token_loss(int64_t C, const float *logits, int32_t token);

/* Loss of each token of the vocabulary in bits by its frequency in the training split, with one
 * added to each count: -log2((count + 1) / (total + V)). (V), V: facts.classes; the caller frees
 * it. */
double *lra_documents_unigram(const lra_subject *s);

#endif
