/* Selects and launches the CUDA kernel of a convolution. */
#include "kernels/ops/conv/conv_grouped_cuda.h"
#include "kernels/ops/conv/conv_tile_cuda.h"
#if LRA_TYPE_bf16
#include "kernels/ops/conv/conv_mma.h"
#include "kernels/ops/conv/conv_wgmma.h"
#endif

extern "C" void conv_cuda_run(const conv_job *j, void *stream)
{
#if LRA_TYPE_bf16
    if (lra_cuda_level() >= LRA_CUDA_WGMMA && wgmma_fits(j)) {
        conv_wgmma_run(j, stream);
        return;
    }
    if (lra_cuda_level() >= LRA_CUDA_MMA && mma_fits(j)) {
        conv_mma_run(j, stream);
        return;
    }
#endif
    if (grouped_fits(j))
        conv_grouped_run(j, stream);
    else
        conv_tile_run(j, stream);
}

extern "C" bool conv_cuda_dense(const conv_job *j, void *stream)
{
#if LRA_TYPE_bf16
    if (lra_cuda_level() >= LRA_CUDA_MMA && mma_fits(j)) {
        conv_mma_run(j, stream);
        return true;
    }
#endif
    (void)j, (void)stream;
    return false;
}
