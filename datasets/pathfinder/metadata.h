/* Reader of Pathfinder's metadata files. */
#ifndef LRA_DATASETS_PATHFINDER_METADATA_H
#define LRA_DATASETS_PATHFINDER_METADATA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Entries of metadata files, in the order of their lines. */
typedef struct {
    int64_t n, capacity;
    char **path; /* (n) path of each image below the level's folder: imgs/BATCH/FILE */
    int32_t *label;
} lra_pathfinder_list;
/* Appends the entries of one metadata file; `name` is used in messages. */
int lra_pathfinder_metadata(const void *bytes, size_t n, const char *name, lra_pathfinder_list *out,
                            lra_err *e);
void lra_pathfinder_list_free(lra_pathfinder_list *l);

#endif
