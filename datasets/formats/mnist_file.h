/* The four files of MNIST, or of another data set in the same format. */
#ifndef LRA_DATASETS_FORMATS_MNIST_FILE_H
#define LRA_DATASETS_FORMATS_MNIST_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "datasets/loader/digest.h"
#include "kernels/base/core/err.h"

#define LRA_MNIST_SOURCE                                                                           \
    "train-images-idx3-ubyte.gz, train-labels-idx1-ubyte.gz, t10k-images-idx3-ubyte.gz, "          \
    "t10k-labels-idx1-ubyte.gz (MNIST, yann.lecun.com/exdb/mnist), unpacked or not"

/* Python program that converts Parquet files with the columns image (a PNG) and label. */
#define LRA_MNIST_PARQUET                                                                          \
    "import glob,io,struct,numpy as n,pandas as p;from PIL import Image as I;[(open(a+"            \
    "'-images-idx3-ubyte','wb').write(struct.pack('>4I',2051,len(d),28,28)+b''.join(n.asarray("    \
    "I.open(io.BytesIO(x['bytes']))).tobytes() for x in d.image)),open(a+'-labels-idx1-ubyte',"    \
    "'wb').write(struct.pack('>2I',2049,len(d))+bytes(d.label))) for s,a in (('train','train'),"   \
    "('test','t10k')) for d in [p.concat(map(p.read_parquet,sorted(glob.glob('**/'+s+"             \
    "'-*.parquet',recursive=True))))]]"
enum {
    LRA_MNIST_SIDE = 28,
    LRA_MNIST_PIXELS = LRA_MNIST_SIDE * LRA_MNIST_SIDE,
    LRA_MNIST_CLASSES = 10
};

/* The training or the test set. */
typedef struct {
    uint8_t *image; /* (n, LRA_MNIST_PIXELS) grey levels */
    uint8_t *label; /* (n) labels */
    int64_t n_images, n_labels;
    int64_t n; /* number of images that have a valid label */
} lra_mnist_part;
typedef struct {
    lra_mnist_part part[2]; /* training set, test set */
    int64_t n_missing;      /* items that the headers of the files state but that are missing */
    int64_t n_strange;      /* labels above 9; they are skipped with their images */
    int64_t n_unpaired;     /* images without a label, and labels without an image */
    /* bytes after the last complete item of the files */
    int64_t n_extra;
    char extra[64]; /* name of the first file with extra bytes */
} lra_mnist;

/* Adds one of the four files. A second copy of a file must have the same bytes. */
int lra_mnist_add(lra_mnist *m, const char *name, const void *bytes, size_t n, lra_err *e);
/* Reads all files below a path, which is a folder, an archive or a compressed file. */
int lra_mnist_read(lra_mnist *m, const char *path, lra_err *e);
int lra_mnist_hash(const char *path, lra_digest *to, lra_err *e);
void lra_mnist_free(lra_mnist *m);

#endif
