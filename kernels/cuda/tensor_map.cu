/* Creates tensor maps (TMA descriptors). The driver function is not linked; its address is queried
 * from the runtime by name. */
#include <cuda.h>

#include "kernels/cuda/state.h"
#include "kernels/cuda/wgmma.h"

static_assert(sizeof(lra_map) == sizeof(CUtensorMap), "a tensor map of another size");

typedef decltype(&cuTensorMapEncodeTiled) encoder;

static encoder find(void)
{
    void *f = NULL;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
    cudaError_t rc = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000,
                                                      cudaEnableDefault, &found);
#else
    cudaError_t rc = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &f, cudaEnableDefault,
                                             &found);
#endif
    return rc == cudaSuccess && found == cudaDriverEntryPointSuccess ? (encoder)f : NULL;
}

extern "C" bool lra_cuda_map(lra_map *m, const void *data, const int64_t d[3], const int box[3],
                             bool swizzled)
{
    static encoder encode;
    cuuint64_t size[3] = {(cuuint64_t)d[0], (cuuint64_t)d[1], (cuuint64_t)d[2]};
    cuuint64_t step[2] = {2 * size[0], 2 * size[0] * size[1]};
    cuuint32_t part[3] = {(cuuint32_t)box[0], (cuuint32_t)box[1], (cuuint32_t)box[2]};
    cuuint32_t every[3] = {1, 1, 1};
    CUtensorMap made;
    if (!encode) encode = find();
    if (!encode) {
        lra_fail(&lra_cuda->fault,
                 "the NVIDIA driver has no tensor maps; a newer one is needed, or "
                 "LRA_CUDA_LEVEL=mma");
        return false;
    }
    CUresult rc = encode(&made, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, (void *)data, size, step, part,
                         every, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         swizzled ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE,
                         CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (rc != CUDA_SUCCESS) {
        lra_fail(&lra_cuda->fault, "no tensor map of (%lld,%lld,%lld) in boxes of (%d,%d,%d): %d",
                 (long long)d[2], (long long)d[1], (long long)d[0], box[2], box[1], box[0],
                 (int)rc);
        return false;
    }
    memcpy(m, &made, sizeof *m);
    return true;
}

extern "C" int lra_cuda_columns(void)
{
    return lra_cuda->columns;
}
