/* Computes attention rollout of a model that answers requests (rollout.h). */
#include "kernels/base/core/mem.h"
#include "probes/attention/of_model.h"
#include "probes/attention/rollout.h"

typedef struct {
    const lra_subject *s;
    const lra_map_layers *layers;
    lra_profile *profile;
} work;

/* Multiplies the rows of all sequences by the matrices of layer k. */
static int roll_layer(const work *w, const lra_request *q, int k, lra_roll **roll, lra_err *e)
{
    int64_t n = lra_request_sequences(q), P = q->T + w->layers->extra;
    int64_t step = lra_map_rows(w->layers, n, P);
    int rc = 0;
    for (int64_t s = 0; s < n; s++)
        if (roll[s]) lra_roll_begin(roll[s]);
    for (int64_t from = 0; from < P && rc == 0; from += step) {
        lra_map_block block;
        rc = lra_map_block_get(w->s, w->layers, q, k, from, from + step < P ? from + step : P,
                               &block, e);
#pragma omp parallel for schedule(dynamic)
        for (int64_t s = 0; s < n; s++) {
            int64_t T = q->length[s] + w->layers->extra, to = block.to < T ? block.to : T;
            if (rc == 0 && roll[s] && from < to) lra_roll_rows(roll[s], &block.values, s, from, to);
        }
        lra_map_block_free(&block);
    }
    for (int64_t s = 0; s < n; s++)
        if (roll[s]) lra_roll_end(roll[s]);
    return rc;
}

static int take_batch(const lra_request *q, const lra_batch *b, void *context, lra_err *e)
{
    work *w = context;
    int64_t n = lra_request_sequences(q);
    int32_t *at = lra_alloc_array((size_t)(n * LRA_ROLLOUT_ROWS), sizeof *at);
    lra_roll **roll = lra_alloc_array((size_t)n, sizeof(lra_roll *));
    int rc = 0;
    for (int64_t s = 0; s < n; s++) {
        int64_t T = q->length[s] + w->layers->extra;
        if (!lra_model_counts(q, b, s)) continue;
        lra_rollout_positions(w->s->seed, b->row[s % q->B], T, at + s * LRA_ROLLOUT_ROWS);
        roll[s] = lra_roll_new(T, LRA_ROLLOUT_ROWS, at + s * LRA_ROLLOUT_ROWS);
    }
    for (int k = w->layers->n - 1; k >= 0 && rc == 0; k--) rc = roll_layer(w, q, k, roll, e);
    for (int64_t s = 0; s < n; s++)
        if (roll[s])
            lra_rollout_add(w->profile, roll[s], q->length[s] + w->layers->extra,
                            at + s * LRA_ROLLOUT_ROWS);
    lra_free(roll);
    lra_free(at);
    return rc;
}

int lra_rollout_of_model(const lra_subject *s, const lra_map_layers *layers, int64_t sample,
                         lra_profile **out, lra_err *e)
{
    lra_subject own = *s;
    int64_t longest = s->buckets.length[s->buckets.n - 1] + layers->extra;
    work w = {.s = &own, .layers = layers, .profile = lra_profile_new(longest, 0)};
    own.batch = lra_map_batch(s, layers, longest);
    *out = w.profile;
    return lra_subject_each(&own, sample, take_batch, &w, e);
}
