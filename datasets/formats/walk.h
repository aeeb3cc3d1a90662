/* Walks over the files below a path, which is a folder, an archive, a compressed file (archive.h)
 * or a plain file. Nothing is written. A compressed file in a folder is skipped with a message if
 * the folder also contains the unpacked file, with the same name without the last suffix. */
#ifndef LRA_DATASETS_FORMATS_WALK_H
#define LRA_DATASETS_FORMATS_WALK_H

#include "datasets/formats/visit.h"
#include "datasets/loader/digest.h"

/* Visits all files. Fails if an archive ends early, or if it is larger than allowed when
 * unpacked. */
int lra_walk_path(lra_walk *w, const char *path, lra_err *e);
/* Hashes the data below a path: the bytes of an archive, or the names and bytes of the files of a
 * folder that the filter accepts. */
int lra_walk_hash(const lra_walk *w, const char *path, lra_digest *to, lra_err *e);

#endif
