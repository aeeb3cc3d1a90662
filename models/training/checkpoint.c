/* Writes and reads checkpoints. */
#include "models/training/checkpoint.h"

#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "models/training/epoch_log.h"
#include "models/training/objective.h"
#include "models/training/session.h"

/* Integers and reals of a run's state, by name. older: the name in files of versions that had no
 * metric but accuracy; NULL: the same name; "": those files lack the value, which is 0. */
typedef struct {
    const char *name;
    int64_t *value;
} whole;
typedef struct {
    const char *name, *older;
    double *value;
} fraction;
enum { N_WHOLE = 9, N_FRACTION = 8 };

static void list_fields(lra_run_state *s, whole w[N_WHOLE], fraction f[N_FRACTION])
{
    const whole all[N_WHOLE] = {{"epoch", &s->epoch},
                                {"batch", &s->batch},
                                {"step", &s->step},
                                {"skipped", &s->skipped},
                                {"schedule_bad", &s->schedule.bad},
                                {"correct", &s->sums.right},
                                {"seen", &s->sums.n},
                                {"best_epoch", &s->best_epoch},
                                {"log_bytes", &s->log_bytes}};
    const fraction reals[N_FRACTION] = {{"schedule_plateau", NULL, &s->schedule.plateau},
                                        {"schedule_best", NULL, &s->schedule.best},
                                        {"loss_sum", NULL, &s->loss_sum},
                                        {"measured_loss_sum", "", &s->sums.loss},
                                        {"target_sum", "", &s->sums.target},
                                        {"square_sum", "", &s->sums.square},
                                        {"best_val", "best_val_accuracy", &s->best_val},
                                        {"seconds", NULL, &s->seconds}};
    memcpy(w, all, sizeof all);
    memcpy(f, reals, sizeof reals);
}

static int read_fraction(lra_h5 *f, const fraction *r, lra_err *e)
{
    bool old = r->older && !lra_h5_has_attr(f, "/", r->name);
    const char *name = old ? r->older : r->name;
    *r->value = 0;
    return *name ? lra_h5_get_real(f, "/", name, r->value, e) : 0;
}

static char *file_of(const lra_train_spec *s, const char *name)
{
    return lra_format("%s/%s", s->folder, name);
}

/* ---- history --------------------------------------------------------------------------------- */

static int write_history(const lra_run_state *now, lra_h5 *f, lra_err *e)
{
    double *v = lra_alloc_array((size_t)now->n_epochs * LRA_HISTORY_COLUMNS + 1, sizeof *v);
    for (int64_t i = 0; i < now->n_epochs; i++)
        lra_epoch_values(&now->history[i], v + i * LRA_HISTORY_COLUMNS);
    int rc = lra_history_write(f, now->n_epochs, v, e);
    lra_free(v);
    return rc;
}

static int read_history(lra_run_state *now, lra_h5 *f, lra_err *e)
{
    int64_t n;
    double *v;
    int rc = lra_history_read(f, &n, &v, e);
    for (int64_t i = 0; i < n && rc == 0; i++)
        if (!(v[i * LRA_HISTORY_COLUMNS] >= 0 && v[i * LRA_HISTORY_COLUMNS] < 9e15))
            rc = lra_fail(e, "'/history': step %g of epoch %lld", v[i * LRA_HISTORY_COLUMNS],
                          (long long)i + 1);
    now->n_epochs = rc == 0 ? n : 0;
    now->history = lra_alloc_array((size_t)now->n_epochs + 1, sizeof *now->history);
    for (int64_t i = 0; i < now->n_epochs; i++) {
        const double *r = v + i * LRA_HISTORY_COLUMNS;
        now->history[i] = (lra_epoch_record){i, (int64_t)r[0], r[1], r[2], r[3], r[4], r[5], r[6]};
    }
    lra_free(v);
    return rc;
}

/* Writes the identity of the run: configuration, fingerprint of the data, label, origin. */
static int write_identity(const lra_train_spec *s, const char *level, lra_h5 *f, lra_err *e)
{
    int rc = lra_h5_put_text(f, "/config", s->config, e);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "fingerprint", s->data->fingerprint, e);
    if (rc == 0 && s->label && *s->label) rc = lra_h5_set_text(f, "/", "label", s->label, e);
    if (rc != 0 || !s->origin) return rc;
    lra_origin now;
    char date[32];
    lra_origin_copy(&now, s->origin);
    lra_free(now.date);
    now.date = lra_copy_text(lra_date_text(date, time(NULL)));
    if (*level) {
        lra_free(now.level);
        now.level = lra_copy_text(level);
    }
    rc = lra_origin_write(f, &now, e);
    lra_origin_free(&now);
    return rc;
}

/* ---- checkpoint ------------------------------------------------------------------------------ */

