/* Pathfinder: statistics of images, and differences between two sets of images. */
#ifndef LRA_DATASETS_PATHFINDER_STATS_H
#define LRA_DATASETS_PATHFINDER_STATS_H

#include "datasets/pathfinder/marker.h"

/* Measures of an image: mean grey level 0..255; shares of the pixels above 0 and above 127; number
 * of 8-connected regions above 127; distance of the markers in pixels; mean row and mean column of
 * the two markers. */
#define LRA_PATHFINDER_MEASURES(X)                                                                 \
    X(GREY, "mean grey")                                                                           \
    X(INK, "share above 0")                                                                        \
    X(BRIGHT, "share above 127")                                                                   \
    X(COMPONENTS, "components")                                                                    \
    X(DISTANCE, "marker distance")                                                                 \
    X(MARKER_Y, "marker row")                                                                      \
    X(MARKER_X, "marker column")
enum {
#define LRA_MEASURE(id, name) LRA_PATHFINDER_##id,
    LRA_PATHFINDER_MEASURES(LRA_MEASURE)
#undef LRA_MEASURE
        LRA_PATHFINDER_N_MEASURES
};
extern const char *const lra_pathfinder_measures[LRA_PATHFINDER_N_MEASURES];

/* Measures images of one size. Each thread needs its own object. */
typedef struct lra_pathfinder_meter lra_pathfinder_meter;
lra_pathfinder_meter *lra_pathfinder_meter_new(const lra_pathfinder_size *size);
void lra_pathfinder_meter_free(lra_pathfinder_meter *m); /* Nullable: m */
void lra_pathfinder_measure(lra_pathfinder_meter *m, const uint8_t *pixel,
                            double value[LRA_PATHFINDER_N_MEASURES]);

/* Sums over images; initialise with {0}. */
typedef struct {
    int64_t n, grey[256];
    double sum[LRA_PATHFINDER_N_MEASURES], squares[LRA_PATHFINDER_N_MEASURES];
} lra_pathfinder_stats;
void lra_pathfinder_stats_add(lra_pathfinder_stats *s, int n_pixels, const uint8_t *pixel,
                              const double value[LRA_PATHFINDER_N_MEASURES]);
double lra_pathfinder_mean(const lra_pathfinder_stats *s, int measure);
double lra_pathfinder_deviation(const lra_pathfinder_stats *s, int measure);
/* Returns Cohen's d: the difference of the means divided by the pooled standard deviation. *error:
 * its standard error. */
double lra_pathfinder_effect(const lra_pathfinder_stats *a, const lra_pathfinder_stats *b,
                             int measure, double *error);
/* Returns the total variation distance of two histograms of grey levels, 0..1: 1/2 of the sum of
 * absolute differences. */
double lra_pathfinder_grey_distance(const lra_pathfinder_stats *a, const lra_pathfinder_stats *b);

#endif
