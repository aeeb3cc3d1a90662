/* Attention statistics that need complete maps, for inputs of at most LRA_MAPS_LONGEST positions:
 * shares of position and content, weight on relations of ListOps trees, and the maps of one
 * example. */
#ifndef LRA_PROBES_ATTENTION_MAPS_H
#define LRA_PROBES_ATTENTION_MAPS_H

#include "analysis/attention_shares.h"
#include "analysis/content_blind.h"
#include "models/training/loaded_model.h"
#include "probes/attention/relations.h"
#include "probes/shared/mixing_matrix.h"

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

/* ---- statistics without a source of the maps ------------------------------------------------- */

/* The built-in engine (maps.c) and models that answer requests (maps_of_model.c) add the maps of
 * each head and example. */
typedef struct {
    lra_maps *out;
    /* (heads) sums for the shares of position and content; NULL: not computed */
    lra_shares **shares;
    lra_blind **blind; /* (heads) content-blind fits; NULL: not computed */
    const bool *sink;  /* (heads) true if the head has a sink; NULL: no head has one */
    int64_t every;     /* stride of the examples that lifts use: 0, every, 2 every, .. */
    int64_t *place;    /* rank in the sample, by row index of the split */
    int64_t parts;     /* sequences per row (2 for pairs) */
    int64_t best_row;  /* index in the sample of the row whose maps are stored, -1: none */
} lra_maps_work;

/* The map of one head for one example, and the syntax tree of its tokens. */
typedef struct {
    const lra_matrix_values *rows; /* computes the rows; NULL: the map comes from an attention op */
    int64_t sequence;
    const lra_tensor *node;
    int64_t example, T, head, extra;
    const float *first; /* row 0 of the map; row i begins i * step values later */
    int64_t step;
    const int32_t *list;
    const lra_tree *tree; /* NULL if the task has no trees */
    const uint8_t *class; /* (T) class of each token; NULL: none */
} lra_map_of;

/* The tree and the classes of the tokens of an example; both are empty if the task has no trees. */
typedef struct {
    lra_tree tree;
    uint8_t *class; /* (extra + length) class of each token; extra: prepended positions */
} lra_map_example;
/* Nullable: token, if the task has no trees */
lra_map_example lra_maps_example(const lra_maps_work *w, const int32_t *token, int64_t length,
                                 int64_t extra);
void lra_maps_example_free(lra_map_example *x);

/* Returns a result without maps for the task of these data. */
lra_maps lra_maps_empty(const lra_dataset *data);
/* Allocates the sums; index: (rows) rows of the split in the sample. w->out, parts and place are
 * set. */
void lra_maps_open(lra_maps_work *w, const lra_dataset *data, int n_layers, int n_heads,
                   int64_t extra, int64_t rows, const int64_t *index);
/* Allocates the stored maps for this example if it is longer than the current one and has at most
 * LRA_MAPS_KEPT positions. Call it before the maps of the example. */
void lra_maps_keep(lra_maps_work *w, int64_t example, int64_t row, int64_t T);
/* Adds a map of head number `at`. */
void lra_maps_add(lra_maps_work *w, const lra_map_of *m, int at);
/* Computes the measurements and frees the sums and w->place. */
void lra_maps_finish(lra_maps_work *w);

#endif
