/* Version and build of the program. */
#ifndef LRA_BASE_CORE_VERSION_H
#define LRA_BASE_CORE_VERSION_H

#include <stdio.h>

/* `git describe --always --dirty` of the sources, "unknown" outside a checkout. */
const char *lra_revision(void);

/* Prints the text of --version, one item per line, with the licence of the binary.  libraries:
 * "HDF5 1.10.8, GSL 2.7.1"; level: the instruction level that the program selects at run time. */
void lra_version_print(FILE *out, const char *program, const char *libraries, const char *level);

#endif
