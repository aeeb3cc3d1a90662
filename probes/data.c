/* lra-probe data: generates, imports, checks, describes and draws the data of a task. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "datasets/formats/png.h"
#include "datasets/loader/dataset.h"
#include "datasets/loader/vocabulary.h"
#include "datasets/prepare.h"
#include "datasets/registry.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/log.h"
#include "kernels/base/os/machine.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/cli/options.h"
#include "kernels/base/os/shell.h"
#include "kernels/base/os/terminal.h"
#include "probes/data/all.h"
#include "probes/data/arrays.h"
#include "probes/data/check.h"
#include "probes/data/describe.h"
#include "probes/data/information.h"
#include "probes/data/sheet.h"
#include "probes/probe.h"
#include "probes/run/job.h"
#include "probes/run/option_rows.h"
#include "probes/run/technique.h"

enum { MOST_SHOWN = 20000 /* maximum number of tokens that are printed for a row */ };

static const lra_option own[] = {
    LRA_PRESET_OPTION("preset of task parameters; paper = the published benchmark"),
    LRA_SET_OPTION("the task"),
    {.name = "seeding",
     .kind = LRA_OPTION_CHOICE,
     .choices = "reference|uniform",
     .help =
         "Pathfinder: placement of the starts of paths; uniform defines another, denser data set"},
    {.name = "make",
     .kind = LRA_OPTION_INT,
     .min = 3,
     .max = 1 << 28,
     .arg = "N",
     .help =
         "generate N rows in total and write them as official files; parameters are the published "
         "benchmark's unless --preset or --set is given"},
    {.name = "check",
     .kind = LRA_OPTION_TEXT,
     .arg = "PATH",
     .help =
         "check the official files below PATH: SHA-256, number of published rows, rows that occur "
         "in several splits, statistics, defects, and labels where they can be recomputed"},
    {.name = "all",
     .kind = LRA_OPTION_FLAG,
     .help = "with --check: check every task whose files are found below the folder, in one table"},
    LRA_DATA_DIR_OPTION(
        " to describe instead of generated data; for task 'file': a file of own data, "
        "or a folder with train and test files"),
    {.name = "import", .kind = LRA_OPTION_TEXT, .arg = "DIR", .help = "same as --data-dir"},
    {.name = "information",
     .kind = LRA_OPTION_FLAG,
     .help =
         "measure the locality of the rows without a model: mutual information between tokens d "
         "positions apart, and between n-grams and the label"},
    {.name = "arrays",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write the rows of all splits as arrays of a safetensors file"},
    {.name = "show",
     .kind = LRA_OPTION_INT,
     .min = 1,
     .max = 1 << 28,
     .arg = "ROW",
     .help = "print row ROW of --split, counted from 1; for ListOps with its evaluation"},
    {.name = "png",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "with --show: also write the row, an image, as PNG"},
    {.name = "sheet",
     .kind = LRA_OPTION_TEXT,
     .arg = "FILE",
     .help = "write augmented training images as one PNG"},
    {.name = "split",
     .kind = LRA_OPTION_TEXT,
     .value = "test",
     .arg = "SPLIT",
     .help = "with --show: split of the row (train, val or test); without --show, for task 'file': "
             "name of the column that contains train, val or test"},
    LRA_OUT_OPTION("output folder; everything is written below it"),
    LRA_LOCK_OPTIONS,
    LRA_THREADS_OPTION("all processors; the rows do not depend on it"),
    LRA_FORCE_OPTION("with --make: replace existing files"),
    LRA_JSON_OPTION("print one JSON document instead of text"),
    {.name = NULL}};
static const lra_option *const tables[] = {own, lra_common_options, NULL};

static const lra_command command = {
    .program = "lra-probe data",
    .summary = "Generates, imports, checks and describes the data of a task.",
    .usage = "TASK|--all",
    .examples = "  lra-probe data listops --preset small --show 1\n"
                "  lra-probe data pathfinder --make 1000 --set size=64 --out lra-out\n"
                "  lra-probe data file --data-dir reviews.csv --text review --label sentiment",
    .notes = LRA_OWN_DATA_NOTES,
    .min_args = 0,
    .max_args = 1,
    .tables = tables,
};

/* Name with which an option was set (--import is an alias of --data-dir), or NULL if it was not
 * set. */
static const char *given_as(const lra_options *o, const char *name)
{
    if (lra_option_given(o, name)) return name;
    bool other = strcmp(name, "data-dir") == 0 && lra_option_given(o, "import");
    return other ? "import" : NULL;
}

/* Folder of the official files, or NULL if data are generated. */
static const char *files_of(const lra_options *o)
{
    const char *name = given_as(o, "data-dir");
    return name ? lra_option_text(o, name) : NULL;
}

/* ---- make ------------------------------------------------------------------------------------ */

/* Sets the sizes of the splits for n rows, in the proportions of the current sizes; every split
 * keeps at least one row. */
static void divide_rows(lra_config *c, int64_t n)
{
    int64_t part[LRA_N_SPLITS], total = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++) total += lra_config_int(c, lra_split_names[s]);
    for (int s = LRA_VAL_SPLIT; s < LRA_N_SPLITS; s++) {
        double share = (double)lra_config_int(c, lra_split_names[s]) / (double)total;
        part[s] = (int64_t)(share * (double)n + 0.5);
        if (part[s] < 1) part[s] = 1;
        lra_config_set_int(c, lra_split_names[s], part[s]);
    }
    lra_config_set_int(c, "train", n - part[LRA_VAL_SPLIT] - part[LRA_TEST_SPLIT]);
}

