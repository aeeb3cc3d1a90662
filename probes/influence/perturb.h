/* Input perturbations: tokens are removed, replaced or moved, and the model is evaluated on the
 * result. A perturbation is a record of
 *   geometry   positions of the tokens that stay for a width w, in their new order
 *   filler     content of the other positions: cropped, another row, token 0, ..
 *   draws      the random stream; whether the outputs of all draws are averaged
 *   ids        of measurements, and of positions
 * The perturbations are the parts of `lra-probe influence` that have such a record (part.h). The
 * two documents of a pair are perturbed separately. Draws depend on (seed, row, w, number of the
 * draw) alone. */
#ifndef LRA_PROBES_INFLUENCE_PERTURB_H
#define LRA_PROBES_INFLUENCE_PERTURB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/philox.h"

/* One draw of a perturbation of one row. */
typedef struct lra_perturbation lra_perturbation;
typedef struct {
    const lra_perturbation *is;
    int64_t w, draw;
    uint64_t seed, row;
    const int32_t *near; /* (n) distance to the nearest marked token, if the geometry uses marks */
} lra_perturb;

typedef struct {
    /* Number of draws for a sequence of n tokens. */
    int64_t (*draws)(int64_t w, int64_t n);
    /* Writes the positions of the tokens that stay, in their new order; returns their number.
     * position: (n) */
    int64_t (*select)(const lra_perturb *c, int64_t n, int64_t *position);
    bool marks;    /* w is a distance to marked tokens, from 0 on; in images, in pixels */
    bool permutes; /* all tokens stay, in another order */
} lra_geometry;

/* A sequence of n tokens of `size` bytes, and the tokens that stay. */
typedef struct {
    int64_t n, n_kept;
    const int64_t *kept; /* (n_kept) positions in their new order */
    size_t size;
    const void *from, *other; /* other: the row that replacements come from */
    int64_t other_n;
} lra_filling;

typedef struct {
    /* Writes the perturbed sequence, at most n tokens; returns their number. */
    int64_t (*fill)(const lra_filling *f, void *to);
    bool other_row; /* takes tokens from another row */
} lra_filler;

struct lra_influence_part;
struct lra_perturbation {
    const lra_geometry *geometry;
    const lra_filler *filler;
    struct {
        uint32_t stream; /* perturbations of one stream draw the same positions */
        bool averaged;   /* one output: the mean over all draws */
    } draws;
    struct {
        const char *least, *area; /* "keep.w", "keep.auc": widths that keep shares of the gain */
        /* Of permutations, instead: ".local", smallest width that costs 5 % of the gain; or
         * ".global", largest width that does. */
        const char *costs;
        bool smallest;
        bool answers; /* also key.w05 (perturbed_answers.h) */
    } ids;
    bool keeps_places; /* tokens keep their position ids (lra_batch.place) */
    bool well_formed;  /* the result is always a row that the task can produce */
    /* The same geometry with another filler, to compare with. Nullable. */
    const struct lra_influence_part *alternative;
};

/* Windows of w tokens: the first, the last, the middle one and 8 random ones, one draw each. */
extern const lra_geometry lra_windows;
/* The kept tokens alone, one after another: a shorter input, or another order. */
extern const lra_filler lra_crop;
/* All other positions have the token that another row has there, or their own beyond its end. */
extern const lra_filler lra_other_row;
/* All other positions have token 0, or number 0. */
extern const lra_filler lra_zero;

/* Applies a draw to the n tokens of `from`, of `size` bytes each. to: room for n tokens. other: the
 * row of other_n tokens that replacements come from. Returns the number of tokens of the result; 0:
 * there is no such draw. */
int64_t lra_perturb_apply(const lra_perturb *c, int64_t n, size_t size, const void *from,
                          const void *other, int64_t other_n, void *to);
/* Position of the first token that stays. */
int64_t lra_perturb_start(const lra_perturb *c, int64_t n);
/* Random numbers of a draw. */
lra_rng lra_perturb_rng(const lra_perturb *c);
/* (n) distance of each token to the nearest marked one; grid: pixels in a row of the image, 0:
 * none. All 0 if no token is marked. */
void lra_nearest_mark(int64_t n, int64_t grid, const bool *marked, int32_t *near);

#endif
