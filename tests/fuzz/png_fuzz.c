/* PNG: any bytes; what is accepted has the extent that its header says. */
#include <stdio.h>
#include <unistd.h>

#include "datasets/png.h"
#include "kernels/base/file.h"
#include "tests/fuzz/fuzz.h"

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const int side[] = {1, 5, 32};
    if (i >= (int)(sizeof side / sizeof *side)) return false;
    lra_err e;
    size_t n;
    uint8_t pixel[32 * 32];
    for (int k = 0; k < side[i] * side[i]; k++) pixel[k] = (uint8_t)(k % 7 ? 0 : k);
    char *path = lra_format("png_fuzz.%ld", (long)getpid());
    if (lra_png_write(path, side[i], side[i], pixel, &e) != 0) LRA_BUG("%s", e.msg);
    char *bytes = lra_file_read(path, 1 << 20, &n, &e);
    if (!bytes) LRA_BUG("%s", e.msg);
    lra_text_bytes(to, bytes, n);
    remove(path);
    lra_free_large(bytes);
    lra_free(path);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    lra_err e = {{0}};
    int height, width;
    if (lra_png_size(data, n, "x", &height, &width, &e) != 0) {
        lra_fuzz_check_message(&e);
        return 0;
    }
    if (height < 1 || width < 1 || height > LRA_PNG_MAX_SIDE || width > LRA_PNG_MAX_SIDE)
        LRA_BUG("%d x %d pixels", height, width);
    if (height > 256 || width > 256) return 0; /* the same code, slower */
    uint8_t *pixel = lra_alloc_array((size_t)height, (size_t)width);
    if (lra_png_read(data, n, "x", height, width, pixel, &e) != 0) lra_fuzz_check_message(&e);
    lra_free(pixel);
    return 0;
}
