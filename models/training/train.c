/* The training loop. */
#include "models/training/train.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/process.h"
#include "kernels/base/terminal.h"
#include "models/training/checkpoint.h"
#include "models/training/session.h"
#include "models/training/weights.h"

enum { MAX_SKIPPED = 5 };

/* Everything a run works with. */
typedef struct {
    const lra_train_spec *spec;
    lra_schedule schedule;
    lra_session session;
    lra_loader *train, *val;
    lra_run_state now;
    lra_progress *progress;
    int64_t examples;
    double peak, flops, busy; /* FLOP/s at best (0: not shown), done in this session, its seconds */
    double started, saved;    /* seconds, monotonic: this session; last checkpoint */
    char *log_path;
} run;

/* ---- log: one JSON line per epoch, cut back to the checkpoint on resume --------------------------------- */

static int log_cut(const run *r, lra_err *e)
{
    if (!lra_file_exists(r->log_path)) return 0;
    if (truncate(r->log_path, (off_t)r->now.log_bytes) == 0) return 0;
    return lra_fail_errno(e, "cannot cut '%s'", r->log_path);
}

static int log_epoch(run *r, const lra_epoch_record *h, lra_err *e)
{
    FILE *f = fopen(r->log_path, "a");
    if (!f) return lra_fail_errno(e, "cannot open '%s'", r->log_path);
    fprintf(f,
            "{\"epoch\":%lld,\"step\":%lld,\"train_loss\":%.17g,\"train_accuracy\":%.17g,"
            "\"val_loss\":%.17g,\"val_accuracy\":%.17g,\"rate\":%.17g}\n",
            (long long)h->epoch, (long long)h->step, h->train_loss, h->train_accuracy, h->val_loss,
            h->val_accuracy, h->rate);
    long at = ftell(f);
    bool failed = ferror(f) || at < 0;
    if (fclose(f) != 0 || failed) return lra_fail_errno(e, "cannot write '%s'", r->log_path);
    r->now.log_bytes = at;
    return 0;
}

/* ---- one step, one epoch --------------------------------------------------------------------------------- */

static double session_seconds(const run *r)
{
    return lra_now() - r->started;
}

static int save(run *r, lra_err *e)
{
    lra_run_state copy = r->now;
    copy.seconds += session_seconds(r);
    r->saved = lra_now();
    return lra_checkpoint_write(r->spec, &copy, r->session.params, e);
}

static int fail_not_finite(run *r, const lra_batch *b, const lra_step *step, lra_err *e)
{
    if (lra_session_find_bad(&r->session, b, step, e) == 0)
        lra_fail(e, "the gradient norm is not finite");
    return lra_fail_in(e,
                       "step %lld: %d updates in a row were not finite (the last checkpoint is "
                       "intact; try a lower rate)",
                       (long long)r->now.step, MAX_SKIPPED);
}

static int do_step(run *r, lra_err *e)
{
    lra_run_state *now = &r->now;
    const lra_batch *b = lra_loader_get(r->train, now->batch);
    lra_step step = {.seed = r->spec->seed,
                     .step = (uint64_t)now->step,
                     .rate = (float)lra_schedule_rate(&r->schedule, &now->schedule, now->step)};
    float status[4];
    int64_t n;
    if (r->spec->debug_nodes && lra_session_find_bad(&r->session, b, &step, e) != 0)
        return lra_fail_in(e, "step %lld", (long long)now->step);
    double start = lra_now();
    if (lra_session_step(&r->session, b, &step, status, e) != 0) return LRA_FAILED;
    r->busy += lra_now() - start;
    r->flops += lra_plan_cost(r->session.plans[b->bucket].train_plan).flops;
    r->examples += r->spec->batch;
    if (status[2] == 0) {
        now->skipped++;
        lra_detail("step %lld: loss %g, gradient norm %g: no update", (long long)now->step,
                   (double)status[0], (double)status[1]);
        if (status[3] >= MAX_SKIPPED) return fail_not_finite(r, b, &step, e);
    } else {
        now->correct += lra_session_correct(&r->session, b, &n);
        now->seen += n;
        now->loss_sum += (double)status[0] * (double)n;
    }
    now->step++;
    now->batch++;
    return 0;
}

/* ", 4210 examples/s, 81 % of peak", or "" where nobody looks. */
static const char *speed(const run *r, char buf[64])
{
    buf[0] = 0;
    if (r->peak > 0 && r->busy > 0)
        snprintf(buf, 64, "  %.0f examples/s  %.0f %% of peak", (double)r->examples / r->busy,
                 100 * r->flops / r->busy / r->peak);
    return buf;
}

