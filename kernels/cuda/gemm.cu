/* Dense products by cuBLASLt, which is loaded when a GPU is opened, so that the program starts
 * without it. cuBLASLt is column-major, so the operands are exchanged: row-major c = a b is
 * column-major c^T = b^T a^T. */
#include "kernels/cuda/gemm.h"
#include "kernels/cuda/state.h"

#include <cublasLt.h>

enum { WORKSPACE = 32 << 20 };

/* The library functions that are used; each becomes a member of `lt`. */
#define FUNCTIONS(X)                                                                               \
    X(cublasLtCreate)                                                                              \
    X(cublasLtMatmulDescCreate)                                                                    \
    X(cublasLtMatmulDescDestroy)                                                                   \
    X(cublasLtMatmulDescSetAttribute)                                                              \
    X(cublasLtMatrixLayoutCreate)                                                                  \
    X(cublasLtMatrixLayoutDestroy)                                                                 \
    X(cublasLtMatrixLayoutSetAttribute)                                                            \
    X(cublasLtMatmulPreferenceCreate)                                                              \
    X(cublasLtMatmulPreferenceDestroy)                                                             \
    X(cublasLtMatmulPreferenceSetAttribute)                                                        \
    X(cublasLtMatmulAlgoGetHeuristic)                                                              \
    X(cublasLtMatmul)

#define MEMBER(name) decltype(&::name) name;
static struct {
    FUNCTIONS(MEMBER)
    cublasLtHandle_t handle;
    char *workspace; /* workspace of the main stream, followed by that of the side stream */
} lt;

static int load(lra_err *e)
{
    void *library = lra_cuda_library("cublasLt", CUBLAS_VER_MAJOR, e);
    if (!library) return LRA_FAILED;
#define LOAD(f)                                                                                    \
    lt.f = (decltype(&::f))lra_cuda_symbol(library, #f, e);                                        \
    if (!lt.f) return LRA_FAILED;
    FUNCTIONS(LOAD)
    return 0;
}

int lra_cuda_gemm_open(lra_err *e)
{
    if (lt.handle) return 0;
    if (load(e) != 0) return LRA_FAILED;
    if (lra_cuda_check(cudaMalloc(&lt.workspace, 2 * (size_t)WORKSPACE),
                       "the workspace of cuBLASLt", e) != 0)
        return LRA_FAILED;
    cublasStatus_t rc = lt.cublasLtCreate(&lt.handle);
    return rc == CUBLAS_STATUS_SUCCESS ? 0
                                       : lra_fail(e, "cuBLASLt cannot be used: status %d", (int)rc);
}

/* ---- a product as the library sees it -------------------------------------------------------- */

typedef struct {
    cublasLtMatmulDesc_t what;
    /* layouts of the exchanged operands: a describes b of the product, b describes a */
    cublasLtMatrixLayout_t a, b, c;
    cublasLtMatmulPreference_t want;
} description;

static cudaDataType_t data_type(lra_type t)
{
    return t == LRA_BF16 ? CUDA_R_16BF : CUDA_R_32F;
}

/* Describes n column-major matrices (rows, columns), `step` elements apart. */
static cublasLtMatrixLayout_t layout(lra_type t, int64_t rows, int64_t columns, int64_t n,
                                     int64_t step)
{
    cublasLtMatrixLayout_t l = NULL;
    int32_t count = (int32_t)n;
    if (lt.cublasLtMatrixLayoutCreate(&l, data_type(t), (uint64_t)rows, (uint64_t)columns, rows) !=
        0)
        return NULL;
    lt.cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                        sizeof count);
    lt.cublasLtMatrixLayoutSetAttribute(l, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &step,
                                        sizeof step);
    return l;
}

/* Sets the alignment of an operand: cuBLASLt assumes 256 bytes, but a slice may start anywhere. */
static void want_alignment(cublasLtMatmulPreference_t want,
                           cublasLtMatmulPreferenceAttributes_t which, const void *p)
{
    uint32_t bytes = 256;
    while (bytes > 1 && (uintptr_t)p % bytes != 0) bytes /= 2;
    lt.cublasLtMatmulPreferenceSetAttribute(want, which, &bytes, sizeof bytes);
}

