/* Checks official files: either all files of a task below a path, or every label of a single file
 * whose rows can be evaluated. */
#include "probes/data/check.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "datasets/formats/walk.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/utf8.h"
#include "probes/data/examine.h"

enum { MAX_FILES = 16 /* maximum number of files that are printed individually */ };

/* ---- text ------------------------------------------------------------------------------------ */

static void print_files(const lra_digest *files)
{
    char sum[65];
    int64_t bytes = 0;
    printf("%-64s %12s  file\n", "SHA-256", "bytes");
    for (int64_t i = 0; i < files->n; i++) {
        const lra_digest_file *f = &files->file[i];
        bytes += (int64_t)f->n;
        if (files->n <= MAX_FILES) printf("%s %12" PRIu64 "  %s\n", f->sha256, f->n, f->name);
    }
    lra_digest_sum(files, sum);
    if (files->n > MAX_FILES)
        printf("%s %12" PRId64 "  %" PRId64
               " files: the SHA-256 of the output of sha256sum on them\n",
               sum, bytes, files->n);
}

static void print_facts(const lra_facts *found)
{
    for (int i = 0; i < found->n; i++) {
        double value = found->value[i];
        bool whole = value == rint(value) && fabs(value) < 1e15;
        printf(whole ? "%-47s %.0f\n" : "%-47s %.6g\n", found->name[i], value);
    }
}

static void print_text(const lra_examination *x)
{
    printf("%s: %s\n", x->name, x->summary);
    if (*x->fingerprint) printf("fingerprint %s\n", x->fingerprint);
    printf("\n");
    print_files(&x->files);
    printf("\n");
    print_facts(&x->facts);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_files(const lra_digest *files)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < files->n && files->n <= MAX_FILES; i++) {
        const lra_digest_file *f = &files->file[i];
        json_array_append_new(list, json_pack("{s:s, s:I, s:s}", "name", f->name, "bytes",
                                              (json_int_t)f->n, "sha256", f->sha256));
    }
    return list;
}

/* Fails if a file name is not valid UTF-8, because it cannot be written to JSON. */
static int check_names(const lra_examination *x, lra_err *e)
{
    int rc = 0;
    for (int64_t i = 0; i < x->files.n && x->files.n <= MAX_FILES && rc == 0; i++)
        rc = lra_utf8_check(x->files.file[i].name, e);
    return rc;
}

static void print_json(const lra_examination *x)
{
    char sum[65];
    json_t *facts = json_object();
    lra_digest_sum(&x->files, sum);
    for (int i = 0; i < x->facts.n; i++)
        json_object_set_new(facts, x->facts.name[i], json_real(x->facts.value[i]));
    json_t *root = json_pack("{s:i, s:s, s:s, s:I, s:s, s:o, s:o}", "schema", 2, "task", x->name,
                             "fingerprint", x->fingerprint, "n_files", (json_int_t)x->files.n,
                             "sha256sum", sum, "files", json_files(&x->files), "found", facts);
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17));
    printf("\n");
    json_decref(root);
}

/* ---- the check ------------------------------------------------------------------------------- */

/* Checks a single file of rows, whatever its name is. */
static int check_one(const lra_task *t, const char *path, bool json, lra_err *e)
{
    lra_examination x = {.files.listed = true};
    snprintf(x.name, sizeof x.name, "%s", t->name);
    snprintf(x.summary, sizeof x.summary, "%s", t->summary);
    lra_sequences rows = {0};
    const lra_walk whole = {0};
    int rc = t->files.check(path, &rows, e);
    lra_facts_add(&x.facts, (double)rows.n, "rows, all labels correct");
    if (rc == 0) rc = lra_walk_hash(&whole, path, &x.files, e);
    if (rc == 0 && json) rc = check_names(&x, e);
    if (rc == 0) (json ? print_json : print_text)(&x);
    lra_sequences_free(&rows);
    lra_examination_free(&x);
    return rc;
}

int lra_data_check(const lra_task *t, const lra_config *c, const char *path, bool json, lra_err *e)
{
    lra_examination x;
    if (!t->files.import)
        return lra_fail_usage(e, "task '%s' has no official files; it can only be generated",
                              t->name);
    if (!lra_file_exists(path))
        return lra_fail(e, "there is no file or folder '%s', expected official files of '%s'", path,
                        t->name);
    if (t->files.check && !lra_is_folder(path) && strstr(lra_walk_base(path), ".tsv"))
        return check_one(t, path, json, e);
    int rc = lra_data_examine(t, c, path, &x, e);
    bool printable = x.files.n > 0;
    if (rc == 0 && json) rc = check_names(&x, e), printable = printable && rc == 0;
    if (printable) (json ? print_json : print_text)(&x);
    lra_examination_free(&x);
    return rc;
}
