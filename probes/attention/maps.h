/* Attention statistics that need complete maps, for inputs of at most LRA_MAPS_LONGEST positions:
 * shares of position and content, mass on relations of ListOps trees, and the maps of one
 * example. */
#ifndef LRA_PROBES_ATTENTION_MAPS_H
#define LRA_PROBES_ATTENTION_MAPS_H

#include "analysis/attention_shares.h"
#include "analysis/content_blind.h"
#include "models/training/loaded_model.h"
#include "probes/attention/relations.h"

enum { LRA_MAPS_LONGEST = 2048, LRA_MAPS_KEPT = 256 };

/* For one example: attention mass on the relation, averaged over the rows that have it, and its
 * uniform baseline; NAN: no row has the relation. */
typedef struct {
    double mass, equal;
} lra_related;

typedef struct {
    lra_measurement share[LRA_SHARES_FINDINGS];
    int64_t n_related;
    lra_related *related[LRA_RELATIONS]; /* (n_related) by example */
    lra_measurement lift[LRA_RELATIONS],
        lift_by_class[LRA_RELATIONS]; /* content_blind.h; of ListOps */
    int64_t T;                        /* positions of the stored map; 0: none */
    double *map;                      /* (T,T), rows over their sum */
} lra_head_maps;

typedef struct {
    int n_heads, n_layers;
    lra_head_maps *head; /* in the order of lra_heads */
    /* lifts are computed on a part of the examples: all would take too many pairs */
    bool lifts_sampled;
    /* true if there are shares (they need 30 examples, and memory); relations */
    bool shares, related;
    /* row of the test split whose maps are kept: the longest of at most LRA_MAPS_KEPT; -1: none */
    int64_t kept_row;
} lra_maps;

/* sample: rows of the test split, 0: all; n_heads: number of heads of all layers; sink (n_heads):
 * heads whose lifts leave out the key with the largest mean weight of each example. Computes no
 * heads if the inputs are longer than LRA_MAPS_LONGEST. Nullable: sink */
int lra_maps_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                     int64_t sample, int n_heads, const bool *sink, lra_maps *out, lra_err *e);
void lra_maps_free(lra_maps *m);
/* The attention weights of a node times the identity matrix: its map, (B,T,H,T). */
lra_tensor *lra_attention_map(const lra_tensor *node);

#endif
