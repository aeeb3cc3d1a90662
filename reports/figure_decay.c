/* Figure decay: how the kernels of layers decay with distance, initial and trained.  Each line is the median over channels
 * of the envelope, the largest |k| from a distance on over the largest of all; bands are quartiles over channels.
 * Straight lines are power laws; where distances are few, the axis is linear.
 * Of a scratch and a pretrained run: the figure that "Never Train from Scratch" (Amos et al. 2024) describes as learned
 * kernel decay. */
#include <math.h>

#include "kernels/base/mem.h"
#include "reports/kernel_panels.h"

enum { PANELS = 12, ACROSS = 4, POINTS = 200, FEW = 40 };
static const char dat[] = "decay.dat";
static const char initial[] = "#777777", initial_band[] = "#d9d9d9", trained[] = "#0072B2";

typedef struct {
    lra_kernel_panels all;
    bool octaves; /* of distance */
    double least; /* of the lines */
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
            for (int64_t d = 0; d < n; d++)
                if ((double)a->value[n + d] > 0) p->least = fmin(p->least, (double)a->value[n + d]);
        }
    p->octaves = p->farthest > FEW;
    p->least = fmax(p->least, 1e-6);
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

static void add_panel(lra_plot *f, const plot *p, int i, double left, double right, double bottom,
                      double top, bool lowest, bool first)
{
    lra_text *t = &f->script;
    lra_plot_box(f, left, right, bottom, top);
    lra_plot_say(t, "set label ", p->all.panel[i].name, " at graph 0, graph 1.09 left\n");
    lra_text_add(t, "set format y '%s'\nset format x '%s'\n", first ? "10^{%L}" : "",
                 lowest ? "%g" : "");
    lra_text_add(
        t,
        "plot '%s' index %d using 1:2:4 with filledcurves fc rgb '%s' fs solid, \\\n"
        "     '' index %d using 1:2:4 with filledcurves fc rgb '%s' fs transparent solid 0.3, \\\n"
        "     '' index %d using 1:3 with lines lc rgb '%s' lw 2.5 dt (6,3), \\\n"
        "     '' index %d using 1:3 with lines lc rgb '%s' lw 3\n"
        "unset label\nunset object\nunset arrow\n",
        dat, 2 * i, initial_band, 2 * i + 1, trained, 2 * i, initial, 2 * i + 1, trained);
}

static void add_script(lra_plot *f, const plot *p)
{
    lra_text *t = &f->script;
    const lra_plot_entry key[] = {
        {"initial, median of channels", LRA_LEGEND_LINE, initial, "(6,3)", 2.5, 0, 0},
        {"trained", LRA_LEGEND_LINE, trained, NULL, 3, 0, 0},
        {"initial, quartiles", LRA_LEGEND_BOX, initial_band, NULL, 0, 0, 0},
        {"trained, quartiles", LRA_LEGEND_BOX, "#b2d4e8", NULL, 0, 0, 0}};
    int across = p->all.n < ACROSS ? p->all.n : ACROSS, down = (p->all.n + across - 1) / across;
    double left = 1.5, high = 3, gap = 0.75, between = 0.35;
    f->width = across > 2 ? LRA_PAGE_CM : LRA_COLUMN_CM;
    int rows = lra_plot_legend_rows(f, left, 4, key);
    double wide = (f->width - left - 0.25 - (across - 1) * between) / across;
    f->height = 1.1 + LRA_LINE_CM * rows + 0.35 + down * (high + gap) + LRA_LINE_CM * 2;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, 4, key);
    top -= LRA_LINE_CM * rows + 0.35;
    lra_text_add(t, "set multiplot\nset logscale y\nset yrange [%g:1.5]\n",
                 pow(10, floor(log10(p->least * 0.999))));
    if (p->octaves) lra_text_add(t, "set logscale x 2\n");
    lra_text_add(t, "set xrange [%g:%lld]\nset ytics 10\n", p->octaves ? 1. : 0.,
                 (long long)p->farthest);
    if (p->octaves && p->farthest > 64)
        lra_text_add(t, "set xtics %d\n", p->farthest > 1024 ? 16 : 8);
    lra_plot_axis(f, 0.3, top - (down * (high + gap)) / 2, "max |k| from there on (relative)");
    lra_plot_say(t, "set label ", "distance (tokens)", " at screen 0.5, screen %.4g center\n",
                 0.3 / f->height);
    for (int i = 0; i < p->all.n; i++) {
        int row = i / across, column = i % across;
        double x = left + column * (wide + between), y = top - gap - row * (high + gap);
        add_panel(f, p, i, x, x + wide, y - high, y, i + across >= p->all.n, column == 0);
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
