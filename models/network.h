/* The network around an encoder: inputs, encoder, and the head of the task.
 *   e = table[tokens], or values w + b, times the model's scale, + its positions;   h = encode(e), "features" (n,T,D)
 *   CLASS  logits = pool(h) W + b                                       mean cross-entropy
 *   PAIR   a, b = pool of first, second documents, which pass the encoder as sequences of their
 *          own;
 *          logits = GELU([a, b, a - b, a b] U + u) W + b                mean cross-entropy
 *   VALUE  numbers = pool(h) W + b                                      mean squared error over the loss mask;
 *          training starts with b at the mean of the targets, not near 0 (training/open.h)
 *   STEPS  numbers = h W + b at every step                              the same
 *   NEXT   logits = h W + b at every step, over the vocabulary          mean cross-entropy over the loss mask
 * pool=cls: a learned vector, initialised to 0, is prepended to the inputs as their first position;
 * it is never padding, and its encoder output is the pooled vector; `features` are the rows after
 * it.  STEPS and NEXT have no pooling. The logits of CLASS and PAIR may have a hidden layer:
 * lra_model.classifier. Scopes: "embed/table" (V,D), or "embed/w" (channels,D) and "embed/b" (D);
 * "cls/vector" (D); "positions/table"; "encoder/..."; "pair/w" (4D,D), "pair/b" (D); "hidden/w",
 * "hidden/b"; "head/w" (D,outputs), "head/b". For another loss than the head's: lra_network_open(),
 * then a loss computed from `features`. */
#ifndef LRA_MODELS_NETWORK_H
#define LRA_MODELS_NETWORK_H

#include "kernels/graph/ops.h"
#include "models/model.h"

typedef enum {
    LRA_HEAD_CLASS,
    LRA_HEAD_PAIR,
    LRA_HEAD_VALUE,
    LRA_HEAD_STEPS,
    LRA_HEAD_NEXT
} lra_head;

typedef struct {
    lra_head head;
    int64_t vocab;    /* 0: the input is real numbers */
    int64_t channels; /* real numbers per token; 0: token ids */
    int64_t outputs;  /* number of classes or regression targets; LRA_HEAD_NEXT: vocab */
    lra_pool_kind pool;
    bool absolute; /* regression: mean absolute error, not squared */
    /* positions of the longest bucket, by the task's settings; 0: only one bucket, of length T */
    int64_t T_max;
    int64_t rows, columns; /* of images; 0: none */
    bool limited;          /* ops that mix positions obey the distance limit lra_network.limit */
    /* position ids are the input lra_network.places; not with LRA_POOL_CLS */
    bool placed;
} lra_network_spec;

/* The graph of one length bucket; absent tensors are NULL. */
typedef struct {
    lra_graph *graph;
    const lra_model *model;
    const lra_config *config;
    lra_network_spec spec;
    int64_t B, T;
    int64_t n; /* sequences: B, or 2 B for pairs: all first documents, then all second ones */
    /* Inputs of the encoder. */
    lra_tensor *tokens;   /* (n,T) int32 */
    lra_tensor *values;   /* (n,T,channels) real */
    lra_tensor *length;   /* (n) int32 */
    lra_tensor *inputs;   /* (n,T,D): embedded tokens or values, before positions are added */
    lra_tensor *features; /* (n,T,D) */
    lra_tensor *given;    /* (n,T,D) real: of lra_network_of_features() */
    lra_tensor *cls;      /* (n,D), with LRA_POOL_CLS */
    lra_tensor *limit;    /* lra_limit_input() */
    lra_tensor *places;   /* (n,T) int32: rows of the position table; NULL: not used */
    /* Inputs of the head. */
    lra_tensor *label;  /* (B), LRA_HEAD_NEXT: (B,T) int32; -1: masked */
    lra_tensor *target; /* LRA_HEAD_VALUE: (B,outputs), LRA_HEAD_STEPS: (B,T,outputs) real */
    lra_tensor *asked;  /* like target: 1 or 0 */
    lra_tensor *scale;  /* () real: elements of target / sum of the loss mask, 0 if that is 0 */
    /* Inputs of an additional loss of an objective: (B,T) int32 ids to predict in the first and the
     * second documents. */
    lra_tensor *word[2];
    /* Output for metrics: logits (B,outputs); predictions, like target; LRA_HEAD_NEXT: loss of each
     * label in nats (B,T). */
    lra_tensor *output;
    lra_tensor *loss; /* scalar: mean over the loss mask, 0 if that is empty */
} lra_network;

/* Returns 0, or LRA_USAGE if the encoder does not support these settings or the pooling, or is not
 * causal and the head predicts the next token. */
int lra_network_check(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                      lra_err *e);

/* Builds the complete network.  The caller frees graph. */
lra_network lra_network_build(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                              const lra_network_spec *s, int64_t B, int64_t T);
/* True if position embeddings are added to the inputs. */
bool lra_adds_positions(const lra_model *m, const lra_config *c);
/* Builds the inputs and the encoder. */
lra_network lra_network_open(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                             const lra_network_spec *s, int64_t B, int64_t T);
/* The head only: its features (n,T,D) are an input, lra_network.given; there are no tokens, values
 * or position ids.  Not for LRA_POOL_CLS. */
lra_network lra_network_of_features(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_network_spec *s, int64_t B,
                                    int64_t T, int64_t D);
/* Adds the head of the specification: its inputs, output and loss. */
void lra_network_head(lra_network *k);
/* Number of trained parameters of the network. */
int64_t lra_network_parameters(const lra_model *m, const lra_config *c, const lra_network_spec *s);

/* ---- pieces, for heads and for other losses -------------------------------------------------- */

/* A linear layer NAME: (..,D) -> (..,outputs), real. */
lra_tensor *lra_network_linear(lra_tensor *x, const char *name, int64_t outputs);
/* Mean squared error, or mean absolute error, over elements with mask `asked` = 1: x, target (0
 * where masked), asked: equal shapes; scale as above. */
lra_tensor *lra_network_mse(lra_tensor *x, lra_tensor *target, lra_tensor *asked,
                            lra_tensor *scale);
lra_tensor *lra_network_l1(lra_tensor *x, lra_tensor *target, lra_tensor *asked, lra_tensor *scale);

#endif
