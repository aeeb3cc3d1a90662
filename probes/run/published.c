/* Lists differences between a run and the publication that its preset names.
 *
 * Sources: the locality paper and its tables 5 to 7; table 9 of the LaS paper, and version 1 of the
 * S4 configurations on which that table is based; the public presets of arXiv:2310.02980; the code
 * of the Long Range Arena; the models' own papers. */
#include "probes/run/published.h"

#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/run/technique.h"

#define PATHFINDERS "pathfinder pathfinder-intermediate pathfinder-easy"

/* ---- techniques ------------------------------------------------------------------------------ */

/* Settings that are techniques; off: the value that disables the technique. */
static const struct {
    const char *key, *off, *name;
} known[] = {{"augment", "0", "augmentation of the training rows"},
             {"sets", "one", "training on the easy, intermediate and hard sets"},
             {"objective", "classify", "an auxiliary objective"}};
enum { N_KNOWN = sizeof known / sizeof *known };

/* Value of a key of training or task, or "" if neither has the key. */
static const char *value_of(const lra_job *r, const char *key)
{
    return lra_config_text_or(r->train_config, key, lra_config_text_or(r->task_config, key, ""));
}

/* True if the run has the first "KEY=VALUE" of `settings`. */
static bool has_first(const lra_job *r, const char *settings)
{
    size_t key = strcspn(settings, "="), value = strcspn(settings + key + 1, " ");
    char *name = lra_format("%.*s", (int)key, settings);
    char *is = lra_format("%.*s", (int)value, settings + key + 1);
    bool has = strcmp(value_of(r, name), is) == 0;
    lra_free(name);
    lra_free(is);
    return has;
}

static bool is_pretrained(const lra_job *r)
{
    bool from = *lra_config_text_or(r->train_config, "from", "") != 0;
    return r->from || from || r->weights_path || r->objective->pretrains;
}

static void add_technique(const lra_job *r, const lra_technique *t, lra_text *to)
{
    if (!t) return;
    if (t->settings && !has_first(r, t->settings))
        lra_text_add(to, "%s is off; the paper trains with it (%s)\n", t->name, t->settings);
    if (!t->settings && !is_pretrained(r))
        lra_text_add(to,
                     "%s is off: trained from scratch ('--objective pretrain-masked', then "
                     "'--from RUN' for the paper's other rows)\n",
                     t->name);
}

/* Adds techniques of the run that its paper does not use for the task. */
static void add_foreign(const lra_job *r, const lra_technique *t, lra_text *to)
{
    for (int i = 0; i < N_KNOWN; i++) {
        const char *key = known[i].key, *is = value_of(r, key);
        size_t n = strlen(key);
        if (!*is || strcmp(is, known[i].off) == 0) continue;
        if (strcmp(key, "objective") == 0 && r->objective->pretrains) continue;
        if (t && t->settings && strncmp(t->settings, key, n) == 0 && t->settings[n] == '=')
            continue;
        lra_text_add(to, "%s (%s=%s): not a technique of the paper for this task\n", known[i].name,
                     key, is);
    }
}

/* ---- values that a publication does not state ------------------------------------------------ */

enum { SCHEDULE = 1, CLIP = 2, WARMUP = 4 };

/* Settings that a paper does not state; the first matching row is used. models: NULL means all. */
static const struct {
    const char *paper, *models;
    unsigned unstated;
} statements[] = {
    {"locality", NULL, SCHEDULE | CLIP | WARMUP},
    {"las", NULL, CLIP | WARMUP},
    {"spt", "dlr pythia", CLIP | WARMUP},
    {"spt", NULL, CLIP},
    {"lra", NULL, 0},
    {"own", "mega mega-chunk", 0},
    {"own", "dlr", CLIP | WARMUP},
    {"own", NULL, CLIP},
};

static unsigned unstated_of(const char *paper, const char *model)
{
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        if (strcmp(statements[i].paper, paper) == 0 &&
            (!statements[i].models || lra_task_has_key(statements[i].models, model)))
            return statements[i].unstated;
    return 0;
}

/* Adds the settings that the paper does not state. Missing gradient clipping or warm-up is not
 * reported if the run does not use it either. */
static void add_unstated(const lra_job *r, lra_text *to)
{
    unsigned unstated = unstated_of(r->plan.published, r->model->name);
    if (lra_config_real(r->train_config, "clip") == 0) unstated &= ~(unsigned)CLIP;
    if (lra_config_real(r->train_config, "warmup") == 0) unstated &= ~(unsigned)WARMUP;
    static const char *const name[] = {"factor and patience of the schedule", "gradient clipping",
                                       "warm-up"};
    const char *separator = "";
    for (unsigned i = 0; i < 3; i++) {
        if (!(unstated & (1u << i))) continue;
        lra_text_add(to, "%s%s", separator, name[i]);
        separator = ", ";
    }
    if (unstated) lra_text_add(to, ": not stated in the paper\n");
}

