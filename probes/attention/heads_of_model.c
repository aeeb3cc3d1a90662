/* Measures attention heads of a model that answers requests (heads.h). */
#include "probes/attention/heads.h"

#include "kernels/base/core/mem.h"
#include "probes/attention/of_model.h"

typedef struct {
    const lra_subject *s;
    const lra_map_layers *layers;
    lra_heads *heads;
    bool again;
    int64_t done; /* number of examples in earlier batches */
} work;

/* Adds the complete matrices of a layer, whose first head has the index `first`. */
static void add_layer(const work *w, const lra_request *q, const lra_batch *b,
                      const lra_map_block *block, int first)
{
    for (int64_t s = 0, example = w->done; s < lra_request_sequences(q); s++) {
        int64_t T = q->length[s] + w->layers->extra;
        if (!lra_model_counts(q, b, s)) continue;
#pragma omp parallel for schedule(dynamic)
        for (int64_t h = 0; h < block->of.heads; h++) {
            lra_head_rows x;
            lra_head_begin(&x, &w->heads->head[first + h], w->again, 0, example, T);
            lra_head_add(&x, &block->values, s, h, 0, T);
            lra_head_end(&x);
        }
        example++;
    }
}

static int take_layers(const work *w, const lra_request *q, const lra_batch *b, lra_err *e)
{
    int rc = 0;
    for (int k = 0, first = 0; k < w->layers->n && rc == 0; k++) {
        lra_map_block block;
        rc = lra_map_block_get(w->s, w->layers, q, k, 0, q->T + w->layers->extra, &block, e);
        if (rc == 0) add_layer(w, q, b, &block, first);
        first += (int)w->layers->heads[k];
        lra_map_block_free(&block);
    }
    return rc;
}

/* Adds the heads of all layers for sequence s: requests their matrices in blocks of `step` rows. */
static int take_blocks(const work *w, const lra_request *q, int64_t s, int64_t example,
                       int64_t step, lra_err *e)
{
    int64_t T = q->length[s] + w->layers->extra, rc = 0;
    int n = w->heads->n_heads;
    lra_head_rows *x = lra_alloc_array((size_t)n + 1, sizeof *x);
    for (int h = 0; h < n; h++) lra_head_begin(&x[h], &w->heads->head[h], w->again, 0, example, T);
    for (int64_t from = 0; from < T && rc == 0; from += step)
        for (int k = 0, first = 0; k < w->layers->n && rc == 0; k++) {
            lra_map_block block;
            int64_t to = from + step < T ? from + step : T;
            rc = lra_map_block_get(w->s, w->layers, q, k, from, to, &block, e);
#pragma omp parallel for schedule(dynamic)
            for (int64_t h = 0; h < (rc == 0 ? block.of.heads : 0); h++)
                lra_head_add(&x[first + h], &block.values, s, h, from, to);
            first += (int)w->layers->heads[k];
            lra_map_block_free(&block);
        }
    for (int h = 0; h < n; h++)
        if (rc == 0)
            lra_head_end(&x[h]);
        else
            /* after a failure the sums of the example are not used */
            lra_free(x[h].columns.choice);
    lra_free(x);
    return (int)rc;
}

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int64_t n = lra_request_sequences(q), P = q->T + w->layers->extra;
    int64_t step = lra_map_rows(w->layers, n, P), example = w->done;
    int rc = step == P ? take_layers(w, q, b, e) : 0;
    for (int64_t s = 0; s < n && rc == 0; s++) {
        if (!lra_model_counts(q, b, s)) continue;
        if (step < P) rc = take_blocks(w, q, s, example, step, e);
        example++;
    }
    w->done = example;
    return rc;
}

static void open_heads(const work *w, int64_t longest, int64_t columns)
{
    lra_heads *out = w->heads;
    out->n_layers = w->layers->n;
    out->layer = lra_alloc_array((size_t)out->n_layers + 1, sizeof *out->layer);
    out->head = lra_alloc_array((size_t)w->layers->n_heads + 1, sizeof *out->head);
    for (int k = 0; k < out->n_layers; k++) {
        out->layer[k].name = lra_map_layer_name(w->layers->layer[k]);
        for (int64_t h = 0; h < w->layers->heads[k]; h++)
            lra_heads_add_head(out, k, h, longest, columns);
    }
}

int lra_heads_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                       lra_heads *out, lra_err *e)
{
    lra_subject own = *s;
    work w = {.s = &own, .layers = layers, .heads = out};
    int64_t longest = s->buckets.length[s->buckets.n - 1] + layers->extra;
    own.batch = lra_map_batch(s, layers, longest);
    *out = (lra_heads){0};
    open_heads(&w, longest, layers->extra ? 0 : lra_dataset_grid(s->data));
    int rc = lra_subject_each(&own, sample, take_batch, &w, e);
    w.again = rc == 0 && lra_heads_open_sinks(out);
    w.done = 0;
    return w.again ? lra_subject_each(&own, sample, take_batch, &w, e) : rc;
}
