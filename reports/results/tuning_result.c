/* Writes and reads choices of settings (tuning_result.h). */
#include "reports/results/tuning_result.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "kernels/base/os/file.h"

enum { MOST_BYTES = 1 << 20 };

double lra_tuning_score(const lra_tuning_result *t, int i)
{
    double sum = 0;
    for (int k = 0; k < t->n_seeds; k++) sum += t->trial[i].score[k];
    return t->n_seeds ? sum / t->n_seeds : NAN;
}

void lra_tuning_clear(lra_tuning_result *t)
{
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->n_seeds; k++) lra_free(t->trial[i].run[k]);
    for (int k = 0; k < t->n_runs; k++) lra_free(t->run[k]);
    lra_free(t->task);
    lra_free(t->model);
    lra_free(t->preset);
    lra_free(t->precision);
    lra_free(t->label);
    lra_free(t->settings);
    lra_free(t->key);
    *t = (lra_tuning_result){0};
}

void lra_tuning_free(lra_tuning_result *t)
{
    if (t) lra_tuning_clear(t);
    lra_free(t);
}

/* ---- write ----------------------------------------------------------------------------------- */

static json_t *number_or_null(double x)
{
    return isnan(x) ? json_null() : json_real(x);
}

static json_t *names(int n, char *const *name)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_string(name[i]));
    return list;
}

static json_t *json_of(const lra_tuning_result *t)
{
    json_t *trials = json_array(), *seeds = json_array();
    for (int k = 0; k < t->n_seeds; k++)
        json_array_append_new(seeds, json_integer((json_int_t)t->seed[k]));
    for (int i = 0; i < t->n; i++) {
        const lra_trial *trial = &t->trial[i];
        json_t *scores = json_array();
        for (int k = 0; k < t->n_seeds; k++)
            json_array_append_new(scores, number_or_null(trial->score[k]));
        json_array_append_new(trials, json_pack("{s:f, s:f, s:o, s:o}", "factor", trial->factor,
                                                "value", trial->value, "validation", scores, "runs",
                                                names(t->n_seeds, trial->run)));
    }
    const lra_trial *best = t->best < 0 ? NULL : &t->trial[t->best];
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:f, s:o, s:o, s:o, s:o}", "schema",
                     1, "task", t->task, "model", t->model, "preset", t->preset, "precision",
                     t->precision, "label", t->label, "settings", t->settings, "setting", t->key,
                     "base", t->base, "seeds", seeds, "trials", trials, "chosen",
                     best ? json_real(best->value) : json_null(), "runs", names(t->n_runs, t->run));
}

/* True if the file at `path` holds another chosen value. */
static bool holds_another(const char *path, const lra_tuning_result *t)
{
    lra_err ignored;
    lra_tuning_result *old = lra_tuning_read(path, &ignored);
    double was = old && old->best >= 0 ? old->trial[old->best].value : NAN;
    double is = t->best >= 0 ? t->trial[t->best].value : NAN;
    bool another = old && !(was == is || (isnan(was) && isnan(is)));
    lra_tuning_free(old);
    return another;
}

int lra_tuning_write(const char *path, const lra_tuning_result *t, bool *replaced, lra_err *e)
{
    lra_err ignored;
    size_t n;
    json_t *o = json_of(t);
    char *text = o ? json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(o);
    *replaced = false;
    if (!text) return lra_fail(e, "'%s': a name is not valid UTF-8", path);
    char *stored = lra_file_exists(path) ? lra_file_read(path, MOST_BYTES, &n, &ignored) : NULL;
    int rc = 0;
    if (!stored || strcmp(stored, text) != 0) {
        *replaced = stored && holds_another(path, t);
        rc = lra_file_write(path, text, strlen(text), e);
    }
    lra_free_large(stored);
    free(text);
    return rc;
}

/* ---- read ------------------------------------------------------------------------------------ */

static char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return lra_make_printable(lra_copy_text(text ? text : ""));
}

/* Reads names of folders; returns false if one is no plain name. */
static bool read_names(const json_t *list, int n, char **to)
{
    if ((int)json_array_size(list) != n) return false;
    bool valid = true;
    for (int i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(list, (size_t)i));
        valid = valid && name && *name && *name != '.' && !strchr(name, '/') && lra_printable(name);
        to[i] = lra_copy_text(name ? name : "");
    }
    return valid;
}

static bool read_trial(const json_t *o, int n_seeds, lra_trial *t)
{
    const json_t *scores = json_object_get(o, "validation");
    t->factor = json_number_value(json_object_get(o, "factor"));
    t->value = json_number_value(json_object_get(o, "value"));
    if (!(t->value > 0) || !(t->factor > 0) || (int)json_array_size(scores) != n_seeds)
        return false;
    for (int k = 0; k < n_seeds; k++) {
        const json_t *score = json_array_get(scores, (size_t)k);
        t->score[k] = json_is_number(score) ? json_number_value(score) : NAN;
    }
    return read_names(json_object_get(o, "runs"), n_seeds, t->run);
}

