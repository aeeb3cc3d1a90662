/* The network around any encoder: inputs, encoder, and the head of what is learned about a
 * sequence.
 *   e = table[tokens], or values w + b, times the model's scale, + its positions;   h = encode(e), "features" (n,T,D)
 *   CLASS  logits = pool(h) W + b                                       mean cross-entropy
 *   PAIR   a, b = pool of first, second documents, which pass the encoder as sequences of their
 *          own;
 *          logits = GELU([a, b, a - b, a b] U + u) W + b                mean cross-entropy
 *   VALUE  numbers = pool(h) W + b                                      mean squared error of what is asked;
 *          training starts with b at the mean of the targets, not near 0 (training/open.h)
 *   STEPS  numbers = h W + b at every step                              the same
 *   NEXT   logits = h W + b at every step, over the vocabulary          mean cross-entropy of what is asked
 * pool=cls: a learned vector, 0 at the start, stands in front of the inputs, as their first
 * position, is never padding, and what the encoder makes of it is the pool; `features` are the rows
 * behind it.  STEPS and NEXT have no pool.
 * The logits of CLASS and PAIR may have a hidden layer: lra_model.classifier.
 * Scopes: "embed/table" (V,D), or "embed/w" (channels,D) and "embed/b" (D); "cls/vector" (D);
 * "positions/table"; "encoder/..."; "pair/w" (4D,D), "pair/b" (D); "hidden/w", "hidden/b"; "head/w"
 * (D,outputs), "head/b".
 * To train on something else than the head's loss: lra_network_open(), then a loss of its own from
 * `features`. */
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
    int64_t channels; /* real numbers a step; 0: tokens */
    int64_t outputs;  /* classes, or numbers; LRA_HEAD_NEXT: the vocabulary */
    lra_pool_kind pool;
    bool absolute; /* numbers: mean absolute error, not squared */
    int64_t
        T_max; /* steps of the longest bucket, by the task's settings; 0: there is but one, of T */
    int64_t rows, columns; /* of images; 0: none */
    bool limited;          /* ops between positions obey lra_network.limit */
    bool placed;           /* positions that are added, or that the encoder reads, are those of
                    lra_network.places; no LRA_POOL_CLS */
} lra_network_spec;

/* The graph of one length bucket; what a network does not have is NULL. */
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
    lra_tensor *inputs;   /* (n,T,D): what tokens or values become, before positions are added */
    lra_tensor *features; /* (n,T,D) */
    lra_tensor *given;    /* (n,T,D) real: of lra_network_of_features() */
    lra_tensor *cls;      /* (n,D), with LRA_POOL_CLS */
    lra_tensor *limit;    /* lra_limit_input() */
    lra_tensor *places; /* (n,T) int32: rows of the table of positions; NULL where none are read */
    /* Inputs of the head. */
    lra_tensor *label;  /* (B), LRA_HEAD_NEXT: (B,T) int32; -1: nothing is asked */
    lra_tensor *target; /* LRA_HEAD_VALUE: (B,outputs), LRA_HEAD_STEPS: (B,T,outputs) real */
    lra_tensor *asked;  /* like target: 1 or 0 */
    lra_tensor *scale;  /* () real: elements of target / sum of asked, 0 if that is 0 */
    /* Inputs of another loss that an objective adds: (B,T) int32 words to be found in first, second
     * documents. */
    lra_tensor *word[2];
    /* What is measured: logits (B,outputs); numbers, like target; LRA_HEAD_NEXT: nats of each label
     * (B,T). */
    lra_tensor *output;
    lra_tensor *loss; /* scalar: the mean over what is asked, 0 if there is none */
} lra_network;

/* 0, or LRA_USAGE: the model has no encoder of these settings, cannot pool so, or sees what follows
 * and shall learn it. */
int lra_network_check(const lra_model *m, const lra_config *c, const lra_network_spec *s,
                      lra_err *e);

/* The whole network.  The caller frees graph. */
lra_network lra_network_build(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                              const lra_network_spec *s, int64_t B, int64_t T);
/* Is anything added to the inputs that says where they stand? */
bool lra_adds_positions(const lra_model *m, const lra_config *c);
/* Inputs and encoder. */
lra_network lra_network_open(lra_type type, lra_mode mode, const lra_model *m, const lra_config *c,
                             const lra_network_spec *s, int64_t B, int64_t T);
/* The head alone: its features (n,T,D) are an input, lra_network.given; it has no tokens, values or
 * places.  Not for LRA_POOL_CLS. */
lra_network lra_network_of_features(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_network_spec *s, int64_t B,
                                    int64_t T, int64_t D);
/* Adds the head of the specification: its inputs, output and loss. */
void lra_network_head(lra_network *k);
/* Trained numbers of the network. */
int64_t lra_network_parameters(const lra_model *m, const lra_config *c, const lra_network_spec *s);

/* ---- pieces, for heads and for other losses -------------------------------------------------- */

/* A linear layer NAME: (..,D) -> (..,outputs), real. */
lra_tensor *lra_network_linear(lra_tensor *x, const char *name, int64_t outputs);
/* Mean squared error, or mean absolute error, over elements where `asked` is 1: x, target (0 where
 * nothing is asked), asked: equal shapes; scale as above. */
lra_tensor *lra_network_mse(lra_tensor *x, lra_tensor *target, lra_tensor *asked,
                            lra_tensor *scale);
lra_tensor *lra_network_l1(lra_tensor *x, lra_tensor *target, lra_tensor *asked, lra_tensor *scale);

#endif
