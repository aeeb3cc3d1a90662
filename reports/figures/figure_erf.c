/* Figure erf: effective receptive field of the middle position, as in computer vision. For images:
 * a map (colour: square-root scale from 0 to the maximum), with squares that contain 20, 50 and 99
 * % of the squared gradient. For sequences: the share of each offset, with the radii that contain
 * 50 and 99 %. One panel per model, for its first seed.
 * Source: Luo et al. 2016, Ding et al. 2022; here, radii are computed from the shares, not from
 * their square roots. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "reports/draw/figure.h"
#include "reports/views/probe_view.h"
#include "reports/views/model_names.h"

enum { MOST_PANELS = 12 };

typedef struct {
    char *name;
    const lra_probe_unit *unit; /* unit field.px for images, else field */
    const lra_probe_array *erf;
    bool image;
    double end, most; /* sequences: end of the offset axis; largest share */
    bool past;        /* true for a causal model, on which later tokens have no influence */
} panel;

static double radius(const panel *p, int share)
{
    char *id = lra_format("erf.r%d%s", share, p->image ? ".px" : "");
    const lra_measurement *f = lra_probe_measurement(p->unit, id);
    lra_free(id);
    return f ? f->value : NAN;
}

/* Fills the panel of a cell; returns false if its run has no unit `field`. */
static bool find_panel(const lra_probe_cell *c, panel *p)
{
    const lra_probe_result *r = c->seed[0];
    const char *const unit[] = {"field.px", "field"};
    for (int k = 0; k < 2; k++) {
        *p = (panel){.unit = lra_probe_unit_find(r, unit[k]), .image = k == 0};
        p->erf = p->unit ? lra_probe_array_find(p->unit, "erf") : NULL;
        if (p->erf && p->erf->rank == (p->image ? 2 : 1)) return true;
    }
    return false;
}

static void add_image(lra_text *t, const panel *p)
{
    const lra_probe_array *a = p->erf;
    double most = 0;
    for (int64_t i = 0; i < a->dims[0] * a->dims[1]; i++) most = fmax(most, (double)a->value[i]);
    for (int64_t i = 0; i < a->dims[0] * a->dims[1]; i++)
        lra_text_add(t, "%.4f%s", most > 0 ? sqrt((double)a->value[i] / most) : 0,
                     (i + 1) % a->dims[1] ? " " : "\n");
}

/* True if all cells have the same task. */
static bool same_task(int n, const lra_probe_cell *c)
{
    for (int i = 1; i < n; i++)
        if (strcmp(c[i].seed[0]->task, c[0].seed[0]->task) != 0) return false;
    return true;
}

/* Adds the curve of offsets up to 1.3 times the radius that contains 99 %. */
static void add_curve(lra_text *t, panel *p)
{
    int64_t n = p->erf->dims[0], middle = n / 2;
    p->end = fmin(fmax(ceil(1.3 * radius(p, 99)), 4), (double)middle);
    double later = 0;
    for (int64_t i = middle + 1; i < n; i++)
        if (p->erf->value[i] > 0) later += (double)p->erf->value[i];
    p->past = later <= 1e-9;
    for (int64_t i = 0; i < n; i++)
        if (fabs((double)(i - middle)) <= p->end) {
            lra_text_add(t, "%lld", (long long)(i - middle));
            lra_text_add(t, isfinite(p->erf->value[i]) ? " %.6g\n" : " ?\n",
                         (double)p->erf->value[i]);
            p->most = fmax(p->most, (double)p->erf->value[i]);
        }
}

/* Line widths differ slightly, because gnuplot's SVG terminal merges lines that differ only in
 * dashes. */
static const lra_plot_entry key[] = {
    {"20 %", LRA_LEGEND_LINE, "#d55e00", "1", 1.6, 0, 0},
    {"50 %", LRA_LEGEND_LINE, "#d55e00", LRA_DASH_DASHES, 1.61, 0, 0},
    {"99 % of the squared gradient", LRA_LEGEND_LINE, "#d55e00", LRA_DASH_DOTS, 1.62, 0, 0}};

static void add_square(lra_text *t, const panel *p, int share, const lra_plot_entry *k)
{
    const lra_probe_array *middle = lra_probe_array_find(p->unit, "at");
    int64_t at = middle ? (int64_t)middle->value[0] : p->erf->dims[0] * p->erf->dims[1] / 2;
    double r = radius(p, share) + 0.5, y = (double)(at / p->erf->dims[1]),
           x = (double)(at % p->erf->dims[1]);
    if (isnan(r)) return;
    lra_text_add(t,
                 "set object rectangle from %g,%g to %g,%g fs empty border lc rgb '%s' lw %g "
                 "dt %s front\n",
                 x - r, y - r, x + r, y + r, k->color, k->line, k->dash);
}

