/* Tables of settings in the papers, printed from presets (settings_tables.h). To add one: a record
 * here. */
#include "probes/run/settings_tables.h"

#include <string.h>

#include "datasets/registry.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/nearest.h"
#include "probes/run/job.h"
#include "probes/run/job_options.h"
#include "probes/run/settings.h"

enum { TASKS = 6, ROWS = 20 };

/* A row: its label as printed, and the key whose values it contains; "a/b": the values of two keys.
 * NULL key: the text, for properties of a model that no setting changes. */
typedef struct {
    const char *label, *key, *text;
} setting_row;

typedef struct {
    const char *name, *title, *model, *preset;
    const char *task[TASKS], *head[TASKS]; /* ended by NULL */
    setting_row row[ROWS];                 /* ended by a row without a label */
} settings_table;

#define LO "listops"
#define TRAINING                                                                                   \
    {"learning rate", "rate", NULL}, {"batch size", "batch", NULL},                                \
        {"weight decay", "decay", NULL}, {"max epochs", "epochs", NULL},                           \
    {                                                                                              \
        "max epochs, without techniques", "epochs without", NULL                                   \
    }

static const settings_table tables[] = {
    {"loc-T5",
     "Table 5: hyper-parameters of the Transformer",
     "transformer",
     "paper:locality",
     {LO, "image", "pathfinder", "text", "retrieval", NULL},
     {"ListOps", "Image", "Pathfinder", "Text", "Retrieval"},
     {{"embedding width", "width", NULL},
      {"depth", "layers", NULL},
      {"heads", "heads", NULL},
      {"FF width", "hidden", NULL},
      {"dropout", "dropout", NULL},
      {"activation", "act", NULL},
      {"norm", NULL, "layer"},
      {"norm placement", "norm", NULL},
      {"positions", "positions", NULL},
      {"rotary base", "base", NULL},
      {"pooling", "pool", NULL},
      TRAINING}},
    {"loc-T6",
     "Table 6: hyper-parameters of gMLP",
     "gmlp",
     "paper:locality",
     {"image", "pathfinder", "text", "retrieval", LO, NULL},
     {"Image", "Pathfinder", "Text", "Retrieval", "ListOps"},
     {{"depth", "layers", NULL},
      {"D / H", "width/hidden", NULL},
      {"independent channels", "kernels", NULL},
      {"max length", "max length", NULL},
      {"dropout", "dropout", NULL},
      {"norm", NULL, "layer"},
      {"activation", NULL, "gelu"},
      {"pooling", "pool", NULL},
      TRAINING}},
    {"loc-T7",
     "Table 7: hyper-parameters of the residual convolution",
     "resconv",
     "paper:locality",
     {"image", "pathfinder", "text", "retrieval", LO, NULL},
     {"Image", "Pathfinder", "Text", "Retrieval", "ListOps"},
     {{"depth", "layers", NULL},
      {"D / H", "width/hidden", NULL},
      {"groups", "groups", NULL},
      {"dropout", "dropout", NULL},
      {"norm", NULL, "layer"},
      {"activation", NULL, "relu"},
      {"pooling", "pool", NULL},
      {"kernels", "kernels of the ladder", NULL},
      TRAINING}},
    {"las-T9",
     "Table 9: hyper-parameters of LaS attention",
     "las",
     "paper:las",
     {LO, "text", "retrieval", "image", "pathfinder", NULL},
     {"ListOps", "Text", "Retrieval", "Image", "Pathfinder"},
     {{"depth", "layers", NULL},
      {"H", "width", NULL},
      {"heads", "heads", NULL},
      {"norm", "norm-kind", NULL},
      {"norm placement", "norm", NULL},
      {"learning rate", "rate", NULL},
      {"batch size", "batch", NULL},
      {"epochs", "epochs", NULL},
      {"weight decay", "decay", NULL},
      {"P", "average", NULL},
      {"B", "bound", NULL}}},
};
enum { N = sizeof tables / sizeof *tables };

