/* Replaces the matrix library in the host shim by plain loops. */
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/level.h"

#include <math.h>
#include <string.h>

static float load(const void *x, lra_type t, int64_t i)
{
    float f;
    if (t == LRA_F32) return ((const float *)x)[i];
    uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static void store(void *y, lra_type t, int64_t i, float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof f);
    if (t == LRA_F32)
        ((float *)y)[i] = f;
    else
        ((uint16_t *)y)[i] = (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

static void product(const lra_cuda_product *p, int64_t n, const void *a, const void *b,
                    const lra_cuda_epilogue *x, void *c)
{
    for (int64_t i = 0; i < p->M; i++)
        for (int64_t j = 0; j < p->N; j++) {
            int64_t at_c = (n * p->M + i) * p->N + j;
            double s = x && x->bias ? (double)x->bias[j] : 0;
            if (p->residual) s += (double)load(p->residual, p->c_type, at_c);
            for (int64_t k = 0; k < p->K; k++) {
                int64_t at = n * p->a_step + (p->a_t ? k * p->M + i : i * p->K + k);
                int64_t bt = n * p->b_step + (p->b_t ? j * p->K + k : k * p->N + j);
                s += (double)load(a, p->type, at) * (double)load(b, p->type, bt);
            }
            store(c, p->c_type, at_c, (float)(x && x->relu && s < 0 ? 0 : s));
        }
}

void lra_cuda_gemm(const lra_cuda_product *p, const void *a, const void *b, void *c, void *stream)
{
    (void)stream;
    for (int64_t n = 0; n < p->n_products; n++) product(p, n, a, b, NULL, c);
}

/* Fails unless the number of columns is even, like a library that has fused kernels for some sizes
 * only, so that both code paths are tested. */
bool lra_cuda_gemm_to(const lra_cuda_product *p, const void *a, const void *b,
                      const lra_cuda_epilogue *x, void *c, void *stream)
{
    (void)stream;
    if (p->c_type != LRA_F32 || p->N % 2 != 0) return false;
    for (int64_t n = 0; n < p->n_products; n++) product(p, n, a, b, x, c);
    return true;
}

extern lra_cuda_level_kind shim_level;
lra_cuda_level_kind shim_level = LRA_CUDA_MMA;
lra_cuda_level_kind lra_cuda_level(void)
{
    return shim_level;
}
