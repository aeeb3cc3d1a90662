/* Draws envelopes of kernels by distance (kernel_decay.h). */
#include "reports/views/kernel_decay.h"

#include <math.h>

enum { POINTS = 200, FEW = 40, ACROSS = 4 };

const lra_probe_array *lra_decay_envelope(const lra_probe_unit *u, bool trained)
{
    const lra_probe_array *a = lra_probe_array_find(u, trained ? "envelope" : "envelope0");
    return a && a->rank == 2 && a->dims[0] == 3 && a->dims[1] > 0 ? a : NULL;
}

const char *lra_decay_empty(const lra_decay_axes *x, const lra_probe_array *a,
                            const lra_probe_array *b)
{
    bool any = false;
    if (a->dims[1] < 2 && b->dims[1] < 2) return "kernel length 1: no decay";
    for (int k = 0; k < 2; k++) {
        const lra_probe_array *p = k ? b : a;
        for (int64_t d = x->octaves; d < p->dims[1]; d++)
            any = any || isfinite(p->value[p->dims[1] + d]);
    }
    return any ? NULL : "all kernels are 0";
}

void lra_decay_axes_hold(lra_decay_axes *x, const lra_probe_array *a)
{
    int64_t n = a->dims[1];
    if (n - 1 > x->farthest) x->farthest = n - 1;
    /* at three quarters of the distances, because the last ones have few examples or none */
    double last = (double)a->value[n + 3 * (n - 1) / 4];
    if (last > 0) x->least = fmin(x->least, last);
}

void lra_decay_axes_set(lra_decay_axes *x)
{
    x->octaves = x->farthest > FEW, x->falls = x->least < 0.05;
    x->least = fmax(x->least, 1e-5);
    if (x->farthest < 1) x->farthest = 1; /* a kernel with a single tap has no distance above 0 */
}

/* Next distance that is drawn after d: d + 1 on a linear scale, else evenly spaced in octaves. */
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
        t, "distance quartile-1 median quartile-3 of the envelope: max |k| at this distance or "
           "farther, divided by max |k|");
    for (int64_t d = x->octaves ? 1 : 0; d < n; d = next_distance(x, d)) {
        lra_text_add(t, "%lld", (long long)d);
        for (int q = 0; q < 3; q++) {
            double v = (double)a->value[q * n + d];
            /* Zeros are drawn as a small positive value: a logarithmic axis has no zero, and lines
             * and bands would be interrupted. */
            if (isnan(v))
                lra_text_add(t, " ?");
            else
                lra_text_add(t, " %.6g", x->falls ? fmax(v, x->least / 10) : v);
        }
        lra_text_add(t, "\n");
    }
    lra_text_add(t, "\n\n");
}

static void add_axes(lra_text *t, const lra_decay_axes *x)
{
    if (x->falls)
        lra_text_add(t, "set logscale y\nset yrange [%g:1.3]\nset ytics 10\n",
                     pow(10, floor(log10(x->least * 0.999))));
    else
        lra_text_add(t, "set yrange [0:1.05]\nset ytics 0.5\n");
    lra_text_add(t, "set xrange [%g:%lld]\n", x->octaves ? 1. : 0., (long long)x->farthest);
    if (x->octaves)
        lra_text_add(t, "set logscale x 2\nset xtics %d\n", x->farthest > 1024 ? 16 : 4);
    else
        lra_text_add(t, "set xtics %d\n", x->farthest > 10 ? 10 : 1);
}

static void add_panel(lra_plot *f, const lra_decay_figure *d, int i, double width)
{
    lra_text *t = &f->script;
    char *name = lra_plot_fit(d->name[i], width + 0.3, 7);
    lra_plot_add_quoted(t, "set label ", name, " at graph 0, graph 1.1 left font ',7'\n");
    lra_free(name);
    if (d->empty[i])
        lra_plot_add_quoted(t, "set label ", d->empty[i],
                            " at graph 0.5, graph 0.5 center font ',7' textcolor rgb '#555555'\n");
    lra_text_add(t, "set format y '%s'\nset format x '%s'\nplot ", i % ACROSS == 0 ? "%g" : "",
                 i + ACROSS >= d->n ? "%g" : "");
    if (d->empty[i])
        lra_text_add(t, "NaN");
    else
        d->panel(t, i);
    lra_text_add(t, "\nunset label\nunset arrow\nunset object\n");
}

void lra_decay_add_script(lra_plot *f, const lra_decay_figure *d)
{
    int across = d->n < ACROSS ? d->n : ACROSS, down = (d->n + across - 1) / across;
    double left = 1.8, high = 2.7, gap = 0.6, between = 0.35, bottom = 1.1;
    f->width = lra_plot_wide(across > 2 ? LRA_PAGE_CM : LRA_COLUMN_CM);
    int rows = lra_plot_legend_rows(f, left, d->n_key, d->key);
    double wide = (f->width - left - 0.25 - (across - 1) * between) / across;
    f->height = LRA_LINE_CM * (rows + 2) + down * (high + gap) + bottom;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, d->n_key, d->key);
    top = bottom + down * (high + gap);
    lra_text_add(&f->script, "set multiplot\n");
    add_axes(&f->script, d->axes);
    lra_plot_axis(f, 0.25, (bottom + top) / 2, "envelope of |k| (max. = 1)");
    lra_plot_add_quoted(&f->script, "set label ", "distance (tokens)",
                        " at screen %.4g, screen %.4g center\n",
                        (left + (f->width - left) / 2) / f->width, 0.25 / f->height);
    for (int i = 0; i < d->n; i++) {
        double x = left + i % across * (wide + between), y = top - gap - i / across * (high + gap);
        lra_plot_box(f, x, x + wide, y - high, y);
        add_panel(f, d, i, wide);
    }
    lra_text_add(&f->script, "unset multiplot\n");
}
