/* Copies the shapes and texts of an SVG that gnuplot wrote (svg_inline.h). The input is read token
 * by token; elements and attributes that are not in the lists below are left out. */
#include "reports/html/svg_inline.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/html/escape.h"

enum { DEPTH = 64, WORD = 32 };

/* Adjacent pixels of an image that have one colour: a rectangle that is not written yet. */
typedef struct {
    bool any;
    int color;
    double x0, x1, y0, y1;
} pixels;

typedef struct {
    lra_text *to;
    const char *id;
    lra_svg_colors *colors;
    int depth, skipped; /* skipped: number of open elements that are left out */
    pixels run;
    /* offsets of each open element in the output: of its start tag, and of its contents */
    size_t start[DEPTH], body[DEPTH];
    char name[DEPTH][WORD];
} copier;

static bool is_in(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0) return true;
    return false;
}

/* ---- colours --------------------------------------------------------------------------------- */

void lra_svg_colors_free(lra_svg_colors *c)
{
    lra_free(c->rgb);
    *c = (lra_svg_colors){0};
}

static int color_index(lra_svg_colors *c, uint32_t rgb)
{
    int i = 0;
    while (i < c->n && c->rgb[i] != rgb) i++;
    if (i < c->n) return i;
    if ((c->n & (c->n - 1)) == 0)
        c->rgb = lra_resize(c->rgb, (2 * (size_t)c->n + 1) * sizeof *c->rgb);
    c->rgb[c->n++] = rgb;
    return i;
}

/* Reads "black", "white", "#rrggbb" and "rgb(r, g, b)". */
static bool read_color(const char *text, uint32_t *rgb)
{
    unsigned r, g, b;
    if (strcmp(text, "black") == 0) return *rgb = 0, true;
    if (strcmp(text, "white") == 0) return *rgb = 0xFFFFFF, true;
    bool known = sscanf(text, "#%2x%2x%2x", &r, &g, &b) == 3 ||
                 sscanf(text, "rgb(%u,%u,%u)", &r, &g, &b) == 3 ||
                 sscanf(text, "rgb( %u , %u , %u )", &r, &g, &b) == 3;
    if (known) *rgb = (r & 255) << 16 | (g & 255) << 8 | (b & 255);
    return known;
}

/* Lightness, on a dark page, of a colour that is white (lightness 1) and of one that is black (0)
 * on a light page; those between are interpolated. */
static const double dark_paper = 0.09, dark_ink = 0.92;

static uint32_t dark_color(uint32_t rgb)
{
    double c[3], least = 1, most = 0;
    uint32_t out = 0;
    for (int i = 0; i < 3; i++) {
        c[i] = (double)(rgb >> (16 - 8 * i) & 255) / 255;
        least = fmin(least, c[i]), most = fmax(most, c[i]);
    }
    double light = (least + most) / 2, room = 1 - fabs(2 * light - 1);
    double part = room > 0 ? (most - least) / room : 0; /* saturation in HSL */
    double now = dark_ink + (dark_paper - dark_ink) * light;
    double spread = 0.85 * part * (1 - fabs(2 * now - 1));
    for (int i = 0; i < 3; i++) {
        double at = most > least ? (c[i] - light) / (most - least) : 0;
        out = out << 8 | (uint32_t)lround(255 * fmin(1, fmax(0, now + at * spread)));
    }
    return out;
}

void lra_svg_colors_css(const lra_svg_colors *c, lra_text *to)
{
    lra_text_add(to, ":root{");
    for (int i = 0; i < c->n; i++) lra_text_add(to, "--k%d:#%06x;", i, (unsigned)c->rgb[i]);
    lra_text_add(to, "}\n@media screen and (prefers-color-scheme:dark){:root{");
    for (int i = 0; i < c->n; i++)
        lra_text_add(to, "--k%d:#%06x;", i, (unsigned)dark_color(c->rgb[i]));
    lra_text_add(to, "}}\n");
    for (int i = 0; i < c->n; i++)
        lra_text_add(to, ".f%d{fill:var(--k%d)}.s%d{stroke:var(--k%d)}.c%d{color:var(--k%d)}\n", i,
                     i, i, i, i, i);
}

