/* The three levels of Pathfinder: names, official folders and path lengths. */
#ifndef LRA_DATASETS_PATHFINDER_LEVELS_H
#define LRA_DATASETS_PATHFINDER_LEVELS_H

/* Paddles per long path of the three levels; a distractor has a third of this number. */
enum { LRA_PATHFINDER_EASY = 6, LRA_PATHFINDER_INTERMEDIATE = 9, LRA_PATHFINDER_HARD = 14 };
enum { LRA_PATHFINDER_MAX_PADDLES = LRA_PATHFINDER_HARD };

enum { LRA_PATHFINDER_LEVELS = 3 };
/* names of the levels: "easy", "intermediate", "hard" */
extern const char *const lra_pathfinder_level_names[LRA_PATHFINDER_LEVELS];
extern const char
    *const lra_pathfinder_level_folders[LRA_PATHFINDER_LEVELS]; /* names of the official folders:
                                                                 * "curv_baseline", .. */
extern const int lra_pathfinder_level_paddles[LRA_PATHFINDER_LEVELS];

#endif
