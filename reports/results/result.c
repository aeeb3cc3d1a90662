/* Reads, writes and checks result files (result.h). */
#include "reports/results/result.h"

#include <math.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "reports/results/check_names.h"
#include "reports/results/check_numbers.h"
#include "reports/results/attribute_schema.h"
#include "reports/results/load_files.h"

enum { SUMS = 5, MAX_ROWS = 1 << 26, MAX_CLASSES = 1 << 20 };

/* Attributes of the file's root, with their members and minimum values. */
static const lra_attribute fields[] = {
    {LRA_MEMBER(lra_result, task), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, model), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, preset), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, precision), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, fingerprint), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, run), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_result, seed), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_result, kernel), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_result, reach), LRA_ATTRIBUTE_INT, -1},
    {LRA_MEMBER(lra_result, max_length), LRA_ATTRIBUTE_INT, 1},
    {LRA_NESTED_MEMBER(lra_result, training, parameters), LRA_ATTRIBUTE_INT, 0},
    {LRA_NESTED_MEMBER(lra_result, training, steps), LRA_ATTRIBUTE_INT, 0},
    {LRA_NESTED_MEMBER(lra_result, training, skipped), LRA_ATTRIBUTE_INT, 0},
    {LRA_NESTED_MEMBER(lra_result, training, best_epoch), LRA_ATTRIBUTE_INT,
     -1 /* files of format 1 contain -1 */},
    {LRA_NESTED_MEMBER(lra_result, training, seconds), LRA_ATTRIBUTE_REAL, 0},
    {LRA_NESTED_MEMBER(lra_result, training, step_flops), LRA_ATTRIBUTE_REAL, 0},
    {LRA_NESTED_MEMBER(lra_result, training, padding), LRA_ATTRIBUTE_REAL, 0}};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Tolerance for losses below 0 due to rounding. */
static const double ROUNDING = 1e-3;

/* Chance must be finite: in [0, 1] for accuracy, and at least 0 if smaller values are better. It is
 * NaN for rows without labels. */
static int check_chance(const lra_result *r, lra_err *e)
{
    const lra_metric *m = lra_result_metric(r);
    bool accuracy = strcmp(m->name, "accuracy") == 0;
    if (strcmp(m->name, "none") == 0) return 0;
    if (accuracy) return lra_check_number("chance", r->chance, 1, e);
    if (isfinite(r->chance) && !(m->lower && r->chance < 0)) return 0;
    return lra_fail(e, "'chance' is %g, expected a number%s", r->chance,
                    m->lower ? " of at least 0" : "");
}

/* Losses must be at least 0. NaN means not recorded. Losses of an epoch can be infinite if the run
 * diverged. */
static int check_losses(const lra_result *r, lra_err *e)
{
    static const int column[] = {LRA_HISTORY_TRAIN_LOSS, LRA_HISTORY_VAL_LOSS};
    if (r->n_classes == 0 && r->n > 0 && check_chance(r, e) != 0) return LRA_FAILED;
    if (r->n_train > 0 && (isinf(r->train_loss) || r->train_loss < -ROUNDING))
        return lra_fail(e, "'train_loss' is %g, expected a number of at least 0", r->train_loss);
    for (int64_t i = 0; i < r->n_epochs; i++)
        for (int k = 0; k < 2; k++) {
            double loss = r->history[i * LRA_HISTORY_COLUMNS + column[k]];
            if (loss < -ROUNDING)
                return lra_fail(e, "'/history': epoch %lld has a loss of %g", (long long)i + 1,
                                loss);
        }
    return 0;
}

/* Checks the numbers of a result, before writing and after reading. */
static int check_numbers(const lra_result *r, lra_err *e)
{
    bool share = strcmp(lra_result_metric(r)->name, "accuracy") == 0;
    int rc = lra_check_number("seconds", r->training.seconds, 1e12, e);
    if (rc == 0) rc = lra_check_number("step_flops", r->training.step_flops, 1e30, e);
    if (rc == 0) rc = lra_check_number("padding", r->training.padding, 1, e);
    if (rc == 0 && share && r->n_train > 0 && !isnan(r->train_value))
        rc = lra_check_number("train_value", r->train_value, 1, e);
    if (rc == 0) rc = lra_check_labels("/test/logits", r->n, r->n_classes, r->logits, e);
    if (rc == 0) rc = lra_check_labels("/val/logits", r->n_val, r->n_classes, r->val_logits, e);
    if (rc == 0) rc = lra_check_labels("/test/number", r->n, r->n_numbers, r->number, e);
    for (int64_t i = 0; rc == 0 && r->row && i < r->n; i++)
        if (!isfinite(r->row[i].loss + r->row[i].target + r->row[i].square))
            rc = lra_fail(e, "'/test/rows': row %lld of %lld holds sums that are no numbers",
                          (long long)i + 1, (long long)r->n);
    return rc == 0 ? check_losses(r, e) : rc;
}

