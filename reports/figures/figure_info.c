/* Figure info: mutual information between tokens by distance, for each data set: bits in excess of
 * the part that positions alone explain, with 95 % intervals. A power law is a straight line. If an
 * interval includes 0, or the value is below 0.0001 bits, a hollow triangle marks the upper end of
 * the interval.
 * Source: the definition is from this project (analysis/pair_information.h). */
#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"
#include "reports/report.h"

enum { MOST = LRA_PLOT_STYLES };
static const char dat[] = "info.dat";
static const double least_bits = 1e-4;

typedef struct {
    const lra_report_input *in;
    double least, most, farthest;
    double floor; /* lower end of the axis of bits */
    bool any_bound;
} plot;

static const lra_probe_array *curve(const lra_probe_result *r, const char *name)
{
    const lra_probe_unit *u = lra_probe_unit_find(r, "data");
    const lra_probe_array *a = u ? lra_probe_array_find(u, name) : NULL;
    return a && a->rank == 1 ? a : NULL;
}

/* True if point k is drawn as a value: its interval lies entirely above 0. */
static bool is_sure(const lra_probe_array *x, const lra_probe_array *lo, int64_t k)
{
    return (double)x->value[k] > least_bits && lo->value[k] > 0;
}

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    static const char *const name[] = {"distance", "excess", "excess.lo", "excess.hi"};
    *p = (plot){.in = in, .least = 1, .most = least_bits, .farthest = 2};
    if (in->n_probes > MOST)
        return lra_fail(e,
                        "%d data sets, one figure holds at most %d; name fewer on the command line",
                        in->n_probes, MOST);
    for (int i = 0; i < in->n_probes; i++) {
        const lra_probe_array *d = curve(in->probes[i], "distance"),
                              *x = curve(in->probes[i], "excess");
        for (int k = 0; k < 4; k++) {
            const lra_probe_array *a = curve(in->probes[i], name[k]);
            if (!a || !d || a->dims[0] != d->dims[0])
                return lra_fail(e, "the file of task '%s' has no array '%s'", in->probes[i]->task,
                                name[k]);
        }
        for (int64_t k = 0; k < d->dims[0]; k++) {
            if (is_sure(x, curve(in->probes[i], "excess.lo"), k))
                p->farthest = fmax(p->farthest, (double)d->value[k]);
            p->most = fmax(p->most, (double)x->value[k]);
            if (is_sure(x, curve(in->probes[i], "excess.lo"), k)) {
                p->least = fmin(p->least, (double)x->value[k]);
                p->most = fmax(p->most, (double)curve(in->probes[i], "excess.hi")->value[k]);
            }
        }
    }
    for (int i = 0; i < in->n_probes; i++)
        for (int64_t k = 0; k < curve(in->probes[i], "distance")->dims[0]; k++)
            p->any_bound =
                p->any_bound ||
                ((double)curve(in->probes[i], "distance")->value[k] <= 1.1 * p->farthest &&
                 isfinite(curve(in->probes[i], "excess.hi")->value[k]) &&
                 !is_sure(curve(in->probes[i], "excess"), curve(in->probes[i], "excess.lo"), k));
    p->floor = pow(10, floor(log10(p->least)));
    return 0;
}

/* Adds one data block for each data set. An empty line interrupts the curve where an interval
 * includes 0. */
static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->in->n_probes; i++) {
        const lra_probe_result *r = p->in->probes[i];
        const lra_probe_array *d = curve(r, "distance"), *x = curve(r, "excess"),
                              *lo = curve(r, "excess.lo"), *hi = curve(r, "excess.hi");
        bool open = false;
        lra_plot_comment(t, "%s, preset %s, data %s", r->task, r->preset, r->fingerprint);
        lra_plot_comment(t, "distance bits lo hi");
        for (int64_t k = 0; k < d->dims[0]; k++) {
            bool sure = is_sure(x, lo, k);
            if (sure)
                lra_text_add(t, "%.0f %.6g %.6g %.6g\n", (double)d->value[k], (double)x->value[k],
                             (double)lo->value[k], (double)hi->value[k]);
            else if (open)
                lra_text_add(t, "\n");
            open = sure;
        }
        if (!open) lra_text_add(t, "? ? ? ?\n"); /* two empty lines would end the block */
        lra_text_add(t, "\n\n");
    }
}

