/* Reads the images and labels of a level from its files in memory. */
#include "datasets/pathfinder/file.h"

#include <stdlib.h>
#include <string.h>

#include "datasets/formats/png.h"
#include "datasets/pathfinder/copy.h"
#include "datasets/pathfinder/levels.h"
#include "datasets/pathfinder/metadata.h"
#include "kernels/base/core/mem.h"

struct pathfinder_png {
    const char *bytes;
    size_t n;
};

/* ---- metadata -------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    int64_t x = (*(const pathfinder_file *const *)a)->batch;
    int64_t y = (*(const pathfinder_file *const *)b)->batch;
    return (x > y) - (x < y);
}

/* Reads the entries of all metadata files of the level, in the order of the files' numbers. */
static int read_list(lra_pathfinder_set *s, lra_pathfinder_list *list, lra_err *e)
{
    const pathfinder_copy *c = s->from;
    const pathfinder_file **batch = lra_alloc_array((size_t)c->n_batches, sizeof(void *));
    int64_t n = 0;
    int rc = 0;
    for (int64_t i = 0; i < c->n; i++)
        if (c->file[i].batch >= 0) batch[n++] = &c->file[i];
    qsort(batch, (size_t)n, sizeof *batch, by_number);
    for (int64_t i = 0; i < n && rc == 0; i++) {
        char *name = lra_format("%s/%s", s->folder, batch[i]->name);
        rc = lra_pathfinder_metadata(batch[i]->bytes, batch[i]->n, name, list, e);
        lra_free(name);
    }
    s->n_batches = n;
    s->n_gaps = batch[n - 1]->batch - batch[0]->batch + 1 - n;
    if (rc == 0 && list->n == 0) rc = lra_fail(e, "'%s/metadata' lists no images", s->folder);
    lra_free(batch);
    return rc;
}

/* ---- images ---------------------------------------------------------------------------------- */

enum { GOOD, ABSENT, EMPTY, BROKEN };

static int find_image(const lra_pathfinder_set *s, const char *name, struct pathfinder_png *png,
                      uint8_t *scratch, lra_err *e)
{
    const pathfinder_file *f = pathfinder_copy_find(s->from, name);
    if (!f) return ABSENT;
    if (f->n == 0) return EMPTY;
    *png = (struct pathfinder_png){f->bytes, f->n};
    char *full = lra_format("%s/%s", s->folder, name);
    int rc = lra_png_read(f->bytes, f->n, full, s->window, s->window, scratch, e);
    lra_free(full);
    return rc == 0 ? GOOD : BROKEN;
}

/* Removes the entries of images that could not be read, and counts them by reason. */
static void compact(lra_pathfinder_set *s, const uint8_t *state)
{
    for (int64_t i = 0; i < s->n_listed; i++) {
        s->n_absent += state[i] == ABSENT;
        s->n_empty += state[i] == EMPTY;
        s->n_broken += state[i] == BROKEN;
        if (state[i] != GOOD) continue;
        s->png[s->n] = s->png[i];
        s->label[s->n++] = s->label[i];
    }
}

/* Finds the images of a list by decoding every image once. */
static int find_images(lra_pathfinder_set *s, lra_pathfinder_list *list, lra_err *e)
{
    int64_t n = list->n, first = n;
    size_t pixels = (size_t)s->window * (size_t)s->window;
    uint8_t *state = lra_alloc((size_t)n);
    s->n_listed = n;
    s->label = list->label, list->label = NULL;
    s->png = lra_alloc_array((size_t)n, sizeof *s->png);
#pragma omp parallel
    {
        uint8_t *scratch = lra_alloc(pixels);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < n; i++) {
            lra_err why;
            state[i] = (uint8_t)find_image(s, list->path[i], &s->png[i], scratch, &why);
#pragma omp critical(first_broken)
            if (state[i] == BROKEN && i < first) {
                first = i;
                memcpy(s->first_broken, why.msg, sizeof why.msg);
            }
        }
        lra_free(scratch);
    }
    compact(s, state);
    lra_free(state);
    if (s->n > 0) return 0;
    if (s->n_broken)
        return lra_fail(e, "none of %lld images can be read; the first: %s", (long long)n,
                        s->first_broken);
    return lra_fail(e, "none of %lld images can be read: '%s/%s' %s", (long long)n, s->folder,
                    list->path[0], s->n_empty ? "has no bytes" : "does not exist");
}

void lra_pathfinder_decode(const lra_pathfinder_set *s, int64_t i, uint8_t *pixel)
{
    lra_err e;
    if (lra_png_read(s->png[i].bytes, s->png[i].n, "an image", s->window, s->window, pixel, &e) !=
        0)
        LRA_BUG("an image that could be decoded cannot: %s", e.msg);
}

uint8_t *lra_pathfinder_pixels(const lra_pathfinder_set *s, lra_err *e)
{
    size_t pixels = (size_t)s->window * (size_t)s->window;
    uint8_t *pixel = lra_try_alloc((size_t)s->n * pixels, "images", e);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < s->n; i++)
        if (pixel) lra_pathfinder_decode(s, i, pixel + (size_t)i * pixels);
    return pixel;
}

