/* A model that answers requests: the interface by which most measurements use a model. Two
 * implementations exist: a loaded model of the built-in engine (probes/shared/engine_responder.h)
 * and a program of the user, which answers over a pipe (probes/audit).
 *
 * A request holds a batch of sequences. Letters: B rows, n sequences (B, or 2 B with two towers),
 * T tokens, F numbers per token, D channels of the features, C outputs, H heads.
 * With two towers (a pair of documents per row) all first documents come first, then all second
 * ones, as in lra_batch: sequence s belongs to row s % B. Tokens at positions >= length are padding
 * and have no effect on an answer. Rows of length 0 are allowed; their answers are not read.
 *
 * Every function returns 0, or fills `e` and returns LRA_FAILED. Answers are written to memory of
 * the caller. Randomness (dropout, batch statistics in training mode) is switched off. */
#ifndef LRA_PROBES_SHARED_RESPONDER_H
#define LRA_PROBES_SHARED_RESPONDER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Requests that a model answers, and optional inputs that it accepts. */
enum {
    LRA_ANSWERS_FORWARD = 1 << 0,   /* logits, or numbers of a regression, for the complete input */
    LRA_ANSWERS_FEATURES = 1 << 1,  /* features of each position */
    LRA_ANSWERS_VJP = 1 << 2,       /* norms of gradients of the features of a position */
    LRA_ANSWERS_ATTENTION = 1 << 3, /* attention matrices */
    LRA_ANSWERS_KERNELS = 1 << 4,   /* convolution kernels */
    LRA_ANSWERS_RESET = 1 << 5,     /* initial weights: reset() and restore() */
    LRA_ANSWERS_PLACE = 1 << 6,     /* position ids of the first tokens: lra_request.place */
    LRA_ANSWERS_LONGER =
        1 << 7, /* sequences longer than facts.max_length: lra_preparation.longest */
    LRA_ANSWERS_LOGPROB = 1 << 8, /* log-probabilities of given tokens at all positions */
    LRA_ANSWERS_HEAD = 1 << 9     /* logits for given features of all positions */
};

/* Sums of the rows of attention matrices. */
typedef enum {
    LRA_ROWS_ONE, /* 1: softmax */
    /* any sum, weights of any sign (linear attention, gates): the magnitudes of a row are divided
     * by their sum */
    LRA_ROWS_ANY,
    /* about 1, for example after a moving average: as LRA_ROWS_ANY, but rollout averages the
     * weights over heads before it divides by the sum */
    LRA_ROWS_RAW
} lra_row_sums;

/* A distance limit of a request: positions use only positions at most r tokens away, in every layer
 * or in one. */
typedef struct {
    int64_t r;
    const char *layer; /* Nullable: every layer */
} lra_request_limit;

/* What a distance limit of the model covers. */
typedef enum {
    LRA_LIMITS_NONE,
    LRA_LIMITS_ATTENTION, /* every operation that mixes positions, all of which are attention */
    LRA_LIMITS_LAYERS     /* every operation that mixes positions */
} lra_limits;

