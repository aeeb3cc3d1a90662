/* Values, trials and choices of --tune (tune.h). */
#include "probes/run/tune.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "models/training/estimate.h"
#include "probes/run/finished_run.h"
#include "probes/run/seeds.h"
#include "probes/run/settings.h"
#include "probes/run/values.h"

const lra_option lra_tune_options[] = {
    {.name = "tune",
     .kind = LRA_OPTION_REPEAT,
     .arg = "KEY=LIST",
     .help =
         "choose a number of training for each combination: factors of its value, such as "
         "rate=0.25,0.5,1,2,4; each is trained with the tuning seeds, and the one with the best "
         "validation metric is trained with the seeds of the result"},
    {.name = "tune-seeds",
     .kind = LRA_OPTION_TEXT,
     .value = "1",
     .arg = "N|LIST",
     .help =
         "with --tune: number of tuning seeds, which are 1000, 1001, ..., or a list; the result "
         "must not use them"},
    {.name = NULL}};

/* ---- options --------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int read_factors(lra_tune *t, const char *list, lra_err *e)
{
    char *word[LRA_MAX_TRIALS];
    int n = lra_values_read(list, LRA_MAX_TRIALS, word, e), rc = n < 0 ? LRA_USAGE : 0;
    for (int i = 0; i < n; i++) {
        bool number = lra_parse_real(word[i], &t->factor[i]);
        if (rc == 0 && (!number || t->factor[i] <= 0))
            rc = lra_fail_usage(e, "'%s' is no factor, expected a number above 0", word[i]);
        lra_free(word[i]);
    }
    if (rc != 0) return rc;
    t->n = n;
    qsort(t->factor, (size_t)n, sizeof *t->factor, by_size);
    for (int i = 1; i < n; i++)
        if (t->factor[i] == t->factor[i - 1])
            return lra_fail_usage(e, "factor %g occurs twice", t->factor[i]);
    return n > 1 ? 0 : lra_fail_usage(e, "'%s' is one factor, expected two or more", list);
}

static int read_tuning_seeds(lra_tune *t, const char *text, lra_err *e)
{
    bool is_count = strspn(text, "0123456789") == strlen(text);
    t->n_seeds = lra_seeds_read("tune-seeds", text, LRA_TUNE_MOST_SEEDS, &t->seed, e);
    for (int k = 0; k < t->n_seeds && is_count; k++) t->seed[k] += LRA_TUNE_SEED;
    return t->n_seeds < 0 ? LRA_USAGE : 0;
}

int lra_tune_open(lra_tune *t, const lra_options *o, lra_err *e)
{
    const char *text = lra_option_repeat(o, "tune", 0);
    *t = (lra_tune){0};
    if (text && lra_option_repeat(o, "tune", 1))
        return lra_fail_usage(e, "--tune is given twice, expected once: it chooses one setting");
    if (!text && lra_option_given(o, "tune-seeds"))
        return lra_fail_usage(e, "--tune-seeds needs --tune KEY=LIST");
    if (!text) return 0;
    size_t n = strcspn(text, "=");
    if (n == 0 || !text[n])
        return lra_fail_usage(e, "--tune is '%s', expected KEY=FACTOR,FACTOR,...", text);
    t->key = lra_format("%.*s", (int)n, text);
    int rc = read_factors(t, text + n + 1, e);
    if (rc != 0) lra_fail_in(e, "--tune");
    return rc == 0 ? read_tuning_seeds(t, lra_option_text(o, "tune-seeds"), e) : LRA_USAGE;
}

void lra_tune_close(lra_tune *t)
{
    lra_free(t->key);
    lra_free(t->seed);
    *t = (lra_tune){0};
}

int lra_tune_check_seeds(const lra_tune *t, int n, const int64_t *seed, lra_err *e)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < t->n_seeds; k++)
            if (seed[i] == t->seed[k])
                return lra_fail_usage(e,
                                      "seed %" PRId64 " chooses the value of '%s' (--tune-seeds), "
                                      "so that the result must not use it",
                                      seed[i], t->key);
    return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The row of the tuned setting, if it is a number of training; else fails. */
static const lra_key *tuned_key(const lra_tune *t, const lra_job *job, lra_err *e)
{
    const char *owner;
    const lra_key *key = lra_job_key(job, t->key, &owner);
    if (key && strcmp(owner, "train") == 0 &&
        (key->kind == LRA_KEY_INT || key->kind == LRA_KEY_REAL))
        return key;
    if (!key)
        lra_fail_usage(e, "--tune: the run has no '%s' ('lra-probe list parameters' lists them)",
                       t->key);
    else
        lra_fail_usage(e, "--tune: '%s' is %s, expected a number of training, such as rate", t->key,
                       strcmp(owner, "train") == 0 ? "no number"
                                                   : "a setting of the model or task");
    return NULL;
}

int lra_tune_values_of(const lra_tune *t, const lra_job *job, lra_tune_values *v, lra_err *e)
{
    const lra_key *key = tuned_key(t, job, e);
    *v = (lra_tune_values){.n = t->n};
    if (!key) return LRA_USAGE;
    double base = lra_config_real(job->train_config, t->key);
    v->base = lra_copy_text(lra_config_text(job->train_config, t->key));
    if (base == 0)
        return lra_fail_usage(e, "--tune: '%s' is 0, so that factors do not change it", t->key);
    for (int i = 0; i < t->n; i++) {
        char text[40];
        double value = base * t->factor[i];
        /* 12 digits: the text of 0.1 * 3 is 0.3 */
        snprintf(text, sizeof text, key->kind == LRA_KEY_INT ? "%.0f" : "%.12g", value);
        v->text[i] = lra_key_text(key, text, e);
        if (!v->text[i]) {
            lra_fail_in(e, "--tune: factor %g", t->factor[i]);
            return LRA_USAGE;
        }
        v->number[i] = strtod(v->text[i], NULL);
        if (i > 0 && v->number[i] <= v->number[i - 1])
            return lra_fail_usage(e, "--tune: factors %g and %g give the same %s, %s",
                                  t->factor[i - 1], t->factor[i], t->key, v->text[i]);
    }
    return 0;
}

