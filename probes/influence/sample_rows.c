/* Rows of a sample. */
#include "probes/influence/sample_rows.h"

#include <string.h>

#include "kernels/base/mem.h"

int64_t lra_sample_rows(const lra_opened *m, int64_t **index, int64_t **place)
{
    lra_loader_spec spec = {.data = m->run->data,
                            .split = LRA_TEST_SPLIT,
                            .buckets = &m->buckets,
                            .batch = m->run->batch,
                            .sample = m->sample,
                            .alone = true};
    lra_loader *l = lra_loader_new(&spec);
    int64_t n = lra_loader_rows(l), last = 0;
    *index = lra_alloc_array((size_t)n + 1, sizeof **index);
    memcpy(*index, lra_loader_used(l), (size_t)n * sizeof **index);
    for (int64_t i = 0; i < n; i++)
        if ((*index)[i] > last) last = (*index)[i];
    *place = lra_alloc_array((size_t)last + 1, sizeof **place);
    for (int64_t i = 0; i < n; i++) (*place)[(*index)[i]] = i;
    lra_loader_free(l);
    return n;
}
