/* Pathfinder: reads the files of levels from a folder or archives into memory (internal to the
 * reader). A level is a folder with `imgs` and `metadata` below it; there may be several copies of
 * a level. */
#ifndef LRA_DATASETS_PATHFINDER_COPY_H
#define LRA_DATASETS_PATHFINDER_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datasets/loader/digest.h"
#include "kernels/base/core/err.h"

/* Maximum depth of the folder of a level: lra_release/lra_release/SET/LEVEL. */
enum { PATHFINDER_DEPTH = 4 };

typedef struct {
    const char *name; /* name below the level's folder: imgs/BATCH/FILE or metadata/NUMBER.npy */
    const char *bytes;
    size_t n;
    /* order: index in reading order. batch: NUMBER of metadata/NUMBER.npy, -1 for an image */
    int64_t order, batch;
} pathfinder_file;

/* memory block with names and bytes of many files */
typedef struct pathfinder_block pathfinder_block;
typedef struct pathfinder_copy {
    char *folder; /* folder below the path; "": the path itself */
    int level;    /* index in pathfinder_copies.level */
    int64_t n, capacity, n_batches, n_doubled;
    pathfinder_file *file; /* (n) files in order of name */
    pathfinder_block *block;
    uint64_t hash; /* xxh3-64 hash of the names and bytes of all files */
} pathfinder_copy;

/* Input: the wanted levels (indices of lra_pathfinder_level_names) of one image size. Output: the
 * copies found. */
typedef struct {
    const char *path;
    int window, n_levels;
    const int *level;
    pathfinder_copy *copy; /* (n) copies in order of folder */
    int n, last;
} pathfinder_copies;

/* Reads all copies in one walk over the path. If an archive contains a file twice, the last one
 * counts, as when the archive is unpacked. */
int pathfinder_copies_read(pathfinder_copies *c, lra_err *e);
int pathfinder_copies_hash(const pathfinder_copies *c, lra_digest *to, lra_err *e);
void pathfinder_copy_free(pathfinder_copy *c);
void pathfinder_copies_free(pathfinder_copies *c);
/* Returns the file with this name, NULL if there is none. */
const pathfinder_file *pathfinder_copy_find(const pathfinder_copy *c, const char *name);

#endif
