/* File: a user's own data, from csv, tsv, jsonl, npz or safetensors. Inputs are text (bytes as
 * tokens, ids as in datasets/formats/bytes.h, and <eos>), tokens (ids from 0), or values (real
 * numbers, one or several per time step). Labels are classes (integers, text), real numbers, or
 * missing. Goal, classes, vocabulary and presets are properties of the data: datasets/own/own.h. */
#include <inttypes.h>
#include <string.h>

#include "datasets/formats/bytes.h"
#include "datasets/formats/walk.h"
#include "datasets/loader/split.h"
#include "datasets/own/examples.h"
#include "datasets/own/own.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

/* ---- messages -------------------------------------------------------------------------------- */

static void add_classes(const lra_own *own, lra_text *t)
{
    enum { SHOWN = 6 };
    lra_text_add(t, ", label '%s' (%d class%s", own->label_column, own->n_classes,
                 own->n_classes == 1 ? "" : "es");
    for (int k = 0; own->class_name && k < own->n_classes && k < SHOWN; k++)
        lra_text_add(t, "%s%.40s", k ? ", " : ": ", own->class_name[k]);
    lra_text_add(t, "%s)", own->class_name && own->n_classes > SHOWN ? ", .." : "");
}

/* True if this import differs from the previous one. A dry run imports the same data for every
 * plan, and messages are printed once. */
static bool is_new(const lra_dataset *d, const char *path)
{
    static uint64_t last;
    char *all = lra_format("%s\n%s", path, d->properties);
    uint64_t hash = lra_hash64(all, strlen(all)), before = last;
    lra_free(all);
    last = hash;
    return hash != before;
}

/* Prints one line: the columns that are read, and their kinds. */
static void report_columns(const lra_dataset *d, const lra_own_examples *x)
{
    static const char *const input[] = {"text (bytes)", "tokens", "values"};
    const lra_own *own = &x->own;
    lra_text t = {0};
    lra_text_add(&t, "%s: ", d->name);
    if (x->folder_format) lra_text_add(&t, "files *.%s, ", x->folder_format);
    lra_text_add(&t, "%s from column '%s'", input[own->input], own->input_column);
    if (own->input == LRA_OWN_TOKENS) lra_text_add(&t, ", vocabulary %d", own->vocab);
    if (own->width > 1) lra_text_add(&t, ", %d values per step", own->width);
    if (x->file[0].lengths) lra_text_add(&t, ", lengths '%s'", x->file[0].lengths->name);
    if (own->target == LRA_OWN_UNLABELLED) lra_text_add(&t, ", no labels");
    if (own->target == LRA_OWN_NUMBER)
        lra_text_add(&t, ", label '%s' (a real number)", own->label_column);
    if (own->target == LRA_OWN_CLASS) add_classes(own, &t);
    if (own->split_column) lra_text_add(&t, ", split '%s'", own->split_column);
    lra_note("%s", t.s);
    lra_text_free(&t);
}

static void report_splits(const lra_dataset *d, const lra_own_examples *x)
{
    const char *how = x->by_rank ? "in the order of a hash" : "by a hash";
    if (x->made_all)
        lra_note("%s: no splits in the file; examples are divided 80/10/10 %s of the input, equal "
                 "inputs together",
                 d->name, how);
    if (x->made_val)
        lra_note("%s: no validation examples; a tenth of the training examples is used, chosen %s "
                 "of the input, equal inputs together",
                 d->name, how);
}

static void report_counts(const lra_dataset *d, const lra_own_examples *x)
{
    const lra_own *own = &x->own;
    if (own->n_truncated)
        lra_note("%s: %" PRId64 " of %" PRId64 " inputs are longer than %" PRId64
                 " tokens and are truncated; --length N keeps more",
                 d->name, own->n_truncated, x->n, x->length);
    if (own->n_empty)
        lra_note("%s: %" PRId64 " of %" PRId64
                 " texts are empty; their rows are the end token alone",
                 d->name, own->n_empty, x->n);
    if (own->n_contradicted)
        lra_warn("%s: %" PRId64 " of %" PRId64
                 " examples have an input that occurs with different labels",
                 d->name, own->n_contradicted, x->n);
    if (own->n_left_out)
        lra_note("%s: %" PRId64 " of %" PRId64 " examples are left out, evenly spaced; --rows 0 "
                 "keeps all",
                 d->name, own->n_left_out, x->n);
}

/* ---- import ---------------------------------------------------------------------------------- */

/* Adds the examples of a split to its rows: all of them, or at most `rows` evenly spaced ones if
 * rows is not 0. */
