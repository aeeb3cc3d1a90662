/* Dense products by OpenBLAS (OpenMP build), single-threaded: called side by side from OpenMP loops it
 * keeps its speed, where its own threads would compete with theirs. */
#include "kernels/cpu/gemm.h"

#include <cblas.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/err.h"
#include "kernels/base/machine.h"
#include "kernels/base/mem.h"

/* Of OpenBLAS, in every release though not in its header: the memory that one thread multiplies in. */
void *blas_memory_alloc(int position);
void blas_memory_free(void *buffer);
enum { BUFFER = 128 << 20, MOST_THREADS = 1024 };

/* Each thread takes its memory when it first multiplies, and tries for ever when there is none: under a limit all of it
 * is taken, and kept, before. */
static int take_buffers(int n, lra_err *e)
{
    static int taken;
    void *buffer[MOST_THREADS];
    int rc = 0, got = 0;
    if (n > MOST_THREADS) n = MOST_THREADS;
    while (n > taken && got < n && rc == 0) {
        if (lra_memory_room(BUFFER))
            buffer[got++] = blas_memory_alloc(0);
        else
            rc = lra_fail(e,
                          "OpenBLAS needs 128 MiB of address space for each of %d threads, found "
                          "too little for %d of them (ulimit -v, --threads)",
                          n, n - got);
    }
    for (int i = 0; i < got; i++) blas_memory_free(buffer[i]);
    if (rc == 0 && n > taken) taken = n;
    return rc;
}

int lra_gemm_init(int n_threads, lra_err *e)
{
    openblas_set_num_threads(1);
    return lra_memory_limited() ? take_buffers(n_threads, e) : 0;
}

const char *lra_gemm_library(void)
{
    static char name[64];
    const char *config = openblas_get_config();
    size_t first = strcspn(config, " "), second = strcspn(config + first + 1, " ");
    snprintf(name, sizeof name, "%.*s", (int)(first + 1 + second), config);
    return name;
}

static blasint size(int64_t n)
{
    if (n < 0 || n > INT_MAX) LRA_BUG("matrix dimension %lld", (long long)n);
    return (blasint)n;
}

static CBLAS_TRANSPOSE side(bool transposed)
{
    return transposed ? CblasTrans : CblasNoTrans;
}

void lra_gemm_f32(bool a_t, bool b_t, int64_t M, int64_t N, int64_t K, const float *a, int64_t lda,
                  const float *b, int64_t ldb, bool add, float *c, int64_t ldc)
{
    cblas_sgemm(CblasRowMajor, side(a_t), side(b_t), size(M), size(N), size(K), 1, a, size(lda), b,
                size(ldb), add ? 1 : 0, c, size(ldc));
}

void lra_gemm_f64(bool a_t, bool b_t, int64_t M, int64_t N, int64_t K, const double *a, int64_t lda,
                  const double *b, int64_t ldb, bool add, double *c, int64_t ldc)
{
    cblas_dgemm(CblasRowMajor, side(a_t), side(b_t), size(M), size(N), size(K), 1, a, size(lda), b,
                size(ldb), add ? 1 : 0, c, size(ldc));
}
