/* Finds the rows of a sample and stores their outputs (sample_rows.h). */
#include "probes/shared/sample_rows.h"

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "probes/shared/subject.h"

int64_t lra_sample_rows(const lra_loaded_model *m, int64_t **index, int64_t **place)
{
    const lra_train_spec *run = m->run;
    lra_subject s = lra_subject_of(NULL, run->data, run->title, run->batch, run->seed);
    s.sample_seed = run->sample_seed;
    return lra_subject_rows(&s, m->sample, index, place);
}

int64_t lra_sample_start_readback(lra_loaded_model *m)
{
    int64_t most = 1;
    for (int i = 0; i < m->n_views; i++) {
        int64_t n = lra_elements(m->view[i]->network.output);
        most = n > most ? n : most;
        lra_length_graph_output(m->view[i], m->view[i]->network.output);
    }
    return most;
}

int64_t lra_sample_outputs_open(lra_sample_outputs *a, lra_loaded_model *m, int64_t **index)
{
    int64_t n = lra_sample_rows(m, index, &a->place);
    a->run = m->run;
    a->output = lra_alloc_array((size_t)lra_sample_start_readback(m), sizeof *a->output);
    a->batch = lra_alloc_array((size_t)m->run->batch, sizeof *a->batch);
    return n;
}

void lra_sample_outputs_free(lra_sample_outputs *a)
{
    lra_free(a->place);
    lra_free(a->output);
    lra_free(a->batch);
    *a = (lra_sample_outputs){0};
}

int lra_sample_keep(const lra_length_graph *v, const lra_batch *b, void *answers, lra_err *e)
{
    lra_sample_outputs *a = answers;
    int64_t requested = 0;
    if (lra_get(v->plan, v->network.output, a->output, e) != 0) return LRA_FAILED;
    lra_session_rows(a->run, b, v->rows, v->T, a->output, a->batch);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        a->row[a->place[b->row[i]]] = a->batch[i];
        requested++;
    }
    lra_steps_add(a->steps, (double)requested);
    return 0;
}
