/* Trials and runs of a combination with --tune (tuned_cells.h). */
#include "probes/run/tuned_cells.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "probes/run/failure.h"

static char *result_of(const lra_job *job, int64_t seed)
{
    char *folder = lra_job_folder(job, seed), *path = lra_format("%s/result.h5", folder);
    lra_free(folder);
    return path;
}

/* Name of the folder of a result file. */
static char *run_name(const char *result)
{
    const char *end = strrchr(result, '/'), *from = end;
    while (from > result && from[-1] != '/') from--;
    return lra_format("%.*s", (int)(end - from), from);
}

int lra_tuned_cells_open(lra_tuned_cells *c, lra_job *job, int n_seeds, const int64_t *seed,
                         lra_err *e)
{
    const lra_tune *t = c->tune;
    c->n_seeds = n_seeds;
    c->seed = lra_alloc_array((size_t)n_seeds + 1, sizeof *c->seed);
    memcpy(c->seed, seed, (size_t)n_seeds * sizeof *seed);
    int rc = lra_tune_values_of(t, job, &c->values, e);
    if (rc == 0) rc = lra_tune_check_seeds(t, n_seeds, seed, e);
    if (rc != 0) return rc;
    lra_tune_record(t, &c->values, job, c->name, &c->record);
    c->trial = lra_alloc_array((size_t)(t->n * t->n_seeds) + 1, sizeof *c->trial);
    c->result = lra_alloc_array((size_t)(t->n * n_seeds) + 1, sizeof *c->result);
    c->cost = lra_alloc_array((size_t)t->n + 1, sizeof *c->cost);
    c->choice_path = lra_tune_path(t, job);
    for (int i = 0; i < t->n; i++) {
        lra_tune_use(t, &c->values, i, true, job);
        for (int k = 0; k < t->n_seeds; k++) {
            char *path = c->trial[i * t->n_seeds + k] = result_of(job, t->seed[k]);
            c->record.trial[i].run[k] = run_name(path);
        }
        lra_tune_use(t, &c->values, i, false, job);
        for (int k = 0; k < n_seeds; k++) c->result[i * n_seeds + k] = result_of(job, seed[k]);
    }
    lra_config_set(job->train_config, t->key, c->values.base);
    return 0;
}

void lra_tuned_cells_close(lra_tuned_cells *c)
{
    for (int i = 0; c->trial && i < c->tune->n * c->tune->n_seeds; i++) lra_free(c->trial[i]);
    for (int i = 0; c->result && i < c->tune->n * c->n_seeds; i++) lra_free(c->result[i]);
    lra_command_words_free(&c->command);
    lra_tune_values_free(&c->values);
    lra_tuning_clear(&c->record);
    lra_free(c->choice_path);
    lra_free(c->trial);
    lra_free(c->result);
    lra_free(c->cost);
    lra_free(c->seed);
    lra_free(c->name);
    lra_free(c->label);
    *c = (lra_tuned_cells){0};
}

/* Sets command and name of a cell with value i. */
static void complete(const lra_tuned_cells *c, int i, bool trial, int64_t seed, lra_run_cell *cell)
{
    const char *key = c->tune->key, *value = c->values.text[i];
    lra_command_words *w = &cell->command;
    for (int k = 0; k < c->command.n; k++)
        lra_command_words_add(w, lra_copy_text(c->command.word[k]));
    lra_command_words_add(w, lra_format("--set=%s=%s", key, value));
    if (trial) lra_command_words_add(w, lra_format("--tuning=%s:%s", key, c->values.base));
    lra_command_words_add(w, lra_format("--differs=%s%s%s=%s", c->label ? c->label : "",
                                        c->label ? " " : "", key, value));
    lra_cell_command_end(w, seed, c->memory);
    lra_free(cell->name);
    cell->name = lra_format("%s%s %s=%s seed %" PRId64, trial ? "trial " : "", c->name, key, value,
                            seed);
}

void lra_tuned_trial(const lra_tuned_cells *c, int i, int k, lra_run_cell *cell)
{
    int n = c->tune->n_seeds;
    *cell = (lra_run_cell){
        .result = lra_copy_text(c->trial[i * n + k]), .seconds = c->cost[i], .diverges = true};
    complete(c, i, true, c->tune->seed[k], cell);
}

void lra_tuned_run(const lra_tuned_cells *c, int k, lra_run_cell *cell)
{
    double seconds = 0;
    for (int i = 0; i < c->tune->n; i++) seconds = fmax(seconds, c->cost[i]);
    *cell = (lra_run_cell){.name = lra_format("%s with the chosen %s, seed %" PRId64, c->name,
                                              c->tune->key, c->seed[k]),
                           .seconds = seconds};
}

int lra_tuned_missing(const lra_tuned_cells *c)
{
    int missing = 0;
    for (int i = 0; i < c->tune->n * c->tune->n_seeds; i++)
        missing += !lra_file_exists(c->trial[i]) && !lra_run_diverged(c->trial[i]);
    return missing;
}

/* Reports the choice. */
static void say_choice(const lra_tuned_cells *c)
{
    const lra_tune *t = c->tune;
    int best = c->record.best;
    const char *edge = best == 0          ? "; it is the smallest factor: add smaller ones"
                       : best == t->n - 1 ? "; it is the largest factor: add larger ones"
                                          : "";
    lra_note("  %s: %s %s is chosen, factor %g of %s%s", c->name, t->key, c->values.text[best],
             t->factor[best], c->values.base, edge);
}

/* Completes the cells of the result. */
static void complete_runs(lra_tuned_cells *c)
{
    int best = c->record.best;
    for (int k = 0; k < c->n_seeds; k++) {
        c->cell[k].result = lra_copy_text(c->result[best * c->n_seeds + k]);
        c->cell[k].seconds = c->cost[best];
        complete(c, best, false, c->seed[k], &c->cell[k]);
    }
}

int lra_tuned_settle(lra_tuned_cells *c, bool store, lra_err *e)
{
    lra_tuning_result *r = &c->record;
    if (!c->chosen) {
        if (lra_tuned_missing(c) > 0) return 0;
        if (lra_tune_choose(r, c->trial, e) != 0) return LRA_FAILED;
        c->chosen = true;
        r->n_runs = r->best < 0 ? 0 : c->n_seeds;
        for (int k = 0; k < r->n_runs; k++)
            r->run[k] = run_name(c->result[r->best * c->n_seeds + k]);
        if (store && lra_tune_store(c->choice_path, r, e) != 0) return LRA_FAILED;
        if (store && r->best >= 0) say_choice(c);
        if (r->best >= 0) complete_runs(c);
    }
    if (r->best >= 0) return 1;
    return lra_fail(e, "%s: the trials of all %d factors of %s diverged; add smaller factors",
                    c->name, c->tune->n, c->tune->key);
}
