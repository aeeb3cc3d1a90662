/* Attention maps (T,T), query by key, as images in figures, at most 64 by 64 pixels. The scale is
 * the square root of the weight, from the smallest (0) to the largest (1) weight of a map, because
 * the first queries of causal attention have few keys and therefore large weights. */
#ifndef LRA_REPORTS_VIEWS_ATTENTION_MAP_H
#define LRA_REPORTS_VIEWS_ATTENTION_MAP_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

/* Labels of the ends of the colour bar. */
#define LRA_MAP_LEAST "minimum"
#define LRA_MAP_MOST  "maximum (square-root scale)"
/* Side length of the image in pixels. */
int64_t lra_map_pixels(const lra_probe_array *map);
/* Adds the mean of n maps of equal size as a data block, one line per query; maps with more than 64
 * positions are averaged over squares. */
void lra_map_add(lra_text *t, const char *name, int n, const lra_probe_array *const *map);
/* True if the array is (T,T). */
bool lra_map_is_square(const lra_probe_array *map, int64_t T);
/* One panel: data block `block` of `file` as an image of pixels x pixels, with the title `name`.
 * Ticks are at the first, middle and last of `tokens` (0: no ticks); the left axis has labels if
 * `left` is set, the bottom axis if `below` is set. */
typedef struct {
    const char *file, *name;
    int block;
    int64_t pixels, tokens;
    bool left, below;
} lra_map_panel;
void lra_map_plot(lra_text *t, const lra_map_panel *p);

#endif