/* Adds data blocks after those of the curves: distance and upper end of the intervals that include
 * 0. */
static void add_bounds(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->in->n_probes; i++) {
        const lra_probe_result *r = p->in->probes[i];
        const lra_probe_array *d = curve(r, "distance"), *x = curve(r, "excess"),
                              *lo = curve(r, "excess.lo"), *hi = curve(r, "excess.hi");
        int n = 0;
        lra_plot_comment(t, "%s: distance, upper bound of intervals that include 0", r->task);
        for (int64_t k = 0; k < d->dims[0]; k++)
            if (!is_sure(x, lo, k) && (double)d->value[k] <= 1.1 * p->farthest &&
                isfinite(hi->value[k])) {
                double end = fmax((double)hi->value[k], p->floor);
                lra_text_add(t, "%.0f %.6g\n", (double)d->value[k], end);
                n++;
            }
        if (n == 0) lra_text_add(t, "? ?\n");
        lra_text_add(t, "\n\n");
    }
}

static void add_curves(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->in->n_probes; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        lra_text_add(
            t,
            "%s'%s' index %d using 1:3:(0):($4-$3) with vectors nohead lc rgb '%s' lw 1.2, \\\n"
            "     '' index %d using 1:2 with lines lc rgb '%s' lw 2 dt %s, \\\n"
            "     '' index %d using 1:2 with points lc rgb '%s' pt %d ps 0.55, \\\n"
            "     '' index %d using 1:2 with points lc rgb '%s' pt 10 ps 0.6 lw 1",
            i ? ", \\\n     " : "plot ", dat, i, s->color, i, s->color, s->dash, i, s->color,
            s->full, p->in->n_probes + i, s->color);
    }
    lra_text_add(t, "\n");
}

static void add_script(lra_plot *f, const plot *p)
{
    lra_text *t = &f->script;
    lra_plot_entry key[MOST + 1];
    int n = p->in->n_probes;
    for (int i = 0; i < n; i++) {
        const lra_plot_style *s = &lra_plot_styles[i];
        key[i] = (lra_plot_entry){.kind = LRA_LEGEND_LINE,
                                  .color = s->color,
                                  .dash = s->dash,
                                  .line = 2,
                                  .point = s->full,
                                  .size = 0.5};
        snprintf(key[i].text, sizeof key[i].text, "%s %s", p->in->probes[i]->task,
                 p->in->probes[i]->preset);
    }
    if (p->any_bound)
        key[n++] = (lra_plot_entry){.text = "upper bound, interval includes 0",
                                    .kind = LRA_LEGEND_LINE,
                                    .color = "#333333",
                                    .point = 10,
                                    .size = 0.6};
    double left = 1.75, bottom = 1.1;
    f->width = lra_plot_wide(LRA_COLUMN_CM);
    int rows = lra_plot_legend_rows(f, left, n, key);
    f->height = 6.2 + LRA_LINE_CM * rows;
    double top = lra_plot_start(f);
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + 0.3;
    lra_plot_box(f, left, f->width - 0.3, bottom, top);
    lra_plot_axis(f, 0.25, (bottom + top) / 2, "excess information (bits)");
    lra_text_add(
        t,
        "set logscale x 2\nset logscale y 10\nset xrange [0.9:%g]\nset yrange [%g:%g]\nset "
        "format y '%%g'\n"
        "set xtics %d\nset ytics 10\nset xlabel 'distance (tokens)' offset 0,0.6\n",
        1.1 * p->farthest, p->floor, pow(10, ceil(log10(p->most))),
        p->farthest > 512  ? 8
        : p->farthest > 64 ? 4
                           : 2);
    add_curves(t, p);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot p;
    if (open_plot(&p, in, e) != 0) return LRA_FAILED;
    f->title = lra_copy_text("Mutual information of two tokens beyond their positions");
    for (int i = 0; i < in->n_probes; i++) lra_plot_source(f, "data", in->probes[i]->fingerprint);
    add_data(&f->data, &p);
    add_bounds(&f->data, &p);
    add_script(f, &p);
    return 0;
}

const lra_report_figure lra_figure_info = {
    "info", "mutual information of two tokens by their distance", make, LRA_FROM_INFORMATION};
