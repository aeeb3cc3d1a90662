/* Matrix operations compared with plain loops, at every instruction level of the machine, in all
 * graph types. Inputs are multiples of 1/8, so that every product and sum is exact: F32 and F64
 * must be bitwise equal, BF16 up to one rounding of the result. The number of threads must not
 * change any bit. */
#include <math.h>
#include "tests/fixtures/test.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/ops/dense/product.h"

enum { MAX_INPUTS = 4 };

typedef struct {
    lra_graph *graph;
    lra_tensor *input[MAX_INPUTS];
    double *value[MAX_INPUTS]; /* values of inputs, also of int32 inputs */
    int n;
} problem;

static problem problem_new(lra_type type)
{
    return (problem){.graph = lra_graph_new(type, LRA_TRAIN)};
}

static void problem_free(problem *p)
{
    for (int i = 0; i < p->n; i++) lra_free(p->value[i]);
    lra_graph_free(p->graph);
}

static lra_tensor *add(problem *p, const char *name, lra_type t, lra_shape s)
{
    p->value[p->n] = lra_alloc_array((size_t)lra_shape_elements(s), sizeof(double));
    p->input[p->n] = lra_input(p->graph, name, t, s);
    return p->input[p->n++];
}

/* Adds an input of random multiples of 1/8 in [-1, 1]. */
static lra_tensor *add_real(problem *p, const char *name, lra_shape s)
{
    lra_tensor *x = add(p, name, lra_real(p->graph), s);
    double *v = p->value[p->n - 1];
    uint32_t state = (uint32_t)(p->n * 7919 + lra_shape_elements(s));
    for (int64_t i = 0; i < lra_shape_elements(s); i++) {
        state = state * 1664525u + 1013904223u;
        v[i] = ((int)(state >> 24) % 17 - 8) / 8.0;
    }
    return x;
}

static lra_tensor *add_length(problem *p, int64_t B, int64_t T)
{
    lra_tensor *x = add(p, "length", LRA_I32, LRA_SHAPE(B));
    for (int64_t b = 0; b < B; b++) p->value[p->n - 1][b] = (double)(b == 0 ? T : 1 + b * 5 % T);
    return x;
}

static int set_all(const problem *p, lra_plan *plan, lra_err *e)
{
    for (int i = 0; i < p->n; i++) {
        int64_t n = lra_elements(p->input[i]);
        lra_type t = lra_tensor_type(p->input[i]);
        void *host = lra_alloc_array((size_t)n, sizeof(double));
        for (int64_t j = 0; j < n; j++) {
            if (t == LRA_I32) ((int32_t *)host)[j] = (int32_t)p->value[i][j];
            if (t == LRA_F32) ((float *)host)[j] = (float)p->value[i][j];
            if (t == LRA_F64) ((double *)host)[j] = p->value[i][j];
        }
        int rc = lra_set(plan, p->input[i], host, e);
        lra_free(host);
        if (rc != 0) return rc;
    }
    return 0;
}

/* Returns the values of y; the caller frees them. */
static double *run(const problem *p, lra_tensor *y, int n_threads)
{
    lra_err e = {{0}};
    lra_device device;
    OK(lra_cpu_device(&device, 0, &e));
    lra_params *params = lra_params_new(&device, 1);
    lra_space *space = lra_space_new(&device);
    lra_plan *plan = lra_plan_new(p->graph, params, space, 1, &y, &e);
    NOT_NULL(plan);
    lra_plan_threads(plan, n_threads);
    lra_plan_poison(plan, true);
    int64_t n = lra_elements(y);
    double *out = lra_alloc_array((size_t)n, sizeof *out);
    if (set_all(p, plan, &e) != 0 || lra_run(plan, &e) != 0 || lra_get(plan, y, out, &e) != 0)
        fail_msg("%s", e.msg);
    if (lra_tensor_type(y) != LRA_F64)
        for (int64_t i = n - 1; i >= 0; i--) out[i] = (double)((float *)out)[i];
    lra_plan_free(plan);
    lra_space_free(space);
    lra_params_free(params);
    return out;
}

