/* Converts the arrays of an npz or safetensors file to columns. The first dimension is the example.
 *   (n) and (n,1)        NUMBER; of text: TEXT
 *   (n,T) integers       IDS
 *   (n,T) real numbers   VALUES of width 1
 *   (n,T,F)              VALUES of width F
 * n is the first dimension that most arrays have. Arrays with another first dimension, rank or type
 * are REFUSED; single numbers (rank 0) are skipped. In VALUES, float64 and integers are rounded to
 * float32, float16 and bfloat16 are widened.
 * Padding: if there is a column of integers 'length' or 'lengths', every column of sequences with
 * at least as many time steps as the largest length is truncated to these lengths. */
#ifndef LRA_DATASETS_FORMATS_ARRAY_COLUMNS_H
#define LRA_DATASETS_FORMATS_ARRAY_COLUMNS_H

#include "datasets/formats/columns.h"
#include "kernels/base/formats/ndarray.h"

typedef struct {
    const char *name;
    lra_ndarray array;  /* type and shape; `bytes` is not read */
    const char *reason; /* why the array cannot be used; else NULL */
} lra_array_source;

/* Converts n arrays to columns; checks their shapes before it allocates memory. load() sets the
 * bytes of the i-th array, which stay valid until its next call. path: for messages. */
int lra_data_columns_of_arrays(const char *path, int n, const lra_array_source *source,
                               int (*load)(void *of, int i, lra_ndarray *a, lra_err *e), void *of,
                               lra_data_columns *out, lra_err *e);

#endif
