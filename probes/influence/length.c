/* Evaluates a model on inputs of other lengths (length.h). */
#include "probes/influence/length.h"

#include <inttypes.h>
#include <string.h>

#include "datasets/prepare.h"
#include "kernels/base/core/mem.h"
#include "probes/shared/sample_rows.h"

/* ---- rows ------------------------------------------------------------------------------------ */

const char *lra_length_key(const lra_dataset *d)
{
    static const char *const key[] = {"length", "max-length"};
    if (!d->task->data.make || !lra_config_has(d->config, "data-seed")) return NULL;
    for (int k = 0; k < 2; k++)
        if (lra_config_has(d->config, key[k])) return key[k];
    return NULL;
}

/* Generates n test rows of a length; the other splits have one row. NULL: the task rejects the
 * length. */
static lra_dataset *make_rows(const lra_dataset *own, int64_t length, int64_t n, lra_err *e)
{
    const char *key = lra_length_key(own);
    lra_config *c = lra_config_copy(own->config);
    double times = (double)length / (double)lra_config_int(c, key);
    lra_config_set_int(c, key, length);
    if (lra_config_has(c, "min-length"))
        lra_config_set_int(c, "min-length",
                           (int64_t)(times * (double)lra_config_int(c, "min-length")));
    lra_config_set_int(c, "train", 1);
    lra_config_set_int(c, "val", 1);
    lra_config_set_int(c, "test", n);
    lra_config_set_int(c, "data-seed", lra_config_int(c, "data-seed") + 1);
    int rc = own->task->validate ? own->task->validate(c, e) : 0;
    lra_dataset *d = rc == 0 ? lra_dataset_make(own->task, c, e) : NULL;
    /* the model is built for the run's longest length, so that its parameters keep their shapes */
    if (d && d->longest < own->longest) d->longest = own->longest;
    lra_config_free(c);
    return d;
}

/* ---- outputs --------------------------------------------------------------------------------- */

int lra_own_answers_ask(const lra_train_spec *run, lra_device *dev, int64_t sample,
                        lra_steps *steps, lra_own_answers *out, lra_err *e)
{
    lra_loaded_model m;
    lra_sample_answers a = {.steps = steps};
    *out = (lra_own_answers){0};
    int rc = lra_load_model(&m, run, dev, LRA_BEST_WEIGHTS, e);
    m.sample = sample;
    if (rc == 0) {
        lra_loaded_buckets(&m);
        out->n = lra_sample_answers_open(&a, &m, &out->index);
        a.row = out->row = lra_alloc_array((size_t)out->n + 1, sizeof *out->row);
        rc = lra_loaded_plan(&m, e);
    }
    if (rc == 0) rc = lra_loaded_run(&m, LRA_TEST_SPLIT, NULL, lra_sample_keep, &a, e);
    lra_loaded_free(&m);
    lra_sample_answers_free(&a);
    return rc;
}

void lra_own_answers_free(lra_own_answers *a)
{
    lra_free(a->index);
    lra_free(a->row);
    *a = (lra_own_answers){0};
}

/* ---- lengths --------------------------------------------------------------------------------- */

/* Checks that the model built for inputs of `longest` tokens gives the same outputs as the run's
 * model on the run's own rows. */
static int check_longer(const lra_train_spec *run, lra_device *dev, int64_t longest,
                        lra_steps *steps, lra_err *e)
{
    lra_dataset wide = *run->data;
    lra_train_spec wider = *run;
    lra_own_answers a, b = {0};
    wide.longest = longest, wider.data = &wide;
    int rc = lra_own_answers_ask(run, dev, LRA_LENGTH_CHECKED, steps, &a, e);
    if (rc == 0) rc = lra_own_answers_ask(&wider, dev, LRA_LENGTH_CHECKED, steps, &b, e);
    for (int64_t i = 0; i < a.n && rc == 0; i++)
        if (a.row[i].loss != b.row[i].loss || a.row[i].right != b.row[i].right)
            rc = lra_fail(e,
                          "model '%s', built for inputs of %" PRId64
                          " tokens, changes the outputs for "
                          "the run's own rows",
                          run->model->name, longest);
    lra_own_answers_free(&a);
    lra_own_answers_free(&b);
    return rc;
}

int lra_length_ask(const lra_train_spec *run, lra_device *dev, int64_t length, int64_t n,
                   lra_steps *steps, lra_sums *to, lra_err *e)
{
    lra_own_answers a = {0};
    lra_train_spec other = *run;
    lra_dataset *d = make_rows(run->data, length, n, e);
    int rc = d ? 0 : LRA_FAILED;
    other.data = d;
    if (rc == 0 && d->longest > run->data->longest)
        rc = check_longer(run, dev, d->longest, steps, e);
    if (rc == 0) rc = lra_own_answers_ask(&other, dev, 0, steps, &a, e);
    if (rc == 0) memcpy(to, a.row, (size_t)n * sizeof *to);
    lra_own_answers_free(&a);
    lra_dataset_free(d);
    return rc == 0 ? 0 : lra_fail_in(e, "length %" PRId64, length);
}
