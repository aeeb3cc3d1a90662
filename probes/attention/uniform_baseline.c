/* Computes the uniform-attention baseline (uniform_baseline.h). */
#include "probes/attention/uniform_baseline.h"

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "kernels/ops/attention/attention_statistics.h"

static void free_layer(lra_uniform_baseline *m, int k)
{
    for (int i = 0; i < m->n_masks[k]; i++) {
        lra_profile_mask_free(m->mask[k][i].tokens);
        lra_profile_mask_free(m->mask[k][i].pixels);
        lra_free(m->mask[k][i].equal);
    }
    lra_free(m->mask[k]);
    m->mask[k] = NULL, m->n_masks[k] = 0, m->T[k] = 0;
}

void lra_uniform_baseline_free(lra_uniform_baseline *m)
{
    for (int k = 0; k < LRA_ATTENTION_LAYERS; k++) free_layer(m, k);
}

/* Writes the allowed keys of row i for a head, or for any of the H heads if head is -1. */
static void allow(const lra_tensor *node, int64_t T, int64_t head, int64_t H, int64_t i,
                  const int32_t *list, uint8_t *own, uint8_t *allowed)
{
    if (head >= 0) {
        lra_attention_allowed(node, T, head, i, list, allowed);
        return;
    }
    for (int64_t h = 0; h < H; h++) {
        lra_attention_allowed(node, T, h, i, list, h ? own : allowed);
        for (int64_t j = 0; j < T && h; j++) allowed[j] |= own[j];
    }
}

void lra_attention_masks_row(const lra_tensor *node, int64_t T, int64_t head, int64_t i,
                             const int32_t *list, uint8_t *allowed)
{
    uint8_t *own = lra_alloc_array((size_t)T + 1, 1);
    allow(node, T, head, lra_attention_heads(node), i, list, own, allowed);
    lra_free(own);
}

static void make(lra_attention_mask *m, const lra_tensor *node, int64_t T, int64_t columns,
                 int64_t head, const int32_t *list)
{
    uint8_t *allowed = lra_alloc_array((size_t)T + 1, 1), *own = lra_alloc_array((size_t)T + 1, 1);
    int64_t rows = 0, H = lra_attention_heads(node);
    m->tokens = lra_profile_mask_new(T, 0);
    m->pixels = columns ? lra_profile_mask_new(T, columns) : NULL;
    m->equal = lra_alloc_array((size_t)T + 1, sizeof *m->equal);
    for (int64_t i = 0; i < T; i++) {
        int64_t n = 0;
        allow(node, T, head, H, i, list, own, allowed);
        for (int64_t j = 0; j < T; j++) n += allowed[j];
        if (n == 0) continue;
        lra_profile_mask_holes(m->tokens, i, allowed);
        if (m->pixels) lra_profile_mask_holes(m->pixels, i, allowed);
        for (int64_t j = 0; j < T; j++)
            if (allowed[j]) m->equal[j] += 1 / (double)n;
        rows++;
    }
    for (int64_t j = 0; j < T && rows > 0; j++) m->equal[j] /= (double)rows;
    lra_free(allowed);
    lra_free(own);
}

void lra_uniform_baseline_make(lra_uniform_baseline *m, int k, const lra_tensor *node, int64_t T,
                               const int32_t *list)
{
    if (m->T[k] == T) return; /* cached, because examples arrive in order of length */
    free_layer(m, k);
    m->T[k] = T;
    m->n_masks[k] = list ? (int)lra_attention_heads(node) + 1 : 1;
    m->mask[k] = lra_alloc_array((size_t)m->n_masks[k], sizeof *m->mask[k]);
    for (int i = 0; i < m->n_masks[k]; i++)
        make(&m->mask[k][i], node, T, m->columns, list ? i < m->n_masks[k] - 1 ? i : -1 : 0, list);
}

const lra_attention_mask *lra_attention_mask_at(const lra_uniform_baseline *m, int k, int64_t head)
{
    int n = m->n_masks[k];
    return &m->mask[k][n == 1 ? 0 : head < 0 ? n - 1 : head];
}
