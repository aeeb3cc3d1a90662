/* Measures complete maps of a model that answers requests (maps.h). */
#include "kernels/base/core/mem.h"
#include "probes/attention/maps.h"
#include "probes/attention/of_model.h"

typedef struct {
    lra_maps_work w;
    const lra_subject *s;
    const lra_map_layers *layers;
} work;

static void add_sequence(work *x, const lra_request *q, const lra_batch *b,
                         const lra_map_block *block, int first, int64_t s)
{
    int64_t row = b->row[s % q->B], extra = x->layers->extra;
    int64_t example = x->w.place[row] * x->w.parts + s / q->B, T = q->length[s] + extra;
    lra_map_example about = lra_maps_example(&x->w, q->token ? q->token + s * q->T : NULL,
                                             q->length[s], extra);
    if (first == 0) lra_maps_keep(&x->w, example, row, T);
    for (int64_t h = 0; h < block->of.heads; h++) {
        const lra_map_of m = {.rows = &block->values,
                              .sequence = s,
                              .example = example,
                              .T = T,
                              .head = h,
                              .extra = extra,
                              .tree = x->w.out->related ? &about.tree : NULL,
                              .class = about.class};
        lra_maps_add(&x->w, &m, first + (int)h);
    }
    lra_maps_example_free(&about);
}

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *x = context;
    int rc = 0;
    for (int k = 0, first = 0; k < x->layers->n && rc == 0; k++) {
        lra_map_block block;
        rc = lra_map_block_get(x->s, x->layers, q, k, 0, q->T + x->layers->extra, &block, e);
        for (int64_t s = 0; s < lra_request_sequences(q) && rc == 0; s++)
            if (lra_model_counts(q, b, s)) add_sequence(x, q, b, &block, first, s);
        first += (int)x->layers->heads[k];
        lra_map_block_free(&block);
    }
    return rc;
}

int lra_maps_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                      const bool *sink, lra_maps *out, lra_err *e)
{
    lra_subject own = *s;
    work x = {.w = {.out = out, .sink = sink, .best_row = -1}, .s = &own, .layers = layers};
    int64_t *index;
    *out = lra_maps_empty(s->data);
    if (s->data->max_length > LRA_MAPS_LONGEST) return 0;
    own.batch = lra_map_batch(s, layers, s->buckets.length[s->buckets.n - 1] + layers->extra);
    int64_t rows = lra_subject_rows(&own, sample, &index, &x.w.place);
    x.w.parts = s->data->task->goal == LRA_GOAL_PAIR ? 2 : 1;
    lra_maps_open(&x.w, s->data, layers->n, layers->n_heads, layers->extra, rows, index);
    int rc = lra_subject_each(&own, sample, take_batch, &x, e);
    lra_maps_finish(&x.w);
    lra_free(index);
    return rc;
}
