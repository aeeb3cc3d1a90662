/* Reading Pathfinder folders. */
#include "datasets/pathfinder_file.h"

#include <string.h>

#include "datasets/png.h"
#include "kernels/base/file.h"
#include "kernels/base/mem.h"

enum { MAX_IMAGE = 1 << 24 };

const char *const lra_pathfinder_level_names[] = {"easy", "intermediate", "hard"};
const char *const lra_pathfinder_level_folders[] = {"curv_baseline", "curv_contour_length_9",
                                                    "curv_contour_length_14"};
const int lra_pathfinder_level_paddles[] = {LRA_PATHFINDER_EASY, LRA_PATHFINDER_INTERMEDIATE,
                                            LRA_PATHFINDER_HARD};

/* ---- images ------------------------------------------------------------------------------------------- */

enum { GOOD, ABSENT, EMPTY, BROKEN };

static int read_image(const char *path, int window, uint8_t *pixel, lra_err *e)
{
    if (!lra_file_exists(path)) return ABSENT;
    size_t n = 0;
    char *bytes = lra_file_read(path, MAX_IMAGE, &n, e);
    int state = bytes && n == 0                                                        ? EMPTY
                : bytes && lra_png_read(bytes, n, path, window, window, pixel, e) == 0 ? GOOD
                                                                                       : BROKEN;
    lra_free_large(bytes);
    return state;
}

/* Side of the first image that can be read. */
static int find_window(const lra_pathfinder_list *l, lra_err *e)
{
    int height = 0, width = 0;
    for (int64_t i = 0; i < l->n; i++) {
        size_t n;
        lra_err ignored;
        char *bytes = lra_file_read(l->path[i], MAX_IMAGE, &n, &ignored);
        int rc = bytes ? lra_png_size(bytes, n, l->path[i], &height, &width, &ignored) : LRA_FAILED;
        lra_free_large(bytes);
        if (rc == 0 && height == width && lra_pathfinder_size_find(width)) return width;
        if (rc == 0) {
            lra_fail(e, "'%s' has %d x %d pixels, expected a square of 32, 64, 128 or 256",
                     l->path[i], height, width);
            return -1;
        }
    }
    lra_fail(e, "none of %lld images can be read, '%s' for one", (long long)l->n, l->path[0]);
    return -1;
}

/* Closes the gaps that images left out have left. */
static void compact(lra_pathfinder_set *s, const uint8_t *state, int64_t n)
{
    size_t bytes = (size_t)s->window * (size_t)s->window;
    for (int64_t i = 0; i < n; i++) {
        s->n_absent += state[i] == ABSENT;
        s->n_empty += state[i] == EMPTY;
        s->n_broken += state[i] == BROKEN;
        if (state[i] != GOOD) continue;
        if (s->n < i) memcpy(s->pixel + (size_t)s->n * bytes, s->pixel + (size_t)i * bytes, bytes);
        s->label[s->n++] = s->label[i];
    }
}

int lra_pathfinder_set_read(const lra_pathfinder_list *l, int window, lra_pathfinder_set *out,
                            lra_err *e)
{
    *out = (lra_pathfinder_set){.window = window ? window : find_window(l, e)};
    if (out->window < 0) return LRA_FAILED;
    size_t bytes = (size_t)out->window * (size_t)out->window;
    out->pixel = lra_try_alloc((size_t)l->n * bytes, "images", e);
    if (!out->pixel) return LRA_FAILED;
    out->label = lra_alloc_array((size_t)l->n, sizeof *out->label);
    memcpy(out->label, l->label, (size_t)l->n * sizeof *out->label);
    uint8_t *state = lra_alloc((size_t)l->n);
    int64_t first = l->n;
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < l->n; i++) {
        lra_err why;
        state[i] = (uint8_t)read_image(l->path[i], out->window, out->pixel + (size_t)i * bytes,
                                       &why);
#pragma omp critical(first_broken)
        if (state[i] == BROKEN && i < first) {
            first = i;
            memcpy(out->first_broken, why.msg, sizeof why.msg);
        }
    }
    compact(out, state, l->n);
    lra_free(state);
    if (out->n > 0) return 0;
    return lra_fail(e, "none of %lld images can be read, '%s' for one", (long long)l->n,
                    l->path[0]);
}

void lra_pathfinder_set_free(lra_pathfinder_set *s)
{
    lra_free_large(s->pixel);
    lra_free(s->label);
    *s = (lra_pathfinder_set){0};
}

uint64_t lra_pathfinder_list_hash(const lra_pathfinder_list *l)
{
    uint64_t *part = lra_alloc_array((size_t)l->n + 1, sizeof *part);
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < l->n; i++) {
        size_t n;
        char *bytes = lra_file_read(l->path[i], MAX_IMAGE, &n, NULL);
        if (bytes) part[i] = lra_hash64(bytes, n);
        lra_free_large(bytes);
    }
    part[l->n] = l->hash;
    uint64_t hash = lra_hash64(part, ((size_t)l->n + 1) * sizeof *part);
    lra_free(part);
    return hash;
}

/* ---- search ------------------------------------------------------------------------------------------- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_level(const char *folder)
{
    char *metadata = lra_format("%s/metadata", folder);
    bool found = lra_is_folder(metadata);
    lra_free(metadata);
    return found;
}

/* May a folder of this name hold the level of the set?  Names of our own choice may hold any. */
static bool name_fits(const char *folder, int window, int level)
{
    const char *name = last_part(folder);
    for (int k = 0; k < LRA_PATHFINDER_LEVELS; k++)
        if (k != level && strcmp(name, lra_pathfinder_level_folders[k]) == 0) return false;
    const lra_pathfinder_size *other = NULL;
    for (int w = 32; w <= 256; w *= 2) {
        char *set = lra_format("/pathfinder%d/", w);
        if (strstr(folder, set)) other = lra_pathfinder_size_find(w);
        lra_free(set);
    }
    return !other || other->window == window;
}

static char *search(const char *folder, int window, int level, int depth, int *which)
{
    if (is_level(folder))
        return name_fits(folder, window, level) && (*which)-- == 0 ? lra_copy_text(folder) : NULL;
    char **names = NULL, *found = NULL;
    int n = depth > 0 ? lra_folder_list(folder, &names, NULL) : 0;
    for (int i = 0; i < n && !found; i++) {
        char *below = lra_format("%s/%s", folder, names[i]);
        bool images = strcmp(names[i], "imgs") == 0;
        if (!images && lra_is_folder(below)) found = search(below, window, level, depth - 1, which);
        lra_free(below);
    }
    if (n >= 0) lra_names_free(names, n);
    return found;
}

char *lra_pathfinder_find(const char *folder, int window, int level, int which)
{
    /* Without the '/' that a user may have put behind. */
    size_t n = strlen(folder);
    while (n > 1 && folder[n - 1] == '/') n--;
    char *clean = lra_format("%.*s", (int)n, folder);
    char *found = search(clean, window, level, 3, &which);
    lra_free(clean);
    return found;
}
