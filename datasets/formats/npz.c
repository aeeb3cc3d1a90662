/* Reads npz archives. */
#define ZLIB_CONST /* next_in is a pointer to const */
#include "datasets/formats/npz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "datasets/formats/column_parts.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/formats/npy.h"
#include "kernels/base/formats/safetensors.h"

enum {
    END = 22,
    END64 = 56,
    LOCATOR = 20,
    ENTRY = 46,
    LOCAL = 30,
    LONGEST_COMMENT = 65535,
    MOST_MEMBERS = 100000,
    STORED = 0,
    DEFLATED = 8,
    MOST_TIMES = 1032 /* maximum compression ratio of deflate, which bounds the unpacked size */
};
#define MOST_UNPACKED ((uint64_t)1 << 36)

typedef struct {
    const unsigned char *bytes;
    size_t n;
    const char *name;
    lra_err *e;
} archive;

static uint64_t little(const unsigned char *p, int n)
{
    uint64_t v = 0;
    for (int i = n - 1; i >= 0; i--) v = v << 8 | p[i];
    return v;
}

static int fail(const archive *a, const char *what)
{
    return lra_fail(a->e, "'%s' is not a readable npz file: %s", a->name, what);
}

/* ---- the central directory ------------------------------------------------------------------- */

typedef struct {
    uint64_t at, size, entries;
} directory;

/* Offset of the end-of-central-directory record; SIZE_MAX: there is none. */
static size_t find_end(const archive *a)
{
    if (a->n < END) return SIZE_MAX;
    size_t last = a->n - END, first = last > LONGEST_COMMENT ? last - LONGEST_COMMENT : 0;
    for (size_t at = last;; at--) {
        const unsigned char *p = a->bytes + at;
        if (memcmp(p, "PK\5\6", 4) == 0 && little(p + 20, 2) == last - at) return at;
        if (at == first) return SIZE_MAX;
    }
}

/* If there is a zip64 record before the end record, sets *d from it. *before: offset of the first
 * of these records. */
static int read_end64(const archive *a, size_t end, directory *d, uint64_t *before)
{
    *before = end;
    if (end < LOCATOR + END64 || memcmp(a->bytes + end - LOCATOR, "PK\6\7", 4) != 0) return 0;
    const unsigned char *locator = a->bytes + end - LOCATOR;
    uint64_t at = little(locator + 8, 8);
    if (at > end - LOCATOR - END64 || memcmp(a->bytes + at, "PK\6\6", 4) != 0)
        return fail(a, "its zip64 record is not where its locator says");
    const unsigned char *p = a->bytes + at;
    if (little(p + 4, 8) != end - LOCATOR - at - 12)
        return fail(a, "its zip64 record has a wrong size");
    if (little(p + 16, 4) || little(p + 20, 4) || little(p + 24, 8) != little(p + 32, 8))
        return fail(a, "it is one of several volumes");
    *d = (directory){little(p + 48, 8), little(p + 40, 8), little(p + 32, 8)};
    *before = at;
    return 0;
}

static int find_directory(const archive *a, directory *d)
{
    size_t end = find_end(a);
    uint64_t before;
    if (end == SIZE_MAX)
        return fail(a, "the end of a zip archive is missing (an incomplete file?)");
    const unsigned char *p = a->bytes + end;
    *d = (directory){little(p + 16, 4), little(p + 12, 4), little(p + 10, 2)};
    if (read_end64(a, end, d, &before) != 0) return LRA_FAILED;
    if (before == end && (little(p + 4, 2) || little(p + 6, 2) || little(p + 8, 2) != d->entries))
        return fail(a, "it is one of several volumes");
    if (d->size > before || d->at != before - d->size)
        return fail(a, "its directory is not where the end of the archive says");
    if (d->entries > MOST_MEMBERS || d->entries > d->size / ENTRY)
        return fail(a, "its directory is shorter than its number of members");
    return 0;
}

/* ---- a member -------------------------------------------------------------------------------- */

