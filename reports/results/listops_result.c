/* Reads and writes listops.h5 (listops_result.h). */
#include "reports/results/listops_result.h"

#include <string.h>

#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"
#include "reports/results/check_names.h"
#include "reports/results/attribute_schema.h"
#include "reports/results/load_files.h"

enum { MAX_ROWS = 1 << 26, MOST = 1 << 24 };
const char *const lra_listops_root_names[LRA_LISTOPS_ROOTS] = {"MIN", "MAX", "MED", "SM", "digit"};
static const char probe_name[] = "listops";

static const lra_attribute fields[] = {
    {LRA_MEMBER(lra_listops, task), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, model), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, preset), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, precision), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, fingerprint), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, run), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_listops, seed), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_listops, kernel), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_listops, reach), LRA_ATTRIBUTE_INT, -1},
    {LRA_MEMBER(lra_listops, max_length), LRA_ATTRIBUTE_INT, 1},
    {LRA_MEMBER(lra_listops, differs), LRA_ATTRIBUTE_INT, 0}};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Columns of the test split: path in the file, and range of the values. */
typedef struct {
    const char *path;
    size_t offset;
    int32_t least, most;
} column;
static const column columns[] = {
    {"/listops/label", offsetof(lra_listops, label), 0, LRA_LISTOPS_LABELS - 1},
    {"/listops/predicted", offsetof(lra_listops, predicted), 0, LRA_LISTOPS_LABELS - 1},
    {"/listops/root", offsetof(lra_listops, root), 0, LRA_LISTOPS_ROOTS - 1},
    {"/listops/arity", offsetof(lra_listops, arity), 0, MOST},
    {"/listops/depth", offsetof(lra_listops, depth), 0, MOST},
    {"/listops/length", offsetof(lra_listops, length), 1, MOST}};
enum { N_COLUMNS = sizeof columns / sizeof *columns };

static int32_t **array_of(lra_listops *r, const column *c)
{
    return (int32_t **)(void *)((char *)r + c->offset);
}

/* ---- write ----------------------------------------------------------------------------------- */