int lra_checkpoint_write(const lra_train_spec *s, const lra_run_state *now, const lra_params *p,
                         lra_err *e)
{
    char *path = file_of(s, "checkpoint.h5");
    lra_h5 *f = lra_h5_create(path, "checkpoint", e);
    lra_free(path);
    if (!f) return LRA_FAILED;
    lra_run_state copy = *now;
    copy.best_epoch++; /* files count epochs from 1 */
    whole w[N_WHOLE];
    fraction r[N_FRACTION];
    list_fields(&copy, w, r);
    int rc = write_identity(s, now->level, f, e);
    for (int i = 0; i < N_WHOLE && rc == 0; i++)
        rc = lra_h5_set_int(f, "/", w[i].name, *w[i].value, e);
    for (int i = 0; i < N_FRACTION && rc == 0; i++)
        rc = lra_h5_set_real(f, "/", r[i].name, *r[i].value, e);
    if (rc == 0) rc = write_history(now, f, e);
    if (rc == 0) rc = lra_params_write(p, f, e);
    if (rc == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return rc;
}

/* Fails if two configurations differ; the message shows the first line that differs. */
static int check_config(const char *path, const char *stored, const char *wanted, lra_err *e)
{
    if (strcmp(stored, wanted) == 0) return 0;
    while (*stored && *stored == *wanted) stored++, wanted++;
    return lra_fail(e, "'%s' belongs to another run: it has '...%.*s', expected '...%.*s'", path,
                    (int)strcspn(stored, "\n"), stored, (int)strcspn(wanted, "\n"), wanted);
}

/* Fails for counters that no run can have written. */
static int check_state(const lra_run_state *now, const whole w[N_WHOLE], lra_err *e)
{
    for (int i = 0; i < N_WHOLE; i++) {
        if (*w[i].value < 0 || *w[i].value > (int64_t)1 << 60)
            return lra_fail(e, "'%s' is %lld, expected 0 to 2^60", w[i].name,
                            (long long)*w[i].value);
    }
    if (now->n_epochs == now->epoch && now->best_epoch <= now->n_epochs) return 0;
    return lra_fail(e, "epoch %lld, best epoch %lld and %lld epochs of history are inconsistent",
                    (long long)now->epoch, (long long)now->best_epoch, (long long)now->n_epochs);
}

/* Reads the instruction level of a run on the processor. It is ignored for a run on a GPU, whose
 * results do not depend on it. */
static int read_level(lra_run_state *now, lra_h5 *f, lra_err *e)
{
    lra_origin o;
    int rc = lra_origin_read(f, &o, e);
    if (rc == 0 && o.device && strcmp(o.device, "cpu") == 0 && o.level)
        snprintf(now->level, sizeof now->level, "%s", o.level);
    lra_origin_free(&o);
    return rc;
}

static int read_state(const lra_train_spec *s, const char *path, lra_run_state *now, lra_params *p,
                      lra_h5 *f, lra_err *e)
{
    whole w[N_WHOLE];
    fraction r[N_FRACTION];
    list_fields(now, w, r);
    char *config = lra_h5_get_text(f, "/config", e);
    int rc = config ? check_config(path, config, s->config, e) : LRA_FAILED;
    lra_free(config);
    char *print = rc == 0 ? lra_h5_attr_text(f, "/", "fingerprint", e) : NULL;
    if (rc == 0 && !print) rc = LRA_FAILED;
    if (rc == 0 && strcmp(print, s->data->fingerprint) != 0)
        rc = lra_fail(e,
                      "'%s' was trained on data with fingerprint %s, but the data now have "
                      "fingerprint %s: use the same data, or another --out",
                      path, print, s->data->fingerprint);
    lra_free(print);
    if (rc == 0) rc = read_level(now, f, e);
    for (int i = 0; i < N_WHOLE && rc == 0; i++)
        rc = lra_h5_get_int(f, "/", w[i].name, w[i].value, e);
    for (int i = 0; i < N_FRACTION && rc == 0; i++) rc = read_fraction(f, &r[i], e);
    if (rc == 0) rc = read_history(now, f, e);
    if (lra_h5_format(f) == 1) now->best_epoch++; /* files of format 1 count epochs from 0 */
    if (rc == 0) rc = check_state(now, w, e);
    now->best_epoch--; /* in memory: index of a row of the history */
    return rc == 0 ? lra_params_read(p, f, e) : rc;
}

int lra_checkpoint_read(const lra_train_spec *s, lra_run_state *now, lra_params *p, bool *found,
                        lra_err *e)
{
    char *path = file_of(s, "checkpoint.h5");
    int rc = 0;
    *found = lra_file_exists(path);
    if (*found) {
        lra_h5 *f = lra_h5_open(path, "checkpoint", e);
        rc = f ? read_state(s, path, now, p, f, e) : LRA_FAILED;
        if (rc == 0) rc = lra_h5_intact(f, e);
        lra_h5_close(f);
        if (rc != 0) rc = lra_fail_in(e, "cannot resume");
    }
    lra_free(path);
    return rc;
}

/* ---- best ------------------------------------------------------------------------------------ */

int lra_best_write(const lra_train_spec *s, int64_t epoch, double value, const lra_params *p,
                   lra_err *e)
{
    char *path = file_of(s, "best.h5");
    lra_h5 *f = lra_h5_create(path, "checkpoint", e);
    lra_free(path);
    if (!f) return LRA_FAILED;
    int rc = write_identity(s, "", f, e);
    if (rc == 0) rc = lra_h5_set_int(f, "/", "epoch", epoch + 1, e);
    const lra_metric *m = lra_objective_metric(lra_session_objective(s), s->data);
    if (rc == 0) rc = lra_h5_set_text(f, "/", "metric", m->name, e);
    if (rc == 0) rc = lra_h5_set_real(f, "/", "val_value", value, e);
    if (rc == 0) rc = lra_params_write(p, f, e);
    if (rc == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return rc;
}

int lra_best_read(const lra_train_spec *s, lra_params *p, lra_err *e)
{
    char *path = file_of(s, "best.h5");
    lra_h5 *f = lra_h5_open(path, "checkpoint", e);
    char *config = f ? lra_h5_get_text(f, "/config", e) : NULL;
    int rc = config ? check_config(path, config, s->config, e) : LRA_FAILED;
    if (rc == 0) rc = lra_params_read_weights(p, f, e);
    if (rc == 0) rc = lra_h5_intact(f, e);
    lra_free(config);
    lra_h5_close(f);
    lra_free(path);
    return rc;
}
