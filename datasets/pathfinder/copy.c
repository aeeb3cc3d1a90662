/* Finds the files of Pathfinder levels below a path: a folder, an archive, or archives in a folder.
 * Files stay compressed in memory, one after another: a PNG has 1/6 (128 px) to 1/2 (32 px) of the
 * size of its pixels. */
#include "datasets/pathfinder/copy.h"

#include <stdlib.h>
#include <string.h>

#include "datasets/formats/walk.h"
#include "datasets/pathfinder/levels.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/signals.h"

enum { BLOCK = 1 << 24, MAX_FILE = 1 << 28, MAX_COPIES = 64 };
enum { LEVELS = PATHFINDER_DEPTH + 2 /* maximum depth of a file: LEVEL_FOLDER/imgs/BATCH */ };

/* ---- names ----------------------------------------------------------------------------------- */

/* Returns true if the folder or archive name[0..n-1] is `as`, with or without suffixes. */
static bool is_named(const char *name, size_t n, const char *as)
{
    size_t length = strlen(as);
    return n >= length && strncmp(name, as, length) == 0 && (n == length || name[length] == '.');
}

/* Reads the image size in pixels and the level from one part of a path; -1: the part names none. */
static void read_part(const char *name, size_t n, int *window, int *level)
{
    *window = *level = -1;
    for (int k = 0; k < LRA_PATHFINDER_LEVELS; k++)
        if (is_named(name, n, lra_pathfinder_level_folders[k])) *level = k;
    for (int w = 32; w <= 256; w *= 2) {
        char set[32];
        snprintf(set, sizeof set, "pathfinder%d", w);
        if (is_named(name, n, set)) *window = w;
    }
}

/* Returns which of the wanted levels the folder name[0..n-1] below the path can contain, -1 if
 * none. The last parts of the path that name a set and a level decide. If no part names a level and
 * only one level is wanted, the folder can contain that level. */
static int wanted_level(const pathfinder_copies *c, const char *name, size_t n)
{
    char *full = lra_format("%s/%.*s", c->path, (int)n, name);
    int window = -1, level = -1;
    size_t end = strlen(full);
    while (end > 0 && (window < 0 || level < 0)) {
        size_t start = end;
        while (start > 0 && full[start - 1] != '/') start--;
        int w, l;
        read_part(full + start, end - start, &w, &l);
        if (window < 0) window = w;
        if (level < 0) level = l;
        end = start > 0 ? start - 1 : 0;
    }
    lra_free(full);
    if (window >= 0 && window != c->window) return -1;
    for (int k = 0; k < c->n_levels; k++)
        if (c->level[k] == level) return k;
    return level < 0 && c->n_levels == 1 ? 0 : -1;
}

/* Returns the start of "imgs/..." or "metadata/..." in a path, NULL if it contains neither. */
static const char *inside_level(const char *name)
{
    const char *found = NULL;
    for (const char *part = name; part; part = strchr(part, '/')) {
        if (*part == '/') part++;
        if (strncmp(part, "imgs/", 5) == 0 || strncmp(part, "metadata/", 9) == 0) found = part;
    }
    return found;
}

/* Returns NUMBER of a file metadata/NUMBER.npy, -1 for other files. */
static int64_t batch_of(const char *file)
{
    if (strncmp(file, "metadata/", 9) != 0) return -1;
    const char *digit = file + 9;
    size_t n = strspn(digit, "0123456789");
    if (n == 0 || n > 18 || (n > 1 && *digit == '0') || strcmp(digit + n, ".npy") != 0) return -1;
    int64_t number = 0;
    for (size_t i = 0; i < n; i++) number = 10 * number + (digit[i] - '0');
    return number;
}

/* Returns the length of the path of the level's folder, without the '/' after it. */
static size_t folder_length(const char *name, const char *file)
{
    return file > name ? (size_t)(file - name) - 1 : 0;
}

static bool is_wanted(void *of, const char *name)
{
    const char *file = inside_level(name);
    if (!file || *lra_walk_base(name) == '.') return false;
    if (*file == 'm' && batch_of(file) < 0) return false;
    return wanted_level(of, name, folder_length(name, file)) >= 0;
}

/* Returns true if wanted files can lie below this folder, or in this archive. */
static bool may_hold(const pathfinder_copies *c, const char *name)
{
    int window, level;
    const char *base = lra_walk_base(name);
    read_part(base, strlen(base), &window, &level);
    if (window >= 0) return window == c->window;
    return level < 0 || wanted_level(c, name, strlen(name)) >= 0;
}

static bool is_entered(void *of, const char *name)
{
    const char *base = lra_walk_base(name);
    if (strcmp(base, "imgs") == 0 || strcmp(base, "metadata") == 0)
        return wanted_level(of, name, folder_length(name, base)) >= 0;
    return may_hold(of, name);
}

static bool is_archive(void *of, const char *name)
{
    const char *base = lra_walk_base(name);
    bool named = strncmp(base, "lra_release", 11) == 0 || strncmp(base, "pathfinder", 10) == 0 ||
                 strncmp(base, "curv_", 5) == 0;
    return named && !inside_level(name) && may_hold(of, name);
}

/* ---- files ----------------------------------------------------------------------------------- */

struct pathfinder_block {
    pathfinder_block *next;
    size_t used, size;
    char bytes[];
};

