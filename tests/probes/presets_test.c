/* Presets for all combinations: every model can be built for every task with every preset, or is
 * rejected for a reason in the golden file. Networks are built in this process, without data. */
#include "tests/fixtures/test.h"

#include <string.h>

#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/version.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/training/settings.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/published.h"
#include "probes/run/settings.h"
#include "probes/run/sources.h"
#include "tests/fixtures/golden.h"

/* ---- a model that says nothing of any task: no presets, never causal ------------------------- */

static lra_build told; /* arguments of the last call of encode() */

static lra_tensor *encode(const lra_build *b, lra_tensor *x)
{
    told = *b;
    return lra_layer_linear(x, "linear", lra_config_int(b->config, "width"), LRA_ACT_RELU, NULL);
}

static int64_t reach(const lra_config *c)
{
    (void)c;
    return 0;
}

static const lra_model bag = {
    .name = "bag",
    .keys = (const lra_key[]){LRA_INT_KEY("width", "16", 1, 64, "channels"), LRA_KEYS_END},
    .encode = encode,
    .reach = reach};

/* A model with settings published by three papers for ListOps, and by one for Text. */
static const lra_model_preset published[] = {
    {"text listops", "paper", "las", "width=2", NULL},
    {"listops", "paper", "own", "width=3", NULL},
    {"listops", "paper", "locality", "width=4 rate=0.25 every=3", NULL},
    {"text", "paper", "own", "width=5", NULL},
    {NULL, "paper", NULL, "width=6", NULL},
    {NULL, "quick", NULL, "width=7", "1,2"},
    {NULL, NULL, NULL, NULL, NULL}};

/* ---- jobs ------------------------------------------------------------------------------------ */

static const lra_option *const tables[] = {lra_job_options, NULL};
static const lra_command command = {"presets", "", "", "", NULL, 0, -1, tables};

/* Configures a job with these options; the caller closes it. Returns 0, or a negative code and a
 * message. */
static int configure(lra_job *r, const lra_model *m, const lra_task *t, int n, const char **words,
                     lra_err *e)
{
    char *argv[8];
    for (int i = 0; i < n; i++) argv[i] = lra_copy_text(words[i]);
    lra_options *o = lra_options_parse(&command, n, argv, e);
    if (!o) fail_msg("%s", e->msg);
    *r = (lra_job){.task = t, .model = m};
    int rc = lra_job_configure(r, o, NULL, e);
    lra_options_free(o);
    for (int i = 0; i < n; i++) lra_free(argv[i]);
    return rc;
}

/* Builds the network for the longest bucket that data of these settings can have, as training
 * does. */
static int build(const lra_job *r, lra_err *e)
{
    const lra_task *t = r->task;
    lra_train_spec train = {0};
    int64_t steps = lra_task_longest(t, r->task_config);
    lra_dataset d = {.task = t, .vocab = t->input.vocab, .max_length = steps, .longest = steps};
    lra_train_settings(&train, r->train_config);
    lra_network_spec spec = lra_objective_network(r->objective, &d, train.pool);
    lra_network k = lra_network_build(LRA_F32, LRA_TRAIN, r->model, r->model_config, &spec,
                                      train.batch, spec.T_max);
    int rc = lra_graph_check(k.graph, e);
    lra_graph_free(k.graph);
    return rc;
}

typedef struct {
    lra_text refused;
    int n, built, published; /* published: number of built cells with settings from a paper */
} cells;

/* Builds one combination, and counts whether it was built or rejected. */
static void visit(cells *c, const lra_model *m, const lra_task *t, const char *preset)
{
    lra_err e = {{0}};
    lra_job r;
    const char *words[] = {"--preset", preset};
    int rc = configure(&r, m, t, 2, words, &e);
    if (rc == 0 && build(&r, &e) != 0) fail_msg("%s %s %s: %s", m->name, t->name, preset, e.msg);
    c->n++;
    if (rc == 0)
        c->built++, c->published += strchr(preset, ':') != NULL;
    else
        lra_text_add(&c->refused, "%s %s %s: %s\n", m->name, t->name, preset, e.msg);
    lra_job_close(&r);
}

/* Builds the model with the settings of each paper that publishes settings for it on the task. */
static void visit_papers(cells *c, const lra_model *m, const lra_task *t)
{
    for (int i = 0; lra_publishers[i]; i++) {
        if (!lra_model_preset_find(m, t->name, "paper", lra_publishers[i])) continue;
        char *preset = lra_format("paper:%s", lra_publishers[i]);
        visit(c, m, t, preset);
        lra_free(preset);
    }
}

