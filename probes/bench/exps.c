/* Counts the exponentials of a node, and measures this machine's rate of exponentials. */
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "kernels/graph/op.h"
#include "probes/bench/bench.h"

/* True for ops that compute an exponential, or a function of similar cost, for each element of
 * their result. */
static bool by_element(const char *op)
{
    static const char *const ops[] = {
        "exp",       "tanh",      "sigmoid",        "gelu", "gelu_tanh", "silu",
        "gelu_grad", "silu_grad", "gelu_tanh_grad", "gate", "softmax"};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(op, ops[i]) == 0) return true;
    return false;
}

const lra_node_time *bench_first_node(const lra_node_time *times, int n, const char *op)
{
    for (int i = 0; i < n; i++)
        if (strcmp(times[i].op, op) == 0) return &times[i];
    return NULL;
}

/* Attention takes one exponential per (query, key) pair; the number of pairs follows from the
 * FLOPs: 4 K per pair forward and 10 K backward (K: width per head). gate_grad has two results per
 * exponential. */
double bench_exps(const lra_node_time *node, const lra_node_time *attention)
{
    double n = (double)lra_shape_elements(node->shape);
    if (by_element(node->op)) return n;
    if (strcmp(node->op, "gate_grad") == 0) return n / 2;
    if (!attention || strncmp(node->op, "attention", 9) != 0) return 0;
    double K = (double)attention->shape.d[attention->shape.n - 1];
    if (strcmp(node->op, "attention") == 0) return node->flops / (4 * K);
    return strcmp(node->op, "attention_grad") == 0 ? node->flops / (10 * K) : 0;
}

/* Times the op `exp` on 16,384 elements per thread, which stay in the L1 and L2 caches. *best: the
 * highest rate so far in exponentials per second. */
static int measure_one(bench *b, lra_plan *p, double *best, lra_err *e)
{
    enum { TIMES = 200 };
    double start = lra_now();
    for (int i = 0; i < TIMES; i++)
        if (lra_run(p, e) != 0) return LRA_FAILED;
    double rate = TIMES * (double)b->threads * (1 << 14) / (lra_now() - start);
    if (rate > *best) *best = rate;
    return 0;
}

int bench_measure_exps(bench *b, lra_err *e)
{
    lra_shape s = LRA_SHAPE(b->threads, 1 << 14);
    lra_graph *g = lra_graph_new(LRA_F32, LRA_EVAL);
    lra_tensor *x = lra_input(g, "x", LRA_F32, s), *y = lra_exp(x);
    lra_params *params = lra_params_new(&b->device, 1);
    lra_space *space = lra_space_new(&b->device);
    lra_plan *p = lra_plan_new(g, params, space, 1, &y, e);
    float *value = lra_alloc_array((size_t)lra_shape_elements(s), sizeof *value);
    if (p) lra_plan_threads(p, b->threads);
    int rc = p ? lra_set(p, x, value, e) : LRA_FAILED;
    for (int r = 0; r < 10 && rc == 0; r++) rc = measure_one(b, p, &b->exps, e);
    lra_free(value);
    lra_plan_free(p);
    lra_space_free(space);
    lra_params_free(params);
    lra_graph_free(g);
    return rc;
}
