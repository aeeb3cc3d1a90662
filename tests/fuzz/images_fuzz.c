/* CIFAR-10 batches and IDX files from arbitrary bytes. Images that are accepted have labels of ten
 * classes; their pixels are within the input or in memory of their own. */
#include "datasets/formats/cifar.h"
#include "datasets/formats/idx.h"
#include "datasets/formats/mnist_file.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const uint8_t list[] = {0, 0, 8, 1, 0, 0, 0, 3, 1, 9, 4},
                         image[] = {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 28, 0, 0, 0, 28},
                         cube[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0,
                                   1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
    uint8_t record[LRA_CIFAR_RECORD] = {7};
    if (i == 0) lra_text_bytes(to, list, sizeof list);
    if (i == 1) lra_text_bytes(to, cube, sizeof cube);
    if (i == 2) lra_text_bytes(to, image, sizeof image);
    if (i == 2) lra_text_bytes(to, record, LRA_MNIST_PIXELS);
    if (i == 3) lra_text_bytes(to, record, sizeof record);
    return i < 4;
}

static void read_cifar(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_cifar c = {0};
    if (lra_cifar_add(&c, "test_batch.bin", data, n, &e) != 0) lra_fuzz_check_message(&e);
    if (c.file[5].n + c.n_strange > (int64_t)(n / LRA_CIFAR_RECORD)) LRA_BUG("too many records");
    for (int64_t i = 0; i < c.file[5].n; i++)
        if (lra_cifar_record(&c, i)[0] >= LRA_CIFAR_CLASSES) LRA_BUG("a label above 9");
    lra_cifar_free(&c);
}

static void read_idx(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    lra_idx out;
    if (lra_idx_parse(data, n, "x", &out, &e) != 0) {
        lra_fuzz_check_message(&e);
        return;
    }
    int64_t size = 1;
    for (int k = 1; k < out.rank; k++) size *= out.extent[k];
    if (out.n > out.extent[0] || out.item < data || out.n * size > data + n - out.item)
        LRA_BUG("items outside the bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const names[] = {"train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"};
    read_cifar(data, n);
    read_idx(data, n);
    lra_mnist m = {0};
    for (int i = 0; i < 2; i++) {
        lra_err e = {{0}};
        if (lra_mnist_add(&m, names[i], data, n, &e) != 0) lra_fuzz_check_message(&e);
    }
    lra_mnist_free(&m);
    return 0;
}
