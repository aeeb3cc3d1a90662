/* Input perturbations: tokens are removed, replaced or moved, and the model is evaluated on the
 * result. A perturbation is a record of
 *   geometry   positions of the tokens that stay for a width w, in their new order
 *   filler     content of the other positions: cropped, another row, token 0, ..
 *   draws      the random stream; whether the outputs of all draws are averaged
 *   ids        names of the measurements
 * and of flags for position ids. Perturbations are the parts of `lra-probe influence` that have
 * such a record (part.h). The two documents of a pair are perturbed separately. Random numbers
 * depend on (seed, row, w, index of the draw) alone. */
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
    /* Writes the positions of the tokens that stay, in their new order: position (n). Returns their
     * number. */
    int64_t (*select)(const lra_perturb *c, int64_t n, int64_t *position);
    /* w is the maximum distance to a marked token, from 0 on: in tokens, or in pixels for images */
    bool marks;
    bool permutes; /* all tokens stay, in another order */
} lra_geometry;

/* A sequence of n tokens of `size` bytes, of which n_kept tokens stay. */
typedef struct {
    int64_t n, n_kept;
    const int64_t *kept; /* (n_kept) positions in their new order */
    size_t size;
    /* from: the sequence; other: the row that provides replacement tokens */
    const void *from, *other;
    int64_t other_n;
} lra_filling;

typedef struct {
    /* Writes the perturbed sequence, at most n tokens; returns their number. */
    int64_t (*fill)(const lra_filling *f, void *to);
    bool other_row;    /* takes tokens from another row */
    bool keeps_length; /* the result always has n tokens */
} lra_filler;

struct lra_influence_part;
struct lra_perturbation {
    const lra_geometry *geometry;
    const lra_filler *filler;
    struct {
        uint32_t stream; /* perturbations with the same stream draw the same positions */
        bool averaged;   /* one output per example: the mean over all draws */
    } draws;
    struct {
        /* "keep.w", "keep.auc": ids of the widths that keep shares of the gain, and of the area */
        const char *least, *area;
        /* Permutations only, instead of `least`: ".local" for the smallest width that costs 5 % of
         * the gain, or ".global" for the largest width that does. */
        const char *costs;
        bool smallest;
        bool answers; /* also measures key.w05 (perturbed_answers.h) */
    } ids;
    bool keeps_position_ids; /* tokens keep their original position ids (lra_batch.place) */
    bool well_formed;        /* the result is always a row that the task can produce */
    /* Part with the same geometry and another filler, with which it is compared. Nullable. */
    const struct lra_influence_part *alternative;
};

/* Windows of w tokens: the first, the last, the middle and 8 random windows, one per draw. */
extern const lra_geometry lra_windows;
/* The tokens that stay form the input, one after another, without the others. */
extern const lra_filler lra_crop;
/* Every other position gets the token of another row at that position; positions beyond the end of
 * that row keep their own token. */
extern const lra_filler lra_other_row;
/* Every other position gets token 0 (or the number 0). */
extern const lra_filler lra_zero;

/* True if the result always has the length of the complete input. */
bool lra_perturb_keeps_length(const lra_perturbation *is);
/* Applies a draw to the n tokens of `from`, of `size` bytes each. to: room for n tokens. other: the
 * row of other_n tokens that provides replacement tokens. Returns the number of tokens of the
 * result, or 0 if the perturbation has no draw with this index. */
int64_t lra_perturb_apply(const lra_perturb *c, int64_t n, size_t size, const void *from,
                          const void *other, int64_t other_n, void *to);
/* Position of the first token that stays, in the new order; 0 if none stays. */
int64_t lra_perturb_start(const lra_perturb *c, int64_t n);
/* Random number generator of a draw. */
lra_rng lra_perturb_rng(const lra_perturb *c);
/* Writes the distance of each token to the nearest marked token: near (n). grid: pixels in a row of
 * an image, 0 if the input is no image. All distances are 0 if no token is marked. */
void lra_nearest_mark(int64_t n, int64_t grid, const bool *marked, int32_t *near);

#endif
