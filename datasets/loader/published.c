/* Compares the number of imported rows with the number of published rows. */
#include "datasets/loader/published.h"

#include <inttypes.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"

/* Appends a number with separators: 96000 as "96,000". */
static void add_number(lra_text *t, int64_t n)
{
    if (n >= 1000) {
        add_number(t, n / 1000);
        lra_text_add(t, ",%03" PRId64, n % 1000);
    } else {
        lra_text_add(t, "%" PRId64, n);
    }
}

char *lra_published_text(const lra_dataset *d)
{
    static const char *const part[LRA_N_SPLITS] = {"training", "validation", "test"};
    const int64_t *published = d->task->files.published;
    int parts = 0, n_listed = 0;
    bool differs = false, known = false;
    lra_text t = {0};
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        parts += published[s] > 0;
        known = known || d->n_official[s] > 0;
        differs = differs || d->n_official[s] != published[s];
    }
    if (!known || !differs) return NULL;
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        if (published[s] == 0) continue;
        lra_text_add(&t, "%s", n_listed == 0 ? "" : n_listed + 1 == parts ? " and " : ", ");
        add_number(&t, d->n_official[s]);
        lra_text_add(&t, d->n_official[s] > published[s] ? " instead of " : " of ");
        add_number(&t, published[s]);
        if (parts > 1) lra_text_add(&t, " %s", part[s]);
        n_listed++;
    }
    lra_text_add(&t, d->task->goal == LRA_GOAL_NEXT ? " tokens" : " rows");
    return t.s;
}

void lra_published_report(const lra_dataset *d)
{
    char *text = lra_published_text(d);
    if (text)
        lra_warn("%s: %s; results cannot be compared with published ones", d->task->name, text);
    lra_free(text);
}
