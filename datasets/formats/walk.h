/* The files below a path, whatever the path is: a folder, an archive, one compressed file
 * (archive.h), or a plain file.  Nothing is written.  A compressed file of a folder is left out,
 * and said to be, where the same name without its last suffix is there, too. */
#ifndef LRA_DATASETS_FORMATS_WALK_H
#define LRA_DATASETS_FORMATS_WALK_H

#include "datasets/formats/visit.h"
#include "datasets/loader/digest.h"

/* An archive that ends early, or unpacks to more than is allowed, is a failure. */
int lra_walk_path(lra_walk *w, const char *path, lra_err *e);
/* Hashes of what is below a path: an archive's own bytes, or names and bytes of the files of a
 * folder, as far as they are wanted. */
int lra_walk_hash(const lra_walk *w, const char *path, lra_digest *to, lra_err *e);

#endif
