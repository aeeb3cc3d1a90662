/* Reduces a ListOps row to the tokens of a window, as a well-formed expression. */
#include "datasets/listops/tree.h"
#include "kernels/base/core/mem.h"

static bool is_digit(int32_t token)
{
    return token >= LISTOPS_DIGIT && token < LISTOPS_MIN;
}

/* Replaces a window without a digit by the nearest digit; of two equally near, the later one. */
static void widen(int64_t n, const int32_t *token, int64_t *from, int64_t *end)
{
    int64_t best = -1, least = n;
    for (int64_t i = 0; i < n; i++) {
        if (!is_digit(token[i])) continue;
        int64_t d = i < *from ? *from - i : i >= *end ? i - *end + 1 : 0;
        if (d <= least) best = i, least = d;
    }
    if (least > 0 && best >= 0) *from = best, *end = best + 1;
}

int64_t lra_listops_prune(int64_t n, const int32_t *token, int64_t from, int64_t end, int32_t *to)
{
    int64_t *open = lra_alloc_array((size_t)n + 1, sizeof *open), depth = 0, kept = 0;
    bool *stays = lra_alloc_array((size_t)n + 1, sizeof *stays);
    widen(n, token, &from, &end);
    for (int64_t i = 0; i < n; i++) {
        if (token[i] >= LISTOPS_MIN) {
            open[depth++] = i;
        } else if (token[i] == LISTOPS_CLOSE) {
            stays[i] = depth > 0 && stays[open[depth - 1]];
            depth -= depth > 0;
        } else if (is_digit(token[i])) {
            stays[i] = i >= from && i < end;
            for (int64_t k = 0; k < depth && stays[i]; k++) stays[open[k]] = true;
        } else {
            stays[i] = true; /* <eos> is kept */
        }
    }
    for (int64_t i = 0; i < n; i++)
        if (stays[i]) to[kept++] = token[i];
    lra_free(open);
    lra_free(stays);
    return kept;
}
