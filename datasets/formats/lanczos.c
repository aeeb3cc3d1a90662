/* Downsampling by a Lanczos window in fixed point.
 *   scale = in/out, support = 3 scale, c = (o + 1/2) scale
 *   taps x in [max(0, trunc(c - support + 1/2)), min(in, trunc(c + support + 1/2)))
 *   weight = L((x - c + 1/2) / scale), normalised to sum 1, times 2^22,
 *            rounded to nearest, ties away from zero
 *   L(u) = sinc(u) sinc(u/3) for |u| < 3, else 0
 * Rows are reduced first, then columns; the intermediate image has 8 bits, too. Source: Pillow's
 * Resample.c. */
#include "datasets/formats/lanczos.h"

#include <math.h>

#include "kernels/base/core/mem.h"

enum { BITS = 22 };

static double sinc(double u)
{
    static const double pi = 3.14159265358979323846;
    return u == 0 ? 1 : sin(u * pi) / (u * pi);
}

static double window(double u)
{
    return u > -3 && u < 3 ? sinc(u) * sinc(u / 3) : 0;
}

static void set_weights(lra_lanczos *z, int o)
{
    double scale = (double)z->in / z->out, support = 3 * scale, centre = (o + 0.5) * scale;
    int first = (int)(centre - support + 0.5), end = (int)(centre + support + 0.5);
    if (first < 0) first = 0;
    if (end > z->in) end = z->in;
    z->first[o] = first;
    z->n[o] = end - first;
    double sum = 0;
    for (int x = first; x < end; x++) sum += window((x - centre + 0.5) / scale);
    for (int x = first; x < end; x++) {
        double w = window((x - centre + 0.5) / scale) / sum * (1 << BITS);
        z->weight[o * z->width + x - first] = (int32_t)(w < 0 ? w - 0.5 : w + 0.5);
    }
}

lra_lanczos *lra_lanczos_new(int in, int out)
{
    lra_lanczos *z = lra_alloc(sizeof *z);
    z->in = in, z->out = out;
    z->width = 2 * (int)ceil(3.0 * in / out) + 1;
    z->first = lra_alloc_array((size_t)out, sizeof *z->first);
    z->n = lra_alloc_array((size_t)out, sizeof *z->n);
    z->weight = lra_alloc_array((size_t)out * (size_t)z->width, sizeof *z->weight);
    for (int o = 0; o < out; o++) set_weights(z, o);
    return z;
}

void lra_lanczos_free(lra_lanczos *z)
{
    if (!z) return;
    lra_free(z->first);
    lra_free(z->n);
    lra_free(z->weight);
    lra_free(z);
}

uint8_t lra_lanczos_at(const lra_lanczos *z, int o, const uint8_t *values, int step)
{
    const int32_t *weight = z->weight + o * z->width;
    int32_t sum = 1 << (BITS - 1);
    for (int i = 0; i < z->n[o]; i++) sum += weight[i] * values[i * step];
    int32_t v = sum < 0 ? 0 : sum >> BITS;
    return (uint8_t)(v > 255 ? 255 : v);
}

void lra_lanczos_square(const lra_lanczos *z, const uint8_t *from, uint8_t *to)
{
    uint8_t *rows = lra_alloc_array((size_t)z->in, (size_t)z->out);
    for (int y = 0; y < z->in; y++)
        for (int o = 0; o < z->out; o++)
            rows[y * z->out + o] = lra_lanczos_at(z, o, from + y * z->in + z->first[o], 1);
    for (int o = 0; o < z->out; o++)
        for (int x = 0; x < z->out; x++)
            to[o * z->out + x] = lra_lanczos_at(z, o, rows + z->first[o] * z->out + x, z->out);
    lra_free(rows);
}
