/* Attention maps (T,T), query by key, as images of figures: at most 64 by 64 pixels, from a map's
 * least weight (0) to its largest (1), by the square root, since the first queries of causal
 * attention have few keys. */
#ifndef LRA_REPORTS_ATTENTION_MAP_H
#define LRA_REPORTS_ATTENTION_MAP_H

#include "reports/plot.h"
#include "reports/probe_result.h"

/* What a figure says of the shades. */
#define LRA_MAP_SHADES "dark: the map's largest weight, by square roots"
/* Pixels of a side. */
int64_t lra_map_pixels(const lra_probe_array *map);
/* The mean of n maps of one size as a block of the data, a line for each query; longer maps are
 * averaged over squares. */
void lra_map_add(lra_text *t, const char *name, int n, const lra_probe_array *const *map);
/* A square of numbers, of T steps? */
bool lra_map_is_square(const lra_probe_array *map, int64_t T);
/* The plot of a block in the box of a panel, with a small name above it. */
void lra_map_plot(lra_text *t, const char *file, int block, int64_t pixels, const char *name);

#endif