static bool read_members(const json_t *o, lra_tuning_result *t)
{
    const json_t *seeds = json_object_get(o, "seeds"), *trials = json_object_get(o, "trials"),
                 *runs = json_object_get(o, "runs"), *chosen = json_object_get(o, "chosen");
    size_t n_seeds = json_array_size(seeds), n = json_array_size(trials),
           n_runs = json_array_size(runs);
    if (n_seeds < 1 || n_seeds > LRA_TUNING_SEEDS || n < 1 || n > LRA_MAX_TRIALS ||
        n_runs > LRA_TUNING_SEEDS)
        return false;
    t->n_seeds = (int)n_seeds, t->n = (int)n, t->n_runs = (int)n_runs;
    t->base = json_number_value(json_object_get(o, "base"));
    bool valid = t->base > 0 && read_names(runs, t->n_runs, t->run);
    for (int k = 0; k < t->n_seeds; k++)
        t->seed[k] = json_integer_value(json_array_get(seeds, (size_t)k));
    for (int i = 0; i < t->n; i++) {
        valid = read_trial(json_array_get(trials, (size_t)i), t->n_seeds, &t->trial[i]) && valid;
        valid = valid && (i == 0 || t->trial[i].value > t->trial[i - 1].value);
        if (json_is_number(chosen) && t->trial[i].value == json_number_value(chosen)) t->best = i;
    }
    return valid && (t->best >= 0 || json_is_null(chosen));
}

lra_tuning_result *lra_tuning_read(const char *path, lra_err *e)
{
    size_t n;
    char *text = lra_file_read(path, MOST_BYTES, &n, e);
    if (!text) return NULL;
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, NULL);
    lra_tuning_result *t = lra_alloc(sizeof *t);
    t->best = -1;
    bool valid = json_is_object(o) && read_members(o, t);
    t->task = text_of(o, "task"), t->model = text_of(o, "model");
    t->preset = text_of(o, "preset"), t->precision = text_of(o, "precision");
    t->label = text_of(o, "label"), t->settings = text_of(o, "settings");
    t->key = text_of(o, "setting");
    valid = valid && *t->task && *t->model && *t->key;
    json_decref(o);
    lra_free_large(text);
    if (valid) return t;
    lra_fail(e, "'%s' is no valid choice of 'lra-probe sweep --tune'", path);
    lra_tuning_free(t);
    return NULL;
}

/* ---- load ------------------------------------------------------------------------------------ */

typedef struct {
    lra_tuning_result **list;
    lra_result **results;
    int n, n_results;
} loaded;

/* Reads the result of a run below OUT/FOLDER, if it exists. */
static lra_result *load_result(loaded *l, const char *out, const char *folder, const char *name)
{
    lra_err why;
    char *path = lra_format("%s/%s/%s/result.h5", out, folder, name);
    lra_result *r = lra_file_exists(path) ? lra_result_read(path, &why) : NULL;
    if (!r && lra_file_exists(path)) lra_warn("left out: %s", why.msg);
    lra_free(path);
    if (!r) return NULL;
    l->results = lra_resize(l->results, (size_t)(l->n_results + 1) * sizeof *l->results);
    return l->results[l->n_results++] = r;
}

/* Reads the choice at `path` = OUT/tuned/NAME.json. A file that is no choice is left out. */
static void load_choice(loaded *l, const char *path)
{
    lra_err why;
    lra_tuning_result *t = lra_tuning_read(path, &why);
    const char *slash = strrchr(path, '/');
    if (!t) {
        lra_warn("left out: %s", why.msg);
        return;
    }
    char *out = slash ? lra_format("%.*s/..", (int)(slash - path), path) : lra_copy_text("..");
    for (int i = 0; i < t->n; i++)
        for (int k = 0; k < t->n_seeds; k++)
            t->trial[i].result[k] = load_result(l, out, "trials", t->trial[i].run[k]);
    for (int k = 0; k < t->n_runs; k++) t->result[k] = load_result(l, out, "runs", t->run[k]);
    l->list = lra_resize(l->list, (size_t)(l->n + 1) * sizeof *l->list);
    l->list[l->n++] = t;
    lra_free(out);
}

static bool is_json(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static int load_place(loaded *l, const char *place, lra_err *e)
{
    char *tuned = lra_format("%s/tuned", place), **entry;
    const char *folder = lra_is_folder(tuned) ? tuned : place;
    int rc = 0;
    if (!lra_is_folder(place)) {
        if (is_json(place)) load_choice(l, place);
    } else {
        int n = lra_folder_list(folder, &entry, e);
        rc = n < 0 ? LRA_FAILED : 0;
        for (int i = 0; i < n; i++) {
            char *path = lra_format("%s/%s", folder, entry[i]);
            size_t size = strlen(folder);
            bool of_choices = size >= 5 && strcmp(folder + size - 5, "tuned") == 0;
            if (of_choices && is_json(path)) load_choice(l, path);
            lra_free(path);
        }
        if (n >= 0) lra_names_free(entry, n);
    }
    lra_free(tuned);
    return rc;
}

int lra_tunings_load(int n, const char *const *place, lra_tuning_result ***list,
                     lra_result ***results, int *n_results, lra_err *e)
{
    loaded l = {0};
    int rc = 0;
    for (int i = 0; i < n && rc == 0; i++) rc = load_place(&l, place[i], e);
    *list = l.list, *results = l.results, *n_results = l.n_results;
    if (rc == 0) return l.n;
    lra_tunings_free(l.list, l.n);
    lra_results_free(l.results, l.n_results);
    *list = NULL, *results = NULL, *n_results = 0;
    return LRA_FAILED;
}

void lra_tunings_free(lra_tuning_result **list, int n)
{
    for (int i = 0; i < n; i++) lra_tuning_free(list[i]);
    lra_free(list);
}