void lra_tune_values_free(lra_tune_values *v)
{
    for (int i = 0; i < v->n; i++) lra_free(v->text[i]);
    lra_free(v->base);
    *v = (lra_tune_values){0};
}

static void mark(lra_job *job, const char *key, const char *base)
{
    char *text = lra_format("%s:%s:%s", key, base, lra_config_text(job->train_config, key));
    lra_config_set(job->train_config, "tuning", text);
    lra_free(text);
}

void lra_tune_use(const lra_tune *t, const lra_tune_values *v, int i, bool trial, lra_job *job)
{
    lra_config_set(job->train_config, t->key, v->text[i]);
    lra_config_remove(job->train_config, "tuning");
    if (trial) mark(job, t->key, v->base);
}

/* Number of examples that training processes. */
static double examples_of(const lra_job *job)
{
    lra_train_spec s;
    lra_job_spec(job, 0, &s);
    double steps = (double)lra_train_epoch_steps(&s) * (double)s.schedule.epochs;
    double n = steps * (double)s.batch * (double)lra_update_batches(&s);
    lra_job_spec_free(&s);
    return n;
}

double lra_tune_cost(const lra_tune *t, const lra_tune_values *v, int i, lra_job *job)
{
    lra_config_set(job->train_config, t->key, v->text[i]);
    double own = examples_of(job);
    lra_config_set(job->train_config, t->key, v->base);
    double base = examples_of(job);
    return base > 0 ? own / base : 1;
}

int lra_tune_mark(lra_job *job, const char *text, lra_err *e)
{
    size_t n = strcspn(text, ":");
    const char *owner;
    char *key = lra_format("%.*s", (int)n, text);
    const lra_key *row = text[n] ? lra_job_key(job, key, &owner) : NULL;
    char *base = row && strcmp(owner, "train") == 0 ? lra_key_text(row, text + n + 1, e) : NULL;
    if (base) mark(job, key, base);
    bool marked = base != NULL;
    lra_free(base);
    lra_free(key);
    return marked ? 0
                  : lra_fail_usage(e, "--tuning is '%s', expected KEY:VALUE of a training setting",
                                   text);
}

/* ---- choice ---------------------------------------------------------------------------------- */

void lra_tune_record(const lra_tune *t, const lra_tune_values *v, const lra_job *job,
                     const char *settings, lra_tuning_result *to)
{
    *to = (lra_tuning_result){.task = lra_copy_text(job->task->name),
                              .model = lra_copy_text(job->model->name),
                              .preset = lra_copy_text(job->preset),
                              .precision = lra_copy_text(job->precision),
                              .label = lra_copy_text(job->user_label ? job->user_label : ""),
                              .settings = lra_copy_text(settings),
                              .key = lra_copy_text(t->key),
                              .base = strtod(v->base, NULL),
                              .n = t->n,
                              .n_seeds = t->n_seeds,
                              .best = -1};
    for (int k = 0; k < t->n_seeds; k++) to->seed[k] = t->seed[k];
    for (int i = 0; i < t->n; i++) {
        to->trial[i].factor = t->factor[i];
        to->trial[i].value = v->number[i];
    }
}

/* Validation metric of a trial; NAN: it has no result. *lower: smaller values are better. */
static int read_score(const char *path, double *score, bool *lower, lra_err *e)
{
    *score = NAN;
    if (!lra_file_exists(path)) return 0;
    lra_result *r = lra_finished_run_result(path, e);
    if (!r) return LRA_FAILED;
    *score = lra_result_val_value(r);
    *lower = lra_result_metric(r)->lower;
    lra_result_free(r);
    return isnan(*score) ? lra_fail(e, "'%s' has no validation metric", path) : 0;
}

int lra_tune_choose(lra_tuning_result *t, char *const *path, lra_err *e)
{
    double value[LRA_MAX_TRIALS], score[LRA_MAX_TRIALS];
    bool lower = false;
    for (int i = 0; i < t->n; i++) {
        value[i] = t->trial[i].value;
        for (int k = 0; k < t->n_seeds; k++)
            if (read_score(path[i * t->n_seeds + k], &t->trial[i].score[k], &lower, e) != 0)
                return LRA_FAILED;
    }
    for (int i = 0; i < t->n; i++) score[i] = (lower ? -1 : 1) * lra_tuning_score(t, i);
    t->best = lra_tuning_best(t->n, value, score, t->base);
    return 0;
}

char *lra_tune_path(const lra_tune *t, const lra_job *job)
{
    char hash[17], *lines = lra_job_config(job, 0, hash), *of = lra_format("%s\n%s", t->key, lines);
    char *path = lra_format("%s/tuned/%s-%s-%016" PRIx64 ".json", job->out, lra_task_id(job->task),
                            job->model->name, lra_hash64(of, strlen(of)));
    lra_free(lines);
    lra_free(of);
    return path;
}

int lra_tune_store(const char *path, const lra_tuning_result *t, lra_err *e)
{
    char *folder = lra_format("%.*s", (int)(strrchr(path, '/') - path), path);
    bool replaced = false;
    int rc = lra_folder_make(folder, e);
    if (rc == 0) rc = lra_tuning_write(path, t, &replaced, e);
    if (replaced)
        lra_warn("'%s' held another %s, chosen from other trials; it is replaced", path, t->key);
    lra_free(folder);
    return rc;
}
