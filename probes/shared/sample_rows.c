/* Finds the rows of a sample and stores their outputs (sample_rows.h). */
#include "probes/shared/sample_rows.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"

int64_t lra_sample_rows(const lra_loaded_model *m, int64_t **index, int64_t **place)
{
    lra_loader_spec spec = {.data = m->run->data,
                            .split = LRA_TEST_SPLIT,
                            .buckets = &m->buckets,
                            .batch = m->run->batch,
                            .sample = m->sample,
                            .sample_seed = m->run->sample_seed,
                            .stratified = true,
                            .alone = true};
    lra_loader *l = lra_loader_new(&spec);
    int64_t n = lra_loader_rows(l), last = 0;
    *index = lra_alloc_array((size_t)n + 1, sizeof **index);
    memcpy(*index, lra_loader_used(l), (size_t)n * sizeof **index);
    for (int64_t i = 0; i < n; i++)
        if ((*index)[i] > last) last = (*index)[i];
    *place = lra_alloc_array((size_t)last + 1, sizeof **place);
    for (int64_t i = 0; i < n; i++) (*place)[(*index)[i]] = i;
    lra_loader_free(l);
    return n;
}

int64_t lra_sample_ask(lra_loaded_model *m)
{
    int64_t most = 1;
    for (int i = 0; i < m->n_views; i++) {
        int64_t n = lra_elements(m->view[i]->network.output);
        most = n > most ? n : most;
        lra_length_graph_output(m->view[i], m->view[i]->network.output);
    }
    return most;
}

int64_t lra_sample_answers_open(lra_sample_answers *a, lra_loaded_model *m, int64_t **index)
{
    int64_t n = lra_sample_rows(m, index, &a->place);
    a->run = m->run;
    a->output = lra_alloc_array((size_t)lra_sample_ask(m), sizeof *a->output);
    a->batch = lra_alloc_array((size_t)m->run->batch, sizeof *a->batch);
    return n;
}

void lra_sample_answers_free(lra_sample_answers *a)
{
    lra_free(a->place);
    lra_free(a->output);
    lra_free(a->batch);
    *a = (lra_sample_answers){0};
}

int lra_sample_keep(const lra_length_graph *v, const lra_batch *b, void *answers, lra_err *e)
{
    lra_sample_answers *a = answers;
    int64_t asked = 0;
    if (lra_get(v->plan, v->network.output, a->output, e) != 0) return LRA_FAILED;
    lra_session_rows(a->run, b, v->rows, v->T, a->output, a->batch);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        a->row[a->place[b->row[i]]] = a->batch[i];
        asked++;
    }
    lra_steps_add(a->steps, (double)asked);
    return 0;
}

int lra_sample_each(lra_loaded_model *m, const lra_train_spec *run, lra_device *dev,
                    lra_weights_kind weights, int64_t sample, bool placed,
                    int (*each)(const lra_length_graph *v, const lra_batch *b, void *context,
                                lra_err *e),
                    void *context, lra_err *e)
{
    int rc = lra_load_model(m, run, dev, weights, e);
    if (rc != 0) return rc;
    m->sample = sample, m->type = LRA_F32, m->placed = placed;
    lra_loaded_buckets(m);
    lra_sample_ask(m);
    for (int i = 0; i < m->n_views; i++)
        lra_length_graph_output(m->view[i], m->view[i]->network.features);
    rc = lra_loaded_plan(m, e);
    return rc == 0 ? lra_loaded_run(m, LRA_TEST_SPLIT, NULL, each, context, e) : rc;
}
