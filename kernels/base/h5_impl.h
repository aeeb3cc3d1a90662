/* What the HDF5 files of kernels/base share; the only header that shows an HDF5 type. */
#ifndef LRA_BASE_H5_IMPL_H
#define LRA_BASE_H5_IMPL_H

#define H5_USE_110_API /* newer libraries offer the same interface under this name */
#include <hdf5.h>

#include "kernels/base/file.h"
#include "kernels/base/h5.h"

struct lra_h5 {
    hid_t id;
    char *path, *kind;
    lra_file *target; /* being written: PATH.tmp; NULL: being read */
    char *image;      /* being written: the bytes of the file */
    size_t capacity;  /* of the image */
    bool closed;      /* the library has given the image up */
    bool sealed;      /* being read: with a seal, which was right */
};

/* ---- h5_seal.c ---- */
enum { LRA_H5_SEAL = 64 };
/* Where the HDF5 data end, as a superblock of version 3 says; 0: it is none. */
size_t lra_h5_end(const char *superblock, size_t n);
/* Writes the image and its seal: 0 or -1 with errno. */
int lra_h5_write_sealed(FILE *to, const char *image, size_t n);
/* Compares the seal with the bytes before it; *sealed: there is one. */
int lra_h5_check_seal(FILE *f, const char *path, bool *sealed, lra_err *e);

/* Once per process: silent, no plug-ins. */
void lra_h5_start(void);
/* "'x.h5': WHAT: innermost reason of the library"; returns -1. */
int lra_h5_fail(const lra_h5 *f, const char *what, lra_err *e);
hid_t lra_h5_memory_type(lra_h5_type t); /* native */
hid_t lra_h5_file_type(lra_h5_type t);   /* little-endian */
size_t lra_h5_type_bytes(lra_h5_type t);

#endif
