/* Reads and writes files of probe results. */
#include <stdio.h>
#include <string.h>

#include "analysis/measurement_info.h"
#include "kernels/base/formats/h5.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/printable.h"
#include "reports/results/check_names.h"
#include "reports/results/attribute_schema.h"
#include "reports/results/probe_result.h"

static const lra_attribute fields[] = {
    {LRA_MEMBER(lra_probe_result, probe), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, task), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, model), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, preset), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, precision), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, fingerprint), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, run), LRA_ATTRIBUTE_TEXT, 0},
    {LRA_MEMBER(lra_probe_result, seed), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_probe_result, kernel), LRA_ATTRIBUTE_INT, 0},
    {LRA_MEMBER(lra_probe_result, reach), LRA_ATTRIBUTE_INT, -1},
    {LRA_MEMBER(lra_probe_result, max_length), LRA_ATTRIBUTE_INT, 1},
    {LRA_MEMBER(lra_probe_result, grid), LRA_ATTRIBUTE_INT, 0}};
enum { N_FIELDS = sizeof fields / sizeof *fields };

/* Columns of the array of measurements. */
static const char columns[] =
    "value lo hi null_uniform null_init null_shuffled null_perm examples seeds undefined";
enum { COLUMNS = 6 + LRA_NULLS, NULLS_AT = 3, COUNTS_AT = NULLS_AT + LRA_NULLS };
static const char names_path[] = "/finding/names", values_path[] = "/finding/values";

/* ---- write ----------------------------------------------------------------------------------- */

static void add_flags(lra_text *t, uint32_t flags)
{
    const char *between = "";
    for (int i = 0; lra_measurement_flag_name(i); i++) {
        if (!(flags >> i & 1)) continue;
        lra_text_add(t, "%s%s", between, lra_measurement_flag_name(i));
        between = ",";
    }
    lra_text_add(t, "%s\n", *between ? "" : "-");
}

/* The words of each line of the measurement names as separate columns, so that other programs can
 * read them. */
enum { PART, ID, UNIT, FLAGS, WORDS };
static const char *const word_path[WORDS] = {"/finding/part", "/finding/id", "/finding/unit",
                                             "/finding/flags"};

static int write_words(const lra_probe_result *r, lra_h5 *f, lra_err *e)
{
    lra_text word[WORDS] = {{0}};
    int rc = 0;
    for (int i = 0; i < r->n_units; i++)
        for (int k = 0; k < r->unit[i]->n_measurements; k++) {
            const lra_measurement *x = &r->unit[i]->measurement[k];
            lra_text_add(&word[PART], "%s\n", r->unit[i]->name);
            lra_text_add(&word[ID], "%s\n", x->id);
            lra_text_add(&word[UNIT], "%s\n", x->unit);
            add_flags(&word[FLAGS], x->flags);
        }
    for (int w = 0; w < WORDS; w++) {
        if (rc == 0) rc = lra_h5_put_text(f, word_path[w], word[w].s ? word[w].s : "", e);
        lra_text_free(&word[w]);
    }
    return rc;
}

static int write_measurements(const lra_probe_result *r, lra_h5 *f, lra_err *e)
{
    lra_text names = {0};
    int64_t n = 0;
    for (int i = 0; i < r->n_units; i++) n += r->unit[i]->n_measurements;
    double *values = lra_alloc_array((size_t)n * COLUMNS + 1, sizeof *values), *v = values;
    for (int i = 0; i < r->n_units; i++) {
        const lra_probe_unit *u = r->unit[i];
        for (int k = 0; k < u->n_measurements; k++, v += COLUMNS) {
            const lra_measurement *x = &u->measurement[k];
            const double count[] = {(double)x->examples, (double)x->seeds, (double)x->undefined};
            lra_text_add(&names, "%s %s %s ", u->name, x->id, x->unit);
            add_flags(&names, x->flags);
            v[0] = x->value, v[1] = x->lo, v[2] = x->hi;
            memcpy(v + NULLS_AT, x->null, sizeof x->null);
            memcpy(v + COUNTS_AT, count, sizeof count);
        }
    }
    int rc = lra_h5_put_text(f, names_path, names.s ? names.s : "", e);
    if (rc == 0) rc = lra_h5_put_table(f, values_path, columns, n, values, e);
    lra_free(values);
    lra_text_free(&names);
    return rc;
}

