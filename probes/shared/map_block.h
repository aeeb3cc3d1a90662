/* Attention matrices of a model that answers requests (responder.h), as rows of a mixing matrix
 * (mixing_matrix.h): the same code measures them as matrices of the built-in engine. Rows are
 * requested in blocks, so that memory stays linear in the length. */
#ifndef LRA_PROBES_SHARED_MAP_BLOCK_H
#define LRA_PROBES_SHARED_MAP_BLOCK_H

#include "probes/shared/mixing_matrix.h"
#include "probes/shared/subject.h"

/* The attention layers of a model. */
typedef struct {
    int n;
    const char *const *layer; /* (n) names; belong to the model */
    int64_t *heads;           /* (n) number of heads of each layer */
    int n_heads;              /* total number of heads */
    int64_t extra;            /* positions before the first token */
    bool guessed;             /* true: a number of heads is not known (lra_answer.guessed) */
} lra_map_layers;
/* Determines the numbers of heads by requests for one row of the first test example. Returns
 * LRA_ABSENT if they have no answer yet, in a plan. */
int lra_map_layers_open(const lra_subject *s, lra_map_layers *out, lra_err *e);
void lra_map_layers_free(lra_map_layers *x);
/* Converts the name of a layer to one for result files: lower case, with '-' for other characters.
 * The caller frees it. */
char *lra_map_layer_name(const char *layer);

/* Rows from .. to-1 of one layer for a batch. `values` gives them to the functions of
 * mixing_matrix.h. */
typedef struct lra_map_block {
    lra_answer answer; /* (n,H,to-from,P) */
    int64_t from, to;
    bool causal; /* pairs of a query and a later key are masked */
    lra_matrix of;
    lra_matrix_values values;
} lra_map_block;
/* Requests a block; *out must not move until lra_map_block_free(). Fails if a weight is not finite.
 * Unless facts.row_sums permits other weights, also fails if a weight is negative or a row does not
 * sum to 1.
 * The message names layer, head, row and sum. */
int lra_map_block_get(const lra_subject *s, const lra_map_layers *layers, const lra_request *q,
                      int layer, int64_t from, int64_t to, lra_map_block *out, lra_err *e);
void lra_map_block_free(lra_map_block *b);

/* Fails unless an answer of attention() has the shape (n,H,Q,P). */
int lra_map_check_shape(const lra_answer *a, int64_t n, int64_t Q, int64_t P, lra_err *e);
/* Deviation of the sum of a row from 1 that is accepted as rounding of float16. */
extern const double lra_map_tolerance;

/* Number of batch rows, and of matrix rows per block, for examples of P positions. */
int64_t lra_map_batch(const lra_subject *s, const lra_map_layers *layers, int64_t P);
int64_t lra_map_rows(const lra_map_layers *layers, int64_t n_sequences, int64_t P);

#endif
