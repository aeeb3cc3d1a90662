/* The network around an encoder: inputs, encoder, and the head of the task.
 *   e = (table[tokens] or values w + b) * scale + positions;   h = encode(e), "features" (n,T,D)
 *   CLASS  logits = pool(h) W + b                                       mean cross-entropy
 *   PAIR   a, b = pool(h) of the first and of the second documents, which are encoded separately;
 *          logits = GELU([a, b, a - b, a b] U + u) W + b                mean cross-entropy
 *   VALUE  numbers = pool(h) W + b                                      mean squared error over the loss mask;
 *          b is initialised to the mean of the targets, not near 0 (training/loaded_model.h)
 *   STEPS  numbers = h W + b at every token                             mean squared error over the loss mask
 *   NEXT   logits = h W + b at every token, over the vocabulary         mean cross-entropy over the loss mask
 * pool=cls: a learned vector, initialised to 0, is prepended to the inputs as their first position.
 * It is never padding, and its encoder output is the pooled vector. `features` are the outputs of
 * the other positions.  STEPS and NEXT have no pooling. The logits of CLASS and PAIR may have a
 * hidden layer: lra_model.classifier. Scopes: "embed/table" (V,D), or "embed/w" (channels,D) and
 * "embed/b" (D); "cls/vector" (D); "positions/table"; "encoder/..."; "pair/w" (4D,D), "pair/b" (D);
 * "hidden/w", "hidden/b"; "head/w" (D,outputs), "head/b". A loss without a head of this file: call
 * lra_network_open(), then compute the loss from `features`. */
#ifndef LRA_MODELS_NETWORK_H
#define LRA_MODELS_NETWORK_H

#include "kernels/graph/ops.h"
#include "models/model.h"

typedef enum {
    LRA_HEAD_CLASS,
    LRA_HEAD_PAIR,
    LRA_HEAD_VALUE,
    LRA_HEAD_TOKENS,
    LRA_HEAD_NEXT
} lra_head;

typedef struct {
    lra_head head;
    int64_t vocab;    /* size of the vocabulary; 0: the inputs are real numbers */
    int64_t channels; /* real numbers per token; 0: the inputs are token ids */
    int64_t outputs;  /* number of classes, or of target numbers; LRA_HEAD_NEXT: vocab */
    lra_pool_kind pool;
    /* LRA_HEAD_VALUE, LRA_HEAD_TOKENS: mean absolute instead of mean squared error */
    bool absolute;
    /* Number of positions of the longest bucket that the task's settings allow; 0: there is one
     * bucket, of length T. */
    int64_t T_max;
    int64_t rows, columns; /* height and width of images in pixels; 0: the inputs are not images */
    /* ops that mix positions obey the distance limits in lra_network.limit */
    bool limited;
    /* Position ids are the input lra_network.position_ids. Not supported with LRA_POOL_CLS. */
    bool explicit_positions;
} lra_network_spec;

/* The network of one length bucket; tensors that it does not have are NULL. */
typedef struct {
    lra_graph *graph;
    const lra_model *model;
    const lra_config *config;
    lra_network_spec spec;
    int64_t B, T;
    /* number of sequences: B, or 2 B for pairs (all first documents, then all second documents) */
    int64_t n;
    /* Inputs of the encoder. */
    lra_tensor *tokens;   /* (n,T) int32 token ids */
    lra_tensor *values;   /* (n,T,channels) real inputs */
    lra_tensor *length;   /* (n) int32 length of each sequence in tokens */
    lra_tensor *inputs;   /* (n,T,D) embedded inputs, before positions are added */
    lra_tensor *features; /* (n,T,D) outputs of the encoder */
    lra_tensor *given;    /* (n,T,D) real: features as an input, see lra_network_of_features() */
    lra_tensor *cls;      /* (n,D) pooled vector of LRA_POOL_CLS */
    lra_tensor *limit;    /* distance limits: lra_limit_input() */
    lra_tensor
        *position_ids; /* (n,T) int32 position ids: rows of the position table; NULL: not used */
    /* Inputs of the head. */
    lra_tensor *label; /* (B) class labels; LRA_HEAD_NEXT: (B,T) next tokens; int32, -1: masked */
    /* target numbers; LRA_HEAD_VALUE: (B,outputs), LRA_HEAD_TOKENS: (B,T,outputs) real */
    lra_tensor *target;
    lra_tensor *target_mask; /* loss mask with the shape of `target`: 1 or 0 */
    /* scalar, real: (number of elements of `target`) / (sum of the loss mask); 0 if the sum is 0 */
    lra_tensor *scale;
    /* Inputs of an additional loss of an objective: (B,T) int32 ids to be predicted in the first
     * and in the second documents. */
    lra_tensor *word[2];
    /* Output for metrics: logits (B,outputs), or predictions with the shape of `target`;
     * LRA_HEAD_NEXT: loss of each label in nats, (B,T). */
    lra_tensor *output;
    lra_tensor *loss; /* scalar: mean loss over the loss mask; 0 if the mask is empty */
} lra_network;

/* Returns 0, or LRA_USAGE if the encoder does not support these settings or the pooling, or if the
 * head predicts the next token and the encoder is not causal. */
int lra_network_check(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                      lra_err *e);

/* Builds the complete network for B rows of length T. The caller frees lra_network.graph. */
lra_network lra_network_build(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                              const lra_network_spec *s, int64_t B, int64_t T);
/* Returns true if position embeddings are added to the inputs. */
bool lra_adds_positions(const lra_model *m, const lra_config *c);
/* Builds inputs and encoder, without a head. */
lra_network lra_network_open(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                             const lra_network_spec *s, int64_t B, int64_t T);
/* Builds the head only. Its features (n,T,D) are an input, lra_network.given; there are no tokens,
 * numbers or position ids. Not for LRA_POOL_CLS. */
lra_network lra_network_of_features(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_network_spec *s, int64_t B,
                                    int64_t T, int64_t D);
/* Adds the head of the specification: its inputs, output and loss. */
void lra_network_head(lra_network *k);
/* Returns the number of trained parameters of the network. */
int64_t lra_network_parameters(const lra_model *m, const lra_config *c, const lra_network_spec *s);

/* ---- pieces, for heads and for other losses -------------------------------------------------- */

/* Returns a linear layer NAME: (..,D) -> (..,outputs), real. */
lra_tensor *lra_network_linear(lra_tensor *x, const char *name, int64_t outputs);
/* Mean squared error and mean absolute error (l1) over the elements whose loss mask `target_mask`
 * is 1. x, target (0 where masked) and target_mask have equal shapes; scale: see
 * lra_network.scale. */
lra_tensor *lra_network_mse(lra_tensor *x, lra_tensor *target, lra_tensor *target_mask,
                            lra_tensor *scale);
lra_tensor *lra_network_l1(lra_tensor *x, lra_tensor *target, lra_tensor *target_mask,
                           lra_tensor *scale);

#endif