static void expect(const problem *p, lra_tensor *y, const double *want)
{
    double *one = run(p, y, 1), *two = run(p, y, 2);
    int64_t n = lra_elements(y);
    double slack = lra_tensor_type(y) == LRA_BF16 ? 1.0 / 256 : 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabs(one[i] - want[i]) <= slack * fabs(want[i])))
            fail_msg("%s at level %s: element %lld is %.17g, expected %.17g", y->op->name,
                     lra_cpu_best(), (long long)i, one[i], want[i]);
    assert_memory_equal(one, two, (size_t)n * sizeof *one);
    lra_free(one);
    lra_free(two);
}

/* ---- the definition of a convolution, and of its gradients ----------------------------------- */

typedef struct {
    int64_t B, T, K, D, H, groups, dilation;
    bool length;
} conv_case;

static const conv_case cases[] = {
    {3, 7, 3, 5, 4, 1, 1, true},
    {2, 1, 5, 3, 2, 1, 1, false},
    {2, 5, 1, 4, 70, 1, 1, true},
    {3, 6, 15, 2, 33, 1, 1, true},
    {2, 300, 7, 8, 16, 1, 1, true},
    {2, 40, 5, 12, 6, 3, 1, true},
    {2, 9, 3, 6, 6, 6, 1, false},
    {1, 33, 31, 32, 64, 1, 1, false},
    {2, 20, 9, 300, 3, 1, 1, true},
    {4, 130, 3, 2, 100, 2, 1, false},
    {3, 37, 5, 8, 24, 1, 1, true},
    {2, 50, 7, 32, 64, 2, 1, true},
    {5, 64, 15, 16, 40, 1, 1, false},
    {2, 150, 3, 64, 8, 1, 1, true},
    {1, 3, 9, 10, 9, 1, 1, false},
    /* dilated: numbers of rows with every remainder, T shorter than the kernel's span, taps farther
     * apart than blocks of rows, groups of all widths */
    {3, 19, 3, 5, 4, 1, 2, true},
    {2, 7, 5, 3, 20, 1, 3, false},
    {2, 5, 3, 4, 8, 1, 9, true},
    {2, 300, 5, 8, 16, 1, 8, true},
    {1, 290, 3, 16, 24, 1, 140, true},
    {2, 40, 5, 12, 6, 3, 4, true},
    {3, 50, 7, 32, 64, 2, 5, true},
    {2, 31, 9, 6, 6, 6, 7, true},
    {4, 64, 3, 32, 64, 8, 3, false},
    {2, 37, 5, 32, 64, 1, 1000000, true},
};

typedef void term(const conv_case *s, int64_t x, int64_t w, int64_t y, const double *a,
                  const double *b, double *out);

/* Calls f with the indices in x, w and y of every product in the sum. */
static void each_term(const conv_case *s, const double *length, term *f, const double *a,
                      const double *b, double *out)
{
    int64_t n_in = s->D / s->groups, n_out = s->H / s->groups;
    for (int64_t bt = 0; bt < s->B * s->T; bt++) {
        int64_t t = bt % s->T, len = length ? (int64_t)length[bt / s->T] : s->T;
        for (int64_t k = 0; k < s->K; k++) {
            int64_t from = t + (k - (s->K - 1) / 2) * s->dilation;
            if (t >= len || from < 0 || from >= len) continue;
            for (int64_t i = 0; i < n_in; i++)
                for (int64_t h = 0; h < s->H; h++)
                    f(s, (bt - t + from) * s->D + h / n_out * n_in + i, (k * n_in + i) * s->H + h,
                      bt * s->H + h, a, b, out);
        }
    }
}

static void term_y(const conv_case *s, int64_t x, int64_t w, int64_t y, const double *a,
                   const double *b, double *out)
{
    (void)s;
    out[y] += a[x] * b[w];
}
static void term_dx(const conv_case *s, int64_t x, int64_t w, int64_t y, const double *a,
                    const double *b, double *out)
{
    (void)s;
    out[x] += a[y] * b[w];
}
static void term_dw(const conv_case *s, int64_t x, int64_t w, int64_t y, const double *a,
                    const double *b, double *out)
{
    (void)s;
    out[w] += a[x] * b[y];
}

/* Expected results. They depend on neither type nor level, and each call of f in at_all_levels()
 * needs the same ones in the same order: only the first call computes them. */
enum { MOST_REFERENCES = 256 };
static struct {
    double *v[MOST_REFERENCES];
    int64_t size[MOST_REFERENCES];
    int n, at;
} references;