static void show(run *r)
{
    char detail[160], rate[64];
    const lra_run_state *now = &r->now;
    double n = now->seen ? (double)now->seen : 1;
    snprintf(detail, sizeof detail, "epoch %lld  loss %.3f  acc %.1f %%%s",
             (long long)now->epoch + 1, now->loss_sum / n, 100 * (double)now->correct / n,
             speed(r, rate));
    lra_progress_at(r->progress, (double)now->step, detail);
}

static int end_epoch(run *r, lra_err *e)
{
    lra_run_state *now = &r->now;
    double n = now->seen ? (double)now->seen : 1;
    lra_epoch_record h = {.epoch = now->epoch,
                          .step = now->step,
                          .train_loss = now->loss_sum / n,
                          .train_accuracy = (double)now->correct / n,
                          .rate = lra_schedule_rate(&r->schedule, &now->schedule, now->step - 1),
                          .seconds = now->seconds + session_seconds(r)};
    if (lra_session_evaluate(&r->session, r->val, &h.val_loss, &h.val_accuracy, NULL, e) != 0)
        return LRA_FAILED;
    now->history = lra_resize(now->history, (size_t)(now->n_epochs + 1) * sizeof h);
    now->history[now->n_epochs++] = h;
    lra_schedule_epoch(&r->schedule, &now->schedule, now->epoch, h.val_accuracy);
    char rate[64];
    lra_detail("%s: epoch %lld of %lld: loss %.4f, accuracy %.2f %%, validation %.2f %%%s",
               r->spec->title, (long long)h.epoch + 1, (long long)r->schedule.epochs, h.train_loss,
               100 * h.train_accuracy, 100 * h.val_accuracy, speed(r, rate));
    if (h.val_accuracy > now->best_val_accuracy) {
        now->best_val_accuracy = h.val_accuracy;
        now->best_epoch = h.epoch;
        if (lra_best_write(r->spec, h.epoch, h.val_accuracy, r->session.params, e) != 0)
            return LRA_FAILED;
    }
    if (log_epoch(r, &h, e) != 0) return LRA_FAILED;
    now->epoch++;
    now->batch = 0;
    now->loss_sum = 0;
    now->correct = now->seen = 0;
    if (now->epoch < r->schedule.epochs) lra_loader_epoch(r->train, now->epoch);
    return save(r, e);
}

static bool must_stop(const run *r)
{
    return lra_stop_signal() || (r->spec->stop_after && r->now.step >= r->spec->stop_after);
}

/* The weights that came are the selected ones. */
static int select_start(run *r, lra_err *e)
{
    double loss;
    lra_session *s = &r->session;
    if (lra_session_evaluate(s, r->val, &loss, &r->now.best_val_accuracy, NULL, e) != 0)
        return LRA_FAILED;
    return lra_best_write(r->spec, r->now.best_epoch, r->now.best_val_accuracy, r->session.params,
                          e);
}

