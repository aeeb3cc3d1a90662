/* Internal declarations of the HDF5 files of kernels/base; the only header with HDF5 types. */
#ifndef LRA_BASE_FORMATS_H5_IMPL_H
#define LRA_BASE_FORMATS_H5_IMPL_H

#define H5_USE_110_API /* the interface of version 1.10, also in newer libraries */
#include <hdf5.h>

#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"

typedef struct lra_h5_child lra_h5_child;

struct lra_h5 {
    hid_t id;
    char *path, *kind;
    lra_file *target; /* writing: PATH.tmp; NULL: the file is open for reading */
    int write_error;  /* for writing: errno of the first failed write, 0: none */
    FILE *source;     /* for reading: the only file that the library can access */
    int64_t size;     /* for reading: size of the file in bytes */
    bool opened; /* for reading: true after the driver has opened the file; it opens no other one */
    int64_t format; /* for reading: value of lra.format */
    bool sealed;    /* for reading: the file has a valid seal */
    /* for reading: the child process that reads the file; NULL: this process reads it */
    lra_h5_child *child;
};

/* ---- h5_seal.c ---- */
enum { LRA_H5_SEAL = 64 };
/* Offset of the end of the HDF5 data, from a superblock of version 3; 0: the bytes are not such a
 * superblock. */
size_t lra_h5_end(const char *superblock, size_t n);
/* Adds the seal to a complete file. Returns 0, or -1 with errno. */
int lra_h5_seal(FILE *f);
/* Compares the seal with the bytes before it. Sets *sealed to true if the file has a seal. */
int lra_h5_check_seal(FILE *f, const char *path, bool *sealed, lra_err *e);

/* ---- h5_stream.c ---- */
/* Creates the HDF5 file in f->target. */
hid_t lra_h5_stream_create(lra_h5 *f);
/* Opens the HDF5 file in f->source. The driver opens no other file that it names: external links
 * and virtual datasets are not followed. */
hid_t lra_h5_stream_open(lra_h5 *f);

/* ---- h5_read.c ---- */
/* Opens f->source in this process and sets f->format, f->kind.  Nullable: kind */
int lra_h5_open_inside(lra_h5 *f, const char *kind, lra_err *e);
int lra_h5_check_kind(const lra_h5 *f, const char *kind, lra_err *e);
/* Compares type, rank and dimensions (-1: any) with those in the file. */
int lra_h5_check_extent(const lra_h5 *f, const char *path, const lra_h5_info *found,
                        lra_h5_type type, int rank, const int64_t *dims, lra_err *e);

enum { LRA_H5_TEXT_MAX = 64 << 20 };
/* lra_h5_creation(): properties of a new dataset: chunks of at most 1 MiB, all filters.
 * lra_h5_make_groups(): property that creates the missing parent groups of a new object. */
hid_t lra_h5_creation(size_t element, int rank, const int64_t *dims);
hid_t lra_h5_make_groups(void);
/* Opens a dataset if it is stored in an accepted way. Returns -1 with a message otherwise. */
hid_t lra_h5_open_set(lra_h5 *f, const char *path, lra_h5_info *info, lra_err *e);

/* Initialises the library once per process: without messages of its own, without plug-ins. */
void lra_h5_start(void);
/* Fails with "'x.h5': WHAT: innermost reason of the library"; returns -1. */
int lra_h5_fail(const lra_h5 *f, const char *what, lra_err *e);
/* Fails if there is too little memory for the next call of the library, which would crash. */
int lra_h5_room(const char *path, lra_err *e);
hid_t lra_h5_memory_type(lra_h5_type t); /* type in memory, in native byte order */
hid_t lra_h5_file_type(lra_h5_type t);   /* little-endian type in the file */
size_t lra_h5_type_bytes(lra_h5_type t);

#endif
