/* Prints the contents of result files (dump.h). Control characters in texts of files are
 * replaced. */
#include "reports/print/dump.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/terminal.h"
#include "reports/print/dump_parts.h"
#include "reports/results/result_metric.h"

static const char not_recorded[] = "not recorded";

/* ---- text ------------------------------------------------------------------------------------ */

static void show_values(lra_result *r, FILE *out)
{
    char value[2][32];
    const lra_metric *m = lra_result_metric(r);
    char *test = lra_result_text(r);
    lra_dump_line(out, "test", test);
    double val = lra_result_val_value(r);
    lra_dump_line(out, "validation",
                  isnan(val) ? not_recorded : lra_metric_value_text(m, val, value[0]));
    char *train = isnan(r->train_value)
                      ? lra_copy_text(not_recorded)
                      : lra_format("%s, loss %.4f, %" PRId64 " examples, best checkpoint",
                                   lra_metric_value_text(m, r->train_value, value[1]),
                                   r->train_loss, r->n_train);
    lra_dump_line(out, "training", train);
    lra_free(test);
    lra_free(train);
}

void lra_result_dump(lra_result *r, const char *called, FILE *out)
{
    char time[32];
    lra_dump_title(out, "", r->task, r->model, r->preset, r->seed, r->precision, r->unsealed);
    lra_dump_line(out, "name", called);
    show_values(r, out);
    fprintf(out,
            "  %-18s%" PRId64 " parameters, %" PRId64 " steps, best epoch %" PRId64 " of %" PRId64
            ", %s\n",
            "trained", r->training.parameters, r->training.steps, r->training.best_epoch,
            r->n_epochs, lra_time_text(time, r->training.seconds));
    char *text;
    for (int i = 0;; i++) {
        const char *name = lra_origin_line(&r->origin, i, &text);
        if (!name) break;
        lra_dump_line(out, name, text ? text : not_recorded);
        lra_free(text);
    }
    lra_dump_line(out, "run", r->run);
    if (r->user_label && *r->user_label) lra_dump_line(out, "label", r->user_label);
    lra_dump_line(out, "data", r->fingerprint);
    lra_dump_lines(out, "settings", r->config);
    lra_dump_lines(out, "deviations", r->deviations);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Converts "key=value" lines to a JSON object {"key": "value"}. */
static json_t *json_settings(const char *text)
{
    json_t *all = json_object();
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n"), k = strcspn(at, "=\n");
        char *key = lra_make_printable(lra_format("%.*s", (int)k, at));
        char *value = k < n ? lra_format("%.*s", (int)(n - k - 1), at + k + 1) : lra_copy_text("");
        json_object_set_new(all, key, lra_dump_text(value));
        lra_free(key);
        lra_free(value);
        at += n + (at[n] == '\n');
    }
    return all;
}

static json_t *json_lines(const char *text)
{
    json_t *all = json_array();
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, "\n");
        char *one = lra_format("%.*s", (int)n, at);
        json_array_append_new(all, lra_dump_text(one));
        lra_free(one);
        at += n + (at[n] == '\n');
    }
    return all;
}

static json_t *json_origin(const lra_origin *o)
{
    json_t *all = json_object();
    char *text;
    for (int i = 0;; i++) {
        if (!lra_origin_line(o, i, &text)) return all;
        const char *key = lra_origin_key(i);
        json_object_set_new(all, key,
                            text && strcmp(key, "threads") == 0 ? json_integer(o->threads)
                                                                : lra_dump_text(text));
        lra_free(text);
    }
}