static void add_panel(lra_text *t, const panel *p, int block, double width)
{
    char *name = lra_plot_fit(p->name, width, 7);
    lra_plot_add_quoted(t, "set label ", name, " at graph 0, graph 1.07 left font ',7'\n");
    lra_free(name);
    if (!p->image && p->past)
        lra_text_add(t, "set label 'causal' at graph 0.02, graph 0.94 left font ',7' textcolor rgb "
                        "'#555555'\n");
    if (p->image) {
        add_square(t, p, 20, &key[0]);
        add_square(t, p, 50, &key[1]);
        add_square(t, p, 99, &key[2]);
        lra_text_add(
            t,
            "set size ratio -1\nunset tics\nset border 15\nset xrange [-0.5:%g]\nset yrange "
            "[%g:-0.5]\nplot 'erf.dat' index %d matrix using 1:2:3 with image pixels\n",
            (double)p->erf->dims[1] - 0.5, (double)p->erf->dims[0] - 0.5, block);
    } else {
        for (int k = 0; k < 4; k++) {
            double r = radius(p, k < 2 ? 50 : 99) * (k % 2 ? 1 : -1);
            /* a causal model has no influence of later tokens */
            if (!isnan(r) && !(p->past && r > 0))
                lra_text_add(t,
                             "set arrow from %g, graph 0 to %g, graph 1 nohead lc rgb '%s' lw "
                             "%g dt %s back\n",
                             r, r, key[1 + k / 2].color, key[1 + k / 2].line, key[1 + k / 2].dash);
        }
        lra_text_add(
            t,
            "set size noratio\nset border 3\nset tics nomirror out scale 0.5\nset xtics %g\n"
            "set logscale y 10\nset ytics ('1' 1, '0.1' 0.1, '0.01' 0.01, '1e-3' 1e-3, "
            "'1e-4' 1e-4)\nset xrange [%g:%g]\nset yrange [5e-5:1.4]\nplot 'erf.dat' index %d "
            "using 1:($2 > 5e-5 ? $2 : 5e-5) with histeps lc rgb '#000000' lw 1.8\n",
            lra_plot_step(2 * p->end), -p->end, p->past ? fmax(0.08 * p->end, 0.5) : p->end, block);
    }
    lra_text_add(t, "unset label\nunset arrow\nunset object\n");
}

static void add_script(lra_plot *f, int n, const panel *list)
{
    int columns = n < 3 ? n : 3, rows = (n + columns - 1) / columns;
    bool image = list[0].image; /* sequences: no legend entry for 20 %, whose radius is mostly 0 */
    double left = 1.75, right = f->width - 0.25, bottom = image ? 0.6 : 1.2,
           gap = image ? 0.5 : 1.25, above = image ? 0.75 : 1.2;
    double width = (right - left - gap * (columns - 1)) / columns, height = fmin(width, 4);
    if (image) width = height, left = 0.5 * (f->width - columns * (width + gap) + gap);
    f->height = bottom + rows * (height + above) - above + LRA_LINE_CM * 4;
    double top = lra_plot_start(f);
    lra_text_add(&f->script, "set multiplot\n" LRA_PLOT_SHADES);
    lra_plot_legend(f, 1.25, top, image ? 3 : 2, key + !image);
    top = bottom + rows * (height + above) - above;
    if (!image) {
        lra_plot_axis(f, 0.25, 0.5 * (bottom + top), "squared gradient (share of the sum)");
        lra_plot_add_quoted(&f->script, "set label ",
                            "offset from the middle position (tokens; < 0: earlier)",
                            " at screen %.4g, screen %.4g center\n",
                            0.5 * (left + right) / f->width, 0.25 / f->height);
    } else {
        lra_plot_shade_bar(f, 0.5 * f->width - 0.9, 0.28, "gradient 0",
                           "maximum (square-root scale)");
    }
    for (int i = 0; i < n; i++) {
        double x = left + (i % columns) * (width + gap),
               y = top - height - (i / columns) * (height + above);
        lra_plot_box(f, x, x + width, y, y + height);
        add_panel(&f->script, &list[i], i, width);
    }
    lra_text_add(&f->script, "unset multiplot\n");
}

static int make(const lra_report_input *in, lra_plot *f, lra_err *e)
{
    lra_probe_cell *cells;
    panel list[MOST_PANELS];
    int n_cells = lra_probe_cells(in->n_probes, in->probes, &cells), n = 0, rc = 0;
    for (int i = 0; i < n_cells && rc == 0; i++) {
        panel p;
        if (!find_panel(&cells[i], &p)) continue;
        if (n == MOST_PANELS)
            rc = lra_fail(e, "one figure holds at most %d runs; name fewer on the command line",
                          MOST_PANELS);
        if (rc != 0) break;
        char *drawn = lra_probe_cells_drawn(1, &cells[i]);
        const lra_probe_result *r = cells[i].seed[0];
        char *model = lra_model_shown(cells[i].name, r->model, r->config);
        p.name = same_task(n_cells, cells) ? lra_format("%s%s", model, drawn)
                                           : lra_format("%s, %s%s", model, r->task, drawn);
        lra_free(model);
        lra_free(drawn);
        lra_plot_comment(&f->data, "%s: %s", p.name,
                         p.image ? "one line per row of pixels, square roots" : "offset, share");
        if (p.image)
            add_image(&f->data, &p);
        else
            add_curve(&f->data, &p);
        lra_text_add(&f->data, "\n\n");
        lra_plot_source(f, "run", cells[i].seed[0]->run);
        lra_plot_source(f, "data", cells[i].seed[0]->fingerprint);
        list[n++] = p;
    }
    if (rc == 0 && n == 0)
        rc = lra_fail(
            e, "no run has an effective receptive field; 'lra-probe influence RUN --parts field' "
               "measures it");
    if (rc == 0) {
        f->width = lra_plot_wide(n > (list[0].image ? 2 : 1) ? LRA_PAGE_CM : LRA_COLUMN_CM);
        f->title = lra_copy_text("Effective receptive field of the middle position");
        add_script(f, n, list);
    }
    for (int i = 0; i < n; i++) lra_free(list[i].name);
    lra_probe_cells_free(cells, n_cells);
    return rc;
}

const lra_report_figure lra_figure_erf = {
    "erf", "effective receptive field of the middle position, with its radii", make,
    LRA_FROM_INFLUENCE};