const char *lra_settings_table_at(int i, const char **title)
{
    if (i < 0 || i >= N) return NULL;
    *title = tables[i].title;
    return tables[i].name;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const lra_option *const job_tables[] = {lra_job_options, NULL};
/* Description for lra_options_parse(), with only the members that it needs. */
static const lra_command command = {.program = "lra-probe list", .tables = job_tables};

static int configure(lra_job *r, const settings_table *t, int column, const char *techniques,
                     lra_err *e)
{
    char *argv[] = {lra_format("--preset=%s", t->preset),
                    lra_format("--techniques=%s", techniques)};
    int n = *techniques ? 2 : 1;
    lra_options *o = lra_options_parse(&command, n, argv, e);
    *r = (lra_job){.task = lra_task_find(t->task[column], e), .model = lra_model_find(t->model, e)};
    int rc = o && r->task && r->model ? lra_job_configure(r, o, NULL, e) : LRA_USAGE;
    lra_options_free(o);
    lra_free(argv[0]);
    lra_free(argv[1]);
    return rc;
}

static const char *value_of(const lra_job *r, const char *key)
{
    const lra_config *of[] = {r->model_config, r->train_config, r->task_config};
    const char *value = NULL;
    for (int i = 0; i < 3 && !value; i++) value = lra_config_text_or(of[i], key, NULL);
    return value ? value : "-";
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Adds the cell of a row. without: the same job without techniques. */
static void add_cell(lra_table *t, const setting_row *row, const lra_job *r, const lra_job *without)
{
    const char *slash = row->key ? strchr(row->key, '/') : NULL;
    if (!row->key)
        lra_table_cell(t, "%s", row->text);
    else if (strcmp(row->key, "max length") == 0)
        lra_table_cell(t, "%lld", (long long)lra_task_longest(r->task, r->task_config));
    else if (strcmp(row->key, "kernels of the ladder") == 0)
        lra_table_cell(t, "%s", r->plan.rungs ? r->plan.rungs : "-");
    else if (strcmp(row->key, "epochs without") == 0)
        lra_table_cell(t, "%s", value_of(without, "epochs"));
    else if (slash) {
        char *first = lra_format("%.*s", (int)(slash - row->key), row->key);
        lra_table_cell(t, "%s/%s", value_of(r, first), value_of(r, slash + 1));
        lra_free(first);
    } else
        lra_table_cell(t, "%s", value_of(r, row->key));
}

static lra_table *fill(const settings_table *s, const lra_job *job, const lra_job *without, int n)
{
    const char *head[TASKS + 1] = {"setting"};
    for (int c = 0; c < n; c++) head[c + 1] = s->head[c];
    char *title = lra_format("%s (preset %s of %s)", s->title, s->preset, s->model);
    lra_table *t = lra_table_new(title, n + 1, head);
    lra_free(title);
    for (int r = 0; r < ROWS && s->row[r].label; r++) {
        lra_table_row(t);
        lra_table_cell(t, "%s", s->row[r].label);
        for (int c = 0; c < n; c++) add_cell(t, &s->row[r], &job[c], &without[c]);
    }
    return t;
}

lra_table *lra_settings_table(const char *name, lra_err *e)
{
    const char *ids[N];
    const settings_table *s = NULL;
    for (int i = 0; i < N; i++) {
        ids[i] = tables[i].name;
        if (strcmp(name, tables[i].name) == 0) s = &tables[i];
    }
    if (!s) {
        lra_fail_unknown(e, "table of settings", name, N, ids, "lra-probe list settings");
        return NULL;
    }
    lra_job job[TASKS] = {{0}}, without[TASKS] = {{0}};
    int n = 0, rc = 0;
    for (; n < TASKS && s->task[n] && rc == 0; n++) {
        rc = configure(&job[n], s, n, "", e);
        if (rc == 0) rc = configure(&without[n], s, n, "none", e);
    }
    lra_table *t = rc == 0 ? fill(s, job, without, n) : NULL;
    for (int i = 0; i < n; i++) {
        lra_job_close(&job[i]);
        lra_job_close(&without[i]);
    }
    return t;
}