static int refuse_old_files(const lra_task *t, const char *folder, lra_err *e)
{
    int rc = 0;
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) {
        char *path = lra_format("%s/%s", folder, t->files.names[s]);
        if (lra_file_exists(path))
            rc = lra_fail(e, "'%s' already exists; --force replaces it", path);
        lra_free(path);
    }
    return rc;
}

/* Generates the rows, then writes them to official files. */
static int write_rows(const lra_task *t, const lra_config *c, const char *folder, lra_err *e)
{
    lra_sequences split[LRA_N_SPLITS] = {{0}};
    int rc = t->data.make(c, split, e);
    if (rc == 0) rc = lra_folder_make(folder, e);
    if (rc == 0) rc = t->files.write(folder, split, e);
    for (int s = 0; s < LRA_N_SPLITS; s++) lra_sequences_free(&split[s]);
    return rc;
}

/* The command that imports the files generated with these parameters; it lists the parameters that
 * differ from the task's defaults. */
static char *import_command(const lra_task *t, const lra_config *c, const char *folder)
{
    lra_config *defaults = lra_keys_config(t->keys);
    char *path = lra_shell_word(folder);
    lra_text line = {0};
    lra_text_add(&line, "lra-probe data %s --data-dir %s", t->name, path);
    for (int i = 0; lra_config_key(c, i); i++) {
        const char *key = lra_config_key(c, i), *value = lra_config_value(c, i);
        bool same = strcmp(lra_config_text_or(defaults, key, ""), value) == 0;
        if (!same && lra_task_has_key(t->files.import_keys, key))
            lra_text_add(&line, " --set %s=%s", key, value);
    }
    lra_config_free(defaults);
    lra_free(path);
    return line.s;
}

static int make_files(const lra_task *t, lra_config *c, const lra_options *o, lra_err *e)
{
    int64_t n = lra_option_int(o, "make");
    bool force = lra_option_flag(o, "force");
    if (!t->files.make_files && (!t->data.make || !t->files.write))
        return lra_fail_usage(e, "task '%s' cannot be generated; --make works for generated tasks",
                              t->name);
    /* the import command does not need the number of rows, so it uses the parameters before the
     * change */
    lra_config *requested = lra_config_copy(c);
    if (t->data.resize)
        t->data.resize(c, n);
    else
        divide_rows(c, n);
    char hash[17], time[32];
    lra_config_hash(c, hash);
    char *folder = lra_format("%s/data/%s-%s", lra_option_text(o, "out"), t->name, hash);
    double start = lra_now();
    int rc = t->validate ? t->validate(c, e) : 0;
    if (rc == 0) rc = force || !t->files.names ? 0 : refuse_old_files(t, folder, e);
    if (rc == 0)
        rc = t->files.make_files ? t->files.make_files(c, folder, force, e)
                                 : write_rows(t, c, folder, e);
    if (rc == 0) {
        lra_note("%" PRId64 " rows in %s", n, lra_time_text(time, lra_now() - start));
        printf("%s\n", folder);
        char *next = import_command(t, requested, folder);
        lra_note("next: %s", next);
        lra_free(next);
    }
    lra_config_free(requested);
    lra_free(folder);
    return rc;
}

/* ---- show, describe -------------------------------------------------------------------------- */

static int write_png(const char *path, const lra_row *image, int64_t side, lra_err *e)
{
    int64_t n = side * side * image->width;
    uint8_t *pixel = lra_alloc((size_t)n);
    for (int64_t i = 0; i < n; i++) pixel[i] = (uint8_t)image->token[i];
    int rc = image->width == 1 ? lra_png_write(path, (int)side, (int)side, pixel, e)
                               : lra_png_write_colour(path, (int)side, (int)side, pixel, e);
    lra_free(pixel);
    return rc;
}

