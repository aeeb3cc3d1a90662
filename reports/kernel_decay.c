/* Envelopes of kernels. */
#include "reports/kernel_decay.h"

#include <math.h>

enum { POINTS = 200, FEW = 40 };

const lra_probe_array *lra_decay_envelope(const lra_probe_unit *u, bool trained)
{
    const lra_probe_array *a = lra_probe_array_find(u, trained ? "envelope" : "envelope0");
    return a && a->rank == 2 && a->dims[0] == 3 && a->dims[1] > 0 ? a : NULL;
}

void lra_decay_axes_hold(lra_decay_axes *x, const lra_probe_array *a)
{
    int64_t n = a->dims[1];
    if (n - 1 > x->farthest) x->farthest = n - 1;
    /* of the last lags there are few examples, or none */
    double last = (double)a->value[n + 3 * (n - 1) / 4];
    if (last > 0) x->least = fmin(x->least, last);
}

void lra_decay_axes_set(lra_decay_axes *x)
{
    x->octaves = x->farthest > FEW, x->falls = x->least < 0.05;
    x->least = fmax(x->least, 1e-5);
}

/* Distances that are drawn: all of few, else evenly spread in octaves. */
static int64_t next_distance(const lra_decay_axes *x, int64_t d)
{
    if (!x->octaves) return d + 1;
    int64_t next = (int64_t)floor((double)d * exp2(log2((double)x->farthest) / POINTS));
    return next > d ? next : d + 1;
}

void lra_decay_add_block(lra_text *t, const lra_decay_axes *x, const lra_probe_array *a)
{
    int64_t n = a->dims[1];
    lra_plot_comment(
        t, "distance quartile-1 median quartile-3 of max |k| from there on, over that at 0");
    for (int64_t d = x->octaves ? 1 : 0; d < n; d = next_distance(x, d)) {
        lra_text_add(t, "%lld", (long long)d);
        for (int q = 0; q < 3; q++) {
            double v = (double)a->value[q * n + d];
            lra_text_add(t, v > 0 ? " %.6g" : " ?", fmax(v, x->least / 10));
        }
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

void lra_decay_add_axes(lra_text *t, const lra_decay_axes *x)
{
    if (x->falls)
        lra_text_add(t, "set logscale y\nset yrange [%g:1.3]\nset ytics 10\n",
                     pow(10, floor(log10(x->least * 0.999))));
    else
        lra_text_add(t, "set yrange [0:1.05]\nset ytics 0.5\n");
    lra_text_add(t, "set xrange [%g:%lld]\n", x->octaves ? 1. : 0., (long long)x->farthest);
    if (x->octaves)
        lra_text_add(t, "set logscale x 2\nset xtics %d\n", x->farthest > 1024 ? 16 : 4);
}
