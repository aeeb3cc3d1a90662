/* Attention maps (T,T), query by key, as images of figures: at most 64 by 64 pixels, on a
 * square-root scale from a map's smallest weight (0) to its largest (1), because the first queries
 * of causal attention have few keys. */
#ifndef LRA_REPORTS_VIEWS_ATTENTION_MAP_H
#define LRA_REPORTS_VIEWS_ATTENTION_MAP_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

/* Labels of the ends of the colour bar. */
#define LRA_MAP_LEAST "minimum"
#define LRA_MAP_MOST  "maximum (square-root scale)"
/* Side of the image in pixels. */
int64_t lra_map_pixels(const lra_probe_array *map);
/* Adds the mean of n maps of equal size as a data block, one line per query; longer maps are
 * averaged over squares. */
void lra_map_add(lra_text *t, const char *name, int n, const lra_probe_array *const *map);
/* True if the array is (T,T). */
bool lra_map_is_square(const lra_probe_array *map, int64_t T);
/* One panel: data block `block` of `file` as an image of pixels x pixels, with `name` as its title.
 * Ticks: at the first, middle and last of `tokens` (0: no ticks), with labels on the left axis and
 * the bottom axis if left and below are set. */
typedef struct {
    const char *file, *name;
    int block;
    int64_t pixels, tokens;
    bool left, below;
} lra_map_panel;
void lra_map_plot(lra_text *t, const lra_map_panel *p);

#endif
