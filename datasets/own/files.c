/* Finds the files of own data, chooses their columns, and divides the examples into splits. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/own/examples.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/os/file.h"

static const char *const formats[] = {"csv", "tsv", "jsonl", "ndjson", "npz", "safetensors", NULL};
/* Names of each split: of its file in a folder, and in a column of splits. */
static const char *const words[LRA_N_SPLITS][5] = {{"train", "training", NULL},
                                                   {"val", "valid", "validation", "dev", NULL},
                                                   {"test", "testing", NULL}};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int lra_own_fail(const lra_own_file *f, int64_t i, lra_err *e, const char *fmt, ...)
{
    char text[320];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return lra_fail(e, "'%s', example %lld: %s", base_of(f->path), (long long)i + 1, text);
}

void lra_own_examples_free(lra_own_examples *x)
{
    for (int k = 0; k < x->n_files; k++) {
        lra_data_columns_free(&x->file[k].columns);
        lra_free(x->file[k].path);
    }
    lra_own_free(&x->own);
    lra_free(x->folder_format);
    lra_free(x->label);
    lra_free(x->target);
    lra_free(x->hash);
    lra_free(x->split);
    lra_free(x->row.token);
    lra_free(x->row.value);
    *x = (lra_own_examples){0};
}

/* ---- places ---------------------------------------------------------------------------------- */

static void add_file(lra_own_examples *x, char *path, int split)
{
    x->file[x->n_files++] = (lra_own_file){.path = path, .split = split};
}

/* Returns the path of the file of a split in a folder; NULL: there is none. */
static char *split_file(const char *folder, int split, const char *format)
{
    for (int k = 0; words[split][k]; k++) {
        char *path = lra_format("%s/%s.%s", folder, words[split][k], format);
        if (lra_file_exists(path) && !lra_is_folder(path)) return path;
        lra_free(path);
    }
    return NULL;
}

/* Adds the files of one format in a folder. Returns false, adding none, if train or test is
 * missing. */
static bool find_format(const char *folder, const char *format, lra_own_examples *x)
{
    char *path[LRA_N_SPLITS];
    for (int s = 0; s < LRA_N_SPLITS; s++) path[s] = split_file(folder, s, format);
    bool found = path[LRA_TRAIN_SPLIT] && path[LRA_TEST_SPLIT];
    for (int s = 0; s < LRA_N_SPLITS; s++) {
        if (found && path[s])
            add_file(x, path[s], s);
        else
            lra_free(path[s]);
    }
    if (found) x->folder_format = lra_copy_text(format);
    return found;
}

int lra_own_files_find(const char *path, const char *format, lra_own_examples *x, lra_err *e)
{
    if (!lra_file_exists(path)) return lra_fail(e, "there is no file or folder '%s'", path);
    if (!lra_is_folder(path)) {
        add_file(x, lra_copy_text(path), -1);
        return 0;
    }
    for (int k = 0; formats[k]; k++)
        if ((strcmp(format, "auto") == 0 || strcmp(format, formats[k]) == 0) &&
            find_format(path, formats[k], x))
            return 0;
    return lra_fail_absent(
        e, "folder '%s' has no train.%s and test.%s; name one file, or a folder with both", path,
        strcmp(format, "auto") == 0 ? "EXT" : format,
        strcmp(format, "auto") == 0 ? "EXT (csv, tsv, jsonl, ndjson, npz, safetensors)" : format);
}

/* Returns true if the file has an extension that only own data have; no official file has it. */
static bool is_own(const char *path)
{
    static const char *const only[] = {".csv", ".jsonl", ".ndjson", ".npz"};
    size_t n = strlen(path);
    for (size_t k = 0; k < sizeof only / sizeof *only; k++) {
        size_t length = strlen(only[k]);
        if (n > length && strcmp(path + n - length, only[k]) == 0) return true;
    }
    return false;
}

int lra_own_explain(const lra_task *t, const char *path, int code, lra_err *e)
{
    lra_own_examples x = {0};
    lra_err why = *e, ignored;
    if (t->resolve) return code;
    bool found = lra_own_files_find(path, "auto", &x, &ignored) == 0 && is_own(x.file[0].path);
    lra_own_examples_free(&x);
    if (found)
        lra_fail(e, "%.380s; own data are read with 'lra-probe data file --check PATH'", why.msg);
    return code;
}

