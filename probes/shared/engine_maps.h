/* Attention matrices of a loaded model of the built-in engine, for attention() of the engine's
 * responder. Matrices are computed in blocks of rows; a request with other inputs or rows than the
 * previous one runs the network once, for all layers. */
#ifndef LRA_PROBES_SHARED_ENGINE_MAPS_H
#define LRA_PROBES_SHARED_ENGINE_MAPS_H

#include "models/training/loaded_model.h"
#include "probes/shared/responder.h"

/* The attention layers of a model, found in its graph without loading weights. */
typedef struct {
    int n;
    char **layer;      /* (n) unique names: "layer0", "layer1", .. */
    int64_t prepended; /* positions before the first token */
    /* true: every layer is softmax attention, or its rows are divided by their sums */
    bool softmax;
} lra_engine_layers;
/* Finds the layers of a run's model; n is 0 if it has no attention of a sequence to itself. */
int lra_engine_layers_find(const lra_train_spec *run, lra_device *device, lra_engine_layers *out,
                           lra_err *e);
void lra_engine_layers_free(lra_engine_layers *x);

typedef struct lra_engine_maps lra_engine_maps;
/* Loads the weights and builds graphs for all lengths of the run, for at most B rows each; the
 * model has attention. NULL: failure. */
lra_engine_maps *lra_engine_maps_open(const lra_train_spec *run, lra_device *device,
                                      lra_weights_kind weights, int64_t B, lra_err *e);
/* Computes rows from .. to-1 of layer k, as lra_responder_functions.attention(), in float32. Rows
 * of layers that are not attention ops are divided by the sum of their magnitudes. */
int lra_engine_maps_rows(lra_engine_maps *m, const lra_request *q, int k, int64_t from, int64_t to,
                         lra_answer *out, lra_err *e);
void lra_engine_maps_close(lra_engine_maps *m); /* Nullable: m */

#endif