static bool describe(const lra_cuda_product *p, const void *a, const void *b, const void *c,
                     description *d)
{
    cublasOperation_t first = p->b_t ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = p->a_t ? CUBLAS_OP_T : CUBLAS_OP_N;
    size_t workspace = WORKSPACE;
    *d = {};
    if (lt.cublasLtMatmulDescCreate(&d->what, CUBLAS_COMPUTE_32F, CUDA_R_32F) != 0) return false;
    lt.cublasLtMatmulDescSetAttribute(d->what, CUBLASLT_MATMUL_DESC_TRANSA, &first, sizeof first);
    lt.cublasLtMatmulDescSetAttribute(d->what, CUBLASLT_MATMUL_DESC_TRANSB, &second, sizeof second);
    d->a = layout(p->type, p->b_t ? p->K : p->N, p->b_t ? p->N : p->K, p->n_products, p->b_step);
    d->b = layout(p->type, p->a_t ? p->M : p->K, p->a_t ? p->K : p->M, p->n_products, p->a_step);
    d->c = layout(p->c_type, p->N, p->M, p->n_products, p->M * p->N);
    if (!d->a || !d->b || !d->c || lt.cublasLtMatmulPreferenceCreate(&d->want) != 0) return false;
    lt.cublasLtMatmulPreferenceSetAttribute(d->want, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                            &workspace, sizeof workspace);
    want_alignment(d->want, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, b);
    want_alignment(d->want, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, a);
    want_alignment(d->want, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                   p->residual ? p->residual : c);
    want_alignment(d->want, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, c);
    return true;
}

static void forget(description *d)
{
    if (d->what) lt.cublasLtMatmulDescDestroy(d->what);
    if (d->a) lt.cublasLtMatrixLayoutDestroy(d->a);
    if (d->b) lt.cublasLtMatrixLayoutDestroy(d->b);
    if (d->c) lt.cublasLtMatrixLayoutDestroy(d->c);
    if (d->want) lt.cublasLtMatmulPreferenceDestroy(d->want);
}

/* Selects the first algorithm that the heuristic returns. Returns false if there is none. */
static bool choose(const description *d, cublasLtMatmulAlgo_t *algorithm)
{
    cublasLtMatmulHeuristicResult_t result;
    int n = 0;
    cublasStatus_t rc = lt.cublasLtMatmulAlgoGetHeuristic(lt.handle, d->what, d->a, d->b, d->c,
                                                          d->c, d->want, 1, &result, &n);
    if (rc != CUBLAS_STATUS_SUCCESS || n == 0 || result.state != CUBLAS_STATUS_SUCCESS)
        return false;
    *algorithm = result.algo;
    return true;
}

static cublasStatus_t multiply(const lra_cuda_product *p, const description *d,
                               const cublasLtMatmulAlgo_t *algorithm, const void *a, const void *b,
                               void *c, void *stream)
{
    const float one = 1, zero = 0;
    const void *residual = p->residual;
    char *workspace = lt.workspace + (stream == lra_cuda->side ? WORKSPACE : 0);
    return lt.cublasLtMatmul(lt.handle, d->what, &one, b, d->a, a, d->b, residual ? &one : &zero,
                             residual ? residual : c, d->c, c, d->c, algorithm, workspace,
                             WORKSPACE, (cudaStream_t)stream);
}

static void complain(const lra_cuda_product *p, const char *what, int status)
{
    lra_fail(&lra_cuda->fault, "cuBLASLt %s for a product (%lld,%lld) (%lld,%lld): status %d", what,
             (long long)p->M, (long long)p->K, (long long)p->K, (long long)p->N, status);
}

extern "C" void lra_cuda_gemm(const lra_cuda_product *p, const void *a, const void *b, void *c,
                              void *stream)
{
    description d;
    cublasLtMatmulAlgo_t algorithm;
    if (!describe(p, a, b, c, &d) || !choose(&d, &algorithm)) {
        complain(p, "has no kernel", 0);
    } else {
        cublasStatus_t rc = multiply(p, &d, &algorithm, a, b, c, stream);
        if (rc != CUBLAS_STATUS_SUCCESS) complain(p, "fails", (int)rc);
    }
    forget(&d);
}

/* Adds the epilogue to the description, only for float32 with a float32 bias: the only combination
 * that the library's manual lists. */
static bool add_epilogue(const description *d, const lra_cuda_epilogue *x)
{
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    if (x->bias) epilogue = x->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    if (!x->bias && x->relu) epilogue = CUBLASLT_EPILOGUE_RELU;
    if (lt.cublasLtMatmulDescSetAttribute(d->what, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                                          sizeof epilogue) != CUBLAS_STATUS_SUCCESS)
        return false;
    return !x->bias ||
           lt.cublasLtMatmulDescSetAttribute(d->what, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &x->bias,
                                             sizeof x->bias) == CUBLAS_STATUS_SUCCESS;
}

extern "C" bool lra_cuda_gemm_to(const lra_cuda_product *p, const void *a, const void *b,
                                 const lra_cuda_epilogue *x, void *c, void *stream)
{
    description d;
    cublasLtMatmulAlgo_t algorithm;
    if (p->c_type != LRA_F32) return false;
    bool done = describe(p, a, b, c, &d);
    done = done && add_epilogue(&d, x) && choose(&d, &algorithm) &&
           multiply(p, &d, &algorithm, a, b, c, stream) == CUBLAS_STATUS_SUCCESS;
    forget(&d);
    return done;
}