/* ---- elements -------------------------------------------------------------------------------- */

static const char *const shapes[] = {"g",     "path", "polygon", "polyline", "line",
                                     "rect",  "use",  "circle",  "ellipse",  "defs",
                                     "image", "text", "tspan",   NULL};
static const char *const groups[] = {"g", "defs", NULL};
static const char *const kept[] = {"d",
                                   "points",
                                   "x",
                                   "y",
                                   "x1",
                                   "x2",
                                   "y1",
                                   "y2",
                                   "width",
                                   "height",
                                   "r",
                                   "rx",
                                   "ry",
                                   "cx",
                                   "cy",
                                   "transform",
                                   "fill",
                                   "stroke",
                                   "color",
                                   "stroke-width",
                                   "fill-rule",
                                   "fill-opacity",
                                   "font-size",
                                   "stroke-linecap",
                                   "font-weight",
                                   "text-anchor",
                                   "font-style",
                                   "stroke-linejoin",
                                   "opacity",
                                   "id",
                                   "xlink:href",
                                   "stroke-dasharray",
                                   "href",
                                   "shape-rendering",
                                   "stroke-opacity",
                                   "preserveAspectRatio",
                                   NULL};

static bool is_local(const char *value)
{
    return *value == '#' &&
           value[1 + strspn(value + 1, "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")] == 0;
}

/* Bytes of an attribute or a text; the references of XML are resolved, and tabs and ends of lines
 * become blanks. The caller frees it. */
static char *plain_text(const char *from, size_t n)
{
    static const char *const reference[][2] = {
        {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}, {"&apos;", "'"}};
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (size_t i = 0; i < n;) {
        size_t k = 0, size = 0;
        for (; k < 5; k++) {
            size = strlen(reference[k][0]);
            if (n - i >= size && strncmp(from + i, reference[k][0], size) == 0) break;
        }
        if (k < 5)
            lra_text_add(&t, "%s", reference[k][1]);
        else
            lra_text_bytes(&t, strchr("\t\r\n", from[i]) ? " " : from + i, 1), size = 1;
        i += size;
    }
    return t.s;
}

static void add_attribute(copier *c, const char *name, const char *value, lra_text *classes)
{
    uint32_t rgb;
    bool href = strcmp(name, "xlink:href") == 0 || strcmp(name, "href") == 0;
    bool color = !strcmp(name, "fill") || !strcmp(name, "stroke") || !strcmp(name, "color");
    if (href && is_local(value)) {
        lra_text_add(c->to, " href=\"#%s-%s\"", c->id, value + 1);
    } else if (href) {
        if (strncmp(value, "data:image/png;base64,", 22) == 0)
            lra_html_wrap(c->to, " href=\"", value, "\"");
    } else if (strcmp(name, "id") == 0) {
        lra_text_add(c->to, " id=\"%s-", c->id);
        lra_html_wrap(c->to, "", value, "\"");
    } else if (color && read_color(value, &rgb)) {
        lra_text_add(classes, "%s%c%d", classes->n ? " " : "", *name, color_index(c->colors, rgb));
    } else if (!color || !strcmp(value, "none") || !strcmp(value, "currentColor")) {
        lra_text_add(c->to, " %s", name);
        lra_html_wrap(c->to, "=\"", value, "\"");
    }
}

/* Copies the attributes of a start tag; returns the first byte after it. *empty: the element has no
 * contents. out false: copies nothing. */
