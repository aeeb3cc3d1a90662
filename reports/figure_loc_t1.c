/* Figure loc-T1: the ladder as curves.  Above accuracy, below gain over chance, against total reach on a
 * logarithmic axis; bars are 95 % intervals; lines: chance, the best baseline that needs no order, the null
 * row K = 1.  One curve per ladder.
 * Source: Table 1 of "On the locality bias and results in the LRA", drawn as curves. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "reports/published.h"
#include "reports/report.h"

/* Okabe and Ito's colours, dark ones first; dash and point type tell them apart in grey. */
static const char *const color[] = {"#0072B2", "#D55E00", "#009E73",
                                    "#CC79A7", "#E69F00", "#56B4E9"};
static const int point[] = {7, 5, 9, 11, 13, 15}, hollow[] = {6, 4, 8, 10, 12, 14};
enum { MOST_CURVES = 6 };

static bool is_paper(const lra_ladder_view *v)
{
    return strcmp(v->first->preset, "paper") == 0;
}

/* The printed accuracy of a rung of the `paper` preset as a fraction, else NAN. */
static double published(const lra_ladder_view *v, int r)
{
    char variant[32];
    snprintf(variant, sizeof variant, "kernel=%" PRId64, v->ladder.row[r].kernel);
    if (!is_paper(v)) return NAN;
    return lra_published("locality", "1", "resconv", variant, v->first->task, "accuracy") / 100;
}

/* One block per ladder: reach, kernel, accuracy lo hi, gain lo hi, published accuracy and gain ("?": none);
 * the null row is no part of a curve. */
static void add_data(lra_text *t, const lra_ladder_view *v)
{
    lra_text_add(
        t, "# %s %s %s, run %s\n# reach kernel accuracy lo hi gain lo hi published its-gain\n",
        v->first->task, v->first->preset, v->first->precision, v->first->run);
    for (int r = 0; r < v->ladder.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        if (row->null_row) continue;
        lra_text_add(t, "%" PRId64 " %" PRId64 " %.6f %.6f %.6f %.6f %.6f %.6f", row->reach,
                     row->kernel, 100 * row->accuracy.value, 100 * row->accuracy.lo,
                     100 * row->accuracy.hi, row->gain.value, row->gain.lo, row->gain.hi);
        double p = published(v, r), span = v->ladder.reference - v->data.chance;
        if (isnan(p))
            lra_text_add(t, " ? ?\n");
        else
            lra_text_add(t, " %.6f %.6f\n", 100 * p, (p - v->data.chance) / span);
    }
    lra_text_add(t, "\n\n");
}

/* A horizontal line with its name at the left end, just above it. */
static void add_line(lra_text *t, int tag, double x0, double x1, double y, int dash,
                     const char *name)
{
    lra_text_add(t, "set arrow %d from %g,%g to %g,%g nohead lw 1 dt %d lc rgb '#666666'\n", tag,
                 x0, y, x1, y, dash);
    lra_text_add(
        t, "set label %d '%s' at %g,%g left offset 0,0.45 textcolor rgb '#555555' font ',7'\n", tag,
        name, x0 * 1.03, y);
}

/* Reaches as ticks; those closer than 0.35 octaves to the last one stay without a number. */
static void add_ticks(lra_text *t, const lra_ladder_view *v)
{
    double last = -1;
    lra_text_add(t, "set xtics (");
    for (int r = 0, n = 0; r < v->ladder.n_rungs; r++) {
        const lra_ladder_row *row = &v->ladder.row[r];
        if (row->null_row) continue;
        bool close = last > 0 && log2((double)row->reach / last) < 0.35;
        lra_text_add(t, close ? "%s'' %" PRId64 : "%s'%" PRId64 "' %" PRId64, n++ ? ", " : "",
                     row->reach, row->reach);
        if (!close) last = (double)row->reach;
    }
    lra_text_add(t, ")\n");
}

static void add_curves(lra_text *t, const lra_ladder_view *views, int n, const char *dat,
                       int column)
{
    lra_text_add(t, "plot ");
    for (int i = 0; i < n; i++) {
        const lra_result *r = views[i].first;
        lra_text_add(
            t,
            "%s'%s' index %d using 1:%d:%d:%d with yerrorlines lc rgb '%s' lw 1.6 dt %d pt "
            "%d ps 0.5 title '%s, %s, %s (%d seed%s)'",
            i ? ", \\\n     " : "", dat, i, column, column + 1, column + 2, color[i], i + 1,
            point[i], r->task, r->preset, r->precision, views[i].data.n_seeds,
            views[i].data.n_seeds == 1 ? "" : "s");
    }
    for (int i = 0; i < n; i++) /* hollow, a little larger than the measured points */
        if (is_paper(&views[i]))
            lra_text_add(t,
                         ", \\\n     '%s' index %d using 1:%d with points lc rgb '%s' lw 1.2 pt %d "
                         "ps 0.8 title '%s, published'",
                         dat, i, column == 3 ? 9 : 10, color[i], hollow[i], views[i].first->task);
    lra_text_add(t, "\n");
}

