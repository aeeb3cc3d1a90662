/* Measures attention and kernels of an external model (audit_maps.h). */
#include "probes/audit_maps.h"

#include <stdio.h>
#include <string.h>

#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"
#include "kernels/base/os/lock.h"
#include "kernels/cpu/device.h"
#include "probes/attention/of_model.h"
#include "probes/audit/kernel_arrays.h"
#include "probes/kernels/of_model.h"
#include "probes/run/origin.h"

enum { ATTENTION, KERNELS, PARTS, EXAMPLES = 256 };
/* share of --budget that attention may cost */
static const double budget_share = 0.2;

static const char *const parts[PARTS] = {"attention", "kernels"};

const char *lra_audit_maps_part(int i)
{
    return i < PARTS ? parts[i] : NULL;
}

/* ---- which parts ----------------------------------------------------------------------------- */

/* True if the word [at, at + n) of --parts is one of these parts. */
static bool is_part(const char *at, size_t n, int part)
{
    return strlen(parts[part]) == n && strncmp(parts[part], at, n) == 0;
}

bool lra_audit_maps_wants(const lra_options *o, int part)
{
    const char *list = lra_option_text(o, "parts");
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',')
        if (is_part(at, strcspn(at, ","), part)) return true;
    return !list;
}

bool lra_audit_maps_others(const lra_options *o)
{
    const char *list = lra_option_text(o, "parts");
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        size_t n = strcspn(at, ",");
        if (!is_part(at, n, ATTENTION) && !is_part(at, n, KERNELS)) return true;
    }
    return !list;
}

const char *lra_audit_maps_undefined(const lra_audit_maps *m, int part)
{
    const lra_responder *r = m->subject->model;
    const char *why = m->refused ? m->refused(m->context, parts[part]) : NULL;
    if (part == ATTENTION && !lra_responder_answers(r, LRA_ANSWERS_ATTENTION))
        return "the model gives no attention matrices";
    if (part == KERNELS && !lra_responder_answers(r, LRA_ANSWERS_KERNELS) &&
        !lra_option_text(m->options, "kernels-file"))
        return "the model gives no kernels, and there is no --kernels-file";
    return why;
}

/* ---- kernels of a file ----------------------------------------------------------------------- */

/* Name of the layer of an array PREFIX/LAYER, without /back or /im; NULL: another array. */
static char *layer_of(const char *array, const char *prefix)
{
    size_t n = strlen(prefix), all = strlen(array);
    static const char *const suffix[] = {"/back", "/im"};
    if (strncmp(array, prefix, n) != 0 || array[n] != '/' || !array[n + 1]) return NULL;
    for (int i = 0; i < 2; i++) {
        size_t k = strlen(suffix[i]);
        if (all > k && strcmp(array + all - k, suffix[i]) == 0) return NULL;
    }
    return lra_copy_text(array + n + 1);
}

/* Reads one layer, and its kernels at initialisation if the file has them. */
static int add_file_layer(const lra_safetensors *t, const char *layer, lra_extract *f, lra_err *e)
{
    lra_kernels_answer trained = {.channels = 0}, initial = {.channels = 0};
    char *before = lra_format("kernel0/%s", layer);
    bool has = lra_safetensors_find(t, before) != NULL;
    int rc = lra_kernels_of_file(t, "kernel", layer, &trained, e);
    if (rc == 0 && has) rc = lra_kernels_of_file(t, "kernel0", layer, &initial, e);
    if (rc == 0) rc = lra_extract_add(f, layer, &trained, has ? &initial : NULL, e);
    lra_kernels_answer_free(&trained);
    lra_kernels_answer_free(&initial);
    lra_free(before);
    return rc;
}

/* Reads kernels in the order of their names in the file's header. */
static int extract_of_file(const char *path, lra_extract *f, lra_err *e)
{
    lra_safetensors t = {.n = 0};
    *f = (lra_extract){0};
    int rc = lra_safetensors_read(path, &t, e);
    for (int i = 0; i < t.n && rc == 0; i++) {
        char *layer = layer_of(t.tensor[i].name, "kernel");
        if (layer && (strchr(layer, ' ') || strlen(layer) > 64))
            rc = lra_fail(e, "the layer name '%.80s' has blanks or more than 64 letters", layer);
        if (layer && rc == 0) rc = add_file_layer(&t, layer, f, e);
        lra_free(layer);
    }
    if (rc == 0 && f->n == 0)
        rc = lra_fail(e, "no array 'kernel/LAYER' of shape (channels,lags) among its %d arrays",
                      t.n);
    lra_safetensors_free(&t);
    return rc == 0 ? 0 : lra_fail_in(e, "'%s'", path);
}

/* ---- a part ---------------------------------------------------------------------------------- */

/* Number of examples for attention: --examples, or the default, within the share of --budget.
 * *passes: their cost. */
static int64_t examples_and_cost(const lra_audit_maps *m, double *passes)
{
    int64_t n = lra_option_int(m->options, "examples"), rows = lra_subject_test_rows(m->subject);
    double budget = budget_share * (double)lra_option_int(m->options, "budget");
    if (n == 0) n = EXAMPLES;
    for (;; n--) {
        *passes = lra_attention_of_model_passes(m->subject, n < rows ? n : rows);
        if (budget == 0 || n == 1 || *passes <= budget) return n;
    }
}

static int64_t examples_of(const lra_audit_maps *m)
{
    double passes;
    return examples_and_cost(m, &passes);
}

