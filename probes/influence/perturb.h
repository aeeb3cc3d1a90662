/* Input perturbations. Tokens are removed, replaced or moved, and the model is evaluated on the
 * result:
 *   KEEP       keeps only a window of w tokens: the first, the last, the middle ones and 8 random
 *              windows, one after another; the rest is cropped: the input is shorter
 *   SWAP       the same windows; the rest is replaced by the tokens of another row at the same
 *              positions: of the next row in the batch; in a batch of one row, of the batch before
 *   MASK       the same windows; the rest is padding, and the kept tokens keep their position
 *              ids: the input is cropped, and uses those rows of the position table
 *              (lra_batch.place)
 *   PRUNE      the same windows; digits of ListOps outside of them are removed, with all nodes
 *              that have no digits left, so that an expression remains: it includes the operators
 *              around the window
 *   TOKEN      the same windows; the rest is token 0, or number 0
 *   BAG        adjacent windows of w tokens; each is evaluated alone, and the outputs are averaged
 *   ORDER_IN   tokens are permuted inside windows of w; the first window begins at random
 *   ORDER_OUT  the order of such windows is permuted
 *   DROP_SWAP  keeps only tokens at most w from one that the task marks (lra_task.marks), in
 *              images measured in pixels; the rest is the tokens of another row at the same
 *              positions
 *   DROP_TOKEN the same; the rest is token 0, or number 0
 * The two documents of a pair are perturbed separately. Draws depend on (seed, row, w, number of
 * the draw) alone. */
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

/* The steps of one sequence, each of `size` bytes. from: the input; to: room for the same number.
 * other: the row that SWAP takes steps from, with other_n steps, or NULL. draw: number of the
 * window or permutation. Returns the number of remaining steps; 0: there is no such window. */
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
/* (n) distance of each step to the nearest marked step; grid: pixels in a row of the image, 0:
 * none. All 0 if no step is marked. */
void lra_nearest_mark(int64_t n, int64_t grid, const bool *marked, int32_t *near);
/* Number of draws for a sequence of n steps. */
int64_t lra_perturb_draws(lra_perturbation_kind kind, int64_t w, int64_t n);

#endif
