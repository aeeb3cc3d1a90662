/* Downsampling of 8-bit images by a Lanczos window of three lobes, byte-identical to Pillow. */
#ifndef LRA_DATASETS_FORMATS_LANCZOS_H
#define LRA_DATASETS_FORMATS_LANCZOS_H

#include <stdint.h>

/* Weights for downsampling one axis: output pixel o is clip((2^21 + sum of weight * value) >> 22,
 * 0, 255) over the n[o] input pixels from first[o] on. */
typedef struct {
    int in, out, width;
    int *first, *n;  /* (out) first input pixel and number of input pixels of each output pixel */
    int32_t *weight; /* (out, width) weights in fixed point, times 2^22 */
} lra_lanczos;

/* Computes the weights of an axis. Requires 1 <= out <= in. */
lra_lanczos *lra_lanczos_new(int in, int out);
void lra_lanczos_free(lra_lanczos *z); /* Nullable: z */
/* Returns output pixel o, computed from its n[o] input pixels, which are `step` bytes apart. */
uint8_t lra_lanczos_at(const lra_lanczos *z, int o, const uint8_t *values, int step);
/* Downsamples an image, rows first, then columns: to (out,out), from (in,in). */
void lra_lanczos_square(const lra_lanczos *z, const uint8_t *from, uint8_t *to);

#endif
