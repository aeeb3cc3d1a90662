/* Readers of files when memory is exhausted: the n-th large allocation fails, for each n until all
 * allocations succeed. Each failure gives a message that names the object that did not fit, and no
 * memory leaks (tested in Debug builds, which have an allocator that fails, and the address
 * sanitizer). */
#include "tests/fixtures/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/listops/file.h"
#include "datasets/pathfinder/file.h"
#include "datasets/formats/png.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/safetensors.h"
#include "tests/fixtures/format_files.h"

static char *path_of(const char *name)
{
    return lra_format("%s.%s", format_files_path(FORMAT_RESULT), name);
}

static int read_safetensors(lra_err *e)
{
    lra_safetensors t;
    char *path = path_of("safetensors");
    int rc = lra_safetensors_read(path, &t, e);
    lra_safetensors_free(&t);
    lra_free(path);
    return rc;
}

static int read_listops(lra_err *e)
{
    lra_sequences rows = {0};
    char *path = path_of("tsv");
    int rc = lra_listops_read(path, true, &rows, e);
    lra_sequences_free(&rows);
    lra_free(path);
    return rc;
}

static int read_pathfinder(lra_err *e)
{
    const int easy = 0;
    lra_pathfinder_set set;
    char *path = path_of("level");
    int rc = lra_pathfinder_read(path, 32, 1, &easy, &set, e);
    if (rc == 0) lra_pathfinder_sets_free(1, &set);
    lra_free(path);
    return rc;
}

/* The readers: the kinds of format_files.h, followed by others. */
enum { SAFETENSORS = FORMAT_KINDS, LISTOPS, PATHFINDER, N_READERS };

static int read_one(int reader, lra_err *e)
{
    uint64_t hash;
    switch (reader) {
    case SAFETENSORS: return read_safetensors(e);
    case LISTOPS: return read_listops(e);
    case PATHFINDER: return read_pathfinder(e);
    default: return format_files_read(reader, &hash, e);
    }
}

static int set_up(void **state)
{
    (void)state;
    format_files_make();
    lra_err e = {{0}};
    const float v[4] = {1, 2, 3, 4};
    static const char line[] = "imgs/0 sample_0.png 0 1 1.0 6 2 2 0.5 1 1\n";
    char *level = path_of("level/metadata"), *batch = path_of("level/metadata/0.npy");
    char *images = path_of("level/imgs/0"), *image = path_of("level/imgs/0/sample_0.png");
    const uint8_t pixel[32 * 32] = {0};
    char *safetensors = path_of("safetensors"), *tsv = path_of("tsv");
    static const char row[] = "Source\tTarget\n[MAX 1 2 ]\t2\n";
    lra_safetensor x = {"x", {.dtype = LRA_DTYPE_F32, .rank = 1, .dims = {4}, .bytes = v}};
    int rc = lra_safetensors_write(safetensors, 1, &x, NULL, &e);
    if (rc == 0) rc = lra_file_write(tsv, row, sizeof row - 1, &e);
    if (rc == 0) rc = lra_folder_make(level, &e);
    if (rc == 0) rc = lra_file_write(batch, line, sizeof line - 1, &e);
    if (rc == 0) rc = lra_folder_make(images, &e);
    if (rc == 0) rc = lra_png_write(image, 32, 32, pixel, &e);
    lra_free(safetensors);
    lra_free(tsv);
    lra_free(level);
    lra_free(batch);
    lra_free(images);
    lra_free(image);
    return rc;
}

static int tear_down(void **state)
{
    (void)state;
    format_files_remove();
    return 0;
}

/* Runs a reader whose n-th large allocation fails. Returns 0 if the file was read, 1 if there is a
 * message, 2 in any other case. */
static int outcome(int reader, int n)
{
    lra_err e = {{0}};
    char text[16];
    unsetenv("LRA_FAIL_ALLOC");
    lra_free_large(lra_try_alloc(1, "the count starts anew", &e));
    snprintf(text, sizeof text, "%d", n);
    setenv("LRA_FAIL_ALLOC", text, 1);
    int rc = read_one(reader, &e);
    unsetenv("LRA_FAIL_ALLOC");
    if (rc == 0) return 0;
    if (strstr(e.msg, "needs") && strstr(e.msg, "free")) return 1;
    printf("reader %d, allocation %d: '%s'\n", reader, n, e.msg);
    return 2;
}

TEST(each_allocation_fails_in_turn)
{
#ifdef LRA_DEBUG
    for (int reader = 0; reader < N_READERS; reader++) {
        int n = 1;
        for (int got = 1; got != 0; n++) {
            got = outcome(reader, n);
            if (got > 1 || n > 200) fail_msg("reader %d, allocation %d", reader, n);
        }
        printf("reader %d: %d large allocations\n", reader, n - 2);
        assert_true(n > 2); /* every reader has at least one large allocation */
    }
#else
    lra_err e = {{0}};
    for (int reader = 0; reader < N_READERS; reader++)
        if (outcome(reader, 1) != 0 || read_one(reader, &e) != 0) fail_msg("%d: %s", reader, e.msg);
#endif
}

GROUP(set_up, tear_down);
