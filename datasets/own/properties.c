/* Converts properties of own data to text and back, and makes an instance of the task from them. */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/bytes.h"
#include "datasets/own/own.h"
#include "datasets/own/show.h"
#include "kernels/base/core/key.h"
#include "kernels/base/core/mem.h"

static const char *const input_names[LRA_OWN_INPUTS] = {"text", "tokens", "values"};
static const char *const target_names[LRA_OWN_TARGETS] = {"none", "class", "number"};
static const char note[] = "note.";

void lra_own_free(lra_own *own)
{
    for (int k = 0; own->class_name && k < own->n_classes; k++) lra_free(own->class_name[k]);
    lra_free(own->class_name);
    lra_free(own->input_column);
    lra_free(own->label_column);
    lra_free(own->split_column);
    *own = (lra_own){0};
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Appends "key=value\n"; line ends and backslashes in the value are escaped. */
static void add_text(lra_text *t, const char *key, const char *value)
{
    if (!value) return;
    lra_text_add(t, "%s=", key);
    for (const char *c = value; *c; c++) {
        if (*c == '\n')
            lra_text_bytes(t, "\\n", 2);
        else if (*c == '\\')
            lra_text_bytes(t, "\\\\", 2);
        else
            lra_text_bytes(t, c, 1);
    }
    lra_text_bytes(t, "\n", 1);
}

static void add_number(lra_text *t, const char *key, int64_t value)
{
    lra_text_add(t, "%s=%lld\n", key, (long long)value);
}

/* Fields of lra_own that are int64_t, and their keys. */
#define NUMBERS(X)                                                                                 \
    X(n_train, "note.train")                                                                       \
    X(n_examples, "note.examples")                                                                 \
    X(n_empty, "note.empty")                                                                       \
    X(n_truncated, "note.truncated")                                                               \
    X(n_left_out, "note.left-out")                                                                 \
    X(n_repeated, "note.repeated")                                                                 \
    X(n_contradicted, "note.contradicted")

char *lra_own_text(const lra_own *own)
{
    lra_text t = {0};
    add_text(&t, "input", input_names[own->input]);
    add_text(&t, "target", target_names[own->target]);
    add_number(&t, "vocab", own->vocab);
    add_number(&t, "width", own->width);
    add_number(&t, "classes", own->n_classes);
    for (int k = 0; own->class_name && k < own->n_classes; k++)
        add_text(&t, "class", own->class_name[k]);
    add_text(&t, "note.input", own->input_column);
    add_text(&t, "note.label", own->label_column);
    add_text(&t, "note.split", own->split_column);
#define ADD(field, key) add_number(&t, key, own->field);
    NUMBERS(ADD)
#undef ADD
    return t.s;
}

size_t lra_own_identity(const char *text)
{
    const char *at = text;
    while (*at && strncmp(at, note, sizeof note - 1) != 0) at += strcspn(at, "\n") + 1;
    return (size_t)(at - text);
}

static char *unescaped(const char *value, size_t n)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (size_t i = 0; i < n; i++) {
        bool escape = value[i] == '\\' && i + 1 < n;
        char c = escape && value[i + 1] == 'n' ? '\n' : escape ? value[i + 1] : value[i];
        i += escape;
        lra_text_bytes(&t, &c, 1);
    }
    return t.s;
}

static int choice_of(const char *value, int n, const char *const *names, lra_err *e)
{
    for (int i = 0; i < n; i++)
        if (strcmp(value, names[i]) == 0) return i;
    return lra_fail(e, "properties of own data contain '%.80s'", value);
}

/* Parses an integer from 0 to `most`; returns -1 and a message if it is not one. */
static int64_t count_of(const char *value, int64_t most, lra_err *e)
{
    char *end;
    long long n = strtoll(value, &end, 10);
    if (*value && !*end && n >= 0 && n <= most) return n;
    lra_fail(e, "properties of own data contain '%.80s', expected 0 to %lld", value,
             (long long)most);
    return -1;
}

