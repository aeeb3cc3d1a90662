/* What a model is: one function that builds the encoder and one record.  To add one: a file named after
 * the architecture and one line in models.def.  Embedding, pooling and heads are shared: network.h. */
#ifndef LRA_MODELS_MODEL_H
#define LRA_MODELS_MODEL_H

#include "kernels/base/key.h"
#include "kernels/graph/graph.h"

/* What a model is at a preset: its own settings, and those of training that go with them, which are changed behind
 * what the task says of the preset ("layers=3 width=32 rate=0.004"). */
typedef struct {
    const char *tasks;  /* names with blanks between; NULL: every task that no row names */
    const char *preset; /* "quick", "small", "paper"; NULL ends a table */
    const char
        *paper; /* whose published settings they are: locality, las, spt, lra, own.  NULL: ours */
    const char *settings;
    const char *rungs; /* values of `axis`, "1,3,5".  NULL: none */
} lra_model_preset;

typedef struct {
    const char *name, *paper, *summary; /* "resconv", "arXiv:...", one line */
    const lra_key *keys;                /* its settings.  Nullable: none */
    const lra_model_preset *presets;    /* Nullable: the defaults at every preset */
    const char *axis;                   /* the key that bounds its reach.  Nullable: none does */
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
/* The row of a task and a preset: the one that names the task before the one for all.  Of "paper", published by
 * `paper`; NULL: by the locality paper where it has the model, else by the model's own, else by any.  NULL: there
 * is no such row. */
const lra_model_preset *lra_model_preset_find(const lra_model *m, const char *task,
                                              const char *preset, const char *paper);
/* Fails with a suggestion and LRA_USAGE's message. */
const lra_model *lra_model_find(const char *name, lra_err *e);

#endif
