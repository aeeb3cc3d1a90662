/* The files of an archive, or the one file of a compressed one.
 * Formats and filters are libarchive's.  Its "raw" format, which takes anything, is tried last and only where a
 * compression was recognised: bytes that are neither an archive nor compressed are refused, not passed on. */
#include "datasets/formats/walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/mem.h"

enum { BLOCK = 1 << 20, MAX_MEMBERS = 1 << 24 };
#define MAX_TOTAL ((uint64_t)1 << 36)

/* Where an archive is read from: a file, or memory. */
typedef struct {
    const char *path; /* NULL: memory */
    const void *bytes;
    size_t n;
    const char *name;   /* for messages */
    const char *prefix; /* of the names of members: "" or "archive.tar/" */
} source;

/* A wanted file kept until all are there, to be visited in order. */
typedef struct {
    char *name, *bytes;
    size_t n;
} kept_file;

typedef struct {
    lra_walk *w;
    const source *from;
    uint64_t max_file, max_total, kept_bytes;
    kept_file *kept;
    int64_t n_kept, kept_capacity;
    lra_text bytes; /* of the present file, unless it is given out in pieces */
    uint64_t n;     /* how many there were */
} reading;

/* ---- files that are wanted ---------------------------------------------------------------------------- */

static void count_damaged(lra_walk *w, const char *name)
{
    if (w->n_damaged++ == 0) snprintf(w->damaged, sizeof w->damaged, "%s", name);
}

static int keep(reading *r, const char *name, lra_err *e)
{
    r->kept_bytes += r->bytes.n;
    if (r->kept_bytes > LRA_WALK_MAX_FILE * 4)
        return lra_fail(e, "'%s' holds more than 4 GiB of files to be sorted", r->from->name);
    if (r->n_kept == r->kept_capacity) {
        r->kept_capacity = 2 * r->kept_capacity + 64;
        r->kept = lra_resize(r->kept, (size_t)r->kept_capacity * sizeof *r->kept);
    }
    r->kept[r->n_kept++] = (kept_file){lra_copy_text(name), r->bytes.s, r->bytes.n};
    r->bytes = (lra_text){0};
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const kept_file *)a)->name, ((const kept_file *)b)->name);
}

static int visit_kept(reading *r, int rc, lra_err *e)
{
    if (r->n_kept) qsort(r->kept, (size_t)r->n_kept, sizeof *r->kept, by_name);
    for (int64_t i = 0; i < r->n_kept; i++) {
        if (rc == 0) rc = lra_walk_visit(r->w, r->kept[i].name, r->kept[i].bytes, r->kept[i].n, e);
        lra_free(r->kept[i].name);
        lra_free(r->kept[i].bytes);
    }
    lra_free(r->kept);
    return rc;
}

/* ---- archives ----------------------------------------------------------------------------------------- */

static const char *reason(struct archive *a)
{
    const char *text = archive_error_string(a);
    return text ? text : "no reason given";
}

static int open_source(struct archive *a, const source *from)
{
    return from->path ? archive_read_open_filename(a, from->path, BLOCK)
                      : archive_read_open_memory(a, from->bytes, from->n);
}

static struct archive *new_reader(bool raw)
{
    struct archive *a = archive_read_new();
    if (!a) LRA_BUG("no memory for an archive");
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_bzip2(a);
    if (raw) {
        archive_read_support_format_raw(a);
    } else {
        archive_read_support_format_tar(a);
        archive_read_support_format_zip(a);
    }
    return a;
}

/* The next member; the code is libarchive's. */
static int next_member(struct archive *a, struct archive_entry **entry)
{
    int code = archive_read_next_header(a, entry);
    while (code == ARCHIVE_RETRY) code = archive_read_next_header(a, entry);
    return code;
}

/* Opens and reads the first header, which decides what it is: an archive, else one compressed file (raw). */
static struct archive *open_any(const source *from, bool *raw, struct archive_entry **entry,
                                int *code, lra_err *e)
{
    for (int k = 0; k < 2; k++) {
        struct archive *a = new_reader(k);
        *raw = k == 1;
        bool open = open_source(a, from) == ARCHIVE_OK;
        *code = open ? next_member(a, entry) : ARCHIVE_FATAL;
        bool packed = archive_filter_count(a) > 1;
        bool good = *code == ARCHIVE_OK || *code == ARCHIVE_WARN || (*code == ARCHIVE_EOF && !k);
        if (good && (!k || packed)) return a;
        if (k && good)
            lra_fail(e, "'%s' is neither an archive (tar, zip) nor compressed (gz, xz, bz2)",
                     from->name);
        else
            lra_fail(e, "cannot read '%s': %s", from->name, reason(a));
        archive_read_free(a);
    }
    return NULL;
}

static int too_large(const reading *r, lra_err *e)
{
    return lra_fail(e, "'%s' unpacks to more than %llu bytes", r->from->name,
                    (unsigned long long)r->max_total);
}