TEST(every_model_every_task_every_preset)
{
    cells c = {.n = 0};
    for (int m = -1; m < 0 || lra_model_at(m); m++)
        for (int t = 0; lra_task_at(t); t++) {
            const lra_model *model = m < 0 ? &bag : lra_model_at(m);
            for (int p = 0; lra_preset_names[p]; p++)
                visit(&c, model, lra_task_at(t), lra_preset_names[p]);
            visit_papers(&c, model, lra_task_at(t));
        }
    print_message("%d cells of model x task x preset: %d build (%d of one paper), %d are refused\n",
                  c.n, c.built, c.published, c.n - c.built);
    assert_true(c.built > c.n / 2 && c.published > 0);
    check_golden("presets-refused.txt", c.refused.s);
}

/* An encoder receives the longest possible input length, and the width of images. */
TEST(encoders_are_told_what_they_are_built_for)
{
    static const struct {
        const lra_task *task;
        int64_t T_max, side;
    } known[] = {{&lra_task_listops, 2048, 0},  {&lra_task_retrieval, 4032, 0},
                 {&lra_task_image, 1024, 32},   {&lra_task_pmnist, 832, 0},
                 {&lra_task_smnist, 832, 28},   {&lra_task_pathfinder, 1024, 32},
                 {&lra_task_path_x, 16384, 128}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lra_err e = {{0}};
        lra_job r;
        const char *words[] = {"--preset", "paper"};
        if (configure(&r, &bag, known[i].task, 2, words, &e) != 0 || build(&r, &e) != 0)
            fail_msg("%s", e.msg);
        bool same = told.T_max == known[i].T_max && told.grid.rows == known[i].side;
        if (!same || told.grid.columns != told.grid.rows || told.causal)
            fail_msg("%s: T_max %lld, a grid of %lld x %lld", known[i].task->name,
                     (long long)told.T_max, (long long)told.grid.rows,
                     (long long)told.grid.columns);
        lra_job_close(&r);
    }
}

/* ---- whose settings -------------------------------------------------------------------------- */

static void width_is(const lra_task *t, const char *preset, int64_t width)
{
    lra_err e = {{0}};
    lra_job r;
    lra_model m = bag;
    m.presets = published;
    const char *words[] = {"--preset", preset};
    OK(configure(&r, &m, t, 2, words, &e));
    assert_int_equal(lra_config_int(r.model_config, "width"), width);
    lra_job_close(&r);
}

TEST(published_settings_are_chosen_by_name)
{
    /* the locality paper has priority over the paper of the model */
    width_is(&lra_task_listops, "paper", 4);
    width_is(&lra_task_listops, "paper:own", 3);
    width_is(&lra_task_listops, "paper:las", 2);
    width_is(&lra_task_text, "paper", 5); /* the paper of the model has priority over others */
    width_is(&lra_task_image, "paper", 6);
    width_is(&lra_task_image, "quick", 7);
    /* there is no preset for this case, so defaults apply */
    width_is(&lra_task_image, "small", 16);
    lra_err e = {{0}};
    lra_job r;
    lra_model m = bag;
    m.presets = published;
    const char *wrong[][2] = {
        {"paper:spt", "no settings of model 'bag' for task 'listops' are published by 'spt' "
                      "(locality, las, own)"},
        {"papr",
         "unknown preset 'papr'; did you mean 'paper'? (quick, small, paper or paper:NAME)"}};
    for (int i = 0; i < 2; i++) {
        const char *words[] = {"--preset", wrong[i][0]};
        assert_int_equal(configure(&r, &m, &lra_task_listops, 2, words, &e), LRA_USAGE);
        assert_string_equal(e.msg, wrong[i][1]);
        lra_job_close(&r);
    }
}

/* ---- all published settings ------------------------------------------------------------------ */

static void add_settings(lra_text *to, const char *head, const lra_config *c)
{
    lra_text_add(to, "  %-9s", head);
    for (int i = 0; lra_config_key(c, i); i++)
        lra_text_add(to, " %s=%s", lra_config_key(c, i), lra_config_value(c, i));
    lra_text_add(to, "\n");
}

