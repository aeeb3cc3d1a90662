/* Tensor maps of the host shim, and the columns that tests ask for. */
#include "tests/shim/wgmma.h"

extern "C" bool lra_cuda_map(lra_map *m, const void *data, const int64_t d[3], const int box[3],
                             bool swizzled)
{
    return shim_make_map(m, data, d, box, swizzled);
}

extern "C" int shim_columns;
int shim_columns;
extern "C" int lra_cuda_columns(void)
{
    return shim_columns;
}
