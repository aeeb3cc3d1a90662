/* Compares files of examples with results of Python's modules csv and json and of numpy, for random
 * files that tests/datasets/columns_python.py writes. The test is skipped without Python and numpy;
 * LRA_PYTHON names an interpreter other than python3. */
#include "tests/fixtures/test.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/formats/columns.h"
#include "kernels/base/os/process.h"
#include "tests/fixtures/folder.h"

GROUP(make_folder, remove_folder);

enum { FILES = 120 }; /* number of files of each format */

static void add_hex(lra_text *t, const char *bytes, int64_t n)
{
    for (int64_t i = 0; i < n; i++) lra_text_add(t, "%02x", (unsigned char)bytes[i]);
    if (n == 0) lra_text_add(t, "-");
}

static void add_double(lra_text *t, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v))
        lra_text_add(t, "nan");
    else
        lra_text_add(t, "%016" PRIx64, bits);
}

static void add_float(lra_text *t, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    if (isnan(v))
        lra_text_add(t, "nan");
    else
        lra_text_add(t, "%08" PRIx32, bits);
}

static void add_example(lra_text *t, const lra_data_column *c, int64_t row)
{
    if (c->kind == LRA_DATA_COLUMN_NUMBER) {
        add_double(t, c->number[row]);
        return;
    }
    int64_t from = c->start[row], n = c->start[row + 1] - from;
    if (c->kind == LRA_DATA_COLUMN_TEXT) {
        add_hex(t, c->text + from, n);
        return;
    }
    if (n == 0) lra_text_add(t, "-");
    for (int64_t i = 0; i < n && c->kind == LRA_DATA_COLUMN_IDS; i++)
        lra_text_add(t, "%s%" PRId64, i ? " " : "", c->id[from + i]);
    for (int64_t i = 0; i < n * c->width && c->kind == LRA_DATA_COLUMN_VALUES; i++) {
        if (i) lra_text_add(t, " ");
        add_float(t, c->value[from * c->width + i]);
    }
}

/* Writes columns in the format of columns_python.py. */
static void show(const lra_data_columns *c, lra_text *t)
{
    static const char *const kinds[] = {"text", "number", "ids", "values", "refused"};
    for (int i = 0; i < c->n_columns; i++) {
        const lra_data_column *column = &c->column[i];
        lra_text_add(t, "column ");
        add_hex(t, column->name, (int64_t)strlen(column->name));
        lra_text_add(t, " %s", kinds[column->kind]);
        if (column->kind == LRA_DATA_COLUMN_VALUES) lra_text_add(t, " %d", column->width);
        lra_text_add(t, "\n");
        for (int64_t row = 0; row < c->n && column->kind != LRA_DATA_COLUMN_REFUSED; row++) {
            add_example(t, column, row);
            lra_text_add(t, "\n");
        }
    }
}

static void compare(const char *name)
{
    lra_err e = {{0}};
    lra_data_columns c;
    lra_text t = {0};
    size_t n;
    char *path = lra_format("%s/%s", folder, name), *other = lra_format("%s.expected", path);
    char *expected = lra_file_read(other, 1 << 26, &n, &e);
    NOT_NULL(expected);
    OK(lra_data_columns_read(path, NULL, &c, &e));
    show(&c, &t);
    if (strcmp(t.s, expected) != 0) fail_msg("%s differs:\n%s\nexpected:\n%s", name, t.s, expected);
    lra_data_columns_free(&c);
    lra_text_free(&t);
    lra_free_large(expected);
    lra_free(other);
    lra_free(path);
}

/* Runs the Python program; returns false if there is no Python with numpy. */
static bool run_python(void)
{
    const char *python = getenv("LRA_PYTHON"), *source = getenv("LRA_SOURCE");
    if (!python) python = "python3";
    lra_err e = {{0}};
    char *said = NULL,
         *script = lra_format("%s/tests/datasets/columns_python.py", source ? source : ".");
    char *probe[] = {(char *)python, "-c", "import numpy", NULL};
    bool there = lra_process_run(probe, NULL, NULL, NULL, &e) == 0;
    char *count = lra_format("%d", FILES);
    char *run[] = {(char *)python, script, folder, "7", count, NULL};
    if (there && lra_process_run(run, NULL, NULL, &said, &e) != 0) fail_msg("%s%s", e.msg, said);
    lra_free(said);
    lra_free(count);
    lra_free(script);
    return there;
}

TEST(files_are_those_of_python)
{
    lra_err e = {{0}};
    char **names;
    if (!run_python()) {
        print_message("no python3 with numpy\n");
        skip();
    }
    int n = lra_folder_list(folder, &names, &e), n_files = 0;
    for (int i = 0; i < n; i++) {
        if (strstr(names[i], ".expected")) continue;
        compare(names[i]);
        n_files++;
    }
    assert_in_range(n_files, 3 * FILES, 5 * FILES);
    lra_names_free(names, n);
}
