/* Applies a perturbation to a batch (perturbed_batch.h). */
#include "probes/influence/perturbed_batch.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/influence/occlude.h"

void lra_spare_keep(lra_spare_row *to, const lra_length_graph *v, const lra_batch *b)
{
    lra_spare_free(to);
    for (int64_t s = 0, part = 0; s < v->network.n; s += v->rows, part++) {
        size_t size;
        const char *from = lra_batch_steps(&v->network, b, s, &size);
        size_t n = (size_t)b->length[s] * size;
        to->length[part] = b->length[s];
        to->steps[part] = memcpy(lra_alloc(n + 1), from, n);
    }
}

void lra_spare_free(lra_spare_row *r)
{
    for (int part = 0; part < 2; part++) lra_free(r->steps[part]);
    *r = (lra_spare_row){0};
}

/* Index of the sequence that provides replacement tokens for s: the next valid row of the batch, on
 * the same side of a pair. Returns -1 if there is none. */
static int64_t partner(const lra_length_graph *v, const lra_batch *b, int64_t s)
{
    int64_t part = s / v->rows * v->rows, row = s % v->rows;
    for (int64_t k = 1; k < v->rows; k++) {
        int64_t other = (row + k) % v->rows;
        if (b->row[other] >= 0) return part + other;
    }
    return -1;
}

int64_t lra_batch_apply(const lra_batch_change *w, const lra_length_graph *v, const lra_batch *b,
                        int64_t width, int64_t draw, lra_batch *to, int64_t *row)
{
    int32_t *place = (int32_t *)(uintptr_t)to->place;
    const lra_network *k = &v->network;
    int64_t asked = 0;
    for (int64_t i = 0; i < v->rows; i++) row[i] = b->row[i];
    for (int64_t s = 0; s < k->n; s++) {
        size_t size;
        const char *from = lra_batch_steps(k, b, s, &size);
        char *copy = (char *)(uintptr_t)lra_batch_steps(k, to, s, &size);
        memset(copy, 0, (size_t)k->T * size);
        to->length[s] = b->length[s];
        if (to->place) place[s] = 0;
        if (b->row[s % v->rows] < 0) continue;
        bool last = w->last && width < b->length[s];
        int64_t part = s / v->rows, their_n = w->spare.length[part];
        const char *theirs = w->spare.steps[part];
        int64_t other = w->is->filler->other_row ? partner(v, b, s) : -1;
        const lra_perturb c = {.is = w->is,
                               .w = width,
                               .draw = last ? 1 : draw,
                               .seed = w->seed,
                               .row = (uint64_t)b->row[s % v->rows],
                               .near = w->near ? w->near + s * k->T : NULL};
        if (other >= 0) theirs = lra_batch_steps(k, w->source, other, &size);
        if (other >= 0) their_n = w->source->length[other];
        to->length[s] = (int32_t)lra_perturb_apply(&c, b->length[s], size, from, theirs, their_n,
                                                   copy);
        if (to->length[s] == 0)
            row[s % v->rows] = -1;
        else if (place)
            place[s] = (int32_t)lra_perturb_start(&c, b->length[s]);
    }
    for (int64_t i = 0; i < v->rows; i++) asked += row[i] >= 0;
    return asked;
}

void lra_batch_marks(const lra_dataset *d, const lra_length_graph *v, const lra_batch *b,
                     int32_t *near)
{
    int64_t T = v->network.T;
    bool *marked = lra_alloc_array((size_t)T, sizeof *marked);
    for (int64_t i = 0; i < v->rows; i++) {
        if (b->row[i] < 0) continue;
        lra_row row = lra_sequences_row(&d->split[LRA_TEST_SPLIT], b->row[i]);
        memset(marked, 0, (size_t)T * sizeof *marked);
        d->task->text.marks(&row, marked);
        lra_nearest_mark(b->length[i], lra_dataset_grid(d), marked, near + i * T);
    }
    lra_free(marked);
}
