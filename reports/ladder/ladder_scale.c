/* Determines the scale of the gains of a ladder: reference and chance (ladder_scale.h). */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "reports/ladder/ladder_scale.h"
#include "reports/results/published.h"
#include "reports/views/run_names.h"

/* References that are not names of runs. */
enum { N_FIXED = 3 };
static const char *const fixed[N_FIXED] = {"widest", "best", "published"};

/* Uses a run as reference; it must have the same rows and the same metric. */
static int set_run(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    const lra_result *first = v->first, *r = scale->run;
    lra_ladder_data *d = &v->data;
    if (strcmp(r->fingerprint, first->fingerprint) != 0 || r->n != first->n)
        return lra_fail(e,
                        "reference '%s' has task '%s' and data %s, the ladder has task '%s' and "
                        "data %s; name a run on the same data",
                        scale->reference, r->task, r->fingerprint, first->task, first->fingerprint);
    if (lra_result_metric(r) != v->metric)
        return lra_fail(e,
                        "the metric of reference '%s' is %s, that of the ladder "
                        "%s",
                        scale->reference, lra_result_metric(r)->text, v->metric->text);
    d->kind = LRA_REFERENCE_RUN;
    d->reference_reach = r->reach;
    if (d->values)
        d->reference_row = lra_ladder_keep(v, lra_result_scores(r));
    else
        d->reference_correct = lra_ladder_keep(v, lra_result_correct(r));
    snprintf(v->reference, sizeof v->reference, "run %s-%s-%s seed %" PRId64, r->task, r->model,
             r->run, r->seed);
    return 0;
}

static int set_best(lra_ladder_view *v, lra_err *e)
{
    if (v->best_rung < 0)
        return lra_fail(e,
                        "reference 'best' needs validation values, which the results of task "
                        "'%s' do not have",
                        v->first->task);
    char name[48];
    v->data.kind = LRA_REFERENCE_RUNG;
    v->data.reference_rung = v->best_rung;
    snprintf(v->reference, sizeof v->reference, "%s, the best rung on validation",
             lra_ladder_rung_name(&v->kind, v->data.rung[v->best_rung].kernel, name));
    return 0;
}

static int set_published(lra_ladder_view *v, double mega, lra_err *e)
{
    bool paper = strcmp(v->first->preset, "paper") == 0;
    if (!paper || isnan(mega))
        return lra_fail_usage(e,
                              "reference 'published' needs preset 'paper' and a task of Table 1 "
                              "of the locality paper, found preset '%s' and task '%s'",
                              v->first->preset, v->first->task);
    v->data.kind = LRA_REFERENCE_NUMBER;
    v->data.reference = mega;
    snprintf(v->reference, sizeof v->reference, "the published value of MEGA");
    return 0;
}

/* Sets chance. For tasks with classes, also sets the score of the majority label for each row
 * (1: correct), so that differences from chance are paired by row. Uniform chance is a single
 * number. */
static int set_chance(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    const lra_result *first = v->first;
    lra_ladder_data *d = &v->data;
    if (scale->uniform && !first->n_classes)
        return lra_fail_usage(e, "chance 'uniform' needs a classification task, found task '%s'",
                              first->task);
    v->chance = "prediction without input";
    d->chance = lra_ladder_value(v, lra_result_chance(first));
    if (!first->n_classes) return 0;
    bool of_training;
    int32_t common = lra_result_common_label(first, &of_training);
    v->chance = scale->uniform ? "uniform over classes"
                : of_training  ? "most frequent training label"
                               : "most frequent label";
    if (scale->uniform) {
        d->chance = 1 / (double)first->n_classes;
        return 0;
    }
    uint8_t *right = lra_ladder_keep(v, lra_alloc((size_t)d->n + 1));
    for (int64_t i = 0; i < d->n; i++) right[i] = first->label[i] == common;
    d->chance_correct = right;
    return 0;
}

int lra_ladder_set_scale(lra_ladder_view *v, const lra_ladder_scale *scale, lra_err *e)
{
    double mega = lra_published("locality", "1", "mega", NULL, v->first->task, "accuracy") / 100;
    bool paper = strcmp(v->first->preset, "paper") == 0;
    const char *wanted = scale->reference;
    if (!wanted) wanted = paper && !isnan(mega) ? "published" : "widest";
    int rc = set_chance(v, scale, e);
    if (rc != 0) return rc;
    if (scale->run) return set_run(v, scale, e);
    if (strcmp(wanted, "published") == 0) return set_published(v, mega, e);
    if (strcmp(wanted, "best") == 0) return set_best(v, e);
    snprintf(v->reference, sizeof v->reference, "the widest rung");
    return 0;
}

/* ---- options --------------------------------------------------------------------------------- */

const lra_option lra_ladder_scale_options[] = {
    {.name = "reference",
     .kind = LRA_OPTION_TEXT,
     .arg = "widest|best|published|RUN",
     .help = "model with gain 1: the widest rung, the best rung on validation, the published MEGA "
             "(default of preset paper), or a run"},
    {.name = "chance",
     .kind = LRA_OPTION_CHOICE,
     .value = "majority",
     .choices = "majority|uniform",
     .help = "prediction with gain 0: the most frequent class, or uniform over classes"},
    {.name = NULL}};

/* Fails with a message that suggests the most similar names of runs below OUT. */
static int no_such_run(const char *name, const char *out, lra_err *e)
{
    lra_err ignored;
    lra_result **list = NULL;
    const char *known[512];
    char *names[512];
    int n = lra_results_load(1, &out, &list, &ignored), k = 0;
    for (; k < n && k < 512 - N_FIXED; k++)
        known[k] = names[k] = lra_format("%s-%s-%s", list[k]->task, list[k]->model, list[k]->run);
    for (int i = 0; i < N_FIXED; i++) known[k + i] = fixed[i];
    char *show = lra_format("lra-report show %s", out);
    int rc = lra_fail_unknown(e, "reference", name, k + N_FIXED, known, show);
    lra_free(show);
    for (int i = 0; i < k; i++) lra_free(names[i]);
    if (n >= 0) lra_results_free(list, n);
    return rc;
}

int lra_ladder_scale_open(lra_ladder_scale *s, const lra_options *o, const char *out, lra_err *e)
{
    *s = (lra_ladder_scale){.reference = lra_option_text(o, "reference")};
    s->uniform = strcmp(lra_option_text(o, "chance"), "uniform") == 0;
    const char *name = s->reference;
    for (int i = 0; i < N_FIXED; i++)
        if (!name || strcmp(name, fixed[i]) == 0) return 0;
    e->msg[0] = 0;
    char *found = lra_file_exists(name) ? lra_copy_text(name) : lra_run_by_name(name, out, e);
    const char *place = found;
    lra_result **list = NULL;
    int n = 0, rc = place ? 0 : *e->msg ? LRA_USAGE : no_such_run(name, out, e);
    if (place) n = lra_results_load(1, &place, &list, e);
    if (place && n != 1)
        rc = n < 0 ? LRA_FAILED
                   : lra_fail(e, "reference '%s' has %d results, expected 1", place, n);
    else if (place)
        s->run = list[0], list[0] = NULL;
    if (n > 0) lra_results_free(list, n);
    lra_free(found);
    return rc;
}

void lra_ladder_scale_close(lra_ladder_scale *s)
{
    lra_result_free(s->run);
    s->run = NULL;
}
