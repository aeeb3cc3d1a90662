/* CIFAR-10, the "binary version": files of records. A record is 1 label byte, then 3 x 1024 bytes:
 * the red, the green and the blue plane of 32 x 32 pixels, row by row.
 * Source: Krizhevsky 2009, "Learning multiple layers of features from tiny images". */
#ifndef LRA_DATASETS_FORMATS_CIFAR_H
#define LRA_DATASETS_FORMATS_CIFAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "datasets/loader/digest.h"
#include "kernels/base/core/err.h"

#define LRA_CIFAR_SOURCE                                                                           \
    "cifar-10-binary.tar.gz (CIFAR-10 binary version, Krizhevsky 2009, "                           \
    "www.cs.toronto.edu/~kriz/cifar.html), unpacked or not"

/* Python program that converts Parquet files with the columns img (a PNG) and label. */
#define LRA_CIFAR_PARQUET                                                                          \
    "import glob,io,numpy as n,pandas as p;from PIL import Image as I;[open(f,'wb').write(b''"     \
    ".join(bytes([y])+n.asarray(I.open(io.BytesIO(x['bytes']))).transpose(2,0,1).tobytes() for "   \
    "x,y in p.concat(map(p.read_parquet,sorted(glob.glob('**/'+s+'-*.parquet',recursive=True))))"  \
    "[['img','label']].values)) for s,f in (('train','data_batch_1.bin'),('test',"                 \
    "'test_batch.bin'))]"
enum {
    LRA_CIFAR_PIXELS = 32 * 32,
    LRA_CIFAR_COLOURS = 3,
    LRA_CIFAR_RECORD = 1 + LRA_CIFAR_COLOURS * LRA_CIFAR_PIXELS,
    LRA_CIFAR_CLASSES = 10,
    LRA_CIFAR_FILES = 6, /* five training batches, then the test batch */
    LRA_CIFAR_FILE_RECORDS = 10000
};
extern const char *const lra_cifar_classes[LRA_CIFAR_CLASSES];
extern const char *const lra_cifar_files[LRA_CIFAR_FILES];

typedef struct {
    uint8_t *record; /* (n, LRA_CIFAR_RECORD) records of a file; NULL: the file is missing */
    int64_t n;
    uint64_t hash;
} lra_cifar_file;
typedef struct {
    lra_cifar_file file[LRA_CIFAR_FILES];
    int64_t n_cut;     /* bytes after the last complete record of the files */
    int64_t n_strange; /* skipped records, whose label is above 9 */
    bool other_form;   /* the path contains files of the Python version */
} lra_cifar;

/* Adds the records of one file. A second copy of a file must have the same bytes. */
int lra_cifar_add(lra_cifar *c, const char *name, const void *bytes, size_t n, lra_err *e);
/* Reads all files below a path, which is a folder, an archive or a compressed file. */
int lra_cifar_read(lra_cifar *c, const char *path, lra_err *e);
/* Computes the xxh3-64 hash of the files that lra_cifar_read() reads. */
int lra_cifar_hash(const char *path, lra_digest *to, lra_err *e);
void lra_cifar_free(lra_cifar *c);

int64_t lra_cifar_n_train(const lra_cifar *c);
/* Returns record i of all files: the training batches in order, then the test batch. */
const uint8_t *lra_cifar_record(const lra_cifar *c, int64_t i);

#endif