static const char *copy_attributes(copier *c, const char *at, bool out, bool *empty)
{
    lra_text classes = {0};
    *empty = false;
    while (*at && *at != '>') {
        at += strspn(at, " \t\r\n");
        if (*at == '/') *empty = at[1] == '>', at++;
        size_t n = strcspn(at, "= \t\r\n/>");
        char name[WORD] = "";
        if (n < sizeof name) memcpy(name, at, n);
        at += n + strspn(at + n, " \t\r\n");
        if (*at != '=') continue;
        at += 1 + strspn(at + 1, " \t\r\n");
        char quote = *at == '\'' || *at == '"' ? *at++ : 0;
        const char *end = quote ? strchr(at, quote) : NULL;
        if (!end) break;
        char *value = plain_text(at, (size_t)(end - at));
        if (out && is_in(name, kept)) add_attribute(c, name, value, &classes);
        lra_free(value);
        at = end + 1;
    }
    if (out && classes.n) lra_text_add(c->to, " class=\"%s\"", classes.s);
    lra_text_free(&classes);
    return *at == '>' ? at + 1 : at;
}

/* ---- pixels of images ------------------------------------------------------------------------ */

/* Writes the pixels that are not written yet. */
static void flush(copier *c)
{
    const pixels *p = &c->run;
    if (p->any)
        lra_text_add(c->to, "<path d=\"M%.6g %.6gH%.6gV%.6gH%.6gz\" class=\"f%d\"/>", p->x0, p->y0,
                     p->x1, p->y1, p->x0, p->color);
    c->run.any = false;
}

/* Finds an attribute of the tag at `at`; *n: number of bytes of its value. NULL: none. */
static const char *attribute_of(const char *at, const char *name, size_t *n)
{
    const char *end = strchr(at, '>'), *found = strstr(at, name);
    if (!end || !found || found > end) return NULL;
    found += strlen(name);
    found += strspn(found, " =");
    char quote = *found == '\'' || *found == '"' ? *found++ : 0;
    const char *to = quote ? strchr(found, quote) : NULL;
    if (!to || to > end) return NULL;
    *n = (size_t)(to - found);
    return found;
}

/* Reads a polygon as gnuplot writes the pixels of an image: a rectangle with a colour, and no other
 * attribute. */
static bool read_pixel(copier *c, const char *at, pixels *p)
{
    size_t n, n_points;
    uint32_t rgb;
    double v[8];
    const char *fill = attribute_of(at, " fill", &n),
               *points = attribute_of(at, " points", &n_points);
    if (!fill || !points || strncmp(fill + n + 1, " points", 7) != 0) return false;
    if (strncmp(points + n_points + 1, "/>", 2) != 0) return false;
    char *color = plain_text(fill, n);
    bool known = read_color(color, &rgb);
    lra_free(color);
    if (!known || sscanf(points, "%lf,%lf %lf,%lf %lf,%lf %lf,%lf", &v[0], &v[1], &v[2], &v[3],
                         &v[4], &v[5], &v[6], &v[7]) != 8)
        return false;
    char other;
    if (sscanf(points, "%*f,%*f %*f,%*f %*f,%*f %*f,%*f %c", &other) == 1 && other != '\'' &&
        other != '"')
        return false; /* a polygon with more than four corners is no pixel */
    /* the corners must be lower left, lower right, upper right, upper left of a rectangle */
    if (v[1] != v[3] || v[2] != v[4] || v[5] != v[7] || v[6] != v[0]) return false;
    *p = (pixels){true, color_index(c->colors, rgb), v[0], v[2], v[1], v[5]};
    return true;
}

/* Collects a pixel of an image instead of copying its element. Returns the first byte after its
 * tag; NULL: the element is no pixel. */
static const char *take_pixel(copier *c, const char *name, const char *at)
{
    pixels p, *run = &c->run;
    if (c->skipped || strcmp(name, "polygon") != 0 || !read_pixel(c, at, &p)) return NULL;
    bool joins = run->any && run->color == p.color && run->y0 == p.y0 && run->y1 == p.y1 &&
                 fabs(run->x1 - p.x0) < 0.011;
    if (joins) {
        run->x1 = p.x1;
    } else {
        flush(c);
        *run = p;
    }
    return strchr(at, '>') + 1;
}

static void close_element(copier *c, const char *name)
{
    flush(c);
    if (c->skipped) {
        c->skipped--;
        return;
    }
    if (c->depth == 0) return;
    c->depth--;
    bool empty = c->to->n == c->body[c->depth] && is_in(c->name[c->depth], groups);
    (void)name;
    if (empty) {
        c->to->n = c->start[c->depth];
        c->to->s[c->to->n] = 0;
    } else {
        lra_text_add(c->to, "</%s>%s", c->name[c->depth],
                     is_in(c->name[c->depth], groups) ? "\n" : "");
    }
}

