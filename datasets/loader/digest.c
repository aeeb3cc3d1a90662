/* Digests of files. */
#include "datasets/loader/digest.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/sha256.h"

void lra_digest_free(lra_digest *d)
{
    for (int64_t i = 0; i < d->n; i++) lra_free(d->file[i].name);
    lra_free(d->file);
    *d = (lra_digest){0};
}

void lra_digest_sum(const lra_digest *d, char hex[65])
{
    lra_sha256 s;
    lra_sha256_start(&s);
    for (int64_t i = 0; i < d->n; i++) {
        char *line = lra_format("%s  %s\n", d->file[i].sha256, d->file[i].name);
        lra_sha256_add(&s, line, strlen(line));
        lra_free(line);
    }
    lra_sha256_end(&s, hex);
}
