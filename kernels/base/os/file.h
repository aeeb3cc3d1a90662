/* Files and folders: read and write complete files, search. */
#ifndef LRA_BASE_OS_FILE_H
#define LRA_BASE_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "kernels/base/core/err.h"

/* Opens a regular file to be read; refuses folders, FIFOs and devices without waiting for them. */
FILE *lra_file_open(const char *path, lra_err *e);
/* The bytes of a regular file, with a terminating 0 that is not counted; refuses files above
 * `max_bytes`.  Caller frees with lra_free_large(). */
char *lra_file_read(const char *path, size_t max_bytes, size_t *n_bytes, lra_err *e);

/* Writes to PATH.N.tmp, a file of its own for every writer; lra_file_commit() flushes, syncs,
 * renames and syncs the folder, and reports a full disk; on failure PATH is untouched.
 * lra_file_abort(), and a signal that ends the program, remove PATH.N.tmp.  Nullable: w */
typedef struct lra_file lra_file;
lra_file *lra_file_create(const char *path, lra_err *e);
FILE *lra_file_stream(lra_file *w);                /* open for reading too */
const char *lra_file_temporary(const lra_file *w); /* its name: where other programs write */
int lra_file_commit(lra_file *w, lra_err *e);
void lra_file_abort(lra_file *w);
/* Create, write n bytes, commit. */
int lra_file_write(const char *path, const void *bytes, size_t n, lra_err *e);
/* Fails for a file of 64 MiB or more that is almost completely sparse: its size is not the size of
 * written data, and reading it would take hours. */
int lra_file_check_holes(FILE *f, const char *path, lra_err *e);
/* Removes temporary files of killed writers from a folder. */
void lra_folder_clean(const char *path);

bool lra_file_exists(const char *path);
bool lra_is_folder(const char *path);
/* mkdir -p; each folder that is made is synced with the folder that holds it, and survives a power
 * cut. */
int lra_folder_make(const char *path, lra_err *e);
/* Syncs the folder that holds PATH: the name of a new file or folder is on the disk. */
int lra_folder_sync(const char *path, lra_err *e);
/* Entry names of a folder without "." and "..", sorted; returns their number or -1; the caller
 * frees names with lra_names_free(). */
int lra_folder_list(const char *path, char ***names, lra_err *e);
void lra_names_free(char **names, int n);
/* Removes a file; absent is no error. */
int lra_file_remove(const char *path, lra_err *e);

/* xxh3-64 of bytes. */
uint64_t lra_hash64(const void *bytes, size_t n);
/* xxh32, seed 0: dropout keys. */
uint32_t lra_hash32(const char *text);

#endif
