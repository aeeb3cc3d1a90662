/* ListOps expressions: draws random trees, evaluates them exactly or down to a depth, and shuffles
 * arguments.
 * Source: Nangia & Bowman 2018; the long variant of the Long Range Arena (max_depth 10, max_args
 * 10, 500 < length < 2000, operator probability 0.25).
 * Known: [MAX 4 3 [MIN 2 3 ] 1 0 [MED 1 5 8 9 2 ] ] = 5, [MED 1 2 ] = 1, [SM 9 9 9 ] = 7. */
#include "datasets/listops/tree.h"

#include <string.h>

#include "kernels/base/core/mem.h"

const char *const lra_listops_tokens[LISTOPS_VOCAB] = {
    "<pad>", "<unk>", "<eos>", "X", "0", "1",    "2",    "3",    "4",
    "5",     "6",     "7",     "8", "9", "[MIN", "[MAX", "[MED", "[SM"};

/* ---- evaluation ------------------------------------------------------------------------------ */

/* A node that is not closed yet: the counts of each digit among its arguments determine the value
 * of every operation. */
typedef struct {
    int op; /* operator 0..3: MIN MAX MED SM */
    int n;
    int count[10];
} node;

static const int modal[LISTOPS_OPS] = {0, 9, 4, 0};

static int kth(const node *v, int k)
{
    int digit = 0;
    for (int seen = v->count[0]; seen <= k; seen += v->count[digit]) digit++;
    return digit;
}

static int value_of(const node *v)
{
    int sum = 0;
    if (v->n == 0) return modal[v->op];
    switch (v->op) {
    case 0: return kth(v, 0);
    case 1: return kth(v, v->n - 1);
    case 2: return (kth(v, (v->n - 1) / 2) + kth(v, v->n / 2)) / 2;
    default:
        for (int d = 0; d < 10; d++) sum += d * v->count[d];
        return sum % 10;
    }
}

int lra_listops_value(const uint16_t *token, int64_t n, int64_t depth, bool drop, lra_err *e)
{
    if (n > 0 && token[n - 1] == LISTOPS_EOS) n--;
    node *stack = lra_alloc_array((size_t)n + 1, sizeof *stack);
    int64_t top = 0, i = 0;
    int result = -1;
    for (; i < n && result < 0; i++) {
        int t = token[i], value = -1;
        bool counts = true;
        if (t >= LISTOPS_MIN && t < LISTOPS_VOCAB) {
            stack[top++] = (node){.op = t - LISTOPS_MIN};
        } else if (t >= LISTOPS_DIGIT && t < LISTOPS_MIN) {
            value = t - LISTOPS_DIGIT;
        } else if (t == LISTOPS_CLOSE && top > 0) {
            bool cut = top >= depth;
            top--;
            value = cut ? modal[stack[top].op] : value_of(&stack[top]);
            counts = !(cut && drop);
        } else {
            break;
        }
        if (value >= 0 && top == 0)
            result = value;
        else if (value >= 0 && counts)
            stack[top - 1].count[value]++, stack[top - 1].n++;
    }
    lra_free(stack);
    if (result >= 0 && i == n) return result;
    return lra_fail(e, result < 0 ? "the expression is not closed" : "text after the expression");
}

int lra_listops_root(const uint16_t *token)
{
    return token[0] >= LISTOPS_MIN ? token[0] - LISTOPS_MIN : LISTOPS_OPS;
}

/* ---- drawing --------------------------------------------------------------------------------- */

typedef struct {
    const lra_listops_shape *shape;
    lra_rng *rng;
    uint16_t *token;
    int64_t n;
} drawing;

/* Draws a node and its arguments. Returns false as soon as the tree is too long. */
static bool draw_node(drawing *d, int64_t depth)
{
    const lra_listops_shape *s = d->shape;
    if (d->n >= s->max_length) return false;
    bool op = depth < s->max_depth && lra_rng_u01(d->rng) <= s->op;
    if (depth == 1 && s->root_op) op = true;
    if (!op) {
        d->token[d->n++] = (uint16_t)(LISTOPS_DIGIT + lra_rng_below(d->rng, 10));
        return true;
    }
    int64_t at = d->n++; /* position of the operator, which is drawn after its arguments */
    uint32_t n_args = 2 + lra_rng_below(d->rng, (uint32_t)s->max_args - 1);
    for (uint32_t i = 0; i < n_args; i++)
        if (!draw_node(d, depth + 1)) return false;
    d->token[at] = (uint16_t)(LISTOPS_MIN + lra_rng_below(d->rng, LISTOPS_OPS));
    if (d->n >= s->max_length) return false;
    d->token[d->n++] = LISTOPS_CLOSE;
    return true;
}

int64_t lra_listops_try(const lra_listops_shape *s, lra_rng *rng, int64_t tries, uint16_t *token)
{
    for (int64_t i = 0; i < tries; i++) {
        drawing d = {s, rng, token, 0};
        if (draw_node(&d, 1) && d.n > s->min_length && d.n < s->max_length) return d.n;
    }
    return 0;
}

int64_t lra_listops_draw(const lra_listops_shape *s, lra_rng *rng, uint16_t *token)
{
    return lra_listops_try(s, rng, INT64_MAX, token);
}

/* ---- shuffling ------------------------------------------------------------------------------- */

/* Returns the index after the argument that starts at token i. */
static int64_t argument_end(const uint16_t *token, int64_t i)
{
    int64_t open = 0;
    do {
        if (token[i] >= LISTOPS_MIN) open++;
        if (token[i] == LISTOPS_CLOSE) open--;
        i++;
    } while (open > 0);
    return i;
}

/* Randomly permutes the arguments of the node at token `at`. copy: working memory of the row's
 * length. */
static void shuffle_node(lra_rng *rng, uint16_t *token, int64_t at, uint16_t *copy,
                         int64_t (*part)[2])
{
    int64_t n = 0, i = at + 1;
    while (token[i] != LISTOPS_CLOSE) {
        int64_t end = argument_end(token, i);
        part[n][0] = i, part[n][1] = end, n++;
        i = end;
    }
    memcpy(copy + at, token + at, (size_t)(i - at) * sizeof *token);
    for (int64_t k = n - 1; k > 0; k--) {
        int64_t other = lra_rng_below(rng, (uint32_t)k + 1);
        int64_t a = part[k][0], b = part[k][1];
        part[k][0] = part[other][0], part[k][1] = part[other][1];
        part[other][0] = a, part[other][1] = b;
    }
    int64_t to = at + 1;
    for (int64_t k = 0; k < n; k++) {
        int64_t size = part[k][1] - part[k][0];
        memcpy(token + to, copy + part[k][0], (size_t)size * sizeof *token);
        to += size;
    }
}

void lra_listops_shuffle(lra_rng *rng, uint16_t *token, int64_t n)
{
    uint16_t *copy = lra_alloc_array((size_t)n, sizeof *copy);
    int64_t(*part)[2] = lra_alloc_array((size_t)n, sizeof *part);
    for (int64_t i = 0; i < n; i++)
        if (token[i] >= LISTOPS_MIN) shuffle_node(rng, token, i, copy, part);
    lra_free(copy);
    lra_free(part);
}