static int set_text(char **field, const char *value)
{
    lra_free(*field);
    *field = lra_copy_text(value);
    return 0;
}

static int add_class(lra_own *own, int *n_names, const char *value, lra_err *e)
{
    if (*n_names >= own->n_classes) return lra_fail(e, "properties of own data: too many classes");
    if (!own->class_name)
        own->class_name = lra_alloc_array((size_t)own->n_classes, sizeof *own->class_name);
    own->class_name[(*n_names)++] = lra_copy_text(value);
    return 0;
}

static int set_int(int *field, const char *value, int64_t most, lra_err *e)
{
    int64_t n = count_of(value, most, e);
    if (n >= 0) *field = (int)n;
    return n >= 0 ? 0 : LRA_FAILED;
}

/* Sets one property. Unknown keys are ignored, because a newer version may have written them. */
static int set_property(lra_own *own, int *n_names, const char *key, const char *value, lra_err *e)
{
    int k = 0;
    if (strcmp(key, "input") == 0) {
        k = choice_of(value, LRA_OWN_INPUTS, input_names, e);
        if (k >= 0) own->input = (lra_own_input)k;
    } else if (strcmp(key, "target") == 0) {
        k = choice_of(value, LRA_OWN_TARGETS, target_names, e);
        if (k >= 0) own->target = (lra_own_target)k;
    } else if (strcmp(key, "vocab") == 0) {
        k = set_int(&own->vocab, value, LRA_OWN_VOCAB, e);
    } else if (strcmp(key, "width") == 0) {
        k = set_int(&own->width, value, LRA_OWN_WIDTH, e);
    } else if (strcmp(key, "classes") == 0 && !own->class_name) {
        k = set_int(&own->n_classes, value, LRA_OWN_CLASSES, e);
    } else if (strcmp(key, "class") == 0) {
        k = add_class(own, n_names, value, e);
    } else if (strcmp(key, "note.input") == 0) {
        k = set_text(&own->input_column, value);
    } else if (strcmp(key, "note.label") == 0) {
        k = set_text(&own->label_column, value);
    } else if (strcmp(key, "note.split") == 0) {
        k = set_text(&own->split_column, value);
    }
#define SET(field, name)                                                                           \
    else if (strcmp(key, name) == 0)                                                               \
    {                                                                                              \
        own->field = count_of(value, INT64_MAX, e);                                                \
        k = own->field < 0 ? LRA_FAILED : 0;                                                       \
    }
    NUMBERS(SET)
#undef SET
    return k < 0 ? LRA_FAILED : 0;
}

/* Fails if properties contradict each other. */
static int check(const lra_own *own, int n_names, lra_err *e)
{
    bool values = own->input == LRA_OWN_VALUES, classes = own->target == LRA_OWN_CLASS;
    if (own->width < 1 || (values ? own->vocab != 0 : own->vocab < 1 || own->width != 1) ||
        (own->input == LRA_OWN_TEXT && own->vocab != LRA_BYTES_VOCAB) ||
        classes != (own->n_classes > 0) || (n_names && n_names != own->n_classes))
        return lra_fail(e, "properties of own data contradict each other");
    return 0;
}

int lra_own_parse(const char *text, lra_own *own, lra_err *e)
{
    int rc = 0, n_names = 0;
    *own = (lra_own){0};
    for (const char *at = text; *at && rc == 0;) {
        size_t n = strcspn(at, "\n"), equals = strcspn(at, "=\n");
        if (equals == n) {
            rc = lra_fail(e, "properties of own data contain a line without '='");
            break;
        }
        char *key = lra_format("%.*s", (int)equals, at);
        char *value = unescaped(at + equals + 1, n - equals - 1);
        rc = set_property(own, &n_names, key, value, e);
        lra_free(key);
        lra_free(value);
        at += n + (at[n] == '\n');
    }
    if (rc == 0) rc = check(own, n_names, e);
    if (rc != 0) lra_own_free(own);
    return rc;
}

