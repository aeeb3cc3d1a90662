/* Pathfinder in the official layout:
 *   SET/LEVEL/imgs/BATCH/sample_I.png    8-bit greyscale
 *   SET/LEVEL/metadata/BATCH.npy         text in spite of its name, or a NumPy array of texts; one
 *                                        row for each image:
 *     folder file number LABEL continuity contour distractor length thickness margin contrasts
 * SET is pathfinder32 and so on; LEVEL is curv_baseline, curv_contour_length_9 or
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

/* The images of a level, in the order to which splits refer: metadata files by the number in their
 * name, lines in file order. Images that are missing, empty or cannot be decoded are skipped and
 * counted. */
typedef struct {
    int64_t n;
    int window;
    int32_t *label;             /* (n) labels 0 or 1 */
    struct pathfinder_png *png; /* (n) images, not decoded */
    int64_t n_listed, n_absent, n_empty, n_broken;
    char first_broken[512]; /* error of the first image that cannot be decoded */
    /* n_batches: number of metadata files; n_gaps: numbers missing between the first and the last
     * of them */
    int64_t n_batches, n_gaps;
    /* number of files that an archive contains twice; the last one counts */
    int64_t n_doubled;
    char *folder;  /* path of the level's folder */
    uint64_t hash; /* xxh3-64 of the names and bytes of all files */
    /* n_copies: number of folders with this level; the first by name is read. equal: the others
     * have the same files. */
    int n_copies;
    bool equal;
    struct pathfinder_copy *from; /* owner of the files' bytes */
} lra_pathfinder_set;

/* Reads the wanted levels (indices of lra_pathfinder_level_names) of one image size, set[k] for
 * level[k]: from a folder, an archive, or archives in a folder (datasets/formats/walk.h), in one
 * pass and without writing files. A level's folder may be up to four levels below the path
 * (lra_release/lra_release/SET/LEVEL). The compressed files of these levels stay in memory: for
 * 200,000 images 100 MB at 32 pixels and 520 MB at 128. LRA_ABSENT: there are none. */
int lra_pathfinder_read(const char *path, int window, int n_levels, const int *level,
                        lra_pathfinder_set *set, lra_err *e);
void lra_pathfinder_sets_free(int n_levels, lra_pathfinder_set *set);
/* Reads all copies of one level, in the order of their folders; *n: number of copies. The caller
 * frees the sets and the array. */
int lra_pathfinder_read_copies(const char *path, int window, int level, int *n,
                               lra_pathfinder_set **set, lra_err *e);
/* Hashes the files that lra_pathfinder_read() reads (xxh3-64); of an archive, all its bytes. */
int lra_pathfinder_hash(const char *path, int window, int n_levels, const int *level,
                        lra_digest *to, lra_err *e);
/* Decodes image i; pixel: (window,window). */
void lra_pathfinder_decode(const lra_pathfinder_set *s, int64_t i, uint8_t *pixel);
/* Decodes all images: (n,window,window), freed with lra_free_large(). */
uint8_t *lra_pathfinder_pixels(const lra_pathfinder_set *s, lra_err *e);

#endif
