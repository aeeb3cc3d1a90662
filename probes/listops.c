/* lra-probe listops: accuracy of a trained model on ListOps by root operator, label, arity, depth
 * and length, compared with majority, greedy and shallow evaluation; and the heuristic that best
 * predicts the model's outputs.
 *
 * The best weights of each run are evaluated on the test split again, and the (deterministic)
 * predictions are compared with result.h5. If the weights file is missing (results are often
 * archived without it), the stored predictions are used. The measurements are written to
 * RUN/listops.h5, from which the tables are computed.
 * greedy: predicts the most frequent training label of the root operator. shallow-a-D, shallow-b-D:
 * exact above depth D; deeper nodes are replaced by their most frequent label (a) or left out (b).
 * Source: Appendix B of "On the locality bias and results in the Long Range Arena". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "datasets/listops/listops.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "models/training/loaded_model.h"
#include "probes/probe.h"
#include "probes/run/each_run.h"
#include "probes/run/finished_run.h"
#include "probes/run/option_rows.h"
#include "probes/run/origin.h"
#include "reports/results/listops_result.h"
#include "reports/report.h"

enum { EXPECTED_ROWS = 100000 };

static const lra_option own[] = {LRA_JSON_OPTION("print one JSON document instead of tables"),
                                 {.name = NULL}};
static const lra_option *const tables[] = {own, lra_finished_run_options, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe listops",
    .summary = "Breaks down the accuracy of ListOps models and compares it with simple heuristics.",
    .usage = "RUN...",
    .examples = "  lra-probe listops listops-resconv-0123456789abcdef --out lra-out\n"
                "  lra-probe listops lra-out/runs/listops-*",
    .min_args = 1,
    .max_args = -1,
    .tables = tables,
};

/* ---- one run --------------------------------------------------------------------------------- */

static int32_t largest(const float *row, int64_t n)
{
    int64_t best = 0;
    for (int64_t c = 1; c < n; c++)
        if (row[c] > row[best]) best = c;
    return (int32_t)best;
}

static int check_run(const lra_finished_run *run, const lra_listops *m, lra_err *e)
{
    const lra_result *r = run->result;
    if (r->n == m->n && r->n_classes == LISTOPS_LABELS) return 0;
    return lra_fail(e,
                    "run '%s': its result has %" PRId64 " rows of %" PRId64
                    " classes; the test split has %" PRId64 " of %d",
                    run->folder, r->n, r->n_classes, m->n, LISTOPS_LABELS);
}

/* Computes the logits of the test split with the best weights. */
static int evaluate(const lra_finished_run *run, float *logits, lra_err *e)
{
    lra_train_spec spec;
    lra_device device = run->job.device;
    lra_finished_run_spec(run, &spec);
    int rc = lra_evaluate(&spec, &device, LRA_BEST_WEIGHTS, LRA_TEST_SPLIT, logits, NULL, e);
    lra_job_spec_free(&spec);
    return rc;
}

/* Computes the predicted labels, and counts those that differ from the stored result. */
static int predict(const lra_finished_run *run, lra_listops *m, lra_err *e)
{
    const lra_result *r = run->result;
    if (check_run(run, m, e) != 0) return LRA_FAILED;
    char *best = lra_format("%s/best.h5", run->folder);
    float *logits = lra_alloc_array((size_t)(m->n * LISTOPS_LABELS), sizeof *logits);
    bool weights = lra_file_exists(best);
    int rc = weights ? evaluate(run, logits, e) : 0;
    if (!weights) {
        lra_note("%s: no weights (best.h5); the predictions of its result.h5%s are used",
                 run->folder, r->unsealed ? ", which has no integrity hash," : "");
        memcpy(logits, r->logits, (size_t)(m->n * LISTOPS_LABELS) * sizeof *logits);
    }
    m->predicted = lra_alloc_array((size_t)m->n, sizeof *m->predicted);
    for (int64_t i = 0; i < m->n && rc == 0; i++) {
        m->predicted[i] = largest(logits + i * LISTOPS_LABELS, LISTOPS_LABELS);
        m->differs += m->predicted[i] != largest(r->logits + i * LISTOPS_LABELS, LISTOPS_LABELS);
    }
    lra_free(logits);
    lra_free(best);
    return rc;
}

static void describe_rows(const lra_sequences *rows, lra_listops *m)
{
    size_t n = (size_t)rows->n;
    int32_t **array[] = {&m->label, &m->root, &m->arity, &m->depth, &m->length};
    for (int i = 0; i < 5; i++) *array[i] = lra_alloc_array(n, sizeof **array[i]);
    memcpy(m->label, rows->label, n * sizeof *m->label);
    for (int64_t i = 0; i < rows->n; i++) {
        lra_listops_facts f = lra_listops_row_facts(rows->token + rows->start[i],
                                                    rows->start[i + 1] - rows->start[i]);
        m->root[i] = f.root, m->arity[i] = f.arity, m->depth[i] = f.depth, m->length[i] = f.length;
    }
}

static void add_heuristics(const lra_job *j, lra_listops *m)
{
    const lra_sequences *train = &j->data->split[LRA_TRAIN_SPLIT],
                        *test = &j->data->split[LRA_TEST_SPLIT];
    for (int b = 0; b < LRA_LISTOPS_HEURISTICS; b++) {
        int32_t *predicted = lra_alloc_array((size_t)test->n, sizeof *predicted);
        const char *name = j->task->baseline(b, train, test, predicted);
        if (!name) {
            lra_free(predicted);
            return;
        }
        m->heuristic_name[b] = lra_copy_text(name);
        m->heuristic[b] = predicted;
        m->n_heuristics = b + 1;
    }
}

