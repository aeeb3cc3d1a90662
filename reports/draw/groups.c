/* Draws grouped bars and points (groups.h). */
#include "reports/draw/groups.h"

#include <math.h>
#include <stdio.h>

static const char next[] = ", \\\n     ", edge[] = "#333333";
/* Centimetres: left margin of a panel with its axis; space at the right edge. */
static const double left = 1.35, right = 0.15;

void lra_group_panel_clear(lra_group_panel *p)
{
    for (int i = 0; i < LRA_GROUPS_MOST; i++)
        for (int s = 0; s < LRA_PLOT_STYLES; s++)
            p->at[i][s] = (lra_group_value){NAN, NAN, NAN, NAN};
    p->line = NAN;
}

/* x of a series in a group. Bars touch each other; points have more space between groups. */
static double place(const lra_groups *g, int group, int series)
{
    double middle = 0.5 * (g->n_series - 1), apart = g->bars ? 1 : 0.7;
    return group * (g->n_series + (g->bars ? 1.0 : 1.5)) + apart * (series - middle) + middle;
}

static bool any_published(const lra_groups *g)
{
    for (int p = 0; p < g->n_panels; p++)
        for (int i = 0; i < g->n_groups; i++)
            for (int s = 0; s < g->n_series; s++)
                if (!isnan(g->panel[p].at[i][s].published)) return true;
    return false;
}

static void widen(double range[2], double x)
{
    if (isfinite(x)) range[0] = fmin(range[0], x), range[1] = fmax(range[1], x);
}

static void widen_by(const lra_groups *g, const lra_group_panel *p, double range[2])
{
    for (int i = 0; i < g->n_groups; i++)
        for (int s = 0; s < g->n_series; s++) {
            const lra_group_value *v = &p->at[i][s];
            widen(range, v->value);
            widen(range, v->lo);
            widen(range, v->hi);
            widen(range, v->published);
        }
    widen(range, p->line);
}

/* Range of the axis of a panel. Bars begin at 0, and all their panels have the same range. */
static void find_range(const lra_groups *g, int panel, double range[2])
{
    range[0] = g->bars ? 0 : INFINITY, range[1] = g->bars ? 0 : -INFINITY;
    for (int p = 0; p < g->n_panels; p++)
        if (g->bars || p == panel) widen_by(g, &g->panel[p], range);
    if (!(range[0] <= range[1])) range[0] = 0, range[1] = 1;
    double zero = range[0];
    lra_plot_widen(&range[0], &range[1], 0.06);
    if (g->bars && zero == 0) range[0] = 0;
}

static void add_data(lra_text *t, const lra_groups *g)
{
    for (int p = 0; p < g->n_panels; p++)
        for (int s = 0; s < g->n_series; s++) {
            const lra_group_panel *x = &g->panel[p];
            lra_plot_comment(t, "%s: %s", *x->title ? x->title : x->axis, g->series[s]);
            lra_plot_comment(t, "position value lo hi published group");
            for (int i = 0; i < g->n_groups; i++) {
                const lra_group_value *v = &x->at[i][s];
                lra_text_add(t, "%g", place(g, i, s));
                lra_plot_number(t, v->value);
                lra_plot_number(t, v->lo);
                lra_plot_number(t, v->hi);
                lra_plot_number(t, v->published);
                lra_text_add(t, " %d\n", i);
            }
            lra_text_add(t, "\n\n");
        }
}

static lra_plot_style style_of(const lra_groups *g, int s)
{
    lra_plot_style style = lra_plot_styles[s];
    if (g->bars) style.color = lra_plot_fill(s, g->n_series, false);
    return style;
}

/* Draws bars or points, then intervals above them (a light line below a dark one), then published
 * values. */
static void add_values(lra_text *t, const lra_groups *g, const char *dat, int panel)
{
    int block = panel * g->n_series;
    lra_text_add(t, "plot NaN");
    for (int s = 0; s < g->n_series && g->bars; s++)
        lra_text_add(t, "%s'%s' index %d using 1:2 with boxes fc rgb '%s' " LRA_PLOT_EDGE " lw 0.6",
                     next, dat, block + s, style_of(g, s).color);
    for (int s = 0; s < g->n_series; s++) {
        const char *color = g->bars ? edge : style_of(g, s).color;
        lra_text_add(
            t, "%s'%s' index %d using 1:3:(0):($4-$3) with vectors nohead lc rgb '#ffffff' lw 2.4",
            next, dat, block + s);
        lra_text_add(t,
                     "%s'' index %d using 1:3:(0):($4-$3) with vectors heads fixed size screen "
                     "%g,90 lc rgb '%s' lw 1.2",
                     next, block + s, g->n_panels > 1 ? 0.003 : 0.006, color);
    }
    for (int s = 0; s < g->n_series && !g->bars; s++)
        lra_text_add(t, "%s'%s' index %d using 1:2 with points lc rgb '%s' pt %d ps 0.8", next, dat,
                     block + s, style_of(g, s).color, style_of(g, s).full);
    for (int s = 0; s < g->n_series; s++)
        lra_text_add(t, "%s'%s' index %d using 1:5 with points lc rgb '%s' lw 1.8 pt %d ps 0.9",
                     next, dat, block + s, edge, lra_plot_styles[0].hollow);
    lra_text_add(t, "\n");
}

