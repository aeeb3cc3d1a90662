/* Labels of own data: integers and strings are classes, real numbers are targets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/own/examples.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"

/* Fails unless every example has a label. */
static int check_present(const lra_own_examples *x, lra_err *e)
{
    for (int k = 0; k < x->n_files; k++) {
        const lra_own_file *f = &x->file[k];
        const lra_data_column *c = f->label;
        if (c->kind != LRA_DATA_COLUMN_NUMBER && c->kind != LRA_DATA_COLUMN_TEXT)
            return lra_own_fail(f, 0, e, "column '%s' holds lists, expected a label", c->name);
        if (c->kind != x->file[0].label->kind)
            return lra_own_fail(f, 0, e, "the labels in column '%s' are %s, in another file %s",
                                c->name, c->kind == LRA_DATA_COLUMN_TEXT ? "text" : "numbers",
                                c->kind == LRA_DATA_COLUMN_TEXT ? "numbers" : "text");
        for (int64_t i = 0; i < f->columns.n && c->missing; i++)
            if (c->kind == LRA_DATA_COLUMN_NUMBER ? isnan(c->number[i])
                                                  : c->start[i] == c->start[i + 1])
                return lra_own_fail(f, i, e,
                                    "no label in column '%s' (%lld of %lld examples have none): "
                                    "fill or remove them",
                                    c->name, (long long)c->missing, (long long)f->columns.n);
    }
    return 0;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static int use_numbers(lra_own_examples *x, lra_err *e)
{
    x->own.target = LRA_OWN_NUMBER;
    x->target = lra_alloc_array((size_t)x->n + 1, sizeof *x->target);
    for (int k = 0; k < x->n_files; k++)
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            float y = (float)x->file[k].label->number[i];
            if (!isfinite(y))
                return lra_own_fail(&x->file[k], i, e, "the label is %g, expected a finite number",
                                    x->file[k].label->number[i]);
            x->target[x->file[k].first + i] = y;
        }
    return 0;
}

/* ---- classes --------------------------------------------------------------------------------- */

/* The label of an example: a number, or a text of n bytes. */
typedef struct {
    double number;
    const char *text; /* NULL: the label is `number` */
    int64_t n, example;
} label;

static int by_value(const void *a, const void *b)
{
    const label *x = a, *y = b;
    if (!x->text) return (x->number > y->number) - (x->number < y->number);
    size_t n = (size_t)(x->n < y->n ? x->n : y->n);
    int order = n ? memcmp(x->text, y->text, n) : 0;
    return order ? order : (x->n > y->n) - (x->n < y->n);
}

static label *labels_of(const lra_own_examples *x)
{
    label *all = lra_alloc_array((size_t)x->n + 1, sizeof *all);
    for (int k = 0; k < x->n_files; k++) {
        const lra_data_column *c = x->file[k].label;
        for (int64_t i = 0; i < x->file[k].columns.n; i++) {
            label *l = &all[x->file[k].first + i];
            l->example = x->file[k].first + i;
            if (c->kind == LRA_DATA_COLUMN_NUMBER)
                l->number = c->number[i];
            else
                l->text = c->text + c->start[i], l->n = c->start[i + 1] - c->start[i];
        }
    }
    qsort(all, (size_t)x->n, sizeof *all, by_value);
    return all;
}

static char *name_of(const label *l)
{
    if (!l->text) return lra_format("%.0f", l->number);
    return lra_make_printable(lra_format("%.*s", (int)l->n, l->text));
}

static int too_many(const lra_own_examples *x, int64_t n, bool numbers, lra_err *e)
{
    return lra_fail(e, "column '%s' has %lld different labels, expected at most %d classes%s",
                    x->own.label_column, (long long)n, (int)LRA_OWN_CLASSES,
                    numbers ? " ('--goal value' predicts the number itself)" : "");
}

static int use_classes(lra_own_examples *x, lra_err *e)
{
    label *all = labels_of(x);
    int64_t classes = 0;
    x->own.target = LRA_OWN_CLASS;
    x->label = lra_alloc_array((size_t)x->n + 1, sizeof *x->label);
    for (int64_t i = 0; i < x->n; i++) {
        classes += i == 0 || by_value(&all[i - 1], &all[i]) != 0;
        x->label[all[i].example] = (int32_t)(classes - 1);
    }
    bool numbers = !all[0].text;
    bool plain = numbers && all[0].number == 0 && all[x->n - 1].number == (double)(classes - 1);
    int rc = classes > LRA_OWN_CLASSES ? too_many(x, classes, numbers, e) : 0;
    if (rc == 0) x->own.n_classes = (int)classes;
    if (rc == 0 && !plain) {
        x->own.class_name = lra_alloc_array((size_t)classes, sizeof *x->own.class_name);
        for (int64_t i = 0; i < x->n; i++) {
            char **name = &x->own.class_name[x->label[all[i].example]];
            if (!*name) *name = name_of(&all[i]);
        }
    }
    lra_free(all);
    return rc;
}

int lra_own_labels(lra_own_examples *x, const char *goal, lra_err *e)
{
    if (!x->file[0].label) {
        if (strcmp(goal, "auto") == 0) return 0;
        return lra_fail_usage(e, "--goal %s needs labels; --label names their column", goal);
    }
    if (check_present(x, e) != 0) return LRA_FAILED;
    bool numbers = x->file[0].label->kind == LRA_DATA_COLUMN_NUMBER, integers = numbers;
    for (int k = 0; k < x->n_files; k++) integers = integers && x->file[k].label->integral;
    if (strcmp(goal, "value") == 0 && !numbers)
        return lra_fail_usage(e, "--goal value needs numbers; column '%s' holds text",
                              x->own.label_column);
    if (strcmp(goal, "class") == 0 && numbers && !integers)
        return lra_fail_usage(e,
                              "--goal class needs integers or text; column '%s' has real numbers",
                              x->own.label_column);
    bool value = strcmp(goal, "value") == 0 || (numbers && !integers);
    return value ? use_numbers(x, e) : use_classes(x, e);
}
