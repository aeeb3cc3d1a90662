/* Figure las-1: kernels of layers at initialisation (left) and after training (right), for four
 * evenly spaced channels of each layer; the legend names the channels if all layers have the same
 * number of channels. Positive lags are in the past, negative lags in the future. Both panels of a
 * row have the same range.
 * Source: Figure 1 of the LaS paper, which shows S4, MEGA and SGConv at initialisation. */
#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "reports/views/kernel_panels.h"

enum { ROWS = 10, HIGH_ROWS = 5, CHANNELS = 4, FEW = 24 };
static const char dat[] = "las-1.dat";

static const lra_probe_array *kernel(const lra_kernel_panel *p, int state)
{
    return lra_probe_array_find(p->unit, state ? "kernel" : "kernel0");
}

static int64_t behind(const lra_kernel_panel *p)
{
    return (int64_t)lra_probe_array_find(p->unit, "behind")->value[0];
}

static int check(const lra_kernel_panels *all, lra_err *e)
{
    for (int i = 0; i < all->n; i++) {
        const lra_kernel_panel *p = &all->panel[i];
        const lra_probe_array *a = kernel(p, 0), *b = kernel(p, 1);
        bool alike = a->rank == 2 && b->rank == 2 && a->dims[0] == b->dims[0] &&
                     a->dims[1] == b->dims[1];
        if (!alike || a->dims[0] < 1 || a->dims[1] < 1 || behind(p) < 0 || behind(p) >= a->dims[1])
            return lra_fail(e, "the kernels of '%s' have different lengths", p->name);
    }
    return 0;
}

static int channels_of(const lra_kernel_panel *p)
{
    int64_t n = kernel(p, 0)->dims[0];
    return n < CHANNELS ? (int)n : CHANNELS;
}

/* Index of the i-th drawn channel. */
static int64_t channel_at(const lra_kernel_panel *p, int i)
{
    int n = channels_of(p);
    return n > 1 ? i * (kernel(p, 0)->dims[0] - 1) / (n - 1) : 0;
}

/* Adds two data blocks for each row of panels: initial and trained kernels, one column per channel.
 * range: smallest and largest value of each row. */
static void add_data(lra_text *t, const lra_kernel_panels *all, double (*range)[2])
{
    for (int i = 0; i < all->n; i++)
        for (int s = 0; s < 2; s++) {
            const lra_kernel_panel *p = &all->panel[i];
            const lra_probe_array *a = kernel(p, s);
            if (s == 0) range[i][0] = range[i][1] = 0;
            lra_plot_comment(t, "%s, %s", p->name, s ? "trained" : "initial");
            lra_plot_comment(t, "lag, then channels");
            for (int64_t d = 0; d < a->dims[1]; d++) {
                lra_text_add(t, "%lld", (long long)(d - behind(p)));
                for (int c = 0; c < channels_of(p); c++) {
                    double v = (double)a->value[channel_at(p, c) * a->dims[1] + d];
                    lra_text_add(t, isfinite(v) ? " %.6g" : " ?", v);
                    if (v < range[i][0]) range[i][0] = v;
                    if (v > range[i][1]) range[i][1] = v;
                }
                lra_text_add(t, "\n");
            }
            lra_text_add(t, "\n\n");
        }
}