static int take_block(reading *r, const char *name, const void *block, size_t size, int64_t offset,
                      lra_err *e)
{
    static const char zeros[4096]; /* holes of sparse files */
    uint64_t end = (uint64_t)offset + size;
    if (offset < 0 || (uint64_t)offset < r->n || end > r->max_file)
        return lra_fail(e, "'%s' in '%s' is larger than %llu bytes", name, r->from->name,
                        (unsigned long long)r->max_file);
    int rc = 0;
    while (r->n < end && rc == 0) {
        bool hole = r->n < (uint64_t)offset;
        size_t n = hole ? (size_t)((uint64_t)offset - r->n) : size;
        if (hole && n > sizeof zeros) n = sizeof zeros;
        const char *from = hole ? zeros : block;
        if (r->w->piece)
            rc = r->w->piece(r->w->of, name, from, n, e);
        else
            lra_text_bytes(&r->bytes, from, n);
        r->n += n;
    }
    return rc;
}

/* The bytes of the present member.  1: it is damaged, the rest is not. */
static int read_member(reading *r, struct archive *a, const char *name, lra_err *e)
{
    r->bytes.n = 0, r->n = 0;
    lra_text_bytes(&r->bytes, "", 0);
    for (;;) {
        const void *block;
        size_t size;
        int64_t offset;
        int code = archive_read_data_block(a, &block, &size, &offset);
        if (code == ARCHIVE_EOF) return 0;
        if (code == ARCHIVE_RETRY) continue;
        if (code == ARCHIVE_FAILED || code == ARCHIVE_WARN) return 1;
        if (code == ARCHIVE_FATAL)
            return lra_fail(e, "'%s' is damaged at '%s': %s", r->from->name, name, reason(a));
        int rc = take_block(r, name, block, size, offset, e);
        if (rc != 0) return rc;
        if ((uint64_t)archive_filter_bytes(a, 0) > r->max_total) return too_large(r, e);
    }
}

static int take_member(reading *r, struct archive *a, const char *name, lra_err *e)
{
    lra_walk *w = r->w;
    int rc = read_member(r, a, name, e);
    if (rc == 1) count_damaged(w, name);
    /* What was given out piece by piece cannot be left out any more. */
    if (rc == 1 && w->piece && r->n)
        return lra_fail(e, "'%s' in '%s' is damaged", name, r->from->name);
    if (rc != 0) return rc == 1 ? 0 : rc;
    if (r->n == 0 && !w->empty) {
        w->n_empty++;
        return 0;
    }
    if (w->piece) return lra_walk_end(w, name, e);
    return w->sorted ? keep(r, name, e) : lra_walk_visit(w, name, r->bytes.s, r->bytes.n, e);
}

/* The name of a compressed file without folders and its last suffix. */
static char *unpacked_name(const char *name)
{
    const char *base = lra_walk_base(name);
    const char *dot = strrchr(base, '.');
    return lra_format("%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

/* Caller frees; NULL: the archive has no name for it. */
static char *member_name(const reading *r, struct archive_entry *entry, bool raw)
{
    const char *name = archive_entry_pathname(entry);
    if (!name) name = archive_entry_pathname_utf8(entry);
    if (!raw && !name) return NULL;
    char *file = raw ? unpacked_name(r->from->name) : NULL;
    while (!raw && name[0] == '.' && name[1] == '/') name += 2;
    char *full = lra_format("%s%s", r->from->prefix, raw ? file : name);
    lra_free(file);
    return full;
}

static int one_member(reading *r, struct archive *a, struct archive_entry *entry, bool raw,
                      lra_err *e)
{
    if (!raw && archive_entry_filetype(entry) != AE_IFREG) return 0;
    char *name = member_name(r, entry, raw);
    int rc = 0;
    if (!name)
        count_damaged(r->w, "(a file without a name)");
    else if (lra_walk_wants(r->w, name))
        rc = take_member(r, a, name, e);
    if (rc == 0 && (uint64_t)archive_filter_bytes(a, 0) > r->max_total) rc = too_large(r, e);
    lra_free(name);
    return rc;
}

static int walk_members(lra_walk *w, const source *from, lra_err *e)
{
    reading r = {.w = w, .from = from};
    r.max_file = w->max_file ? w->max_file : w->piece ? INT64_MAX : LRA_WALK_MAX_FILE - 1;
    r.max_total = w->max_total ? w->max_total : MAX_TOTAL;
    struct archive_entry *entry = NULL;
    bool raw = false;
    int code = 0, rc = 0;
    struct archive *a = open_any(from, &raw, &entry, &code, e);
    if (!a) return LRA_FAILED;
    for (int64_t i = 0; rc == 0 && code != ARCHIVE_EOF; i++) {
        if (code == ARCHIVE_FATAL)
            rc = lra_fail(e, "'%s' is damaged: %s", from->name, reason(a));
        else if (code == ARCHIVE_FAILED)
            count_damaged(w, "(a file without a header)");
        else
            rc = one_member(&r, a, entry, raw, e);
        if (rc == 0 && i == MAX_MEMBERS)
            rc = lra_fail(e, "'%s' holds more than %d files", from->name, (int)MAX_MEMBERS);
        if (rc == 0) code = next_member(a, &entry);
    }
    archive_read_free(a);
    lra_text_free(&r.bytes);
    return visit_kept(&r, rc, e);
}

int lra_walk_bytes(lra_walk *w, const void *bytes, size_t n, const char *name, lra_err *e)
{
    source from = {.bytes = bytes, .n = n, .name = name, .prefix = ""};
    return walk_members(w, &from, e);
}

int lra_walk_archive(lra_walk *w, const char *path, const char *prefix, lra_err *e)
{
    source from = {.path = path, .name = path, .prefix = prefix};
    return walk_members(w, &from, e);
}
