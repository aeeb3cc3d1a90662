/* Attention statistics that need complete maps, for inputs of at most LRA_MAPS_LONGEST positions:
 * shares of position and content, weight on relations of ListOps trees, and the maps of one
 * example. */
#ifndef LRA_PROBES_ATTENTION_MAPS_H
#define LRA_PROBES_ATTENTION_MAPS_H

#include "analysis/attention_shares.h"
#include "analysis/content_blind.h"
#include "models/training/loaded_model.h"
#include "probes/attention/relations.h"

enum { LRA_MAPS_LONGEST = 2048, LRA_MAPS_KEPT = 256 };

/* One example: attention weight on keys with a relation, averaged over the rows that have such
 * keys, and its uniform baseline. NAN: no row has such a key. */
typedef struct {
    double mass, equal;
} lra_related;

typedef struct {
    lra_measurement share[LRA_SHARES_MEASUREMENTS];
    int64_t n_related;
    lra_related *related[LRA_RELATIONS]; /* (n_related) for each relation, by example */
    lra_measurement lift[LRA_RELATIONS],
        lift_by_class[LRA_RELATIONS]; /* lifts (content_blind.h), for ListOps only */
    int64_t T;                        /* positions of the stored map, 0 if no map is stored */
    double *map;                      /* (T,T) weights, each row normalised to sum 1 */
} lra_head_maps;

typedef struct {
    int n_heads, n_layers;
    lra_head_maps *head; /* (n_heads) in the order of lra_heads */
    /* true if lifts use only a part of the examples, because all have too many pairs */
    bool lifts_sampled;
    /* shares: true if shares were computed (they need 30 examples, and memory); related: true if
     * the task has ListOps trees */
    bool shares, related;
    /* row of the test split whose maps are stored: the longest with at most LRA_MAPS_KEPT
     * positions, or -1 */
    int64_t kept_row;
} lra_maps;

/* sample: number of rows of the test split, 0 = all; n_heads: number of heads of all layers; sink
 * (n_heads): true for heads whose lifts exclude the key with the largest mean weight of each
 * example. If inputs are longer than LRA_MAPS_LONGEST, nothing is computed and out->n_heads is 0.
 * Nullable: sink */
int lra_maps_measure(const lra_train_spec *run, lra_device *dev, lra_weights_kind weights,
                     int64_t sample, int n_heads, const bool *sink, lra_maps *out, lra_err *e);
void lra_maps_free(lra_maps *m);
/* Builds the attention map of a node, (B,T,H,T): its attention applied to the identity matrix as
 * values. */
lra_tensor *lra_attention_map(const lra_tensor *node);

#endif
