/* The training loop. */
#include "models/training/train.h"

#include <math.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/progress.h"
#include "kernels/base/os/signals.h"
#include "kernels/base/os/terminal.h"
#include "models/training/checkpoint.h"
#include "models/training/epoch_log.h"
#include "models/training/estimate.h"
#include "models/training/loaded_model.h"
#include "models/training/objective.h"
#include "models/training/run_status.h"
#include "models/training/best_checkpoint.h"

enum { MAX_SKIPPED = 5 };

/* Sums over the finished batches of the current update. */
typedef struct {
    lra_sums sums;
    double loss; /* sum of loss times number of targets */
} step_sums;

/* Data and state of a training run. */
typedef struct {
    const lra_train_spec *spec;
    const lra_metric *metric;
    double chance; /* metric of the best prediction without inputs, on the validation split */
    lra_schedule schedule;
    lra_session session;
    lra_sums *rows; /* (B) contributions of the rows of the last finished batch */
    lra_loader *train, *val;
    lra_run_state now; /* state after the last finished batch */
    int64_t ahead;     /* number of started updates that are not finished */
    int64_t part;      /* number of finished batches of the oldest started update */
    step_sums total;   /* sums over the finished batches of the oldest started update */
    lra_progress *progress;
    lra_run_reporter *reporter;
    int64_t examples;
    /* peak: FLOP/s of the device, 0: not shown; flops, busy: FLOPs and computing time in seconds of
     * this session */
    double peak, flops, busy;
    /* started: start of this session; saved: time of the last checkpoint; in monotonic seconds */
    double started, saved;
    char *log_path;
    bool diverged; /* too many consecutive updates were not finite */
} run;

/* ---- one step, one epoch --------------------------------------------------------------------- */

static double session_seconds(const run *r)
{
    return lra_now() - r->started;
}

static int finish_all(run *r, lra_err *e);

static int save(run *r, lra_err *e)
{
    if (finish_all(r, e) != 0) return LRA_FAILED;
    lra_run_state copy = r->now;
    copy.seconds += session_seconds(r);
    r->saved = lra_now();
    return lra_checkpoint_write(r->spec, &copy, r->session.params, e);
}

static int fail_not_finite(run *r, const lra_batch *b, const lra_step *step, lra_err *e)
{
    r->diverged = true;
    if (lra_session_find_bad(&r->session, b, lra_update_batches(r->spec) - 1, step, e) == 0)
        lra_fail(e, "the gradient norm is not finite");
    return lra_fail_in(
        e,
        "step %lld: %d consecutive updates were not finite (the last checkpoint is intact; try a "
        "lower rate)",
        (long long)r->now.step, MAX_SKIPPED);
}

/* Returns the speed as text, "  4210 examples/s  81 % of peak"; "" if it was not measured. */
static const char *speed(const run *r, char buf[64])
{
    buf[0] = 0;
    if (r->peak > 0 && r->busy > 0)
        snprintf(buf, 64, "  %.0f examples/s  %.0f %% of peak", (double)r->examples / r->busy,
                 100 * r->flops / r->busy / r->peak);
    return buf;
}

/* Returns the mean training loss over this epoch so far. */
static double train_loss(const lra_run_state *now)
{
    return now->loss_sum / (now->sums.n ? (double)now->sums.n : 1);
}

static void show(run *r)
{
    char detail[160], rate[64], value[32];
    const lra_run_state *now = &r->now;
    lra_metric_value_text(r->metric, r->metric->value(&now->sums), value);
    snprintf(detail, sizeof detail, "epoch %lld  loss %.3f  %s %s%s", (long long)now->epoch + 1,
             train_loss(now), r->metric->text, value, speed(r, rate));
    lra_progress_at(r->progress, (double)now->step, detail);
    if (!lra_run_reporter_due(r->reporter)) return;
    snprintf(detail, sizeof detail, "%s %s", r->metric->text, value);
    lra_run_reporter_at(r->reporter, now->epoch + 1, now->step, detail);
}

static int end_update(run *r, const lra_started *last, const float status[4], lra_err *e)
{
    lra_run_state *now = &r->now;
    if (status[2] == 0) {
        now->skipped++;
        lra_detail("step %lld: loss %g, gradient norm %g: no update", (long long)now->step,
                   (double)status[0], (double)status[1]);
        if (status[3] >= MAX_SKIPPED) return fail_not_finite(r, last->batch, &last->step, e);
    } else {
        lra_sums_add(&now->sums, &r->total.sums);
        now->loss_sum += r->total.loss;
    }
    r->total = (step_sums){{0}, 0};
    r->part = 0, r->ahead--;
    now->step++;
    now->batch++;
    show(r);
    return 0;
}

