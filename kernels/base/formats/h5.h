/* HDF5 files of this project: complete or absent, and every changed bit is detected. Written to a
 * temporary file (file.h) with format bounds V110, every dataset chunked with shuffle, deflate and
 * fletcher32, scalars and short text as attributes; then closed, sealed with a hash of all its
 * bytes, fsynced, renamed, directory fsynced.
 * Root attributes: lra.format = 2 and lra.kind = checkpoint|result|data|probe. */
#ifndef LRA_BASE_FORMATS_H5_H
#define LRA_BASE_FORMATS_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* 2: texts are lines, tables name their columns, epochs are counted from 1; 1: reports/FORMAT.md
 * tells. */
enum { LRA_H5_FORMAT = 2, LRA_H5_MAX_RANK = 8 };
enum { LRA_H5_ROOM = 16 << 20 }; /* bytes that the library needs to write a file */

typedef enum {
    LRA_H5_F32,
    LRA_H5_F64,
    LRA_H5_I32,
    LRA_H5_I64,
    LRA_H5_U8,
    LRA_H5_U16,
    LRA_H5_U32,
    LRA_H5_OTHER /* type of a foreign file that we never write */
} lra_h5_type;

typedef struct {
    lra_h5_type type;
    int rank;
    int64_t dims[LRA_H5_MAX_RANK];
    int64_t n; /* elements */
} lra_h5_info;

typedef struct lra_h5 lra_h5; /* an open file, being written or being read */

/* ---- write ----------------------------------------------------------------------------------- */

/* Opens a temporary file; refuses a directory that cannot be written before anything is
 * computed. */
lra_h5 *lra_h5_create(const char *path, const char *kind, lra_err *e);
/* Closes, syncs, renames.  Frees f in any case; on failure PATH is untouched. */
int lra_h5_commit(lra_h5 *f, lra_err *e);

/* Intermediate groups are made.  Rank 0 is refused: use an attribute.  Dimensions may be 0. */
int lra_h5_put(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               const void *data, lra_err *e);
/* Writes UTF-8 text as a dataset of fixed-length strings, one element per line, which every HDF5
 * program shows as text.  Text that is read back ends with '\n' even if the original did not. */
int lra_h5_put_text(lra_h5 *f, const char *path, const char *text, lra_err *e);
/* Values (rows, columns) with the attribute "columns": their names, separated by blanks. */
int lra_h5_put_table(lra_h5 *f, const char *path, const char *columns, int64_t n_rows,
                     const double *values, lra_err *e);
/* Attributes of `path` (a group, made when missing, or a dataset; "/" is the file). */
int lra_h5_set_int(lra_h5 *f, const char *path, const char *name, int64_t value, lra_err *e);
int lra_h5_set_real(lra_h5 *f, const char *path, const char *name, double value, lra_err *e);
int lra_h5_set_text(lra_h5 *f, const char *path, const char *name, const char *text, lra_err *e);

/* ---- read ------------------------------------------------------------------------------------ */

/* Checks that the file is HDF5, complete, of our format (or an older one) and of this kind.  No
 * other file that it names is opened.  A file without a seal, or of lra_h5_distrust(), is read by a
 * child process with memory and time limits, so that a forged file can only cause a failure.
 * Nullable: kind (any). */
lra_h5 *lra_h5_open(const char *path, const char *kind, lra_err *e);
/* Makes later opens of this file, by any path, read it in a child process: the user named the file,
 * and a seal proves no origin. */
void lra_h5_distrust(const char *path);
/* Fails if a query without an error result (has, has_attr) has failed; for readers, after the last
 * query. */
int lra_h5_intact(const lra_h5 *f, lra_err *e);
int64_t lra_h5_format(const lra_h5 *f);
/* Did it have its seal?  Without it the library's checksums are all that was compared. */
bool lra_h5_sealed(const lra_h5 *f);
/* Closes; a file being written is removed.  Nullable: f */
void lra_h5_close(lra_h5 *f);

bool lra_h5_has(lra_h5 *f, const char *path);
int lra_h5_find(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e);
/* Reads a complete dataset; its type and extent must be the given ones.  A dimension of -1 accepts
 * any extent (the caller has called lra_h5_find() before it allocated). */
int lra_h5_get(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               void *data, lra_err *e);
char *lra_h5_get_text(lra_h5 *f, const char *path, lra_err *e); /* caller frees; at most 64 MiB */
/* Reads the named columns of a table, in this order, (rows, number of names); the caller owns
 * *values. Files of format 1 store no names: the number of columns must match. */
int lra_h5_get_table(lra_h5 *f, const char *path, const char *columns, int64_t *n_rows,
                     double **values, lra_err *e);
bool lra_h5_has_attr(lra_h5 *f, const char *path, const char *name);
int lra_h5_get_int(lra_h5 *f, const char *path, const char *name, int64_t *value, lra_err *e);
int lra_h5_get_real(lra_h5 *f, const char *path, const char *name, double *value, lra_err *e);
char *lra_h5_attr_text(lra_h5 *f, const char *path, const char *name,
                       lra_err *e); /* caller frees */
/* Names of the children of a group in alphabetical order; caller frees with lra_h5_free_names().
 * Returns their number, or -1. */
int lra_h5_list(lra_h5 *f, const char *group, char ***names, lra_err *e);
void lra_h5_free_names(char **names, int n);

/* "1.10.8": the library this program runs with. */
const char *lra_h5_version(void);

#endif
