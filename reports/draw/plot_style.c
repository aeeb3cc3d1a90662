/* Defines all colours, dashes and points (plot.h). Colours differ in lightness, so that series are
 * distinguishable without colour (tested by tests/reports/figure_style_test.c). */
#include "reports/draw/plot.h"

/* Blue, vermilion, pink, orange and sky blue from the colour-blind-safe palette of Okabe and Ito;
 * blue and pink are darker than there. */
const lra_plot_style lra_plot_styles[LRA_PLOT_STYLES] = {
    {"#004A8F", "1", 7, 6},           {"#D55E00", LRA_DASH_DASHES, 5, 4},
    {"#00785A", LRA_DASH_DOTS, 9, 8}, {"#CC79A7", "(9,3,2,3)", 11, 10},
    {"#E69F00", "(16,4)", 13, 12},    {"#56B4E9", "(9,3,2,3,2,3)", 15, 14}};

const char *lra_plot_ramp(int i, int n)
{
    static const char *const color[LRA_PLOT_STYLES] = {"#9ad3a8", "#56b8a9", "#3393b5",
                                                       "#2471a3", "#1f4e8c", "#0a1f5c"};
    int first = n < LRA_PLOT_STYLES - 1; /* the lightest colour is used only if n is the maximum */
    int steps = LRA_PLOT_STYLES - 1 - first;
    return color[n > 1 ? first + (2 * i * steps + n - 1) / (2 * (n - 1)) : LRA_PLOT_STYLES - 2];
}

const char *lra_plot_fill(int i, int n, bool ordered)
{
    static const char *const color[LRA_PLOT_STYLES] = {"#0B3C6F", "#A63D00", "#33906C",
                                                       "#D890B5", "#F2C14E", "#D6EBF7"};
    int last = n < LRA_PLOT_STYLES ? LRA_PLOT_STYLES - 2 : LRA_PLOT_STYLES - 1;
    if (ordered) return lra_plot_ramp(i, n);
    return color[n > 1 ? (2 * i * last + n - 1) / (2 * (n - 1)) : 0];
}

lra_plot_style lra_plot_series(int i, int n, bool ordered)
{
    lra_plot_style s = lra_plot_styles[i];
    if (ordered) s.color = lra_plot_ramp(i, n), s.dash = "1";
    return s;
}