/* Facts that a model declares about itself. Texts belong to the responder. */
typedef struct {
    uint32_t answers; /* LRA_ANSWERS_.. bits */
    /* Identification, stored with results. Nullable: unknown */
    const char *model, *framework, *weights;
    /* C: classes of a classifier, targets of a regression, vocabulary of a language model */
    int64_t classes;
    int64_t vocab;      /* token ids are below this; 0: the inputs are real numbers */
    int64_t width;      /* D of the features before the pool; known after prepare(); 0: none */
    int64_t max_length; /* maximum tokens of a sequence; 0: no maximum */
    /* Tokens of every sequence, for a model that takes inputs of this length alone: T and length of
     * a request are this number. 0: any length */
    int64_t fixed_length;
    /* true: a request with fewer positions T costs less, and needs no announcement by prepare() */
    bool any_length;
    int64_t max_batch; /* maximum rows of a request; 0: no maximum */
    int64_t reach;     /* maximum distance of the tokens on which a feature depends; -1: unknown */
    lra_limits limits; /* distance limits that the model accepts */
    int64_t limit_depth; /* number of consecutive layers that mix positions */
    int n_limit_layers;  /* layers that can be limited alone */
    const char *const *limit_layer;
    bool mask;      /* true: the model can hide positions (lra_request.keep) */
    bool causal;    /* true: features of position i depend on tokens 0..i alone */
    int64_t period; /* tokens of the blocks if the encoder divides its input into blocks; 0: none */
    /* true: the model adds no absolute positions, so that lra_request.place has no effect */
    bool no_positions;
    bool next;    /* true: forward() computes logits of the next token (a language model) */
    bool has_bos; /* true: rows may begin with the token `bos` (begin of sequence) */
    int32_t bos;
    int n_layers;
    const char *const *layer; /* (n_layers) names for features, attention and kernels */
    /* Layers that have attention matrices, and layers that have convolution kernels. */
    int n_attention_layers, n_kernel_layers;
    const char *const *attention_layer, *const *kernel_layer;
    int n_feature_layers; /* layers for features() and vjp(), in the order of the model */
    const char *const *feature_layer;
    /* (n_attention_layers,2) largest number of tokens before and after a query that the mask of the
     * layer admits; -1: no limit. Nullable: no layer has a window */
    const int64_t *window;
    int64_t prepended; /* positions before the first token in attention matrices: class tokens */
    lra_row_sums row_sums; /* sums of the rows of attention matrices */
    /* Layers that mix positions without a kernel, as text; "": none. Nullable: unknown */
    const char *uncovered;
} lra_responder_facts;

typedef struct {
    int64_t B, T;
    int towers;            /* 1, or 2: pairs of documents; n = B towers */
    const int32_t *token;  /* (n,T); NULL: the inputs are real numbers */
    const float *value;    /* (n,T,F); NULL: the inputs are tokens */
    int64_t width;         /* F, numbers per token */
    const int32_t *length; /* (n) tokens of each sequence without padding */
    /* (B) negative: the row is missing, and its answer is not read. Nullable: no row is missing */
    const int64_t *row;
    /* (n,T) 0: the position is hidden from the model. Nullable: none is hidden. Needs facts.mask */
    const uint8_t *keep;
    /* (n) position id of the first token. Nullable: 0. Needs LRA_ANSWERS_PLACE */
    const int32_t *place;
    /* Nullable: no limit. For forward(); needs facts.limits */
    const lra_request_limit *limit;
} lra_request;

/* An array that the responder allocates; the caller frees value with lra_free(). */
typedef struct {
    int rank;
    int64_t dims[4];
    float *value;
    bool guessed; /* true: a placeholder of a plan whose shape is not known yet (audit/offline.h) */
} lra_answer;

/* Weight of a pair (query, key) that the model's mask excludes, in an answer of attention(). */
#define LRA_MASKED_WEIGHT (-INFINITY)

/* The kernels of a layer, at lags -behind .. ahead-1; positive lags are in the past. The arrays
 * belong to the caller of kernels(). */
typedef struct {
    int64_t channels, components, behind, ahead;
    float *value; /* (channels,components,behind+ahead), lag -behind first */
    /* (channels,behind+ahead) moduli of complex kernels whose real parts are `value`; norms over
     * the components. Nullable: the kernels are real */
    float *modulus;
} lra_kernels_answer;

/* The requests of a measurement, announced so that a model can build the graphs it needs. */
typedef struct {
    uint32_t answers; /* LRA_ANSWERS_.. bits of the requests */
    /* float32 answers: differences of outputs are measured. Otherwise in the precision in which the
     * model was trained */
    bool exact;
    int64_t draws;         /* random vectors per position in vjp() */
    int64_t B;             /* rows of a request; 0: any number */
    int n_lengths;         /* number of elements of `length`; 0: requests of any length */
    const int64_t *length; /* (n_lengths) tokens T of the requests, padding included */
    int64_t longest; /* tokens of the longest possible sequence; 0: that of the training data */
} lra_preparation;

