/* Pieces of gnuplot scripts that figures share: one-column width, fonts of 7 to 9 points, colours that the
 * colour-blind tell apart, dashes and points that tell curves apart in grey. */
#ifndef LRA_REPORTS_PLOT_H
#define LRA_REPORTS_PLOT_H

#include "kernels/base/mem.h"

enum { LRA_PLOT_STYLES = 6 };

/* Okabe and Ito's colours, dark ones first, and the points of a curve: full (measured), hollow (published). */
typedef struct {
    const char *color, *dash;
    int full, hollow;
} lra_plot_style;
extern const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES];

/* Encoding, borders, grid, fonts of the ticks. */
void lra_plot_start(lra_text *t);

/* One line above everything; quotes in it are doubled. */
void lra_plot_title(lra_text *t, const char *title);

/* Where the next panel of a multiplot stands, in shares of the picture from the left and from below. */
void lra_plot_box(lra_text *t, double left, double right, double bottom, double top);
/* The next panel over the whole width between two heights (shares of the picture, from below), and the name of its
 * vertical axis: the same place in every panel, however wide the numbers are. */
void lra_plot_panel(lra_text *t, double bottom, double top, const char *name);

/* A horizontal line through a panel with its name at the left end, above it or where there is space; "": the
 * legend names it. */
typedef struct {
    double y;
    int dash;
    const char *name;
} lra_plot_line;
/* Sorts the lines by y.  y0, y1: range of the panel. */
void lra_plot_lines(lra_text *t, int n, lra_plot_line *line, double x0, double y0, double y1);

/* A number of a data file after a space; "?" where there is none. */
void lra_plot_number(lra_text *t, double x);
/* Writes FOLDER/NAME.dat and FOLDER/NAME.gp. */
int lra_plot_write(const char *folder, const char *name, const lra_text *data,
                   const lra_text *script, lra_err *e);

#endif