/* Replaces sizes and offset whose 32-bit value is all ones by the 64-bit values of the extra field
 * with id 1 (zip64). Returns false if such a value is missing. */
static bool read_extra(const unsigned char *p, size_t n, uint64_t *size, uint64_t *packed,
                       uint64_t *at)
{
    uint64_t *const wanted[] = {size, packed, at};
    bool needed = *size == UINT32_MAX || *packed == UINT32_MAX || *at == UINT32_MAX;
    while (needed && n >= 4) {
        size_t id = (size_t)little(p, 2), length = (size_t)little(p + 2, 2);
        p += 4, n -= 4;
        if (length > n) return false;
        if (id == 1) {
            for (int i = 0; i < 3; i++) {
                if (*wanted[i] != UINT32_MAX) continue;
                if (length < 8) return false;
                *wanted[i] = little(p, 8);
                p += 8, length -= 8;
            }
            return true;
        }
        p += length, n -= length;
    }
    return !needed;
}

static int fail_member(const archive *a, const unsigned char *name, size_t n, const char *what)
{
    return lra_fail(a->e, "'%s': member '%s' %s", a->name,
                    lra_quote_bytes((const char *)name, n).text, what);
}

/* Finds the data of a member by its local header; fails if the name there differs. */
static int find_data(const archive *a, const unsigned char *name, size_t n_name, uint64_t at,
                     uint64_t directory_at, lra_npz_member *m)
{
    if (directory_at < LOCAL || at > directory_at - LOCAL ||
        memcmp(a->bytes + at, "PK\3\4", 4) != 0)
        return fail_member(a, name, n_name, "is not where the directory says");
    const unsigned char *p = a->bytes + at;
    size_t length = (size_t)little(p + 26, 2), extra = (size_t)little(p + 28, 2);
    uint64_t room = directory_at - at - LOCAL;
    if (length != n_name || room < length || memcmp(p + LOCAL, name, n_name) != 0)
        return fail_member(a, name, n_name, "has another name in its own header");
    if (room - length < extra || room - length - extra < m->n_packed)
        return fail_member(a, name, n_name, "is longer than the archive");
    m->packed = p + LOCAL + length + extra;
    return 0;
}

static int check_member(const archive *a, const unsigned char *p, const unsigned char *name,
                        size_t n, const lra_npz_member *m)
{
    uint64_t flags = little(p + 8, 2), method = little(p + 10, 2);
    if (flags & 1 || flags & 1 << 6 || flags & 1 << 13)
        return fail_member(a, name, n, "is encrypted");
    if (little(p + 34, 2) != 0) return fail_member(a, name, n, "is in another volume");
    if (method != STORED && method != DEFLATED)
        return fail_member(a, name, n, "is compressed in another way than by deflate");
    if (method == STORED && m->n != m->n_packed)
        return fail_member(a, name, n, "is stored, and its two sizes differ");
    if (method == DEFLATED && m->n / MOST_TIMES > m->n_packed)
        return fail_member(a, name, n, "states a size that deflate cannot reach");
    return 0;
}

/* Returns the name of an array, which the caller frees; NULL: the member is not an array. *skipped:
 * true for a member that may be skipped (meta.json). */
static char *array_name(const unsigned char *name, size_t n, bool *skipped)
{
    *skipped = n == 9 && memcmp(name, "meta.json", 9) == 0;
    if (n < 5 || memcmp(name + n - 4, ".npy", 4) != 0 || memchr(name, 0, n)) return NULL;
    char *text = lra_alloc(n - 4 + 1);
    memcpy(text, name, n - 4);
    return text;
}

/* Reads an entry of the directory; room: remaining bytes of the directory. Returns the length of
 * the entry, or 0 and a message. */