static int fill_key(const lra_groups *g, lra_plot_entry key[LRA_PLOT_ENTRIES])
{
    int n = 0;
    for (int s = 0; s < g->n_series && g->n_series > 1; s++) {
        lra_plot_style style = style_of(g, s);
        key[n] = (lra_plot_entry){.kind = g->bars ? LRA_LEGEND_BAR : LRA_LEGEND_LINE,
                                  .color = style.color,
                                  .point = style.full,
                                  .size = 0.8};
        snprintf(key[n++].text, sizeof key->text, "%s", g->series[s]);
    }
    key[n++] = (lra_plot_entry){"95 % interval", LRA_LEGEND_INTERVAL, edge, NULL, 0, 0, 0};
    if (any_published(g))
        key[n++] = (lra_plot_entry){"published", LRA_LEGEND_LINE,           edge, NULL,
                                    0,           lra_plot_styles[0].hollow, 0.9};
    if (g->line) {
        key[n] = (lra_plot_entry){
            .kind = LRA_LEGEND_LINE, .color = "#444444", .dash = LRA_DASH_CHANCE, .line = 1.5};
        snprintf(key[n++].text, sizeof key->text, "%s", g->line);
    }
    return n;
}

/* True if the names of the groups do not fit side by side in a panel of this width. */
static bool is_crowded(const lra_groups *g, double width)
{
    for (int i = 0; i < g->n_groups; i++)
        if (lra_plot_width(g->group[i]) > 0.95 * width / g->n_groups) return true;
    return false;
}

static void add_panel(lra_plot *f, const lra_groups *g, const char *dat, int panel, bool slanted)
{
    lra_text *t = &f->script;
    const lra_group_panel *p = &g->panel[panel];
    double range[2], end = place(g, g->n_groups - 1, g->n_series - 1);
    find_range(g, panel, range);
    lra_text_add(t,
                 "set yrange [%g:%g]\nset ytics %g nomirror\nset xrange [%g:%g]\nset boxwidth 0.9\n"
                 "set xtics scale 0 %s(",
                 range[0], range[1], lra_plot_step(range[1] - range[0]), place(g, 0, 0) - 1,
                 end + 1, slanted ? "rotate by 30 right " : "");
    for (int i = 0; i < g->n_groups; i++) {
        if (i) lra_text_add(t, ", ");
        lra_plot_tick(t, g->group[i], 0.5 * (place(g, i, 0) + place(g, i, g->n_series - 1)));
    }
    lra_text_add(t, ")\n");
    if (!isnan(p->line))
        lra_text_add(t,
                     "set arrow from graph 0, first %g to graph 1, first %g nohead lw 1.5 dt %s lc "
                     "rgb '#444444' back\n",
                     p->line, p->line, LRA_DASH_CHANCE);
    add_values(t, g, dat, panel);
    lra_text_add(t, "unset label\nunset arrow\nunset object\n");
}

void lra_groups_draw(lra_plot *f, const char *name, const lra_groups *g)
{
    lra_plot_entry key[LRA_PLOT_ENTRIES];
    char *dat = lra_format("%s.dat", name);
    bool page = g->n_panels > 1 || g->n_groups * (g->n_series + 1) > 18;
    f->width = lra_plot_wide(page ? LRA_PAGE_CM : LRA_COLUMN_CM);
    double each = (f->width - right) / g->n_panels, wide = each - left;
    bool slanted = is_crowded(g, wide), titled = false;
    double longest = 0;
    for (int i = 0; i < g->n_groups; i++) longest = fmax(longest, lra_plot_width(g->group[i]));
    for (int p = 0; p < g->n_panels; p++) titled = titled || *g->panel[p].title;
    double bottom = slanted ? 0.6 + 0.55 * longest : 0.7;
    int n = fill_key(g, key), rows = lra_plot_legend_rows(f, left, n, key);
    f->height = 5 + bottom + LRA_LINE_CM * rows + (titled ? 0.4 : 0);
    double top = lra_plot_start(f);
    add_data(&f->data, g);
    lra_text_add(&f->script, "set multiplot\nset key off\nset grid ytics lt 1 lw 0.8 lc rgb "
                             "'#e4e4e4'\n");
    lra_plot_legend(f, left, top, n, key);
    top -= LRA_LINE_CM * rows + (titled ? 0.65 : 0.3);
    for (int p = 0; p < g->n_panels; p++) {
        double x = left + p * each;
        lra_plot_box(f, x, x + wide, bottom, top);
        lra_plot_axis(f, x - 1.1, 0.5 * (bottom + top), g->panel[p].axis);
        if (*g->panel[p].title)
            lra_plot_add_quoted(&f->script, "set label ", g->panel[p].title,
                                " at screen %.4g, screen %.4g center\n",
                                (x + 0.5 * wide) / f->width, (top + 0.2) / f->height);
        add_panel(f, g, dat, p, slanted);
    }
    lra_text_add(&f->script, "unset multiplot\n");
    lra_free(dat);
}
