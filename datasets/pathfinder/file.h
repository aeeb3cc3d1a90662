/* Pathfinder in the official layout:
 *   SET/LEVEL/imgs/BATCH/sample_I.png    8-bit greyscale
 *   SET/LEVEL/metadata/BATCH.npy         text in spite of its name, or a NumPy array of texts; one
 *                                        row for each image:
 *     folder file number LABEL continuity contour distractor length thickness margin contrasts
 * SET is pathfinder32 and so on; LEVEL curv_baseline, curv_contour_length_9,
 * curv_contour_length_14.
 * Published as lra_release.gz, a gzip'ed tar archive of all sets, with pathfinder128 twice. */
#ifndef LRA_DATASETS_PATHFINDER_FILE_H
#define LRA_DATASETS_PATHFINDER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datasets/loader/digest.h"
#include "datasets/pathfinder/image.h"
#include "kernels/base/core/err.h"

enum { LRA_PATHFINDER_BATCH = 1000 };

#define LRA_PATHFINDER_SOURCE "lra_release.gz (Long Range Arena), unpacked or not"

/* The images of a level, in the order that splits refer to: metadata files by the number in their
 * name, lines in file order. Images that are missing, empty or cannot be decoded are skipped and
 * counted. */
typedef struct {
    int64_t n;
    int window;
    int32_t *label;             /* (n) */
    struct pathfinder_png *png; /* (n) undecoded */
    int64_t n_listed, n_absent, n_empty, n_broken;
    char first_broken[512];    /* why, for the first of them */
    int64_t n_batches, n_gaps; /* metadata files; numbers missing between the first and the last */
    int64_t n_doubled;         /* files that an archive holds twice: the last one counts */
    char *folder;              /* of the level */
    uint64_t hash;             /* of the names and bytes of all files */
    /* Folders of this level, of which the first by name is read; are the files of the others
     * identical? */
    int n_copies;
    bool equal;
    struct pathfinder_copy *from; /* owns the bytes */
} lra_pathfinder_set;

/* Reads the levels (indices of lra_pathfinder_level_names) of one size, set[k] for level[k]: from a
 * folder, an archive, or archives in a folder (datasets/formats/walk.h), in one pass and without
 * writing. The folder of a level may be up to four levels below the path
 * (lra_release/lra_release/SET/LEVEL). The compressed files of these levels are held in memory, 100
 * MB for 200,000 images of 32 pixels and 520 MB of 128. LRA_ABSENT: there are none. */
int lra_pathfinder_read(const char *path, int window, int n_levels, const int *level,
                        lra_pathfinder_set *set, lra_err *e);
void lra_pathfinder_sets_free(int n_levels, lra_pathfinder_set *set);
/* All *n copies of one level, in the order of their folders; the caller frees the sets and the
 * array. */
int lra_pathfinder_read_copies(const char *path, int window, int level, int *n,
                               lra_pathfinder_set **set, lra_err *e);
/* xxh3-64 of the files that would be read; of an archive, of all its bytes. */
int lra_pathfinder_hash(const char *path, int window, int n_levels, const int *level,
                        lra_digest *to, lra_err *e);
/* Image i; pixel: (window,window). */
void lra_pathfinder_decode(const lra_pathfinder_set *s, int64_t i, uint8_t *pixel);
/* All of them: (n,window,window), freed with lra_free_large(). */
uint8_t *lra_pathfinder_pixels(const lra_pathfinder_set *s, lra_err *e);

#endif
