/* Walks over the files below a path, and hashes them: folders, archives and plain files with one
 * interface. */
#include "datasets/formats/walk.h"

#include <string.h>
#include <sys/stat.h>

#include "datasets/formats/archive.h"
#include "datasets/formats/gunzip.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/sha256.h"

enum { BLOCK = 1 << 20 };

/* ---- folders and plain files ----------------------------------------------------------------- */

/* Returns true if the file is compressed or an archive, judged by its first bytes (a tar archive by
 * its bytes from 257 on). */
static bool is_packed(const char *path)
{
    unsigned char head[264] = {0};
    FILE *f = lra_file_open(path, NULL);
    if (!f) return false;
    size_t n = fread(head, 1, sizeof head - 1, f);
    fclose(f);
    return lra_gunzip_is(head, n) ||
           memcmp(head,
                  "\xFD"
                  "7zXZ",
                  5) == 0 ||
           memcmp(head, "BZh", 3) == 0 || memcmp(head, "PK\3\4", 4) == 0 ||
           memcmp(head, "PK\5\6", 4) == 0 || memcmp(head + 257, "ustar", 5) == 0;
}

static int walk_pieces(lra_walk *w, const char *path, const char *name, lra_err *e)
{
    FILE *f = lra_file_open(path, e);
    if (!f) return LRA_FAILED;
    char *block = lra_alloc(BLOCK);
    size_t n = 1;
    int rc = 0;
    bool empty = true;
    while (n > 0 && rc == 0) {
        n = fread(block, 1, BLOCK, f);
        if (n > 0) rc = w->piece(w->of, name, block, n, e), empty = false;
    }
    if (rc == 0 && ferror(f)) rc = lra_fail_errno(e, "cannot read '%s'", path);
    if (rc == 0 && empty) w->n_empty++;
    if (rc == 0 && !empty) rc = lra_walk_end(w, name, e);
    fclose(f);
    lra_free(block);
    return rc;
}

static int walk_plain(lra_walk *w, const char *path, const char *name, lra_err *e)
{
    size_t n;
    if (!lra_walk_wants(w, name)) return 0;
    if (w->piece) return walk_pieces(w, path, name, e);
    char *bytes = lra_file_read(path, w->max_file ? w->max_file : LRA_WALK_MAX_FILE, &n, e);
    if (!bytes) return LRA_FAILED;
    int rc = 0;
    if (n == 0 && !w->empty)
        w->n_empty++;
    else
        rc = lra_walk_visit(w, name, bytes, n, e);
    lra_free_large(bytes);
    return rc;
}

/* Returns true if the folder contains `packed` and the same file unpacked, as after gzip or xz with
 * --keep. */
static bool has_neighbour_file(const lra_walk *w, const char *path, const char *prefix,
                               char **names, int n, const char *packed)
{
    const char *dot = strrchr(packed, '.');
    size_t length = dot ? (size_t)(dot - packed) : 0;
    bool found = false;
    for (int i = 0; i < n && length > 0 && !found; i++) {
        if (strlen(names[i]) != length || strncmp(names[i], packed, length) != 0) continue;
        char *other = lra_format("%s/%s", path, names[i]),
             *name = lra_format("%s%s", prefix, names[i]);
        bool read = lra_walk_wants(w, name) || (w->inside && w->inside(w->of, name));
        struct stat about;
        found = read && stat(other, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0;
        lra_free(other);
        lra_free(name);
    }
    return found;
}

static int leave_out(const char *packed)
{
    lra_note("'%s' is not read: its contents are also present unpacked", packed);
    return 0;
}

static int walk_folder(lra_walk *w, const char *path, const char *prefix, int levels, lra_err *e)
{
    char **names = NULL;
    int n = lra_folder_list(path, &names, e), rc = n < 0 ? LRA_FAILED : 0;
    for (int i = 0; i < n && rc == 0; i++) {
        char *below = lra_format("%s/%s", path, names[i]);
        char *name = lra_format("%s%s", prefix, names[i]), *deeper = lra_format("%s/", name);
        if (lra_is_folder(below))
            rc = levels > 0 && (!w->enter || w->enter(w->of, name))
                     ? walk_folder(w, below, deeper, levels - 1, e)
                     : 0;
        else if (w->inside && w->inside(w->of, name) && is_packed(below))
            rc = has_neighbour_file(w, path, prefix, names, n, names[i])
                     ? leave_out(below)
                     : lra_walk_archive(w, below, deeper, e);
        else
            rc = walk_plain(w, below, name, e);
        lra_free(deeper);
        lra_free(name);
        lra_free(below);
    }
    if (n >= 0) lra_names_free(names, n);
    return rc;
}

int lra_walk_path(lra_walk *w, const char *path, lra_err *e)
{
    if (lra_is_folder(path)) return walk_folder(w, path, "", w->levels, e);
    if (is_packed(path)) return lra_walk_archive(w, path, "", e);
    return walk_plain(w, path, lra_walk_base(path), e);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

typedef struct {
    const lra_walk *w;
    lra_digest *to;
    /* name of the file if the path is a single file; NULL: files have their own names */
    const char *only;
    lra_sha256 sum; /* SHA-256 of the current file */
    uint64_t n;     /* bytes of the current file so far */
} hashing;

static bool hash_wanted(void *of, const char *name)
{
    const hashing *h = of;
    return (h->w->inside && h->w->inside(h->w->of, name)) || lra_walk_wants(h->w, name);
}

static bool hash_enter(void *of, const char *name)
{
    const hashing *h = of;
    return !h->w->enter || h->w->enter(h->w->of, name);
}

/* Adds a piece of the current file to its SHA-256; n = 0 ends the file and stores its sum. */
static void sum_up(hashing *h, const char *name, const char *bytes, size_t n)
{
    lra_digest *to = h->to;
    if (h->n == 0) lra_sha256_start(&h->sum);
    lra_sha256_add(&h->sum, bytes, n);
    h->n += n;
    if (n > 0) return;
    if (to->n == to->capacity) {
        to->capacity = 2 * to->capacity + 16;
        to->file = lra_resize(to->file, (size_t)to->capacity * sizeof *to->file);
    }
    lra_digest_file *f = &to->file[to->n++];
    *f = (lra_digest_file){.name = lra_copy_text(h->only ? h->only : name), .n = h->n};
    lra_sha256_end(&h->sum, f->sha256);
    h->n = 0;
}

/* Updates the hash of all files by a piece. Pieces are blocks of a fixed size, so that the hash
 * depends on names and bytes alone. */
static int hash_piece(void *of, const char *name, const char *bytes, size_t n, lra_err *e)
{
    (void)e;
    hashing *h = of;
    uint64_t part[3] = {h->to->hash, n ? 0 : lra_hash64(name, strlen(name)), lra_hash64(bytes, n)};
    h->to->hash = lra_hash64(part, sizeof part);
    if (h->to->listed) sum_up(h, name, bytes, n);
    return 0;
}

int lra_walk_hash(const lra_walk *w, const char *path, lra_digest *to, lra_err *e)
{
    bool folder = lra_is_folder(path);
    hashing h = {.w = w, .to = to, .only = folder ? NULL : lra_walk_base(path)};
    to->hash = 0;
    lra_walk files = {.wanted = hash_wanted,
                      .enter = hash_enter,
                      .piece = hash_piece,
                      .of = &h,
                      .levels = w->levels};
    return folder ? lra_walk_path(&files, path, e) : walk_pieces(&files, path, "", e);
}
