/* Reads and writes PNG by libpng, whose errors return by longjmp(). Between setjmp() and these
 * errors, only libpng's own structures are allocated. */
#include "datasets/formats/png.h"

#include <png.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"

typedef struct {
    const uint8_t *at;
    size_t left;
    const char *name;
    lra_err *e;
} source;

/* ---- messages -------------------------------------------------------------------------------- */

static void on_error(png_structp png, png_const_charp text)
{
    const source *s = png_get_error_ptr(png);
    lra_fail(s->e, "cannot decode '%s': %s", s->name, text);
    png_longjmp(png, 1);
}

/* Turns libpng's warnings into errors; they only occur when reading. */
static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void take(png_structp png, png_bytep to, size_t n)
{
    source *s = png_get_io_ptr(png);
    if (n > s->left) png_error(png, "the file ends early");
    memcpy(to, s->at, n);
    s->at += n, s->left -= n;
}

/* ---- read ------------------------------------------------------------------------------------ */

/* Ends with png_error() unless the image is 8-bit greyscale without interlacing. */
static void check_format(png_structp png, png_infop info)
{
    int depth = png_get_bit_depth(png, info), type = png_get_color_type(png, info);
    bool interlaced = png_get_interlace_type(png, info) != PNG_INTERLACE_NONE;
    const char *name = type == PNG_COLOR_TYPE_GRAY         ? "greyscale"
                       : type == PNG_COLOR_TYPE_GRAY_ALPHA ? "greyscale with alpha"
                       : type == PNG_COLOR_TYPE_PALETTE    ? "palette"
                       : type == PNG_COLOR_TYPE_RGB        ? "RGB"
                                                           : "RGB with alpha";
    char text[128];
    if (depth == 8 && type == PNG_COLOR_TYPE_GRAY && !interlaced) return;
    snprintf(text, sizeof text, "found %d-bit %s%s, expected 8-bit greyscale without interlacing",
             depth, name, interlaced ? " with interlacing" : "");
    png_error(png, text);
}

/* Opens an image and reads its header. On failure, frees what it allocated. */
static png_structp open_png(source *s, png_infop *info, lra_err *e)
{
    s->e = e;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s, on_error, on_warning);
    if (!png) {
        lra_fail(e, "libpng cannot be used (%s at run time)", png_get_libpng_ver(NULL));
        return NULL;
    }
    *info = png_create_info_struct(png);
    if (!*info || setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, info, NULL);
        return NULL;
    }
    png_set_user_limits(png, LRA_PNG_MAX_SIDE, LRA_PNG_MAX_SIDE);
    png_set_chunk_cache_max(png, 16);
    png_set_chunk_malloc_max(png, 1 << 20);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_read_fn(png, s, take);
    png_read_info(png, *info);
    check_format(png, *info);
    return png;
}

int lra_png_size(const void *bytes, size_t n, const char *name, int *height, int *width, lra_err *e)
{
    source s = {bytes, n, name, e};
    png_infop info = NULL;
    png_structp png = open_png(&s, &info, e);
    if (!png) return LRA_FAILED;
    *height = (int)png_get_image_height(png, info);
    *width = (int)png_get_image_width(png, info);
    png_destroy_read_struct(&png, &info, NULL);
    return 0;
}

int lra_png_read(const void *bytes, size_t n, const char *name, int height, int width,
                 uint8_t *pixel, lra_err *e)
{
    source s = {bytes, n, name, e};
    png_infop info = NULL;
    png_structp png = open_png(&s, &info, e);
    if (!png) return LRA_FAILED;
    int found[2] = {(int)png_get_image_height(png, info), (int)png_get_image_width(png, info)};
    if (found[0] != height || found[1] != width) {
        png_destroy_read_struct(&png, &info, NULL);
        return lra_fail(e, "'%s' has %d x %d pixels, expected %d x %d", name, found[0], found[1],
                        height, width);
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return LRA_FAILED;
    }
    for (int y = 0; y < height; y++) png_read_row(png, pixel + (size_t)y * (size_t)width, NULL);
    png_read_end(png, NULL);
    png_destroy_read_struct(&png, &info, NULL);
    return 0;
}

/* ---- write ----------------------------------------------------------------------------------- */

static int encode(FILE *f, const char *path, int height, int width, int channels,
                  const uint8_t *pixel, lra_err *e)
{
    source s = {NULL, 0, path, e};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_write_struct(&png, NULL);
        return lra_fail(e, "libpng cannot be used (%s at run time)", png_get_libpng_ver(NULL));
    }
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return LRA_FAILED;
    }
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8,
                 channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int y = 0; y < height; y++)
        png_write_row(png, pixel + (size_t)y * (size_t)(width * channels));
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return 0;
}

static int write_png(const char *path, int height, int width, int channels, const uint8_t *pixel,
                     lra_err *e)
{
    lra_file *w = lra_file_create(path, e);
    if (!w) return LRA_FAILED;
    if (encode(lra_file_stream(w), path, height, width, channels, pixel, e) == 0)
        return lra_file_commit(w, e);
    lra_file_abort(w);
    return LRA_FAILED;
}

int lra_png_write(const char *path, int height, int width, const uint8_t *pixel, lra_err *e)
{
    return write_png(path, height, width, 1, pixel, e);
}

int lra_png_write_colour(const char *path, int height, int width, const uint8_t *pixel, lra_err *e)
{
    return write_png(path, height, width, 3, pixel, e);
}
