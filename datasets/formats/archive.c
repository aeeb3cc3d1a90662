/* Reads the files of an archive, or the single file in a compressed file.
 * libarchive recognises formats and filters. Its "raw" format, which accepts any bytes, is tried
 * last and only if a compression was recognised: bytes that are neither an archive nor compressed
 * are an error. */
#include "datasets/formats/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datasets/formats/gunzip.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { BLOCK = 1 << 20, MAX_MEMBERS = 1 << 24 };
#define MAX_TOTAL ((uint64_t)1 << 36)

/* Source of an archive: a file, or bytes in memory. */
typedef struct {
    FILE *file; /* NULL: the source is memory */
    const void *bytes;
    size_t n;
    const char *name;   /* name for messages */
    const char *prefix; /* prefix of member names: "" or "archive.tar/" */
    lra_gunzip *gunzip; /* NULL: the source is not gzip */
} source;

/* An accepted file, kept in memory until all files are read, then visited in order of name. */
typedef struct {
    char *name, *bytes;
    size_t n;
} kept_file;

typedef struct {
    lra_walk *w;
    source *from;
    uint64_t max_file, max_total, kept_bytes;
    kept_file *kept;
    int64_t n_kept, kept_capacity;
    char *bytes; /* content of the current member; unused if the walk visits files in pieces */
    uint64_t n, capacity;
} reading;

/* ---- files that are wanted ------------------------------------------------------------------- */

/* Prints the reason at once, because a later message about missing files would not explain it. */
static void count_damaged(reading *r, const char *name, const char *why)
{
    if (r->w->n_damaged++ > 0) return;
    snprintf(r->w->damaged, sizeof r->w->damaged, "%s", name);
    lra_warn("'%s' in '%s' is damaged: %s", name, r->from->name, why);
}

static int keep(reading *r, const char *name, lra_err *e)
{
    r->kept_bytes += r->n;
    if (r->kept_bytes > LRA_WALK_MAX_FILE * 4)
        return lra_fail(e, "'%s' contains more than 4 GiB of files to sort", r->from->name);
    if (r->n_kept == r->kept_capacity) {
        r->kept_capacity = 2 * r->kept_capacity + 64;
        r->kept = lra_resize(r->kept, (size_t)r->kept_capacity * sizeof *r->kept);
    }
    r->kept[r->n_kept++] = (kept_file){lra_copy_text(name), r->bytes, (size_t)r->n};
    r->bytes = NULL, r->capacity = 0;
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
        lra_free_large(r->kept[i].bytes);
    }
    lra_free(r->kept);
    return rc;
}

/* ---- archives -------------------------------------------------------------------------------- */

typedef struct {
    char text[160];
} reason_line;

/* Returns libarchive's error message without the line end that some of its messages have. */
static reason_line reason(struct archive *a)
{
    reason_line line;
    const char *text = archive_error_string(a);
    snprintf(line.text, sizeof line.text, "%s", text ? text : "no reason given");
    line.text[strcspn(line.text, "\r\n")] = 0;
    return line;
}

static la_ssize_t next_unpacked(struct archive *a, void *of, const void **block)
{
    lra_gunzip *g = of;
    int64_t n = lra_gunzip_next(g, block);
    if (n < 0) archive_set_error(a, EIO, "gzip: %s", lra_gunzip_error(g));
    return n;
}

/* Opens the source at its start, also if it was opened before. */
static int open_source(struct archive *a, source *from)
{
    char first[4] = {0};
    size_t n = from->n < sizeof first ? from->n : sizeof first;
    if (from->file) {
        rewind(from->file);
        n = fread(first, 1, sizeof first, from->file);
        rewind(from->file);
    } else if (n) {
        memcpy(first, from->bytes, n);
    }
    lra_gunzip_free(from->gunzip);
    from->gunzip = lra_gunzip_is(first, n) ? lra_gunzip_new(from->file, from->bytes, from->n)
                                           : NULL;
    if (from->gunzip) return archive_read_open(a, from->gunzip, NULL, next_unpacked, NULL);
    if (!from->file) return archive_read_open_memory(a, from->bytes, from->n);
    /* libarchive reads from the descriptor; stdio's buffer is not used any more */
    lseek(fileno(from->file), 0, SEEK_SET);
    return archive_read_open_fd(a, fileno(from->file), BLOCK);
}