static int add_split(lra_own_examples *x, int split, int64_t rows, lra_sequences *to, lra_err *e)
{
    int64_t n = 0, at = 0, taken = 0;
    for (int64_t i = 0; i < x->n; i++) n += x->split[i] == split;
    int64_t kept = rows && rows < n ? rows : n;
    for (int k = 0; k < x->n_files; k++)
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            int64_t one = x->file[k].first + i;
            if (x->split[one] != split) continue;
            if (at++ != lra_split_spaced(taken, n, kept)) continue;
            if (taken++ == kept) break;
            if (lra_own_encode(x, &x->file[k], i, e) != 0) return LRA_FAILED;
            x->row.label = x->label ? x->label[one] : 0;
            x->row.target = x->target ? &x->target[one] : NULL;
            x->row.n_targets = x->target ? 1 : 0;
            lra_sequences_add(to, &x->row);
        }
    x->own.n_left_out += n - kept;
    if (split == LRA_TRAIN_SPLIT) x->own.n_train = kept;
    return 0;
}

static int fill(lra_own_examples *x, const lra_config *c, lra_dataset *d, lra_err *e)
{
    int rc = lra_own_labels(x, lra_config_text(c, "goal"), e);
    if (rc == 0) rc = lra_own_scan(x, lra_config_int(c, "vocab"), e);
    if (rc == 0) rc = lra_own_divide(x, e);
    for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++)
        rc = add_split(x, s, lra_config_int(c, "rows"), &d->split[s], e);
    x->row.target = NULL;
    if (rc != 0) return rc;
    d->properties = lra_own_text(&x->own);
    return 0;
}

static int import(const lra_config *c, const char *path, lra_dataset *d, lra_err *e)
{
    lra_own_examples x = {0};
    int rc = lra_own_files_find(path, lra_config_text(c, "format"), &x, e);
    if (rc == 0) rc = lra_own_files_read(&x, c, e);
    if (rc == 0) rc = fill(&x, c, d, e);
    if (rc == 0) {
        d->name = lra_own_name(path);
        bool report = is_new(d, path);
        if (report) report_columns(d, &x);
        if (report) report_splits(d, &x);
        if (report) report_counts(d, &x);
    }
    lra_own_examples_free(&x);
    return rc;
}

/* Hashes the files at a path. Their names are not part of the hash, so that equal bytes are the
 * same data. */
static int import_hash(const lra_config *c, const char *path, lra_digest *to, lra_err *e)
{
    lra_own_examples x = {0};
    const lra_walk whole = {0};
    int rc = lra_own_files_find(path, lra_config_text(c, "format"), &x, e);
    for (int k = 0; k < x.n_files && to->listed && rc == 0; k++)
        rc = lra_walk_hash(&whole, x.file[k].path, to, e);
    if (rc == 0) rc = lra_own_files_hash(&x, &to->hash, e);
    lra_own_examples_free(&x);
    return rc;
}

/* ---- the task -------------------------------------------------------------------------------- */

static const lra_key keys[] = {
    LRA_COLUMN_KEY("text", "auto", "column of inputs that are texts (auto = by its name)"),
    LRA_COLUMN_KEY("tokens", "auto", "column of inputs that are lists of token ids"),
    LRA_COLUMN_KEY("values", "auto", "column of inputs that are series of real numbers"),
    LRA_COLUMN_KEY("label", "auto", "column of labels (auto = by its name, none = no labels)"),
    LRA_COLUMN_KEY("split", "auto",
                   "column with train, val or test (auto = by its name, none = divide 80/10/10)"),
    LRA_CHOICE_KEY("goal", "auto", "auto|class|value",
                   "labels: classes, or a real number (auto: classes unless there are fractions)"),
    LRA_INT_KEY("length", "4096", 2, LRA_OWN_LENGTH,
                "maximum number of tokens of an input, including the end token of a text"),
    LRA_INT_KEY("vocab", "0", 0, LRA_OWN_VOCAB,
                "number of token ids (0 = the largest id of the data, plus 1)"),
    LRA_ROWS_KEY("maximum number of rows of each split, evenly spaced (0 = all)"),
    LRA_CHOICE_KEY("format", "auto", "auto|csv|tsv|jsonl|ndjson|npz|safetensors",
                   "of a folder: extension of the files that are read"),
    LRA_KEYS_END};

const lra_task lra_task_file = {
    .name = "file",
    .summary = "own data: a csv, tsv, jsonl, npz or safetensors file of --data-dir",
    .resolve = lra_own_resolve,
    .data.longest = lra_longest_length,
    .input.vocab = LRA_BYTES_VOCAB,
    .input.first_word = LRA_BYTES_FIRST,
    .input.mask = LRA_BYTES_MASK,
    .keys = keys,
    .quick = {"length=512 rows=3000", "batch=32 epochs=6", 2},
    .small = {"length=2048 rows=50000", "batch=32 epochs=10", 3},
    .paper = {NULL, "batch=32 epochs=60", 3},
    .files.source = "a csv, tsv, jsonl, npz or safetensors file, or a folder with train and test "
                    "files",
    .files.from_parquet =
        "import glob, json, pyarrow.parquet as q; [open(f[:-7] + 'jsonl', "
        "'w').writelines(json.dumps(r, default=str) + chr(10) for r in q.read_table(f).to_pylist()) "
        "for f in glob.glob('**/*.parquet', recursive=True)]",
    .files.import_keys = "text tokens values label split goal length vocab rows format",
    .files.import = import,
    .files.import_hash = import_hash,
};
