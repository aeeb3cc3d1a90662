/* lra-probe list KIND: prints a registry as text or as JSON. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "datasets/loader/augment.h"
#include "datasets/registry.h"
#include "kernels/base/core/log.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "kernels/cpu/device.h"
#include "kernels/cpu/features.h"
#include "kernels/cuda/device.h"
#include "kernels/graph/op.h"
#include "models/model.h"
#include "models/training/objective.h"
#include "models/training/schedule.h"
#include "probes/probe.h"
#include "probes/run/device.h"
#include "probes/run/key_tables.h"
#include "probes/run/option_rows.h"
#include "probes/run/preset.h"
#include "probes/run/settings_tables.h"
#include "reports/papers/layout.h"

static const lra_option own[] = {
    LRA_JSON_OPTION("print the list as one JSON document"),
    {.name = "all",
     .kind = LRA_OPTION_FLAG,
     .help = "list presets: include every model, task and preset (over 2,500 rows)"},
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};
static const lra_command command = {
    .program = "lra-probe list",
    .summary =
        "Lists the tasks, models, presets, devices ... of this build; NAME selects one task or "
        "model.",
    .usage = "tasks|models|probes|ops|devices|presets|parameters|objectives|schedules|"
             "augmentations|experiments|settings [NAME]",
    .examples = "  lra-probe list models\n"
                "  lra-probe list parameters listops\n"
                "  lra-probe list presets listops",
    .min_args = 1,
    .max_args = 2,
    .tables = tables,
};

/* Arguments of a list. only: NAME (Nullable); all: --all. */
typedef struct {
    const char *only;
    bool all;
} query;

/* ---- rows: objects whose first member is a name ---------------------------------------------- */

/* Appends a row (a JSON object) with this name. */
static json_t *add(json_t *rows, const char *name)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", json_string(name));
    json_array_append_new(rows, row);
    return row;
}

/* Sets a text member of a row; omits empty texts. */
static void put(json_t *row, const char *key, const char *text)
{
    if (text && *text) json_object_set_new(row, key, json_string(text));
}

static void put_settings(json_t *row, const lra_key *keys)
{
    char *text = lra_keys_text(keys);
    put(row, "settings", text);
    lra_free(text);
}

static int tasks(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_task_at(i); i++)
        put(add(rows, lra_task_at(i)->name), "summary", lra_task_at(i)->summary);
    return 0;
}

static int models(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_model_at(i); i++) {
        const lra_model *m = lra_model_at(i);
        json_t *row = add(rows, m->name);
        put(row, "summary", m->summary);
        put(row, "paper", m->paper);
        put(row, "axis", m->axis);
        put(row, "deviations", m->deviations);
        put_settings(row, m->keys);
    }
    return 0;
}

static int ops(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_op_at(i); i++) {
        const lra_op *op = lra_op_at(i);
        const char *const flag[] = {op->flags & LRA_LEAF ? "leaf" : NULL,
                                    op->flags & LRA_INPLACE ? "in-place" : NULL,
                                    op->flags & LRA_ALIAS ? "alias" : NULL,
                                    op->flags & LRA_NOGRAD ? NULL : "has a gradient"};
        lra_text flags = {0};
        lra_text_add(&flags, "%s", "");
        for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
            if (flag[k]) lra_text_add(&flags, "%s%s", flags.n ? ", " : "", flag[k]);
        put(add(rows, op->name), "summary", flags.s);
        lra_text_free(&flags);
    }
    return 0;
}

static int probes(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_probe_at(i); i++)
        put(add(rows, lra_probe_at(i)->name), "summary", lra_probe_at(i)->summary);
    return 0;
}