/* Prints the label or the target of a row. */
static void print_answer(const lra_task *t, const lra_row *row)
{
    if (t->goal == LRA_GOAL_VALUE)
        for (int k = 0; k < row->n_targets; k++)
            printf("%s%g", k ? " " : "target ", (double)row->target[k]);
    else
        printf("label %d", (int)row->label);
    if (t->text.label_names) printf(" (%s)", t->text.label_names[row->label]);
    printf("\n");
}

static int show(const lra_dataset *d, const lra_options *o, lra_err *e)
{
    int s = 0;
    const char *split = lra_option_text(o, "split");
    while (s < LRA_N_SPLITS && strcmp(lra_split_names[s], split) != 0) s++;
    if (s == LRA_N_SPLITS)
        return lra_fail_usage(e, "--split is '%s', expected train, val or test", split);
    const lra_sequences *r = &d->split[s];
    int64_t row = lra_option_int(o, "show");
    if (row > r->n)
        return lra_fail_usage(e, "row %" PRId64 " of %s, expected 1 to %" PRId64, row,
                              lra_split_names[s], r->n);
    if (!d->task->text.show && !d->words)
        return lra_fail_usage(e, "rows of '%s' cannot be printed", d->task->name);
    lra_row drawn = lra_sequences_row(r, row - 1);
    int64_t side = lra_dataset_grid(d);
    const char *png = lra_option_text(o, "png");
    if (png && !side)
        return lra_fail_usage(e, "rows of '%s' are not images; remove --png", d->task->name);
    if (png && write_png(png, &drawn, side, e) != 0) return LRA_FAILED;
    printf("%s row %" PRId64 ", %" PRId64 " tokens, ", lra_split_names[s], row, drawn.n);
    print_answer(d->task, &drawn);
    if (d->words)
        lra_vocabulary_show(d, &drawn, MOST_SHOWN, stdout);
    else
        d->task->text.show(&drawn, stdout);
    return 0;
}

/* The preset that is stored with measurements of the data; official files have the preset
 * "paper". */
static const char *preset_of(const lra_dataset *d, const lra_options *o)
{
    return d->own ? "own" : files_of(o) ? "paper" : lra_option_text(o, "preset");
}

static int open_and_print(const lra_task *t, const lra_config *c, const lra_options *o, lra_err *e)
{
    const char *name = lra_option_arg(o, 0);
    lra_dataset *d = lra_dataset_open(t, c, lra_option_text(o, "out"), files_of(o), e);
    if (!d) return LRA_FAILED;
    if (d->own && strchr(name, ':')) lra_dataset_rename(d, name);
    const char *sheet = lra_option_text(o, "sheet");
    const char *arrays = lra_option_text(o, "arrays");
    int rc = arrays                        ? lra_data_arrays(d, arrays, e)
             : sheet                       ? lra_data_sheet(d, sheet, e)
             : lra_option_given(o, "show") ? show(d, o, e)
             : lra_option_flag(o, "information")
                 ? lra_data_information(d, preset_of(d, o), lra_option_text(o, "out"),
                                        lra_option_flag(o, "json"), e)
                 : lra_data_describe(d, lra_option_flag(o, "json"), e);
    lra_dataset_free(d);
    return rc;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int refuse_mixed(const lra_task *t, const lra_options *o, lra_err *e)
{
    static const char *const alone[][2] = {
        {"make", "check"},        {"make", "data-dir"},      {"make", "show"},
        {"check", "data-dir"},    {"check", "show"},         {"make", "json"},
        {"show", "json"},         {"data-dir", "preset"},    {"check", "preset"},
        {"png", "make"},          {"png", "check"},          {"seeding", "data-dir"},
        {"information", "make"},  {"information", "check"},  {"information", "show"},
        {"information", "sheet"}, {"sheet", "make"},         {"sheet", "check"},
        {"sheet", "show"},        {"sheet", "json"},         {"arrays", "make"},
        {"arrays", "check"},      {"arrays", "show"},        {"arrays", "sheet"},
        {"arrays", "json"},       {"arrays", "information"}, {"data-dir", "import"}};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
        const char *a = given_as(o, alone[i][0]), *b = given_as(o, alone[i][1]);
        if (a && b && strcmp(a, b) != 0)
            return lra_fail_usage(e, "--%s and --%s exclude each other", a, b);
    }
    static const char *const needs[][2] = {{"png", "show"}, {"split", "show"}, {"force", "make"}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        /* own data: --split names a column */
        if (t->resolve && strcmp(needs[i][0], "split") == 0) continue;
        if (lra_option_given(o, needs[i][0]) && !lra_option_given(o, needs[i][1]))
            return lra_fail_usage(e, "option '--%s' needs '--%s'", needs[i][0], needs[i][1]);
    }
    return 0;
}