static void add_panel(lra_plot *f, const lra_kernel_panels *all, int i, int state,
                      const double range[2], double width)
{
    lra_text *t = &f->script;
    const lra_kernel_panel *p = &all->panel[i];
    int64_t lags = kernel(p, 0)->dims[1];
    double more = 0.06 * (range[1] - range[0]) + 1e-12;
    /* leaves space for the word "initial" at the right above the first panel */
    char *name = lra_plot_fit(state ? "" : p->name, width - (i ? 0 : 1.6), 8);
    lra_plot_add_quoted(t, "set label ", name, " at graph 0, graph 1.1 left\n");
    lra_free(name);
    /* a kernel with one tap, or with only zeros, has an empty range */
    double first = (double)-behind(p), last = (double)(lags - 1 - behind(p));
    if (lags == 1) first -= 0.5, last += 0.5;
    if (!(more > 1e-9)) more = 0.5;
    lra_text_add(t, "set ytics %g\n", lra_plot_step(range[1] - range[0] + 2 * more));
    lra_text_add(t, lags <= FEW ? "set xtics 1\n" : "set xtics autofreq\n");
    lra_text_add(t, "set xrange [%g:%g]\nset yrange [%g:%g]\nset format y '%s'\n", first, last,
                 range[0] - more, range[1] + more, state ? "" : "%g");
    lra_text_add(
        t,
        "set arrow from graph 0, first 0 to graph 1, first 0 nohead lw 1 lc rgb '#999999' back\n");
    if (behind(p))
        lra_text_add(t, "set arrow from 0, graph 0 to 0, graph 1 nohead lw 1.01 dt " LRA_DASH_CHANCE
                        " lc rgb '#999999' back\n");
    for (int c = 0; c < channels_of(p); c++) {
        const lra_plot_style *s = &lra_plot_styles[c];
        lra_text_add(t, "%s'%s' index %d using 1:%d with ", c ? ", \\\n     " : "plot ", dat,
                     2 * i + state, c + 2);
        if (lags <= FEW)
            lra_text_add(t, "linespoints lc rgb '%s' lw 2 dt %s pt %d ps 0.6", s->color, s->dash,
                         s->full);
        else
            lra_text_add(t, "lines lc rgb '%s' lw %g dt %s", s->color, c ? 1.8 : 2.4, s->dash);
    }
    lra_text_add(t, "\nunset label\nunset arrow\nunset object\n");
}

/* Fills the legend with channel numbers, if all layers have the same number of channels. */
static int fill_key(const lra_kernel_panels *all, lra_plot_entry key[CHANNELS])
{
    const lra_kernel_panel *p = &all->panel[0];
    int n = channels_of(p);
    bool points = false;
    for (int i = 0; i < all->n; i++) {
        if (kernel(&all->panel[i], 0)->dims[0] != kernel(p, 0)->dims[0]) n = 0;
        points = points || kernel(&all->panel[i], 0)->dims[1] <= FEW;
    }
    for (int c = 0; c < n; c++) {
        const lra_plot_style *s = &lra_plot_styles[c];
        key[c] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = s->color,
                                  .dash = s->dash,
                                  .line = 2,
                                  .point = points ? s->full : 0,
                                  .size = 0.6};
        snprintf(key[c].text, sizeof key->text, "channel %lld", (long long)channel_at(p, c));
    }
    return n;
}

static void add_script(lra_plot *f, const lra_kernel_panels *all, double (*range)[2])
{
    lra_text *t = &f->script;
    bool few = all->n <= HIGH_ROWS;
    double left = 1.6, gap = few ? 1.05 : 1, high = few ? 2 : 1.3, between = 0.7;
    lra_plot_entry key[CHANNELS];
    f->width = lra_plot_wide(LRA_PAGE_CM);
    int n = fill_key(all, key), rows = n ? lra_plot_legend_rows(f, left, n, key) : 0;
    f->height = 1.1 + LRA_LINE_CM * rows + all->n * (high + gap);
    double top = lra_plot_start(f), wide = (f->width - left - 0.3 - between) / 2;
    lra_text_add(t, "set multiplot\n");
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows;
    lra_plot_axis(f, 0.25, (top + 1.1) / 2, "kernel");
    lra_plot_add_quoted(t, "set label ", "lag (tokens; > 0: past)",
                        " at screen 0.5, screen %.4g center\n", 0.25 / f->height);
    for (int i = 0; i < all->n; i++)
        for (int s = 0; s < 2; s++) {
            double x = left + s * (wide + between), y = top - 0.6 - i * (high + gap);
            lra_plot_box(f, x, x + wide, y - high, y);
            if (i == 0)
                lra_text_add(t, "set label '%s' at graph 1, graph 1.1 right\n",
                             s ? "after training" : "at initialisation");
            add_panel(f, all, i, s, range[i], wide);
        }
    lra_text_add(t, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_kernel_panels all;
    double range[ROWS][2];
    int rc = lra_kernel_panels_open(&all, in, ROWS, e);
    if (rc == 0) rc = check(&all, e);
    if (rc == 0) {
        f->title = lra_format("Convolution kernels: %s", all.title);
        lra_kernel_panels_sources(&all, f);
        add_data(&f->data, &all, range);
        add_script(f, &all, range);
    }
    lra_kernel_panels_close(&all);
    return rc;
}

const lra_report_figure lra_figure_las_1 = {
    "las-1", "convolution kernels of each layer, at initialisation and after training", make,
    LRA_FROM_KERNELS};
