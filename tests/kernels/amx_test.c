/* Tile products with emulated tiles: every size, stored rows that overlap, transposed pairs, sums
 * added to earlier results, and results in bf16. Values are multiples of 1/8, so that sums are
 * exact. Infinities before and after operands and results detect reads and writes outside of
 * them. */
#include "tests/fixtures/sanitized.h"
#include "tests/fixtures/test.h"

#if defined(__x86_64__)
#define LRA_AMX_EMULATED
#include "kernels/base/core/mem.h"
#include "kernels/cpu/features.h"
#include "kernels/cpu/gemm_amx.c"
#include "kernels/graph/op.h"
#include "tests/fixtures/exact_operands.h"

static uint16_t rounded(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* Returns n random elements with GUARD infinities before and after them. */
static uint16_t *guarded(int64_t n, uint32_t *state)
{
    uint16_t *x = lra_alloc_array((size_t)(n + 2 * GUARD), sizeof *x);
    for (int64_t i = 0; i < n + 2 * GUARD; i++)
        x[i] = i < GUARD || i >= GUARD + n ? INFINITE : half(eighth(state));
    return x;
}

/* transposed: a is (K, M), stored in pairs; otherwise a is (M, K) with a distance of `row` elements
 * between rows. */
typedef struct {
    int64_t M, N, K, row;
    bool transposed, add, result;
} sizes;

static float sum_of(const sizes *s, const uint16_t *a, const uint16_t *b, int64_t m, int64_t n)
{
    float sum = 0;
    for (int64_t k = 0; k < s->K; k++)
        sum += whole(a[s->transposed ? k * s->M + m : m * s->row + k]) * whole(b[k * s->N + n]);
    return sum;
}

/* Checks the result; its rows are GUARD elements longer than N. */
static void check_result(const sizes *s, const uint16_t *a, const uint16_t *b, lra_pairs_bf16 left,
                         const uint16_t *packed, int64_t panel, uint32_t *state)
{
    int64_t ld = s->N + 3, size = s->M * ld;
    uint16_t *y = lra_alloc_array((size_t)size, sizeof *y), *residual = guarded(size, state);
    float *bias = lra_alloc_array((size_t)s->N, sizeof *bias);
    for (int64_t i = 0; i < size; i++) y[i] = INFINITE;
    for (int64_t n = 0; n < s->N; n++) bias[n] = (float)(n % 5) - 2;
    for (int kind = 0; kind < 3; kind++) {
        lra_bf16_out out = {.y = y, .ld = ld, .relu = kind == 1};
        if (kind > 0) out.bias = bias;
        if (kind > 1) out.residual = residual + GUARD;
        lra_gemm_amx(s->M, s->N, s->K, left, packed, panel, &out);
        for (int64_t i = 0; i < size; i++) {
            int64_t m = i / ld, n = i % ld;
            float sum = n < s->N ? sum_of(s, a, b, m, n) + (kind > 0 ? bias[n] : 0) : 0;
            if (kind == 1 && sum < 0) sum = 0;
            if (kind > 1 && n < s->N) sum += whole(residual[GUARD + i]);
            if (y[i] != (n < s->N ? rounded(sum) : INFINITE))
                fail_msg("result %d of %d x %d x %d: (%d,%d) is %g, expected %g", kind, (int)s->M,
                         (int)s->N, (int)s->K, (int)m, (int)n, (double)whole(y[i]), (double)sum);
        }
    }
    lra_free(y);
    lra_free(residual);
    lra_free(bias);
}

static void check_sums(const sizes *s, const uint16_t *a, const uint16_t *b, lra_pairs_bf16 left,
                       const uint16_t *packed, int64_t panel)
{
    int64_t ld = s->N + 3;
    float *c = lra_alloc_array((size_t)(s->M * ld), sizeof *c);
    for (int64_t i = 0; i < s->M * ld; i++) c[i] = 1;
    lra_gemm_amx(s->M, s->N, s->K, left, packed, panel,
                 &(lra_bf16_out){.c = c, .add = s->add, .ld = ld});
    for (int64_t m = 0; m < s->M; m++)
        for (int64_t n = 0; n < ld; n++) {
            float want = s->add || n >= s->N ? 1 : 0;
            if (n < s->N) want += sum_of(s, a, b, m, n);
            if (c[m * ld + n] != want)
                fail_msg("%d x %d x %d: (%d,%d) is %g, expected %g", (int)s->M, (int)s->N,
                         (int)s->K, (int)m, (int)n, (double)c[m * ld + n], (double)want);
        }
    lra_free(c);
}

static void check(sizes s)
{
    uint32_t state = (uint32_t)(s.M + s.N + s.K);
    int64_t n_a = s.transposed ? s.K * s.M : (s.M - 1) * s.row + s.K, panel = 16 * s.K;
    uint16_t *a = guarded(n_a, &state), *b = guarded(s.K * s.N, &state);
    uint16_t *packed = guarded(lra_packed_bf16(s.K, s.N), &state);
    uint16_t *pairs = guarded(s.K * s.M, &state);
    lra_pack_bf16(s.K, s.N, b + GUARD, s.N, 1, panel, packed + GUARD);
    lra_pairs_bf16 left = {a + GUARD, s.row, 2};
    if (s.transposed) {
        lra_pair_bf16(s.K, s.M, a + GUARD, s.M, 0, pairs + GUARD);
        left = (lra_pairs_bf16){pairs + GUARD, 2, 2 * s.M};
    }
    if (s.result)
        check_result(&s, a + GUARD, b + GUARD, left, packed + GUARD, panel, &state);
    else
        check_sums(&s, a + GUARD, b + GUARD, left, packed + GUARD, panel);
    lra_free(a);
    lra_free(b);
    lra_free(packed);
    lra_free(pairs);
}

/* Numbers of rows and columns around one and two tiles; values of k around one step, and longer
 * than a pass; all layouts of a. */
TEST(tile_products)
{
    lra_err e;
    if (lra_cpu_init(&e) != 0 || lra_cpu_bf16() == LRA_BF16_NONE) skip();
    const int64_t M[] = {1, 16, 17, 32, 45, 64}, N[] = {1, 15, 16, 32, 33, 70};
    const int64_t K[] = {2, 30, 32, 34, 96, 1024, 1090};
    for (int i = 0; i < 6 * 6 * 7; i++) {
        sizes s = {.M = M[i % 6], .N = N[i / 6 % 6], .K = K[i / 36]};
        for (int way = 0; way < 6; way++) {
            if (s.K > 96 && (way + i) % (sanitized ? 17 : 5)) continue;
            s.transposed = way >= 4, s.result = way % 2, s.add = i % 2;
            s.row = way < 2 ? s.K : 6; /* with 6, the rows overlap */
            check(s);
        }
    }
    check((sizes){/* rows are 1 KiB apart, and the columns need two ranges */
                  .M = 33,
                  .N = 600,
                  .K = 512,
                  .row = 512,
                  .add = true});
    check((sizes){.M = 33, .N = 600, .K = 1090, .row = 1090, .result = true});
    check((sizes){/* K is a multiple of the block size and needs two passes */
                  .M = 100,
                  .N = 600,
                  .K = 1088,
                  .row = 1088,
                  .result = true});
}
#else
TEST(tile_products)
{
    skip();
}
#endif
