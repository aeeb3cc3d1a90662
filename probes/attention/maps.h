/* What needs whole maps of the attention of a run, for inputs of at most LRA_MAPS_LONGEST
 * positions: shares of position and content, mass on relations of ListOps trees, and the maps of
 * one example themselves. */
#ifndef LRA_PROBES_ATTENTION_MAPS_H
#define LRA_PROBES_ATTENTION_MAPS_H

#include "analysis/attention_shares.h"
#include "analysis/content_blind.h"
#include "models/training/loaded_model.h"
#include "probes/attention/relations.h"

enum { LRA_MAPS_LONGEST = 2048, LRA_MAPS_KEPT = 256 };

/* Of an example: mean over its rows that have such a relation of the mass on it, and of what equal
 * weights put there; NAN: no row has one. */
typedef struct {
    double mass, equal;
} lra_related;

typedef struct {
    lra_measurement share[LRA_SHARES_FINDINGS];
    int64_t n_related;
    lra_related *related[LRA_RELATIONS]; /* (n_related) by example */
    lra_measurement lift[LRA_RELATIONS],
        lift_by_class[LRA_RELATIONS]; /* content_blind.h; of ListOps */
    int64_t T;                        /* positions of the map that is kept; 0: none */
    double *map;                      /* (T,T), rows over their sum */
} lra_head_maps;

typedef struct {
    int n_heads, n_layers;
    lra_head_maps *head;  /* in the order of lra_heads */
    bool lifts_sampled;   /* lifts are of some of the examples: all take too many pairs */
    bool shares, related; /* are there shares (they need 30 examples, and memory); relations */
    int64_t kept_row;     /* of the test split, whose maps are kept: the longest of at most
                             LRA_MAPS_KEPT; -1 */
} lra_maps;

/* sample: rows of the test split, 0: all; n_heads: of all layers; sink (n_heads): heads whose lifts
 * leave out the key with the largest mean weight of each example.  No heads: inputs are longer.
 * Nullable: sink */
int lra_maps_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                     int64_t sample, int n_heads, const bool *sink, lra_maps *out, lra_err *e);
void lra_maps_free(lra_maps *m);
/* a I, of what stands in a graph: (B,T,H,T). */
lra_tensor *lra_attention_map(const lra_tensor *node);

#endif
