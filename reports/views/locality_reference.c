/* Reads rows of table locality from a file (locality_reference.h). */
#include "reports/views/locality_reference.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "analysis/measurement_info.h"
#include "kernels/base/core/mem.h"
#include "reports/results/check_names.h"

static const char not_measured[] = "not measured in the reference results";

/* A number of a row; NAN if it is missing or null. */
static double number(const json_t *row, const char *key)
{
    const json_t *x = json_object_get(row, key);
    return json_is_number(x) ? json_number_value(x) : (double)NAN;
}

static double number_of(const json_t *row, const char *key, const char *suffix)
{
    char *all = lra_format("%s%s", key, suffix);
    double x = number(row, all);
    lra_free(all);
    return x;
}

static char *text_of(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));
    return lra_copy_text(s ? s : "");
}

/* The result that identifies a row. NULL: a name or a number of the row is not valid. */
static lra_result *result_of(const json_t *row, lra_err *e)
{
    lra_result *r = lra_alloc(sizeof *r);
    *r = (lra_result){0};
    char *name = text_of(row, "model"), *metric = text_of(row, "metric");
    r->model = lra_format("%.*s", (int)strcspn(name, " "), name);
    r->task = text_of(row, "task"), r->preset = text_of(row, "preset");
    r->precision = text_of(row, "precision"), r->fingerprint = text_of(row, "data");
    r->run = text_of(row, "run");
    r->config = lra_copy_text(""), r->task_parameters = lra_copy_text("");
    r->deviations = lra_copy_text(""), r->sources = lra_copy_text("");
    r->ladder = lra_copy_text(""), r->user_label = lra_copy_text("");
    r->metric = lra_metric_find(metric, e);
    r->chance = number(row, "chance");
    double T = number(row, "max_length");
    const lra_named_text line = {"model", name};
    int rc = r->metric ? 0 : LRA_FAILED;
    if (rc == 0)
        rc = lra_check_run(r->task, r->model, r->preset, r->precision, r->fingerprint, r->run, e);
    if (rc == 0) rc = lra_check_lines(1, &line, e);
    if (rc == 0 && !(T >= 1 && T <= 1e12 && isfinite(r->chance)))
        rc = lra_fail(e, "reference row of model '%s': chance or max_length is no number", name);
    if (rc == 0) r->max_length = (int64_t)T;
    lra_free(name);
    lra_free(metric);
    if (rc == 0) return r;
    lra_result_free(r);
    return NULL;
}

static lra_measurement measurement(const json_t *row, const char *id, const char *key, int seeds)
{
    lra_measurement f = lra_measurement_of(id, number_of(row, key, ""));
    f.lo = number_of(row, key, "_lo"), f.hi = number_of(row, key, "_hi");
    f.null[LRA_NULL_UNIFORM] = number_of(row, key, "_equal");
    f.null[LRA_NULL_INIT] = number_of(row, key, "_initial");
    f.seeds = seeds;
    if (seeds > 1) f.flags &= ~(uint32_t)LRA_ONE_SEED;
    return f;
}

static void set_measurements(lra_locality_row *to, const json_t *row, int seeds)
{
    for (int i = 0; i < LRA_LOCALITIES; i++) {
        const lra_locality_column c = lra_locality_column_of((lra_locality)i);
        char *own = lra_measurement_key(c.id);
        char *key = lra_format("%s%s%s", c.prefix ? c.prefix : "", c.prefix ? "_" : "", own);
        to->at[i] = measurement(row, c.id, key, seeds);
        to->initial[i] = lra_measurement_of(c.id, number_of(row, key, "_initial"));
        if (isnan(to->at[i].value)) to->missing[i] = not_measured;
        lra_free(own);
        lra_free(key);
    }
    to->grew = measurement(row, "dist.mean.grew", "dist_mean_grew", seeds);
    static const char *const kind[] = {"decay_none", "decay_exp", "decay_power"};
    for (int k = 0; k < 3; k++) {
        double n = number(row, kind[k]);
        to->decay[k] = n >= 0 && n <= seeds ? (int)n : 0;
    }
}

static int read_row(lra_locality_row *to, const json_t *row, lra_err *e)
{
    enum { MOST_SEEDS = 1000 };
    double seeds = number(row, "seeds");
    if (!(seeds >= 1 && seeds <= MOST_SEEDS))
        return lra_fail(e, "a reference row has a number of seeds outside the range 1 to %d",
                        MOST_SEEDS);
    lra_result *r = result_of(row, e);
    if (!r) return LRA_FAILED;
    lra_result_group *g = lra_alloc(sizeof *g);
    *g = (lra_result_group){.n = (int)seeds};
    g->run = lra_alloc_array((size_t)g->n, sizeof(lra_result *));
    for (int s = 0; s < g->n; s++) g->run[s] = r;
    char *name = text_of(row, "model"), *mask = text_of(row, "mask");
    *to = (lra_locality_row){.group = g, .mask = LRA_MASK_UNKNOWN, .reference = true};
    to->name = lra_format("%s (reference)", name);
    to->value = (lra_estimate){.value = number(row, "value"),
                               .lo = number(row, "value_lo"),
                               .hi = number(row, "value_hi")};
    for (int k = 0; k < LRA_MASKS; k++)
        if (strcmp(mask, lra_mask_names[k]) == 0) to->mask = (lra_mask)k;
    set_measurements(to, row, g->n);
    lra_free(name);
    lra_free(mask);
    return 0;
}

void lra_locality_reference_free(lra_locality_row *row)
{
    lra_result_group *g = (lra_result_group *)(uintptr_t)row->group;
    lra_result_free(g->run[0]);
    lra_free(g->run);
    lra_free(g);
    row->group = NULL;
}

int lra_locality_reference_read(const char *path, lra_locality_row **rows, int *n, char **made,
                                lra_err *e)
{
    json_error_t where;
    json_t *document = json_load_file(path, 0, &where);
    *rows = NULL, *n = 0, *made = NULL;
    if (!document)
        return lra_fail(e, "'%s', line %d: %s; expected table 'locality' as JSON", path, where.line,
                        where.text);
    json_t *list = json_object_get(json_array_get(json_object_get(document, "tables"), 0), "rows");
    int rc = json_is_array(list) ? 0 : lra_fail(e, "'%s' has no rows of table 'locality'", path);
    size_t total = json_array_size(list);
    if (rc == 0) *rows = lra_alloc_array(total + 1, sizeof **rows);
    for (size_t i = 0; i < total && rc == 0; i++) {
        rc = read_row(&(*rows)[*n], json_array_get(list, i), e);
        *n += rc == 0;
        if (rc != 0) lra_fail_in(e, "'%s', row %zu", path, i + 1);
    }
    const char *origin = json_string_value(json_object_get(document, "made"));
    const lra_named_text line = {"made", origin};
    if (rc == 0 && origin) rc = lra_check_lines(1, &line, e);
    if (rc == 0 && origin) *made = lra_copy_text(origin);
    json_decref(document);
    if (rc == 0) return 0;
    for (int i = 0; i < *n; i++) {
        lra_free((*rows)[i].name);
        lra_locality_reference_free(&(*rows)[i]);
    }
    lra_free(*rows);
    *rows = NULL, *n = 0;
    return rc;
}