/* Settings on which the measurements of a part depend, as text. */
static char *settings_of(const lra_audit_maps *m, int part)
{
    const char *file = lra_option_text(m->options, "kernels-file");
    if (part == ATTENTION)
        return lra_format("examples:%lld,sample:%llu", (long long)examples_of(m),
                          (unsigned long long)m->subject->sample_seed);
    return lra_format("kernels:%s", file ? "file" : "model");
}

/* Reads FOLDER/PART.h5 if it has the same settings; returns NULL otherwise. */
static lra_probe_result *saved(const lra_audit_maps *m, int part, const char *path,
                               const char *settings)
{
    lra_err ignored;
    bool file = part == KERNELS && lra_option_text(m->options, "kernels-file");
    if (file || lra_option_flag(m->options, "force") || !lra_file_exists(path)) return NULL;
    lra_probe_result *r = lra_probe_result_read(path, parts[part], &ignored);
    char *line = lra_format("audit=%s", settings);
    bool equal = r && r->settings && strstr(r->settings, line);
    lra_free(line);
    if (equal) return r;
    lra_probe_result_free(r);
    return NULL;
}

static int measure_kernels(const lra_audit_maps *m, lra_probe_result *r, lra_err *e)
{
    const char *file = lra_option_text(m->options, "kernels-file");
    lra_extract f = {0};
    int rc = file ? extract_of_file(file, &f, e) : lra_extract_of_model(m->subject, &f, e);
    if (rc == 0)
        lra_kernels_measure(&f, lra_dataset_grid(m->subject->data),
                            m->subject->model->facts.uncovered, r);
    lra_extract_close(&f);
    return rc;
}

/* Measures a part and writes its file. */
static int measure(const lra_audit_maps *m, int part, const char *path, const char *settings,
                   lra_probe_result **out, lra_err *e)
{
    char *from = lra_format("%s/result.h5", m->folder);
    lra_result *run = lra_result_read(from, e);
    lra_device here;
    lra_origin origin;
    int rc = run ? lra_cpu_device(&here, 1, e) : LRA_FAILED;
    if (rc == 0) {
        lra_probe_origin(&here, &origin);
        lra_probe_result *r = lra_probe_result_new(parts[part], run, &origin);
        lra_probe_result_set(r, "audit", "%s", settings);
        if (m->checks) lra_model_checks_copy(&r->checks, m->checks);
        rc = part == ATTENTION ? lra_attention_of_model(m->subject, examples_of(m), r, e)
                               : measure_kernels(m, r, e);
        if (rc == 0) rc = lra_probe_result_write(path, r, e);
        if (rc == 0) lra_note("wrote %s", path);
        if (rc == 0)
            *out = r;
        else
            lra_probe_result_free(r);
    }
    lra_result_free(run);
    lra_free(from);
    if (rc != 0) lra_fail_in(e, "part '%s'", parts[part]);
    return rc;
}

int lra_audit_maps_plan(const lra_audit_maps *m, int part, lra_err *e)
{
    char none[] = "";
    const lra_result run = {.task = none,
                            .model = none,
                            .preset = none,
                            .precision = none,
                            .fingerprint = none,
                            .run = none,
                            .config = none};
    bool file = part == KERNELS && lra_option_text(m->options, "kernels-file");
    if (lra_audit_maps_undefined(m, part) || file) return 0;
    lra_probe_result *r = lra_probe_result_new(parts[part], &run, &(lra_origin){0});
    int rc = part == ATTENTION ? lra_attention_of_model(m->subject, examples_of(m), r, e)
                               : measure_kernels(m, r, e);
    lra_probe_result_free(r);
    return rc;
}

/* Prints the cost of a part. */
static void tell(const lra_audit_maps *m, int part, bool there)
{
    const char *measured = there ? " (measured)" : "";
    double passes = 0;
    int64_t examples = part == ATTENTION ? examples_and_cost(m, &passes) : 0;
    if (part == ATTENTION)
        lra_note("  %-12s %10.0f passes, %lld examples%s  distances, sinks and kinds of heads",
                 parts[part], passes, (long long)examples, measured);
    else
        lra_note("  %-12s %10.0f passes%s  reach and decay of convolution kernels", parts[part], 0.,
                 measured);
}

/* True if --parts names one part. */
static bool alone(const lra_audit_maps *m)
{
    const char *list = lra_option_text(m->options, "parts");
    return list && !strchr(list, ',');
}

int lra_audit_maps_measure(const lra_audit_maps *m, int part, lra_probe_result **out, lra_err *e)
{
    const char *why = lra_audit_maps_undefined(m, part);
    *out = NULL;
    if (why) {
        if (alone(m)) return lra_fail_usage(e, "part '%s' is undefined: %s", parts[part], why);
        lra_note("  %-12s undefined: %s", parts[part], why);
        return 0;
    }
    char *path = lra_format("%s/%s.h5", m->folder, parts[part]), *settings = settings_of(m, part);
    lra_probe_result *old = saved(m, part, path, settings);
    int rc = 0;
    tell(m, part, old != NULL);
    if (old) {
        lra_note("unchanged: %s", path);
        *out = old;
        lra_note("unchanged: %s", path);
    } else if (!lra_option_flag(m->options, "dry-run")) {
        char *file = lra_format("%s/lock", m->folder);
        int lock = lra_lock_wait(file, e);
        rc = lock >= 0 ? measure(m, part, path, settings, out, e) : LRA_FAILED;
        lra_unlock(lock);
        lra_free(file);
    }
    if (rc == LRA_ABSENT && !alone(m)) { /* the model does not answer a request, or not yet */
        lra_note("%s: left out", e->msg);
        rc = 0;
    }
    lra_free(settings);
    lra_free(path);
    return rc;
}
