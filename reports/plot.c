/* Pieces of gnuplot scripts. */
#include "reports/plot.h"

#include <math.h>
#include <stdlib.h>

#include "kernels/base/file.h"

const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES] = {
    {"#0072B2", "1", 7, 6},           {"#D55E00", "(6,2)", 5, 4},   {"#009E73", "(2,2)", 9, 8},
    {"#CC79A7", "(7,2,2,2)", 11, 10}, {"#E69F00", "(4,2)", 13, 12}, {"#56B4E9", "(1,1)", 15, 14}};

void lra_plot_start(lra_text *t)
{
    lra_text_add(t, "set encoding utf8\nset datafile missing '?'\nset border 3 lw 0.8\n"
                    "set tics nomirror out scale 0.6 font ',8'\n"
                    "set grid ytics lt 1 lw 0.6 lc rgb '#dddddd'\n"
                    "set style fill transparent solid 0.2 noborder\n");
}

void lra_plot_title(lra_text *t, const char *title)
{
    lra_text_add(t, "set label '");
    for (const char *at = title; *at; at++) lra_text_add(t, *at == '\'' ? "''" : "%c", *at);
    lra_text_add(t, "' at screen 0.5, screen 1 center offset 0,-0.55 font ',9' noenhanced\n");
}

void lra_plot_box(lra_text *t, double left, double right, double bottom, double top)
{
    lra_text_add(t,
                 "\nset lmargin at screen %g\nset rmargin at screen %g\n"
                 "set bmargin at screen %g\nset tmargin at screen %g\n",
                 left, right, bottom, top);
}

void lra_plot_panel(lra_text *t, double bottom, double top, const char *name)
{
    lra_plot_box(t, 0.15, 0.975, bottom, top);
    lra_text_add(t, "set label '%s' at screen 0.03, screen %g center rotate font ',9'\n", name,
                 (bottom + top) / 2);
}

static int by_height(const void *a, const void *b)
{
    double x = ((const lra_plot_line *)a)->y, y = ((const lra_plot_line *)b)->y;
    return (x > y) - (x < y);
}

void lra_plot_lines(lra_text *t, int n, lra_plot_line *line, double x0, double y0, double y1)
{
    enum { ABOVE, BELOW, RIGHT };
    double text_height = 0.07 * (y1 - y0);
    int before = BELOW;
    qsort(line, (size_t)n, sizeof *line, by_height);
    for (int i = 0; i < n; i++) {
        bool free_above = i + 1 == n || line[i + 1].y - line[i].y > text_height;
        double below = line[i].y - (i ? line[i - 1].y : y0);
        bool free_below = below > (before == ABOVE ? 2 : 1) * text_height;
        int place = free_above ? ABOVE : free_below ? BELOW : RIGHT;
        /* Widths differ: gnuplot's SVG joins lines that differ in dashes alone. */
        lra_text_add(t,
                     "set arrow from graph 0, first %g to graph 1, first %g nohead lw %g dt %d "
                     "lc rgb '#666666' back\n",
                     line[i].y, line[i].y, 1 + 0.01 * i, line[i].dash);
        if (!*line[i].name) continue;
        if (place == RIGHT)
            lra_text_add(t, "set label '%s' at graph 0.99, first %g right", line[i].name,
                         line[i].y);
        else
            lra_text_add(t, "set label '%s' at %g, %g left", line[i].name, x0 * 1.03, line[i].y);
        lra_text_add(t, " offset 0,%s textcolor rgb '#555555' font ',7' noenhanced\n",
                     place == BELOW ? "-0.5" : "0.45");
        before = place;
    }
}

void lra_plot_number(lra_text *t, double x)
{
    if (isfinite(x))
        lra_text_add(t, " %.6f", x);
    else
        lra_text_add(t, " ?");
}

static int write_text(const char *folder, const char *name, const char *ending, const lra_text *t,
                      lra_err *e)
{
    char *path = lra_format("%s/%s.%s", folder, name, ending);
    int rc = lra_file_write(path, t->s, t->n, e);
    lra_free(path);
    return rc;
}

int lra_plot_write(const char *folder, const char *name, const lra_text *data,
                   const lra_text *script, lra_err *e)
{
    int rc = write_text(folder, name, "dat", data, e);
    return rc == 0 ? write_text(folder, name, "gp", script, e) : rc;
}
