/* npz: numpy's zip archive of NAME.npy members, stored or deflated, zip64 included.
 *   Only the central directory counts, at the end of the file; sizes are taken from it and compared
 *   with the npy header before a member is unpacked, and its CRC-32 after.
 *   Source: APPNOTE.TXT 6.3.10 of PKWARE, sections 4.3 to 4.5; numpy.lib.format.
 * Refused: members that are encrypted, spanned, overlapping, of one name, or no arrays (a zip in a
 * zip, folders; 'meta.json' is skipped); more than 64 GiB unpacked; bytes before or after the
 * archive. */
#ifndef LRA_DATASETS_FORMATS_NPZ_H
#define LRA_DATASETS_FORMATS_NPZ_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/base/formats/ndarray.h"

typedef struct {
    char *name;        /* without ".npy" */
    lra_ndarray array; /* type and shape; bytes are NULL until it is unpacked */
    char *reason;      /* of an array that is refused (pickled objects); else NULL */

    const unsigned char *packed; /* in the file */
    uint64_t n_packed, n;        /* bytes; unpacked, with the npy header */
    size_t data;                 /* where data begin in the unpacked member */
    uint32_t crc;
    bool deflated;
} lra_npz_member;

typedef struct {
    int n;
    lra_npz_member *member; /* in the order of the central directory */
    const char *name;       /* borrowed */
    void *unpacked;         /* the last deflated member */
} lra_npz;

/* The directory and the headers of an archive in n bytes of memory, which are borrowed, as is
 * `name`, used in messages. */
int lra_npz_parse(const void *bytes, size_t n, const char *name, lra_npz *z, lra_err *e);
/* Unpacks the i-th array, if its reason is NULL; a->bytes are valid until the next call. */
int lra_npz_unpack(lra_npz *z, int i, lra_ndarray *a, lra_err *e);
void lra_npz_free(lra_npz *z); /* after a failure too */

#endif
