/* Reads, writes and compares the settings and units of RUN/influence.h5. */
#include "probes/influence/cache.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/influence/registry.h"

/* ---- settings -------------------------------------------------------------------------------- */

const char *lra_cache_value(const lra_probe_result *r, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = r->settings; at && *at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, name, n) == 0 && at[n] == '=') return at + n + 1;
    }
    return NULL;
}

/* Returns the value of a setting as text, or `absent` if the file has no line with this name. The
 * caller frees the text. */
static char *value_of(const lra_probe_result *r, const char *name, const char *absent)
{
    const char *at = lra_cache_value(r, name);
    return at ? lra_format("%.*s", (int)strcspn(at, "\n"), at) : lra_copy_text(absent);
}

static bool has_value(const lra_probe_result *r, const char *name, const char *absent,
                      const char *value)
{
    char *own = value_of(r, name, absent);
    bool equal = strcmp(own, value) == 0;
    lra_free(own);
    return equal;
}

static void copy_value(lra_probe_result *to, const lra_probe_result *from, const char *name)
{
    const char *at = lra_cache_value(from, name);
    if (at) lra_probe_result_set(to, name, "%.*s", (int)strcspn(at, "\n"), at);
}

static char *seed_name(const lra_influence_part *part)
{
    return lra_format("%s-sample-seed", part->name);
}

void lra_cache_record(lra_probe_result *r, const lra_influence_part *part, const lra_influence *p,
                      int64_t examples)
{
    char *seed = seed_name(part), text[LRA_SETTING_TEXT];
    for (const lra_part_setting *s = part->settings; s && s->name; s++) {
        s->value(p, text);
        lra_probe_result_set(r, s->name, "%s", text);
    }
    lra_probe_result_set(r, part->name, "%" PRId64, examples);
    if (p->subject.sample_seed) lra_probe_result_set(r, seed, "%" PRIu64, p->subject.sample_seed);
    lra_free(seed);
}

bool lra_cache_holds(const lra_probe_result *old, const lra_influence_part *part,
                     const lra_influence *p, int64_t examples)
{
    char *seed = seed_name(part), text[LRA_SETTING_TEXT];
    snprintf(text, sizeof text, "%" PRId64, examples);
    bool holds = has_value(old, part->name, "", text);
    snprintf(text, sizeof text, "%" PRIu64, p->subject.sample_seed);
    holds = holds && has_value(old, seed, "0", text);
    for (const lra_part_setting *s = part->settings; s && s->name && holds; s++) {
        s->value(p, text);
        holds = has_value(old, s->name, s->absent, text);
    }
    lra_free(seed);
    return holds && !(part->outdated && part->outdated(p, old));
}

/* ---- units ----------------------------------------------------------------------------------- */

/* True if a unit belongs to a part: its name is the part's name, or begins with it and a dot. */
static bool belongs(const char *unit, const lra_influence_part *part)
{
    size_t n = strlen(part->name);
    return strncmp(unit, part->name, n) == 0 && (unit[n] == 0 || unit[n] == '.');
}

static void copy_unit(lra_probe_result *to, const lra_probe_unit *from)
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

void lra_cache_copy(lra_probe_result *to, const lra_probe_result *from,
                    const lra_influence_part *part)
{
    for (int u = 0; u < from->n_units; u++)
        if (belongs(from->unit[u]->name, part)) copy_unit(to, from->unit[u]);
    for (const lra_part_setting *s = part->settings; s && s->name; s++)
        copy_value(to, from, s->name);
    copy_value(to, from, part->name);
    char *seed = seed_name(part);
    copy_value(to, from, seed);
    lra_free(seed);
}

void lra_cache_sort(lra_probe_result *r)
{
    lra_probe_unit **sorted = lra_alloc_array((size_t)r->n_units + 1, sizeof *sorted);
    int n = 0;
    for (int i = 0; lra_influence_part_at(i); i++)
        for (int u = 0; u < r->n_units; u++)
            if (belongs(r->unit[u]->name, lra_influence_part_at(i))) sorted[n++] = r->unit[u];
    if (n != r->n_units) LRA_BUG("a unit of no part");
    lra_free(r->unit);
    r->unit = sorted;
}

/* ---- null values ----------------------------------------------------------------------------- */

static bool equal_value(const lra_probe_result *a, const lra_probe_result *b, const char *name,
                        const char *absent)
{
    char *value = value_of(a, name, absent);
    bool equal = has_value(b, name, absent, value);
    lra_free(value);
    return equal;
}

static bool equal_settings(const lra_probe_result *a, const lra_probe_result *b,
                           const lra_influence_part *part)
{
    char *seed = seed_name(part);
    bool equal = equal_value(a, b, part->name, "") && equal_value(a, b, seed, "0");
    for (const lra_part_setting *s = part->settings; s && s->name && equal; s++)
        equal = equal_value(a, b, s->name, s->absent);
    lra_free(seed);
    return equal;
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
        if (!equal_settings(r, shuffled, part)) continue;
        for (int u = 0; u < r->n_units; u++) {
            const lra_probe_unit *from = lra_probe_unit_find(shuffled, r->unit[u]->name);
            if (from && belongs(r->unit[u]->name, part)) any = add_to_unit(r->unit[u], from) || any;
        }
    }
    return any;
}

void lra_cache_copy_shuffled(lra_probe_result *to, const lra_probe_result *from)
{
    copy_value(to, from, "shuffled");
}
