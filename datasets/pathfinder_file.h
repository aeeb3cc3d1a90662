/* Pathfinder in the official layout:
 *   SET/LEVEL/imgs/BATCH/sample_I.png    8-bit greyscale
 *   SET/LEVEL/metadata/BATCH.npy         text in spite of its name, or a NumPy array of texts; a row an image:
 *     folder file number LABEL continuity contour distractor length thickness margin contrasts
 * SET is pathfinder32 and so on; LEVEL curv_baseline, curv_contour_length_9, curv_contour_length_14. */
#ifndef LRA_DATASETS_PATHFINDER_FILE_H
#define LRA_DATASETS_PATHFINDER_FILE_H

#include <stddef.h>

#include "datasets/pathfinder_image.h"
#include "kernels/base/err.h"

enum { LRA_PATHFINDER_LEVELS = 3, LRA_PATHFINDER_BATCH = 1000 };
extern const char *const lra_pathfinder_level_names[LRA_PATHFINDER_LEVELS]; /* "easy" ... */
extern const char
    *const lra_pathfinder_level_folders[LRA_PATHFINDER_LEVELS]; /* "curv_baseline" ... */
extern const int lra_pathfinder_level_paddles[LRA_PATHFINDER_LEVELS];

/* What the metadata of a level folder list, in the order that splits refer to: files by the number in their
 * name, lines as they come. */
typedef struct {
    int64_t n, capacity;
    char **path; /* of the images */
    int32_t *label;
    int64_t n_batches, n_gaps; /* numbers missing between the first and the last batch */
    uint64_t hash;             /* xxh3-64 of the metadata */
} lra_pathfinder_list;
int lra_pathfinder_list_read(const char *level_folder, lra_pathfinder_list *out, lra_err *e);
void lra_pathfinder_list_free(lra_pathfinder_list *l);
/* Adds the rows of one metadata file; `folder` stands before the paths, `name` in messages. */
int lra_pathfinder_metadata(const void *bytes, size_t n, const char *folder, const char *name,
                            lra_pathfinder_list *out, lra_err *e);

/* Images of a level; those that are absent, empty or cannot be decoded are left out and counted. */
typedef struct {
    int64_t n;
    int window;
    uint8_t *pixel; /* (n,window,window) */
    int32_t *label;
    int64_t n_absent, n_empty, n_broken;
    char first_broken[512]; /* why, for the first of them */
} lra_pathfinder_set;
/* window 0: as the first image that can be read. */
int lra_pathfinder_set_read(const lra_pathfinder_list *l, int window, lra_pathfinder_set *out,
                            lra_err *e);
void lra_pathfinder_set_free(lra_pathfinder_set *s);
/* xxh3-64 of the metadata and of every image that the list names. */
uint64_t lra_pathfinder_list_hash(const lra_pathfinder_list *l);

/* The folder of a level, in `folder` itself or up to three levels below (lra_release/lra_release/SET/LEVEL);
 * caller frees.  The which-th of several copies; NULL without a message when there are fewer. */
char *lra_pathfinder_find(const char *folder, int window, int level, int which);

/* Writes images first..first+n-1 of the set `seed` as one batch: images, then the metadata. */
int lra_pathfinder_write_batch(const lra_pathfinder *g, const char *level_folder, int64_t batch,
                               uint64_t seed, int64_t first, int64_t n, lra_err *e);

#endif