static size_t read_entry(const archive *a, const unsigned char *p, size_t room,
                         uint64_t directory_at, lra_npz *z)
{
    if (room < ENTRY || memcmp(p, "PK\1\2", 4) != 0) return fail(a, "its directory is damaged"), 0;
    size_t n_name = (size_t)little(p + 28, 2), n_extra = (size_t)little(p + 30, 2);
    size_t length = ENTRY + n_name + n_extra + (size_t)little(p + 32, 2);
    if (length > room) return fail(a, "its directory is damaged"), 0;
    const unsigned char *name = p + ENTRY;
    uint64_t at = little(p + 42, 4);
    lra_npz_member m = {.n_packed = little(p + 20, 4), .n = little(p + 24, 4)};
    if (!read_extra(name + n_name, n_extra, &m.n, &m.n_packed, &at))
        return fail_member(a, name, n_name, "has no valid zip64 sizes"), 0;
    m.crc = (uint32_t)little(p + 16, 4);
    m.deflated = little(p + 10, 2) == DEFLATED;
    if (check_member(a, p, name, n_name, &m) != 0 ||
        find_data(a, name, n_name, at, directory_at, &m) != 0)
        return 0;
    bool skipped;
    m.name = array_name(name, n_name, &skipped);
    if (!m.name && !skipped)
        return fail_member(a, name, n_name,
                           "is no array, expected NAME.npy; arrays are saved by "
                           "numpy.savez(FILE, NAME=ARRAY, ...)"),
               0;
    if (m.name) z->member[z->n++] = m;
    if (m.name && lra_safetensors_check_name(m.name, a->e) != 0)
        return lra_fail_in(a->e, "'%s'", a->name), 0;
    return length;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const lra_npz_member *const *)a)->name,
                  (*(const lra_npz_member *const *)b)->name);
}

static int by_place(const void *a, const void *b)
{
    const lra_npz_member *p = *(const lra_npz_member *const *)a,
                         *q = *(const lra_npz_member *const *)b;
    return p->packed < q->packed ? -1 : p->packed > q->packed;
}

/* Fails if two arrays have the same name or overlap, or if all arrays together are too large. */
static int check_members(const archive *a, const lra_npz *z)
{
    int rc = 0;
    uint64_t total = 0;
    const lra_npz_member **list = lra_alloc_array((size_t)z->n + 1, sizeof *list);
    for (int i = 0; i < z->n && rc == 0; i++) {
        list[i] = &z->member[i];
        if (z->member[i].n > MOST_UNPACKED - total)
            rc = fail(a, "its arrays have more than 64 GiB");
        total += z->member[i].n;
    }
    if (rc == 0) qsort(list, (size_t)z->n, sizeof *list, by_name);
    for (int i = 0; i + 1 < z->n && rc == 0; i++)
        if (strcmp(list[i]->name, list[i + 1]->name) == 0)
            rc = lra_fail(a->e, "'%s' has two arrays '%s'", a->name,
                          lra_quote_text(list[i]->name).text);
    if (rc == 0) qsort(list, (size_t)z->n, sizeof *list, by_place);
    for (int i = 0; i + 1 < z->n && rc == 0; i++)
        if (list[i]->packed + list[i]->n_packed > list[i + 1]->packed)
            rc = lra_fail(a->e, "'%s': the arrays '%s' and '%s' overlap", a->name,
                          lra_quote_text(list[i]->name).text,
                          lra_quote_text(list[i + 1]->name).text);
    lra_free(list);
    return rc;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* Inflates at most n bytes and returns their number. *done: true if the stream has ended and all
 * packed bytes were read. */
static uint64_t inflate_up_to(const lra_npz_member *m, unsigned char *to, uint64_t n, bool *done)
{
    const uint64_t block = (uint64_t)1 << 30;
    z_stream z = {0};
    uint64_t in = 0, out = 0;
    int code = Z_OK;
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) LRA_BUG("no memory to inflate");
    while (code == Z_OK) {
        uint64_t more_in = m->n_packed - in, more_out = n - out;
        z.next_in = m->packed + in;
        z.avail_in = (uInt)(more_in < block ? more_in : block);
        z.next_out = to + out;
        z.avail_out = (uInt)(more_out < block ? more_out : block);
        uInt had_in = z.avail_in, had_out = z.avail_out;
        code = inflate(&z, Z_NO_FLUSH);
        in += had_in - z.avail_in;
        out += had_out - z.avail_out;
        if (had_in == z.avail_in && had_out == z.avail_out) break;
    }
    inflateEnd(&z);
    *done = code == Z_STREAM_END && in == m->n_packed;
    return out;
}

