/* A perturbation of all sequences of a batch (perturb.h). */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H
#define LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H

#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"

/* A row of another batch: the tokens of each of its documents. */
typedef struct {
    char *steps[2]; /* NULL: none */
    int64_t length[2];
} lra_spare_row;

typedef struct {
    const lra_perturbation *is;
    uint64_t seed;
    bool last;               /* of windows, only the last one */
    const int32_t *near;     /* (n,T) distance to the nearest mark, if the geometry uses marks */
    const lra_batch *source; /* rows that replacements come from, if the filler takes any */
    lra_spare_row spare;     /* replacement for a row that is alone in its batch */
} lra_batch_change;

/* Writes a perturbed copy of the batch to `to`, which has room for it. row: (rows) the rows that
 * have such a draw, whose number is returned; other rows are -1. */
int64_t lra_batch_apply(const lra_batch_change *c, const lra_length_graph *v, const lra_batch *b,
                        int64_t width, int64_t draw, lra_batch *to, int64_t *row);
/* Stores the first row of a batch as a replacement. */
void lra_spare_keep(lra_spare_row *to, const lra_length_graph *v, const lra_batch *b);
void lra_spare_free(lra_spare_row *r);
/* near: (n,T) distance of each token to the nearest token that the task marks. */
void lra_batch_marks(const lra_dataset *d, const lra_length_graph *v, const lra_batch *b,
                     int32_t *near);

#endif
