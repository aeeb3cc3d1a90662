/* Measures attention of a model that answers requests (of_model.h). */
#include "probes/attention/of_model.h"

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

enum { ROLLED_OUT = 64 };

static int measure_weights(const lra_subject *s, lra_subject_weights weights, int64_t sample,
                           lra_attention_measured *out, lra_err *e)
{
    const lra_preparation p = {.answers = LRA_ANSWERS_ATTENTION, .exact = true};
    int64_t rolled = sample == 0 || sample > ROLLED_OUT ? ROLLED_OUT : sample;
    lra_map_layers layers = {.n = 0};
    int rc = lra_subject_prepare(s, weights, p, e);
    if (rc == 0) rc = lra_map_layers_open(s, &layers, e);
    if (rc == 0) rc = lra_heads_of_model(s, &layers, sample, &out->heads, e);
    bool *sink = lra_alloc_array((size_t)out->heads.n_heads + 1, sizeof *sink);
    for (int i = 0; i < out->heads.n_heads; i++) sink[i] = out->heads.head[i].nosink != NULL;
    if (rc == 0) rc = lra_maps_of_model(s, &layers, sample, sink, &out->maps, e);
    lra_free(sink);
    if (rc == 0) rc = lra_rollout_of_model(s, &layers, rolled, &out->rollout, e);
    lra_map_layers_free(&layers);
    return rc;
}

static void tell(const lra_subject *s, const lra_maps *maps)
{
    if (maps->n_heads == 0)
        lra_note("%s: inputs are longer than %d tokens; measurements that need complete attention "
                 "maps are skipped",
                 s->title, LRA_MAPS_LONGEST);
    else if (!maps->shares)
        lra_note("%s: the shares of position and content are skipped; they need 30 examples of "
                 "equal length and at most 2 GiB of maps",
                 s->title);
}

int lra_attention_of_model(const lra_subject *s, int64_t sample, lra_probe_result *r, lra_err *e)
{
    lra_attention_measured best = {.rollout = NULL}, initial = {.rollout = NULL};
    bool resets = lra_responder_answers(s->model, LRA_ANSWERS_RESET);
    int rc = measure_weights(s, LRA_TRAINED_WEIGHTS, sample, &best, e);
    if (rc == 0 && resets) {
        rc = measure_weights(s, LRA_RESET_WEIGHTS, sample, &initial, e);
        if (rc == 0) rc = s->model->is->restore(s->model, e);
    }
    if (rc == 0) {
        int64_t test = lra_subject_test_rows(s);
        tell(s, &best.maps);
        lra_probe_result_set(r, "examples", "%lld", (long long)best.heads.head[0].examples);
        if (s->model->facts.row_sums == LRA_ROWS_ANY)
            lra_probe_result_set(r, "weights", "renormalised");
        if (best.maps.kept_row >= 0)
            lra_probe_result_set(r, "map", "%lld", (long long)best.maps.kept_row);
        lra_attention_units(r, &best, resets ? &initial : NULL, s->seed,
                            sample > 0 && sample < test);
    }
    lra_attention_measured_free(&best);
    lra_attention_measured_free(&initial);
    lra_subject_release(s);
    return rc;
}

double lra_attention_of_model_passes(const lra_subject *s, int64_t n)
{
    /* distances, sinks, complete maps, rollout */
    double passes = 3 * (double)n + (double)(n < ROLLED_OUT ? n : ROLLED_OUT);
    return lra_responder_answers(s->model, LRA_ANSWERS_RESET) ? 2 * passes : passes;
}
