/* Measures a model that this program did not train (model_run.h). */
#include "probes/influence/model_run.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "probes/influence/measure_parts.h"
#include "probes/shared/subject_result.h"

char *lra_model_run_name(const char *from)
{
    char *name = lra_format("%.48s", *from ? from : "model"); /* names have at most 64 letters */
    for (char *at = name; *at; at++) {
        int c = tolower((unsigned char)*at);
        *at = (char)(isalnum(c) && c < 128 ? c : strchr("-_.", c) ? c : '-');
    }
    return name;
}

/* True if both results have the same outputs for the same rows, bit for bit. */
static bool equal_answers(const lra_result *a, const lra_result *b)
{
    size_t n = (size_t)a->n, classes = (size_t)a->n_classes, numbers = (size_t)a->n_numbers;
    if (a->n != b->n || a->n_classes != b->n_classes || a->n_numbers != b->n_numbers) return false;
    if (classes) return memcmp(a->logits, b->logits, n * classes * sizeof *a->logits) == 0;
    if (numbers) return memcmp(a->number, b->number, n * numbers * sizeof *a->number) == 0;
    for (size_t i = 0; i < n; i++)
        if (a->row[i].loss != b->row[i].loss) return false;
    return true;
}

/* Writes the result unless the folder contains an equal one. If the outputs have changed, removes
 * the measurements of the previous outputs. */
static int write_result(const lra_result *r, const char *folder, lra_err *e)
{
    static const char *const measured[] = {"influence", "attention", "kernels"};
    char *path = lra_format("%s/result.h5", folder);
    lra_err unread;
    lra_result *before = lra_file_exists(path) ? lra_result_read(path, &unread) : NULL;
    bool equal = before && equal_answers(before, r);
    for (size_t i = 0; i < sizeof measured / sizeof *measured && before && !equal; i++) {
        char *old = lra_format("%s/%s.h5", folder, measured[i]);
        if (lra_file_exists(old)) {
            lra_note("%s: the model's answers have changed, all parts are measured again", folder);
            unlink(old);
        }
        lra_free(old);
    }
    int rc = equal ? 0 : lra_result_write(path, r, e);
    lra_result_free(before);
    lra_free(path);
    return rc;
}

/* Number of rows with classes for which two results predict different labels. */
static int64_t count_different(const lra_result *a, const lra_result *b)
{
    uint8_t *x = lra_result_correct(a), *y = lra_result_correct(b);
    int64_t n = 0;
    for (int64_t i = 0; i < a->n; i++) n += x[i] != y[i];
    lra_free(x);
    lra_free(y);
    return n;
}

/* Reads the result of the run `into`, after a check that the model is the one of that run. r: the
 * model's outputs. NULL: failed. */
static lra_result *finished_result(const lra_model_run *m, const lra_result *r, lra_err *e)
{
    char *path = lra_format("%s/result.h5", m->into);
    lra_result *run = lra_result_read(path, e);
    lra_free(path);
    if (!run) return NULL;
    bool same = strcmp(run->fingerprint, r->fingerprint) == 0 && run->n == r->n &&
                run->n_classes == r->n_classes;
    int rc = same ? 0
                  : lra_fail(e, "run '%s' has other data than the model is asked about: %s, not %s",
                             m->into, run->fingerprint, r->fingerprint);
    if (rc == 0 && r->logits) {
        int64_t differ = count_different(run, r);
        if (differ * 100 > r->n)
            rc = lra_fail(e,
                          "the model is not that of run '%s': %" PRId64 " of %" PRId64
                          " test rows are right in one and wrong in the other; expected at most "
                          "1 %%",
                          m->into, differ, r->n);
    }
    if (rc == 0) return run;
    lra_result_free(run);
    return NULL;
}

static int measure(const lra_model_run *m, lra_influence *p, lra_err *e)
{
    bool dry = m->unsaved || (m->options && lra_option_flag(m->options, "dry-run"));
    int rc = lra_influence_check_options(p, e), lock = -1;
    if (rc == 0 && !dry) rc = lra_folder_make(p->to, e);
    if (rc == 0 && !dry) {
        char *path = lra_format("%s/lock", p->to);
        lock = lra_lock_wait(path, e);
        lra_free(path);
        rc = lock >= 0 ? write_result(p->result, p->to, e) : LRA_FAILED;
    }
    if (rc == 0) rc = lra_influence_measure(p, false, e);
    lra_unlock(lock);
    return rc;
}

int lra_model_run_measure(const lra_model_run *m, lra_probe_result **out, char **folder, lra_err *e)
{
    char *name = lra_format("user.%s", m->name);
    char *title = lra_format("%s %s", m->data->task->name, name);
    lra_influence p = {.options = m->options,
                       .subject = lra_subject_of(m->model, m->data, title, m->batch, m->seed)};
    int64_t donors = m->donors ? m->donors : m->batch, blocks = m->batch / donors;
    p.subject.donors = donors, p.subject.batch = donors * (blocks > 1 ? blocks : 1);
    p.subject.sample_seed = m->sample_seed;
    p.unsaved = m->unsaved;
    p.refused = m->refused, p.refused_context = m->context, p.checks = m->checks;
    p.other_parts = m->other_parts;
    lra_result *r = lra_subject_result(&p.subject, name, e);
    *out = NULL, *folder = NULL;
    if (r && m->into) {
        lra_result *run = finished_result(m, r, e);
        lra_result_free(r);
        r = run;
    }
    int rc = r ? 0 : LRA_FAILED;
    if (rc == 0) {
        *folder = m->into ? lra_copy_text(m->into)
                          : lra_format("%s/runs/%s-%s-%s", m->out, lra_task_id(m->data->task), name,
                                       r->run);
        p.result = r, p.folder = p.to = *folder;
        rc = measure(m, &p, e);
        *out = p.out;
    }
    if (rc != 0) {
        lra_probe_result_free(*out);
        lra_free(*folder);
        *out = NULL, *folder = NULL;
    }
    lra_result_free(r);
    lra_free(name);
    lra_free(title);
    return rc;
}