/* ---- names ----------------------------------------------------------------------------------- */

char *lra_own_name(const char *path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.+-";
    size_t end = strlen(path), from, n = 0;
    char name[LRA_OWN_NAME + 1];
    while (end > 1 && path[end - 1] == '/') end--;
    for (from = end; from > 0 && path[from - 1] != '/';) from--;
    const char *dot = memchr(path + from, '.', end - from);
    if (dot && dot > path + from) end = (size_t)(dot - path);
    for (size_t i = from; i < end && n < LRA_OWN_NAME; i++) {
        char c = path[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        bool usable = c && strchr(letters, c);
        if (usable)
            name[n++] = c;
        else if (n && name[n - 1] != '-')
            name[n++] = '-';
    }
    while (n && (name[n - 1] == '-' || name[n - 1] == '.')) n--;
    name[n] = 0;
    return lra_format("file:%s", n ? name : "data");
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *lra_own_decode(const char *value)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (const char *c = value; *c; c++) {
        int high = *c == '%' ? hex_of(c[1]) : -1, low = high >= 0 ? hex_of(c[2]) : -1;
        char byte = low >= 0 ? (char)(16 * high + low) : *c;
        if (low >= 0) c += 2;
        lra_text_bytes(&t, &byte, 1);
    }
    return t.s;
}

/* ---- the instance ---------------------------------------------------------------------------- */

/* Computes scale and shift such that each channel has mean 0 and standard deviation 1 over all time
 * steps of the training rows. A constant channel is only shifted. */
static void standardise(const lra_dataset *d, float *scale, float *shift)
{
    const lra_sequences *r = &d->split[LRA_TRAIN_SPLIT];
    int64_t width = r->width, steps = r->n ? r->start[r->n] : 0, longest = 0;
    for (int s = 0; s < LRA_N_SPLITS; s++)
        for (int64_t i = 0; i < d->split[s].n; i++) {
            int64_t n = d->split[s].start[i + 1] - d->split[s].start[i];
            if (n > longest) longest = n;
        }
    for (int64_t k = 0; k < width; k++) {
        double mean = 0, squares = 0;
        for (int64_t i = 0; i < steps; i++) {
            double x = (double)r->value[i * width + k], before = x - mean;
            mean += before / (double)(i + 1);
            squares += before * (x - mean);
        }
        double deviation = steps ? sqrt(squares / (double)steps) : 0;
        double factor = deviation > 0 ? 1 / deviation : 1;
        for (int64_t t = 0; t < longest; t++) {
            scale[t * width + k] = (float)factor;
            shift[t * width + k] = (float)(-mean * factor);
        }
    }
}

/* Returns training settings for n training rows: about `steps` optimiser steps, within 3 to 60
 * epochs. For few rows the batches are smaller, so that an epoch has several steps. */
static const char *training(lra_arena *a, int64_t n, int64_t steps, const char *more)
{
    int64_t batch = 32;
    while (batch > 1 && batch * 16 > n) batch /= 2;
    int64_t per_epoch = n / batch > 0 ? n / batch : 1;
    int64_t epochs = (steps + per_epoch - 1) / per_epoch;
    if (epochs > 60) epochs = 60;
    if (epochs < 3) epochs = 3;
    return lra_arena_format(a, "batch=%lld epochs=%lld %s", (long long)batch, (long long)epochs,
                            more);
}

static void set_presets(lra_task *t, lra_arena *a, int64_t n)
{
    t->quick.training = training(a, n, 600, "warmup=0.05 final-share=0.34 final-rate=0.1");
    t->small.training = training(a, n, 4000, "warmup=0.02");
    t->paper.training = training(a, n, 20000, "patience=10");
}

static const char *summary_of(const lra_own *own, lra_arena *a)
{
    static const char *const unit[LRA_OWN_INPUTS] = {"text by bytes", "tokens", "values"};
    char what[64] = "no labels";
    if (own->target == LRA_OWN_CLASS)
        snprintf(what, sizeof what, "%d class%s", own->n_classes, own->n_classes == 1 ? "" : "es");
    if (own->target == LRA_OWN_NUMBER) snprintf(what, sizeof what, "a real number as label");
    return lra_arena_format(a, "own data, %s, %s", unit[own->input], what);
}

static void set_input(lra_task *t, const lra_own *own)
{
    bool text = own->input == LRA_OWN_TEXT, values = own->input == LRA_OWN_VALUES;
    t->input.vocab = own->vocab;
    t->input.first_word = text ? LRA_BYTES_FIRST : 0;
    t->input.mask = text ? LRA_BYTES_MASK : 0;
    t->input.channels = values ? own->width : 0;
    t->input.level_scale = values ? 1 : 0;
    t->input.levels = values ? standardise : NULL;
    t->text.show = text ? lra_bytes_show : values ? lra_own_show_values : lra_own_show_tokens;
}

static void set_target(lra_task *t, const lra_own *own, lra_arena *a)
{
    t->goal = own->target == LRA_OWN_NUMBER ? LRA_GOAL_VALUE : LRA_GOAL_CLASS;
    t->n_targets = own->target == LRA_OWN_NUMBER;
    t->n_classes = own->n_classes;
    t->unlabelled = own->target == LRA_OWN_UNLABELLED;
    t->baseline = own->n_classes ? lra_own_baseline : NULL;
    if (!own->class_name) return;
    const char **names = lra_arena_alloc(a, (size_t)own->n_classes * sizeof *names);
    for (int k = 0; k < own->n_classes; k++) names[k] = lra_arena_text(a, own->class_name[k]);
    t->text.label_names = names;
}

/* Returns the parameters whose values follow from the data: the names of the columns that were
 * read, and the format. */
static lra_config *columns_of(const lra_own *own)
{
    static const lra_key column = LRA_COLUMN_KEY("column", "auto", "");
    const char *const name[] = {input_names[own->input], "label", "split"};
    const char *const value[] = {own->input_column, own->label_column, own->split_column};
    lra_config *c = lra_config_new();
    lra_config_set(c, "format", "auto"); /* a run does not depend on the format of its data */
    for (int i = 0; i < 3; i++) {
        char *text = lra_key_text(&column, value[i] ? value[i] : "none", NULL);
        if (text) lra_config_set(c, name[i], text);
        lra_free(text);
    }
    return c;
}

int lra_own_resolve(lra_dataset *d, lra_err *e)
{
    lra_own own;
    if (!d->name) d->name = lra_copy_text(lra_task_id(d->task));
    if (!d->properties) return lra_fail(e, "it lacks the properties of own data");
    if (lra_own_parse(d->properties, &own, e) != 0) return LRA_FAILED;
    const lra_task *record = lra_task_record(d->task);
    if (!d->arena) d->arena = lra_arena_new();
    lra_task *t = d->own = lra_arena_alloc(d->arena, sizeof *t);
    *t = *record;
    t->record = record;
    t->name = d->name;
    t->summary = summary_of(&own, d->arena);
    t->data.longest = NULL;
    set_input(t, &own);
    set_target(t, &own, d->arena);
    set_presets(t, d->arena, own.n_train);
    lra_config_free(d->resolved);
    d->resolved = columns_of(&own);
    d->task = t, d->vocab = t->input.vocab;
    lra_own_free(&own);
    return 0;
}

void lra_own_set_outputs(lra_dataset *d, int64_t outputs)
{
    if (!d->task->unlabelled || d->task != d->own || outputs > INT_MAX)
        LRA_BUG("outputs of a task that has labels");
    d->own->n_classes = (int)outputs;
}
