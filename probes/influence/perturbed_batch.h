/* Applies a perturbation to all sequences of a batch (perturb.h). */
#ifndef LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H
#define LRA_PROBES_INFLUENCE_PERTURBED_BATCH_H

#include "probes/influence/perturb.h"
#include "probes/shared/subject.h"

/* A row of another block: the tokens of each of its (at most two) documents. */
typedef struct {
    char *steps[2]; /* tokens of each document; NULL: no row is stored */
    int64_t length[2];
} lra_spare_row;

typedef struct {
    const lra_perturbation *is;
    uint64_t seed;
    bool last; /* uses only the last window of each sequence (language models) */
    /* (n,T) distance to the nearest marked token, if the geometry uses marks */
    const int32_t *near;
    /* batch that provides replacement tokens, if the filler uses another row */
    const lra_request *source;
    int64_t donors;      /* rows of a block (lra_subject.donors) */
    lra_spare_row spare; /* replacement row for a row that is alone in the first block of a batch */
} lra_batch_change;

/* Writes a perturbed copy of the inputs to `to`, whose arrays the caller has allocated. from
 * (rows): row indices of the split, -1: no row; row (rows): the same, -1 for rows that have no draw
 * with this index. Returns the number of perturbed rows. */
int64_t lra_batch_apply(const lra_batch_change *c, const lra_request *q, const int64_t *from,
                        int64_t width, int64_t draw, lra_request *to, int64_t *row);
/* Stores a copy of a row of a batch as a replacement row. */
void lra_spare_keep(lra_spare_row *to, const lra_request *q, int64_t row);
void lra_spare_free(lra_spare_row *r);
/* Writes the distance of each token to the nearest token that the task marks: near (n,T). */
void lra_batch_marks(const lra_dataset *d, const lra_request *q, const lra_batch *b, int32_t *near);

#endif
