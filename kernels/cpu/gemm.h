/* Dense matrix products of one thread.  Ops call them on fixed blocks of rows from their own parallel
 * loops, so that a result does not depend on the number of threads. */
#ifndef LRA_CPU_GEMM_H
#define LRA_CPU_GEMM_H

#include <stdbool.h>
#include <stdint.h>

/* The library uses the calling thread only from here on. */
void lra_gemm_init(void);

/* c = op(a) op(b), plus c itself if `add`; op transposes where a_t, b_t are set.  Row-major:
 * op(a): (M,K), op(b): (K,N), c: (M,N); lda, ldb, ldc: elements from one stored row to the next. */
void lra_gemm_f32(bool a_t, bool b_t, int64_t M, int64_t N, int64_t K, const float *a, int64_t lda,
                  const float *b, int64_t ldb, bool add, float *c, int64_t ldc);
void lra_gemm_f64(bool a_t, bool b_t, int64_t M, int64_t N, int64_t K, const double *a, int64_t lda,
                  const double *b, int64_t ldb, bool add, double *c, int64_t ldc);

#endif