int lra_own_files_hash(const lra_own_examples *x, uint64_t *hash, lra_err *e)
{
    enum { PIECE = 1 << 20 };
    char *piece = lra_alloc(PIECE);
    int rc = 0;
    *hash = 0;
    for (int k = 0; k < x->n_files && rc == 0; k++) {
        FILE *f = lra_file_open(x->file[k].path, e);
        if (!f) rc = LRA_FAILED;
        for (size_t n = 1; f && n > 0;) {
            n = fread(piece, 1, PIECE, f);
            uint64_t part[3] = {*hash, (uint64_t)(x->file[k].split + 1), lra_hash64(piece, n)};
            *hash = lra_hash64(part, sizeof part);
        }
        if (f && ferror(f)) rc = lra_fail_errno(e, "cannot read '%s'", x->file[k].path);
        if (f) fclose(f);
    }
    lra_free(piece);
    return rc;
}

/* ---- columns --------------------------------------------------------------------------------- */

static const char *const text_names[] = {"text",     "sentence", "review", "content",
                                         "document", "body",     NULL};
static const char *const token_names[] = {"tokens", "input_ids", "token_ids", "ids", NULL};
static const char *const value_names[] = {"values", "x", "series", "signal", NULL};
static const char *const label_names[] = {"label", "labels",   "target",    "y",
                                          "class", "category", "sentiment", NULL};
static const char *const split_names[] = {"split", "splits", NULL};
static const char *const length_names[] = {"lengths", "length", NULL};
static const char *const *const input_names[LRA_OWN_INPUTS] = {text_names, token_names,
                                                               value_names};
static const char *const input_keys[LRA_OWN_INPUTS] = {"text", "tokens", "values"};