/* Waits for the batch that was started first, and adds its results. */
static int finish_part(run *r, lra_err *e)
{
    float status[4];
    double start = lra_now();
    const lra_started *done = lra_session_finish(&r->session, status, e);
    if (!done) return LRA_FAILED;
    const lra_batch *b = done->batch;
    r->busy += lra_now() - start;
    r->flops += lra_plan_cost(r->session.plans[b->bucket].train[LRA_LAST_PART].plan).flops;
    r->examples += r->spec->batch;
    int64_t before = r->total.sums.n;
    lra_session_rows(r->spec, b, r->spec->batch, r->session.buckets.length[b->bucket],
                     r->session.output, r->rows);
    for (int64_t i = 0; i < r->spec->batch; i++) lra_sums_add(&r->total.sums, &r->rows[i]);
    r->total.loss += (double)status[0] * (double)(r->total.sums.n - before);
    bool last = ++r->part == lra_update_batches(r->spec);
    return last ? end_update(r, done, status, e) : 0;
}

/* Waits for all batches in flight, so that the state can be stored in a checkpoint. */
static int finish_all(run *r, lra_err *e)
{
    while (r->session.n_started > 0)
        if (finish_part(r, e) != 0) return LRA_FAILED;
    return 0;
}

static int start_part(run *r, const lra_batch *b, int64_t part, const lra_step *step, lra_err *e)
{
    if (r->spec->debug_nodes && lra_session_find_bad(&r->session, b, part, step, e) != 0)
        return lra_fail_in(e, "step %lld", (long long)(r->now.step + r->ahead));
    double start = lra_now();
    if (lra_session_start(&r->session, b, part, step, e) != 0) return LRA_FAILED;
    r->busy += lra_now() - start;
    return 0;
}

/* Starts an update, and collects its results; if the device works asynchronously, those of the
 * previous update. */
static int do_step(run *r, lra_err *e)
{
    int64_t parts = lra_update_batches(r->spec), at = r->now.step + r->ahead;
    int64_t first = (r->now.batch + r->ahead) * parts;
    lra_step step = {.seed = r->spec->seed,
                     .rate = (float)lra_schedule_rate(&r->schedule, &r->now.schedule, at)};
    for (int64_t part = 0; part < parts; part++) {
        step.step = (uint64_t)(at * parts + part);
        if (start_part(r, lra_loader_get(r->train, first + part), part, &step, e) != 0)
            return LRA_FAILED;
        r->ahead += part == parts - 1;
        if (r->session.n_started > lra_session_ahead(&r->session) && finish_part(r, e) != 0)
            return LRA_FAILED;
    }
    return 0;
}

static void say_epoch(const run *r, const lra_epoch_record *h)
{
    char rate[64], value[2][32];
    lra_metric_value_text(r->metric, h->train_value, value[0]);
    lra_metric_value_text(r->metric, h->val_value, value[1]);
    /* without a terminal there is no progress bar, so that every epoch is reported */
    void (*say)(const char *, ...) = lra_is_tty(stderr) ? lra_detail : lra_note;
    say("%s: epoch %lld of %lld: loss %.4f, %s %s, validation %s%s", r->spec->title,
        (long long)h->epoch + 1, (long long)r->schedule.epochs, h->train_loss, r->metric->text,
        value[0], value[1], speed(r, rate));
}

/* Evaluates the validation split: metric and mean loss. */
static int validate(run *r, double *loss, double *value, lra_err *e)
{
    lra_sums sums;
    lra_loader_epoch(r->val, r->now.epoch); /* draws new masks in every epoch */
    if (lra_session_evaluate(&r->session, r->val, &sums, NULL, NULL, e) != 0) return LRA_FAILED;
    *loss = sums.n ? sums.loss / (double)sums.n : 0;
    *value = r->metric->value(&sums);
    return 0;
}

