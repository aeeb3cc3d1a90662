/* Pathfinder: draws and detects the round markers, and measures how well their distance predicts
 * the label. */
#ifndef LRA_DATASETS_PATHFINDER_MARKER_H
#define LRA_DATASETS_PATHFINDER_MARKER_H

#include "datasets/formats/lanczos.h"
#include "datasets/pathfinder/paddle.h"

/* Returns the filter that reduces the canvas of the markers (twice the resolution) to the image. */
lra_lanczos *lra_pathfinder_shrink(const lra_pathfinder_size *size);
/* Draws a marker: ink = max(ink, disc around tip (y,x)); ink: (window,window). */
void lra_pathfinder_disc(const lra_pathfinder_size *size, const lra_lanczos *shrink,
                         const int tip[2], uint8_t *ink);

/* Detector of the markers of an image of grey levels: every pixel of a marker is at least as bright
 * as the corresponding pixel of the disc. */
typedef struct lra_marker_finder lra_marker_finder;
lra_marker_finder *lra_marker_finder_new(const lra_pathfinder_size *size);
void lra_marker_finder_free(lra_marker_finder *f); /* Nullable: f */
/* Finds the positions (y,x) of the two most likely markers; returns the grey level (0..255) of the
 * dimmer one. */
int lra_marker_find(const lra_marker_finder *f, const uint8_t *pixel, int at[2][2]);

/* Baseline that predicts the label from the distance between the markers: the majority label of
 * each bin of 1.5 pixels. */
enum { LRA_DISTANCE_BINS = 256 };
typedef struct {
    int64_t count[LRA_DISTANCE_BINS][2];
    /* label of each bin; empty bins have the overall majority label */
    int32_t label[LRA_DISTANCE_BINS];
} lra_distance_rule;
double lra_marker_distance(int at[2][2]);
void lra_distance_rule_add(lra_distance_rule *r, double distance, int32_t label);
void lra_distance_rule_fit(lra_distance_rule *r);
int32_t lra_distance_rule_label(const lra_distance_rule *r, double distance);

#endif