/* Adds a row for each GPU, or one row with the reason why no GPU can be used. */
static int gpus(json_t *rows, lra_err *e)
{
    lra_err why = {{0}};
    int n = lra_cuda_count(&why);
    if (!lra_cuda_is_built()) put(add(rows, "cuda"), "summary", "not part of this build");
    if (lra_cuda_is_built() && n == 0) {
        char *libraries = lra_cuda_libraries();
        char *text = lra_format("none usable, %s: %s; %s", lra_cuda_built(), why.msg, libraries);
        put(add(rows, "cuda"), "summary", text);
        lra_free(libraries);
        lra_free(text);
    }
    for (int i = 0; i < n; i++) {
        char text[160], name[24];
        snprintf(name, sizeof name, "cuda:%d", i);
        if (lra_cuda_describe(i, text, sizeof text, e) != 0) return LRA_FAILED;
        char *libraries = lra_cuda_libraries();
        char *more = lra_format("%s, %s, --precision auto is bf16; %s", text, lra_cuda_built(),
                                libraries);
        put(add(rows, name), "summary", more);
        lra_free(libraries);
        lra_free(more);
    }
    return 0;
}

static int devices(json_t *rows, const query *q, lra_err *e)
{
    lra_device d;
    char memory[32];
    (void)q;
    if (lra_cpu_device(&d, 0, e) != 0) return LRA_FAILED;
    char *text = lra_format("%s, instruction level %s, %d threads, %s free, --precision auto is %s",
                            lra_cpu_name(), lra_cpu_best(), d.backend->threads(&d),
                            lra_size_text(memory, lra_memory_free()),
                            lra_job_precision("auto", &d));
    put(add(rows, "cpu"), "summary", text);
    lra_free(text);
    return gpus(rows, e);
}

static int objectives(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_objective_at(i); i++) {
        const lra_objective *o = lra_objective_at(i);
        json_t *row = add(rows, o->name);
        put(row, "summary", o->summary);
        put(row, "paper", o->paper);
        put_settings(row, o->keys);
    }
    return 0;
}

static int schedules(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_schedule_at(i); i++) {
        const lra_schedule_kind *s = lra_schedule_at(i);
        json_t *row = add(rows, s->name);
        put(row, "summary", s->summary);
        put(row, "paper", s->paper);
        put_settings(row, s->keys);
    }
    return 0;
}

static int augmentations(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_augmentation_at(i); i++) {
        const lra_augmentation *a = lra_augmentation_at(i);
        json_t *row = add(rows, a->name);
        put(row, "summary", a->summary);
        put_settings(row, a->keys);
    }
    return 0;
}

static int experiments(json_t *rows, const query *q, lra_err *e)
{
    (void)q, (void)e;
    for (int i = 0; lra_layout_at(i); i++) {
        const lra_layout *l = lra_layout_at(i);
        json_t *row = add(rows, l->id);
        char *paper = lra_format("%s, %.*s", lra_layout_paper(l->paper),
                                 (int)strcspn(l->title, ":"), l->title);
        put(row, "summary", l->summary);
        put(row, "paper", paper);
        lra_free(paper);
    }
    return 0;
}

