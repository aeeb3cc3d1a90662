/* Inputs with something taken away or moved, of which a model is asked again:
 *   KEEP       only a window of w tokens stays: the first, the last, the middle ones and 8 random
 *              windows, one after another; what is gone is cropped: the input is shorter
 *   SWAP       the same windows; what is gone are the tokens of another row at the same places:
 *              of the next one in the batch, of a batch of one row of the batch before it
 *   MASK       the same windows; what is gone is padding, and what stays is told the places where
 *              it stood: it is cropped, and takes those rows of the table of positions
 *              (lra_batch.place)
 *   PRUNE      the same windows; of ListOps digits outside of them are gone, and nodes that have
 *              none left, so that what is left is an expression: operators around the window stay
 *   TOKEN      the same windows; what is gone is token 0, or number 0
 *   BAG        windows of w tokens side by side, each answered alone, answers averaged
 *   ORDER_IN   tokens are permuted inside windows of w, whose first begins at random
 *   ORDER_OUT  such windows are permuted whole
 *   DROP_SWAP  only tokens at most w from one that the task marks (lra_task.marks) stay, of images
 *              in pixels; what is gone are the tokens of another row at the same places
 *   DROP_TOKEN the same; what is gone is token 0, or number 0
 * Documents of a pair are changed each for itself.  Draws depend on (seed, row, w, number of the
 * draw) alone. */
#ifndef LRA_PROBES_INFLUENCE_PERTURB_H
#define LRA_PROBES_INFLUENCE_PERTURB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    LRA_KEEP_WINDOW,
    LRA_SWAP_WINDOW,
    LRA_BAG,
    LRA_ORDER_IN,
    LRA_ORDER_OUT,
    LRA_TOKEN_WINDOW,
    LRA_MASK_WINDOW,
    LRA_DROP_SWAP,
    LRA_DROP_TOKEN,
    LRA_PRUNE_WINDOW
} lra_perturbation_kind;

/* Steps of one sequence, each of `size` bytes.  from: as it is; to: room for as many.  other: of
 * the row that SWAP takes from, other_n steps, or NULL.  draw: number of the window or permutation.
 * Returns how many steps are left; 0: there is no such window. */
typedef struct {
    lra_perturbation_kind kind;
    int64_t w, draw;
    uint64_t seed, row;
    const int32_t *near; /* (n) DROP: how far the nearest mark is */
} lra_perturb;
int64_t lra_perturb_apply(const lra_perturb *c, int64_t n, size_t size, const void *from,
                          const void *other, int64_t other_n, void *to);
/* Where the window begins that stays. */
int64_t lra_perturb_start(const lra_perturb *c, int64_t n);
/* (n) how far the nearest marked step is; grid: pixels in a row of the image, 0: none.  Nothing is
 * marked: 0. */
void lra_nearest_mark(int64_t n, int64_t grid, const bool *marked, int32_t *near);
/* How many draws of a sequence of n steps there are. */
int64_t lra_perturb_draws(lra_perturbation_kind kind, int64_t w, int64_t n);

#endif