static struct archive *new_reader(bool raw)
{
    struct archive *a = archive_read_new();
    if (!a) LRA_BUG("no memory for an archive");
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

/* Reads the header of the next member; returns libarchive's code. */
static int next_member(struct archive *a, struct archive_entry **entry)
{
    int code = archive_read_next_header(a, entry);
    while (code == ARCHIVE_RETRY) code = archive_read_next_header(a, entry);
    return code;
}

/* Opens the source and reads the first header. *raw: false for an archive, true for one compressed
 * file. */
static struct archive *open_any(source *from, bool *raw, struct archive_entry **entry, int *code,
                                lra_err *e)
{
    for (int k = 0; k < 2; k++) {
        struct archive *a = new_reader(k);
        *raw = k == 1;
        bool open = open_source(a, from) == ARCHIVE_OK;
        *code = open ? next_member(a, entry) : ARCHIVE_FATAL;
        bool packed = from->gunzip || archive_filter_count(a) > 1;
        bool good = *code == ARCHIVE_OK || *code == ARCHIVE_WARN || (*code == ARCHIVE_EOF && !k);
        if (good && (!k || packed)) return a;
        if (k && good)
            lra_fail(e, "'%s' is neither an archive (tar, zip) nor compressed (gz, xz, bz2)",
                     from->name);
        else
            lra_fail(e, "cannot read '%s': %s", from->name, reason(a).text);
        archive_read_free(a);
    }
    return NULL;
}

static int too_large(const reading *r, lra_err *e)
{
    return lra_fail(e, "'%s' unpacks to more than %llu bytes", r->from->name,
                    (unsigned long long)r->max_total);
}

/* Ensures that r->bytes holds n bytes and a terminating 0. */
static int make_room(reading *r, const char *name, uint64_t n, lra_err *e)
{
    if (n < r->capacity) return 0;
    uint64_t capacity = n + n / 2 + BLOCK;
    if (capacity > r->max_file) capacity = r->max_file + 1 > n ? r->max_file + 1 : n + 1;
    char *bytes = lra_try_alloc(capacity, name, e);
    if (!bytes) return lra_fail_in(e, "'%s'", r->from->name);
    if (r->n) memcpy(bytes, r->bytes, r->n);
    lra_free_large(r->bytes);
    r->bytes = bytes, r->capacity = capacity;
    return 0;
}

static int take_block(reading *r, const char *name, const void *block, size_t size, int64_t offset,
                      lra_err *e)
{
    static const char zeros[4096]; /* bytes of a hole in a sparse file */
    uint64_t end = (uint64_t)offset + size;
    if (offset < 0 || (uint64_t)offset < r->n || end > r->max_file)
        return lra_fail(e, "'%s' in '%s' is larger than %llu bytes", name, r->from->name,
                        (unsigned long long)r->max_file);
    int rc = r->w->piece ? 0 : make_room(r, name, end, e);
    while (r->n < end && rc == 0) {
        bool hole = r->n < (uint64_t)offset;
        size_t n = hole ? (size_t)((uint64_t)offset - r->n) : size;
        if (hole && n > sizeof zeros) n = sizeof zeros;
        const char *from = hole ? zeros : block;
        if (r->w->piece)
            rc = r->w->piece(r->w->of, name, from, n, e);
        else
            memcpy(r->bytes + r->n, from, n);
        r->n += n;
    }
    return rc;
}

/* Reads the content of the current member. Returns 1 if this member is damaged but later ones are
 * readable. */
static int read_member(reading *r, struct archive *a, const char *name, lra_err *e)
{
    r->n = 0;
    if (make_room(r, name, 0, e) != 0) return LRA_FAILED;
    for (;;) {
        const void *block;
        size_t size;
        int64_t offset;
        int code = archive_read_data_block(a, &block, &size, &offset);
        if (code == ARCHIVE_EOF) {
            if (!r->w->piece) r->bytes[r->n] = 0;
            return 0;
        }
        if (code == ARCHIVE_RETRY) continue;
        if (code == ARCHIVE_FAILED || code == ARCHIVE_WARN) return 1;
        if (code == ARCHIVE_FATAL)
            return lra_fail(e, "'%s' is damaged at '%s': %s", r->from->name, name, reason(a).text);
        int rc = take_block(r, name, block, size, offset, e);
        if (rc != 0) return rc;
        if ((uint64_t)archive_filter_bytes(a, 0) > r->max_total) return too_large(r, e);
    }
}

static int take_member(reading *r, struct archive *a, const char *name, lra_err *e)
{
    lra_walk *w = r->w;
    int rc = read_member(r, a, name, e);
    if (rc == 1) count_damaged(r, name, reason(a).text);
    /* pieces that were already visited cannot be withdrawn, so that the walk must fail */
    if (rc == 1 && w->piece && r->n)
        return lra_fail(e, "'%s' in '%s' is damaged: %s", name, r->from->name, reason(a).text);
    if (rc != 0) return rc == 1 ? 0 : rc;
    if (r->n == 0 && !w->empty) {
        w->n_empty++;
        return 0;
    }
    if (w->piece) return lra_walk_end(w, name, e);
    return w->sorted ? keep(r, name, e) : lra_walk_visit(w, name, r->bytes, (size_t)r->n, e);
}

/* Returns the name of a compressed file without its folders and its last suffix. */
static char *unpacked_name(const char *name)
{
    const char *base = lra_walk_base(name);
    const char *dot = strrchr(base, '.');
    return lra_format("%.*s", dot && dot > base ? (int)(dot - base) : (int)strlen(base), base);
}

/* Returns the full name of a member, which the caller frees; NULL if the archive stores no name for
 * it. */
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
        count_damaged(r, "(a file without a name)", "it has no name");
    else if (lra_walk_wants(r->w, name))
        rc = take_member(r, a, name, e);
    if (rc == 0 && (uint64_t)archive_filter_bytes(a, 0) > r->max_total) rc = too_large(r, e);
    lra_free(name);
    return rc;
}