/* True for the rectangle of the background: it starts at the origin of the drawing itself. */
static bool is_background(const copier *c, const char *name, const char *at)
{
    return strcmp(name, "rect") == 0 && c->depth == 1 && strncmp(at, " x=\"0\" y=\"0\"", 12) == 0;
}

static const char *open_element(copier *c, const char *name, const char *at)
{
    const char *after = take_pixel(c, name, at);
    if (after) return after;
    flush(c);
    bool empty, out = c->skipped == 0 && is_in(name, shapes) && c->depth < DEPTH &&
                      !is_background(c, name, at);
    size_t start = c->to->n;
    if (out) lra_text_add(c->to, "<%s", name);
    at = copy_attributes(c, at, out, &empty);
    if (!out) {
        c->skipped += !empty;
        return at;
    }
    lra_text_add(c->to, empty ? "/>" : ">");
    if (empty) return at;
    c->start[c->depth] = start, c->body[c->depth] = c->to->n;
    memcpy(c->name[c->depth++], name, WORD);
    return at;
}

static void add_characters(copier *c, const char *at, size_t n)
{
    bool text = c->depth && !is_in(c->name[c->depth - 1], groups);
    if (c->skipped || !text) return;
    char *plain = plain_text(at, n);
    lra_html_number(c->to, plain);
    lra_free(plain);
}

/* Copies everything between the start tag of <svg> and its end tag. */
static void copy_contents(copier *c, const char *at)
{
    char name[WORD];
    while (*at && strncmp(at, "</svg", 5) != 0) {
        size_t n = strcspn(at, "<");
        if (n) add_characters(c, at, n);
        at += n;
        if (!*at || strncmp(at, "</svg", 5) == 0) break;
        bool end = at[1] == '/';
        if (at[1] == '!' || at[1] == '?') { /* a comment or a processing instruction */
            const char *after = strncmp(at, "<!--", 4) == 0 ? strstr(at, "-->") : strchr(at, '>');
            at = after ? strchr(after, '>') + 1 : at + strlen(at);
            continue;
        }
        at += end ? 2 : 1;
        n = strcspn(at, " \t\r\n/>");
        memset(name, 0, sizeof name);
        memcpy(name, at, n < sizeof name - 1 ? n : sizeof name - 1);
        at += n;
        if (!end) {
            at = open_element(c, name, at);
            continue;
        }
        close_element(c, name);
        at = strchr(at, '>');
        if (!at++) break;
    }
    while (c->depth) close_element(c, "");
}

int lra_svg_inline(lra_text *to, const char *svg, const char *id, const char *title,
                   const char *description, lra_svg_colors *colors, lra_err *e)
{
    double box[4];
    const char *root = strstr(svg, "<svg"), *end = root ? strchr(root, '>') : NULL,
               *view = root ? strstr(root, "viewBox=\"") : NULL;
    if (!end || !view || view > end ||
        sscanf(view + 9, "%lf %lf %lf %lf", &box[0], &box[1], &box[2], &box[3]) != 4)
        return lra_fail(e, "the drawing of gnuplot is no SVG with a viewBox");
    lra_text_add(to,
                 "<svg viewBox=\"%g %g %g %g\" style=\"--w:%gpx\" role=\"img\" "
                 "aria-labelledby=\"%s-title %s-desc\">",
                 box[0], box[1], box[2], box[3], box[2], id, id);
    lra_text_add(to, "<title id=\"%s-title\">", id);
    lra_html_wrap(to, "", title, "</title>");
    lra_text_add(to, "<desc id=\"%s-desc\">", id);
    lra_html_wrap(to, "", description, "</desc>\n");
    copier c = {.to = to, .id = id, .colors = colors};
    copy_contents(&c, end + 1);
    lra_text_add(to, "</svg>\n");
    return 0;
}