/* Returns the next expected result, of n elements, which are zero if `first` is set to true. */
static double *reference(int64_t n, bool *first)
{
    int i = references.at++;
    assert_in_range(i, 0, MOST_REFERENCES - 1);
    *first = i == references.n;
    if (*first) {
        references.v[references.n] = lra_alloc_array((size_t)n, sizeof(double));
        references.size[references.n++] = n;
    }
    assert_int_equal(references.size[i], n);
    return references.v[i];
}

/* which: 'y' for the convolution, 'x' and 'w' for its gradients. */
static void check_conv(const conv_case *s, lra_type type, char which)
{
    problem p = problem_new(type);
    lra_shape x = LRA_SHAPE(s->B, s->T, s->D), w = LRA_SHAPE(s->K, s->D / s->groups, s->H);
    lra_shape dy = LRA_SHAPE(s->B, s->T, s->H);
    lra_tensor *a = add_real(&p, "a", which == 'x' ? dy : x);
    lra_tensor *b = add_real(&p, "b", which == 'w' ? dy : w);
    lra_tensor *length = s->length ? add_length(&p, s->B, s->T) : NULL, *y;
    term *f = term_y;
    if (which == 'x') {
        y = lra_conv_dx(a, b, length, s->groups, s->dilation);
        f = term_dx;
    } else if (which == 'w') {
        y = lra_conv_dw(a, b, length, s->groups, s->K, s->dilation);
        f = term_dw;
    } else
        y = lra_conv(a, b, NULL, LRA_ACT_NONE, length, s->groups, s->dilation);
    bool first;
    double *want = reference(lra_elements(y), &first);
    if (first) each_term(s, length ? p.value[2] : NULL, f, p.value[0], p.value[1], want);
    expect(&p, y, want);
    problem_free(&p);
}

/* ---- every level and type -------------------------------------------------------------------- */

static const lra_type types[] = {LRA_F32, LRA_F64, LRA_BF16};

/* Calls f(type) at every instruction level of this machine. Float64 has only one level. */
static void at_all_levels(void (*f)(lra_type type))
{
    for (int level = 0; lra_cpu_usable(level); level++) {
        setenv("LRA_CPU", lra_cpu_usable(level), 1);
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            references.at = 0;
            if (types[i] != LRA_F64 || level == 0) f(types[i]);
        }
    }
    unsetenv("LRA_CPU");
    for (int i = 0; i < references.n; i++) lra_free(references.v[i]);
    references.n = 0;
}

static void all_convs(lra_type type)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_conv(&cases[i], type, 'y');
        check_conv(&cases[i], type, 'x');
        check_conv(&cases[i], type, 'w');
    }
}

TEST(test_conv)
{
    at_all_levels(all_convs);
}

/* Convolution with bias and relu. */
static void conv_epilogue(lra_type type)
{
    conv_case s = {2, 11, 3, 4, 20, 2, 2, false};
    problem p = problem_new(type);
    lra_tensor *x = add_real(&p, "x", LRA_SHAPE(s.B, s.T, s.D));
    lra_tensor *w = add_real(&p, "w", LRA_SHAPE(s.K, s.D / s.groups, s.H));
    lra_tensor *bias = add_real(&p, "bias", LRA_SHAPE(s.H));
    double *want = lra_alloc_array((size_t)(s.B * s.T * s.H), sizeof *want);
    lra_tensor *full = lra_conv(x, w, bias, LRA_ACT_RELU, NULL, s.groups, s.dilation);
    each_term(&s, NULL, term_y, p.value[0], p.value[1], want);
    for (int64_t i = 0; i < s.B * s.T * s.H; i++) want[i] = fmax(0, want[i] + p.value[2][i % s.H]);
    expect(&p, full, want);
    lra_free(want);
    problem_free(&p);
}

TEST(test_conv_epilogue)
{
    at_all_levels(conv_epilogue);
}

