/* PNG: writing and reading an image gives its pixels; truncated files and files with a changed byte
 * are rejected, or the pixels are unchanged. */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <string.h>

#include "datasets/formats/png.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

enum { HEIGHT = 7, WIDTH = 11 };

static void draw(uint8_t *pixel)
{
    for (int i = 0; i < HEIGHT * WIDTH; i++) pixel[i] = (uint8_t)(i * i * 37 + i);
}

/* Returns the bytes of an image that was written as PNG; the caller frees them. */
static char *written(size_t *n)
{
    lra_err e;
    uint8_t pixel[HEIGHT * WIDTH];
    draw(pixel);
    assert_int_equal(lra_png_write("png_test.png", HEIGHT, WIDTH, pixel, &e), 0);
    char *bytes = lra_file_read("png_test.png", 1 << 20, n, &e);
    remove("png_test.png");
    assert_non_null(bytes);
    return bytes;
}

TEST(read_back)
{
    lra_err e;
    size_t n;
    int height = 0, width = 0;
    uint8_t pixel[HEIGHT * WIDTH], again[HEIGHT * WIDTH];
    char *bytes = written(&n);
    draw(pixel);
    assert_int_equal(lra_png_size(bytes, n, "x", &height, &width, &e), 0);
    assert_int_equal(height, HEIGHT);
    assert_int_equal(width, WIDTH);
    assert_int_equal(lra_png_read(bytes, n, "x", HEIGHT, WIDTH, again, &e), 0);
    assert_memory_equal(pixel, again, sizeof pixel);
    assert_int_equal(lra_png_read(bytes, n, "x", WIDTH, HEIGHT, again, &e), -1);
    assert_string_equal(e.msg, "'x' has 7 x 11 pixels, expected 11 x 7");
    lra_free_large(bytes);
}

/* Every checksum is compared: a file with a changed byte is rejected, or its pixels are
 * unchanged. */
TEST(damage_is_noticed)
{
    lra_err e;
    size_t n;
    uint8_t pixel[HEIGHT * WIDTH], again[HEIGHT * WIDTH];
    char *bytes = written(&n);
    draw(pixel);
    for (size_t cut = 0; cut < n; cut++) {
        /* memory of exactly this size, so that the address sanitizer detects reads beyond it */
        char *part = lra_alloc(cut + 1);
        memcpy(part, bytes, cut);
        assert_int_equal(lra_png_read(part, cut, "x", HEIGHT, WIDTH, again, &e), -1);
        assert_non_null(strstr(e.msg, "'x'"));
        lra_free(part);
    }
    for (size_t at = 0; at < n; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
            if (lra_png_read(bytes, n, "x", HEIGHT, WIDTH, again, &e) == 0)
                assert_memory_equal(pixel, again, sizeof pixel);
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
        }
    lra_free_large(bytes);
}

static void refuses(const char *bytes, size_t n, const char *message)
{
    lra_err e = {{0}};
    uint8_t pixel[16];
    assert_int_equal(lra_png_read(bytes, n, "x", 4, 4, pixel, &e), -1);
    if (!strstr(e.msg, message)) fail_msg("'%s' lacks '%s'", e.msg, message);
}

TEST(other_kinds_are_refused)
{
    /* 4 x 4 pixels in RGB, and in 16-bit grey: headers with their checksums. */
    static const char rgb[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\4\0\0\0\4\10\2\0\0\0\x26\x93\x09\x29"
        "\0\0\0\0IDAT\x35\xaf\x06\x1e";
    static const char deep[] =
        "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\4\0\0\0\4\20\0\0\0\0\xdc\x0a\x1d\xe1"
        "\0\0\0\0IDAT\x35\xaf\x06\x1e";
    refuses(rgb, sizeof rgb - 1, "found 8-bit RGB, expected 8-bit greyscale without interlacing");
    refuses(deep, sizeof deep - 1,
            "found 16-bit greyscale, expected 8-bit greyscale without interlacing");
    refuses("GIF89a", 6, "cannot decode 'x'");
    refuses("", 0, "the file ends early");
    lra_err e;
    uint8_t pixel[4] = {0};
    assert_int_equal(lra_png_write("no such folder/x.png", 2, 2, pixel, &e), -1);
    assert_non_null(strstr(e.msg, "cannot write 'no such folder/x.png'"));
}
