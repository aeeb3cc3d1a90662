/* Attention through a memory (luna): a first attention packs all positions into M rows, a second
 * one unpacks them,
 *   a_hij = sum_m u_him mean_g p_gmj
 * u: weights of head h of the second; p: of the first, whose heads g all reach head h, through a
 * linear layer.  A pair of attention ops, of which the second reads the first.  Rows add up to 1.
 * What the memory keeps from layer to layer beside what it packs is left aside.  Values take the
 * path of a pair of heads, with  a_hgij = sum_m u_him p_gmj:  v_gj passes the rows of g and columns
 * of h of the linear layer between both, and the rows of h of the one behind. */
#include "kernels/graph/op.h"
#include "kernels/ops/attention_statistics.h"
#include "probes/attention/matrix.h"

enum { UNPACK, PACK, PACK_EACH };

/* Weights of the first, (B,T,G,M). */
static lra_tensor *packed(lra_tensor *node, int64_t T, int64_t M)
{
    lra_graph *g = node->graph;
    int64_t B = node->src[0]->shape.d[0], G = lra_attention_heads(node);
    lra_tensor *x = lra_zeros(g, lra_elem(g), LRA_SHAPE(B, T, G, M)), *dx;
    lra_grad(lra_attention_apply(node, x), lra_matrix_unit(g, B, M, G), 1, &x, &dx);
    return lra_cast(dx, lra_real(g));
}

static bool find(lra_tensor *y, int64_t n, int64_t T, lra_matrix *w)
{
    if (y->op != &lra_op_attention || !lra_attention_crosses(y)) return false;
    lra_tensor *first = lra_matrix_behind(y->src[1]);
    if (first->op != &lra_op_attention || !lra_attention_crosses(first)) return false;
    int64_t M = y->src[1]->shape.d[1];
    if (first->src[1]->shape.d[1] != T || y->src[0]->shape.d[1] != T) return false;
    w->heads = lra_attention_heads(y), w->part = first;
    lra_tensor *unit = lra_matrix_unit(y->graph, n, M, w->heads);
    w->array[UNPACK] = lra_cast(lra_attention_apply(y, unit), lra_real(y->graph)); /* (B,T,H,M) */
    lra_tensor *each = packed(first, T, M);
    double G = (double)lra_attention_heads(first);
    w->array[PACK] = lra_affine(lra_reduce(each, LRA_SHAPE(n, T, 1, M)), 1 / G, 0);
    w->array[PACK_EACH] = each;
    return true;
}

static const float *unpacking(const lra_matrix_values *v, int64_t s, int64_t i, int64_t M)
{
    return v->number[UNPACK] + (s * v->of->T + i) * v->of->heads * M;
}

static void row(const lra_matrix_values *v, int64_t s, int64_t head, int64_t i, int64_t T,
                double *w)
{
    int64_t M = lra_width(v->of->array[PACK]);
    const float *u = unpacking(v, s, i, M) + head * M, *p = v->number[PACK] + s * v->of->T * M;
    for (int64_t j = 0; j < T; j++) w[j] = lra_matrix_dot(u, p + j * M, M);
}

/* v (B,T,H G,V): of each h those of all g; by (H G V,D): of each h the product of both layers. */
static bool values(lra_matrix *w, lra_tensor *out, lra_tensor **v, lra_tensor **by)
{
    const lra_tensor *between = w->node->src[2];
    while (between->op->flags & LRA_ALIAS) between = between->src[0];
    if (between->op != &lra_op_linear || lra_matrix_behind(between->src[0]) != w->part)
        return false;
    lra_tensor *own = w->part->src[2], *first = between->src[1], *all[LRA_MATRIX_PATHS];
    const lra_type elem = lra_elem(own->graph);
    int64_t H = w->heads, GV = first->shape.d[0], V = lra_width(first) / H, D = lra_width(out);
    w->paths = H * own->shape.d[2];
    if (w->paths > LRA_MATRIX_PATHS) return false;
    for (int64_t h = 0; h < H; h++) all[h] = own;
    *v = lra_concat((int)H, all, 2);
    first = lra_permute(lra_reshape(lra_cast(first, elem), LRA_SHAPE(GV, H, V)), 3,
                        (int[]){1, 0, 2});
    *by = lra_matmul(first, lra_reshape(lra_cast(out, elem), LRA_SHAPE(H, V, D)));
    *by = lra_reshape(*by, LRA_SHAPE(H * GV, D));
    return true;
}

static void paths(const lra_matrix_values *v, int64_t s, int64_t i, int64_t T, double *w)
{
    int64_t H = v->of->heads, G = v->of->paths / H, M = lra_width(v->of->array[PACK]);
    const float *u = unpacking(v, s, i, M), *p = v->number[PACK_EACH] + s * v->of->T * G * M;
    for (int64_t j = 0; j < T; j++) /* what was packed is read once */
        for (int64_t g = 0; g < G; g++, p += M)
            for (int64_t h = 0; h < H; h++)
                w[(h * G + g) * T + j] = lra_matrix_dot(u + h * M, p, M);
}

const lra_matrix_family lra_matrix_packed = {.name = "memory",
                                             .what = "products of packing and unpacking",
                                             .find = find,
                                             .row = row,
                                             .values = values,
                                             .paths = paths};