static int end_epoch(run *r, lra_err *e)
{
    lra_run_state *now = &r->now;
    lra_epoch_record h = {.epoch = now->epoch,
                          .step = now->step,
                          .train_loss = train_loss(now),
                          .train_value = r->metric->value(&now->sums),
                          .rate = lra_schedule_rate(&r->schedule, &now->schedule, now->step - 1),
                          .seconds = now->seconds + session_seconds(r)};
    if (validate(r, &h.val_loss, &h.val_value, e) != 0) return LRA_FAILED;
    now->history = lra_resize(now->history, (size_t)(now->n_epochs + 1) * sizeof h);
    now->history[now->n_epochs++] = h;
    lra_schedule_epoch(&r->schedule, &now->schedule, now->epoch,
                       r->metric->lower ? -h.val_value : h.val_value);
    say_epoch(r, &h);
    if (now->best_epoch < 0 || lra_metric_better(r->metric, h.val_value, now->best_val)) {
        now->best_val = h.val_value;
        now->best_epoch = h.epoch;
        if (lra_best_write(r->spec, h.epoch, h.val_value, r->session.params, e) != 0)
            return LRA_FAILED;
    }
    if (lra_epoch_log_add(r->log_path, r->metric, r->chance, &h, &now->log_bytes, e) != 0)
        return LRA_FAILED;
    now->epoch++;
    now->batch = 0;
    now->loss_sum = 0;
    now->sums = (lra_sums){0};
    if (now->epoch < r->schedule.epochs) lra_loader_epoch(r->train, now->epoch);
    return save(r, e);
}

static bool must_stop(const run *r)
{
    return lra_stop_signal() ||
           (r->spec->stop_after && r->now.step + r->ahead >= r->spec->stop_after);
}

/* Untrained runs: selects the given weights as the best ones. */
static int select_start(run *r, lra_err *e)
{
    double loss;
    if (validate(r, &loss, &r->now.best_val, e) != 0) return LRA_FAILED;
    return lra_best_write(r->spec, r->now.best_epoch, r->now.best_val, r->session.params, e);
}

/* Returns true if the metric has not improved for `early_stop` epochs. */
static bool is_stuck(const run *r)
{
    const lra_run_state *now = &r->now;
    int64_t patience = r->spec->early_stop;
    return patience > 0 && now->epoch > 0 && now->epoch - 1 - now->best_epoch >= patience;
}

static int train_epochs(run *r, lra_err *e)
{
    lra_run_state *now = &r->now;
    while (now->epoch < r->schedule.epochs && !is_stuck(r)) {
        while (now->batch + r->ahead < r->schedule.steps_per_epoch) {
            if (must_stop(r)) return save(r, e) == 0 ? LRA_STOPPED : LRA_FAILED;
            if (do_step(r, e) != 0) return LRA_FAILED;
            bool due = lra_now() - r->saved > r->spec->checkpoint_every;
            if (due && save(r, e) != 0) return LRA_FAILED;
        }
        if (finish_all(r, e) != 0 || end_epoch(r, e) != 0) return LRA_FAILED;
    }
    if (now->epoch < r->schedule.epochs)
        lra_detail("%s: stopped after epoch %lld, the best was epoch %lld", r->spec->title,
                   (long long)now->epoch, (long long)now->best_epoch + 1);
    /* a stop signal after the last epoch needs no checkpoint: the state is saved already */
    return lra_stop_signal() ? LRA_STOPPED : 0;
}

/* Trains all epochs. A signal takes effect after the current step: a checkpoint is written, and the
 * run stops. */
static int train_all(run *r, lra_err *e)
{
    lra_signals_hold();
    int rc = train_epochs(r, e);
    lra_signals_release();
    return rc;
}

/* Appends the instruction level of this session to those of earlier sessions, if it differs. Vector
 * registers of another width sum in another order, so that results differ in the last bits, and
 * with them all later steps. */
