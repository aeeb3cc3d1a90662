/* npz: numpy's zip archive of NAME.npy members, stored or deflated, including zip64.
 *   Members are found by the central directory at the end of the file. Its sizes are compared with
 *   the npy header before a member is unpacked, and its CRC-32 with the unpacked bytes.
 *   Source: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3 to 4.5; numpy.lib.format.
 * Errors: members that are encrypted, span volumes, overlap, have the same name, or are not arrays
 * (a zip in a zip, folders; 'meta.json' is skipped); more than 64 GiB unpacked; bytes before or
 * after the archive. */
#ifndef LRA_DATASETS_FORMATS_NPZ_H
#define LRA_DATASETS_FORMATS_NPZ_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/formats/ndarray.h"

typedef struct {
    char *name;        /* name of the array, without ".npy" */
    lra_ndarray array; /* type and shape; bytes are NULL until it is unpacked */
    char *reason;      /* why the array cannot be read (pickled objects); else NULL */

    const unsigned char *packed; /* the packed bytes, in the file */
    /* sizes in bytes: of the packed bytes; of the unpacked member (n), including its npy header */
    uint64_t n_packed, n;
    size_t data; /* offset of the data in the unpacked member */
    uint32_t crc;
    bool deflated;
} lra_npz_member;

typedef struct {
    int n;
    lra_npz_member *member; /* in the order of the central directory */
    const char *name;       /* name of the file in messages; not owned */
    void *unpacked;         /* bytes of the array that was inflated last */
} lra_npz;

/* Parses the directory and the npy headers of an archive of n bytes in memory. z refers to `bytes`
 * and `name`, which must stay valid. name: for messages. */
int lra_npz_parse(const void *bytes, size_t n, const char *name, lra_npz *z, lra_err *e);
/* Unpacks the i-th array, whose reason must be NULL; a->bytes are valid until the next call. */
int lra_npz_unpack(lra_npz *z, int i, lra_ndarray *a, lra_err *e);
void lra_npz_free(lra_npz *z); /* required also after a failure */

#endif
