/* Imports the files, then adds checksums, facts that every task has, and facts of the task's own
 * inspection (examine.h). */
#include "probes/data/examine.h"

#include <stdio.h>
#include <string.h>

#include "datasets/loader/repeats.h"
#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/warnings.h"
#include "probes/data/own_facts.h"
#include "probes/data/statistics.h"

static void add_sizes(const lra_dataset *d, lra_examination *x)
{
    const lra_task *t = d->task;
    const char *unit = t->goal == LRA_GOAL_NEXT ? "tokens" : "rows";
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        const lra_sequences *r = &d->split[s];
        x->n[s] = t->goal == LRA_GOAL_NEXT && r->n ? r->start[r->n] : r->n;
        lra_facts_add(&x->facts, (double)x->n[s], "%s %s", lra_split_names[s], unit);
    }
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        if (t->files.published[s] == 0) continue;
        lra_facts_add(&x->facts, (double)d->n_official[s], "%s %s in the files", lra_split_names[s],
                      unit);
        lra_facts_add(&x->facts, (double)t->files.published[s], "%s %s, published",
                      lra_split_names[s], unit);
    }
}

static void add_repeats(const lra_dataset *d, lra_examination *x)
{
    const char *unit = d->task->goal == LRA_GOAL_NEXT ? "windows" : "rows";
    lra_repeats r;
    lra_repeats_count(d, &r);
    for (int s = LRA_VAL_SPLIT; s < LRA_N_SPLITS; s++)
        lra_facts_add(&x->facts, (double)r.in_train[s], "%s %s that also occur in train",
                      lra_split_names[s], unit);
    lra_facts_add(&x->facts, (double)r.in_val, "test %s that also occur in val", unit);
    if (d->task->goal != LRA_GOAL_NEXT)
        lra_facts_add(&x->facts, (double)r.in_train[LRA_TRAIN_SPLIT], "repeated train rows");
}

/* Adds the facts of the task's inspect(). It reads the data again, so its warnings, which would be
 * repetitions, are suppressed. */
static int inspect(const lra_task *t, const lra_config *c, const char *path, lra_examination *x,
                   lra_err *e)
{
    lra_text again = {0}, *before = lra_warn_into(&again);
    int rc = t->files.inspect(c, path, &x->facts, e);
    lra_warn_into(before);
    lra_text_free(&again);
    return rc;
}

int lra_data_examine(const lra_task *t, const lra_config *c, const char *path, lra_examination *x,
                     lra_err *e)
{
    lra_dataset *d;
    *x = (lra_examination){.files.listed = true};
    int rc = lra_dataset_import(t, c, path, &d, e);
    if (rc != 0) return rc;
    memcpy(x->fingerprint, d->fingerprint, sizeof x->fingerprint);
    snprintf(x->name, sizeof x->name, "%s", d->task->name);
    snprintf(x->summary, sizeof x->summary, "%s", d->task->summary);
    x->vocab = d->vocab;
    add_sizes(d, x);
    add_repeats(d, x);
    lra_data_statistics(d, &x->facts);
    lra_data_own_facts(d, &x->facts);
    lra_dataset_free(d);
    rc = t->files.import_hash(c, path, &x->files, e);
    if (rc == 0 && t->files.inspect) rc = inspect(t, c, path, x, e);
    for (int i = 0; i < x->facts.n; i++)
        if (x->facts.defect[i]) x->defects += (int64_t)x->facts.value[i];
    return rc;
}

void lra_examination_free(lra_examination *x)
{
    lra_digest_free(&x->files);
}