static void join_level(run *r, bool resumed)
{
    const lra_origin *o = r->spec->origin;
    char *level = r->now.level;
    if (!o || !o->level || !o->device || strcmp(o->device, "cpu") != 0) return;
    if (!*level) {
        snprintf(level, sizeof r->now.level, "%s", o->level);
    } else if (!lra_level_same(lra_level_last(level), o->level, r->spec->type == LRA_BF16)) {
        if (resumed)
            lra_warn(
                "%s: resumes on another instruction level (%s, before: %s): results are equal up "
                "to rounding, not bit for bit",
                r->spec->title, o->level, level);
        size_t n = strlen(level);
        snprintf(level + n, sizeof r->now.level - n, "+%s", o->level);
    }
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int open_run(run *r, const lra_train_spec *s, lra_device *dev, lra_err *e)
{
    *r = (run){.spec = s, .schedule = s->schedule};
    r->started = r->saved = lra_now();
    r->now.schedule = lra_schedule_start();
    r->now.best_epoch = -1;
    const lra_objective *o = lra_session_objective(s);
    r->metric = lra_objective_metric(o, s->data);
    r->chance = lra_objective_chance(o, s->data, LRA_VAL_SPLIT);
    r->rows = lra_alloc_array((size_t)s->batch, sizeof *r->rows);
    r->log_path = lra_format("%s/log.jsonl", s->folder);
    if (lra_train_check(s, e) != 0) return LRA_USAGE;
    int rc = lra_session_open(&r->session, s, dev, e);
    if (rc != 0) return rc;
    if (lra_is_tty(stderr) || lra_terminal_level() == LRA_LOG_VERBOSE)
        r->peak = lra_plan_peak(lra_session_largest(&r->session));
    r->train = lra_session_loader(&r->session, LRA_TRAIN_SPLIT, true);
    r->val = lra_session_loader(&r->session, LRA_VAL_SPLIT, false);
    r->schedule.steps_per_epoch = lra_loader_batches(r->train) / lra_update_batches(r->spec);
    bool found = false;
    if (lra_folder_make(s->folder, e) != 0) return LRA_FAILED;
    if (lra_weights_read(s, r->session.params, LRA_INITIAL_WEIGHTS, NULL, e) != 0)
        return LRA_FAILED;
    if (lra_checkpoint_read(s, &r->now, r->session.params, &found, e) != 0) return LRA_FAILED;
    if (r->now.epoch > r->schedule.epochs || r->now.batch > r->schedule.steps_per_epoch)
        return lra_fail(e, "the checkpoint is at epoch %lld, batch %lld, beyond the end of the run",
                        (long long)r->now.epoch + 1, (long long)r->now.batch);
    join_level(r, found && r->now.step > 0);
    if (found) lra_note("%s: resumes at step %lld", s->title, (long long)r->now.step);
    if (r->now.epoch < r->schedule.epochs) lra_loader_epoch(r->train, r->now.epoch);
    int64_t steps = r->schedule.epochs * r->schedule.steps_per_epoch;
    r->progress = lra_progress_new(s->title, (double)steps);
    r->reporter = lra_run_reporter_new(s->folder, s->title, r->schedule.epochs, steps);
    return lra_epoch_log_cut(r->log_path, r->now.log_bytes, e);
}

static void close_run(run *r, bool finished)
{
    lra_progress_free(r->progress);
    lra_run_reporter_free(r->reporter, finished);
    lra_loader_free(r->train);
    lra_loader_free(r->val);
    lra_session_close(&r->session);
    lra_free(r->now.history);
    lra_free(r->rows);
    lra_free(r->log_path);
}

static void report(run *r, lra_train_report *out)
{
    lra_run_state *now = &r->now;
    out->history = now->history;
    now->history = NULL;
    out->n_epochs = now->n_epochs;
    out->best_val = now->best_val;
    memcpy(out->level, now->level, sizeof out->level);
    lra_network_spec network = lra_session_network(r->spec);
    double flops = lra_plan_cost(lra_session_largest(&r->session)).flops;
    out->training = (lra_training){
        .parameters = lra_network_parameters(r->spec->model, r->spec->model_config, &network),
        .steps = now->step,
        .skipped = now->skipped,
        .best_epoch = now->best_epoch + 1,
        .seconds = now->seconds + session_seconds(r),
        .step_flops = flops * (double)lra_update_batches(r->spec),
        .memory = lra_params_bytes(r->session.params) + lra_session_workspace(&r->session),
        .padding = lra_loader_padding(r->train)};
}

int lra_train(const lra_train_spec *s, lra_device *dev, lra_train_report *out, lra_err *e)
{
    run r;
    *out = (lra_train_report){0};
    int rc = open_run(&r, s, dev, e);
    if (rc == 0) rc = s->untrained ? select_start(&r, e) : train_all(&r, e);
    if (rc == 0) {
        out->hash = lra_params_hash(r.session.params);
        rc = lra_best_checkpoint_evaluate(&r.session, out, e);
    }
    if (rc == 0) report(&r, out);
    close_run(&r, rc == 0);
    if (rc < 0) lra_train_report_free(out);
    out->diverged = r.diverged;
    return rc;
}

void lra_train_report_free(lra_train_report *r)
{
    lra_free(r->history);
    lra_free(r->output);
    lra_free(r->row);
    lra_free(r->val_output);
    lra_free(r->train_row);
    *r = (lra_train_report){0};
}