typedef struct lra_responder lra_responder;

typedef struct {
    /* Announces the requests that follow until the next call of prepare(). p NULL: no request
     * follows, and memory of earlier requests may be released. Nullable: the model needs no
     * preparation. */
    int (*prepare)(lra_responder *r, const lra_preparation *p, lra_err *e);
    /* Computes logits (B,C); for a language model, the logits of the token that follows the last
     * one. */
    int (*forward)(lra_responder *r, const lra_request *q, float *logits, lra_err *e);
    /* Language models: ln of the probability of target[i] after the tokens 0..i of its sequence;
     * target: (n,T), -1: none, its logprob is undefined; logprob: (n,T). One pass per sequence, and
     * T numbers instead of T V logits. */
    int (*logprob)(lra_responder *r, const lra_request *q, const int32_t *target, float *logprob,
                   lra_err *e);
    /* Determines D of a named layer for features() and vjp(). Nullable: the model has no named
     * layers. */
    int (*width)(lra_responder *r, const char *layer, int64_t *D, lra_err *e);
    /* out: (n,T,D), features before the pool, or of a named layer. Nullable: layer */
    int (*features)(lra_responder *r, const lra_request *q, const char *layer, float *out,
                    lra_err *e);
    /* Computes logits (B,C) from features (n,T,D), those before the pool, of the inputs of the
     * request: head(features(q)) = forward(q). Nullable */
    int (*head)(lra_responder *r, const lra_request *q, const float *features, float *logits,
                lra_err *e);
    /* Squared norms over the embedding axis: grad_sq (n,draws,T) of d (cotangent . h_i) / d e_j,
     * h_i the features of position i, e_j the embedding (or the values) of token j.
     * position: (n), -1: the sequence is left out, its grad_sq is undefined;
     * cotangent: (n,draws,D). Nullable: layer */
    int (*vjp)(lra_responder *r, const lra_request *q, const char *layer, const int32_t *position,
               int64_t draws, const float *cotangent, float *grad_sq, lra_err *e);
    /* out: (n,H,to - from,P), rows from .. to-1 of the attention matrices of a layer, weights of
     * the values; P = facts.prepended + T positions; LRA_MASKED_WEIGHT where the mask excludes a
     * pair. Rows of padding are undefined. Needs no announcement by prepare(). */
    int (*attention)(lra_responder *r, const lra_request *q, const char *layer, int64_t from,
                     int64_t to, lra_answer *out, lra_err *e);
    /* The kernels of a layer, at most `lags` lags in each direction; lag 0 is the position itself.
     * Needs no announcement by prepare(). */
    int (*kernels)(lra_responder *r, const char *layer, int64_t lags, lra_kernels_answer *out,
                   lra_err *e);
    /* Replaces the weights by initial weights for this seed, until restore() is called. */
    int (*reset)(lra_responder *r, uint64_t seed, lra_err *e);
    int (*restore)(lra_responder *r, lra_err *e);
    void (*close)(lra_responder *r); /* frees r */
} lra_responder_functions;

/* Base of all implementations: the first member of their structs. */
struct lra_responder {
    const lra_responder_functions *is;
    lra_responder_facts facts;
};

static inline bool lra_responder_answers(const lra_responder *r, uint32_t answers)
{
    return (r->facts.answers & answers) == answers;
}

/* *D: channels of the features before the pool, or of a layer. Nullable: layer */
static inline int lra_responder_width(lra_responder *r, const char *layer, int64_t *D, lra_err *e)
{
    *D = r->facts.width;
    if (!layer) return 0;
    return r->is->width ? r->is->width(r, layer, D, e)
                        : lra_fail_absent(e, "the model has no features of layer '%s'", layer);
}

/* Nullable: r */
static inline void lra_responder_close(lra_responder *r)
{
    if (r) r->is->close(r);
}

#endif
