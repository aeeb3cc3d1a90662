/* Image operations of AutoAugment, bit-identical to Pillow (nearest-neighbour interpolation, black
 * outside of the image). */
#ifndef LRA_DATASETS_LOADER_PILLOW_H
#define LRA_DATASETS_LOADER_PILLOW_H

#include <stdint.h>

/* The only image size is that of CIFAR. */
enum { LRA_PICTURE_SIDE = 32, LRA_PICTURE_PIXELS = LRA_PICTURE_SIDE * LRA_PICTURE_SIDE };
typedef struct {
    uint8_t at[LRA_PICTURE_PIXELS][3]; /* colours of the pixels, row by row: red, green, blue */
} lra_picture;

/* Operations on an image `in` with level l (0..9) and sign (+1 or -1). */
typedef enum {
    LRA_SHEAR_X,     /* out(x,y) = in(x + s y, y), s = sign 0.3 l/9 */
    LRA_SHEAR_Y,     /* out(x,y) = in(x, y + s x) */
    LRA_TRANSLATE_X, /* out(x,y) = in(x + d, y), d = sign (floor of 150/331 side l/9) */
    LRA_TRANSLATE_Y, /* out(x,y) = in(x, y + d) */
    LRA_ROTATE,      /* rotation about the centre by sign 30 l/9 degrees counter-clockwise */
    /* b + f (in - b) with f = 1 + sign 0.9 l/9 and b the black image */
    LRA_BRIGHTNESS,
    LRA_COLOR,    /* as LRA_BRIGHTNESS with b the grey image */
    LRA_CONTRAST, /* as LRA_BRIGHTNESS with b the rounded mean of the grey image */
    /* as LRA_BRIGHTNESS with b the image smoothed by 1 1 1 / 1 5 1 / 1 1 1 (except its border) */
    LRA_SHARPNESS,
    LRA_POSTERIZE,     /* keeps the highest 8 - round(4 l/9) bits */
    LRA_SOLARIZE,      /* inverts levels that are at least 255 (1 - l/9) */
    LRA_AUTO_CONTRAST, /* stretches the levels of each colour linearly to 0..255 */
    LRA_EQUALIZE,      /* equalises the histogram of each colour */
    LRA_INVERT,
    LRA_N_PILLOW_OPS
} lra_pillow_op;
extern const char *const lra_pillow_names[LRA_N_PILLOW_OPS];

void lra_pillow_apply(lra_pillow_op op, int level, int sign, lra_picture *p);
/* Returns the grey level of a colour: (19595 red + 38470 green + 7471 blue + 2^15) / 2^16. */
uint8_t lra_pillow_grey(const uint8_t rgb[3]);

#endif
