/* A figure for gnuplot: a script and its data, for print at column width. Text has 8 points; names
 * next to lines and panels have 7 points. Series are also distinguishable in grey
 * (plot_style.c). */
#ifndef LRA_REPORTS_DRAW_PLOT_H
#define LRA_REPORTS_DRAW_PLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/base/core/mem.h"

/* Widths in centimetres of a column, and of a page with two columns. */
#define LRA_COLUMN_CM 8.5
#define LRA_PAGE_CM   17.8
enum { LRA_PLOT_STYLES = 6, LRA_PNG_DPI = 300 };

/* Contents of a figure.  Coordinates are in centimetres from the left and the lower edge. */
typedef struct {
    double width, height; /* size of the layout in cm (lra_plot_wide()) */
    char *title;          /* title, drawn above the figure, and in the metadata of its files */
    /* remarks for the text below the figure: in script, data and metadata, not drawn. Nullable */
    char *caption;
    /* hashes of configurations and data in one line: "run 0123456789abcdef, ..." */
    lra_text sources;
    lra_text data, script;
} lra_plot;
void lra_plot_free(lra_plot *p); /* Frees the texts. */

/* User options for all figures; 0 and NULL select the defaults. */
typedef struct {
    double width;      /* width in cm; default: a column or a page, depending on the figure */
    double points;     /* text size in points; default: 8 */
    const char *title; /* title in place of the figure's own; "none": no title */
    bool grey;         /* true: no colours */
} lra_plot_options;
/* Sets the options of all figures that are made after this call. */
void lra_plot_use(const lra_plot_options *o);
/* Returns the layout width of a figure whose default width is `cm` (LRA_COLUMN_CM or LRA_PAGE_CM):
 * the user's width, if given, else `cm`, divided by (text size / 8 points). */
double lra_plot_wide(double cm);

/* Adds the hash of a source. what: its kind ("run", "data"). A hash that is already listed is not
 * added again. */
void lra_plot_source(lra_plot *p, const char *what, const char *hash);
/* Writes FOLDER/NAME.dat and FOLDER/NAME.gp. The script alone draws NAME.pdf, .svg and .png. Fails
 * if a text contains a control character. */
int lra_plot_write(const lra_plot *p, const char *folder, const char *name, lra_err *e);

/* ---- texts of files: the only ways into script and data -------------------------------------- */

/* Appends a text as a gnuplot string in single quotes, in which gnuplot expands nothing; quotes are
 * doubled. */
void lra_plot_string(lra_text *t, const char *text);
/* Appends `before`, the text as by lra_plot_string(), and `after`, which is a printf format:
 * lra_plot_add_quoted(t, "set label ", name, " at 0,%g\n", y). */
void lra_plot_add_quoted(lra_text *t, const char *before, const char *text, const char *after, ...)
    LRA_PRINTF(4, 5);
/* Appends the label of a tick at position `at`; % is printed literally. */
void lra_plot_tick(lra_text *t, const char *text, double at);
/* Appends a comment line to the data file. */
void lra_plot_comment(lra_text *t, const char *fmt, ...) LRA_PRINTF(2, 3);

/* ---- style ----------------------------------------------------------------------------------- */

/* Dash patterns: lengths of alternating dashes and gaps, in units of half the line width. */
#define LRA_DASH_DASHES "(8,4)"
#define LRA_DASH_DOTS   "(2,3)"
#define LRA_DASH_CHANCE "(2,6)" /* for thin lines in the background, such as chance */

/* Styles of unordered curves and their points; full: point type of measured values, hollow: of
 * published values. */
typedef struct {
    const char *color, *dash;
    int full, hollow;
} lra_plot_style;
extern const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES];
/* Colour i of n from light to dark, "#rrggbb"; n is 1 to LRA_PLOT_STYLES. */
const char *lra_plot_ramp(int i, int n);
/* Style of curve i of n: one of lra_plot_styles, or, if the series are ordered, a solid line with a
 * colour of lra_plot_ramp(). */
