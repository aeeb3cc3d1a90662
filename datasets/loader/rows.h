/* Rows of a split: tokens or real numbers, labels, targets; stored contiguously in growing
 * arrays. */
#ifndef LRA_DATASETS_LOADER_ROWS_H
#define LRA_DATASETS_LOADER_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_TRAIN_SPLIT, LRA_VAL_SPLIT, LRA_TEST_SPLIT, LRA_N_SPLITS };
extern const char *const lra_split_names[LRA_N_SPLITS]; /* names "train", "val", "test" */

/* Rows of tokens, stored contiguously: row i has the tokens start[i] .. start[i+1]-1. A token is
 * `width` numbers: ids or levels (member token), or real numbers (member value). Names say "step"
 * for a token; N below is the number of tokens of all rows. */
typedef struct {
    int64_t n;
    int64_t *start;  /* (n+1) index of the first token of each row; start[n] = N */
    int width;       /* numbers per token; 0: there are no rows yet */
    uint16_t *token; /* (N, width) ids or levels; NULL: rows hold real numbers */
    float *value;    /* (N, width) real numbers; NULL: rows hold ids or levels */
    int32_t *label;  /* (n) class labels; 0 where a task has no classes */
    /* Target numbers. LRA_GOAL_VALUE: (n, n_targets). LRA_GOAL_TOKENS: (N, n_targets), NAN where
     * there is no target. */
    float *target;
    int n_targets; /* numbers per target; 0: target is NULL */
    bool step_targets;
    /* LRA_GOAL_PAIR: (n) length of the first document in tokens. NULL: rows are not pairs */
    int64_t *middle;
    int64_t row_capacity, step_capacity;
} lra_sequences;

/* One row of lra_sequences. The function that returns a row documents who owns its arrays. */
typedef struct {
    int64_t n; /* number of tokens */
    int width, n_targets;
    bool step_targets;
    uint16_t *token; /* (n, width) ids or levels; NULL: the row holds real numbers */
    float *value;    /* (n, width) real numbers; NULL: the row holds ids or levels */
    int32_t label;
    float *target;  /* (n_targets), or (n, n_targets) with a target at every token; NULL: none */
    int64_t middle; /* length of the first document in tokens; 0: not a pair */
} lra_row;

/* Returns the numbers per token for a vocabulary: an id of more than 16 bits is stored as two
 * numbers, its low and its high 16 bits. */
static inline int lra_token_width(int64_t vocab)
{
    return vocab > 65536 ? 2 : 1;
}
/* Returns the id of token i of a row of this width. */
static inline int64_t lra_token_at(const uint16_t *token, int width, int64_t i)
{
    return width == 2 ? token[2 * i] | (int64_t)token[2 * i + 1] << 16 : token[i];
}

/* Returns the length in tokens of the model input for row i: of the row, or of the longer
 * document. */
int64_t lra_sequences_length(const lra_sequences *r, int64_t i);
/* Returns row i; its arrays are part of r. */
lra_row lra_sequences_row(const lra_sequences *r, int64_t i);
/* Appends n rows of equal length. The caller fills the tokens, from the returned pointer on, and
 * the labels, from r->label[r->n - n] on. Returns NULL and a message if the rows do not fit into
 * memory. */
uint16_t *lra_sequences_extend(lra_sequences *r, int64_t n, int64_t length, int width, lra_err *e);
void lra_sequences_add(lra_sequences *r, const lra_row *row);
void lra_sequences_add_tokens(lra_sequences *r, const uint16_t *token, int64_t n, int32_t label);
void lra_sequences_free(lra_sequences *r);
/* Returns the share of the most frequent label, and that label. */
double lra_sequences_majority(const lra_sequences *r, int n_classes, int32_t *label);

#endif