static bool same_word(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

static bool fits(const lra_data_column *c, lra_own_input input)
{
    if (input == LRA_OWN_TEXT) return c->kind == LRA_DATA_COLUMN_TEXT;
    if (input == LRA_OWN_TOKENS) return c->kind == LRA_DATA_COLUMN_IDS;
    return c->kind == LRA_DATA_COLUMN_VALUES || c->kind == LRA_DATA_COLUMN_IDS;
}

/* Returns the column with the first name of `names` that exists, ignoring case; NULL: there is
 * none. */
static const lra_data_column *known(const lra_data_columns *c, const char *const *names)
{
    for (int k = 0; names[k]; k++)
        for (int i = 0; i < c->n_columns; i++)
            if (same_word(c->column[i].name, names[k])) return &c->column[i];
    return NULL;
}

static bool is_one_of(const lra_data_column *c, const char *const *names)
{
    int k = 0;
    while (names[k] && !same_word(c->name, names[k])) k++;
    return names[k];
}

/* For a file without a known name of an input column: returns the only column that can be the
 * input, and sets *input to its kind. NULL: there is none, or there are several. */
static const lra_data_column *only_input(const lra_data_columns *c, lra_own_input *input)
{
    const lra_data_column *found = NULL;
    for (int i = 0; i < c->n_columns; i++) {
        const lra_data_column *k = &c->column[i];
        if (k->kind == LRA_DATA_COLUMN_NUMBER || k->kind == LRA_DATA_COLUMN_REFUSED ||
            is_one_of(k, label_names) || is_one_of(k, split_names))
            continue;
        if (found) return NULL;
        found = k;
    }
    if (found)
        *input = found->kind == LRA_DATA_COLUMN_TEXT  ? LRA_OWN_TEXT
                 : found->kind == LRA_DATA_COLUMN_IDS ? LRA_OWN_TOKENS
                                                      : LRA_OWN_VALUES;
    return found;
}

static int no_input(const lra_own_file *f, lra_err *e)
{
    lra_text names = {0};
    for (int i = 0; i < f->columns.n_columns && i < 12; i++)
        lra_text_add(&names, "%s'%s'", i ? ", " : "", f->columns.column[i].name);
    int rc = lra_fail(e,
                      "'%s' has the columns %s: name that of the inputs with --text, --tokens or "
                      "--values",
                      base_of(f->path), names.s ? names.s : "(none)");
    lra_text_free(&names);
    return rc;
}

/* Sets f->input to the column `name`, converted to this kind of input if necessary (lists may be
 * written as text). */
static int take_input(lra_own_file *f, const char *name, lra_own_input input, lra_err *e)
{
    static const lra_data_column_kind kind[LRA_OWN_INPUTS] = {
        LRA_DATA_COLUMN_TEXT, LRA_DATA_COLUMN_IDS, LRA_DATA_COLUMN_VALUES};
    f->input = lra_data_columns_take(&f->columns, name, kind[input], base_of(f->path), e);
    return f->input ? 0 : LRA_FAILED;
}

static int find_input(lra_own_file *f, const lra_config *c, lra_own_input *input, lra_err *e)
{
    const lra_data_column *found = NULL;
    for (int k = 0; k < LRA_OWN_INPUTS; k++) {
        const char *key = lra_config_text(c, input_keys[k]);
        if (strcmp(key, "auto") == 0) continue;
        char *name = lra_own_decode(key);
        *input = (lra_own_input)k;
        int rc = take_input(f, name, *input, e);
        lra_free(name);
        return rc;
    }
    for (int k = 0; k < LRA_OWN_INPUTS && !found; k++) {
        const lra_data_column *one = known(&f->columns, input_names[k]);
        if (one && fits(one, (lra_own_input)k)) found = one, *input = (lra_own_input)k;
    }
    if (!found) found = only_input(&f->columns, input);
    if (!found) return no_input(f, e);
    char *name = lra_copy_text(found->name);
    int rc = take_input(f, name, *input, e);
    lra_free(name);
    return rc;
}

/* Sets *found to the column of labels or of splits. key: the column name given by the user; "auto":
 * the column with a known name, if there is one; "none": NULL. */
static int find_other(lra_own_file *f, const char *key, const char *const *names,
                      const lra_data_column **found, lra_err *e)
{
    *found = NULL;
    if (strcmp(key, "none") == 0) return 0;
    if (strcmp(key, "auto") == 0) {
        *found = known(&f->columns, names);
        if (*found == f->input) *found = NULL;
        if (!*found || (*found)->kind != LRA_DATA_COLUMN_REFUSED) return 0;
        *found = lra_data_columns_find(&f->columns, (*found)->name, base_of(f->path), e);
        return LRA_FAILED;
    }
    char *name = lra_own_decode(key);
    *found = lra_data_columns_find(&f->columns, name, base_of(f->path), e);
    lra_free(name);
    if (*found && *found == f->input)
        return lra_fail(e, "column '%s' of '%s' cannot be input and label or split", f->input->name,
                        base_of(f->path));
    return *found ? 0 : LRA_FAILED;
}

/* Returns the column with one of the names length_names, if it contains the length of each sequence
 * without padding: integers from 1 to the stored length. NULL: there is none, or the inputs are
 * text. */
static const lra_data_column *find_lengths(const lra_own_file *f)
{
    const lra_data_column *c = known(&f->columns, length_names);
    if (!c || c == f->input || c == f->label || c->kind != LRA_DATA_COLUMN_NUMBER || !c->integral ||
        c->missing || !f->input->start || f->input->kind == LRA_DATA_COLUMN_TEXT)
        return NULL;
    for (int64_t i = 0; i < f->columns.n; i++) {
        double n = (double)(f->input->start[i + 1] - f->input->start[i]);
        if (c->number[i] < 1 || c->number[i] > n) return NULL;
    }
    return c;
}

/* Reads the file. Columns with a known name of text inputs, and the one that the user named as
 * text, stay text even if every field is a number. */
static int read_columns(lra_own_file *f, const lra_config *c, lra_err *e)
{
    const char *as_text[sizeof text_names / sizeof *text_names + 1];
    char *named = lra_own_decode(lra_config_text(c, "text"));
    int n = 0;
    for (int k = 0; text_names[k]; k++) as_text[n++] = text_names[k];
    as_text[n++] = named;
    as_text[n] = NULL;
    int rc = lra_data_columns_read(f->path, as_text, &f->columns, e);
    lra_free(named);
    if (rc == 0 && f->columns.n == 0)
        rc = lra_fail(e, "'%s' contains no examples", base_of(f->path));
    return rc;
}

static int read_file(lra_own_examples *x, lra_own_file *f, const lra_config *c, lra_err *e)
{
    lra_own_input input = LRA_OWN_TEXT;
    int rc = read_columns(f, c, e);
    if (rc == 0) rc = find_input(f, c, &input, e);
    if (rc == 0) rc = find_other(f, lra_config_text(c, "label"), label_names, &f->label, e);
    if (rc == 0) rc = find_other(f, lra_config_text(c, "split"), split_names, &f->marks, e);
    if (rc != 0) return rc;
    if (f->split >= 0) f->marks = NULL;
    f->lengths = find_lengths(f);
    const lra_own_file *first = &x->file[0];
    if (f == first) x->own.input = input;
    if (input != x->own.input || strcmp(f->input->name, first->input->name) != 0)
        return lra_fail(e, "the inputs are column '%s' of '%s' and column '%s' of '%s'",
                        first->input->name, base_of(first->path), f->input->name, base_of(f->path));
    if (!f->label != !first->label)
        return lra_fail(e, "'%s' has a column of labels and '%s' has none",
                        base_of(f->label ? f->path : first->path),
                        base_of(f->label ? first->path : f->path));
    return 0;
}

static int check_choice(const lra_config *c, lra_err *e)
{
    int n = 0;
    for (int k = 0; k < LRA_OWN_INPUTS; k++) n += !lra_config_is(c, input_keys[k], "auto");
    return n < 2 ? 0 : lra_fail_usage(e, "--text, --tokens and --values exclude each other");
}

int lra_own_files_read(lra_own_examples *x, const lra_config *c, lra_err *e)
{
    int rc = check_choice(c, e);
    x->length = lra_config_int(c, "length");
    for (int k = 0; k < x->n_files && rc == 0; k++) {
        lra_own_file *f = &x->file[k];
        f->first = x->n;
        rc = read_file(x, f, c, e);
        x->n += f->columns.n;
    }
    if (rc != 0) return rc;
    const lra_own_file *f = &x->file[0];
    x->own.n_examples = x->n;
    x->own.input_column = lra_copy_text(f->input->name);
    x->own.label_column = f->label ? lra_copy_text(f->label->name) : NULL;
    x->own.split_column = f->marks ? lra_copy_text(f->marks->name) : NULL;
    return 0;
}

/* ---- splits of a column ---------------------------------------------------------------------- */

static int split_of_word(const char *word, size_t n)
{
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int k = 0; words[s][k]; k++) {
            size_t i = 0;
            while (i < n && words[s][k][i] && tolower((unsigned char)word[i]) == words[s][k][i])
                i++;
            if (i == n && !words[s][k][i]) return s;
        }
    return -1;
}