/* Reads the bytes after the last member to the end of the gzip stream, whose CRC is checked
 * there. */
static int read_rest(const reading *r, lra_err *e)
{
    lra_gunzip *g = r->from->gunzip;
    const void *block;
    int64_t n = 1;
    while (g && n > 0) {
        n = lra_gunzip_next(g, &block);
        if (n < 0)
            return lra_fail(e, "'%s' is damaged: gzip: %s", r->from->name, lra_gunzip_error(g));
        if (lra_gunzip_total(g) > r->max_total) return too_large(r, e);
    }
    return 0;
}

static int walk_members(lra_walk *w, source *from, lra_err *e)
{
    reading r = {.w = w, .from = from};
    r.max_file = w->max_file ? w->max_file : w->piece ? INT64_MAX : LRA_WALK_MAX_FILE - 1;
    r.max_total = w->max_total ? w->max_total : MAX_TOTAL;
    struct archive_entry *entry = NULL;
    bool raw = false;
    int code = 0, rc = 0;
    struct archive *a = open_any(from, &raw, &entry, &code, e);
    for (int64_t i = 0; a && rc == 0 && code != ARCHIVE_EOF; i++) {
        if (code == ARCHIVE_FATAL)
            rc = lra_fail(e, "'%s' is damaged: %s", from->name, reason(a).text);
        else if (code == ARCHIVE_FAILED)
            count_damaged(&r, "(a file without a header)", reason(a).text);
        else
            rc = one_member(&r, a, entry, raw, e);
        if (rc == 0 && i == MAX_MEMBERS)
            rc = lra_fail(e, "'%s' contains more than %d files", from->name, (int)MAX_MEMBERS);
        if (rc == 0) code = next_member(a, &entry);
    }
    if (rc == 0) rc = a ? read_rest(&r, e) : LRA_FAILED;
    archive_read_free(a);
    lra_gunzip_free(from->gunzip);
    lra_free_large(r.bytes);
    return visit_kept(&r, rc, e);
}

int lra_walk_bytes(lra_walk *w, const void *bytes, size_t n, const char *name, lra_err *e)
{
    source from = {.bytes = bytes, .n = n, .name = name, .prefix = ""};
    return walk_members(w, &from, e);
}

int lra_walk_archive(lra_walk *w, const char *path, const char *prefix, lra_err *e)
{
    source from = {.file = lra_file_open(path, e), .name = path, .prefix = prefix};
    if (!from.file) return LRA_FAILED;
    int rc = walk_members(w, &from, e);
    fclose(from.file);
    return rc;
}
