/* Checks official files: every label of rows that can be evaluated, or what a task says of a folder as a whole. */
#include "probes/data/check.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "kernels/base/file.h"
#include "kernels/base/mem.h"
#include "kernels/base/utf8.h"

static int check_one(const lra_task *t, const char *path, json_t *report, lra_err *e)
{
    lra_sequences rows = {0};
    int rc = report ? lra_utf8_check(path, e) : 0;
    if (rc == 0) rc = t->check(path, &rows, e);
    if (rc == 0 && report)
        json_object_set_new(report, path, json_integer(rows.n));
    else if (rc == 0)
        printf("%s: %" PRId64 " rows, every label is right\n", path, rows.n);
    lra_sequences_free(&rows);
    return rc;
}

/* What inspect() found, also when it fails. */
static void print_facts(const lra_task *t, const lra_facts *found, bool json)
{
    json_t *facts = json_object();
    for (int i = 0; i < found->n; i++) {
        json_object_set_new(facts, found->name[i], json_real(found->value[i]));
        if (!json) printf("%-40s %.6g\n", found->name[i], found->value[i]);
    }
    if (json) {
        json_t *root = json_pack("{s:i, s:s, s:o}", "schema", 1, "task", t->name, "found",
                                 json_incref(facts));
        json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
        printf("\n");
        json_decref(root);
    }
    json_decref(facts);
}

static int inspect(const lra_task *t, const lra_config *c, const char *path, bool json, lra_err *e)
{
    lra_facts found = {0};
    int rc = t->inspect(c, path, &found, e);
    if (found.n > 0) print_facts(t, &found, json);
    return rc;
}

static int check_rows(const lra_task *t, const char *path, bool json, lra_err *e)
{
    if (!t->check) return lra_fail_usage(e, "task '%s' has no labels to recompute", t->name);
    json_t *report = json ? json_object() : NULL;
    int rc = 0;
    if (!lra_is_folder(path)) {
        rc = check_one(t, path, report, e);
    } else {
        for (int s = 0; s < LRA_N_SPLITS && rc == 0; s++) {
            char *file = lra_format("%s/%s", path, t->file_names[s]);
            rc = check_one(t, file, report, e);
            lra_free(file);
        }
    }
    if (rc == 0 && json) {
        json_t *root = json_pack("{s:i, s:s, s:o}", "schema", 1, "task", t->name, "rows_checked",
                                 json_incref(report));
        json_dumpf(root, stdout, JSON_INDENT(2));
        printf("\n");
        json_decref(root);
    }
    json_decref(report);
    return rc;
}

int lra_data_check(const lra_task *t, const lra_config *c, const char *path, bool json, lra_err *e)
{
    if (!lra_file_exists(path))
        return lra_fail(e, "there is no file or folder '%s', expected official files of '%s'", path,
                        t->name);
    return t->inspect ? inspect(t, c, path, json, e) : check_rows(t, path, json, e);
}
