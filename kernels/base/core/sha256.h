/* SHA-256 (FIPS 180-4), the usual checksum of published files. The project's own hashes are
 * xxh3. */
#ifndef LRA_BASE_CORE_SHA256_H
#define LRA_BASE_CORE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t state[8];
    uint64_t n; /* bytes hashed so far */
    uint8_t block[64];
} lra_sha256;

void lra_sha256_start(lra_sha256 *s);
void lra_sha256_add(lra_sha256 *s, const void *bytes, size_t n);
/* Writes the hash as 64 hex digits, as sha256sum prints it. */
void lra_sha256_end(lra_sha256 *s, char hex[65]);

#endif