static double lowest(const lra_ladder_view *views, int n)
{
    double least = 1;
    for (int i = 0; i < n; i++) least = fmin(least, views[i].data.chance);
    return least;
}

static void add_script(lra_text *t, const lra_ladder_view *views, int n, const char *dat)
{
    double x0 = INFINITY, x1 = 0;
    for (int i = 0; i < n; i++) {
        x0 = fmin(x0, (double)views[i].ladder.first_reach);
        x1 = fmax(x1, (double)views[i].data.T);
    }
    x0 /= 1.25, x1 *= 1.25;
    lra_text_add(
        t, "set encoding utf8\nset datafile missing '?'\nset logscale x 2\nset xrange [%g:%g]\n",
        x0, x1);
    lra_text_add(
        t, "set border 3 lw 0.8\nset tics nomirror out scale 0.6 font ',8'\nset grid ytics lw 0.7 "
           "lc rgb '#cccccc' dt 1\nset bars 0.6\n");
    lra_text_add(t, "set lmargin 9\nset rmargin 1.5\n");
    add_ticks(t, &views[0]);
    lra_text_add(
        t, "set multiplot\n\nset size 1,0.6\nset origin 0,0.4\nset tmargin 2.2\nset bmargin 1.6\n");
    lra_text_add(t, "set format x ''\nset ylabel 'accuracy (%%)' offset 1.5,0 font ',9'\n");
    lra_text_add(
        t, "set yrange [%g:*]\nset key above right horizontal font ',8' samplen 2.5 spacing 1.1\n",
        floor(100 * lowest(views, n) / 5) * 5 - 1);
    const lra_ladder_view *v = &views[0];
    double baseline = lra_result_baseline_accuracy(v->first, "majority-by-operator");
    if (n == 1) {
        add_line(t, 1, x0, x1, 100 * v->data.chance, 3, "chance");
        if (baseline >= 0) add_line(t, 2, x0, x1, 100 * baseline, 4, "majority by operator");
        if (v->ladder.row[0].null_row)
            add_line(t, 3, x0, x1, 100 * v->ladder.row[0].accuracy.value, 2,
                     "K = 1, bag of tokens");
    }
    add_curves(t, views, n, dat, 3);
    lra_text_add(t, "\nunset arrow\nunset label\nunset key\nset size 1,0.4\nset origin 0,0\n"
                    "set tmargin 0.6\nset bmargin 3\nset format x '%%g'\n");
    add_ticks(t, &views[0]);
    lra_text_add(
        t, "set xlabel 'reach to each side (tokens)' offset 0,0.4 font ',9'\nset ylabel 'gain' "
           "offset 1.5,0 font ',9'\nset yrange [0:1.1<*]\nset ytics 0.25\n");
    add_line(t, 4, x0, x1, 1, 2, "");
    if (n == 1)
        lra_text_add(t,
                     "set label 5 'LI = %.3f (%.3f to %.3f)' at graph 0.97,0.16 right font ',8'\n",
                     v->ladder.li.value, v->ladder.li.lo, v->ladder.li.hi);
    add_curves(t, views, n, dat, 6);
    lra_text_add(t, "unset multiplot\n");
}

static int write_text(const char *folder, const char *name, const lra_text *t, lra_err *e)
{
    char *path = lra_format("%s/%s", folder, name);
    int rc = lra_file_write(path, t->s, t->n, e);
    lra_free(path);
    return rc;
}

static int write(const char *folder, const lra_report_input *in, lra_err *e)
{
    lra_ladder_view *views;
    int n_views = lra_ladder_views(in->list, in->n, &in->scale, &views, e);
    if (n_views < 0) return n_views;
    int rc = 0;
    if (n_views > MOST_CURVES)
        rc = lra_fail(e, "%d ladders, at most %d fit into one figure; name fewer results", n_views,
                      MOST_CURVES);
    lra_text data = {0}, script = {0};
    for (int i = 0; i < n_views && rc == 0; i++) add_data(&data, &views[i]);
    if (rc == 0) add_script(&script, views, n_views, "loc-T1.dat");
    if (rc == 0) rc = write_text(folder, "loc-T1.dat", &data, e);
    if (rc == 0) rc = write_text(folder, "loc-T1.gp", &script, e);
    lra_text_free(&data);
    lra_text_free(&script);
    lra_ladder_views_free(views, n_views);
    return rc;
}

const lra_report_figure lra_figure_loc_t1 = {
    "loc-T1", "accuracy and gain against reach, with intervals and baselines", write, 8.5, 9.5};
