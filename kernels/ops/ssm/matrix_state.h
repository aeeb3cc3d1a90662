/* Sources and sizes of the ops matrix_state and matrix_state_grad (matrix_state.c). */
#ifndef LRA_OPS_SSM_MATRIX_STATE_H
#define LRA_OPS_SSM_MATRIX_STATE_H

#include "kernels/graph/op.h"
#include "kernels/ops/real.h"

typedef struct {
    bool back;     /* from the last token of an example to the first */
    bool decays;   /* source w */
    bool corrects; /* sources a and b */
    bool has_length, has_limit;
} matrix_state_args;

/* Sources in this order, without those that are absent: q, k, v, w, a, b, length, limit. */
enum { STATE_Q, STATE_K, STATE_V, STATE_W, STATE_A, STATE_B, STATE_LENGTH, STATE_LIMIT, STATE_ALL };

/* B examples, T tokens, H heads; K: width of q, k, a, b; V: width of v; W: width of w, which is K
 * or 1 (0: there is no w). */
typedef struct {
    int64_t B, T, H, K, V, W;
} matrix_state_sizes;

/* Index of a source after `first`; -1: absent. */
static inline int matrix_state_source(const matrix_state_args *a, int which)
{
    const bool there[STATE_ALL] = {true,        true,        true,          a->decays,
                                   a->corrects, a->corrects, a->has_length, a->has_limit};
    int at = 0;
    for (int i = 0; i < which; i++) at += there[i];
    return there[which] ? at : -1;
}

/* Sizes of an op whose sources q, k, .. start at source number `first`. */
static inline matrix_state_sizes matrix_state_sizes_of(const lra_tensor *y, int first)
{
    const matrix_state_args *a = (const matrix_state_args *)y->args;
    lra_tensor *const *src = y->src + first;
    const int64_t *q = src[0]->shape.d, *v = src[2]->shape.d;
    int w = matrix_state_source(a, STATE_W);
    matrix_state_sizes s = {q[0], q[1], q[2], q[3], v[3], w < 0 ? 0 : src[w]->shape.d[3]};
    return s;
}

/* Checks sources that start at source number `first`; of both ops. lra_matrix_state_grad_sample():
 * samples of matrix_state_grad. */
int lra_matrix_state_check(const lra_tensor *y, int first, lra_err *e);
lra_tensor *lra_matrix_state_grad_sample(lra_graph *g, int i);

/* Position of token number k in the direction of the recurrence. */
LRA_FN int64_t matrix_state_place(bool back, int64_t k, int64_t tokens)
{
    return back ? tokens - 1 - k : k;
}

/* Elements before the gradient of a source (STATE_Q .. STATE_B) in the result of matrix_state_grad;
 * STATE_LENGTH: all elements. */
static inline int64_t matrix_state_offset(const matrix_state_args *a, matrix_state_sizes s,
                                          int which)
{
    int64_t rows = s.B * s.T * s.H;
    const int64_t width[] = {s.K, s.K, s.V, s.W, a->corrects ? s.K : 0, a->corrects ? s.K : 0};
    int64_t at = 0;
    for (int i = 0; i < which; i++) at += rows * width[i];
    return at;
}

/* ---- CUDA ------------------------------------------------------------------------------------ */

/* A thread holds STATE_CHANNELS channels of STATE_ROWS rows of the state. STATE_CHUNK: tokens
 * between two stored states of the backward pass. STATE_BLOCKS: blocks that occupy a GPU. */
enum { STATE_CHANNELS = 8, STATE_ROWS = 2, STATE_WARPS = 4, STATE_CHUNK = 32, STATE_BLOCKS = 132 };

/* Division of a head. lanes: threads of a row, 2 to 32; 0: K is above 256, and only the kernels of
 * distance limits are used. warps, rows: warps of a block, rows of the state that they process
 * together. tiles: groups of `rows` rows. parts: blocks of a head in the backward pass; each
 * processes every parts-th tile. */
typedef struct {
    int lanes, warps, rows;
    int64_t tiles, parts;
} matrix_state_blocks;

static inline matrix_state_blocks matrix_state_blocks_of(matrix_state_sizes s)
{
    matrix_state_blocks o = {2, STATE_WARPS, 0, 1, 1};
    while (o.lanes <= 32 && o.lanes * STATE_CHANNELS < s.K) o.lanes *= 2;
    if (o.lanes > 32) {
        o.lanes = 0;
        return o;
    }
    int each = 32 / o.lanes * STATE_ROWS;
    if (s.V < o.warps * each) o.warps = (int)((s.V + each - 1) / each);
    o.rows = o.warps * each;
    o.tiles = (s.V + o.rows - 1) / o.rows;
    o.parts = STATE_BLOCKS / (s.B * s.H);
    if (o.parts > o.tiles) o.parts = o.tiles;
    if (o.parts < 1) o.parts = 1;
    return o;
}

/* Gradients of a token and head that are sums over rows of the state: of q, k, w, a, b. */
static inline int64_t matrix_state_sums(const matrix_state_args *a, matrix_state_sizes s)
{
    return (a->corrects ? 4 : 2) * s.K + s.W;
}

/* Reals of scratch of matrix_state_grad on a GPU. matrix_state_stored(): states before each chunk
 * and within a chunk, of all blocks; they are followed by the sums of parts 1, 2, ..
 * matrix_state_window(): vectors z of all tokens of a head, and dz. */
static inline int64_t matrix_state_stored(matrix_state_sizes s, matrix_state_blocks n)
{
    int64_t states = (s.T + STATE_CHUNK - 1) / STATE_CHUNK + STATE_CHUNK;
    return s.B * s.H * n.parts * states * n.rows * n.lanes * STATE_CHANNELS;
}
static inline int64_t matrix_state_window(matrix_state_sizes s)
{
    return (s.T + 1) * s.K;
}
static inline int64_t matrix_state_grad_reals(const matrix_state_args *a, matrix_state_sizes s)
{
    matrix_state_blocks n = matrix_state_blocks_of(s);
    int64_t sums = s.B * s.T * s.H * matrix_state_sums(a, s) * (n.parts - 1);
    int64_t states = n.lanes ? matrix_state_stored(s, n) + sums : 0;
    int64_t window = a->has_limit || !n.lanes ? s.B * s.H * matrix_state_window(s) : 0;
    return states > window ? states : window;
}

#endif
