/* The registry of augmentations, and the augmentation "d4": one of the eight symmetries of the
 * square (the dihedral group) applied to an image. A symmetry transposes the image or not, then
 * mirrors it or not along each axis; a quarter turn is a transposition and one mirroring. */
#include "datasets/loader/augment.h"

#include <stddef.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"

static void exchange(uint16_t *a, uint16_t *b)
{
    uint16_t old = *a;
    *a = *b;
    *b = old;
}

void lra_image_turn(uint16_t *pixel, int64_t n, int symmetry)
{
    int64_t side = 0;
    while (side * side < n) side++;
    for (int64_t y = 0; y < side && symmetry & 4; y++)
        for (int64_t x = 0; x < y; x++) exchange(&pixel[y * side + x], &pixel[x * side + y]);
    for (int64_t y = 0; y < side && symmetry & 1; y++)
        for (int64_t x = 0; x < side / 2; x++)
            exchange(&pixel[y * side + x], &pixel[y * side + side - 1 - x]);
    for (int64_t y = 0; y < side / 2 && symmetry & 2; y++)
        for (int64_t x = 0; x < side; x++)
            exchange(&pixel[y * side + x], &pixel[(side - 1 - y) * side + x]);
}

void lra_augment_d4(const lra_dataset *d, lra_rng *rng, lra_row *row)
{
    (void)d;
    lra_image_turn(row->token, row->n, (int)lra_rng_below(rng, LRA_D4));
}

static void turn(int symmetry, lra_rng *rng, lra_row *row)
{
    (void)rng;
    lra_image_turn(row->token, row->n, symmetry);
}

static char *turn_text(int symmetry)
{
    static const char *const names[LRA_D4] = {"unchanged",
                                              "mirrored left to right",
                                              "mirrored top to bottom",
                                              "rotated by 180 degrees",
                                              "transposed",
                                              "rotated by 90 degrees",
                                              "rotated by 270 degrees",
                                              "transposed along the other diagonal"};
    return lra_copy_text(names[symmetry]);
}

const lra_augmentation lra_augmentation_d4 = {
    .name = "d4",
    .summary = "one of the eight symmetries of the square, for square images",
    .n_variants = LRA_D4,
    .apply = lra_augment_d4,
    .variant = turn,
    .variant_text = turn_text};

/* ---- the registry ---------------------------------------------------------------------------- */

static const lra_augmentation *const registry[] = {
#define LRA_AUGMENTATION(name) &lra_augmentation_##name,
#include "datasets/loader/augmentations.def"
#undef LRA_AUGMENTATION
};
enum { N_AUGMENTATIONS = sizeof registry / sizeof *registry };

const lra_augmentation *lra_augmentation_at(int i)
{
    return i >= 0 && i < N_AUGMENTATIONS ? registry[i] : NULL;
}

const lra_augmentation *lra_augmentation_find(const char *name, lra_err *e)
{
    const char *names[N_AUGMENTATIONS];
    for (int i = 0; i < N_AUGMENTATIONS; i++) {
        names[i] = registry[i]->name;
        if (strcmp(names[i], name) == 0) return registry[i];
    }
    lra_fail_unknown(e, "augmentation", name, N_AUGMENTATIONS, names,
                     "lra-probe list augmentations");
    return NULL;
}

const lra_augmentation *lra_augmentation_of(const lra_task *task)
{
    int i = 0;
    while (i < N_AUGMENTATIONS && registry[i]->apply != task->data.augment) i++;
    return lra_augmentation_at(i);
}