static json_t *json_history(const lra_result *r)
{
    static const char *const names[LRA_HISTORY_COLUMNS] = {
        "step", "train_loss", "train_value", "val_loss", "val_value", "rate", "seconds"};
    json_t *all = json_array();
    for (int64_t i = 0; i < r->n_epochs; i++) {
        const double *row = r->history + i * LRA_HISTORY_COLUMNS;
        json_t *epoch = json_object();
        json_object_set_new(epoch, "epoch", json_integer(i + 1));
        for (int c = 0; c < LRA_HISTORY_COLUMNS; c++)
            json_object_set_new(epoch, names[c],
                                c == LRA_HISTORY_STEP && row[c] >= 0 && row[c] < 9e15
                                    ? json_integer((json_int_t)row[c])
                                    : lra_dump_number(row[c]));
        json_array_append_new(all, epoch);
    }
    return all;
}

static void set_texts(json_t *j, const lra_result *r)
{
    const char *const names[] = {"task", "model",       "preset", "precision",
                                 "run",  "fingerprint", "metric"};
    const char *const texts[] = {r->task,
                                 r->model,
                                 r->preset,
                                 r->precision,
                                 r->run,
                                 r->fingerprint,
                                 lra_result_metric(r)->name};
    for (int i = 0; i < 7; i++) json_object_set_new(j, names[i], lra_dump_text(texts[i]));
}

static void set_whole(json_t *j, const lra_result *r)
{
    const lra_training *t = &r->training;
    const char *const names[] = {"seed",       "kernel",     "reach",     "max_length",
                                 "grid",       "parameters", "steps",     "skipped",
                                 "best_epoch", "epochs",     "test_rows", "classes"};
    const int64_t whole[] = {r->seed,       r->kernel,     r->reach, r->max_length,
                             r->grid,       t->parameters, t->steps, t->skipped,
                             t->best_epoch, r->n_epochs,   r->n,     r->n_classes};
    for (int i = 0; i < 12; i++) json_object_set_new(j, names[i], json_integer(whole[i]));
    json_object_set_new(j, "val_rows", r->n_val ? json_integer(r->n_val) : json_null());
    json_object_set_new(j, "train_rows", r->n_train ? json_integer(r->n_train) : json_null());
}

static json_t *json_result(lra_result *r, const char *name)
{
    lra_estimate value = lra_results_value(&r, 1);
    const char *const names[] = {"value",       "value_lo",   "value_hi", "chance",     "val_value",
                                 "train_value", "train_loss", "seconds",  "step_flops", "padding"};
    const double reals[] = {value.value,
                            value.lo,
                            value.hi,
                            lra_result_chance(r),
                            lra_result_val_value(r),
                            r->train_value,
                            r->train_loss,
                            r->training.seconds,
                            r->training.step_flops,
                            r->training.padding};
    json_t *j = json_object();
    set_texts(j, r);
    set_whole(j, r);
    json_object_set_new(j, "lower_is_better", json_boolean(lra_result_metric(r)->lower));
    for (int i = 0; i < 10; i++) json_object_set_new(j, names[i], lra_dump_number(reals[i]));
    json_object_set_new(j, "unsealed", json_boolean(r->unsealed));
    json_object_set_new(j, "name", lra_dump_text(name));
    json_object_set_new(
        j, "label", r->user_label && *r->user_label ? lra_dump_text(r->user_label) : json_null());
    json_object_set_new(j, "origin", json_origin(&r->origin));
    json_object_set_new(j, "config", json_settings(r->config));
    json_object_set_new(j, "task_parameters", json_settings(r->task_parameters));
    json_object_set_new(j, "deviations", json_lines(r->deviations));
    json_object_set_new(j, "history", json_history(r));
    return j;
}

void lra_results_dump_json(lra_result *const *list, char *const *name, int n,
                           lra_probe_result *const *probes, int n_probes, FILE *out)
{
    json_t *results = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(results, json_result(list[i], name[i]));
    json_t *all = json_pack("{s:i,s:o}", "schema", 1, "results", results);
    json_t *measured = n_probes ? json_array() : NULL;
    for (int i = 0; i < n_probes; i++)
        json_array_append_new(measured, lra_probe_result_json(probes[i]));
    if (measured) json_object_set_new(all, "probes", measured);
    char *text = json_dumps(all, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(all);
}