/* Returns the split of example i, from the file or its column of splits; -1 and a message if the
 * value is not valid. */
static int split_of(const lra_own_file *f, int64_t i, lra_err *e)
{
    const lra_data_column *c = f->marks;
    int s = -1;
    if (f->split >= 0) return f->split;
    if (c->kind == LRA_DATA_COLUMN_NUMBER) {
        if (c->number[i] == 0 || c->number[i] == 1 || c->number[i] == 2) return (int)c->number[i];
        lra_own_fail(f, i, e, "column '%s' is %g, expected 0, 1, 2 or train, val, test", c->name,
                     c->number[i]);
    } else if (c->kind == LRA_DATA_COLUMN_TEXT) {
        size_t n = (size_t)(c->start[i + 1] - c->start[i]);
        s = split_of_word(c->text + c->start[i], n);
        if (s < 0)
            lra_own_fail(f, i, e,
                         "column '%s' is '%.*s', expected train, val or test ('--split "
                         "none' ignores the column)",
                         c->name, (int)(n < 40 ? n : 40), c->text + c->start[i]);
    } else {
        lra_own_fail(f, i, e, "column '%s' holds lists, expected train, val or test", c->name);
    }
    return s;
}

/* ---- splits that are made -------------------------------------------------------------------- */

static int by_hash(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns the number of distinct hashes of the examples of a split (-1: of all splits). *list:
 * these hashes, ascending; the caller frees it. */
static int64_t distinct(const lra_own_examples *x, int split, uint64_t **list)
{
    uint64_t *h = lra_alloc_array((size_t)x->n + 1, sizeof *h);
    int64_t n = 0, kept = 0;
    for (int64_t i = 0; i < x->n; i++)
        if (split < 0 || x->split[i] == split) h[n++] = x->hash[i];
    qsort(h, (size_t)n, sizeof *h, by_hash);
    for (int64_t i = 0; i < n; i++)
        if (i == 0 || h[i] != h[i - 1]) h[kept++] = h[i];
    *list = h;
    return kept;
}

static int64_t count(const lra_own_examples *x, int split)
{
    int64_t n = 0;
    for (int64_t i = 0; i < x->n; i++) n += x->split[i] == split;
    return n;
}

/* Returns a number from 0 to 9 that depends on the hash alone, so that the split of an input does
 * not depend on the other inputs. */
static int tenth_of(uint64_t hash)
{
    return (int)((hash >> 20) % 10);
}

/* Divides the examples by the rank of their hash: the first tenth of the distinct inputs is the
 * test split, the second tenth the validation split (at least one input each). Used for few
 * distinct inputs, for which tenth_of() can leave a split empty. */
static int divide_by_rank(lra_own_examples *x, lra_err *e)
{
    uint64_t *h;
    int64_t n = distinct(x, -1, &h), part = n / 10 > 0 ? n / 10 : 1;
    int rc = n >= 3
                 ? 0
                 : lra_fail(e,
                            "the examples have %lld distinct input%s, expected at least one each "
                            "for training, validation and test",
                            (long long)n, n == 1 ? "" : "s");
    for (int64_t i = 0; i < x->n && rc == 0; i++)
        x->split[i] = x->hash[i] < h[part]       ? LRA_TEST_SPLIT
                      : x->hash[i] < h[2 * part] ? LRA_VAL_SPLIT
                                                 : LRA_TRAIN_SPLIT;
    x->by_rank = true;
    lra_free(h);
    return rc;
}

static int divide_all(lra_own_examples *x, lra_err *e)
{
    x->made_all = true;
    for (int64_t i = 0; i < x->n; i++) {
        int tenth = tenth_of(x->hash[i]);
        x->split[i] = tenth == 9 ? LRA_TEST_SPLIT : tenth == 8 ? LRA_VAL_SPLIT : LRA_TRAIN_SPLIT;
    }
    for (int s = 0; s < LRA_N_SPLITS; s++)
        if (count(x, s) == 0) return divide_by_rank(x, e);
    return 0;
}

static int carve_validation(lra_own_examples *x, lra_err *e)
{
    int64_t n_train = count(x, LRA_TRAIN_SPLIT), taken = 0;
    x->made_val = true;
    for (int64_t i = 0; i < x->n; i++)
        taken += x->split[i] == LRA_TRAIN_SPLIT && tenth_of(x->hash[i]) == 8;
    x->by_rank = taken == 0 || taken == n_train;
    uint64_t *h, bound = 0;
    int64_t n = distinct(x, LRA_TRAIN_SPLIT, &h);
    if (n > 1) bound = h[n / 10 > 0 ? n / 10 : 1];
    lra_free(h);
    if (n < 2)
        return lra_fail(e,
                        "the training examples have %lld distinct input%s, expected at least "
                        "two: one is for validation",
                        (long long)n, n == 1 ? "" : "s");
    for (int64_t i = 0; i < x->n; i++)
        if (x->split[i] == LRA_TRAIN_SPLIT &&
            (x->by_rank ? x->hash[i] < bound : tenth_of(x->hash[i]) == 8))
            x->split[i] = LRA_VAL_SPLIT;
    return 0;
}

int lra_own_divide(lra_own_examples *x, lra_err *e)
{
    x->split = lra_alloc_array((size_t)x->n + 1, sizeof *x->split);
    if (x->file[0].split < 0 && !x->file[0].marks) return divide_all(x, e);
    for (int k = 0; k < x->n_files; k++)
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            int s = split_of(&x->file[k], i, e);
            if (s < 0) return LRA_FAILED;
            x->split[x->file[k].first + i] = (int8_t)s;
        }
    for (int s = 0; s < LRA_N_SPLITS; s += 2)
        if (count(x, s) == 0)
            return lra_fail(e, "column '%s' of '%s' has no %s examples", x->own.split_column,
                            base_of(x->file[0].path), s == LRA_TRAIN_SPLIT ? "training" : "test");
    return count(x, LRA_VAL_SPLIT) ? 0 : carve_validation(x, e);
}
