/* Orthogonal rows by the Gram-Schmidt process, which is a QR decomposition where R has a positive
 * diagonal. */
#include "kernels/base/core/orthogonal.h"

static double product(const double *a, const double *b, int64_t K)
{
    double sum = 0;
    for (int64_t k = 0; k < K; k++) sum += a[k] * b[k];
    return sum;
}

static void scale(double *v, int64_t K, double by)
{
    for (int64_t k = 0; k < K; k++) v[k] *= by;
}

void lra_orthogonal_rows(uint64_t seed, uint32_t stream, uint64_t step, int64_t m, int64_t K,
                         double *rows)
{
    for (int64_t i = 0; i < m; i++) {
        double *v = rows + i * K;
        for (int64_t k = 0; k < K; k++) v[k] = lra_normal_at(seed, stream, step, i * K + k);
        for (int64_t j = i / K * K; j < i; j++) {
            double along = product(v, rows + j * K, K);
            for (int64_t k = 0; k < K; k++) v[k] -= along * rows[j * K + k];
        }
        scale(v, K, 1 / sqrt(product(v, v, K)));
    }
    for (int64_t i = 0; i < m; i++) {
        double square = 0;
        for (int64_t k = 0; k < K; k++)
            square += pow(lra_normal_at(seed, stream, step, (m + i) * K + k), 2);
        scale(rows + i * K, K, sqrt(square));
    }
}
