/* Writes scripts and data for gnuplot (plot.h). */
#include "reports/draw/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/os/file.h"

/* ---- texts of files -------------------------------------------------------------------------- */

/* Placeholder for a control character; lra_plot_write() fails if a text contains it. */
enum { REFUSED = 1 };

static void add_character(lra_text *t, char c)
{
    bool control = (unsigned char)c < ' ' || c == 0x7F;
    if (control) c = REFUSED;
    lra_text_bytes(t, &c, 1);
}

static void add_quoted(lra_text *t, const char *text, char doubled)
{
    lra_text_add(t, "'");
    for (; *text; text++) {
        if (*text == '\'' || *text == doubled) add_character(t, *text);
        add_character(t, *text);
    }
    lra_text_add(t, "'");
}

void lra_plot_string(lra_text *t, const char *text)
{
    add_quoted(t, text, '\'');
}

void lra_plot_tick(lra_text *t, const char *text, double at)
{
    add_quoted(t, text, '%');
    lra_text_add(t, " %g", at);
}

void lra_plot_add_quoted(lra_text *t, const char *before, const char *text, const char *after, ...)
{
    va_list args;
    lra_text_add(t, "%s", before);
    lra_plot_string(t, text);
    va_start(args, after);
    lra_text_addv(t, after, args);
    va_end(args);
}

void lra_plot_comment(lra_text *t, const char *fmt, ...)
{
    va_list args;
    lra_text line = {0};
    va_start(args, fmt);
    lra_text_addv(&line, fmt, args);
    va_end(args);
    lra_text_add(t, "# ");
    for (size_t i = 0; i < line.n; i++) add_character(t, line.s[i]);
    lra_text_add(t, "\n");
    lra_text_free(&line);
}

void lra_plot_number(lra_text *t, double x)
{
    if (isfinite(x))
        lra_text_add(t, " %.6f", x);
    else
        lra_text_add(t, " ?");
}

void lra_plot_widen(double *lo, double *hi, double share)
{
    double most = fmax(fabs(*lo), fabs(*hi)), more = share * (*hi - *lo);
    if (*hi - *lo <= 1e-4 * most || most == 0) more = most > 0 ? 0.05 * most : 1;
    *lo -= more, *hi += more;
}

double lra_plot_step(double range)
{
    double step = range > 0 ? pow(10, floor(log10(range / 2))) : 1;
    return range / step > 10 ? 5 * step : range / step > 4.5 ? 2 * step : step;
}

/* ---- options --------------------------------------------------------------------------------- */

static lra_plot_options options;

void lra_plot_use(const lra_plot_options *o)
{
    options = *o;
}

/* Text size divided by 8 points. Figures are laid out for 8 points, in a width divided by this
 * ratio; then everything is enlarged by this ratio. */
static double text_scale(void)
{
    return options.points > 0 ? options.points / 8 : 1;
}

double lra_plot_wide(double cm)
{
    return (options.width > 0 ? options.width : cm) / text_scale();
}

/* ---- style ----------------------------------------------------------------------------------- */

static const double letters = 0.2822; /* 8 points in cm */

/* Width for DejaVu Sans, the widest common font; other fonts leave more space. */
double lra_plot_width(const char *text)
{
    double width = 0;
    for (; *text; text++)
        width += strchr(" ijlI.,:;'|!", *text)  ? 0.32
                 : strchr("frt-()[]/\"", *text) ? 0.41
                 : strchr("mwMW%=+<>~", *text)  ? 0.9
                                                : 0.63;
    return letters * width;
}

/* True if c is a continuation byte of UTF-8. */
static bool inside_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

char *lra_plot_fit(const char *text, double cm, double points)
{
    size_t n = strlen(text);
    char *short_text = lra_copy_text(text);
    for (size_t keep = n; keep > 4 && lra_plot_width(short_text) * points / 8 > cm; keep--) {
        size_t head = 3 * keep / 5, tail = n - (keep - head);
        while (head > 0 && inside_character(text[head])) head--;
        while (inside_character(text[tail])) tail++;
        lra_free(short_text);
        short_text = lra_format("%.*s..%s", (int)head, text, text + tail);
    }
    return short_text;
}

/* Number of characters of a title in its first line: all of them if they fit; else up to the comma
 * nearest to the middle, or, if the second line would then be too long, up to the last space that
 * fits. */
