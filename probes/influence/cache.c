/* Contents of RUN/influence.h5. */
#include "probes/influence/cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"

/* ---- units and settings ---------------------------------------------------------------------- */

bool lra_cache_belongs(const char *unit, const char *part)
{
    size_t n = strlen(part);
    return strncmp(unit, part, n) == 0 && (unit[n] == 0 || unit[n] == '.');
}

const char *lra_cache_value(const lra_probe_result *r, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = r->settings; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, n) == 0 && at[n] == '=') return at + n + 1;
    }
    return NULL;
}

int64_t lra_cache_number(const lra_probe_result *r, const char *name)
{
    const char *at = lra_cache_value(r, name);
    return at ? strtoll(at, NULL, 10) : 0;
}

bool lra_cache_uniform(const lra_influence_part *part)
{
    return part == &lra_part_jacobian || part == &lra_part_field || part == &lra_part_occlusion;
}

bool lra_cache_past(const lra_probe_result *r, const lra_influence_part *part)
{
    char *name = lra_format("%s-equal", part->name);
    const char *value = lra_cache_value(r, name);
    lra_free(name);
    return value && strncmp(value, "past", 4) == 0;
}

int64_t lra_saved_sample(const lra_probe_result *r, const lra_influence_part *part)
{
    char *name = lra_format("%s-sample-seed", part->name);
    int64_t seed = lra_cache_number(r, name);
    lra_free(name);
    return seed;
}

void lra_saved_set_sample(lra_probe_result *r, const lra_influence_part *part, int64_t seed)
{
    char *name = lra_format("%s-sample-seed", part->name);
    if (seed) lra_probe_result_set(r, name, "%" PRId64, seed);
    lra_free(name);
}

bool lra_saved_moves_blocks(const lra_probe_result *r, const lra_influence_part *part)
{
    if (part != &lra_part_interaction) return true;
    const lra_probe_unit *u = lra_probe_unit_find(r, part->name);
    return !u || lra_probe_array_find(u, "rel");
}

void lra_cache_set(lra_probe_result *r, const lra_influence_part *part, int64_t examples,
                   int64_t head_groups, const char *equal)
{
    if (equal && lra_cache_uniform(part)) {
        char *name = lra_format("%s-equal", part->name);
        lra_probe_result_set(r, name, "%s", equal);
        lra_free(name);
    }
    lra_probe_result_set(r, part->name, "%" PRId64, examples);
    if (part == &lra_part_heads) lra_probe_result_set(r, "head-groups", "%" PRId64, head_groups);
}

void lra_cache_copy(lra_probe_result *to, const lra_probe_unit *from)
{
    lra_probe_unit *u = lra_probe_unit_new(to, from->name);
    for (int i = 0; i < from->n_arrays; i++) {
        const lra_probe_array *a = &from->array[i];
        int64_t n = 1;
        for (int d = 0; d < a->rank; d++) n *= a->dims[d];
        double *x = lra_alloc_array((size_t)n + 1, sizeof *x);
        for (int64_t k = 0; k < n; k++) x[k] = (double)a->value[k];
        lra_probe_unit_array(u, a->name, a->rank, a->dims, x);
        lra_free(x);
    }
    lra_probe_unit_measurements(u, from->n_measurements, from->measurement);
}

void lra_cache_sort(lra_probe_result *r)
{
    lra_probe_unit **sorted = lra_alloc_array((size_t)r->n_units + 1, sizeof *sorted);
    int n = 0;
    for (int i = 0; lra_influence_part_at(i); i++)
        for (int u = 0; u < r->n_units; u++)
            if (lra_cache_belongs(r->unit[u]->name, lra_influence_part_at(i)->name))
                sorted[n++] = r->unit[u];
    if (n != r->n_units) LRA_BUG("a unit of no part");
    lra_free(r->unit);
    r->unit = sorted;
}

/* ---- null values ----------------------------------------------------------------------------- */

static bool alike(const lra_probe_result *a, const lra_probe_result *b, const char *setting)
{
    return lra_cache_number(a, setting) == lra_cache_number(b, setting);
}

static bool add_to_unit(lra_probe_unit *u, const lra_probe_unit *from)
{
    bool any = false;
    for (int i = 0; i < u->n_measurements; i++) {
        lra_measurement *f = &u->measurement[i];
        double before = f->null[LRA_NULL_SHUFFLED], now;
        lra_measurements_null(1, f, from->n_measurements, from->measurement, LRA_NULL_SHUFFLED);
        now = f->null[LRA_NULL_SHUFFLED];
        any = any || (before != now && !(isnan(before) && isnan(now)));
    }
    return any;
}

bool lra_cache_add_shuffled(lra_probe_result *r, const lra_probe_result *shuffled)
{
    bool any = !lra_cache_value(r, "shuffled");
    if (any) lra_probe_result_set(r, "shuffled", "%s", shuffled->run);
    for (int i = 0; lra_influence_part_at(i); i++) {
        const lra_influence_part *part = lra_influence_part_at(i);
        if (!alike(r, shuffled, part->name)) continue;
        if (lra_cache_past(r, part) != lra_cache_past(shuffled, part)) continue;
        if (part == &lra_part_heads && !alike(r, shuffled, "head-groups")) continue;
        for (int u = 0; u < r->n_units; u++) {
            const lra_probe_unit *from = lra_probe_unit_find(shuffled, r->unit[u]->name);
            if (from && lra_cache_belongs(r->unit[u]->name, part->name))
                any = add_to_unit(r->unit[u], from) || any;
        }
    }
    return any;
}
