/* PNG files from arbitrary bytes, also after the checksum of every chunk has been corrected, so
 * that damage inside of chunks is read. An accepted image has the announced size, every pixel is
 * set, and reading it again gives the same pixels. */
#include <stdio.h>
#include <unistd.h>

#include "datasets/formats/png.h"
#include "kernels/base/os/file.h"
#include "tests/fuzz/fuzz.h"

enum { START = 8, CHUNK = 12, MAX_FILE = 1 << 20 };

bool lra_fuzz_seed(int i, lra_text *to)
{
    static const int sides[][2] = {{32, 32}, {1, 1}, {5, 9}, {3, 64}};
    if (i >= (int)(sizeof sides / sizeof *sides)) return false;
    uint8_t pixel[32 * 32];
    char path[64];
    lra_err e = {{0}};
    for (int k = 0; k < 32 * 32; k++) pixel[k] = (uint8_t)(k * k / 7 * (k % 3));
    snprintf(path, sizeof path, "/tmp/lra-fuzz-%ld.png", (long)getpid());
    size_t n = 0;
    char *bytes = lra_png_write(path, sides[i][0], sides[i][1], pixel, &e) == 0
                      ? lra_file_read(path, MAX_FILE, &n, &e)
                      : NULL;
    if (!bytes) LRA_BUG("%s", e.msg);
    lra_text_bytes(to, bytes, n);
    lra_free_large(bytes);
    remove(path);
    return true;
}

static uint32_t number_at(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint32_t crc_of(const uint8_t *p, size_t n)
{
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* Corrects the checksums of chunks (length, type, data, checksum of type and data), as long as the
 * lengths are within the input. */
static void mend(uint8_t *p, size_t n)
{
    for (size_t at = START; at + CHUNK <= n;) {
        size_t length = number_at(p + at);
        if (length > n - at - CHUNK) return;
        uint32_t crc = crc_of(p + at + 4, length + 4);
        for (int k = 0; k < 4; k++) p[at + 8 + length + (size_t)k] = (uint8_t)(crc >> (24 - 8 * k));
        at += CHUNK + length;
    }
}

static void read_image(const uint8_t *bytes, size_t n)
{
    lra_err e = {{0}};
    int height = 0, width = 0;
    if (lra_png_size(bytes, n, "x", &height, &width, &e) != 0) {
        lra_fuzz_check_message(&e);
        return;
    }
    if (height < 1 || width < 1 || height > LRA_PNG_MAX_SIDE || width > LRA_PNG_MAX_SIDE)
        LRA_BUG("%d x %d pixels", height, width);
    if (lra_png_read(bytes, n, "x", height + 1, width, NULL, &e) == 0)
        LRA_BUG("another height is accepted");
    size_t size = (size_t)height * (size_t)width;
    if (size > MAX_FILE) return; /* larger files are slow and find nothing more */
    uint8_t *a = lra_alloc(size), *b = lra_alloc(size);
    memset(b, 0xA5, size);
    int first = lra_png_read(bytes, n, "x", height, width, a, &e);
    if (first != 0) lra_fuzz_check_message(&e);
    int second = lra_png_read(bytes, n, "x", height, width, b, &e);
    if (first != second || (first == 0 && memcmp(a, b, size) != 0))
        LRA_BUG("the second reading differs");
    lra_free(a);
    lra_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    uint8_t *mended = lra_alloc(n);
    if (n) memcpy(mended, data, n);
    mend(mended, n);
    read_image(data, n);
    if (n && memcmp(mended, data, n) != 0) read_image(mended, n);
    lra_free(mended);
    return 0;
}