static size_t line_of(const char *title, double cm)
{
    size_t n = strlen(title), comma = 0, space = 0;
    if (lra_plot_width(title) <= cm) return n;
    for (size_t i = 0; i < n; i++) {
        char *head = lra_format("%.*s", (int)i, title);
        bool fits = lra_plot_width(head) <= cm;
        lra_free(head);
        if (!fits) break;
        if (title[i] == ' ') space = i;
        if (title[i] == ' ' && i && title[i - 1] == ',' &&
            (!comma || llabs((long long)(2 * i - n)) < llabs((long long)(2 * comma - n))))
            comma = i;
    }
    if (comma && lra_plot_width(title + comma + 1) <= cm) return comma;
    return space ? space : n;
}

double lra_plot_start(lra_plot *p)
{
    lra_text *t = &p->script;
    lra_text_add(t,
                 "set datafile missing '?'\nset border 3 lw 1.2\n"
                 "set tics nomirror out scale 0.5\nset grid ytics lt 1 lw 1 lc rgb '#dddddd'\n"
                 "set style fill solid noborder\nunset key\n"
                 /* Arrow styles of intervals: a line with perpendicular ends, drawn twice; the
                  * wider white line is below the black one. */
                 "set style arrow 1 heads fixed size screen %g,90 lc rgb '#111111' lw 1.6\n"
                 "set style arrow 2 heads fixed size screen %g,90 lc rgb '#ffffff' lw 3.6\n",
                 0.06 / p->width, 0.08 / p->width);
    int lines = 0;
    if (options.title && strcmp(options.title, "none") != 0) {
        lra_free(p->title);
        p->title = lra_copy_text(options.title);
    }
    bool drawn = !options.title || strcmp(options.title, "none") != 0;
    for (const char *at = drawn ? p->title : ""; *at; lines++) {
        size_t n = lines ? strlen(at) : line_of(at, p->width - 0.2);
        char *whole = lra_format("%.*s", (int)n, at),
             *text = lra_plot_fit(whole, p->width - 0.2, 8);
        lra_plot_add_quoted(t, "set label ", text, " at screen 0.5, screen %.4g center\n",
                            1 - LRA_LINE_CM * (0.6 + lines) / p->height);
        lra_free(whole);
        lra_free(text);
        at += n + (at[n] == ' ');
    }
    return p->height - LRA_LINE_CM * (lines + 0.3);
}

void lra_plot_box(lra_plot *p, double left, double right, double bottom, double top)
{
    lra_text_add(&p->script,
                 "\nset lmargin at screen %.4g\nset rmargin at screen %.4g\n"
                 "set bmargin at screen %.4g\nset tmargin at screen %.4g\n",
                 left / p->width, right / p->width, bottom / p->height, top / p->height);
}

void lra_plot_axis(lra_plot *p, double x, double y, const char *name)
{
    lra_plot_add_quoted(&p->script, "set label ", name,
                        " at screen %.4g, screen %.4g center rotate\n", x / p->width,
                        y / p->height);
}

/* ---- legend ---------------------------------------------------------------------------------- */

/* Centimetres: width of a sample, of a sample and the space after it, and between columns. */
static const double sample = 0.65, sample_and_space = 0.8, between = 0.3;

/* Width in cm of the legend column that has `rows` entries and starts with entry i. */
static double column_width(int rows, int i, int n, const lra_plot_entry *entry)
{
    double longest = 0;
    for (int k = i; k < n && k < i + rows; k++)
        longest = fmax(longest, lra_plot_width(entry[k].text));
    return sample_and_space + longest;
}

int lra_plot_legend_rows(const lra_plot *p, double x, int n, const lra_plot_entry *entry)
{
    int rows = 1;
    for (; rows < n; rows++) {
        double width = x - between;
        for (int i = 0; i < n; i += rows) width += between + column_width(rows, i, n, entry);
        if (width <= p->width) break;
    }
    return rows;
}

/* Draws a legend entry at (x,y). more: added to the line width, because gnuplot's SVG terminal
 * merges lines that differ only in dashes. */
