/* Reads IMDB reviews from a folder, an archive, or several archives in a folder.
 * Source: Maas et al. 2011, "Learning word vectors for sentiment analysis"; ratings 1..4 are
 * negative, 7..10 positive. All other files of the archive, such as "unsup", are ignored. */
#include "datasets/formats/imdb.h"

#include <stdlib.h>
#include <string.h>

#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"

enum {
    LEVELS = 4 /* maximum depth of a review file: train/neg may be two folders below the path */,
    MAX_ID = 1 << 30
};
static const char *const part_names[2] = {"train", "test"}, *const label_names[2] = {"neg", "pos"};

/* ---- names ----------------------------------------------------------------------------------- */

/* Reads a decimal number of at most MAX_ID from *at that ends with the character `stop`, and moves
 * *at past `stop`. */
static bool read_number(const char **at, char stop, int32_t *value)
{
    int64_t v = 0;
    const char *p = *at;
    for (; *p >= '0' && *p <= '9' && v <= MAX_ID; p++) v = 10 * v + (*p - '0');
    if (p == *at || *p != stop || v > MAX_ID) return false;
    *at = p + 1, *value = (int32_t)v;
    return true;
}

/* Returns true if the last folder of name[0 .. *end) is one of the two choices; *k is its index.
 * Moves *end before that folder. */
static bool folder_before(const char *name, const char **end, const char *const choice[2], int *k)
{
    const char *start = *end;
    while (start > name && start[-1] != '/') start--;
    size_t n = (size_t)(*end - start);
    for (*k = 0; *k < 2; ++*k)
        if (strlen(choice[*k]) == n && memcmp(choice[*k], start, n) == 0) {
            *end = start > name ? start - 1 : start;
            return true;
        }
    return false;
}

/* Parses a path PART/LABEL/FILE.txt into part, label and `file` (the start of FILE.txt). Returns
 * false for other paths and for hidden files. */
static bool read_place(const char *name, lra_review *v, const char **file)
{
    const char *slash = strrchr(name, '/');
    size_t n = strlen(name);
    if (!slash || slash[1] == '.' || n < 5 || strcmp(name + n - 4, ".txt") != 0) return false;
    *file = slash + 1;
    return folder_before(name, &slash, label_names, &v->label) &&
           folder_before(name, &slash, part_names, &v->part);
}

static bool read_name(const char *file, lra_review *v)
{
    return read_number(&file, '_', &v->id) && read_number(&file, '.', &v->rating) &&
           strcmp(file, "txt") == 0;
}

bool lra_reviews_wanted(void *reviews, const char *name)
{
    (void)reviews;
    lra_review v;
    const char *file;
    return read_place(name, &v, &file);
}

/* ---- reviews --------------------------------------------------------------------------------- */

int lra_reviews_add(lra_reviews *r, const char *name, const char *bytes, size_t n, lra_err *e)
{
    lra_review v = {.hash = lra_hash64(bytes, n), .at = r->n_text};
    const char *file;
    if (!read_place(name, &v, &file))
        return lra_fail(e, "'%s' is not in a folder of reviews (train/neg and so on)", name);
    if (!read_name(file, &v)) {
        r->n_unnamed++;
        return 0;
    }
    if (r->n == r->capacity) {
        r->capacity = 2 * r->capacity + 1024;
        r->review = lra_resize(r->review, (size_t)r->capacity * sizeof *r->review);
    }
    v.n = r->keep && n > r->keep ? r->keep : n;
    if (r->n_text + v.n > r->text_capacity) {
        r->text_capacity = 2 * (r->n_text + v.n) + 4096;
        r->text = lra_resize(r->text, r->text_capacity);
    }
    if (v.n) memcpy(r->text + r->n_text, bytes, v.n);
    r->n_text += v.n;
    r->review[r->n++] = v;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const lra_review *x = a, *y = b;
    if (x->part != y->part) return x->part - y->part;
    if (x->label != y->label) return x->label - y->label;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    if (x->rating != y->rating) return x->rating < y->rating ? -1 : 1;
    return (x->hash > y->hash) - (x->hash < y->hash);
}

