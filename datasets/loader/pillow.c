/* Operations on small colour images.
 * Source: Pillow (Image.transform and rotate, ImageEnhance, ImageOps). Its integer and float
 * arithmetic is reproduced operation by operation, so that images are bit-identical. */
#include "datasets/loader/pillow.h"

#include <math.h>
#include <string.h>

#include "datasets/loader/grey.h"

enum { SIDE = LRA_PICTURE_SIDE, PIXELS = LRA_PICTURE_PIXELS, LEVELS = 256 };

const char *const lra_pillow_names[LRA_N_PILLOW_OPS] = {
    "ShearX",   "ShearY",    "TranslateX", "TranslateY", "Rotate",       "Brightness", "Color",
    "Contrast", "Sharpness", "Posterize",  "Solarize",   "AutoContrast", "Equalize",   "Invert"};

/* ---- geometry -------------------------------------------------------------------------------- */

static int64_t fixed(double v)
{
    return (int64_t)floor(v * 65536.0 + 0.5);
}

/* Affine transformation: out(x,y) = in(a0 x + a1 y + a2, a3 x + a4 y + a5), evaluated at the
 * centres of pixels in 16.16 fixed point. */
static void transform(lra_picture *p, const double a[6])
{
    const lra_picture in = *p;
    int64_t a0 = fixed(a[0]), a1 = fixed(a[1]), a3 = fixed(a[3]), a4 = fixed(a[4]);
    int64_t a2 = fixed(a[2] + a[0] * 0.5 + a[1] * 0.5), a5 = fixed(a[5] + a[3] * 0.5 + a[4] * 0.5);
    memset(p, 0, sizeof *p);
    for (int64_t row = 0; row < SIDE; row++) {
        for (int64_t column = 0; column < SIDE; column++) {
            int64_t x = a0 * column + a1 * row + a2, y = a3 * column + a4 * row + a5;
            if (x < 0 || y < 0 || x >> 16 >= SIDE || y >> 16 >= SIDE) continue;
            memcpy(p->at[row * SIDE + column], in.at[(y >> 16) * SIDE + (x >> 16)], 3);
        }
    }
}

/* Pillow rounds sines and cosines to 15 digits. */
static double round15(double v)
{
    return round(v * 1e15) / 1e15;
}

static void rotate(lra_picture *p, double degrees)
{
    const double pi = 3.14159265358979323846, half = SIDE / 2.0;
    double angle = -degrees * pi / 180, c = round15(cos(angle)), s = round15(sin(angle));
    transform(
        p, (const double[]){c, s, -half * c - half * s + half, -s, c, half * s - half * c + half});
}

/* ---- enhancers ------------------------------------------------------------------------------- */

uint8_t lra_pillow_grey(const uint8_t rgb[3])
{
    return lra_grey(rgb[0], rgb[1], rgb[2]);
}

static void fill_mean_grey(const lra_picture *p, lra_picture *other)
{
    int64_t sum = 0;
    for (int i = 0; i < PIXELS; i++) sum += lra_pillow_grey(p->at[i]);
    memset(other, (int)((double)sum / PIXELS + 0.5), sizeof *other);
}

static void fill_grey(const lra_picture *p, lra_picture *other)
{
    for (int i = 0; i < PIXELS; i++) memset(other->at[i], lra_pillow_grey(p->at[i]), 3);
}

static void fill_smooth(const lra_picture *p, lra_picture *other)
{
    *other = *p;
    for (int i = 0; i < PIXELS; i++) {
        int x = i % SIDE, y = i / SIDE;
        if (x == 0 || y == 0 || x == SIDE - 1 || y == SIDE - 1) continue;
        for (int c = 0; c < 3; c++) {
            int sum = 4 * p->at[i][c];
            for (int dy = -SIDE; dy <= SIDE; dy += SIDE)
                for (int dx = -1; dx <= 1; dx++) sum += p->at[i + dy + dx][c];
            other->at[i][c] = (uint8_t)((2 * sum + 13) / 26); /* sum / 13, rounded to nearest */
        }
    }
}