/* ---- write ----------------------------------------------------------------------------------- */

static int write_fields(const lra_result *r, lra_h5 *f, lra_err *e)
{
    int rc = lra_attributes_write(f, fields, N_FIELDS, r, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/config", r->config, e);
    if (rc == 0 && r->task_parameters)
        rc = lra_h5_put_text(f, "/task_parameters", r->task_parameters, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/deviations", r->deviations, e);
    if (rc == 0) rc = lra_origin_write(f, &r->origin, e);
    if (rc == 0 && r->grid > 0) rc = lra_h5_set_int(f, "/", "grid", r->grid, e);
    if (rc == 0 && r->user_label && *r->user_label)
        rc = lra_h5_set_text(f, "/", "label", r->user_label, e);
    if (rc == 0 && r->paper && *r->paper) rc = lra_h5_set_text(f, "/", "paper", r->paper, e);
    if (rc == 0 && r->training.memory > 0)
        rc = lra_h5_set_real(f, "/", "memory", r->training.memory, e);
    if (rc == 0 && r->ladder && *r->ladder) rc = lra_h5_set_text(f, "/", "ladder", r->ladder, e);
    if (rc == 0 && r->sources && *r->sources)
        rc = lra_h5_set_text(f, "/", "sources", r->sources, e);
    return rc;
}

static int write_metric(const lra_result *r, lra_h5 *f, lra_err *e)
{
    const lra_metric *m = lra_result_metric(r);
    int rc = lra_h5_set_text(f, "/", "metric", m->name, e);
    if (rc == 0) rc = lra_h5_set_int(f, "/", "lower_is_better", m->lower, e);
    if (rc == 0) rc = lra_h5_set_real(f, "/", "chance", lra_result_chance(r), e);
    return rc == 0 ? lra_h5_set_int(f, "/", "batch", r->batch, e) : rc;
}

static const char sums_columns[] = "asked right loss target square";

static int write_rows(const lra_result *r, lra_h5 *f, lra_err *e)
{
    const int64_t numbers[] = {r->n, r->n_numbers};
    double *v = lra_alloc_array((size_t)r->n * SUMS + 1, sizeof *v);
    for (int64_t i = 0; i < r->n; i++) {
        const lra_sums *s = &r->row[i];
        const double row[SUMS] = {(double)s->n, (double)s->right, s->loss, s->target, s->square};
        memcpy(v + i * SUMS, row, sizeof row);
    }
    int rc = lra_h5_put_table(f, "/test/rows", sums_columns, r->n, v, e);
    lra_free(v);
    if (rc != 0 || r->n_numbers == 0) return rc;
    rc = lra_h5_put(f, "/test/number", LRA_H5_F32, 2, numbers, r->number, e);
    return rc == 0 ? lra_h5_put(f, "/test/target", LRA_H5_F32, 2, numbers, r->target, e) : rc;
}

/* Writes the predictions of the best weights on the validation split and on training rows. */
static int write_others(const lra_result *r, lra_h5 *f, lra_err *e)
{
    const int64_t logits[] = {r->n_val, r->n_classes};
    int rc = 0;
    if (r->n_val) rc = lra_h5_put(f, "/val/logits", LRA_H5_F32, 2, logits, r->val_logits, e);
    if (r->n_val && rc == 0)
        rc = lra_h5_put(f, "/val/label", LRA_H5_I32, 1, &r->n_val, r->val_label, e);
    if (rc != 0 || !r->n_train) return rc;
    rc = lra_h5_set_int(f, "/", "train_rows", r->n_train, e);
    if (rc == 0) rc = lra_h5_set_real(f, "/", "train_value", r->train_value, e);
    if (rc == 0) rc = lra_h5_set_real(f, "/", "train_loss", r->train_loss, e);
    if (rc == 0 && r->train_correct)
        rc = lra_h5_put(f, "/train/correct", LRA_H5_U8, 1, &r->n_train, r->train_correct, e);
    return rc;
}

static int write_arrays(const lra_result *r, lra_h5 *f, lra_err *e)
{
    const int64_t logits[] = {r->n, r->n_classes};
    int rc = lra_history_write(f, r->n_epochs, r->history, e);
    if (r->n_classes == 0) return rc == 0 ? write_rows(r, f, e) : rc;
    if (rc == 0) rc = lra_h5_put(f, "/test/logits", LRA_H5_F32, 2, logits, r->logits, e);
    if (rc == 0) rc = lra_h5_put(f, "/test/label", LRA_H5_I32, 1, &r->n, r->label, e);
    for (int b = 0; b < r->n_baselines && rc == 0; b++) {
        char *path = lra_format("/baseline/%s", r->baseline_name[b]);
        rc = lra_h5_put(f, path, LRA_H5_I32, 1, &r->n, r->baseline[b], e);
        lra_free(path);
    }
    return rc;
}

int lra_result_write(const char *path, const lra_result *r, lra_err *e)
{
    if (check_numbers(r, e) != 0) return lra_fail_in(e, "cannot write '%s'", path);
    lra_h5 *f = lra_h5_create(path, "result", e);
    if (!f) return LRA_FAILED;
    if (write_fields(r, f, e) == 0 && write_metric(r, f, e) == 0 && write_arrays(r, f, e) == 0 &&
        write_others(r, f, e) == 0)
        return lra_h5_commit(f, e);
    lra_h5_close(f);
    return LRA_FAILED;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int read_fields(lra_result *r, lra_h5 *f, lra_err *e)
{
    int rc = lra_attributes_read(f, fields, N_FIELDS, r, e);
    char **texts[] = {&r->config, &r->deviations};
    const char *const paths[] = {"/config", "/deviations"};
    for (int i = 0; i < 2 && rc == 0; i++) {
        *texts[i] = lra_h5_get_text(f, paths[i], e);
        rc = *texts[i] ? 0 : LRA_FAILED;
    }
    if (rc == 0) {
        r->task_parameters = lra_h5_has(f, "/task_parameters")
                                 ? lra_h5_get_text(f, "/task_parameters", e)
                                 : lra_copy_text("");
        rc = r->task_parameters ? 0 : LRA_FAILED;
    }
    if (rc == 0) rc = lra_origin_read(f, &r->origin, e);
    if (rc == 0) {
        r->ladder = lra_h5_has_attr(f, "/", "ladder") ? lra_h5_attr_text(f, "/", "ladder", e)
                                                      : lra_copy_text("");
        r->sources = lra_h5_has_attr(f, "/", "sources") ? lra_h5_attr_text(f, "/", "sources", e)
                                                        : lra_copy_text("");
        rc = r->ladder && r->sources ? 0 : LRA_FAILED;
    }
    if (rc == 0) {
        r->user_label = lra_h5_has_attr(f, "/", "label") ? lra_h5_attr_text(f, "/", "label", e)
                                                         : lra_copy_text("");
        rc = r->user_label ? lra_check_label(r->user_label, e) : LRA_FAILED;
    }
    if (rc == 0) {
        r->paper = lra_h5_has_attr(f, "/", "paper") ? lra_h5_attr_text(f, "/", "paper", e)
                                                    : lra_copy_text("");
        rc = r->paper ? 0 : LRA_FAILED;
    }
    if (rc == 0 && lra_h5_has_attr(f, "/", "memory")) {
        rc = lra_h5_get_real(f, "/", "memory", &r->training.memory, e);
        if (rc == 0 && !(r->training.memory >= 0 && r->training.memory < 1e18))
            rc = lra_fail(e, "'memory' is %g, expected bytes", r->training.memory);
    }
    if (rc == 0 && lra_h5_has_attr(f, "/", "grid")) {
        rc = lra_h5_get_int(f, "/", "grid", &r->grid, e);
        if (rc == 0 && (r->grid < 0 || r->grid > r->max_length))
            rc = lra_fail(e, "'grid' is %lld, expected 0 to %lld", (long long)r->grid,
                          (long long)r->max_length);
    }
    return rc;
}

/* Checks the best epoch; format 1 counts it from 0, later formats from 1. */
static int check_epochs(lra_result *r, const lra_h5 *f, lra_err *e)
{
    if (lra_h5_format(f) == 1) r->training.best_epoch++;
    if (r->training.best_epoch >= 0 && r->training.best_epoch <= r->n_epochs) return 0;
    return lra_fail(e, "epoch %lld was selected of %lld", (long long)r->training.best_epoch,
                    (long long)r->n_epochs);
}

/* Reads metric, chance and batch. Older files do not contain them; their metric is accuracy. */
static int read_metric(lra_result *r, lra_h5 *f, lra_err *e)
{
    r->chance = NAN;
    r->metric = lra_metric_at(0);
    if (!lra_h5_has_attr(f, "/", "metric")) return 0;
    char *name = lra_h5_attr_text(f, "/", "metric", e);
    r->metric = name ? lra_metric_find(name, e) : NULL;
    lra_free(name);
    int rc = r->metric ? lra_h5_get_real(f, "/", "chance", &r->chance, e) : LRA_FAILED;
    if (rc == 0) rc = check_chance(r, e);
    if (rc == 0) rc = lra_h5_get_int(f, "/", "batch", &r->batch, e);
    if (rc == 0 && (r->batch < 0 || r->batch > MAX_ROWS))
        rc = lra_fail(e, "'batch' is %lld, expected 0 to %d", (long long)r->batch, MAX_ROWS);
    return rc;
}

static int set_row(lra_sums *s, const double *v, int64_t i, lra_err *e)
{
    if (!(v[0] >= 0 && v[0] < 9e15 && v[1] >= 0 && v[1] <= v[0]))
        return lra_fail(e, "'/test/rows': row %lld has %g right answers of %g", (long long)i, v[1],
                        v[0]);
    *s = (lra_sums){(int64_t)v[0], (int64_t)v[1], v[2], v[3], v[4]};
    return 0;
}

static int read_rows(lra_result *r, lra_h5 *f, lra_err *e)
{
    double *v;
    int rc = lra_h5_get_table(f, "/test/rows", sums_columns, &r->n, &v, e);
    if (rc == 0 && (r->n < 1 || r->n > MAX_ROWS))
        rc = lra_fail(e, "'/test/rows' has %lld rows, expected 1 to %d", (long long)r->n, MAX_ROWS);
    if (rc == 0) r->row = lra_try_array(r->n, sizeof *r->row, "/test/rows", e);
    if (rc == 0 && !r->row) rc = LRA_FAILED;
    for (int64_t i = 0; i < r->n && rc == 0; i++) rc = set_row(&r->row[i], v + i * SUMS, i, e);
    lra_free(v);
    return rc;
}

static int read_numbers(lra_result *r, lra_h5 *f, lra_err *e)
{
    lra_h5_info info;
    float **to[] = {&r->number, &r->target};
    static const char *const path[] = {"/test/number", "/test/target"};
    if (!lra_h5_has(f, path[0])) return 0;
    if (lra_h5_find(f, path[0], &info, e) != 0) return LRA_FAILED;
    if (info.rank != 2 || info.dims[0] != r->n || info.dims[1] < 1 || info.dims[1] > MAX_CLASSES)
        return lra_fail(e, "'%s' has no row for each of '/test/rows'", path[0]);
    r->n_numbers = info.dims[1];
    int rc = 0;
    for (int k = 0; k < 2 && rc == 0; k++) {
        *to[k] = lra_try_array(info.n, sizeof **to[k], path[k], e);
        rc = *to[k] ? lra_h5_get(f, path[k], LRA_H5_F32, 2, info.dims, *to[k], e) : LRA_FAILED;
    }
    return rc;
}

/* Reads GROUP/logits and GROUP/label. n_classes: expected number of classes, 0 = any. */
static int read_classes(lra_h5 *f, const char *group, int64_t *n, int64_t *n_classes,
                        float **logits, int32_t **label, lra_err *e)
{
    lra_h5_info info;
    char *paths[] = {lra_format("%s/logits", group), lra_format("%s/label", group)};
    int rc = lra_h5_find(f, paths[0], &info, e);
    if (rc == 0 && (info.rank != 2 || info.dims[0] < 1 || info.dims[0] > MAX_ROWS ||
                    info.dims[1] < 1 || info.dims[1] > MAX_CLASSES))
        rc = lra_fail(e, "'%s' is not a table of acceptable size", paths[0]);
    else if (rc == 0 && *n_classes && info.dims[1] != *n_classes)
        rc = lra_fail(e, "'%s' has %lld classes, expected %lld", paths[0], (long long)info.dims[1],
                      (long long)*n_classes);
    else if (rc == 0 && info.type != LRA_H5_F32)
        rc = lra_fail(e, "'%s' does not hold float32", paths[0]);
    if (rc == 0) {
        *n = info.dims[0], *n_classes = info.dims[1];
        *logits = lra_try_array(info.n, sizeof **logits, paths[0], e);
        *label = *logits ? lra_try_array(*n, sizeof **label, paths[1], e) : NULL;
        rc = *label ? lra_h5_get(f, paths[0], LRA_H5_F32, 2, info.dims, *logits, e) : LRA_FAILED;
    }
    if (rc == 0) rc = lra_h5_get(f, paths[1], LRA_H5_I32, 1, n, *label, e);
    for (int64_t i = 0; rc == 0 && i < *n; i++)
        if ((*label)[i] < 0 || (*label)[i] >= *n_classes)
            rc = lra_fail(e, "'%s': %d, expected 0 to %lld", paths[1], (*label)[i],
                          (long long)*n_classes - 1);
    for (int k = 0; k < 2; k++) lra_free(paths[k]);
    return rc;
}

static int read_test(lra_result *r, lra_h5 *f, lra_err *e)
{
    if (strcmp(r->metric->name, "accuracy") != 0)
        return read_rows(r, f, e) == 0 ? read_numbers(r, f, e) : LRA_FAILED;
    int rc = read_classes(f, "/test", &r->n, &r->n_classes, &r->logits, &r->label, e);
    if (rc != 0 || !lra_h5_has(f, "/val/logits")) return rc;
    return read_classes(f, "/val", &r->n_val, &r->n_classes, &r->val_logits, &r->val_label, e);
}

/* Reads the predictions on training rows; older files do not contain them. */
static int read_training(lra_result *r, lra_h5 *f, lra_err *e)
{
    r->train_value = r->train_loss = NAN;
    if (!lra_h5_has_attr(f, "/", "train_rows")) return 0;
    int rc = lra_h5_get_int(f, "/", "train_rows", &r->n_train, e);
    if (rc == 0 && (r->n_train < 1 || r->n_train > MAX_ROWS))
        rc = lra_fail(e, "'train_rows' is %lld, expected 1 to %d", (long long)r->n_train, MAX_ROWS);
    if (rc == 0) rc = lra_h5_get_real(f, "/", "train_value", &r->train_value, e);
    if (rc == 0) rc = lra_h5_get_real(f, "/", "train_loss", &r->train_loss, e);
    if (rc != 0 || !lra_h5_has(f, "/train/correct")) return rc;
    r->train_correct = lra_try_array(r->n_train, 1, "/train/correct", e);
    if (!r->train_correct) return LRA_FAILED;
    rc = lra_h5_get(f, "/train/correct", LRA_H5_U8, 1, &r->n_train, r->train_correct, e);
    for (int64_t i = 0; rc == 0 && i < r->n_train; i++)
        if (r->train_correct[i] > 1)
            rc = lra_fail(e, "'/train/correct': %d, expected 0 or 1", r->train_correct[i]);
    return rc;
}

static int read_baselines(lra_result *r, lra_h5 *f, lra_err *e)
{
    char **names;
    if (!lra_h5_has(f, "/baseline")) return 0;
    int n = lra_h5_list(f, "/baseline", &names, e), rc = n < 0 ? LRA_FAILED : 0;
    if (n > LRA_MAX_BASELINES) rc = lra_fail(e, "%d baselines, at most %d", n, LRA_MAX_BASELINES);
    for (int b = 0; b < n && rc == 0; b++) {
        char *path = lra_format("/baseline/%s", names[b]);
        r->baseline[b] = lra_try_array(r->n, sizeof(int32_t), path, e);
        r->baseline_name[b] = lra_copy_text(names[b]);
        r->n_baselines++;
        rc = r->baseline[b] ? lra_h5_get(f, path, LRA_H5_I32, 1, &r->n, r->baseline[b], e)
                            : LRA_FAILED;
        for (int64_t i = 0; i < r->n && rc == 0; i++)
            if (r->baseline[b][i] < 0 || r->baseline[b][i] >= r->n_classes)
                rc = lra_fail(e, "'%s': %d, expected 0 to %lld", path, r->baseline[b][i],
                              (long long)r->n_classes - 1);
        lra_free(path);
    }
    if (n > 0) lra_h5_free_names(names, n);
    return rc;
}

static int check_texts(const lra_result *r, lra_err *e)
{
    const lra_named_text lines[] = {{"ladder", r->ladder},
                                    {"sources", r->sources},
                                    {"paper", r->paper},
                                    {"/deviations", r->deviations}};
    int rc = lra_check_run(r->task, r->model, r->preset, r->precision, r->fingerprint, r->run, e);
    if (rc == 0) rc = lra_check_lines(sizeof lines / sizeof *lines, lines, e);
    if (rc == 0) rc = lra_check_origin(&r->origin, e);
    if (rc == 0) rc = lra_check_settings("/config", r->config, e);
    if (rc == 0) rc = lra_check_settings("/task_parameters", r->task_parameters, e);
    return rc == 0 ? lra_check_each("/baseline", r->n_baselines, r->baseline_name, e) : rc;
}

lra_result *lra_result_read(const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "result", e);
    if (!f) return NULL;
    lra_result *r = lra_alloc(sizeof *r);
    int rc = read_fields(r, f, e);
    if (rc == 0) rc = read_metric(r, f, e);
    if (rc == 0) rc = lra_history_read(f, &r->n_epochs, &r->history, e);
    if (rc == 0) rc = check_epochs(r, f, e);
    if (rc == 0) rc = read_test(r, f, e);
    if (rc == 0) rc = read_training(r, f, e);
    if (rc == 0) rc = read_baselines(r, f, e);
    if (rc == 0) rc = lra_h5_intact(f, e);
    if (rc == 0) rc = check_texts(r, e);
    if (rc == 0) rc = check_numbers(r, e);
    r->unsealed = !lra_h5_sealed(f);
    lra_h5_close(f);
    if (rc == 0) return r;
    lra_fail_in(e, "cannot read '%s'", path);
    lra_result_free(r);
    return NULL;
}

void lra_result_free(lra_result *r)
{
    if (!r) return;
    lra_attributes_free(fields, N_FIELDS, r);
    lra_free(r->config);
    lra_free(r->task_parameters);
    lra_origin_free(&r->origin);
    lra_free(r->deviations);
    lra_free(r->user_label);
    lra_free(r->paper);
    lra_free(r->ladder);
    lra_free(r->sources);
    lra_free(r->history);
    lra_free(r->logits);
    lra_free(r->label);
    lra_free(r->row);
    lra_free(r->number);
    lra_free(r->target);
    lra_free(r->val_logits);
    lra_free(r->val_label);
    lra_free(r->train_correct);
    for (int b = 0; b < r->n_baselines; b++) {
        lra_free(r->baseline_name[b]);
        lra_free(r->baseline[b]);
    }
    lra_free(r);
}

bool lra_result_selected_on_test(const lra_result *r)
{
    static const char line[] = "task.val=test\n";
    const char *at = strstr(r->config, line);
    return at && (at == r->config || at[-1] == '\n');
}

/* ---- many ------------------------------------------------------------------------------------ */

static void *read_result(const char *path, const char *file, lra_err *e)
{
    (void)file;
    return lra_result_read(path, e);
}

static void free_result(void *r)
{
    lra_result_free(r);
}

static char *cell_of(const void *item)
{
    static const char *const seed[] = {"seed="};
    const lra_result *r = item;
    char *config = lra_identity_text(r->task, r->preset, r->precision, r->fingerprint, r->config, 1,
                                     seed);
    char *cell = lra_format("%s seed %lld %s", r->model, (long long)r->seed, config);
    lra_free(config);
    return cell;
}

/* Hash of the predictions of the best weights on the test split. */
static uint64_t digest_of(const void *item)
{
    const lra_result *r = item;
    const size_t rows = (size_t)r->n;
    const uint64_t part[] = {
        rows,
        r->logits ? lra_hash64(r->logits, rows * (size_t)r->n_classes * sizeof *r->logits) : 0,
        r->label ? lra_hash64(r->label, rows * sizeof *r->label) : 0,
        r->row ? lra_hash64(r->row, rows * sizeof *r->row) : 0,
        r->number ? lra_hash64(r->number, rows * (size_t)r->n_numbers * sizeof *r->number) : 0};
    return lra_hash64(part, sizeof part);
}

int lra_results_load(int n, const char *const *place, lra_result ***list, lra_err *e)
{
    static const lra_file_kind kind = {"result.h5", read_result, free_result, cell_of, digest_of};
    void **items;
    int n_items = lra_files_load(&kind, n, place, &items, e);
    *list = (lra_result **)items;
    return n_items;
}

void lra_results_free(lra_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_result_free(list[i]);
    lra_free(list);
}