/* Reads the npy header of a member. Only the first bytes of the member are unpacked. */
static int read_header(const archive *a, lra_npz_member *m)
{
    enum { FIRST = 12 + 10000 + 64 }; /* the longest header that lra_npy_parse() accepts */
    lra_err why = {{0}};
    bool done;
    uint64_t there = m->n < FIRST ? m->n : FIRST;
    unsigned char *first = lra_alloc(FIRST);
    int rc = 0;
    if (!m->deflated)
        memcpy(first, m->packed, (size_t)there);
    else if (inflate_up_to(m, first, there, &done) != there)
        rc = lra_fail(a->e, "'%s': array '%s' is damaged: it cannot be inflated", a->name,
                      lra_quote_text(m->name).text);
    if (rc == 0 && lra_npy_parse_header(first, (size_t)there, m->n, m->name, true, &m->array,
                                        &m->data, &why) != 0)
        m->reason = lra_copy_text(why.msg);
    lra_free(first);
    return rc;
}

static bool crc_fits(const lra_npz_member *m, const unsigned char *p)
{
    const uint64_t block = (uint64_t)1 << 30;
    uLong crc = crc32(0, NULL, 0);
    for (uint64_t at = 0; at < m->n; at += block)
        crc = crc32(crc, p + at, (uInt)(m->n - at < block ? m->n - at : block));
    return crc == m->crc;
}

int lra_npz_unpack(lra_npz *z, int i, lra_ndarray *a, lra_err *e)
{
    const lra_npz_member *m = &z->member[i];
    const lra_quote shown = lra_quote_text(m->name);
    const unsigned char *p = m->packed;
    lra_free_large(z->unpacked);
    z->unpacked = NULL;
    if (m->deflated) {
        bool done;
        z->unpacked = lra_try_alloc((size_t)m->n + 1, z->name, e);
        if (!z->unpacked) return LRA_FAILED;
        /* requests one more byte than expected, so that a longer member is detected */
        uint64_t n = inflate_up_to(m, z->unpacked, m->n + 1, &done);
        if (n != m->n || !done)
            return lra_fail(e, "'%s': array '%s' is damaged: it does not inflate to %llu bytes",
                            z->name, shown.text, (unsigned long long)m->n);
        p = z->unpacked;
    }
    if (!crc_fits(m, p))
        return lra_fail(e, "'%s': array '%s' is damaged: its CRC-32 differs", z->name, shown.text);
    *a = m->array;
    a->bytes = p + m->data;
    return 0;
}

/* ---- the archive ----------------------------------------------------------------------------- */

int lra_npz_parse(const void *bytes, size_t n, const char *name, lra_npz *z, lra_err *e)
{
    archive a = {bytes, n, name, e};
    directory d = {0};
    *z = (lra_npz){.name = name};
    if (find_directory(&a, &d) != 0) return LRA_FAILED;
    z->member = lra_alloc_array((size_t)d.entries + 1, sizeof *z->member);
    size_t at = (size_t)d.at, end = at + (size_t)d.size;
    for (uint64_t i = 0; i < d.entries; i++) {
        size_t length = read_entry(&a, a.bytes + at, end - at, d.at, z);
        if (length == 0) return LRA_FAILED;
        at += length;
    }
    if (at != end) return fail(&a, "its directory is longer than its number of members");
    if (check_members(&a, z) != 0) return LRA_FAILED;
    for (int i = 0; i < z->n; i++)
        if (read_header(&a, &z->member[i]) != 0) return LRA_FAILED;
    return 0;
}

void lra_npz_free(lra_npz *z)
{
    for (int i = 0; i < z->n; i++) {
        lra_free(z->member[i].name);
        lra_free(z->member[i].reason);
    }
    lra_free(z->member);
    lra_free_large(z->unpacked);
    *z = (lra_npz){0};
}