static void add_published(lra_text *to, const char *paper, const lra_model *m, const lra_task *t)
{
    lra_err e = {{0}};
    lra_job r;
    char *preset = lra_format("paper:%s", paper);
    const char *words[] = {"--preset", preset};
    if (configure(&r, m, t, 2, words, &e) != 0) fail_msg("%s %s %s", m->name, t->name, e.msg);
    r.data_dir = "official"; /* marks the data as official files, as used in the paper */
    char *deviations = lra_published_deviations(&r);
    lra_text_add(to, "%s %s %s\n", paper, m->name, t->name);
    add_settings(to, "task", r.task_config);
    add_settings(to, "model", r.model_config);
    add_settings(to, "training", r.train_config);
    for (const char *at = deviations; *at; at += strcspn(at, "\n") + 1)
        lra_text_add(to, "  deviation %.*s\n", (int)strcspn(at, "\n"), at);
    lra_free(deviations);
    lra_free(preset);
    lra_job_close(&r);
}

/* The settings and the deviations of every cell (paper, model, task) that a paper describes. */
TEST(published_settings_are_those_of_the_golden_file)
{
    lra_text all = {0};
    for (int p = 0; lra_publishers[p]; p++)
        for (int m = 0; lra_model_at(m); m++)
            for (int t = 0; lra_task_at(t); t++)
                if (lra_model_preset_find(lra_model_at(m), lra_task_at(t)->name, "paper",
                                          lra_publishers[p]))
                    add_published(&all, lra_publishers[p], lra_model_at(m), lra_task_at(t));
    check_golden("published-settings.txt", all.s);
}

/* Checks the value of a key of the task or of training. */
static void value_is(const lra_model *m, const lra_task *t, const char *preset, const char *key,
                     const char *value)
{
    lra_err e = {{0}};
    lra_job r;
    const char *words[] = {"--preset", preset};
    OK(configure(&r, m, t, 2, words, &e));
    const char *is = lra_config_text_or(r.train_config, key,
                                        lra_config_text_or(r.task_config, key, ""));
    if (strcmp(is, value) != 0)
        fail_msg("%s %s %s: %s=%s, expected %s", m->name, t->name, preset, key, is, value);
    lra_job_close(&r);
}

/* Techniques belong to a paper and a task: those of the locality paper apply in all of its cells
 * and in no other. */
TEST(techniques_belong_to_papers)
{
    static const struct {
        const lra_task *task;
        const char *key, *on, *off;
    } known[] = {{&lra_task_listops, "augment", "1", "0"},
                 {&lra_task_image, "augment", "1", "0"},
                 {&lra_task_text, "objective", "denoise", "classify"},
                 {&lra_task_retrieval, "objective", "denoise", "classify"},
                 {&lra_task_pathfinder, "sets", "three", "one"}};
    static const char *const others[] = {"las", "spt", "lra", "own"};
    int n = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (int m = 0; lra_model_at(m); m++) {
            const lra_model *model = lra_model_at(m);
            const lra_task *t = known[i].task;
            if (lra_model_preset_find(model, t->name, "paper", "locality"))
                n++, value_is(model, t, "paper:locality", known[i].key, known[i].on);
            for (size_t p = 0; p < 4; p++) {
                if (!lra_model_preset_find(model, t->name, "paper", others[p])) continue;
                char *preset = lra_format("paper:%s", others[p]);
                value_is(model, t, preset, known[i].key, known[i].off);
                lra_free(preset);
            }
        }
    assert_int_equal(n, 5 * 6); /* 5 tasks of 6 models: resconv, transformer, gmlp, s4, s5, mega */
    value_is(&lra_model_resconv, &lra_task_pathfinder, "paper", "epochs", "67");
    value_is(&lra_model_s4, &lra_task_pathfinder, "paper:own", "epochs", "200");
    /* no paper has settings for this model */
    value_is(&lra_model_luna, &lra_task_image, "paper", "augment", "0");
}

static void deviates(const lra_model *m, const lra_task *t, int n, const char **words,
                     const char *line, bool expected)
{
    lra_err e = {{0}};
    lra_job r;
    OK(configure(&r, m, t, n, words, &e));
    char *all = lra_published_deviations(&r);
    if ((strstr(all, line) != NULL) != expected)
        fail_msg("%s %s: '%s' %s in\n%s", m->name, t->name, line,
                 expected ? "is missing" : "is not expected", all);
    lra_free(all);
    lra_job_close(&r);
}

/* A published technique that is switched off is a deviation, and so is one that the paper does not
 * use. */
