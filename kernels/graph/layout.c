/* Memory layout: places buffers in the workspace by best fit into the holes that freed buffers
 * leave. */
#include "kernels/graph/graph_impl.h"

enum { ALIGN = 256 };

typedef struct {
    size_t offset, size;
} hole;

typedef struct {
    hole *at; /* sorted by offset; adjacent holes are merged */
    int n;
    size_t top; /* all memory from this offset on is free */
} holes;

static size_t rounded(size_t n)
{
    return n ? (n + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
}

static void erase(holes *h, int i)
{
    for (h->n--; i < h->n; i++) h->at[i] = h->at[i + 1];
}

static size_t take(holes *h, size_t size)
{
    int best = -1;
    for (int i = 0; i < h->n; i++)
        if (h->at[i].size >= size && (best < 0 || h->at[i].size < h->at[best].size)) best = i;
    if (best >= 0) {
        size_t offset = h->at[best].offset;
        h->at[best].offset += size;
        h->at[best].size -= size;
        if (h->at[best].size == 0) erase(h, best);
        return offset;
    }
    /* no hole is large enough: use the top, and the hole that ends there, if there is one */
    int last = h->n - 1;
    size_t offset = h->top;
    if (last >= 0 && h->at[last].offset + h->at[last].size == h->top) {
        offset = h->at[last].offset;
        h->n--;
    }
    h->top = offset + size;
    return offset;
}

static void give(holes *h, size_t offset, size_t size)
{
    int i = 0;
    while (i < h->n && h->at[i].offset < offset) i++;
    for (int k = h->n; k > i; k--) h->at[k] = h->at[k - 1];
    h->at[i] = (hole){offset, size};
    h->n++;
    if (i + 1 < h->n && offset + size == h->at[i + 1].offset) {
        h->at[i].size += h->at[i + 1].size;
        erase(h, i + 1);
    }
    if (i > 0 && h->at[i - 1].offset + h->at[i - 1].size == offset) {
        h->at[i - 1].size += h->at[i].size;
        erase(h, i);
    }
}

size_t lra_layout(lra_range *r, int n)
{
    holes h = {lra_alloc((size_t)(n + 1) * sizeof(hole)), 0, 0};
    int *live = lra_alloc((size_t)(n + 1) * sizeof *live), n_live = 0;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < n_live; k++) {
            if (r[live[k]].last >= r[i].first) continue;
            give(&h, r[live[k]].offset, rounded(r[live[k]].size));
            live[k--] = live[--n_live];
        }
        r[i].offset = take(&h, rounded(r[i].size));
        live[n_live++] = i;
    }
    size_t top = h.top;
    lra_free(live);
    lra_free(h.at);
    return top;
}

int lra_layout_check(const lra_range *r, int n, lra_err *e)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++) {
            bool in_time = r[i].first <= r[k].last && r[k].first <= r[i].last;
            bool in_space = r[i].offset < r[k].offset + r[k].size &&
                            r[k].offset < r[i].offset + r[i].size;
            if (in_time && in_space) return lra_fail(e, "buffers %d and %d overlap", k, i);
        }
    return 0;
}
