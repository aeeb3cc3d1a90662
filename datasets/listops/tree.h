/* ListOps rows as tokens, and operations on them. A row is an expression in prefix order without
 * parentheses, followed by <eos>: "[MAX 4 [MIN 2 3 X 9 X <eos>". X closes a node. */
#ifndef LRA_DATASETS_LISTOPS_TREE_H
#define LRA_DATASETS_LISTOPS_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"
#include "kernels/base/core/philox.h"

enum {
    LISTOPS_PAD,
    LISTOPS_UNK,
    LISTOPS_EOS,
    LISTOPS_CLOSE,
    LISTOPS_DIGIT,                    /* ids 4..13: digits 0..9 */
    LISTOPS_MIN = LISTOPS_DIGIT + 10, /* ids 14..17: MIN MAX MED SM */
    LISTOPS_VOCAB = LISTOPS_MIN + 4,
    LISTOPS_OPS = 4,
    LISTOPS_WHOLE = 1 << 30 /* value of `depth` that evaluates all nodes */
};
extern const char *const lra_listops_tokens[LISTOPS_VOCAB];

/* Returns the value of a row of n tokens (with or without <eos>); it is exact if depth is
 * LISTOPS_WHOLE. Otherwise operator nodes at depth >= `depth` (root 1) are not evaluated. drop
 * false: each is replaced by its most frequent label (MIN 0, MAX 9, MED 4, SM 0). drop true: each
 * is removed; a node left without arguments has its most frequent label. Returns -1 and a message
 * if the row is not an expression. MED of an even number of arguments is the mean of the middle
 * two, truncated to an integer. */
int lra_listops_value(const uint16_t *token, int64_t n, int64_t depth, bool drop, lra_err *e);
/* Returns the operator at the root (0..3: MIN MAX MED SM), or 4 for a single digit. */
int lra_listops_root(const uint16_t *token);

typedef struct {
    int64_t max_depth, max_args, min_length, max_length;
    double op;    /* probability that a node with depth < max_depth is an operator */
    bool root_op; /* the root is always an operator */
} lra_listops_shape;
/* Draws at most `tries` trees until one is accepted (min_length < n < max_length). Returns n, not
 * counting <eos>, or 0 if none was accepted. token: array of max_length + 1 ids. */
int64_t lra_listops_try(const lra_listops_shape *s, lra_rng *rng, int64_t tries, uint16_t *token);
/* Same as lra_listops_try(), without a limit on the number of tries. */
int64_t lra_listops_draw(const lra_listops_shape *s, lra_rng *rng, uint16_t *token);
/* Removes from a row of n tokens the digits outside of positions [from, end), and all nodes without
 * digits. Writes the remaining expression to to[n] and returns its number of tokens. If no digit
 * lies in the range, the nearest digit is kept. */
int64_t lra_listops_prune(int64_t n, const int32_t *token, int64_t from, int64_t end, int32_t *to);
/* Shuffles the arguments of every node; the value is unchanged. */
void lra_listops_shuffle(lra_rng *rng, uint16_t *token, int64_t n);

#endif