TEST(techniques_that_differ_are_deviations)
{
    const char *on[] = {"--preset", "paper:locality"};
    const char *plain[] = {"--preset", "paper:locality", "--objective", "classify"};
    const char *same[] = {"--preset", "paper:locality", "--augment", "0"};
    const char *one[] = {"--preset", "paper:locality", "--set", "sets=one"};
    const char *own[] = {"--preset", "paper:own", "--augment", "1"};
    const char *spt[] = {"--preset", "paper:spt"};
    const char *first[] = {"--preset", "paper:spt", "--objective", "pretrain-masked"};
    const char *quick[] = {"--preset", "quick"};
    const lra_model *m = &lra_model_resconv;
    deviates(m, &lra_task_text, 2, on, " is off", false);
    deviates(m, &lra_task_text, 4, plain, "multitask denoising is off", true);
    deviates(m, &lra_task_listops, 2, on, " is off", false);
    deviates(m, &lra_task_listops, 4, same, "operand shuffling is off", true);
    deviates(m, &lra_task_pathfinder, 4, one, "intermediate and hard sets is off", true);
    deviates(&lra_model_s4, &lra_task_image, 4, own, "not a technique of the paper", true);
    deviates(&lra_model_s4, &lra_task_image, 2, on, "not a technique of the paper", false);
    deviates(&lra_model_s4, &lra_task_text, 2, spt, "self-pretraining is off", true);
    deviates(&lra_model_s4, &lra_task_text, 4, first, "self-pretraining is off", false);
    /* The list says "not stated" if the paper does not give the value. */
    deviates(m, &lra_task_text, 2, on, "gradient clipping, warm-up: not stated", true);
    const char *mega[] = {"--preset", "paper:own"};
    deviates(&lra_model_mega, &lra_task_text, 2, mega, "not stated", false);
    deviates(&lra_model_luna, &lra_task_text, 2, (const char *[]){"--preset", "paper"},
             "no paper states settings", true);
    deviates(m, &lra_task_text, 2, quick, "table 1", false);
}

/* ---- what the user changes ------------------------------------------------------------------- */

static void train_is(const lra_task *t, int n, const char **words, const char *key,
                     const char *value)
{
    lra_err e = {{0}};
    lra_job r;
    OK(configure(&r, &lra_model_resconv, t, n, words, &e));
    assert_string_equal(lra_config_text(r.train_config, key), value);
    lra_job_close(&r);
}

static void refused(const lra_task *t, int n, const char **words, const char *message)
{
    lra_err e = {{0}};
    lra_job r;
    assert_int_equal(configure(&r, &lra_model_resconv, t, n, words, &e), LRA_USAGE);
    assert_string_equal(e.msg, message);
    lra_job_close(&r);
}

/* The preset of `select` contains warmup=0, and the value 0 is a real number like 0.1. */
TEST(kinds_do_not_depend_on_presets)
{
    const char *words[] = {"--preset", "paper", "--set", "warmup=0.1"};
    train_is(&lra_task_select, 4, words, "warmup", "0.1");
    const char *whole[] = {"--set", "warmup=1.0"};
    train_is(&lra_task_listops, 2, whole, "warmup", "1");
    const char *same[] = {"--set", "rate=4e-3"};
    train_is(&lra_task_listops, 2, same, "rate", "0.004");
}

TEST(settings_belong_to_schedules_and_objectives)
{
    const char *every[] = {"--set", "every=3"};
    refused(&lra_task_listops, 2, every,
            "'every' belongs to schedule 'multistep'; the run has 'plateau'");
    const char *total[] = {"--set", "total-steps=3"};
    refused(&lra_task_listops, 2, total,
            "'total-steps' belongs to schedules 'cosine' and 'linear'; the run has 'plateau'");
    const char *mask[] = {"--set", "mask=0.2"};
    refused(&lra_task_listops, 2, mask,
            "'mask' belongs to objectives 'denoise' and 'pretrain-masked'; the run has 'classify'");
    const char *distance[] = {"--set", "distance=2"};
    refused(&lra_task_listops, 2, distance,
            "'distance' belongs to tasks 'xor', 'copy', 'select-at' and 1 more; the run has "
            "'listops'");
    const char *near[] = {"--set", "widht=2"};
    refused(
        &lra_task_listops, 2, near,
        "the run has no 'widht'; did you mean 'width'? ('lra-probe list parameters' lists them)");
    /* The preset's final-share does not apply to another schedule; settings of that schedule are
     * accepted in any order. */
    const char *steps[] = {"--set", "every=3", "--set", "schedule=multistep"};
    train_is(&lra_task_listops, 4, steps, "every", "3");
    const char *option[] = {"--schedule", "multistep", "--set", "factor=0.25"};
    train_is(&lra_task_listops, 4, option, "factor", "0.25");
    const char *denoise[] = {"--objective", "denoise"};
    train_is(&lra_task_listops, 2, denoise, "mask", "0.3");
}