/* Allocates n bytes whose address never changes, owned by the copy. */
static char *room(pathfinder_copy *c, size_t n, lra_err *e)
{
    pathfinder_block *b = c->block;
    if (!b || b->size - b->used < n) {
        size_t size = n > BLOCK ? n : BLOCK;
        b = lra_try_alloc(sizeof *b + size, "files of Pathfinder", e);
        if (!b) return NULL;
        *b = (pathfinder_block){.next = c->block, .size = size};
        c->block = b;
    }
    b->used += n;
    return b->bytes + b->used - n;
}

/* Returns the copy of a level in this folder, adding it if it is new; NULL and a message if there
 * are too many. */
static pathfinder_copy *copy_at(pathfinder_copies *c, const char *folder, size_t n, int level,
                                lra_err *e)
{
    for (int i = 0; i < c->n; i++) {
        pathfinder_copy *at = &c->copy[(c->last + i) % c->n];
        if (strlen(at->folder) != n || strncmp(at->folder, folder, n) != 0) continue;
        c->last = (int)(at - c->copy);
        return at;
    }
    if (c->n == MAX_COPIES) {
        lra_fail(e, "'%s' contains more than %d folders with 'imgs' and 'metadata' of the task",
                 c->path, (int)MAX_COPIES);
        return NULL;
    }
    c->copy = lra_resize(c->copy, (size_t)(c->n + 1) * sizeof *c->copy);
    c->copy[c->n] = (pathfinder_copy){.folder = lra_format("%.*s", (int)n, folder), .level = level};
    return &c->copy[c->last = c->n++];
}

static int keep(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    pathfinder_copies *c = of;
    const char *file = inside_level(name);
    size_t length = folder_length(name, file), size = strlen(file) + 1;
    pathfinder_copy *to = copy_at(c, name, length, wanted_level(c, name, length), e);
    char *kept = to ? room(to, size + n, e) : NULL;
    if (!kept) return LRA_FAILED;
    memcpy(kept, file, size);
    if (n) memcpy(kept + size, bytes, n);
    if (to->n == to->capacity) {
        to->capacity = 2 * to->capacity + 1024;
        to->file = lra_resize(to->file, (size_t)to->capacity * sizeof *to->file);
    }
    to->file[to->n] = (pathfinder_file){
        .name = kept, .bytes = kept + size, .n = n, .order = to->n, .batch = batch_of(kept)};
    to->n++;
    return lra_stop_signal() ? lra_fail(e, "stopped while '%s' was read", c->path) : 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const pathfinder_file *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static void sort_files(pathfinder_copy *c)
{
    int64_t n = 0;
    qsort(c->file, (size_t)c->n, sizeof *c->file, by_name);
    for (int64_t i = 0; i < c->n; i++) {
        if (i + 1 < c->n && strcmp(c->file[i].name, c->file[i + 1].name) == 0) {
            c->n_doubled++;
            continue;
        }
        const pathfinder_file *f = &c->file[i];
        uint64_t part[3] = {c->hash, lra_hash64(f->name, strlen(f->name)),
                            lra_hash64(f->bytes, f->n)};
        c->hash = lra_hash64(part, sizeof part);
        c->n_batches += f->batch >= 0;
        c->file[n++] = *f;
    }
    c->n = n;
}

static int by_folder(const void *a, const void *b)
{
    return strcmp(((const pathfinder_copy *)a)->folder, ((const pathfinder_copy *)b)->folder);
}

const pathfinder_file *pathfinder_copy_find(const pathfinder_copy *c, const char *name)
{
    int64_t from = 0, to = c->n;
    while (from < to) {
        int64_t middle = (from + to) / 2;
        int order = strcmp(c->file[middle].name, name);
        if (order == 0) return &c->file[middle];
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static lra_walk make_walk(pathfinder_copies *c)
{
    return (lra_walk){.wanted = is_wanted,
                      .inside = is_archive,
                      .enter = is_entered,
                      .visit = keep,
                      .of = c,
                      .empty = true,
                      .levels = LEVELS,
                      .max_file = MAX_FILE};
}

int pathfinder_copies_read(pathfinder_copies *c, lra_err *e)
{
    lra_walk w = make_walk(c);
    int rc = lra_walk_path(&w, c->path, e);
    if (rc == 0) lra_walk_report(&w, c->path);
    for (int i = 0; i < c->n && rc == 0; i++) sort_files(&c->copy[i]);
    if (c->n) qsort(c->copy, (size_t)c->n, sizeof *c->copy, by_folder);
    return rc;
}

int pathfinder_copies_hash(const pathfinder_copies *c, lra_digest *to, lra_err *e)
{
    pathfinder_copies wanted = *c;
    lra_walk w = make_walk(&wanted);
    return lra_walk_hash(&w, c->path, to, e);
}

void pathfinder_copy_free(pathfinder_copy *c)
{
    while (c->block) {
        pathfinder_block *next = c->block->next;
        lra_free_large(c->block);
        c->block = next;
    }
    lra_free(c->folder);
    lra_free(c->file);
    *c = (pathfinder_copy){0};
}

void pathfinder_copies_free(pathfinder_copies *c)
{
    for (int i = 0; i < c->n; i++) pathfinder_copy_free(&c->copy[i]);
    lra_free(c->copy);
    c->copy = NULL, c->n = 0;
}
