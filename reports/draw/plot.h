/* Figures as gnuplot draws them: a script and its data, for print at column width.  Text has 8
 * points, names next to lines and panels have 7; series are distinguishable in grey, too
 * (plot_style.c). */
#ifndef LRA_REPORTS_DRAW_PLOT_H
#define LRA_REPORTS_DRAW_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/mem.h"

/* Centimetres: a column and a page of two columns. */
#define LRA_COLUMN_CM 8.5
#define LRA_PAGE_CM   17.8
enum { LRA_PLOT_STYLES = 6, LRA_PNG_DPI = 300 };

/* Contents of a figure.  Coordinates are in centimetres from the left and the lower edge. */
typedef struct {
    double width, height; /* of the layout (lra_plot_wide()) */
    char *title;          /* drawn above the figure, and in the metadata of its files */
    char *caption;    /* remarks for the text below the figure: in script, data and metadata, not
                         drawn; Nullable */
    lra_text sources; /* "run 0123456789abcdef, ...": hashes of configurations and data, one line */
    lra_text data, script;
} lra_plot;
void lra_plot_free(lra_plot *p); /* the texts */

/* User options for all figures; zeros and NULL: defaults. */
typedef struct {
    double width;      /* centimetres, in place of a column or a page */
    double points;     /* size of text, 8 */
    const char *title; /* in place of the figure's own; "none": none is drawn */
    bool grey;         /* no colours */
} lra_plot_options;
/* Sets the options of all figures that are made after this call. */
void lra_plot_use(const lra_plot_options *o);
/* Returns the layout width of a figure with the default width `cm` (LRA_COLUMN_CM or LRA_PAGE_CM):
 * the user's width, if given, else `cm`, divided by (text size / 8 points). */
double lra_plot_wide(double cm);

/* Adds the hash of a source; what: its kind ("run", "data").  A hash that is already listed is not
 * added again. */
void lra_plot_source(lra_plot *p, const char *what, const char *hash);
/* Writes FOLDER/NAME.dat and FOLDER/NAME.gp, which draws NAME.pdf, .svg and .png by itself.  Fails
 * where a text holds a control character. */
int lra_plot_write(const lra_plot *p, const char *folder, const char *name, lra_err *e);

/* ---- texts of files: the only ways into script and data -------------------------------------- */

/* 'text' as gnuplot reads it: quotes doubled; in single quotes it expands nothing. */
void lra_plot_string(lra_text *t, const char *text);
/* Appends `before`, the quoted text as above, and `after`, a printf format: lra_plot_say(t, "set
 * label ", name, " at 0,%g\n", y). */
void lra_plot_say(lra_text *t, const char *before, const char *text, const char *after, ...)
    LRA_PRINTF(4, 5);
/* Label of a tick: the same, but % is printed literally. */
void lra_plot_tick(lra_text *t, const char *text, double at);
/* Appends a comment line to the data file. */
void lra_plot_comment(lra_text *t, const char *fmt, ...) LRA_PRINTF(2, 3);

/* ---- style ----------------------------------------------------------------------------------- */

/* Dash patterns: lengths of alternating dashes and gaps, in units of half of the line width. */
#define LRA_DASH_DASHES "(8,4)"
#define LRA_DASH_DOTS   "(2,3)"
#define LRA_DASH_CHANCE "(2,6)" /* of thin lines in the background */

/* Styles of unordered curves and their points: full (measured), hollow (published). */
typedef struct {
    const char *color, *dash;
    int full, hollow;
} lra_plot_style;
extern const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES];
/* The i-th of n colours from light to dark, "#rrggbb"; n: 1 to LRA_PLOT_STYLES. */
const char *lra_plot_ramp(int i, int n);
/* Style of the i-th of n curves: one of the above, or, if the series are ordered, solid with a
 * colour of the ramp. */
lra_plot_style lra_plot_series(int i, int n, bool ordered);
/* Fill colour of the i-th of n adjacent bars, from dark to light, or (ordered) from the ramp.  Bars
 * have a dark edge (LRA_PLOT_EDGE), since the lightest are hardly seen on white. */
const char *lra_plot_fill(int i, int n, bool ordered);
#define LRA_PLOT_EDGE "fs solid border lc rgb '#333333'"

/* Colour map of images with values from 0 (white) to 1 (dark); also readable in grey. */
#define LRA_PLOT_SHADES                                                                            \
    "unset colorbox\nset cbrange [0:1]\nset palette defined (0 '#ffffff', 0.2 "                    \
    "'#c7e9b4', 0.4 '#7fcdbb', 0.6 '#1d91c0', 0.8 '#225ea8', 1 '#081d58')\n"

/* Distance between lines of text. */
#define LRA_LINE_CM 0.36
/* A bar of the shades above around (x,y), from white to dark, between two words. */
void lra_plot_shade_bar(lra_plot *p, double x, double y, const char *least, const char *most);
/* Starts the script, with the title above everything, in one line or two; returns how high the
 * space below it ends. */
double lra_plot_start(lra_plot *p);
/* Estimated width of a text of 8 points, in centimetres. */
double lra_plot_width(const char *text);
/* Returns the text, shortened with ".." in its middle if it is wider than `cm`; the caller frees
 * it. */
char *lra_plot_fit(const char *text, double cm, double points);
/* Sets the margins of the next panel of a multiplot. */
void lra_plot_box(lra_plot *p, double left, double right, double bottom, double top);
/* Label of a vertical axis, rotated, centred at height y. */
void lra_plot_axis(lra_plot *p, double x, double y, const char *name);
/* An entry of a legend.  Legends are drawn here because gnuplot's own breaks its columns in PDF
 * where it guesses the width of their texts. */
typedef enum {
    LRA_LEGEND_BOX,
    LRA_LEGEND_BAR, /* with the edge of bars */
    LRA_LEGEND_BAND,
    LRA_LEGEND_INTERVAL,
    LRA_LEGEND_LINE
} lra_legend_kind;
typedef struct {
    char text[160];
    lra_legend_kind kind;
    const char *color, *dash; /* dash NULL: solid */
    double line;              /* width; 0: none */
    int point;                /* a point type on the line; 0: none */
    double size;              /* of the point */
} lra_plot_entry;
enum { LRA_PLOT_ENTRIES = 16 };
/* Number of rows that n entries need between x and the right edge, with the largest number of
 * columns that fits. */
int lra_plot_legend_rows(const lra_plot *p, double x, int n, const lra_plot_entry *entry);
/* Draws them from the upper left corner on, column by column; the caller unsets labels, arrows and
 * objects before the next panel. */
void lra_plot_legend(lra_plot *p, double x, double y, int n, const lra_plot_entry *entry);

/* A horizontal line through a panel with its name at the left end, above it or where there is
 * space; "": the legend names it. */
typedef struct {
    double y;
    const char *dash; /* NULL: solid */
    const char *name;
} lra_plot_line;
/* Sorts the lines by y.  y0, y1: range of the panel. */
void lra_plot_lines(lra_text *t, int n, lra_plot_line *line, double x0, double y0, double y1);

/* Appends a space and a number to a data file; "?" if it is NaN. */
void lra_plot_number(lra_text *t, double x);
/* Widens the range of an axis by a share of its length; an empty range is widened until gnuplot can
 * tell its ends apart. */
void lra_plot_widen(double *lo, double *hi, double share);
/* Ticks a round number apart: two to five of them. */
double lra_plot_step(double range);

#endif
