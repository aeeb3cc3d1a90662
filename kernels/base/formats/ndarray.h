/* A dense array as a file holds it: element type, shape, bytes; the common ground of npy and
 * safetensors.
 * Limits of every reader: rank <= 8, each dimension <= 2^40, elements <= 2^48, bytes computed with
 * overflow check.  Non-finite values are values. */
#ifndef LRA_BASE_FORMATS_NDARRAY_H
#define LRA_BASE_FORMATS_NDARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_MAX_DIMS = 8 };

/* X(identifier, name in safetensors, bytes of an element, descr in npy or NULL) */
#define LRA_DTYPES(X)                                                                              \
    X(BOOL, "BOOL", 1, "b1")                                                                       \
    X(U8, "U8", 1, "u1")                                                                           \
    X(I8, "I8", 1, "i1")                                                                           \
    X(F8_E5M2, "F8_E5M2", 1, NULL)                                                                 \
    X(F8_E4M3, "F8_E4M3", 1, NULL)                                                                 \
    X(U16, "U16", 2, "u2")                                                                         \
    X(I16, "I16", 2, "i2")                                                                         \
    X(F16, "F16", 2, "f2")                                                                         \
    X(BF16, "BF16", 2, NULL)                                                                       \
    X(U32, "U32", 4, "u4")                                                                         \
    X(I32, "I32", 4, "i4")                                                                         \
    X(F32, "F32", 4, "f4")                                                                         \
    X(U64, "U64", 8, "u8")                                                                         \
    X(I64, "I64", 8, "i8")                                                                         \
    X(F64, "F64", 8, "f8")                                                                         \
    X(C64, "C64", 8, "c8")                                                                         \
    X(C128, NULL, 16, "c16")                                                                       \
    X(TEXT, NULL, 0, "U") /* fixed width, UCS-4; npy only, where the caller accepts it */          \
    X(BYTES, NULL, 0, "S")

typedef enum {
#define LRA_DTYPE(id, name, bytes, descr) LRA_DTYPE_##id,
    LRA_DTYPES(LRA_DTYPE)
#undef LRA_DTYPE
        LRA_N_DTYPES
} lra_dtype;

typedef struct {
    lra_dtype dtype;
    int rank; /* 0: a scalar */
    int64_t dims[LRA_MAX_DIMS];
    int64_t n;         /* elements */
    size_t element;    /* bytes of one */
    bool swapped;      /* big-endian */
    bool fortran;      /* first index fastest */
    const void *bytes; /* n * element, as stored; borrowed */
} lra_ndarray;

const char *lra_dtype_name(lra_dtype t); /* "F32"; of npy's own types "c16", "U", "S" */
size_t lra_dtype_bytes(lra_dtype t);     /* 0 for texts */

/* Sets n from rank and dims and checks the limits; `name` is used in the message. */
int lra_ndarray_count(lra_ndarray *a, const char *name, lra_err *e);
/* Elements as float32 in row-major order.  Integers, F16 and BF16 are widened; F64 and
 * wide integers are rounded to float32.  BOOL bytes other than 0 and 1, complex numbers, texts and
 * 8-bit floats fail.  `name` is used in the message. */
int lra_ndarray_get_f32(const lra_ndarray *a, const char *name, float *out, lra_err *e);
/* The i-th element (row-major) of a TEXT or BYTES array as UTF-8, without the zeros that pad it;
 * caller frees.
 * NULL with a message when it is no valid text. */
char *lra_ndarray_text(const lra_ndarray *a, int64_t i, const char *name, lra_err *e);

#endif