static int write_all(const lra_listops *r, lra_h5 *f, lra_err *e)
{
    static const int64_t table[] = {LRA_LISTOPS_ROOTS, LRA_LISTOPS_LABELS};
    lra_listops copy = *r;
    int rc = lra_h5_set_text(f, "/", "probe", probe_name, e);
    if (rc == 0) rc = lra_attributes_write(f, fields, N_FIELDS, r, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/config", r->config, e);
    if (rc == 0) rc = lra_origin_write(f, &r->origin, e);
    if (rc == 0 && r->user_label && *r->user_label)
        rc = lra_h5_set_text(f, "/", "label", r->user_label, e);
    for (int i = 0; i < N_COLUMNS && rc == 0; i++)
        rc = lra_h5_put(f, columns[i].path, LRA_H5_I32, 1, &r->n, *array_of(&copy, &columns[i]), e);
    for (int h = 0; h < r->n_heuristics && rc == 0; h++) {
        char *path = lra_format("/heuristic/%s", r->heuristic_name[h]);
        rc = lra_h5_put(f, path, LRA_H5_I32, 1, &r->n, r->heuristic[h], e);
        lra_free(path);
    }
    if (rc == 0) rc = lra_h5_put(f, "/labels/train", LRA_H5_I64, 2, table, r->train_count, e);
    if (rc == 0) rc = lra_h5_put(f, "/labels/expected", LRA_H5_I64, 2, table, r->expected_count, e);
    return rc;
}

int lra_listops_result_write(const char *path, const lra_listops *r, lra_err *e)
{
    lra_h5 *f = lra_h5_create(path, "probe", e);
    if (!f) return LRA_FAILED;
    if (write_all(r, f, e) == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return LRA_FAILED;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int read_column(lra_h5 *f, const char *path, int64_t n, int32_t least, int32_t most,
                       int32_t **to, lra_err *e)
{
    *to = lra_try_array(n, sizeof **to, path, e);
    if (!*to || lra_h5_get(f, path, LRA_H5_I32, 1, &n, *to, e) != 0) return LRA_FAILED;
    for (int64_t i = 0; i < n; i++)
        if ((*to)[i] < least || (*to)[i] > most)
            return lra_fail(e, "'%s': row %lld is %d, expected %d to %d", path, (long long)i,
                            (*to)[i], least, most);
    return 0;
}

static int read_heuristics(lra_listops *r, lra_h5 *f, lra_err *e)
{
    char **names;
    int n = lra_h5_list(f, "/heuristic", &names, e), rc = n < 0 ? LRA_FAILED : 0;
    if (n > LRA_LISTOPS_HEURISTICS)
        rc = lra_fail(e, "%d heuristics, at most %d", n, LRA_LISTOPS_HEURISTICS);
    for (int h = 0; h < n && rc == 0; h++) {
        char *path = lra_format("/heuristic/%s", names[h]);
        r->heuristic_name[h] = lra_copy_text(names[h]);
        r->n_heuristics++;
        rc = read_column(f, path, r->n, 0, LRA_LISTOPS_LABELS - 1, &r->heuristic[h], e);
        lra_free(path);
    }
    if (n > 0) lra_h5_free_names(names, n);
    return rc;
}

static int read_counts(lra_h5 *f, const char *path, int64_t *count, lra_err *e)
{
    static const int64_t table[] = {LRA_LISTOPS_ROOTS, LRA_LISTOPS_LABELS};
    if (lra_h5_get(f, path, LRA_H5_I64, 2, table, count, e) != 0) return LRA_FAILED;
    for (int i = 0; i < LRA_LISTOPS_ROOTS * LRA_LISTOPS_LABELS; i++)
        if (count[i] < 0) return lra_fail(e, "'%s' holds a negative count", path);
    return 0;
}

static int check_probe(lra_h5 *f, lra_err *e)
{
    char *probe = lra_h5_attr_text(f, "/", "probe", e);
    int rc = probe ? 0 : LRA_FAILED;
    if (probe && strcmp(probe, probe_name) != 0)
        rc = lra_fail(e, "it is a file of probe '%s', expected '%s'", probe, probe_name);
    lra_free(probe);
    return rc;
}

static int check_texts(const lra_listops *r, lra_err *e)
{
    int rc = lra_check_run(r->task, r->model, r->preset, r->precision, r->fingerprint, r->run, e);
    if (rc == 0) rc = lra_check_origin(&r->origin, e);
    if (rc == 0) rc = lra_check_settings("/config", r->config, e);
    return rc == 0 ? lra_check_each("/heuristic", r->n_heuristics, r->heuristic_name, e) : rc;
}

static int read_all(lra_listops *r, lra_h5 *f, lra_err *e)
{
    lra_h5_info info;
    int rc = check_probe(f, e);
    if (rc == 0) rc = lra_attributes_read(f, fields, N_FIELDS, r, e);
    if (rc == 0) rc = lra_h5_find(f, columns[0].path, &info, e);
    if (rc == 0 && (info.rank != 1 || info.type != LRA_H5_I32 || info.n < 1 || info.n > MAX_ROWS))
        rc = lra_fail(e, "'%s' is not a list of int32 of acceptable length", columns[0].path);
    if (rc == 0) r->n = info.n;
    if (rc == 0) rc = (r->config = lra_h5_get_text(f, "/config", e)) ? 0 : LRA_FAILED;
    if (rc == 0) rc = lra_origin_read(f, &r->origin, e);
    if (rc == 0 && lra_h5_has_attr(f, "/", "label")) {
        r->user_label = lra_h5_attr_text(f, "/", "label", e);
        rc = r->user_label ? lra_check_label(r->user_label, e) : LRA_FAILED;
    }
    for (int i = 0; i < N_COLUMNS && rc == 0; i++)
        rc = read_column(f, columns[i].path, r->n, columns[i].least, columns[i].most,
                         array_of(r, &columns[i]), e);
    if (rc == 0) rc = read_heuristics(r, f, e);
    if (rc == 0 && !lra_listops_heuristic(r, "majority-by-operator"))
        rc = lra_fail(e, "there is no '/heuristic/majority-by-operator'");
    if (rc == 0) rc = read_counts(f, "/labels/train", r->train_count[0], e);
    if (rc == 0) rc = read_counts(f, "/labels/expected", r->expected_count[0], e);
    if (rc == 0) rc = check_texts(r, e);
    return rc;
}

lra_listops *lra_listops_result_read(const char *path, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "probe", e);
    if (!f) return NULL;
    lra_listops *r = lra_alloc(sizeof *r);
    int rc = read_all(r, f, e);
    if (rc == 0) rc = lra_h5_intact(f, e);
    r->unsealed = !lra_h5_sealed(f);
    lra_h5_close(f);
    if (rc == 0) return r;
    lra_fail_in(e, "cannot read '%s'", path);
    lra_listops_result_free(r);
    return NULL;
}

void lra_listops_result_free(lra_listops *r)
{
    if (!r) return;
    lra_attributes_free(fields, N_FIELDS, r);
    lra_free(r->config);
    lra_free(r->user_label);
    lra_origin_free(&r->origin);
    for (int i = 0; i < N_COLUMNS; i++) lra_free(*array_of(r, &columns[i]));
    for (int h = 0; h < r->n_heuristics; h++) {
        lra_free(r->heuristic_name[h]);
        lra_free(r->heuristic[h]);
    }
    lra_free(r);
}

const int32_t *lra_listops_heuristic(const lra_listops *r, const char *name)
{
    for (int h = 0; h < r->n_heuristics; h++)
        if (strcmp(r->heuristic_name[h], name) == 0) return r->heuristic[h];
    return NULL;
}

/* ---- many ------------------------------------------------------------------------------------ */

static void *read_breakdown(const char *path, const char *file, lra_err *e)
{
    (void)file;
    return lra_listops_result_read(path, e);
}

static void free_breakdown(void *r)
{
    lra_listops_result_free(r);
}

char *lra_listops_identity(const lra_listops *r)
{
    static const char *const seed[] = {"seed="};
    char *run = lra_identity_text(r->task, r->preset, r->precision, r->fingerprint, r->config, 1,
                                  seed);
    char *all = lra_format("%s %s", r->model, run);
    lra_free(run);
    return all;
}

static char *cell_of(const void *item)
{
    const lra_listops *r = item;
    char *configuration = lra_listops_identity(r);
    char *cell = lra_format("%s seed %lld", configuration, (long long)r->seed);
    lra_free(configuration);
    return cell;
}

static uint64_t digest_of(const void *item)
{
    const lra_listops *r = item;
    const size_t bytes = (size_t)r->n * sizeof *r->predicted;
    const uint64_t part[] = {bytes, lra_hash64(r->predicted, bytes), lra_hash64(r->label, bytes)};
    return lra_hash64(part, sizeof part);
}

int lra_listops_results_load(int n, const char *const *place, lra_listops ***list, lra_err *e)
{
    static const lra_file_kind kind = {"listops.h5", read_breakdown, free_breakdown, cell_of,
                                       digest_of};
    void **items;
    int n_items = lra_files_load(&kind, n, place, &items, e);
    *list = (lra_listops **)items;
    return n_items;
}

void lra_listops_results_free(lra_listops **list, int n)
{
    for (int i = 0; i < n; i++) lra_listops_result_free(list[i]);
    lra_free(list);
}
