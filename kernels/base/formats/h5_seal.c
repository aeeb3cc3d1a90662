/* The seal of an HDF5 file: 64 bytes after the HDF5 data, with the xxh3-64 of all bytes before
 * them. The library's own checksums do not cover all of its metadata, and undetected errors can
 * crash the library. A file is therefore hashed before the library reads it. Other programs can
 * read sealed files, because the superblock gives the end of the HDF5 data. A file that ends there
 * has no seal (it is older, or was rewritten by another tool), and only the library's checksums
 * protect it. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <xxhash.h>

#include "kernels/base/formats/h5_impl.h"
#include "kernels/base/core/mem.h"

enum { BLOCK = 1 << 18, SUPERBLOCK = 48, VERSION = 8, END = 28, HASH_AT = 42 };
static const char signature[] = "\211HDF\r\n\032\n";

size_t lra_h5_end(const char *superblock, size_t n)
{
    size_t end = 0;
    if (n < SUPERBLOCK || memcmp(superblock, signature, 8) != 0 || superblock[VERSION] != 3)
        return 0;
    for (int i = 7; i >= 0; i--) end = end << 8 | (unsigned char)superblock[END + i];
    return end;
}

static void seal_text(uint64_t hash, char seal[LRA_H5_SEAL + 1])
{
    snprintf(seal, LRA_H5_SEAL + 1, "lra-locality seal, xxh3-64 of all before: %016" PRIx64 "%5s\n",
             hash, "");
}

/* Hashes the first n bytes of a file. Returns false if they cannot be read. */
static bool hash_start(FILE *f, size_t n, uint64_t *hash)
{
    XXH3_state_t *state = XXH3_createState();
    char *block = lra_alloc(BLOCK);
    bool whole = state && XXH3_64bits_reset(state) == XXH_OK && fseeko(f, 0, SEEK_SET) == 0;
    while (n > 0 && whole) {
        size_t wanted = n < BLOCK ? n : BLOCK;
        whole = fread(block, 1, wanted, f) == wanted &&
                XXH3_64bits_update(state, block, wanted) == XXH_OK;
        n -= wanted;
    }
    *hash = whole ? XXH3_64bits_digest(state) : 0;
    XXH3_freeState(state);
    lra_free(block);
    return whole;
}

int lra_h5_seal(FILE *f)
{
    char start[SUPERBLOCK] = {0}, seal[LRA_H5_SEAL + 1];
    uint64_t hash = 0;
    if (fseeko(f, 0, SEEK_SET) != 0 || fread(start, 1, sizeof start, f) != sizeof start) return -1;
    size_t n = lra_h5_end(start, sizeof start);
    errno = EIO; /* error for the cases below in which no system call fails */
    if (n == 0 || fseeko(f, 0, SEEK_END) != 0 || ftello(f) != (off_t)n || !hash_start(f, n, &hash))
        return -1;
    seal_text(hash, seal);
    return fseeko(f, 0, SEEK_END) == 0 && fwrite(seal, 1, LRA_H5_SEAL, f) == LRA_H5_SEAL ? 0 : -1;
}

/* True for a complete file without a seal: it ends at the offset that its superblock gives, or its
 * superblock has another version. */
static bool unsealed(const char *superblock, size_t n, off_t size)
{
    size_t end = lra_h5_end(superblock, n);
    bool other = n == SUPERBLOCK && memcmp(superblock, signature, 8) == 0 && end == 0;
    return other || (end > 0 && end == (size_t)size);
}

int lra_h5_check_seal(FILE *f, const char *path, bool *sealed, lra_err *e)
{
    char start[SUPERBLOCK] = {0}, found[LRA_H5_SEAL] = {0}, expected[LRA_H5_SEAL + 1];
    uint64_t hash = 0;
    size_t n_start = fread(start, 1, sizeof start, f);
    off_t size = fseeko(f, 0, SEEK_END) == 0 ? ftello(f) : -1;
    if (size < 0 || ferror(f)) return lra_fail_errno(e, "cannot read '%s'", path);
    *sealed = false;
    if (unsealed(start, n_start, size)) return 0;
    /* checks the sizes first: bytes that the file cannot have are not hashed */
    if (lra_h5_end(start, n_start) + LRA_H5_SEAL != (size_t)size)
        return lra_fail(e, "'%s': not a complete HDF5 file (cut short, or damaged)", path);
    if (lra_file_check_holes(f, path, e) != 0) return LRA_FAILED;
    size_t n = size > LRA_H5_SEAL ? (size_t)size - LRA_H5_SEAL : 0;
    if (fseeko(f, (off_t)n, SEEK_SET) != 0 ||
        (n > 0 && fread(found, 1, sizeof found, f) != sizeof found) || !hash_start(f, n, &hash))
        return lra_fail_errno(e, "cannot read '%s'", path);
    seal_text(hash, expected);
    *sealed = n > 0 && memcmp(found, expected, LRA_H5_SEAL) == 0;
    if (*sealed) return 0;
    if (memcmp(found, expected, HASH_AT) == 0)
        return lra_fail(
            e, "'%s': damaged: the hash of its bytes is %016" PRIx64 ", but it states %.16s", path,
            hash, found + HASH_AT);
    return lra_fail(e, "'%s': not a complete HDF5 file (cut short, or damaged)", path);
}
