/* An op is defined by one record. The record, its CPU bodies and its test cases share a file in
 * kernels/ops/. To add an op, add the file, one line in ops.def, and its builder in ops.h.
 *
 * A file foo.c is compiled once per graph type (LRA_TYPE f32, f64, bf16) and instruction level
 * (LRA_LEVEL portable, avx2, avx512). Bodies are written once, with the types `real` (arithmetic)
 * and `elem` (storage) of kernels/ops/real.h. Code under `#if LRA_RECORD` is compiled once. */
#ifndef LRA_GRAPH_OP_H
#define LRA_GRAPH_OP_H

#include "kernels/graph/graph.h"
#include "kernels/graph/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lra_tensor {
    const lra_op *op;
    lra_graph *graph;
    int id; /* index in the graph; sources have smaller ids */
    lra_type type;
    lra_shape shape;
    int n_src;
    lra_tensor **src;
    const void *args;  /* the op's own struct, copied by lra_node() */
    const char *scope; /* scope of the node: "layer0/attn"; "" at the top level */
    const char *name;  /* last part of the path; NULL: the node has no name */
};

/* Arguments of a body.  All arrays are contiguous; y->src[i]->shape is the shape of in[i]. */
typedef struct {
    const lra_tensor *y;
    void *out;
    const void *const *in;
    void *const *shadow; /* bf16 shadow of source i or NULL (LRA_WRITES ops keep it current) */
    void *scratch;       /* op->scratch() bytes, 64-byte aligned, contents undefined */
    /* assign only: address of a real that is 0 if nothing is to be written. NULL: always
     * written */
    const void *gate;
    int n_threads; /* for `#pragma omp parallel for num_threads(c->n_threads)` */
} lra_call;

enum {
    /* y may use the memory of source 0: same size, and element i of y depends on no other element
     * of source 0 */
    LRA_INPLACE = 1,
    /* y is the memory of source 0 from byte lra_alias_offset() on; the op has no body */
    LRA_ALIAS = 2,
    LRA_NOGRAD = 4, /* the op has no gradient rule */
    /* the op writes to sources that are parameters or states; it runs after all other nodes */
    LRA_WRITES = 8,
    LRA_LEAF = 16 /* an input, parameter or state: the op has no body */
};

enum { LRA_LEVEL_PORTABLE, LRA_LEVEL_AVX2, LRA_LEVEL_AVX512, LRA_N_LEVELS };
typedef void (*lra_body)(const lra_call *c);
/* Queues the kernels of a node and returns without waiting for them. */
typedef void (*lra_cuda_body)(const lra_call *c, void *stream);

struct lra_op {
    const char *name;
    unsigned flags;
    unsigned shadow; /* bit i: if source i is a parameter, a BF16 graph reads its shadow */
    /* Checks the sources and sets y->shape and y->type; messages do not contain the op's name. */
    int (*shape)(lra_tensor *y, lra_err *e);
    /* Adds the gradient nodes: dx[i] is the gradient of source i; NULL if source i has none. The
     * function is NULL for ops with LRA_NOGRAD. */
    void (*grad)(lra_tensor *y, lra_tensor *dy, lra_tensor **dx);
    double (*flops)(const lra_tensor *y); /* FLOP of a node. Nullable: one per element of y */
    int64_t (*scratch)(const lra_tensor *y, int n_threads); /* bytes of scratch. Nullable: none */
    int64_t (*cuda_scratch)(const lra_tensor *y); /* bytes on a GPU. Nullable: scratch(y, 1) */
    /* CPU bodies by graph type F32, F64, BF16, then by level; NULL: the next lower level is
     * used. */
    lra_body cpu[3][LRA_N_LEVELS];
    /* CUDA bodies by graph type. F64 is NULL, and all are NULL in a build without CUDA. */
    lra_cuda_body cuda[3];
    lra_tensor *(*sample)(lra_graph *g, int i); /* i-th test case, NULL after the last */
};

/* ---- the registry ---------------------------------------------------------------------------- */

#define LRA_OP(name) extern const lra_op lra_op_##name;
#include "kernels/graph/ops.def"
#undef LRA_OP
const lra_op *lra_op_at(int i); /* the i-th op; NULL after the last */

