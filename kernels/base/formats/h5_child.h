/* Untrusted HDF5 files, which are read by a child process with limits (h5_child.c). The functions
 * correspond to those of h5.h, for an lra_h5 with a child. */
#ifndef LRA_BASE_FORMATS_H5_CHILD_H
#define LRA_BASE_FORMATS_H5_CHILD_H

#include "kernels/base/formats/h5_impl.h"

/* Starts the child, which opens f->source. Sets f->child, f->kind and f->format. Fails with one
 * line if the library crashes or does not terminate on this file. */
int lra_h5_child_open(lra_h5 *f, const char *kind, lra_err *e);
bool lra_h5_child_has(lra_h5 *f, const char *path);
bool lra_h5_child_has_attr(lra_h5 *f, const char *path, const char *name);
int lra_h5_child_find(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e);
int lra_h5_child_get(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
                     void *data, lra_err *e);
char *lra_h5_child_text(lra_h5 *f, const char *path, lra_err *e);
int lra_h5_child_int(lra_h5 *f, const char *path, const char *name, int64_t *value, lra_err *e);
int lra_h5_child_real(lra_h5 *f, const char *path, const char *name, double *value, lra_err *e);
char *lra_h5_child_attr_text(lra_h5 *f, const char *path, const char *name, lra_err *e);
int lra_h5_child_list(lra_h5 *f, const char *group, char ***names, lra_err *e);
/* Fails if the child has failed during a query that cannot report an error. */
int lra_h5_child_intact(const lra_h5 *f, lra_err *e);
void lra_h5_child_close(lra_h5 *f); /* no effect if f has no child */

#endif
