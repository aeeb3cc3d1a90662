/* Inside of walks: what walk.c and archive.c share. */
#ifndef LRA_DATASETS_FORMATS_WALK_H
#define LRA_DATASETS_FORMATS_WALK_H

#include "datasets/formats/archive.h"

#define LRA_WALK_MAX_FILE ((uint64_t)1 << 30)

bool lra_walk_wants(const lra_walk *w, const char *name);
/* Gives out a file; its end, when it was given out in pieces. */
int lra_walk_visit(lra_walk *w, const char *name, const char *bytes, size_t n, lra_err *e);
int lra_walk_end(lra_walk *w, const char *name, lra_err *e);
/* The archive or compressed file at a path; names of its files stand behind the prefix. */
int lra_walk_archive(lra_walk *w, const char *path, const char *prefix, lra_err *e);

#endif