/* Adds a row for each table of settings in a paper. */
static int settings(json_t *rows, const query *q, lra_err *e)
{
    const char *title;
    (void)q, (void)e;
    for (int i = 0; lra_settings_table_at(i, &title); i++)
        put(add(rows, lra_settings_table_at(i, &title)), "summary", title);
    return 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static void add_key(json_t *rows, const lra_key_table *t, const lra_key *k)
{
    json_t *row = add(rows, k->name);
    char *of = lra_format("%s%s%s", t->kind, *t->name ? " " : "", t->name);
    char *range = lra_key_range(k);
    put(row, "of", of);
    put(row, "kind", lra_key_kind_name(k));
    json_object_set_new(row, "range", json_string(range));
    put(row, "default", k->value);
    put(row, "summary", k->help);
    lra_free(of);
    lra_free(range);
}

/* Adds a row for each key of --set: all keys, or only those of one task, model, schedule or
 * objective, or of training. */
static int parameters(json_t *rows, const query *q, lra_err *e)
{
    const char *names[256], *only = q->only;
    lra_key_table t;
    bool found = !only;
    int n = 0;
    for (int i = 0; lra_key_table_at(i, &t); i++) {
        const char *name = *t.name ? t.name : t.kind;
        if (n < 256) names[n++] = name;
        if (only && strcmp(only, name) != 0) continue;
        found = true;
        for (const lra_key *k = t.keys; k && k->name; k++) add_key(rows, &t, k);
    }
    if (found) return 0;
    return lra_fail_unknown(e, "task, model, schedule or objective", only, n, names,
                            "lra-probe list parameters");
}

/* Adds the row of one combination of task, preset and model. */
static void add_preset(json_t *rows, const lra_task *t, const lra_model *m, const char *name)
{
    lra_preset p;
    lra_err e;
    if (lra_preset_find(t, m, name, &p, &e) != 0) return;
    const lra_budget *b = lra_task_budget(t, name);
    json_t *row = add(rows, t->name);
    char *seeds = lra_format("%d seeds", p.seeds);
    char *axis = p.rungs ? lra_format("%s %s", m->axis, p.rungs) : lra_copy_text("no ladder");
    char *settings = lra_format("%s%s%s%s%s%s%s", b->rows ? b->rows : "", b->rows ? " " : "",
                                p.training, *p.technique ? " " : "", p.technique,
                                *p.size ? " " : "", p.size);
    put(row, "preset", name);
    put(row, "model", m->name);
    put(row, "seeds", seeds);
    put(row, "ladder", axis);
    put(row, "paper", p.published);
    put(row, "settings", settings);
    lra_free(seeds);
    lra_free(axis);
    lra_free(settings);
}

/* Appends the papers that publish settings of a model for a task: " s4 (locality, las)". */
static void add_publishers(lra_text *to, const lra_task *t, const lra_model *m)
{
    int n = 0;
    for (int i = 0; lra_publishers[i]; i++) {
        if (!lra_model_preset_find(m, t->name, "paper", lra_publishers[i])) continue;
        if (n == 0) lra_text_add(to, "%s%s (", to->n ? "; " : "", m->name);
        lra_text_add(to, "%s%s", n++ ? ", " : "", lra_publishers[i]);
    }
    if (n) lra_text_add(to, ")");
}

/* Adds the row of a task at a preset, without a model. */
static void add_budget(json_t *rows, const lra_task *t, const char *name)
{
    const lra_budget *b = lra_task_budget(t, name);
    if (!b) return;
    json_t *row = add(rows, t->name);
    char *seeds = lra_format("%d seeds", b->seeds);
    char *settings = lra_format("%s%s%s", b->rows ? b->rows : "", b->rows ? " " : "", b->training);
    lra_text published = {0};
    for (int m = 0; strcmp(name, "paper") == 0 && lra_model_at(m); m++)
        add_publishers(&published, t, lra_model_at(m));
    put(row, "preset", name);
    put(row, "seeds", seeds);
    put(row, "summary", published.s);
    put(row, "settings", settings);
    lra_text_free(&published);
    lra_free(seeds);
    lra_free(settings);
}

/* Adds all combinations of the task or model `only`; NULL: of all tasks and models. */
static void add_cells(json_t *rows, const char *only)
{
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; lra_preset_names[k]; k++)
            for (int m = 0; lra_model_at(m); m++)
                if (!only || strcmp(only, lra_task_at(i)->name) == 0 ||
                    strcmp(only, lra_model_at(m)->name) == 0)
                    add_preset(rows, lra_task_at(i), lra_model_at(m), lra_preset_names[k]);
}

/* Adds rows of presets. Without NAME and --all, there is one row per task and preset, because there
 * are thousands of combinations with models. */
static int presets(json_t *rows, const query *q, lra_err *e)
{
    const char *names[256];
    int n = 0;
    bool found = !q->only;
    for (int i = 0; lra_task_at(i) && n < 256; i++) names[n++] = lra_task_at(i)->name;
    for (int i = 0; lra_model_at(i) && n < 256; i++) names[n++] = lra_model_at(i)->name;
    for (int i = 0; i < n && !found; i++) found = strcmp(names[i], q->only) == 0;
    if (!found) return lra_fail_unknown(e, "task or model", q->only, n, names, "lra-probe list");
    if (q->only || q->all) {
        add_cells(rows, q->only);
        return 0;
    }
    for (int i = 0; lra_task_at(i); i++)
        for (int k = 0; lra_preset_names[k]; k++)
            add_budget(rows, lra_task_at(i), lra_preset_names[k]);
    return 0;
}

/* ---- printing -------------------------------------------------------------------------------- */

