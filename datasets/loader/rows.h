/* Rows of a split: tokens or values, labels, targets; stored contiguously in growing arrays. */
#ifndef LRA_DATASETS_LOADER_ROWS_H
#define LRA_DATASETS_LOADER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_TRAIN_SPLIT, LRA_VAL_SPLIT, LRA_TEST_SPLIT, LRA_N_SPLITS };
extern const char *const lra_split_names[LRA_N_SPLITS]; /* "train" "val" "test" */

/* Rows of tokens, stored contiguously: row i has the tokens start[i] .. start[i+1]-1. A token (a
 * "step" in names) is `width` numbers: ids or levels (token), or real numbers (value). */
typedef struct {
    int64_t n;
    int64_t *start;  /* (n+1) */
    int width;       /* numbers per token; 0: no row yet */
    uint16_t *token; /* (steps, width); NULL: value */
    float *value;    /* (steps, width); NULL: token */
    int32_t *label;  /* (n); 0 where a task has no classes */
    /* LRA_GOAL_VALUE: (n, n_targets). LRA_GOAL_STEPS: (steps, n_targets), NAN where there is no
     * target. */
    float *target;
    int n_targets; /* 0: target is NULL */
    bool step_targets;
    int64_t *middle; /* LRA_GOAL_PAIR: (n) length of the first document. NULL: no pairs */
    int64_t row_capacity, step_capacity;
} lra_sequences;

/* One row of them; the function that returns it defines the owner of the arrays. */
typedef struct {
    int64_t n; /* steps */
    int width, n_targets;
    bool step_targets;
    uint16_t *token; /* (n, width); NULL: value */
    float *value;    /* (n, width); NULL: token */
    int32_t label;
    float *target;  /* (n_targets) or (n, n_targets); NULL: none */
    int64_t middle; /* 0: no pair */
} lra_row;

/* Numbers per token for a vocabulary: an id of more than 16 bits is stored as its low and its high
 * 16 bits. */
static inline int lra_token_width(int64_t vocab)
{
    return vocab > 65536 ? 2 : 1;
}
/* Id of token i of a row of this width. */
static inline int64_t lra_token_at(const uint16_t *token, int width, int64_t i)
{
    return width == 2 ? token[2 * i] | (int64_t)token[2 * i + 1] << 16 : token[i];
}

/* Length of the model input for row i: all tokens, or those of the longer document. */
int64_t lra_sequences_length(const lra_sequences *r, int64_t i);
/* Row i; points into r. */
lra_row lra_sequences_row(const lra_sequences *r, int64_t i);
/* Growing rows; all rows of a split are of one kind. */
/* Appends n rows of equal length; the caller fills tokens, from the result on, and labels, from
 * r->label[r->n - n] on. NULL with a message if they do not fit into memory. */
uint16_t *lra_sequences_extend(lra_sequences *r, int64_t n, int64_t length, int width, lra_err *e);
void lra_sequences_add(lra_sequences *r, const lra_row *row);
void lra_sequences_add_tokens(lra_sequences *r, const uint16_t *token, int64_t n, int32_t label);
void lra_sequences_free(lra_sequences *r);
/* Share of the most frequent label, and that label. */
double lra_sequences_majority(const lra_sequences *r, int n_classes, int32_t *label);

#endif
