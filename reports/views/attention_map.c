/* Converts attention maps to images (attention_map.h). */
#include "reports/views/attention_map.h"

#include <math.h>
#include <stdio.h>

#include "kernels/base/core/mem.h"

enum { MOST_PIXELS = 64 };

int64_t lra_map_pixels(const lra_probe_array *map)
{
    return map->dims[0] < MOST_PIXELS ? map->dims[0] : MOST_PIXELS;
}

bool lra_map_is_square(const lra_probe_array *map, int64_t T)
{
    return map->rank == 2 && map->dims[0] == T && map->dims[1] == T;
}

/* Mean of the map entries that belong to pixel (y,x) of an image with n x n pixels. */
static double pixel(const lra_probe_array *map, int64_t n, int64_t y, int64_t x)
{
    int64_t T = map->dims[0];
    double sum = 0, count = 0;
    for (int64_t i = y * T / n; i < (y + 1) * T / n; i++)
        for (int64_t j = x * T / n; j < (x + 1) * T / n; j++)
            sum += (double)map->value[i * T + j], count++;
    return sum / count;
}

void lra_map_add(lra_text *t, const char *name, int n, const lra_probe_array *const *map)
{
    int64_t side = lra_map_pixels(map[0]), all = side * side;
    double *weight = lra_alloc_array((size_t)all, sizeof *weight);
    double least = INFINITY, most = -INFINITY;
    for (int64_t at = 0; at < all; at++) {
        for (int k = 0; k < n; k++) weight[at] += pixel(map[k], side, at / side, at % side) / n;
        least = fmin(least, weight[at]), most = fmax(most, weight[at]);
    }
    lra_plot_comment(t, "%s: one line per query, weights from %.6g to %.6g", name, least, most);
    for (int64_t at = 0; at < all; at++)
        lra_text_add(t, "%.4f%s", most > least ? sqrt((weight[at] - least) / (most - least)) : 0,
                     at % side == side - 1 ? "\n" : " ");
    lra_text_add(t, "\n\n");
    lra_free(weight);
}

static void add_ticks(lra_text *t, const lra_map_panel *p, char axis, bool numbers)
{
    const int64_t token[] = {0, p->tokens / 2, p->tokens - 1};
    lra_text_add(t, "set %ctics out nomirror scale 0.4 font ',7' offset %s (", axis,
                 axis == 'x' ? "0,0.4" : "0.4,0");
    for (int i = 0; i < 3; i++) {
        char text[24] = "";
        /* no number at the right end of the x axis, where it would overlap the next panel's 0 */
        if (numbers && !(axis == 'x' && i == 2))
            snprintf(text, sizeof text, "%lld", (long long)token[i]);
        lra_text_add(t, "%s'%s' %g", i ? ", " : "", text,
                     ((double)token[i] + 0.5) * (double)p->pixels / (double)p->tokens - 0.5);
    }
    lra_text_add(t, ")\n");
}

void lra_map_plot(lra_text *t, const lra_map_panel *p)
{
    double end = (double)p->pixels - 0.5;
    if (p->tokens > 2) {
        add_ticks(t, p, 'x', p->below);
        add_ticks(t, p, 'y', p->left);
    }
    lra_text_add(t, "set xrange [-0.5:%g]\nset yrange [%g:-0.5]\n", end, end);
    lra_plot_add_quoted(t, "set label ", p->name,
                        " at graph 0, graph 1 left offset character 0, character 0.6 font ',7'\n");
    lra_text_add(
        t, "plot '%s' index %d matrix using 1:2:3 with image pixels\nunset label\nunset object\n",
        p->file, p->block);
}
