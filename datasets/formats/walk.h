/* The files below a path of any kind: a folder, an archive, one compressed file (archive.h), or a
 * plain file. Nothing is written. A compressed file in a folder is skipped with a message if the
 * folder also has the same name without its last suffix. */
#ifndef LRA_DATASETS_FORMATS_WALK_H
#define LRA_DATASETS_FORMATS_WALK_H

#include "datasets/formats/visit.h"
#include "datasets/loader/digest.h"

/* Walks over the files. An archive that ends early, or unpacks to more than is allowed, is a
 * failure. */
int lra_walk_path(lra_walk *w, const char *path, lra_err *e);
/* Hashes the data below a path: the bytes of an archive, or the names and bytes of the files of a
 * folder that the filter accepts. */
int lra_walk_hash(const lra_walk *w, const char *path, lra_digest *to, lra_err *e);

#endif