/* A key that a schedule does not have is not part of its hash, even if the preset sets it. */
TEST(presets_say_nothing_of_other_schedules)
{
    lra_err e = {{0}};
    lra_job r;
    const char *words[] = {"--schedule", "cosine"};
    assert_int_equal(configure(&r, &lra_model_resconv, &lra_task_listops, 2, words, &e), 0);
    assert_false(lra_config_has(r.train_config, "final-share"));
    assert_true(lra_config_has(r.train_config, "total-steps"));
    lra_job_close(&r);
}

/* ---- hashes ---------------------------------------------------------------------------------- */

static void hash_of(int n, const char **words, char hash[17])
{
    lra_err e = {{0}};
    lra_job r;
    lra_dataset d = {.task = &lra_task_listops};
    OK(configure(&r, &lra_model_resconv, &lra_task_listops, n, words, &e));
    snprintf(d.fingerprint, sizeof d.fingerprint, "0123456789abcdef");
    r.data = &d, r.precision = "f32";
    lra_free(lra_job_config(&r, 0, hash));
    r.data = NULL;
    lra_job_close(&r);
}

/* Learning rates of parameters are relative to the base rate, which the optimizer also receives. */
TEST(settings_fill_what_a_run_is_given)
{
    lra_train_spec s = {0};
    lra_config *c = lra_keys_config(lra_train_keys);
    lra_keys_add(lra_schedule_plateau.keys, c);
    lra_keys_apply(lra_train_keys, c, "rate=0.002 decay=0.03 batch=48 fraction=1 accumulate=2");
    lra_train_settings(&s, c);
    assert_true(s.schedule.rate == 0.002 && s.optimizer.rate == 0.002 && s.optimizer.decay == 0.03);
    assert_true(s.batch == 48 && s.accumulate == 2 && s.fraction == 0);
    assert_true(s.optimizer.beta1 == 0.9 && s.optimizer.beta2 == 0.999 && s.optimizer.clip == 1);
    assert_true(s.schedule.kind == &lra_schedule_plateau && s.schedule.patience == 10);
    lra_config_free(c);
}

TEST(equal_settings_hash_equally)
{
    const char *ways[][6] = {
        {"--set", "rate=4e-3", "--set", "clip=1", "--set", "dropout=0.0"},
        {"--set", "rate=0.004", "--set", "clip=1.0", "--set", "dropout=0"},
        {"--rate", "0.0040", "--clip", "1e0", "--dropout", "0e5"},
        {"--set", "rate=1", "--set", "rate=0.004", "--preset", "quick"},
    };
    char first[17], hash[17];
    hash_of(6, ways[0], first);
    for (size_t i = 1; i < sizeof ways / sizeof *ways; i++) {
        hash_of(6, ways[i], hash);
        assert_string_equal(hash, first);
    }
    const char *other[] = {"--set", "rate=0.0040001"};
    hash_of(2, other, hash);
    assert_string_not_equal(hash, first);
}

/* Results made by other sources are reported: the hash of the sources differs, or, in older files,
 * the revision. */
TEST(other_sources_are_told)
{
    lra_err e = {{0}};
    lra_job r;
    lra_dataset d = {
        .task = &lra_task_listops, .vocab = lra_task_listops.input.vocab, .max_length = 32};
    char s4d[17], again[17], resconv[17];
    d.longest = 32;
    const lra_model *const models[] = {&lra_model_s4d, &lra_model_resconv};
    for (int i = 0; i < 2; i++) {
        OK(configure(&r, models[i], &lra_task_listops, 0, NULL, &e));
        r.data = &d, r.precision = "f32";
        lra_job_sources(&r, i ? resconv : s4d);
        lra_job_sources(&r, again);
        assert_string_equal(again, i ? resconv : s4d);
        lra_result result = {.sources = again, .origin = {.revision = (char *)"abc"}};
        assert_null(lra_job_sources_differ(&r, &result));
        result.sources = (char *)"0123456789abcdef";
        char *why = lra_job_sources_differ(&r, &result);
        assert_non_null(strstr(why, "have changed since revision abc"));
        lra_free(why);
        result.sources = (char *)"";
        why = lra_job_sources_differ(&r, &result);
        assert_non_null(strstr(why, "it was trained with revision abc"));
        lra_free(why);
        result.origin.revision = (char *)(uintptr_t)lra_revision();
        assert_null(lra_job_sources_differ(&r, &result));
        r.data = NULL;
        lra_job_close(&r);
    }
    assert_string_not_equal(s4d, resconv);
}
