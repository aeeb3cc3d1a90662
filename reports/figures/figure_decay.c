/* Figure decay: how the kernels of layers decay with distance, at initialisation and after
 * training. A line is the median over channels of the envelope: the largest |k| at this or a larger
 * distance, divided by the largest |k| of the channel. Bands are quartiles. Figure spt-kern
 * compares kernels before and after pretraining. */
#include "kernels/base/core/mem.h"
#include "reports/views/kernel_decay.h"
#include "reports/views/kernel_panels.h"

static const char dat[] = "decay.dat";
static const char initial[] = "#333333", band[] = "#b2d4e8", trained[] = "#3C8FC4";

typedef struct {
    lra_kernel_panels all;
    lra_decay_axes axes;
} plot;

static int open_plot(plot *p, const lra_report_input *in, lra_err *e)
{
    *p = (plot){.axes.least = 1};
    if (lra_kernel_panels_open(&p->all, in, LRA_DECAY_PANELS, e) != 0) return LRA_FAILED;
    for (int i = 0; i < p->all.n; i++)
        for (int s = 0; s < 2; s++) {
            const lra_probe_array *a = lra_decay_envelope(p->all.panel[i].unit, s);
            if (!a)
                return lra_fail(e, "'%s' has no quartiles of the kernel envelope",
                                p->all.panel[i].name);
            lra_decay_axes_hold(&p->axes, a);
        }
    lra_decay_axes_set(&p->axes);
    return 0;
}

static void add_data(lra_text *t, const plot *p)
{
    for (int i = 0; i < p->all.n; i++)
        for (int s = 0; s < 2; s++) {
            lra_plot_comment(t, "%s, %s", p->all.panel[i].name,
                             s ? "after training" : "at initialisation");
            lra_decay_add_block(t, &p->axes, lra_decay_envelope(p->all.panel[i].unit, s));
        }
}

/* ---- script ---------------------------------------------------------------------------------- */

static const lra_plot_entry key[] = {
    {"at initialisation, median", LRA_LEGEND_LINE, initial, LRA_DASH_DASHES, 2, 0, 0},
    {"after training, median", LRA_LEGEND_LINE, trained, NULL, 3, 0, 0},
    {"at initialisation, quartiles", LRA_LEGEND_LINE, initial, LRA_DASH_DOTS, 1.2, 0, 0},
    {"after training, quartiles", LRA_LEGEND_BOX, band, NULL, 0, 0, 0}};

/* Draws the dashed line of the initial kernels last, so that coinciding lines remain visible. */
static void add_panel(lra_text *t, int i)
{
    lra_text_add(
        t,
        "'%s' index %d using 1:2:4 with filledcurves fc rgb '%s' fs solid, \\\n"
        "     '' index %d using 1:2 with lines lc rgb '%s' lw 1.2 dt " LRA_DASH_DOTS ", \\\n"
        "     '' index %d using 1:4 with lines lc rgb '%s' lw 1.2 dt " LRA_DASH_DOTS ", \\\n"
        "     '' index %d using 1:3 with lines lc rgb '%s' lw 3, \\\n"
        "     '' index %d using 1:3 with lines lc rgb '%s' lw 2 dt " LRA_DASH_DASHES,
        dat, 2 * i + 1, band, 2 * i, initial, 2 * i, initial, 2 * i + 1, trained, 2 * i, initial);
}

static void add_script(lra_plot *f, const plot *p)
{
    lra_decay_figure d = {
        .axes = &p->axes, .n = p->all.n, .n_key = 4, .key = key, .panel = add_panel};
    for (int i = 0; i < p->all.n; i++) {
        const lra_probe_unit *u = p->all.panel[i].unit;
        d.name[i] = p->all.panel[i].name;
        d.empty[i] = lra_decay_empty(&p->axes, lra_decay_envelope(u, false),
                                     lra_decay_envelope(u, true));
    }
    lra_decay_add_script(f, &d);
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    plot p;
    int rc = open_plot(&p, in, e);
    if (rc == 0) {
        f->title = lra_format("Decay of convolution kernels: %s", p.all.title);
        lra_kernel_panels_sources(&p.all, f);
        add_data(&f->data, &p);
        add_script(f, &p);
    }
    lra_kernel_panels_close(&p.all);
    return rc;
}

const lra_report_figure lra_figure_decay = {
    "decay", "magnitude of convolution kernels by distance, at initialisation and after training",
    make, LRA_FROM_KERNELS};
