/* Draws a contact sheet: training images in the first row; each variant of the augmentation,
 * applied to these images, in the rows below; the complete augmentation in the last row. */
#include "probes/data/sheet.h"

#include <stdio.h>
#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/formats/png.h"
#include "kernels/base/core/mem.h"

enum { COLUMNS = 8, GUTTER = 2, SMALL = 64, STREAM = 0x5348, CHANNELS = 3 };

/* The picture that is drawn. */
typedef struct {
    /* side: pixels of an image side; zoom: size of an image pixel in the sheet; cell: size of an
     * image and its gutter in the sheet */
    int64_t side, zoom, cell;
    int height, width;
    uint8_t *pixel; /* (height, width, 3) RGB values */
} sheet;

static void put(sheet *s, int64_t at_row, int64_t column, const lra_row *row)
{
    for (int64_t y = 0; y < s->side * s->zoom; y++)
        for (int64_t x = 0; x < s->side * s->zoom; x++) {
            const uint16_t *from = row->token + (y / s->zoom * s->side + x / s->zoom) * row->width;
            int64_t to = (at_row * s->cell + GUTTER + y) * s->width + column * s->cell + GUTTER + x;
            for (int c = 0; c < CHANNELS; c++)
                s->pixel[CHANNELS * to + c] = (uint8_t)from[row->width == CHANNELS ? c : 0];
        }
}

/* Draws row at_row of the sheet: an augmentation applied to images that are spread over the
 * training split. */
static void draw(const lra_dataset *d, const lra_augmentation *a, int64_t at_row, uint16_t *copy,
                 sheet *s)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    for (int64_t column = 0; column < COLUMNS; column++) {
        lra_row row = lra_sequences_row(r, column * r->n / COLUMNS);
        lra_rng rng = lra_rng_new(0, STREAM, (uint64_t)(at_row * COLUMNS + column));
        row.token = memcpy(copy, row.token, (size_t)(row.n * row.width) * sizeof *copy);
        if (at_row > a->n_variants)
            a->apply(d, &rng, &row);
        else if (at_row > 0)
            a->variant((int)at_row - 1, &rng, &row);
        put(s, at_row, column, &row);
    }
}

static void say(const lra_augmentation *a, int at_row)
{
    char *text = at_row > 0 && at_row <= a->n_variants ? a->variant_text(at_row - 1) : NULL;
    printf("row %-3d %s\n", at_row + 1,
           text          ? text
           : at_row == 0 ? "training images"
                         : "all combined, as in training");
    lra_free(text);
}

int lra_data_sheet(const lra_dataset *d, const char *path, lra_err *e)
{
    const lra_augmentation *a = lra_augmentation_of(d->task);
    int64_t side = lra_dataset_grid(d);
    if (!a || !a->variant || side == 0)
        return lra_fail_usage(e, "task '%s' has no image augmentation; remove --sheet",
                              d->task->name);
    sheet s = {.side = side, .zoom = side <= SMALL ? 2 : 1};
    s.cell = side * s.zoom + GUTTER;
    s.height = (int)(s.cell * (a->n_variants + 2)) + GUTTER;
    s.width = (int)s.cell * COLUMNS + GUTTER;
    s.pixel = lra_alloc_array((size_t)s.height * (size_t)s.width, CHANNELS);
    memset(s.pixel, 255, (size_t)s.height * (size_t)s.width * CHANNELS);
    uint16_t *copy = lra_alloc_array((size_t)(side * side * CHANNELS), sizeof *copy);
    for (int at_row = 0; at_row < a->n_variants + 2; at_row++) draw(d, a, at_row, copy, &s);
    int rc = lra_png_write_colour(path, s.height, s.width, s.pixel, e);
    for (int at_row = 0; at_row < a->n_variants + 2 && rc == 0; at_row++) say(a, at_row);
    lra_free(copy);
    lra_free(s.pixel);
    return rc;
}