static int train_all(run *r, lra_err *e)
{
    lra_run_state *now = &r->now;
    while (now->epoch < r->schedule.epochs) {
        while (now->batch < r->schedule.steps_per_epoch) {
            if (must_stop(r)) return save(r, e) == 0 ? LRA_STOPPED : LRA_FAILED;
            if (do_step(r, e) != 0) return LRA_FAILED;
            show(r);
            bool due = lra_now() - r->saved > r->spec->checkpoint_every;
            if (due && save(r, e) != 0) return LRA_FAILED;
        }
        if (end_epoch(r, e) != 0) return LRA_FAILED;
    }
    return 0;
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

/* Where the run starts; a checkpoint, read later, knows more. */
static int import_weights(run *r, lra_err *e)
{
    const lra_train_spec *s = r->spec;
    int converted;
    if (lra_weights_import(r->session.params, s->weights, s->weights_path, &converted, e) != 0)
        return LRA_FAILED;
    if (converted)
        lra_note("%s: %d of %d arrays of '%s' are converted to float32", s->title, converted,
                 s->weights->n, s->weights_path);
    return 0;
}

static int open_run(run *r, const lra_train_spec *s, lra_device *dev, lra_err *e)
{
    *r = (run){.spec = s, .schedule = s->schedule};
    r->started = r->saved = lra_now();
    r->now.schedule = lra_schedule_start();
    r->now.best_val_accuracy = -1;
    r->now.best_epoch = -1;
    r->log_path = lra_format("%s/log.jsonl", s->folder);
    if (s->data->split[LRA_TRAIN_SPLIT].n < s->batch)
        return lra_fail_usage(e, "batch %lld is larger than the training set of %lld",
                              (long long)s->batch, (long long)s->data->split[LRA_TRAIN_SPLIT].n);
    if (lra_session_open(&r->session, s, dev, e) != 0) return LRA_FAILED;
    if (lra_is_tty(stderr) || lra_terminal_level() == LRA_LOG_VERBOSE)
        r->peak = lra_plan_peak(r->session.plans[r->session.buckets.n - 1].train_plan);
    r->train = lra_session_loader(&r->session, LRA_TRAIN_SPLIT, true);
    r->val = lra_session_loader(&r->session, LRA_VAL_SPLIT, false);
    r->schedule.steps_per_epoch = lra_loader_batches(r->train);
    bool found = false;
    if (lra_folder_make(s->folder, e) != 0) return LRA_FAILED;
    if (s->weights && import_weights(r, e) != 0) return LRA_FAILED;
    if (lra_checkpoint_read(s, &r->now, r->session.params, &found, e) != 0) return LRA_FAILED;
    if (r->now.epoch > r->schedule.epochs || r->now.batch > r->schedule.steps_per_epoch)
        return lra_fail(e, "the checkpoint is at epoch %lld, batch %lld, beyond the end of the run",
                        (long long)r->now.epoch, (long long)r->now.batch);
    if (found) lra_detail("%s: goes on at step %lld", s->title, (long long)r->now.step);
    if (r->now.epoch < r->schedule.epochs) lra_loader_epoch(r->train, r->now.epoch);
    r->progress = lra_progress_new(s->title,
                                   (double)(r->schedule.epochs * r->schedule.steps_per_epoch));
    return log_cut(r, e);
}

static void close_run(run *r)
{
    lra_progress_free(r->progress);
    lra_loader_free(r->train);
    lra_loader_free(r->val);
    lra_session_close(&r->session);
    lra_free(r->now.history);
    lra_free(r->log_path);
}

/* The selected weights on the test split, once. */
static int test(run *r, lra_train_report *out, lra_err *e)
{
    const lra_sequences *rows = &r->spec->data->split[LRA_TEST_SPLIT];
    out->logits = lra_alloc_array((size_t)(rows->n * r->spec->data->task->n_classes) + 1,
                                  sizeof(float));
    if (lra_best_read(r->spec, r->session.params, e) != 0) return LRA_FAILED;
    lra_loader *l = lra_session_loader(&r->session, LRA_TEST_SPLIT, false);
    int rc = lra_session_evaluate(&r->session, l, &out->test_loss, &out->test_accuracy, out->logits,
                                  e);
    lra_loader_free(l);
    return rc;
}

static void report(run *r, lra_train_report *out)
{
    lra_run_state *now = &r->now;
    int last = r->session.buckets.n - 1;
    out->history = now->history;
    now->history = NULL;
    out->n_epochs = now->n_epochs;
    out->best_epoch = now->best_epoch;
    out->best_val_accuracy = now->best_val_accuracy;
    out->steps = now->step;
    out->skipped = now->skipped;
    out->seconds = now->seconds + session_seconds(r);
    out->step_flops = lra_plan_cost(r->session.plans[last].train_plan).flops;
    out->padding = lra_loader_padding(r->train);
    lra_head head = lra_session_head(r->spec);
    out->parameters = lra_classifier_parameters(r->spec->model, r->spec->model_config, &head);
}

int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *out, lra_err *e)
{
    run r;
    *out = (lra_train_report){0};
    int rc = open_run(&r, s, dev, e);
    if (rc == 0) rc = s->untrained ? select_start(&r, e) : train_all(&r, e);
    if (rc == 0) {
        out->hash = lra_params_hash(r.session.params);
        rc = test(&r, out, e);
    }
    if (rc == 0) report(&r, out);
    close_run(&r);
    if (rc < 0) lra_train_report_free(out);
    return rc;
}

int lra_evaluate_best(const lra_train_spec *s, lra_device *dev, int split, float *logits,
                      lra_err *e)
{
    lra_session session;
    lra_train_spec spec = *s;
    double loss, accuracy;
    spec.evaluate_only = true;
    if (lra_session_open(&session, &spec, dev, e) != 0) return LRA_FAILED;
    lra_loader *l = lra_session_loader(&session, split, false);
    int rc = lra_best_read(s, session.params, e);
    if (rc == 0) rc = lra_session_evaluate(&session, l, &loss, &accuracy, logits, e);
    lra_loader_free(l);
    lra_session_close(&session);
    return rc;
}

void lra_train_report_free(lra_train_report *r)
{
    lra_free(r->history);
    lra_free(r->logits);
    *r = (lra_train_report){0};
}
