/* Applies a perturbation to a batch (perturbed_batch.h). */
#include "probes/influence/perturbed_batch.h"

#include <string.h>

#include "kernels/base/core/mem.h"

void lra_spare_keep(lra_spare_row *to, const lra_request *q, int64_t row)
{
    lra_spare_free(to);
    for (int64_t s = row, part = 0; s < lra_request_sequences(q); s += q->B, part++) {
        size_t size;
        const char *from = lra_request_tokens(q, s, &size);
        size_t n = (size_t)q->length[s] * size;
        to->length[part] = q->length[s];
        to->steps[part] = memcpy(lra_alloc(n + 1), from, n);
    }
}

void lra_spare_free(lra_spare_row *r)
{
    for (int part = 0; part < 2; part++) lra_free(r->steps[part]);
    *r = (lra_spare_row){0};
}

/* Index of the sequence that provides replacement tokens for s: the next valid row of its block or,
 * if the row is alone in its block, the first row of the block before it; on the same side of a
 * pair. Returns -1 if the batch has none: then the spare row provides the tokens. */
static int64_t partner(const lra_batch_change *w, const lra_request *q, const int64_t *from,
                       int64_t s)
{
    int64_t part = s / q->B * q->B, row = s % q->B;
    int64_t other = lra_subject_donor(w->donors, q->B, from, row, 0), first = row - row % w->donors;
    if (other < 0 && first > 0) other = first - w->donors;
    return other < 0 ? -1 : part + other;
}

int64_t lra_batch_apply(const lra_batch_change *w, const lra_request *q, const int64_t *from_row,
                        int64_t width, int64_t draw, lra_request *to, int64_t *row)
{
    int32_t *place = (int32_t *)(uintptr_t)to->place, *length = (int32_t *)(uintptr_t)to->length;
    int64_t requested = 0;
    for (int64_t i = 0; i < q->B; i++) row[i] = from_row[i];
    for (int64_t s = 0; s < lra_request_sequences(q); s++) {
        size_t size;
        const char *from = lra_request_tokens(q, s, &size);
        char *copy = (char *)(uintptr_t)lra_request_tokens(to, s, &size);
        memset(copy, 0, (size_t)q->T * size);
        length[s] = q->length[s];
        if (place) place[s] = 0;
        if (from_row[s % q->B] < 0) continue;
        bool last = w->last && width < q->length[s];
        int64_t part = s / q->B, their_n = w->spare.length[part];
        const char *theirs = w->spare.steps[part];
        int64_t other = w->is->filler->other_row ? partner(w, q, from_row, s) : -1;
        const lra_perturb c = {.is = w->is,
                               .w = width,
                               .draw = last ? 1 : draw,
                               .seed = w->seed,
                               .row = (uint64_t)from_row[s % q->B],
                               .near = w->near ? w->near + s * q->T : NULL};
        if (other >= 0) theirs = lra_request_tokens(w->source, other, &size);
        if (other >= 0) their_n = w->source->length[other];
        length[s] = (int32_t)lra_perturb_apply(&c, q->length[s], size, from, theirs, their_n, copy);
        if (length[s] == 0)
            row[s % q->B] = -1;
        else if (place)
            place[s] = (int32_t)lra_perturb_start(&c, q->length[s]);
    }
    for (int64_t i = 0; i < q->B; i++) requested += row[i] >= 0;
    return requested;
}

void lra_batch_marks(const lra_dataset *d, const lra_request *q, const lra_batch *b, int32_t *near)
{
    bool *marked = lra_alloc_array((size_t)q->T, sizeof *marked);
    for (int64_t i = 0; i < q->B; i++) {
        if (b->row[i] < 0) continue;
        lra_row row = lra_sequences_row(&d->split[LRA_TEST_SPLIT], b->row[i]);
        memset(marked, 0, (size_t)q->T * sizeof *marked);
        d->task->text.marks(&row, marked);
        lra_nearest_mark(q->length[i], lra_dataset_grid(d), marked, near + i * q->T);
    }
    lra_free(marked);
}