/* ---- other differences ----------------------------------------------------------------------- */

/* Remarks on a paper, for some models and tasks; NULL means all. */
static const struct {
    const char *paper, *models, *tasks, *text;
} remarks[] = {
    {"locality", "resconv", "listops text retrieval image pathfinder",
     "table 1 of the paper does not state whether its training techniques were on"},
    {"locality", NULL, "image",
     "the policy derived from AutoAugment is not published: crop, flip and one of AutoAugment's 25 "
     "pairs of operations, in colour"},
    {"locality", NULL, "image " PATHFINDERS,
     "how levels of pixels become numbers: not stated in the paper"},
    {"locality", "s4 s5 mega", NULL,
     "the paper lowers rates where a run diverges, to values that it does not state; rates here "
     "are "
     "those of the model's own paper"},
    {"locality", "s5", "retrieval",
     "epochs: the paper has fewer than 60 and does not state the number; 20 as in S5's own paper"},
    {"locality", NULL, "listops text retrieval",
     "padding is masked in convolutions and pooling: not stated in the paper"},
    {"las", NULL, PATHFINDERS, "pixels are centred to -1 .. 1, published: 0 .. 1"},
    {"own", "s4 longconv", PATHFINDERS, "pixels are centred to -1 .. 1, published: 0 .. 1"},
    {"spt", "transformer", "listops text retrieval",
     "rate 0.0005: the published preset has 0.05, with which a constant schedule diverges"},
    {"spt", "pythia", NULL,
     "batch 16 and rate 0.0001: the published presets have batches of 1 and other rates"},
    {"lra", NULL, "image " PATHFINDERS " path-x path-x-256",
     "pixels enter as numbers, published: as tokens of an embedding table, with 0 as padding"},
    {"lra", NULL, "listops text retrieval",
     "padding is masked everywhere, published: in some layers"},
};

static bool names(const char *list, const char *name)
{
    return !list || lra_task_has_key(list, name);
}

static void add_remarks(const lra_job *r, lra_text *to)
{
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++)
        if (strcmp(remarks[i].paper, r->plan.published) == 0 &&
            names(remarks[i].models, r->model->name) && names(remarks[i].tasks, r->task->name))
            lra_text_add(to, "%s\n", remarks[i].text);
}

/* True if rows have different lengths, so that batches contain padding. */
static bool has_padding(const lra_task *t)
{
    return t->data.steps == 0 && !t->input.image && t->goal != LRA_GOAL_TOKENS;
}

static void add_data(const lra_job *r, lra_text *to)
{
    const lra_task *t = r->task;
    bool batch_norm = strcmp(lra_config_text_or(r->model_config, "norm-kind", ""), "batch") == 0;
    if (t->data.make && t->files.import && !r->data_dir)
        lra_text_add(to, "data are generated, not the released files\n");
    if (strcmp(lra_config_text_or(r->task_config, "val", ""), "carved") == 0)
        lra_text_add(
            to,
            "the best epoch is selected on rows of the training set, published: on the test set\n");
    if (t->goal == LRA_GOAL_VALUE)
        lra_text_add(to, "the head starts at the mean of the training targets, published: near "
                         "0\n");
    if (!has_padding(t)) return;
    lra_text_add(to, "batches are grouped by length\n");
    if (batch_norm && strcmp(r->plan.published, "locality") != 0)
        lra_text_add(
            to, "padding is excluded from the statistics of batch norms, published: included\n");
}

char *lra_published_deviations(const lra_job *r)
{
    lra_text to = {0};
    const lra_technique *t = lra_technique_find(r->plan.published, r->task->name);
    lra_text_add(&to, "%s", ""); /* an empty text: the result must not be NULL */
    if (strcmp(r->preset, "paper") == 0 && !r->plan.published)
        lra_text_add(&to, "no paper states settings of this model for this task; these are ours\n");
    if (r->plan.published) {
        add_technique(r, t, &to);
        add_foreign(r, t, &to);
        add_data(r, &to);
        add_remarks(r, &to);
    }
    if (r->model->deviations) lra_text_add(&to, "%s\n", r->model->deviations);
    if (r->plan.published) add_unstated(r, &to);
    return to.s;
}