/* lra_cuda_scratch(): bytes of scratch of a node on a GPU. lra_no_scratch(): the rule of ops that
 * need none there; returns 0. */
int64_t lra_cuda_scratch(const lra_tensor *y);
int64_t lra_no_scratch(const lra_tensor *y);

/* ---- for builders ---------------------------------------------------------------------------- */

/* Creates a node: copies src and args, calls op->shape, records failures in the graph as
 * "'scope/op': ...". */
lra_tensor *lra_node(const lra_op *op, lra_graph *g, int n_src, lra_tensor *const *src,
                     const void *args, size_t args_size);
/* True if another node has y among its sources. */
bool lra_is_read(const lra_tensor *y);
/* Returns a copy of node y that also adds `residual` as it writes its result. y itself is then not
 * read by any node and never run. y must come from lra_linear() without activation and residual, or
 * from lra_matmul_t() with a not transposed. It must have the type and shape of the residual, be
 * created after it, and have no name and no reader. Otherwise returns NULL. */
lra_tensor *lra_with_residual(lra_tensor *y, lra_tensor *residual);
/* Like lra_state(), with an absolute path ("adam/m/layer0/w") instead of a name in the current
 * scope. */
lra_tensor *lra_state_at(lra_graph *g, const char *path, lra_shape s, const lra_param_spec *spec);
/* The distance limit of the op that is being built, (1) int32. NULL: the graph has no limits. Every
 * op that mixes positions calls this function once and applies the limit. Models with ops that
 * cannot apply a limit give the reason (lra_model.no_limit_reason). */
lra_tensor *lra_next_limit(lra_graph *g);
int lra_expect_limit(const lra_tensor *limit, lra_err *e);
lra_type lra_real(const lra_graph *g); /* arithmetic type: F32, F64; F32 in a BF16 graph */
lra_type lra_elem(const lra_graph *g); /* storage type: F32, F64, BF16 */
int64_t lra_elements(const lra_tensor *x);
int64_t lra_bytes(const lra_tensor *x);
/* Sizes of x viewed as rows (..,D): lra_width() is the last dimension D, lra_rows() the product of
 * all others. */
int64_t lra_width(const lra_tensor *x);
int64_t lra_rows(const lra_tensor *x);
size_t lra_alias_offset(const lra_tensor *y);
/* Checks for shape functions: the type is real or elem of the graph; the type is int32; the shapes
 * are equal. */
int lra_expect_float(const lra_tensor *x, const char *what, lra_err *e);
int lra_expect_index(const lra_tensor *x, const char *what, lra_err *e);
int lra_expect_shape(const lra_tensor *x, lra_shape s, const char *what, lra_err *e);
/* Checks a length, which is NULL or (B) int32. */
int lra_expect_length(const lra_tensor *length, int64_t B, lra_err *e);
const lra_param_spec *lra_spec_of(const lra_tensor *param);

/* ---- for samples: inputs that the tests fill ------------------------------------------------- */

/* Creates an input for a test sample. fill: "normal", "away" (normal with |x| > 0.05, for functions
 * with kinks), "positive" (uniform in (0.1,1)), "index:N" (int32 in [0,N)), "label:N" (like
 * index:N, and some -1), "length:T" (int32 in [1,T]), "step" (returns lra_step_input() of the graph
 * and ignores name and s). */
lra_tensor *lra_sample_input(lra_graph *g, const char *name, const char *fill, lra_shape s);
/* how the input is filled; NULL: an ordinary input */
const char *lra_sample_fill(const lra_tensor *input);

/* ---- one file, several compilations ---------------------------------------------------------- */

#ifdef LRA_TYPE
/* LRA_TYPE is f32, f64 or bf16; the macro of that type is 1, those of the others are 0. */
#ifndef LRA_TYPE_f32
#define LRA_TYPE_f32 0
#endif
#ifndef LRA_TYPE_f64
#define LRA_TYPE_f64 0
#endif
#ifndef LRA_TYPE_bf16
#define LRA_TYPE_bf16 0
#endif
#define LRA_CAT4_(a, b, c, d) a##b##_##c##_##d
#define LRA_CAT4(a, b, c, d)  LRA_CAT4_(a, b, c, d)
#define LRA_BODY_NAME(name)   LRA_CAT4(lra_cpu_, name, LRA_TYPE, LRA_LEVEL)
/* LRA_BODY(softmax) { ... c ... } defines the body for the compiled type and level. */
#define LRA_BODY(name)                                                                             \
    void LRA_BODY_NAME(name)(const lra_call *c);                                                   \
    void LRA_BODY_NAME(name)(const lra_call *c)

