/* A dense array as a file stores it: element type, shape, bytes. Shared by npy and safetensors.
 * Limits of every reader: rank <= 8, each dimension <= 2^40, elements <= 2^48; the number of bytes
 * is computed with an overflow check. Non-finite numbers are accepted. */
#ifndef LRA_BASE_FORMATS_NDARRAY_H
#define LRA_BASE_FORMATS_NDARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/base/core/err.h"

enum { LRA_MAX_DIMS = 8 };

/* X(identifier, name in safetensors, bytes per element, descr in npy or NULL) */
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
    X(TEXT, NULL, 0, "U") /* fixed-width UCS-4 text; npy only, if the caller accepts it */         \
    X(BYTES, NULL, 0, "S")

typedef enum {
#define LRA_DTYPE(id, name, bytes, descr) LRA_DTYPE_##id,
    LRA_DTYPES(LRA_DTYPE)
#undef LRA_DTYPE
        LRA_N_DTYPES
} lra_dtype;

typedef struct {
    lra_dtype dtype;
    int rank; /* number of dimensions; 0: a scalar */
    int64_t dims[LRA_MAX_DIMS];
    int64_t n;         /* number of elements of the array */
    size_t element;    /* bytes per element */
    bool swapped;      /* the elements are big-endian */
    bool fortran;      /* the first index is the fastest */
    const void *bytes; /* n * element bytes, as stored; not owned */
} lra_ndarray;

const char *lra_dtype_name(lra_dtype t); /* "F32"; for types of npy only "c16", "U", "S" */
size_t lra_dtype_bytes(lra_dtype t);     /* bytes per element; 0 for texts */

/* Sets n from rank and dims, and checks the limits. `name` is used in messages. */
int lra_ndarray_count(lra_ndarray *a, const char *name, lra_err *e);
/* Converts the elements to float32 in row-major order. Integers, F16 and BF16 are widened; F64 and
 * wide integers are rounded. BOOL bytes other than 0 and 1, complex numbers, texts and 8-bit floats
 * are errors. `name` is used in messages. */
int lra_ndarray_get_f32(const lra_ndarray *a, const char *name, float *out, lra_err *e);
/* Same as lra_ndarray_get_f32(), to double; integers beyond 2^53 are rounded. */
int lra_ndarray_get_f64(const lra_ndarray *a, const char *name, double *out, lra_err *e);
/* Same as lra_ndarray_get_f32(), to int64, for integers and BOOL only; fails for U64 elements above
 * 2^63 - 1. */
int lra_ndarray_get_i64(const lra_ndarray *a, const char *name, int64_t *out, lra_err *e);
/* The i-th element (row-major) of a TEXT or BYTES array as UTF-8, without the zeros that pad it;
 * the caller frees it. NULL with a message if it is not valid text. */
char *lra_ndarray_text(const lra_ndarray *a, int64_t i, const char *name, lra_err *e);

#endif