static void enhance(lra_pillow_op op, double by, lra_picture *p)
{
    lra_picture other = {{{0}}}; /* brightness blends the image with black */
    if (op == LRA_COLOR) fill_grey(p, &other);
    if (op == LRA_CONTRAST) fill_mean_grey(p, &other);
    if (op == LRA_SHARPNESS) fill_smooth(p, &other);
    float factor = (float)(1 + by);
    for (int i = 0; i < PIXELS; i++) {
        for (int c = 0; c < 3; c++) {
            float part = factor * (float)(p->at[i][c] - other.at[i][c]);
            float v = (float)other.at[i][c] + part;
            p->at[i][c] = v <= 0 ? 0 : v >= 255 ? 255 : (uint8_t)v;
        }
    }
}

/* ---- tables of levels ------------------------------------------------------------------------ */

static void look_up(lra_picture *p, int c, const uint8_t table[LEVELS])
{
    for (int i = 0; i < PIXELS; i++) p->at[i][c] = table[p->at[i][c]];
}

static void count(const lra_picture *p, int c, int n[LEVELS], int *lowest, int *highest)
{
    memset(n, 0, LEVELS * sizeof *n);
    for (int i = 0; i < PIXELS; i++) n[p->at[i][c]]++;
    for (*lowest = 0; n[*lowest] == 0; ++*lowest) continue;
    for (*highest = LEVELS - 1; n[*highest] == 0; --*highest) continue;
}

static void stretch(lra_picture *p, int c)
{
    int n[LEVELS], lowest, highest;
    uint8_t table[LEVELS];
    count(p, c, n, &lowest, &highest);
    if (highest <= lowest) return;
    double scale = 255.0 / (highest - lowest), shift = -lowest * scale;
    for (int v = 0; v < LEVELS; v++) {
        double product = v * scale, to = product + shift;
        table[v] = to < 0 ? 0 : to > 255 ? 255 : (uint8_t)to;
    }
    look_up(p, c, table);
}

static void equalize(lra_picture *p, int c)
{
    int n[LEVELS], lowest, highest;
    uint8_t table[LEVELS];
    count(p, c, n, &lowest, &highest);
    int step = (PIXELS - n[highest]) / 255, sum = step / 2;
    if (highest == lowest || step == 0) return;
    for (int v = 0; v < LEVELS; v++) {
        int to = sum / step;
        table[v] = (uint8_t)(to > 255 ? 255 : to);
        sum += n[v];
    }
    look_up(p, c, table);
}

static uint8_t level_to(lra_pillow_op op, int level, int v)
{
    if (op == LRA_POSTERIZE) return (uint8_t)(v & (0xFF << ((4 * level + 4) / 9)));
    if (op == LRA_SOLARIZE && 9 * v < 255 * (9 - level)) return (uint8_t)v;
    return (uint8_t)(255 - v); /* LRA_INVERT, and LRA_SOLARIZE at bright levels */
}

/* ---- all operations -------------------------------------------------------------------------- */

static void by_table(lra_pillow_op op, int level, lra_picture *p)
{
    uint8_t table[LEVELS];
    for (int v = 0; v < LEVELS; v++) table[v] = level_to(op, level, v);
    for (int c = 0; c < 3; c++) {
        if (op == LRA_AUTO_CONTRAST)
            stretch(p, c);
        else if (op == LRA_EQUALIZE)
            equalize(p, c);
        else
            look_up(p, c, table);
    }
}

void lra_pillow_apply(lra_pillow_op op, int level, int sign, lra_picture *p)
{
    double shear = sign * 0.3 * level / 9, by = sign * 0.9 * level / 9;
    int pixels = sign * (int)(150.0 / 331 * SIDE * level / 9);
    if (op == LRA_SHEAR_X)
        transform(p, (const double[]){1, shear, 0, 0, 1, 0});
    else if (op == LRA_SHEAR_Y)
        transform(p, (const double[]){1, 0, 0, shear, 1, 0});
    else if (op == LRA_TRANSLATE_X)
        transform(p, (const double[]){1, 0, pixels, 0, 1, 0});
    else if (op == LRA_TRANSLATE_Y)
        transform(p, (const double[]){1, 0, 0, 0, 1, pixels});
    else if (op == LRA_ROTATE)
        rotate(p, sign * 30.0 * level / 9);
    else if (op >= LRA_POSTERIZE)
        by_table(op, level, p);
    else
        enhance(op, by, p);
}
