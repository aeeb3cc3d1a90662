/* A restriction of all sequences of a batch (change.h). */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H
#define LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H

#include "models/training/loaded_model.h"
#include "probes/influence/perturb.h"

/* A row of another batch: of each of its documents the steps, of so many bytes. */
typedef struct {
    char *steps[2]; /* NULL: there is none */
    int64_t length[2];
} lra_spare_row;

typedef struct {
    lra_perturbation_kind kind;
    uint64_t seed;
    bool last;               /* of windows the last one alone */
    const int32_t *near;     /* (n,T) to the nearest mark, where the kind asks for it */
    const lra_batch *source; /* rows that swapped tokens come from, where the kind asks for it; */
    lra_spare_row spare;     /* of a row that has no other in its batch: this one */
} lra_batch_change;

/* A changed copy of the batch, to: room for it.  row: (rows) those that there is such a draw of,
 * whose number is returned, others as -1. */
int64_t lra_batch_apply(const lra_batch_change *c, const lra_length_graph *v, const lra_batch *b,
                        int64_t width, int64_t draw, lra_batch *to, int64_t *row);
bool lra_restriction_swaps(lra_perturbation_kind kind);
/* Keeps the first row of a batch, instead of another one. */
void lra_spare_keep(lra_spare_row *to, const lra_length_graph *v, const lra_batch *b);
void lra_spare_free(lra_spare_row *r);
/* near: (n,T) how far from what the task marks the steps of the rows are. */
void lra_batch_marks(const lra_dataset *d, const lra_length_graph *v, const lra_batch *b,
                     int32_t *near);

#endif