/* True if "key=value" determines what is read from official files, or how models receive the
 * input. */
static bool concerns_files(const lra_task *t, const char *assignment)
{
    char *key = lra_format("%.*s", (int)strcspn(assignment, "="), assignment);
    bool found = lra_task_has_key(t->files.import_keys, key) ||
                 lra_task_has_key(t->input.keys, key);
    lra_free(key);
    return found;
}

/* Applies --set and its short forms. With official files, fails for keys that do not affect
 * them. */
static int change(const lra_task *t, lra_config *c, const lra_options *o, lra_err *e)
{
    bool files = files_of(o) || lra_option_given(o, "check");
    char *what = lra_format("task '%s'", t->name);
    int rc = 0;
    for (int i = 0; rc == 0 && lra_option_repeat(o, "set", i); i++) {
        const char *assignment = lra_option_repeat(o, "set", i);
        rc = lra_keys_assign(t->keys, c, assignment, what, e);
        if (rc == 0 && files && !concerns_files(t, assignment))
            rc = lra_fail_usage(e, "--set %s has no effect on official files; remove it",
                                assignment);
    }
    if (rc == 0 && t->resolve && lra_option_given(o, "split") && !lra_option_given(o, "show")) {
        char *assignment = lra_format("split=%s", lra_option_text(o, "split"));
        rc = lra_keys_assign(t->keys, c, assignment, what, e);
        lra_free(assignment);
    }
    if (rc == 0 && lra_option_text(o, "seeding")) {
        char *assignment = lra_format("seeding=%s", lra_option_text(o, "seeding"));
        rc = lra_keys_assign(t->keys, c, assignment, what, e);
        lra_free(assignment);
    }
    lra_free(what);
    return rc == 0 && t->validate ? t->validate(c, e) : rc;
}

static void use_threads(const lra_options *o)
{
    int64_t threads = lra_option_int(o, "threads");
    omp_set_num_threads(threads ? (int)threads : lra_cpu_count());
}

static int act(const lra_task *t, lra_config *c, const lra_options *o, lra_err *e)
{
    int rc = refuse_mixed(t, o, e);
    if (rc == 0) rc = change(t, c, o, e);
    if (rc != 0) return rc;
    bool json = lra_option_flag(o, "json");
    use_threads(o);
    if (lra_option_given(o, "make")) return make_files(t, c, o, e);
    if (!lra_option_given(o, "check")) return open_and_print(t, c, o, e);
    return lra_data_check(t, c, lra_option_text(o, "check"), json, e);
}

/* The initial parameters: those of --preset if data are generated, else the task's defaults. With
 * --make, the defaults unless --preset is set. */
static lra_config *first_config(const lra_task *t, const lra_options *o, lra_err *e)
{
    bool files = files_of(o) || lra_option_given(o, "check") ||
                 (lra_option_given(o, "make") && !lra_option_given(o, "preset"));
    if (files) return lra_keys_config(t->keys);
    const char *preset = lra_option_text(o, "preset");
    lra_config *c = lra_task_config(t, preset, e);
    /* Preset `paper` means the locality paper, which uses more training sets than other papers. */
    if (c && strcmp(preset, "paper") == 0) lra_technique_set("locality", t, c);
    return c;
}

static int check_all(const lra_options *o, lra_err *e)
{
    static const char *const other[] = {"preset",   "set",    "seeding", "make",
                                        "data-dir", "import", "show",    "png",
                                        "sheet",    "split",  "force",   "information"};
    if (lra_option_n_args(o))
        return lra_fail_usage(e, "--all selects every task; remove '%s' or --all",
                              lra_option_arg(o, 0));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (lra_option_given(o, other[i]))
            return lra_fail_usage(e, "--all and --%s exclude each other", other[i]);
    if (!lra_option_given(o, "check")) return lra_fail_usage(e, "option '--all' needs '--check'");
    use_threads(o);
    return lra_data_check_all(lra_option_text(o, "check"), lra_option_flag(o, "json"), e);
}

static int data(const lra_options *o, lra_err *e)
{
    if (lra_option_flag(o, "all")) return check_all(o, e);
    if (lra_option_n_args(o) == 0)
        return lra_fail_usage(e, "too few arguments (usage: %s %s)", command.program,
                              command.usage);
    const lra_task *t = lra_task_find(lra_option_arg(o, 0), e);
    lra_config *c = t ? first_config(t, o, e) : NULL;
    int rc = c ? act(t, c, o, e) : LRA_USAGE;
    lra_config_free(c);
    return rc;
}

const lra_probe lra_probe_data = {
    "data", "generates, imports, checks and describes the data of a task", &command, data};