/* Rows t >= length are zero, also with a bias. */
static void padded_rows(lra_type type)
{
    problem p = problem_new(type);
    lra_tensor *x = add_real(&p, "x", LRA_SHAPE(3, 8, 4)), *length = add_length(&p, 3, 8);
    lra_tensor *bias = lra_ones(p.graph, lra_real(p.graph), LRA_SHAPE(5));
    lra_tensor *w = lra_zeros(p.graph, lra_elem(p.graph), LRA_SHAPE(3, 4, 5));
    double want[3 * 8 * 5];
    for (int i = 0; i < 120; i++) want[i] = i / 5 % 8 < (int)p.value[1][i / 40];
    expect(&p, lra_conv(x, w, bias, LRA_ACT_NONE, length, 1, 3), want);
    problem_free(&p);
}

TEST(test_padded_rows)
{
    at_all_levels(padded_rows);
}

/* ---- dense ----------------------------------------------------------------------------------- */

/* Adds a b to want (M, N); element (i, k) of a is a[i*ai + k*ak], element (k, j) of b is b[k*bk +
 * j*bj]. */
static void multiply(int64_t M, int64_t N, int64_t K, const double *a, int64_t ai, int64_t ak,
                     const double *b, int64_t bk, int64_t bj, double *want)
{
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < N; j++)
            for (int64_t k = 0; k < K; k++)
                want[i * N + j] += a[i * ai + k * ak] * b[k * bk + j * bj];
}

static void dense_of(lra_type type, int64_t M, int64_t D, int64_t H)
{
    problem p = problem_new(type);
    lra_tensor *x = add_real(&p, "x", LRA_SHAPE(M / 2, 2, D)),
               *w = add_real(&p, "w", LRA_SHAPE(D, H));
    lra_tensor *dy = add_real(&p, "dy", LRA_SHAPE(M / 2, 2, H));
    lra_tensor *bias = add_real(&p, "bias", LRA_SHAPE(H));
    bool first;
    double *want = reference(M * H, &first), *dw = reference(D * H, &first);
    double *full = reference(M * H, &first);
    if (first) {
        multiply(M, H, D, p.value[0], D, 1, p.value[1], H, 1, want);
        multiply(D, H, M, p.value[0], 1, D, p.value[2], H, 1, dw);
        for (int64_t i = 0; i < M * H; i++)
            full[i] = fmax(0, want[i] + p.value[3][i % H]) + p.value[2][i];
    }
    expect(&p, lra_linear(x, w, NULL, LRA_ACT_NONE, NULL), want);
    expect(&p, lra_matmul_t(x, false, w, false), want);
    expect(&p, lra_linear_dw(x, dy), dw);
    /* converted to the type of the graph, because a float32 residual would be added in float32 */
    dy = lra_cast(dy, lra_elem(p.graph));
    expect(&p, lra_linear(x, w, bias, LRA_ACT_RELU, dy), full);
    problem_free(&p);
}

static void dense(lra_type type)
{
    dense_of(type, 1100, 6, 9);
    dense_of(type, 2, 18, 33);
    dense_of(type, 122, 530, 70); /* K needs several passes */
    /* not divided into parts; the narrower panels at the end have more tiles than a full panel */
    dense_of(type, 520, 18, 1968);
    dense_of(type, 1100, 330, 24); /* only x is wide: dy^T x is computed in parts */
    dense_of(type, 5470, 6, 96);   /* in float32 results are written without using the caches */
}

TEST(test_dense)
{
    at_all_levels(dense);
}

static void products_of(lra_type type, int64_t M, int64_t N, int64_t K)
{
    enum { N_BATCH = 3 };
    for (int kind = 0; kind < 16; kind++) {
        bool a_t = kind & 1, b_t = kind & 2, a_shared = kind & 4, b_shared = kind & 8;
        problem p = problem_new(type);
        int64_t a[] = {N_BATCH, a_t ? K : M, a_t ? M : K},
                b[] = {N_BATCH, b_t ? N : K, b_t ? K : N};
        lra_tensor *ta = add_real(&p, "a", lra_shape_from(3 - a_shared, a + a_shared));
        lra_tensor *tb = add_real(&p, "b", lra_shape_from(3 - b_shared, b + b_shared));
        bool first;
        double *want = reference(N_BATCH * M * N, &first);
        for (int i = 0; first && i < (a_shared && b_shared ? 1 : N_BATCH); i++)
            multiply(M, N, K, p.value[0] + (a_shared ? 0 : i * M * K), a_t ? 1 : K, a_t ? M : 1,
                     p.value[1] + (b_shared ? 0 : i * K * N), b_t ? 1 : N, b_t ? K : 1,
                     want + i * M * N);
        expect(&p, lra_matmul_t(ta, a_t, tb, b_t), want);
        problem_free(&p);
    }
}

