/* A classifier of sequences around any encoder:
 *   e = table[tokens], or values w + b;  h = encode(e);  p = pool(h);  logits = p W + b
 * Scopes: "embed/table" (V,D), or "embed/w" (channels,D) and "embed/b" (D); "encoder/...", "features" (B,T,D), "head/w" (D,C), "head/b". */
#ifndef LRA_MODELS_CLASSIFIER_H
#define LRA_MODELS_CLASSIFIER_H

#include "kernels/graph/ops.h"
#include "models/model.h"

typedef struct {
    int64_t vocab; /* 0: the input is real numbers */
    int64_t classes;
    lra_pool_kind pool;
    int64_t channels; /* real numbers a step; 0: tokens */
} lra_head;

/* The graph of one length bucket. */
typedef struct {
    lra_graph *graph;
    lra_tensor *tokens; /* (B,T) int32; NULL: values */
    lra_tensor *values; /* (B,T,channels) real; NULL: tokens */
    lra_tensor *length; /* (B) int32 */
    lra_tensor *label;  /* (B) int32, -1: no example in this row */
    lra_tensor *logits; /* (B,C) */
    lra_tensor *loss;   /* mean cross-entropy over the rows with a label */
} lra_classifier;

/* The caller frees graph. */
lra_classifier lra_classifier_build(lra_type type, lra_mode mode, const lra_model *m,
                                    const lra_config *c, const lra_head *head, int64_t B,
                                    int64_t T);
/* Trained numbers of the model. */
int64_t lra_classifier_parameters(const lra_model *m, const lra_config *c, const lra_head *head);

#endif
