/* HDF5 files of this project. A file is complete or absent, and every changed bit is detected. It
 * is written to a temporary file (file.h) with format bounds V110, every dataset chunked with
 * shuffle, deflate and fletcher32, scalars and short text as attributes. It is then closed, sealed
 * with a hash of all its bytes, fsynced and renamed, and the directory is fsynced.
 * Root attributes: lra.format = 2 and lra.kind = checkpoint|result|data|probe. */
#ifndef LRA_BASE_FORMATS_H5_H
#define LRA_BASE_FORMATS_H5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

/* Format 2: texts are stored as lines, tables name their columns, epochs are counted from 1. Format
 * 1: see reports/FORMAT.md. */
enum { LRA_H5_FORMAT = 2, LRA_H5_MAX_RANK = 8 };
enum { LRA_H5_ROOM = 16 << 20 }; /* bytes of memory that the library needs to write a file */

typedef enum {
    LRA_H5_F32,
    LRA_H5_F64,
    LRA_H5_I32,
    LRA_H5_I64,
    LRA_H5_U8,
    LRA_H5_U16,
    LRA_H5_U32,
    LRA_H5_OTHER /* a type that only files of other programs have */
} lra_h5_type;

typedef struct {
    lra_h5_type type;
    int rank;
    int64_t dims[LRA_H5_MAX_RANK];
    int64_t n; /* number of elements of the dataset */
} lra_h5_info;

typedef struct lra_h5 lra_h5; /* an open file, being written or being read */

/* ---- write ----------------------------------------------------------------------------------- */

/* Opens a temporary file for writing. Fails at once if the directory is not writable, before
 * anything is computed. */
lra_h5 *lra_h5_create(const char *path, const char *kind, lra_err *e);
/* Closes, syncs and renames the file. Frees f in any case. On failure PATH is unchanged. */
int lra_h5_commit(lra_h5 *f, lra_err *e);

/* Writes a dataset; intermediate groups are created. Rank 0 is an error: use an attribute.
 * Dimensions may be 0. */
int lra_h5_put(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               const void *data, lra_err *e);
/* Writes UTF-8 text as a dataset of fixed-length strings, one element per line, which every HDF5
 * program shows as text.  Text that is read back ends with '\n' even if the original did not. */
int lra_h5_put_text(lra_h5 *f, const char *path, const char *text, lra_err *e);
/* Writes a table of values (rows, columns). The attribute "columns" contains the column names,
 * separated by blanks. */
int lra_h5_put_table(lra_h5 *f, const char *path, const char *columns, int64_t n_rows,
                     const double *values, lra_err *e);
/* Writes an attribute of `path`: a group, which is created if it is missing, or a dataset; "/" is
 * the file. */
int lra_h5_set_int(lra_h5 *f, const char *path, const char *name, int64_t value, lra_err *e);
int lra_h5_set_real(lra_h5 *f, const char *path, const char *name, double value, lra_err *e);
int lra_h5_set_text(lra_h5 *f, const char *path, const char *name, const char *text, lra_err *e);

/* ---- read ------------------------------------------------------------------------------------ */

/* Opens a file for reading. Checks that it is HDF5, complete, of our format (or an older one) and
 * of this kind. No other file that it names is opened. A file without a seal, or one passed to
 * lra_h5_distrust(), is read by a child process with memory and time limits, so that a forged file
 * can only cause a failure. Nullable: kind (any). */
lra_h5 *lra_h5_open(const char *path, const char *kind, lra_err *e);
/* Marks a file, which may have several paths, so that later opens read it in a child process. For
 * files that the user names: a seal does not prove where a file comes from. */
void lra_h5_distrust(const char *path);
/* Fails if an earlier query that cannot report an error (has, has_attr) has failed. For readers,
 * after the last query. */
int lra_h5_intact(const lra_h5 *f, lra_err *e);
int64_t lra_h5_format(const lra_h5 *f);
/* True if the file had a seal. Without it only the library's checksums were verified. */
bool lra_h5_sealed(const lra_h5 *f);
/* Closes a file; a file that is being written is removed. Nullable: f */
void lra_h5_close(lra_h5 *f);

bool lra_h5_has(lra_h5 *f, const char *path);
int lra_h5_find(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e);
/* Reads a complete dataset, whose type and extent must be those given. A dimension of -1 accepts
 * any extent (the caller must have called lra_h5_find() before it allocated `data`). */
int lra_h5_get(lra_h5 *f, const char *path, lra_h5_type type, int rank, const int64_t *dims,
               void *data, lra_err *e);
/* returns the text, at most 64 MiB, which the caller frees */
char *lra_h5_get_text(lra_h5 *f, const char *path, lra_err *e);
/* Reads the named columns of a table, in this order: (rows, number of names). The caller frees
 * *values. Files of format 1 store no names: there the number of columns must match. */
int lra_h5_get_table(lra_h5 *f, const char *path, const char *columns, int64_t *n_rows,
                     double **values, lra_err *e);
bool lra_h5_has_attr(lra_h5 *f, const char *path, const char *name);
int lra_h5_get_int(lra_h5 *f, const char *path, const char *name, int64_t *value, lra_err *e);
int lra_h5_get_real(lra_h5 *f, const char *path, const char *name, double *value, lra_err *e);
char *lra_h5_attr_text(lra_h5 *f, const char *path, const char *name,
                       lra_err *e); /* returns a text, which the caller frees */
/* Lists the children of a group in alphabetical order. Returns their number, or -1. The caller
 * frees the names with lra_h5_free_names(). */
int lra_h5_list(lra_h5 *f, const char *group, char ***names, lra_err *e);
void lra_h5_free_names(char **names, int n);

/* Version of the HDF5 library that the program runs with: "1.10.8". */
const char *lra_h5_version(void);

#endif
