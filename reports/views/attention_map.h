/* Attention maps (T,T), query by key, as images of figures: at most 64 by 64 pixels, on a
 * square-root scale from a map's smallest weight (0) to its largest (1), because the first queries
 * of causal attention have few keys. */
#ifndef LRA_REPORTS_VIEWS_ATTENTION_MAP_H
#define LRA_REPORTS_VIEWS_ATTENTION_MAP_H

#include "reports/draw/plot.h"
#include "reports/results/probe_result.h"

/* Ends of the bar of shades. */
#define LRA_MAP_LEAST "minimum"
#define LRA_MAP_MOST  "maximum (square-root scale)"
/* Pixels of a side. */
int64_t lra_map_pixels(const lra_probe_array *map);
/* The mean of n maps of one size as a block of the data, a line for each query; longer maps are
 * averaged over squares. */
void lra_map_add(lra_text *t, const char *name, int n, const lra_probe_array *const *map);
/* True if the array is (T,T). */
bool lra_map_is_square(const lra_probe_array *map, int64_t T);
/* One panel: a block of `file` as pixels by pixels, with a small name above it; tokens: ticks at
 * the first, middle and last of them, with numbers at the left and below if these are set (0: no
 * ticks). */
typedef struct {
    const char *file, *name;
    int block;
    int64_t pixels, tokens;
    bool left, below;
} lra_map_panel;
void lra_map_plot(lra_text *t, const lra_map_panel *p);

#endif
