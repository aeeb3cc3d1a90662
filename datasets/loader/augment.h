/* Augmentations: functions that replace a row by another row with the same label and length. A task
 * names its function in its record; descriptions for users are in augmentations.def. */
#ifndef LRA_DATASETS_LOADER_AUGMENT_H
#define LRA_DATASETS_LOADER_AUGMENT_H

#include <stdint.h>

#include "datasets/loader/dataset.h"

/* An augmentation of the registry. apply() draws one of its n_variants variants; a sheet of
 * examples shows them all. */
typedef struct {
    const char *name, *summary;
    const lra_key *keys; /* parameters of the task that control the augmentation. Nullable: none */
    int n_variants;
    void (*apply)(const lra_dataset *d, lra_rng *rng, lra_row *row);
    /* Applies variant i to a row. Nullable: the augmentation does not change images */
    void (*variant)(int i, lra_rng *rng, lra_row *row);
    /* returns a description of variant i, which the caller frees. Nullable */
    char *(*variant_text)(int i);
} lra_augmentation;
#define LRA_AUGMENTATION(name) extern const lra_augmentation lra_augmentation_##name;
#include "datasets/loader/augmentations.def"
#undef LRA_AUGMENTATION
const lra_augmentation *lra_augmentation_at(int i); /* NULL after the last */
const lra_augmentation *lra_augmentation_find(const char *name, lra_err *e);
/* NULL: the task has no augmentation */
const lra_augmentation *lra_augmentation_of(const lra_task *task);

/* ---- symmetries of the square: augment.c ----------------------------------------------------- */

enum { LRA_D4 = 8 };
/* Applies a symmetry of the square to an image of n pixels (row by row), in place. Bit 2 of
 * `symmetry` transposes the image first, bit 0 mirrors it left to right, bit 1 top to bottom; 0 is
 * the identity. */
void lra_image_turn(uint16_t *pixel, int64_t n, int symmetry);
/* Applies one of the eight symmetries of the square, all equally likely. */
void lra_augment_d4(const lra_dataset *d, lra_rng *rng, lra_row *row);

/* ---- AutoAugment's policy for CIFAR-10: augment_policy.c ------------------------------------- */

enum { LRA_N_POLICIES = 25 };
/* Stages of the policy; each is a flag among the parameters of a task. crop: crop to 32 x 32 after
 * padding with 4 black pixels. flip: random mirroring left to right. policy: one of the 25 pairs of
 * operations. grey-first: converts the image to grey before these stages instead of after them. */
#define LRA_AUGMENT_POLICY_ROWS                                                                    \
    LRA_FLAG_KEY("crop", "1", "augment: crop of 32 x 32 after padding with 4 black pixels"),       \
        LRA_FLAG_KEY("flip", "1", "augment: random horizontal flip"),                              \
        LRA_FLAG_KEY("policy", "1", "augment: one of AutoAugment's 25 pairs of operations"),       \
        LRA_FLAG_KEY("grey-first", "0",                                                            \
                     "augment: convert to grey before the other operations, not after")
/* Applies the policy to a row of 32 x 32 pixels, each a token of three numbers (red, green,
 * blue). */
void lra_augment_policy(const lra_dataset *d, lra_rng *rng, lra_row *row);

#endif