static void add_entry(lra_plot *p, double x, double y, const lra_plot_entry *k, double more)
{
    lra_text *t = &p->script;
    double x0 = x / p->width, x1 = (x + sample) / p->width, at = y / p->height;
    if (k->kind == LRA_LEGEND_BOX || k->kind == LRA_LEGEND_BAND || k->kind == LRA_LEGEND_BAR)
        lra_text_add(t,
                     "set object rectangle from screen %.4g,%.4g to screen %.4g,%.4g "
                     "fc rgb '%s' %s\n",
                     x0, at - 0.09 / p->height, x1, at + 0.09 / p->height, k->color,
                     k->kind == LRA_LEGEND_BAR   ? LRA_PLOT_EDGE " lw 0.6"
                     : k->kind == LRA_LEGEND_BOX ? "fs solid noborder"
                                                 : "fs transparent solid 0.2 noborder");
    else if (k->kind == LRA_LEGEND_INTERVAL || k->line > 0)
        lra_text_add(t, "set arrow from screen %.4g,%.4g to screen %.4g,%.4g ", x0, at, x1, at);
    if (k->kind == LRA_LEGEND_INTERVAL) lra_text_add(t, "arrowstyle 1\n");
    if (k->kind == LRA_LEGEND_LINE && k->line > 0)
        lra_text_add(t, "nohead lw %g dt %s lc rgb '%s'\n", k->line + more, k->dash ? k->dash : "1",
                     k->color);
    if (k->point)
        lra_text_add(t, "set label '' at screen %.4g,%.4g point pt %d ps %g lw 2 lc rgb '%s'\n",
                     0.5 * (x0 + x1), at, k->point, k->size, k->color);
    char *text = lra_plot_fit(k->text, p->width - x - sample_and_space, 8);
    lra_plot_add_quoted(t, "set label ", text, " at screen %.4g,%.4g left\n",
                        (x + sample_and_space) / p->width, at);
    lra_free(text);
}

void lra_plot_legend(lra_plot *p, double x, double y, int n, const lra_plot_entry *entry)
{
    int rows = lra_plot_legend_rows(p, x, n, entry);
    for (int i = 0; i < n; i += rows) {
        for (int k = i; k < n && k < i + rows; k++)
            add_entry(p, x, y - LRA_LINE_CM * (k - i + 0.5), &entry[k], 0.01 * k);
        x += between + column_width(rows, i, n, entry);
    }
}

void lra_plot_shade_bar(lra_plot *p, double x, double y, const char *least, const char *most)
{
    /* positions of the colours in LRA_PLOT_SHADES */
    static const double node[] = {0, 0.2, 0.4, 0.6, 0.8, 1};
    static const int color[][3] = {{255, 255, 255}, {199, 233, 180}, {127, 205, 187},
                                   {29, 145, 192},  {34, 94, 168},   {8, 29, 88}};
    enum { STEPS = 24 };
    const double wide = 2.4, high = 0.11, x0 = x - 0.5 * wide;
    for (int i = 0; i < STEPS; i++) {
        double at = (double)i / (STEPS - 1);
        int k = at < 1 ? (int)(at * 5) : 4;
        double part = (at - node[k]) / 0.2;
        int c[3];
        for (int j = 0; j < 3; j++)
            c[j] = (int)lround(color[k][j] + part * (color[k + 1][j] - color[k][j]));
        lra_text_add(&p->script,
                     "set object rectangle from screen %.5g,%.5g to screen %.5g,%.5g "
                     "fc rgb '#%02x%02x%02x' fs solid noborder\n",
                     (x0 + wide * i / STEPS) / p->width, (y - high) / p->height,
                     (x0 + wide * (i + 1) / STEPS) / p->width, (y + high) / p->height, c[0], c[1],
                     c[2]);
    }
    lra_text_add(&p->script,
                 "set object rectangle from screen %.5g,%.5g to screen %.5g,%.5g "
                 "fs empty border lc rgb '#333333' lw 0.6\n",
                 x0 / p->width, (y - high) / p->height, (x0 + wide) / p->width,
                 (y + high) / p->height);
    lra_plot_add_quoted(&p->script, "set label ", least,
                        " at screen %.4g, screen %.4g right font ',7'\n", (x0 - 0.12) / p->width,
                        y / p->height);
    lra_plot_add_quoted(&p->script, "set label ", most,
                        " at screen %.4g, screen %.4g left font ',7'\n",
                        (x0 + wide + 0.12) / p->width, y / p->height);
}

/* ---- lines ----------------------------------------------------------------------------------- */

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
        /* Line widths differ slightly, because gnuplot's SVG terminal merges lines that differ only
         * in dashes. */
        lra_text_add(t,
                     "set arrow from graph 0, first %g to graph 1, first %g nohead lw %g dt %s "
                     "lc rgb '#666666' back\n",
                     line[i].y, line[i].y, 1.51 + 0.01 * i, line[i].dash ? line[i].dash : "1");
        if (!*line[i].name) continue;
        lra_plot_add_quoted(t, "set label ", line[i].name, " at ");
        if (place == RIGHT)
            lra_text_add(t, "graph 0.99, first %g right", line[i].y);
        else
            lra_text_add(t, "%g, %g left", x0 * 1.03, line[i].y);
        lra_text_add(t, " offset 0,%s textcolor rgb '#555555' font ',7'\n",
                     place == BELOW ? "-0.5" : "0.45");
        before = place;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

void lra_plot_free(lra_plot *p)
{
    lra_free(p->title);
    lra_free(p->caption);
    lra_text_free(&p->sources);
    lra_text_free(&p->data);
    lra_text_free(&p->script);
    *p = (lra_plot){0};
}

