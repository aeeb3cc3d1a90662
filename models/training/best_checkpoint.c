/* Evaluates the weights of the best epoch. */
#include "models/training/best_checkpoint.h"

#include "kernels/base/core/mem.h"
#include "models/training/checkpoint.h"

/* Evaluates a split. *n: number of rows; *output: logits or predicted numbers, NULL for heads with
 * an output at every token. Nullable: row. */
static int answer(lra_session *s, int split, lra_sums *total, int64_t *n, float **output,
                  lra_sums **row, lra_err *e)
{
    lra_network_spec network = lra_session_network(s->spec);
    bool at_steps = network.head == LRA_HEAD_TOKENS || network.head == LRA_HEAD_NEXT;
    lra_loader *l = lra_session_loader(s, split, false);
    *n = lra_loader_rows(l);
    if (row) *row = lra_alloc_array((size_t)*n + 1, sizeof **row);
    if (!at_steps) *output = lra_alloc_array((size_t)(*n * network.outputs) + 1, sizeof(float));
    int rc = lra_session_evaluate(s, l, total, *output, row ? *row : NULL, e);
    lra_loader_free(l);
    return rc;
}

static bool has_classes(const lra_train_spec *s)
{
    lra_head head = lra_session_network(s).head;
    return head == LRA_HEAD_CLASS || head == LRA_HEAD_PAIR;
}

/* Evaluates a sample of the training rows, in the order of the split; only rows of the trained
 * fraction if the run used one. */
static int measure_training(lra_session *s, lra_train_report *out, lra_err *e)
{
    lra_loader_spec spec = lra_session_loader_spec(s, LRA_TRAIN_SPLIT, false);
    spec.fraction = s->spec->fraction;
    spec.sample = LRA_TRAIN_SAMPLE;
    lra_loader *l = lra_loader_new(&spec);
    int64_t n = lra_loader_rows(l);
    const int64_t *used = lra_loader_used(l);
    lra_sums *all = lra_alloc_array((size_t)(n ? used[n - 1] + 1 : 1), sizeof *all);
    int rc = lra_session_evaluate(s, l, &out->train, NULL, all, e);
    out->n_train = n;
    out->train_row = lra_alloc_array((size_t)n + 1, sizeof *out->train_row);
    for (int64_t i = 0; i < n; i++) out->train_row[i] = all[used[i]];
    lra_free(all);
    lra_loader_free(l);
    return rc;
}

int lra_best_checkpoint_evaluate(lra_session *s, lra_train_report *out, lra_err *e)
{
    lra_sums val;
    int rc = lra_best_read(s->spec, s->params, e);
    if (rc == 0)
        rc = answer(s, LRA_TEST_SPLIT, &out->test, &out->n_rows, &out->output, &out->row, e);
    if (rc == 0 && has_classes(s->spec))
        rc = answer(s, LRA_VAL_SPLIT, &val, &out->n_val, &out->val_output, NULL, e);
    return rc == 0 ? measure_training(s, out, e) : rc;
}
