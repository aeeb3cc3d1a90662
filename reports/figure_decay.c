/* Figure decay: how the kernels of layers decay with distance, initial and trained.  Each line is the median over channels
 * of the envelope, the largest |k| from a distance on over the largest of all, between its quartiles.
 * Of a scratch and a pretrained run: the figure that "Never Train from Scratch" (Amos et al. 2024) describes as learned
 * kernel decay. */
#include <math.h>

#include "kernels/base/mem.h"
#include "reports/kernel_panels.h"

enum { PANELS = 12, ACROSS = 4, POINTS = 200, FEW = 40 };
static const char dat[] = "decay.dat";
static const char initial[] = "#333333", band[] = "#b2d4e8", trained[] = "#0072B2";

typedef struct {
    lra_kernel_panels all;
    bool octaves; /* of distance; else all distances, which are few */
    bool falls;   /* so far that logarithms show it better */
    double least; /* of the lines, at three quarters of their distances */
    int64_t farthest;
} plot;

static const lra_probe_array *envelope(const lra_kernel_panel *p, int state)
{
    return lra_probe_array_find(p->unit, state ? "envelope" : "envelope0");
}

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    *p = (plot){.least = 1};
    if (lra_kernel_panels_open(&p->all, in, PANELS, e) != 0) return LRA_FAILED;
    for (int i = 0; i < p->all.n; i++)
        for (int s = 0; s < 2; s++) {
            const lra_probe_array *a = envelope(&p->all.panel[i], s);
            if (!a || a->rank != 2 || a->dims[0] != 3 || a->dims[1] < 1)
                return lra_fail(e, "'%s' has no envelope of three quartiles", p->all.panel[i].name);
            int64_t n = a->dims[1];
            if (n - 1 > p->farthest) p->farthest = n - 1;
            /* of the last lags there are few examples, or none */
            double last = (double)a->value[n + 3 * (n - 1) / 4];
            if (last > 0) p->least = fmin(p->least, last);
        }
    p->octaves = p->farthest > FEW, p->falls = p->least < 0.05;
    p->least = fmax(p->least, 1e-5);
    return 0;
}

/* ---- data ---------------------------------------------------------------------------------------------------- */

/* Distances that are drawn: all of few, else evenly spread in octaves. */
static int64_t next_distance(const plot *p, int64_t d)
{
    if (!p->octaves) return d + 1;
    int64_t next = (int64_t)floor((double)d * exp2(log2((double)p->farthest) / POINTS));
    return next > d ? next : d + 1;
}

static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->all.n; i++)
        for (int s = 0; s < 2; s++) {
            const lra_probe_array *a = envelope(&p->all.panel[i], s);
            int64_t n = a->dims[1];
            lra_plot_comment(t, "%s, %s", p->all.panel[i].name, s ? "trained" : "initial");
            lra_plot_comment(
                t,
                "distance quartile-1 median quartile-3 of max |k| from there on, over that at 0");
            for (int64_t d = p->octaves ? 1 : 0; d < n; d = next_distance(p, d)) {
                lra_text_add(t, "%lld", (long long)d);
                for (int q = 0; q < 3; q++) {
                    double v = (double)a->value[q * n + d];
                    lra_text_add(t, v > 0 ? " %.6g" : " ?", fmax(v, p->least / 10));
                }
                lra_text_add(t, "\n");
            }
            lra_text_add(t, "\n\n");
        }
}

/* ---- script -------------------------------------------------------------------------------------------------- */

static void add_panel(lra_plot *f, const plot *p, int i, bool lowest, bool first)
{
    lra_text *t = &f->script;
    lra_plot_say(t, "set label ", p->all.panel[i].name, " at graph 0, graph 1.1 left\n");
    lra_text_add(t, "set format y '%s'\nset format x '%s'\n", first ? "%g" : "",
                 lowest ? "%g" : "");
    lra_text_add(t,
                 "plot '%s' index %d using 1:2:4 with filledcurves fc rgb '%s' fs solid, \\\n"
                 "     '' index %d using 1:2 with lines lc rgb '%s' lw 1.2 dt (2,3), \\\n"
                 "     '' index %d using 1:4 with lines lc rgb '%s' lw 1.2 dt (2,3), \\\n"
                 "     '' index %d using 1:3 with lines lc rgb '%s' lw 2.5 dt (6,3), \\\n"
                 "     '' index %d using 1:3 with lines lc rgb '%s' lw 3\n"
                 "unset label\n",
                 dat, 2 * i + 1, band, 2 * i, initial, 2 * i, initial, 2 * i, initial, 2 * i + 1,
                 trained);
}

static void add_axes(lra_text *t, const plot *p)
{
    if (p->falls)
        lra_text_add(t, "set logscale y\nset yrange [%g:1.3]\nset ytics 10\n",
                     pow(10, floor(log10(p->least * 0.999))));
    else
        lra_text_add(t, "set yrange [0:1.05]\nset ytics 0.5\n");
    lra_text_add(t, "set xrange [%g:%lld]\n", p->octaves ? 1. : 0., (long long)p->farthest);
    if (p->octaves)
        lra_text_add(t, "set logscale x 2\nset xtics %d\n", p->farthest > 1024 ? 16 : 4);
}

static void add_script(lra_plot *f, const plot *p)
{
    lra_text *t = &f->script;
    const lra_plot_entry key[] = {
        {"initial", LRA_LEGEND_LINE, initial, "(6,3)", 2.5, 0, 0},
        {"trained", LRA_LEGEND_LINE, trained, NULL, 3, 0, 0},
        {"initial, quartiles", LRA_LEGEND_LINE, initial, "(2,3)", 1.2, 0, 0},
        {"trained, quartiles", LRA_LEGEND_BOX, band, NULL, 0, 0, 0}};
    int across = p->all.n < ACROSS ? p->all.n : ACROSS, down = (p->all.n + across - 1) / across;
    double left = 1.8, high = 2.6, gap = 0.6, between = 0.35, bottom = 1.1;
    f->width = across > 2 ? LRA_PAGE_CM : LRA_COLUMN_CM;
    int rows = lra_plot_legend_rows(f, left, 4, key);
    double wide = (f->width - left - 0.25 - (across - 1) * between) / across;
    f->height = LRA_LINE_CM * (rows + 1.6) + down * (high + gap) + bottom;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, 4, key);
    top = bottom + down * (high + gap);
    lra_text_add(t, "set multiplot\n");
    add_axes(t, p);
    lra_plot_axis(f, 0.25, (bottom + top) / 2, "max |k| from there on");
    lra_plot_say(t, "set label ", "distance (tokens)", " at screen %.4g, screen %.4g center\n",
                 (left + (f->width - left) / 2) / f->width, 0.25 / f->height);
    for (int i = 0; i < p->all.n; i++) {
        int row = i / across, column = i % across;
        double x = left + column * (wide + between), y = top - gap - row * (high + gap);
        lra_plot_box(f, x, x + wide, y - high, y);
        add_panel(f, p, i, i + across >= p->all.n, column == 0);
    }
    lra_text_add(t, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot p;
    int rc = open_plot(&p, in, e);
    if (rc == 0) {
        f->title = lra_format("Decay of kernels: %s", p.all.title);
        lra_kernel_panels_sources(&p.all, f);
        add_data(&f->data, &p);
        add_script(f, &p);
    }
    lra_kernel_panels_close(&p.all);
    return rc;
}

const lra_report_figure lra_figure_decay = {
    "decay", "how kernels decay with distance, initial and trained", make, LRA_FROM_KERNELS};
