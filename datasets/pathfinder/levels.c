/* The levels of Pathfinder, the easiest first. */
#include "datasets/pathfinder/levels.h"

const char *const lra_pathfinder_level_names[] = {"easy", "intermediate", "hard"};
const char *const lra_pathfinder_level_folders[] = {"curv_baseline", "curv_contour_length_9",
                                                    "curv_contour_length_14"};
const int lra_pathfinder_level_paddles[] = {LRA_PATHFINDER_EASY, LRA_PATHFINDER_INTERMEDIATE,
                                            LRA_PATHFINDER_HARD};
