/* Files and folders: reading and writing of complete files, listing of folders. */
#ifndef LRA_BASE_OS_FILE_H
#define LRA_BASE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/core/err.h"

/* Opens a regular file for reading. Refuses folders, FIFOs and devices without blocking. */
FILE *lra_file_open(const char *path, lra_err *e);
/* Reads a regular file, and appends a 0 that n_bytes does not count. Refuses files above
 * `max_bytes`. The caller frees the result with lra_free_large(). */
char *lra_file_read(const char *path, size_t max_bytes, size_t *n_bytes, lra_err *e);

/* Writes a file completely or not at all. The bytes go to PATH.N.tmp, which no other writer uses.
 * lra_file_commit() flushes, syncs, renames and syncs the folder, and reports a full disk; on
 * failure PATH is unchanged. lra_file_abort(), and a signal that ends the program, remove
 * PATH.N.tmp. Nullable: w */
typedef struct lra_file lra_file;
lra_file *lra_file_create(const char *path, lra_err *e);
FILE *lra_file_stream(lra_file *w); /* opened for writing and reading */
/* name of the temporary file, for other programs that write to it */
const char *lra_file_temporary(const lra_file *w);
int lra_file_commit(lra_file *w, lra_err *e);
void lra_file_abort(lra_file *w);
/* Writes n bytes to PATH: create, write, commit. */
int lra_file_write(const char *path, const void *bytes, size_t n, lra_err *e);
/* Fails for a file of 64 MiB or more that is almost completely sparse. Its size is not the size of
 * its data, and reading it would take hours. */
int lra_file_check_holes(FILE *f, const char *path, lra_err *e);
/* Removes temporary files of killed writers from a folder. */
void lra_folder_clean(const char *path);

bool lra_file_exists(const char *path);
bool lra_is_folder(const char *path);
/* Creates a folder and its parents, like mkdir -p. Each new folder is synced together with its
 * parent, so that it survives a power failure. */
int lra_folder_make(const char *path, lra_err *e);
/* Syncs the folder that contains PATH, so that the name of a new file or folder is on the disk. */
int lra_folder_sync(const char *path, lra_err *e);
/* Lists the entry names of a folder without "." and "..", sorted. Returns their number or -1. The
 * caller frees the names with lra_names_free(). */
int lra_folder_list(const char *path, char ***names, lra_err *e);
void lra_names_free(char **names, int n);
/* Removes a file. A missing file is not an error. */
int lra_file_remove(const char *path, lra_err *e);

/* xxh3-64 hash of n bytes. */
uint64_t lra_hash64(const void *bytes, size_t n);
/* xxh32 hash of a text with seed 0; used for keys of dropout. */
uint32_t lra_hash32(const char *text);

#endif