#if LRA_TYPE_f32 && defined(LRA_LEVEL_portable)
#define LRA_RECORD 1
#else
#define LRA_RECORD 0
#endif

/* LRA_CUDA_BODY(softmax) { ... c, stream ... }, in softmax.cu, defines the CUDA body for the
 * compiled type. */
#define LRA_CAT3_(a, b, c) a##b##_##c
#define LRA_CAT3(a, b, c)  LRA_CAT3_(a, b, c)
#define LRA_CUDA_BODY(name)                                                                        \
    extern "C" void LRA_CAT3(lra_cuda_, name, LRA_TYPE)(const lra_call *c, void *stream);          \
    extern "C" void LRA_CAT3(lra_cuda_, name, LRA_TYPE)(const lra_call *c, void *stream)

/* LRA_CUDA: CUDA bodies are linked; LRA_CUDA_FILE: this op has a .cu file next to its .c file. */
#if defined(LRA_CUDA) && defined(LRA_CUDA_FILE)
#define LRA_CUDA_DECLARE(name)                                                                     \
    void lra_cuda_##name##_f32(const lra_call *c, void *stream);                                   \
    void lra_cuda_##name##_bf16(const lra_call *c, void *stream);
#define LRA_CUDA_BODIES(name)                                                                      \
    {                                                                                              \
        lra_cuda_##name##_f32, NULL, lra_cuda_##name##_bf16                                        \
    }
#else
#define LRA_CUDA_DECLARE(name)
#define LRA_CUDA_BODIES(name)                                                                      \
    {                                                                                              \
        NULL, NULL, NULL                                                                           \
    }
#endif

/* Bodies of a level that is not compiled (LRA_LEVELS in CMakeLists.txt) are NULL. */
#if defined(LRA_X86) && !defined(LRA_NO_LEVEL_avx2)
#define LRA_AVX2_BODY(name, type) lra_cpu_##name##_##type##_avx2
#else
#define LRA_AVX2_BODY(name, type) NULL
#endif
#if defined(LRA_X86) && !defined(LRA_NO_LEVEL_avx512)
#define LRA_AVX512_BODY(name, type) lra_cpu_##name##_##type##_avx512
#else
#define LRA_AVX512_BODY(name, type) NULL
#endif

/* LRA_DECLARE(softmax) declares all bodies of an op; .cpu = LRA_BODIES(softmax) then fills .cpu and
 * .cuda. */
#define LRA_DECLARE(name)                                                                          \
    void lra_cpu_##name##_f32_portable(const lra_call *c);                                         \
    void lra_cpu_##name##_f32_avx2(const lra_call *c);                                             \
    void lra_cpu_##name##_f32_avx512(const lra_call *c);                                           \
    void lra_cpu_##name##_f64_portable(const lra_call *c);                                         \
    void lra_cpu_##name##_bf16_portable(const lra_call *c);                                        \
    void lra_cpu_##name##_bf16_avx2(const lra_call *c);                                            \
    void lra_cpu_##name##_bf16_avx512(const lra_call *c);                                          \
    LRA_CUDA_DECLARE(name)
#define LRA_BODIES(name)                                                                           \
    {                                                                                              \
        {lra_cpu_##name##_f32_portable, LRA_AVX2_BODY(name, f32), LRA_AVX512_BODY(name, f32)},     \
        {lra_cpu_##name##_f64_portable, NULL, NULL},                                               \
        {lra_cpu_##name##_bf16_portable, LRA_AVX2_BODY(name, bf16), LRA_AVX512_BODY(name, bf16)},  \
    },                                                                                             \
        .cuda = LRA_CUDA_BODIES(name)
#endif /* LRA_TYPE */

#ifdef __cplusplus
}
#endif
#endif
