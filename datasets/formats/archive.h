/* Reads the files of an archive (.tar, .tar.gz, .tar.xz, .zip), or the single file in a compressed
 * file (.gz, .xz, .bz2). Formats are recognised by content, not by name. */
#ifndef LRA_DATASETS_FORMATS_ARCHIVE_H
#define LRA_DATASETS_FORMATS_ARCHIVE_H

#include "datasets/formats/visit.h"

/* Visits the files of the archive at a path; their names begin with the prefix. Fails if the
 * archive ends early, or if it is larger than allowed when unpacked. */
int lra_walk_archive(lra_walk *w, const char *path, const char *prefix, lra_err *e);
/* Same as lra_walk_archive(), for an archive of n bytes in memory; `name` is used in messages. */
int lra_walk_bytes(lra_walk *w, const void *bytes, size_t n, const char *name, lra_err *e);

#endif