/* Prints rows in columns as wide as their widest text; the last column is not padded. Papers are in
 * brackets, settings on a separate line. */
static void print_text(json_t *rows)
{
    static const char *const columns[] = {"name", "preset", "model", "seeds",
                                          "of",   "kind",   "range", "default"};
    enum { N = sizeof columns / sizeof *columns };
    int width[N] = {0};
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row) for (int k = 0; k < N; k++)
    {
        int n = (int)json_string_length(json_object_get(row, columns[k]));
        if (n > width[k]) width[k] = n;
    }
    json_array_foreach(rows, i, row)
    {
        for (int k = 0; k < N; k++) {
            const char *text = json_string_value(json_object_get(row, columns[k]));
            if (width[k]) printf("%-*s", width[k] + 2, text ? text : "");
        }
        const char *ladder = json_string_value(json_object_get(row, "ladder")),
                   *summary = json_string_value(json_object_get(row, "summary")),
                   *paper = json_string_value(json_object_get(row, "paper")),
                   *settings = json_string_value(json_object_get(row, "settings"));
        printf("%s%s", ladder ? ladder : "", summary ? summary : "");
        if (paper) printf(" (%s)", paper);
        printf("\n");
        const char *deviations = json_string_value(json_object_get(row, "deviations"));
        if (settings) printf("%-*s%s\n", width[0] + 2, "", settings);
        if (deviations) printf("%-*sdiffers from the paper: %s\n", width[0] + 2, "", deviations);
    }
}

static int print(const char *kind, json_t *rows, bool json)
{
    if (!json) {
        print_text(rows);
        return 0;
    }
    json_t *document = json_pack("{s:i, s:O}", "schema", 1, kind, rows);
    json_dumpf(document, stdout, JSON_COMPACT);
    printf("\n");
    json_decref(document);
    return 0;
}

static const struct {
    const char *name;
    int (*rows)(json_t *rows, const query *q, lra_err *e);
    bool by_name; /* the list accepts the argument NAME */
} kinds[] = {{"tasks", tasks, false},
             {"models", models, false},
             {"probes", probes, false},
             {"ops", ops, false},
             {"devices", devices, false},
             {"presets", presets, true},
             {"parameters", parameters, true},
             {"objectives", objectives, false},
             {"schedules", schedules, false},
             {"augmentations", augmentations, false},
             {"experiments", experiments, false},
             {"settings", settings, true}};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static bool rows_are_summaries(const char *kind, const query *q)
{
    return strcmp(kind, "presets") == 0 && !q->only && !q->all;
}

/* Prints a table of settings in a paper. */
static int print_settings(const char *name, bool json, lra_err *e)
{
    lra_table *t = lra_settings_table(name, e);
    int rc = t ? lra_table_print(t, json ? "json" : "text", stdout, e) : LRA_USAGE;
    lra_table_free(t);
    return rc;
}

static int list(const lra_options *o, lra_err *e)
{
    const char *kind = lra_option_arg(o, 0), *names[N_KINDS];
    const query q = {lra_option_arg(o, 1), lra_option_flag(o, "all")};
    for (int i = 0; i < N_KINDS; i++) {
        names[i] = kinds[i].name;
        if (strcmp(kind, kinds[i].name) != 0) continue;
        if (q.only && !kinds[i].by_name)
            return lra_fail_usage(e, "'list %s' takes no name; remove '%s'", kind, q.only);
        if (q.only && kinds[i].rows == settings)
            return print_settings(q.only, lra_option_flag(o, "json"), e);
        json_t *rows = json_array();
        int rc = kinds[i].rows(rows, &q, e);
        if (rc == 0) rc = print(kind, rows, lra_option_flag(o, "json"));
        if (rc == 0 && rows_are_summaries(kind, &q))
            lra_note("models: 'lra-probe list presets TASK', 'lra-probe list presets MODEL', or "
                     "--all");
        json_decref(rows);
        return rc;
    }
    return lra_fail_unknown(e, "kind", kind, N_KINDS, names, "lra-probe list --help");
}

const lra_probe lra_probe_list = {
    "list", "lists tasks, models, parameters, presets, devices ... of this build", &command, list};