static int write_unit(const lra_probe_unit *u, lra_h5 *f, lra_err *e)
{
    int rc = 0;
    for (int k = 0; k < u->n_arrays && rc == 0; k++) {
        const lra_probe_array *a = &u->array[k];
        char *path = lra_format("/unit/%s/%s", u->name, a->name);
        rc = lra_h5_put(f, path, LRA_H5_F32, a->rank, a->dims, a->value, e);
        lra_free(path);
    }
    return rc;
}

static int write_all(const lra_probe_result *r, lra_h5 *f, lra_err *e)
{
    lra_text names = {0};
    int rc = lra_attributes_write(f, fields, N_FIELDS, r, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/config", r->config, e);
    if (rc == 0) rc = lra_h5_put_text(f, "/settings", r->settings, e);
    if (rc == 0 && r->left_out && *r->left_out)
        rc = lra_h5_put_text(f, "/left_out", r->left_out, e);
    if (rc == 0) rc = lra_model_checks_write(f, &r->checks, e);
    if (rc == 0) rc = lra_origin_write(f, &r->origin, e);
    if (rc == 0 && r->user_label && *r->user_label)
        rc = lra_h5_set_text(f, "/", "label", r->user_label, e);
    for (int i = 0; i < r->n_units && rc == 0; i++) {
        lra_text_add(&names, "%s\n", r->unit[i]->name);
        rc = write_unit(r->unit[i], f, e);
    }
    if (rc == 0) rc = lra_h5_put_text(f, "/units", names.s ? names.s : "", e);
    lra_text_free(&names);
    if (rc == 0) rc = write_words(r, f, e);
    return rc == 0 ? write_measurements(r, f, e) : rc;
}

int lra_probe_result_write(const char *path, const lra_probe_result *r, lra_err *e)
{
    lra_h5 *f = lra_h5_create(path, "probe", e);
    if (!f) return LRA_FAILED;
    if (write_all(r, f, e) == 0) return lra_h5_commit(f, e);
    lra_h5_close(f);
    return LRA_FAILED;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int read_array(lra_h5 *f, const char *path, lra_probe_array *a, lra_err *e)
{
    lra_h5_info info;
    if (lra_h5_find(f, path, &info, e) != 0) return LRA_FAILED;
    if (info.type != LRA_H5_F32 || info.rank < 1 || info.rank > LRA_PROBE_RANK)
        return lra_fail(e, "'%s' is no array of float32 of at most %d dimensions", path,
                        LRA_PROBE_RANK);
    a->rank = info.rank;
    memcpy(a->dims, info.dims, sizeof a->dims);
    a->value = lra_try_array(info.n, sizeof *a->value, path, e);
    return a->value ? lra_h5_get(f, path, LRA_H5_F32, a->rank, a->dims, a->value, e) : LRA_FAILED;
}

/* Checks that each curve array has a value and its interval, (points, 3), for each point of `x`. */
static int check_points(const char *group, const lra_probe_unit *u, lra_err *e)
{
    const lra_probe_array *x = lra_probe_array_find(u, "x");
    for (int i = 0; i < LRA_PROBE_CURVES; i++) {
        const lra_probe_array *a = lra_probe_array_find(u, lra_probe_curves[i].name);
        if (!a) continue;
        if (!x || x->rank != 1 || a->rank != 2 || a->dims[0] != x->dims[0] || a->dims[1] != 3)
            return lra_fail(e, "'%s/%s' is no array of three numbers for each point of 'x'", group,
                            a->name);
    }
    return 0;
}

static int read_arrays(lra_h5 *f, lra_probe_unit *u, lra_err *e)
{
    char **names, *group = lra_format("/unit/%s", u->name);
    int n = lra_h5_has(f, group) ? lra_h5_list(f, group, &names, e) : 0,
        rc = n < 0 ? LRA_FAILED : 0;
    if (n > LRA_PROBE_ARRAYS)
        rc = lra_fail(e, "'%s' holds %d arrays, at most %d", group, n, LRA_PROBE_ARRAYS);
    if (rc == 0) rc = lra_check_each(group, n, n ? names : NULL, e);
    if (rc == 0 && n) u->array = lra_alloc_array((size_t)n, sizeof *u->array);
    for (int k = 0; k < n && rc == 0; k++) {
        char *path = lra_format("%s/%s", group, names[k]);
        u->array[u->n_arrays++].name = lra_copy_text(names[k]);
        rc = read_array(f, path, &u->array[k], e);
        lra_free(path);
    }
    if (rc == 0) rc = check_points(group, u, e);
    if (n > 0) lra_h5_free_names(names, n);
    lra_free(group);
    return rc;
}

static int read_units(lra_probe_result *r, lra_h5 *f, lra_err *e)
{
    char *names = lra_h5_get_text(f, "/units", e);
    int rc = names ? 0 : LRA_FAILED;
    for (char *at = names; rc == 0 && *at;) {
        size_t n = strcspn(at, "\n");
        bool last = at[n] == '\0';
        at[n] = '\0';
        rc = lra_check_names(1, &(lra_named_text){"/units", at}, e);
        if (rc == 0 && lra_probe_unit_find(r, at))
            rc = lra_fail(e, "'/units' names '%s' twice", at);
        if (rc == 0 && r->n_units == LRA_PROBE_UNITS)
            rc = lra_fail(e, "'/units' names more than %d units", LRA_PROBE_UNITS);
        if (rc == 0) rc = read_arrays(f, lra_probe_unit_new(r, at), e);
        at += n + !last;
    }
    lra_free(names);
    return rc;
}

/* Reads flags: "censored,flat", or "-" if there are none. */
static int read_flags(const char *text, uint32_t *flags, lra_err *e)
{
    *flags = 0;
    if (strcmp(text, "-") == 0) return 0;
    for (const char *at = text; *at;) {
        size_t n = strcspn(at, ",");
        int i = 0;
        for (; lra_measurement_flag_name(i); i++)
            if (strlen(lra_measurement_flag_name(i)) == n &&
                strncmp(at, lra_measurement_flag_name(i), n) == 0)
                break;
        if (!lra_measurement_flag_name(i))
            return lra_fail(e, "'%s' holds the flag '%.40s', which is unknown", names_path, at);
        *flags |= (uint32_t)1 << i;
        at += n + (at[n] == ',');
    }
    return 0;
}

/* Reads a non-negative integer of at most 9e15; fails on any other value. */
static int read_count(double value, const char *name, int64_t *to, lra_err *e)
{
    if (!(value >= 0 && value <= 9e15 && value == (double)(int64_t)value))
        return lra_fail(e, "'%s': %s is %g, expected a count", values_path, name, value);
    *to = (int64_t)value;
    return 0;
}

static int fill_measurement(lra_measurement *x, const char *flags, const double *v, lra_err *e)
{
    x->value = v[0], x->lo = v[1], x->hi = v[2];
    memcpy(x->null, v + NULLS_AT, sizeof x->null);
    int rc = read_flags(flags, &x->flags, e);
    if (rc == 0 && (x->lo > x->hi || x->value < x->lo || x->value > x->hi))
        rc = lra_fail(e, "'%s': %g lies outside of its interval %g to %g", x->id, x->value, x->lo,
                      x->hi);
    if (rc == 0) rc = lra_measurement_check(x, e);
    if (rc == 0) rc = read_count(v[COUNTS_AT], "examples", &x->examples, e);
    if (rc == 0) rc = read_count(v[COUNTS_AT + 1], "seeds", &x->seeds, e);
    return rc == 0 ? read_count(v[COUNTS_AT + 2], "undefined", &x->undefined, e) : rc;
}

/* Reads a measurement: its line "unit id measure flags" and its row of numbers v. */
static int read_measurement(lra_probe_result *r, const char *line, const double *v, lra_err *e)
{
    char unit[65], flags[257], extra;
    lra_measurement x;
    _Static_assert(sizeof x.id == 48 && sizeof x.unit == 16, "widths below");
    memset(&x, 0, sizeof x);
    int n = sscanf(line, "%64s %47s %15s %256s %c", unit, x.id, x.unit, flags, &extra);
    if (n != 4 || !lra_printable(line))
        return lra_fail(e, "'%s' holds '%.80s', expected unit, id, measure, flags", names_path,
                        line);
    const lra_named_text names[] = {{names_path, unit}, {names_path, x.id}};
    if (lra_check_names(2, names, e) != 0) return LRA_FAILED;
    for (int i = 0; i < r->n_units; i++) {
        lra_probe_unit *u = r->unit[i];
        if (strcmp(u->name, unit) != 0) continue;
        if (lra_probe_measurement(u, x.id)) return lra_fail(e, "'%s' has '%s' twice", unit, x.id);
        if (fill_measurement(&x, flags, v, e) != 0) return LRA_FAILED;
        lra_probe_unit_measurements(u, 1, &x);
        return 0;
    }
    return lra_fail(e, "'%s' holds '%s', which is not in '/units'", names_path, unit);
}

static int read_measurements(lra_probe_result *r, lra_h5 *f, lra_err *e)
{
    int64_t n = 0, i = 0;
    double *values = NULL;
    char *names = lra_h5_get_text(f, names_path, e);
    int rc = names ? lra_h5_get_table(f, values_path, columns, &n, &values, e) : LRA_FAILED;
    if (rc == 0 && n > LRA_PROBE_MEASUREMENTS)
        rc = lra_fail(e, "'%s' has %lld rows, at most %d", values_path, (long long)n,
                      LRA_PROBE_MEASUREMENTS);
    for (char *at = names; rc == 0 && *at; i++) {
        size_t length = strcspn(at, "\n");
        bool last = at[length] == '\0';
        at[length] = '\0';
        if (i == n) break;
        rc = read_measurement(r, at, values + i * COLUMNS, e);
        at += length + !last;
    }
    if (rc == 0 && i != n)
        rc = lra_fail(e, "'%s' and '%s' differ in length", names_path, values_path);
    lra_free(values);
    lra_free(names);
    return rc;
}

static int read_all(lra_probe_result *r, const char *probe, lra_h5 *f, lra_err *e)
{
    int rc = lra_attributes_read(f, fields, N_FIELDS, r, e);
    if (rc == 0 && probe && strcmp(r->probe, probe) != 0)
        rc = lra_fail(e, "it is a file of probe '%.40s', expected '%s'", r->probe, probe);
    if (rc == 0) rc = (r->config = lra_h5_get_text(f, "/config", e)) ? 0 : LRA_FAILED;
    if (rc == 0) rc = (r->settings = lra_h5_get_text(f, "/settings", e)) ? 0 : LRA_FAILED;
    if (rc == 0) rc = lra_origin_read(f, &r->origin, e);
    if (rc == 0) {
        r->user_label = lra_h5_has_attr(f, "/", "label") ? lra_h5_attr_text(f, "/", "label", e)
                                                         : lra_copy_text("");
        rc = r->user_label ? lra_check_label(r->user_label, e) : LRA_FAILED;
    }
    if (rc == 0)
        rc = lra_check_run(r->task, r->model, r->preset, r->precision, r->fingerprint, r->run, e);
    if (rc == 0) {
        r->left_out = lra_h5_has(f, "/left_out") ? lra_h5_get_text(f, "/left_out", e)
                                                 : lra_copy_text("");
        rc = r->left_out ? lra_check_lines(1, &(lra_named_text){"/left_out", r->left_out}, e)
                         : LRA_FAILED;
    }
    if (rc == 0) rc = lra_model_checks_read(f, &r->checks, e);
    if (rc == 0) rc = lra_check_origin(&r->origin, e);
    if (rc == 0) rc = lra_check_settings("/config", r->config, e);
    if (rc == 0) rc = lra_check_settings("/settings", r->settings, e);
    if (rc == 0) rc = read_units(r, f, e);
    return rc == 0 ? read_measurements(r, f, e) : rc;
}

lra_probe_result *lra_probe_result_read(const char *path, const char *probe, lra_err *e)
{
    lra_h5 *f = lra_h5_open(path, "probe", e);
    if (!f) return NULL;
    lra_probe_result *r = lra_alloc(sizeof *r);
    int rc = read_all(r, probe, f, e);
    if (rc == 0) rc = lra_h5_intact(f, e);
    r->unsealed = !lra_h5_sealed(f);
    lra_h5_close(f);
    if (rc == 0) return r;
    lra_fail_in(e, "cannot read '%s'", path);
    lra_probe_result_free(r);
    return NULL;
}