static bool same_file(const lra_review *x, const lra_review *y)
{
    return x->part == y->part && x->label == y->label && x->id == y->id && x->rating == y->rating;
}

int lra_reviews_sort(lra_reviews *r, lra_err *e)
{
    int64_t n = 0;
    if (r->n) qsort(r->review, (size_t)r->n, sizeof *r->review, compare);
    for (int64_t i = 0; i < r->n; i++) {
        const lra_review *v = &r->review[i], *before = n ? &r->review[n - 1] : NULL;
        if (before && same_file(before, v)) {
            if (before->hash != v->hash)
                return lra_fail(e, "'%s/%s/%d_%d.txt' occurs twice with different texts",
                                part_names[v->part], label_names[v->label], (int)v->id,
                                (int)v->rating);
            r->n_repeated++;
            continue;
        }
        r->n_strange += v->label ? v->rating < 7 || v->rating > 10 : v->rating < 1 || v->rating > 4;
        r->count[v->part][v->label]++;
        r->review[n++] = *v;
    }
    r->n = n;
    return 0;
}

void lra_reviews_free(lra_reviews *r)
{
    lra_free(r->review);
    lra_free(r->text);
    *r = (lra_reviews){0};
}

/* ---- files ----------------------------------------------------------------------------------- */

static int add_file(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    return lra_reviews_add(of, name, bytes, n, e);
}

/* Filter of archives in a folder: accepts archives that are named after the data set. */
static bool looks_like_archive(void *of, const char *name)
{
    (void)of;
    const char *at = lra_walk_base(name);
    for (; *at; at++)
        if (strncmp(at, "aclImdb", 7) == 0 || strncmp(at, "imdb", 4) == 0) break;
    return *at && !strstr(at, ".txt") && !strstr(name, "/neg/") && !strstr(name, "/pos/");
}

static lra_walk make_walk(lra_reviews *r)
{
    return (lra_walk){.wanted = lra_reviews_wanted,
                      .inside = looks_like_archive,
                      .visit = add_file,
                      .of = r,
                      .levels = LEVELS};
}

static int check_complete(const lra_reviews *r, const char *path, lra_err *e)
{
    for (int p = 0; p < 2; p++)
        for (int k = 0; k < 2; k++)
            if (r->count[p][k] == 0) {
                lra_fail(e,
                         "no reviews %s/%s/ID_RATING.txt in '%s' or two levels below; "
                         "expected " LRA_IMDB_SOURCE,
                         part_names[p], label_names[k], path);
                return r->n ? LRA_FAILED : LRA_ABSENT;
            }
    return 0;
}

static void report(const lra_reviews *r, const lra_walk *w, const char *path)
{
    lra_walk_report(w, path);
    if (r->n_unnamed)
        lra_warn("'%s': %lld files are excluded, expected names like 123_8.txt", path,
                 (long long)r->n_unnamed);
    if (r->n_strange)
        lra_warn(
            "'%s': %lld reviews have a rating that contradicts neg (1 to 4) or pos (7 to 10); the "
            "folder decides",
            path, (long long)r->n_strange);
    if (r->n_repeated)
        lra_detail("'%s': %lld reviews occur more than once and are used once", path,
                   (long long)r->n_repeated);
}

int lra_reviews_read(lra_reviews *r, const char *path, lra_walk *walk, lra_err *e)
{
    lra_walk w = make_walk(r);
    int rc = lra_walk_path(&w, path, e);
    if (rc == 0) rc = lra_reviews_sort(r, e);
    if (rc == 0) rc = check_complete(r, path, e);
    if (rc == 0) report(r, &w, path);
    if (walk) *walk = w;
    return rc;
}

int lra_reviews_hash(const char *path, lra_digest *to, lra_err *e)
{
    lra_walk w = make_walk(NULL);
    return lra_walk_hash(&w, path, to, e);
}