/* Counts labels by root operator: in the training split, and in new rows of the run's generator. */
static int count_labels(const lra_job *j, lra_listops *m, lra_err *e)
{
    const lra_sequences *train = &j->data->split[LRA_TRAIN_SPLIT];
    lra_listops_shape shape;
    for (int64_t i = 0; i < train->n; i++)
        m->train_count[lra_listops_root(train->token + train->start[i])][train->label[i]]++;
    if (lra_listops_shape_read(j->task_config, &shape, e) != 0) return LRA_FAILED;
    uint64_t seed = (uint64_t)lra_config_int(j->task_config, "data-seed");
    lra_listops_expected(&shape, seed, EXPECTED_ROWS, m->expected_count[0]);
    return 0;
}

static void name_run(const lra_finished_run *run, lra_listops *m)
{
    const lra_result *r = run->result;
    m->task = lra_copy_text(r->task), m->model = lra_copy_text(r->model);
    m->preset = lra_copy_text(r->preset), m->precision = lra_copy_text(r->precision);
    lra_probe_origin(&run->job.device, &m->origin);
    m->fingerprint = lra_copy_text(r->fingerprint), m->run = lra_copy_text(r->run);
    m->config = lra_copy_text(r->config);
    m->user_label = lra_copy_text(r->user_label ? r->user_label : "");
    m->seed = r->seed, m->kernel = r->kernel, m->reach = r->reach, m->max_length = r->max_length;
}

/* Measures one run. same_data: an earlier run, whose label counts are reused if it has the same
 * data. Nullable: same_data */
static int measure(const lra_finished_run *run, const lra_listops *same_data, lra_listops *m,
                   lra_err *e)
{
    const lra_sequences *test = &run->job.data->split[LRA_TEST_SPLIT];
    m->n = test->n;
    name_run(run, m);
    describe_rows(test, m);
    if (predict(run, m, e) != 0) return LRA_FAILED;
    add_heuristics(&run->job, m);
    if (same_data && strcmp(same_data->fingerprint, m->fingerprint) == 0) {
        memcpy(m->train_count, same_data->train_count, sizeof m->train_count);
        memcpy(m->expected_count, same_data->expected_count, sizeof m->expected_count);
        return 0;
    }
    return count_labels(&run->job, m, e);
}

/* Writes RUN/listops.h5 and reads it again, so that the printed values are those that lra-report
 * will read. */
static lra_listops *through_file(const lra_finished_run *run, const lra_listops *m, lra_err *e)
{
    char *path = lra_format("%s/listops.h5", run->to);
    lra_listops *again = NULL;
    if (lra_listops_result_write(path, m, e) == 0) again = lra_listops_result_read(path, e);
    if (again) lra_note("wrote %s", path);
    if (again && m->differs)
        lra_warn("run '%s': %" PRId64 " of %" PRId64
                 " predictions differ from its result (other machine or version?)",
                 run->folder, m->differs, m->n);
    lra_free(path);
    return again;
}

static int probe_run(const char *name, const lra_options *o, const lra_listops *same_data,
                     lra_listops **to, lra_err *e)
{
    lra_finished_run run;
    lra_listops *m = lra_alloc(sizeof *m);
    int rc = lra_finished_run_open(&run, name, "listops", o, e);
    if (rc == 0) rc = lra_finished_run_writable(&run, "listops.h5", e);
    if (rc == 0) rc = lra_finished_run_load_data(&run, e);
    if (rc == 0) rc = measure(&run, same_data, m, e);
    if (rc == 0) *to = through_file(&run, m, e);
    if (rc == 0 && !*to) rc = LRA_FAILED;
    lra_listops_result_free(m);
    lra_finished_run_close(&run);
    return rc;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Same as lra_run_count(), for lra_listops. */
static void count(const char *name, lra_listops **list, int *n)
{
    lra_listops *r = list[*n];
    bool repeated = false;
    for (int i = 0; i < *n && r && !repeated; i++)
        repeated = lra_run_is_repeated(name, r->run, list[i]->run);
    if (repeated) {
        lra_listops_result_free(r);
        list[*n] = NULL;
    } else if (r) {
        ++*n;
    }
}

static int listops(const lra_options *o, lra_err *e)
{
    int n = lra_option_n_args(o), done = 0, rc = 0, failed = 0;
    lra_listops **list = lra_alloc_array((size_t)n, sizeof *list);
    for (int i = 0; i < n && rc == 0; i++) {
        if (lra_run_is_unfinished(o, lra_option_arg(o, i))) continue;
        rc = probe_run(lra_option_arg(o, i), o, done ? list[done - 1] : NULL, &list[done], e);
        rc = lra_run_outcome(o, rc, &failed, e);
        count(lra_option_arg(o, i), list, &done);
    }
    lra_report_input in = {.listops = list, .n_listops = done};
    if (rc == 0 && done == 0 && failed == 0)
        rc = lra_fail(e, "none of the %d runs has a result", n);
    if (rc == 0 && done)
        rc = lra_report_listops(stdout, &in, lra_option_flag(o, "json") ? "json" : "text", e);
    if (rc == 0) lra_note("figures: lra-report figures --figure loc-2 RUN... (also loc-1, loc-3)");
    lra_listops_results_free(list, done);
    return rc == 0 ? lra_runs_outcome(o, failed, e) : rc;
}

const lra_probe lra_probe_listops = {
    "listops", "breaks down ListOps accuracy by operator, label, arity, depth and length", &command,
    listops};
