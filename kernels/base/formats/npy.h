/* The npy format of numpy: one array with a short header. The reader is as strict as the format's
 * documentation (NEP 1): versions 1.0, 2.0, 3.0; a Python dict literal of exactly 'descr',
 * 'fortran_order', 'shape'; then the data and nothing else. Structured types, pickles and byte
 * order '=' are refused. */
#ifndef LRA_BASE_FORMATS_NPY_H
#define LRA_BASE_FORMATS_NPY_H

#include "kernels/base/formats/ndarray.h"

/* Parses an array in n bytes of memory; `a` points to these bytes. texts: accept 'U' and 'S'
 * (fixed-width text). `name` is used in messages. */
int lra_npy_parse(const void *bytes, size_t n, const char *name, bool texts, lra_ndarray *a,
                  lra_err *e);
/* Parses only the header of a file of n bytes. there: number of bytes in memory: all n, or at least
 * 10,012 (the longest header). *data: offset of the data; a->bytes is NULL. */
int lra_npy_parse_header(const void *bytes, size_t there, uint64_t n, const char *name, bool texts,
                         lra_ndarray *a, size_t *data, lra_err *e);

#endif