static void products(lra_type type)
{
    products_of(type, 5, 4, 7);
    products_of(type, 19, 20, 8); /* even sizes, which bf16 kernels process in pairs */
    products_of(type, 300, 33, 34);
}

TEST(test_matmul)
{
    at_all_levels(products);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void expect_message(lra_graph *g, const char *part)
{
    lra_err e = {{0}};
    assert_int_equal(lra_graph_check(g, &e), LRA_FAILED);
    if (!strstr(e.msg, part)) fail_msg("'%s' does not say '%s'", e.msg, part);
    lra_graph_free(g);
}

static lra_tensor *input(lra_graph *g, lra_shape s)
{
    return lra_input(g, "x", LRA_F32, s);
}

TEST(test_bad_shapes)
{
    lra_graph *g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_conv(input(g, LRA_SHAPE(2, 5, 3)), input(g, LRA_SHAPE(4, 3, 2)), NULL, LRA_ACT_NONE, NULL,
             1, 1);
    expect_message(g, "kernel size 4 is even");
    g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_conv(input(g, LRA_SHAPE(2, 5, 3)), input(g, LRA_SHAPE(3, 1, 4)), NULL, LRA_ACT_NONE, NULL,
             2, 1);
    expect_message(g, "2 groups do not divide");
    g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_conv(input(g, LRA_SHAPE(2, 5, 3)), input(g, LRA_SHAPE(3, 3, 4)), NULL, LRA_ACT_NONE, NULL,
             1, 0);
    expect_message(g, "dilation is 0");
    g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_conv_dw(input(g, LRA_SHAPE(2, 5, 3)), input(g, LRA_SHAPE(2, 5, 4)), NULL, 1, 3, -1);
    expect_message(g, "dilation is -1");
    g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_linear(input(g, LRA_SHAPE(2, 3)), input(g, LRA_SHAPE(4, 3)), NULL, LRA_ACT_NONE, NULL);
    expect_message(g, "w has shape (4,3), expected (3,3)");
    g = lra_graph_new(LRA_F32, LRA_TRAIN);
    lra_matmul(input(g, LRA_SHAPE(2, 3)), input(g, LRA_SHAPE(4, 3)));
    expect_message(g, "inner dimensions");
}

TEST(test_cpu_variable)
{
    lra_err e = {{0}};
    lra_device device;
    setenv("LRA_CPU", "sse9", 1);
    assert_int_equal(lra_cpu_device(&device, 0, &e), LRA_FAILED);
    assert_non_null(
        strstr(e.msg, "LRA_CPU is 'sse9', expected portable, avx2, avx512, avx512bf16 or amx"));
    /* a Debug build, or a processor of another architecture */
    if (!lra_op_matmul.cpu[LRA_F32][LRA_LEVEL_AVX2]) {
        setenv("LRA_CPU", "avx2", 1);
        assert_int_equal(lra_cpu_device(&device, 0, &e), LRA_FAILED);
        assert_non_null(strstr(e.msg, "LRA_CPU is 'avx2', which this build does not contain"));
    }
    for (int i = 0; lra_cpu_usable(i); i++) { /* every usable level has function bodies */
        setenv("LRA_CPU", lra_cpu_usable(i), 1);
        assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
        assert_non_null(lra_op_matmul.cpu[LRA_F32][lra_cpu_level()]);
    }
    setenv("LRA_CPU", "portable", 1);
    assert_int_equal(lra_cpu_device(&device, 1, &e), 0);
    assert_int_equal(lra_cpu_level(), LRA_LEVEL_PORTABLE);
    assert_int_equal(device.backend->threads(&device), 1);
    unsetenv("LRA_CPU");
}

TEST(test_alignment)
{
    lra_err e = {{0}};
    lra_device d;
    assert_int_equal(lra_cpu_device(&d, 0, &e), 0);
    for (size_t n = 1; n < 5000; n = n * 3 + 1) {
        char *p = d.backend->alloc(&d, n, "test", &e);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 256, 0);
        memset(p, 1, n);
        d.backend->free(&d, p);
    }
    assert_null(d.backend->alloc(&d, SIZE_MAX - 8, "test", &e));
}
