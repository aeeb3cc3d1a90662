/* Writes Pathfinder folders. The images of a batch are written first, its metadata last and in one
 * piece, so that all images that the metadata name exist. */
#include <string.h>

#include "datasets/formats/png.h"
#include "datasets/pathfinder/write.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

static void add_line(lra_text *t, const lra_pathfinder *g, int64_t batch, int64_t number,
                     const lra_pathfinder_facts *f)
{
    const lra_pathfinder_size *size = lra_pathfinder_size_of(g);
    lra_text_add(t, "imgs/%lld sample_%lld.png %lld %d %.1f %d %d %d %g %d 1\n", (long long)batch,
                 (long long)number, (long long)number, (int)f->label, size->continuity,
                 lra_pathfinder_paddles(g), lra_pathfinder_paddles(g) / 3, size->length,
                 size->thickness, f->margin);
}

/* Draws and writes images first .. first+n-1; facts: (n). */
static int write_images(const lra_pathfinder *g, const char *folder, uint64_t seed, int64_t first,
                        int64_t n, lra_pathfinder_facts *facts, lra_err *e)
{
    int window = lra_pathfinder_size_of(g)->window, rc = 0;
#pragma omp parallel
    {
        lra_pathfinder_sheet *sheet = lra_pathfinder_sheet_new(g);
        uint8_t *pixel = lra_alloc_array((size_t)window, (size_t)window);
#pragma omp for schedule(dynamic, 16)
        for (int64_t i = 0; i < n; i++) {
            lra_err mine;
            char *path = lra_format("%s/sample_%lld.png", folder, (long long)i);
            lra_pathfinder_image(g, sheet, seed, (uint64_t)(first + i), pixel, &facts[i]);
            bool bad = lra_png_write(path, window, window, pixel, &mine) != 0;
#pragma omp critical(first_failure)
            if (bad && rc == 0) rc = LRA_FAILED, *e = mine;
            lra_free(path);
        }
        lra_free(pixel);
        lra_pathfinder_sheet_free(sheet);
    }
    return rc;
}

int lra_pathfinder_write_batch(const lra_pathfinder *g, const char *level_folder, int64_t batch,
                               uint64_t seed, int64_t first, int64_t n, lra_err *e)
{
    char *images = lra_format("%s/imgs/%lld", level_folder, (long long)batch);
    char *metadata = lra_format("%s/metadata", level_folder);
    char *path = lra_format("%s/%lld.npy", metadata, (long long)batch);
    lra_pathfinder_facts *facts = lra_alloc_array((size_t)n, sizeof *facts);
    lra_text text = {0};
    int rc = lra_folder_make(images, e);
    if (rc == 0) rc = lra_folder_make(metadata, e);
    if (rc == 0) rc = write_images(g, images, seed, first, n, facts, e);
    for (int64_t i = 0; i < n; i++) add_line(&text, g, batch, i, &facts[i]);
    if (rc == 0) rc = lra_file_write(path, text.s, text.n, e);
    lra_text_free(&text);
    lra_free(facts);
    lra_free(path);
    lra_free(metadata);
    lra_free(images);
    return rc;
}