lra_plot_style lra_plot_series(int i, int n, bool ordered);
/* Fill colour of bar i of n adjacent bars: from dark to light, or, if the bars are ordered, from
 * lra_plot_ramp(). Bars have a dark edge (LRA_PLOT_EDGE), because the lightest ones are hardly
 * visible on white. */
const char *lra_plot_fill(int i, int n, bool ordered);
#define LRA_PLOT_EDGE "fs solid border lc rgb '#333333'"

/* Colour map of images, from 0 (white) to 1 (dark); also readable in grey. */
#define LRA_PLOT_SHADES                                                                            \
    "unset colorbox\nset cbrange [0:1]\nset palette defined (0 '#ffffff', 0.2 "                    \
    "'#c7e9b4', 0.4 '#7fcdbb', 0.6 '#1d91c0', 0.8 '#225ea8', 1 '#081d58')\n"

/* Distance between lines of text in cm. */
#define LRA_LINE_CM 0.36
/* Draws a horizontal bar of LRA_PLOT_SHADES, centred at (x,y), from white to dark, between the
 * words `least` and `most`. */
void lra_plot_shade_bar(lra_plot *p, double x, double y, const char *least, const char *most);
/* Starts the script, with the title in one or two lines at the top. Returns the y coordinate in cm
 * at which the space below the title ends. */
double lra_plot_start(lra_plot *p);
/* Estimated width in cm of a text of 8 points. */
double lra_plot_width(const char *text);
/* Returns the text; if it is wider than `cm`, its middle is replaced by "..". The caller frees
 * it. */
char *lra_plot_fit(const char *text, double cm, double points);
/* Sets the margins of the next panel of a multiplot. */
void lra_plot_box(lra_plot *p, double left, double right, double bottom, double top);
/* Draws the label of a vertical axis, rotated and centred at height y. */
void lra_plot_axis(lra_plot *p, double x, double y, const char *name);
/* An entry of a legend. Legends are drawn by this code, because gnuplot's own legend misplaces its
 * columns in PDF, where it estimates the widths of their texts. */
typedef enum {
    LRA_LEGEND_BOX,
    LRA_LEGEND_BAR, /* box with the same outline as the bars of a bar chart */
    LRA_LEGEND_BAND,
    LRA_LEGEND_INTERVAL,
    LRA_LEGEND_LINE
} lra_legend_kind;
typedef struct {
    char text[160];
    lra_legend_kind kind;
    const char *color, *dash; /* dash NULL: solid */
    double line;              /* line width; 0: no line */
    int point;                /* point type on the line; 0: no point */
    double size;              /* point size */
} lra_plot_entry;
enum { LRA_PLOT_ENTRIES = 16 };
/* Number of rows that n legend entries need between x and the right edge, with as many columns as
 * fit. */
int lra_plot_legend_rows(const lra_plot *p, double x, int n, const lra_plot_entry *entry);
/* Draws a legend with its upper left corner at (x,y), column by column. The caller unsets labels,
 * arrows and objects before the next panel. */
void lra_plot_legend(lra_plot *p, double x, double y, int n, const lra_plot_entry *entry);

/* A horizontal line through a panel. Its name is at the left end, above or below the line, where
 * there is space; "": only the legend names it. */
typedef struct {
    double y;
    const char *dash; /* NULL: solid */
    const char *name;
} lra_plot_line;
/* Sorts the lines by y and draws them. x0: left end; y0, y1: range of the panel. */
void lra_plot_lines(lra_text *t, int n, lra_plot_line *line, double x0, double y0, double y1);

/* Appends a space and a number to a data file; "?" for NaN. */
void lra_plot_number(lra_text *t, double x);
/* Widens the range of an axis by a share of its length; an empty range is widened until gnuplot can
 * distinguish its ends. */
void lra_plot_widen(double *lo, double *hi, double share);
/* Distance between ticks: a round number that gives two to five ticks in the range. */
double lra_plot_step(double range);

#endif