void lra_plot_source(lra_plot *p, const char *what, const char *hash)
{
    char *source = lra_format("%s %s", what, hash);
    if (!p->sources.s || !strstr(p->sources.s, source))
        lra_text_add(&p->sources, "%s%s", p->sources.n ? ", " : "", source);
    lra_free(source);
}

/* Adds one terminal for each file format, such that text, lines and dashes have the same printed
 * size. "fontscale", "linewidth", "dashlength" and "pointscale" compensate for the scaling of
 * gnuplot 5.4's terminals (measured: the letter H of 'Sans,8' is 5.8 points high, and a dash of
 * length 6 is 3 times as long as the line is wide). */
static void add_terminals(lra_text *t, const lra_plot *p, const char *name)
{
    /* width and height in inches */
    double s = text_scale(), w = s * p->width / 2.54, h = s * p->height / 2.54;
    lra_text_add(
        t,
        "if (ARG1 eq 'pdf') set terminal pdfcairo size %.4gin,%.4gin font 'Sans,8' "
        "fontscale %.5g linewidth 1 dashlength 1.8 pointscale 0.8 noenhanced background rgb 'white'\n"
        "if (ARG1 eq 'svg') set terminal svg size %.0f,%.0f fixed font 'sans-serif,8' "
        "fontscale %.5g linewidth 0.667 noenhanced background rgb 'white'\n"
        "if (ARG1 eq 'png') set terminal pngcairo size %.0f,%.0f font 'Sans,8' "
        "fontscale %.5g linewidth 2.083 dashlength 2 pointscale 3.26 noenhanced "
        "background rgb 'white'\n",
        w, h, 0.75 * s, w * 96, h * 96, 1.3333 * s, w * LRA_PNG_DPI, h * LRA_PNG_DPI, 3.125 * s);
    lra_text_add(t, "if (ARGC < 2) set output '%s.'.ARG1\n", name);
}

static int write_text(const char *folder, const char *name, const char *ending, const lra_text *t,
                      lra_err *e)
{
    char *path = lra_format("%s/%s.%s", folder, name, ending);
    bool clean = !t->n || !memchr(t->s, REFUSED, t->n);
    int rc = clean ? lra_file_write(path, t->s, t->n, e)
                   : lra_fail(e,
                              "a name in '%s' holds a control character; the result file it is "
                              "from was not written by lra-probe",
                              path);
    lra_free(path);
    return rc;
}

/* Replaces all colours "#rrggbb" of a script by greys of the same lightness. */
static void make_grey(lra_text *t)
{
    for (size_t i = 0; i + 7 <= t->n; i++) {
        unsigned r, g, b;
        char digits[8] = "", grey[8];
        memcpy(digits, t->s + i, 7);
        if (digits[0] != '#' || strspn(digits + 1, "0123456789abcdefABCDEF") != 6) continue;
        if (sscanf(digits, "#%2x%2x%2x", &r, &g, &b) != 3) continue;
        unsigned light = (unsigned)lround(0.2126 * r + 0.7152 * g + 0.0722 * b);
        snprintf(grey, sizeof grey, "#%02x%02x%02x", light & 255, light & 255, light & 255);
        memcpy(t->s + i, grey, 7);
    }
}

int lra_plot_write(const lra_plot *p, const char *folder, const char *name, lra_err *e)
{
    lra_text script = {0}, data = {0};
    for (int i = 0; i < 2; i++) {
        lra_plot_comment(i ? &data : &script, "%s: %s", name, p->title);
        lra_plot_comment(i ? &data : &script, "%s", p->sources.s ? p->sources.s : "");
        if (p->caption) lra_plot_comment(i ? &data : &script, "caption: %s", p->caption);
    }
    if (p->data.n) lra_text_bytes(&data, p->data.s, p->data.n);
    lra_text_add(&script,
                 "# 'gnuplot %s.gp' in this folder draws %s.pdf, .svg and .png.\n"
                 "if (ARGC == 0) call ARG0 'pdf'; call ARG0 'svg'; call ARG0 'png'; exit\n"
                 "reset\nset encoding utf8\n",
                 name, name);
    add_terminals(&script, p, name);
    if (p->script.n) lra_text_bytes(&script, p->script.s, p->script.n);
    lra_text_add(&script, "set output\n");
    if (options.grey) make_grey(&script);
    int rc = write_text(folder, name, "dat", &data, e);
    if (rc == 0) rc = write_text(folder, name, "gp", &script, e);
    lra_text_free(&script);
    lra_text_free(&data);
    return rc;
}
