/* Figures as gnuplot draws them: a script and its data, for print at column width.  8 points
 * everywhere but for names beside lines and panels (7), and series that are told apart in grey, too
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

/* What a figure is made of.  Places are in centimetres from the left and from below. */
typedef struct {
    double width, height; /* of the layout (lra_plot_wide()) */
    char *title;          /* drawn above the figure, and in the metadata of its files */
    char *caption;    /* remarks for the text below the figure: in script, data and metadata, not
                         drawn; Nullable */
    lra_text sources; /* "run 0123456789abcdef, ...": hashes of configurations and data, one line */
    lra_text data, script;
} lra_plot;
void lra_plot_free(lra_plot *p); /* the texts */

/* What a user may ask of all figures; zeros and NULL: nothing. */
typedef struct {
    double width;      /* centimetres, in place of a column or a page */
    double points;     /* size of text, 8 */
    const char *title; /* in place of the figure's own; "none": none is drawn */
    bool grey;         /* no colours */
} lra_plot_options;
/* Of all figures that are made from here on. */
void lra_plot_use(const lra_plot_options *o);
/* The width to lay a figure out in that is made for `cm`, LRA_COLUMN_CM or LRA_PAGE_CM: its own
 * where the user gave one, over the size of text in units of 8 points. */
double lra_plot_wide(double cm);

/* A hash of what is drawn, with what it is of ("run", "data"); those that are there already are not
 * repeated. */
void lra_plot_source(lra_plot *p, const char *what, const char *hash);
/* Writes FOLDER/NAME.dat and FOLDER/NAME.gp, which draws NAME.pdf, .svg and .png by itself.  Fails
 * where a text holds a control character. */
int lra_plot_write(const lra_plot *p, const char *folder, const char *name, lra_err *e);

/* ---- texts of files: the only ways into script and data -------------------------------------- */

/* 'text' as gnuplot reads it: quotes doubled; in single quotes it expands nothing. */
void lra_plot_string(lra_text *t, const char *text);
/* `before`, the text as above, and what follows it: lra_plot_say(t, "set label ", name, " at
 * 0,%g\n", y). */
void lra_plot_say(lra_text *t, const char *before, const char *text, const char *after, ...)
    LRA_PRINTF(4, 5);
/* The name of a tick: the same, but % is printed as it stands. */
void lra_plot_tick(lra_text *t, const char *text, double at);
/* A line of the data file for people. */
void lra_plot_comment(lra_text *t, const char *fmt, ...) LRA_PRINTF(2, 3);

/* ---- style ----------------------------------------------------------------------------------- */

/* Dashes: black and white by turns, in halves of the line's width. */
#define LRA_DASH_DASHES "(8,4)"
#define LRA_DASH_DOTS   "(2,3)"
#define LRA_DASH_CHANCE "(2,6)" /* of thin lines that lie behind */

/* Curves that are not ordered, and their points: full (measured), hollow (published). */
typedef struct {
    const char *color, *dash;
    int full, hollow;
} lra_plot_style;
extern const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES];
/* The i-th of n colours from light to dark, "#rrggbb"; n: 1 to LRA_PLOT_STYLES. */
const char *lra_plot_ramp(int i, int n);
/* The i-th of n curves: one of the above, or, of what is ordered, solid with a colour of the
 * ramp. */
lra_plot_style lra_plot_series(int i, int n, bool ordered);
/* The i-th of n bars that stand side by side, from dark to light, or by the ramp.  Bars have a dark
 * edge (LRA_PLOT_EDGE), since the lightest are hardly seen on white. */
const char *lra_plot_fill(int i, int n, bool ordered);
#define LRA_PLOT_EDGE "fs solid border lc rgb '#333333'"

/* Of images whose values go from 0 (white) to 1 (dark), also in grey. */
#define LRA_PLOT_SHADES                                                                            \
    "unset colorbox\nset cbrange [0:1]\nset palette defined (0 '#ffffff', 0.2 "                    \
    "'#c7e9b4', 0.4 '#7fcdbb', 0.6 '#1d91c0', 0.8 '#225ea8', 1 '#081d58')\n"

/* Lines of text are so far apart. */
#define LRA_LINE_CM 0.36
/* A bar of the shades above around (x,y), from white to dark, between two words. */
void lra_plot_shade_bar(lra_plot *p, double x, double y, const char *least, const char *most);
/* Starts the script, with the title above everything, in one line or two; returns how high the
 * space below it ends. */
double lra_plot_start(lra_plot *p);
/* About how many centimetres a text of 8 points takes. */
double lra_plot_width(const char *text);
/* The text, with ".." in its middle where it would be wider than that; the caller frees it. */
char *lra_plot_fit(const char *text, double cm, double points);
/* Where the next panel of a multiplot stands. */
void lra_plot_box(lra_plot *p, double left, double right, double bottom, double top);
/* The name of a vertical axis, turned, around that height. */
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
/* Rows that n entries need between x and the right edge, in as many columns as fit. */
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

/* A number of a data file after a space; "?" where there is none. */
void lra_plot_number(lra_text *t, double x);
/* Moves the ends of an axis apart by a share of what lies between them, and those of a single value
 * so far that gnuplot sees two numbers. */
void lra_plot_widen(double *lo, double *hi, double share);
/* Ticks a round number apart: two to five of them. */
double lra_plot_step(double range);

#endif
