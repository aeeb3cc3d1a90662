/* Nodes of random graphs, and a CPU that runs some of them as one. */
#ifndef LRA_TESTS_RANDOM_GRAPH_H
#define LRA_TESTS_RANDOM_GRAPH_H

#include <string.h>

#include "kernels/base/philox.h"
#include "kernels/graph/graph_impl.h"

enum { NODES = 24, ROWS = 4, WIDTH = 6, SIZE = ROWS * WIDTH };

/* Any op on tensors of one shape; sources are any earlier nodes, so that some live long. */
static lra_tensor *random_node(lra_rng *r, lra_tensor *const *known, int n)
{
    lra_tensor *a = known[lra_rng_below(r, (uint32_t)n)], *b = known[lra_rng_below(r, (uint32_t)n)];
    lra_tensor *c = known[lra_rng_below(r, (uint32_t)n)];
    switch (lra_rng_below(r, 14)) {
    case 0: return lra_add(a, b);
    case 1: return lra_mul(a, lra_tanh(b));
    case 2: return lra_sub(a, b);
    case 3: return lra_tanh(a);
    case 4: return lra_sigmoid(a);
    case 5: return lra_gelu(a);
    case 6: return lra_softmax(a);
    case 7: return lra_affine(a, 0.5, -0.25);
    case 8: return lra_sum(3, (lra_tensor *[]){a, b, c});
    case 9: return lra_matmul(lra_matmul_t(a, false, b, true), c);
    case 10: {
        lra_tensor *flat = lra_reshape(a, LRA_SHAPE(WIDTH, ROWS));
        return lra_permute(flat, 2, (const int[]){1, 0});
    }
    case 11:
        return lra_concat(2, (lra_tensor *[]){lra_slice(a, 1, 0, 2), lra_slice(b, 1, 2, 4)}, 1);
    case 12: return lra_add(a, lra_slice(b, 0, 1, 1));
    default: return lra_silu(lra_add(a, c));
    }
}

/* ---- a device that runs some nodes as one ---------------------------------------------------- */

static const lra_backend *cpu;
static int n_joined, n_hidden;

/* Some nodes, by their number, join those that they read. */
static lra_join join_some(const lra_tensor *const *group, int n, const lra_tensor *next)
{
    size_t offset;
    for (int i = 0; i < next->n_src; i++)
        for (int k = 0; k < n; k++)
            if (lra_root(next->src[i], &offset) == group[k] && next->id % 3 != 0)
                return next->id % 2 ? LRA_JOIN_OVER : LRA_JOIN_BESIDE;
    return LRA_JOIN_NOT;
}

static int64_t joined_scratch(const lra_tensor *const *group, int n)
{
    int64_t most = 0;
    for (int k = 0; k < n; k++) {
        int64_t own = group[k]->op->scratch ? group[k]->op->scratch(group[k], 64) : 0;
        if (own > most) most = own;
    }
    return most;
}

/* As a kernel might: results are written before the first source is read, and what is hidden has no
 * place. */
static int run_joined(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    char hidden[8][SIZE * 8];
    int rc = 0;
    assert_true(n <= 8);
    for (int k = 0; k < n; k++) {
        if (calls[k].out) memset(calls[k].out, 0xFF, (size_t)lra_bytes(calls[k].y));
        n_joined += k > 0, n_hidden += !calls[k].out;
    }
    for (int k = 0; k < n && rc == 0; k++) {
        const void *in[NODES + 8];
        lra_call c = calls[k];
        for (int i = 0; i < c.y->n_src; i++) {
            size_t offset;
            const lra_tensor *source = lra_root(c.y->src[i], &offset);
            in[i] = c.in[i];
            for (int j = 0; j < k; j++)
                if (calls[j].y == source && !calls[j].out) in[i] = hidden[j] + offset;
        }
        c.in = in, c.scratch = calls[0].scratch, c.gate = NULL;
        if (!c.out) c.out = hidden[k];
        rc = cpu->run(d, &c, 1, e);
    }
    return rc;
}

static int run_some_joined(lra_device *d, const lra_call *calls, int n, lra_err *e)
{
    int rc = 0;
    for (int i = 0, k; i < n && rc == 0; i += k) {
        k = lra_joined_calls(calls + i, n - i);
        rc = k > 1 ? run_joined(d, calls + i, k, e) : cpu->run(d, calls + i, 1, e);
    }
    return rc;
}

static void join_on(lra_device *d)
{
    static lra_backend b;
    cpu = d->backend;
    b = *cpu;
    b.joins = join_some, b.joined_scratch = joined_scratch, b.run = run_some_joined;
    d->backend = &b;
}

#endif
