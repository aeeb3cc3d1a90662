/* The files of an archive (.tar, .tar.gz, .tar.xz, .zip), or the one file of a compressed one (.gz,
 * .xz, .bz2); recognised by content, not by name. */
#ifndef LRA_DATASETS_FORMATS_ARCHIVE_H
#define LRA_DATASETS_FORMATS_ARCHIVE_H

#include "datasets/formats/visit.h"

/* At a path; names of its files stand behind the prefix.  An archive that ends early, or unpacks to
 * more than is allowed, is a failure. */
int lra_walk_archive(lra_walk *w, const char *path, const char *prefix, lra_err *e);
/* The same in memory; `name` stands in messages. */
int lra_walk_bytes(lra_walk *w, const void *bytes, size_t n, const char *name, lra_err *e);

#endif
