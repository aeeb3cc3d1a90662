/* npy files from arbitrary bytes, with and without strings allowed. An array that is accepted can
 * be read to its last element. */
#include "kernels/base/formats/npy.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const struct {
        int major;
        const char *header;
        size_t n; /* size of the data in bytes */
    } seeds[] = {
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }", 48},
        {1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }", 3},
        {1, "{'descr': '<f2', 'fortran_order': False, 'shape': (), }", 2},
        {2, "{\"shape\":(2L,3L,),\"fortran_order\":True,\"descr\":\">i2\"}", 12},
        {3, "{'descr': '<U3', 'fortran_order': False, 'shape': (2, 2), }", 48},
        {1, "{'descr': '|S2', 'fortran_order': True, 'shape': (1, 2)}", 4},
        {1, "{'descr': '<c16', 'fortran_order': False, 'shape': (0, 7)}", 0},
        {1, "{'descr': '>u8', 'fortran_order': True, 'shape': (1, 1, 1, 1, 1, 1, 1, 2)}", 16},
    };
    if (i >= (int)(sizeof seeds / sizeof *seeds)) return false;
    size_t length = strlen(seeds[i].header) + 1;
    const unsigned char start[] = {(unsigned char)seeds[i].major, 0, (unsigned char)(length & 255),
                                   (unsigned char)(length >> 8),  0, 0};
    lra_text_bytes(to, "\x93NUMPY", 6);
    lra_text_bytes(to, start, seeds[i].major == 1 ? 4 : 6);
    lra_text_add(to, "%s\n", seeds[i].header);
    for (size_t k = 0; k < seeds[i].n; k++) lra_text_bytes(to, k % 4 ? "\0" : "1", 1);
    return true;
}

static void read_all(const lra_ndarray *a)
{
    lra_err e = {{0}};
    float *floats = lra_alloc_array((size_t)a->n + 1, sizeof *floats);
    if (lra_ndarray_get_f32(a, "x", floats, &e) != 0) lra_fuzz_check_message(&e);
    for (int64_t i = 0; i < a->n && i < 16; i++) {
        char *text = lra_ndarray_text(a, i, "x", &e);
        if (!text) lra_fuzz_check_message(&e);
        lra_free(text);
    }
    lra_free(floats);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int texts = 0; texts < 2; texts++) {
        lra_err e = {{0}};
        lra_ndarray a;
        if (lra_npy_parse(data, n, "x", texts, &a, &e) != 0)
            lra_fuzz_check_message(&e);
        else if ((uint64_t)a.n * a.element > n)
            LRA_BUG("%lld elements of %zu bytes in a file of %zu", (long long)a.n, a.element, n);
        else if (a.n <= 1 << 20)
            read_all(&a);
    }
    return 0;
}
