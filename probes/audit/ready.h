/* The handshake: `hello` describes the task, the answer `ready` describes the model. Keys of
 * `ready` about layers, all optional:
 *   attn_layers, kernel_layers   names of the layers, separated by blanks (default: `layers`)
 *   feature_layers               layers that `features` and `vjp` accept as `layer`, in the order of
 *                                the model (default: none)
 *   attn_window                  for each layer of attn_layers, or one word for all: A:B, the mask
 *                                admits at most A tokens before a query and B after it; W = W:W; -
 *                                no window (default: -). `attn_allowed` of an answer has priority
 *   limits                       attention or layers: forward accepts the metadata `limit` = r, and
 *                                then positions use only positions at most r tokens away, in every
 *                                layer that mixes positions (attention: all of them are attention)
 *   limit_depth, limit_layers    number of consecutive such layers (default 1); names of those that
 *                                forward limits alone if the metadata have `layer`
 *   attn_prepended               positions before the first token: class tokens (default 0)
 *   attn_rows                    sums of the rows: 1 (default), any or raw (lra_row_sums)
 *   uncovered                    layers that mix positions without a kernel; "": none */
#ifndef LRA_PROBES_AUDIT_READY_H
#define LRA_PROBES_AUDIT_READY_H

#include "probes/audit/frame.h"
#include "probes/shared/responder.h"

/* The task as described by `hello`. */
typedef struct {
    const char *task;
    /* number of outputs: classes or, in a regression, targets; 0: any number, because the rows have
     * no labels */
    int64_t classes;
    int64_t vocab; /* number of token ids; 0: inputs are `width` real numbers per position */
    int64_t width;
    int64_t length; /* maximum length of an input in tokens */
    int32_t pad;
    int towers;
} lra_model_task;

typedef struct {
    lra_responder_facts facts; /* its texts are owned by `meta` and `layer` */
    bool mask;
    int64_t max_batch; /* maximum number of rows of a message; 0: no maximum */
    int inflight;      /* number of requests that the model accepts at a time */
    lra_config *meta;  /* all keys of `ready` */
    char **layer, **attention_layer, **kernel_layer, **feature_layer, **limit_layer;
    int64_t *window; /* facts.window */
} lra_ready;

enum { LRA_PROTOCOL = 1 };

/* Adds the keys of `hello` to meta: protocol, task, kind, classes, vocab or width, length, pad,
 * towers. */
void lra_hello_meta(const lra_model_task *t, lra_config *meta);
/* Reads the task from `hello`; t->task points into the message. */
int lra_hello_read(const lra_message *m, lra_model_task *t, lra_err *e);

/* Adds the keys of `ready` that describe a responder to meta. The op head computes outputs from
 * features: the inputs of forward and `features` F32 (B,T,D), those of the op features without a
 * layer; the answer is `logits`, as for forward. Part context needs it. period=P: the encoder divides
 * its input into blocks of P tokens, so that crops of part context begin at multiples of P. Keys of language models: next=1, the
 * logits of forward are those of the token that follows the last one; bos=ID, the begin-of-sequence
 * token, which stays in front when a row that begins with it is shortened; place=1, requests may
 * contain the array `place` I32 (B), the position id of the first token of each row. A language
 * model can answer the op logprob: tokens, length and `target` I32 (B,T), -1: none; the answer is
 * `logprob` F32 (B,T), ln of the probability of target[b,t] after the tokens 0..t. It sends T
 * numbers per row instead of T times the vocabulary; without it, losses by position are measured by
 * forward, on some tokens of each row. Divergences use the logits of forward, one vector of the
 * vocabulary per predicted token. */
void lra_ready_meta(const lra_responder_facts *f, int64_t max_batch, lra_config *meta);
/* Reads `ready`, and fails if protocol, classes, vocabulary or maximum length do not fit the task.
 * The caller frees r, also after a failure. */
int lra_ready_read(const lra_message *m, const lra_model_task *t, lra_ready *r, lra_err *e);
void lra_ready_free(lra_ready *r);

#endif
