/* What was built: recorded in every result. */
#ifndef LRA_BASE_VERSION_H
#define LRA_BASE_VERSION_H

/* `git describe --always --dirty` of the sources, "unknown" outside a checkout. */
const char *lra_revision(void);

#endif
