/* Unpacks gzip (RFC 1952) by zlib, which checks CRC and length. Several members may follow each
 * other, and zeros may follow the last member (as on tapes). Any other data after a member is an
 * error. */
#include "datasets/formats/gunzip.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "kernels/base/core/mem.h"

enum { BLOCK = 1 << 18, WITH_GZIP_HEADER = 15 + 16 };

struct lra_gunzip {
    FILE *file;
    const unsigned char *bytes; /* source in memory: bytes that were not yet passed to zlib */
    size_t n;
    z_stream z;
    bool inside; /* true: inside a member, whose end has not been read */
    const char *error;
    uint64_t total;
    unsigned char in[BLOCK], out[BLOCK];
};

bool lra_gunzip_is(const void *bytes, size_t n)
{
    return n > 2 && memcmp(bytes, "\x1F\x8B", 2) == 0;
}

lra_gunzip *lra_gunzip_new(FILE *file, const void *bytes, size_t n)
{
    lra_gunzip *g = lra_alloc(sizeof *g);
    g->file = file, g->bytes = bytes, g->n = n;
    if (inflateInit2(&g->z, WITH_GZIP_HEADER) != Z_OK) LRA_BUG("no memory to unpack gzip");
    return g;
}

void lra_gunzip_free(lra_gunzip *g)
{
    if (!g) return;
    inflateEnd(&g->z);
    lra_free(g);
}

/* Ensures that zlib has input bytes; returns false at the end of the input. */
static bool fill(lra_gunzip *g)
{
    if (g->z.avail_in) return true;
    size_t n = g->n < BLOCK ? g->n : BLOCK;
    if (g->file) {
        n = fread(g->in, 1, BLOCK, g->file);
        if (ferror(g->file)) g->error = strerror(errno);
    } else if (n) {
        memcpy(g->in, g->bytes, n);
        g->bytes += n, g->n -= n;
    }
    g->z.next_in = g->in;
    g->z.avail_in = (uInt)n;
    return n > 0;
}

/* Skips zeros between members and starts the next member; returns false at the end of the input. */
static bool find_member(lra_gunzip *g)
{
    while (fill(g)) {
        while (g->z.avail_in && *g->z.next_in == 0) g->z.next_in++, g->z.avail_in--;
        if (g->z.avail_in == 0) continue;
        inflateReset(&g->z);
        return g->inside = true;
    }
    return false;
}

int64_t lra_gunzip_next(lra_gunzip *g, const void **block)
{
    int64_t n = 0;
    while (n == 0 && !g->error) {
        if (!g->inside && !find_member(g)) break;
        if (!fill(g)) {
            if (!g->error) g->error = "it ends early";
            break;
        }
        g->z.next_out = g->out;
        g->z.avail_out = BLOCK;
        int code = inflate(&g->z, Z_NO_FLUSH);
        n = BLOCK - (int64_t)g->z.avail_out;
        if (code == Z_STREAM_END)
            g->inside = false;
        else if (code != Z_OK && code != Z_BUF_ERROR) /* Z_BUF_ERROR: zlib needs more input */
            g->error = g->z.msg ? g->z.msg : "it cannot be unpacked";
    }
    if (g->error) return -1;
    g->total += (uint64_t)n;
    *block = g->out;
    return n;
}

const char *lra_gunzip_error(const lra_gunzip *g)
{
    return g->error;
}

uint64_t lra_gunzip_total(const lra_gunzip *g)
{
    return g->total;
}