/* ---- levels ---------------------------------------------------------------------------------- */

static bool is_copy(const pathfinder_copy *at, int level)
{
    return at->level == level && at->n_batches > 0;
}

/* Moves a copy into the set, which then owns its files. */
static void take_copy(const pathfinder_copies *c, pathfinder_copy *at, lra_pathfinder_set *s)
{
    s->from = lra_alloc(sizeof *s->from);
    *s->from = *at;
    s->folder = lra_format("%s%s%s", c->path, *at->folder ? "/" : "", at->folder);
    s->n_doubled = at->n_doubled;
    s->hash = at->hash;
    *at = (pathfinder_copy){.folder = lra_copy_text(at->folder), .level = -1};
}

/* Uses the first copy of a level that has metadata, and compares it with the other copies. */
static void take_first(pathfinder_copies *c, int level, lra_pathfinder_set *s)
{
    s->equal = true;
    for (int i = 0; i < c->n; i++) {
        pathfinder_copy *at = &c->copy[i];
        if (!is_copy(at, level)) continue;
        if (s->n_copies++ == 0)
            take_copy(c, at, s);
        else
            s->equal = s->equal && at->hash == s->hash;
    }
}

static int read_level(lra_pathfinder_set *s, lra_err *e)
{
    lra_pathfinder_list list = {0};
    int rc = read_list(s, &list, e);
    if (rc == 0) rc = find_images(s, &list, e);
    lra_pathfinder_list_free(&list);
    return rc;
}

static int check_complete(const pathfinder_copies *c, const lra_pathfinder_set *set, lra_err *e)
{
    int found = 0;
    for (int k = 0; k < c->n_levels; k++) found += set[k].from != NULL;
    for (int k = 0; k < c->n_levels; k++)
        if (!set[k].from) {
            lra_fail(e,
                     "no '%s/metadata' of pathfinder%d in '%s' or %d levels below; expected "
                     "folders 'imgs' and 'metadata' of level=%s, or " LRA_PATHFINDER_SOURCE,
                     lra_pathfinder_level_folders[c->level[k]], c->window, c->path,
                     (int)PATHFINDER_DEPTH, lra_pathfinder_level_names[c->level[k]]);
            return found ? LRA_FAILED : LRA_ABSENT;
        }
    return 0;
}

int lra_pathfinder_read(const char *path, int window, int n_levels, const int *level,
                        lra_pathfinder_set *set, lra_err *e)
{
    pathfinder_copies c = {.path = path, .window = window, .n_levels = n_levels, .level = level};
    for (int k = 0; k < n_levels; k++) set[k] = (lra_pathfinder_set){.window = window};
    int rc = pathfinder_copies_read(&c, e);
    for (int k = 0; k < n_levels && rc == 0; k++) take_first(&c, k, &set[k]);
    pathfinder_copies_free(&c);
    if (rc == 0) rc = check_complete(&c, set, e);
    for (int k = 0; k < n_levels && rc == 0; k++) rc = read_level(&set[k], e);
    if (rc != 0) lra_pathfinder_sets_free(n_levels, set);
    return rc;
}

int lra_pathfinder_read_copies(const char *path, int window, int level, int *n,
                               lra_pathfinder_set **set, lra_err *e)
{
    pathfinder_copies c = {.path = path, .window = window, .n_levels = 1, .level = &level};
    int rc = pathfinder_copies_read(&c, e);
    lra_pathfinder_set *all = lra_alloc_array((size_t)c.n + 1, sizeof *all);
    *n = 0, *set = all;
    for (int i = 0; i < c.n && rc == 0; i++) {
        if (!is_copy(&c.copy[i], 0)) continue;
        all[*n] = (lra_pathfinder_set){.window = window};
        take_copy(&c, &c.copy[i], &all[(*n)++]);
    }
    pathfinder_copies_free(&c);
    if (rc == 0) rc = check_complete(&c, all, e);
    all[0].equal = true;
    for (int k = 0; k < *n && rc == 0; k++) {
        all[0].n_copies++;
        all[0].equal = all[0].equal && all[k].hash == all[0].hash;
        rc = read_level(&all[k], e);
    }
    return rc;
}

void lra_pathfinder_sets_free(int n_levels, lra_pathfinder_set *set)
{
    for (int k = 0; k < n_levels; k++) {
        if (set[k].from) pathfinder_copy_free(set[k].from);
        lra_free(set[k].from);
        lra_free(set[k].folder);
        lra_free(set[k].png);
        lra_free(set[k].label);
        set[k] = (lra_pathfinder_set){0};
    }
}

int lra_pathfinder_hash(const char *path, int window, int n_levels, const int *level,
                        lra_digest *to, lra_err *e)
{
    pathfinder_copies c = {.path = path, .window = window, .n_levels = n_levels, .level = level};
    return pathfinder_copies_hash(&c, to, e);
}
