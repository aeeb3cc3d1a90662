/* What a model is: one function that builds the encoder and one record.  To add one: a file named after
 * the architecture and one line in models.def.  Embedding, pooling and heads are shared: network.h. */
#ifndef LRA_MODELS_MODEL_H
#define LRA_MODELS_MODEL_H

#include "kernels/base/key.h"
#include "kernels/graph/graph.h"

typedef struct {
    const char *name, *paper, *summary; /* "resconv", "arXiv:...", one line */
    const lra_key *keys;                /* its settings.  Nullable: none */
    const char *match; /* the key that makes it larger or smaller alone (--match).  Nullable */
    /* x: (B,T,D), length: (B) int32, Nullable; returns (B,T,D), normalised and ready for pooling.
     * Bad values are reported with lra_graph_fail(). */
    lra_tensor *(*encode)(lra_graph *g, const lra_config *c, lra_tensor *x, lra_tensor *length);
    /* How far an output can see to one side, in tokens; -1: unbounded. */
    int64_t (*reach)(const lra_config *c);
    /* An output sees nothing that follows it; then reach is to the past alone.  Nullable: never so. */
    bool (*causal)(const lra_config *c);
} lra_model;

#define LRA_MODEL(name) extern const lra_model lra_model_##name;
#include "models/models.def"
#undef LRA_MODEL

const lra_model *lra_model_at(int i); /* NULL after the last */
/* Fails with a suggestion and LRA_USAGE's message. */
const lra_model *lra_model_find(const char *name, lra_err *e);

#endif
