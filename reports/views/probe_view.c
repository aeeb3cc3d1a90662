/* Groups probe files by seed into cells (probe_view.h). */
#include "reports/views/probe_view.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/os/file.h"
#include "kernels/base/core/mem.h"

bool lra_probe_skip(const lra_probe_result *r)
{
    lra_config *settings = lra_config_parse(r->settings, NULL);
    bool skip = settings && strcmp(lra_config_text_or(settings, "skip", "0"), "1") == 0;
    lra_config_free(settings);
    return skip;
}

int64_t lra_probe_queries(const lra_probe_result *r)
{
    lra_config *settings = lra_config_parse(r->settings, NULL);
    int64_t n = settings ? strtoll(lra_config_text_or(settings, "queries", "0"), NULL, 10) : 0;
    lra_config_free(settings);
    return n;
}

/* True if the file records which inputs the uniform baseline of the unit's part covers; older files
 * do not. */
static bool knows_equal(const lra_config *settings, const char *unit)
{
    char *key = lra_format("%.*s-equal", (int)strcspn(unit, "."), unit);
    bool known = settings && *lra_config_text_or(settings, key, "");
    lra_free(key);
    return known;
}

bool lra_probe_equal_ahead(const lra_probe_result *r)
{
    bool ahead = false;
    lra_config *settings = lra_config_parse(r->settings, NULL);
    for (int u = 0; u < r->n_units; u++) {
        const lra_measurement *f = lra_probe_measurement(r->unit[u], "side");
        bool asks = strcmp(r->probe, "influence") == 0 && f;
        bool back = asks && f->value > 1 - 1e-4 && f->null[LRA_NULL_UNIFORM] < 0.5;
        ahead = ahead || (back && !knows_equal(settings, r->unit[u]->name));
    }
    lra_config_free(settings);
    return ahead;
}

/* Probe units that contain the gain under a distance limit: name of the unit for all layers, and
 * prefix of the units for one layer. */
static const struct {
    const char *all, *one;
} limits[] = {{"cut", "cut."}, {NULL, "heads."}};

const char *lra_probe_limited_layers(const lra_probe_unit *u)
{
    if (!lra_probe_array_find(u, "gain") || strcmp(u->name, "cut.window") == 0) return NULL;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        size_t n = strlen(limits[i].one);
        if (limits[i].all && strcmp(u->name, limits[i].all) == 0) return "all";
        if (strncmp(u->name, limits[i].one, n) == 0) return u->name + n;
    }
    return NULL;
}

const char *lra_probe_limited_model(const lra_probe_unit *u)
{
    return lra_probe_array_find(u, "gain") && strcmp(u->name, "context") == 0 ? "model" : NULL;
}

static void name_cells(int n, lra_probe_cell *cells)
{
    lra_cell_identity *cell_identity = lra_alloc_array((size_t)n + 1, sizeof *cell_identity);
    for (int c = 0; c < n; c++) {
        const lra_probe_result *r = cells[c].seed[0];
        cell_identity[c] = (lra_cell_identity){r->model, r->task, r->config, r->kernel,
                                               r->user_label};
    }
    char **name = lra_cell_names(n, cell_identity);
    for (int c = 0; c < n; c++) {
        bool skip = lra_probe_skip(cells[c].seed[0]);
        cells[c].name = skip ? lra_format("%s with D u", name[c]) : lra_copy_text(name[c]);
    }
    lra_names_free(name, n);
    lra_free(cell_identity);
}

/* ---- cells ----------------------------------------------------------------------------------- */

typedef struct {
    char *identity;
    const lra_probe_result *result;
    int at, cell;
} member;

static int by_identity(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = strcmp(x->identity, y->identity);
    if (order == 0)
        order = (x->result->seed > y->result->seed) - (x->result->seed < y->result->seed);
    return order ? order : x->at - y->at;
}

/* Numbers the cells in the order of their first file. m: members, sorted by identity. Returns the
 * number of cells. */
static int number_cells(int n, member *m)
{
    int *first = lra_alloc_array((size_t)n + 1, sizeof *first), n_cells = 0;
    for (int from = 0, to; from < n; from = to) {
        int least = m[from].at;
        for (to = from + 1; to < n && strcmp(m[to].identity, m[from].identity) == 0; to++)
            if (m[to].at < least) least = m[to].at;
        for (int i = from; i < to; i++) m[i].cell = least;
        first[least] = 1;
    }
    for (int i = 0; i < n; i++) first[i] = first[i] ? n_cells++ : -1;
    for (int i = 0; i < n; i++) m[i].cell = first[m[i].cell];
    lra_free(first);
    return n_cells;
}

int lra_probe_cells(int n, lra_probe_result *const *list, lra_probe_cell **cells)
{
    member *m = lra_alloc_array((size_t)n + 1, sizeof *m);
    for (int i = 0; i < n; i++) m[i] = (member){lra_probe_identity(list[i]), list[i], i, 0};
    qsort(m, (size_t)n, sizeof *m, by_identity);
    int n_cells = number_cells(n, m);
    *cells = lra_alloc_array((size_t)n_cells + 1, sizeof **cells);
    for (int i = 0; i < n; i++) {
        lra_probe_cell *c = &(*cells)[m[i].cell];
        if (c->n_seeds && c->seed[c->n_seeds - 1]->seed == m[i].result->seed) continue;
        c->seed = lra_resize(c->seed, (size_t)(c->n_seeds + 1) * sizeof *c->seed);
        c->seed[c->n_seeds++] = m[i].result;
    }
    for (int i = 0; i < n; i++) lra_free(m[i].identity);
    lra_free(m);
    name_cells(n_cells, *cells);
    return n_cells;
}

void lra_probe_cells_free(lra_probe_cell *cells, int n)
{
    for (int c = 0; c < n; c++) {
        lra_free(cells[c].name);
        lra_free(cells[c].seed);
    }
    lra_free(cells);
}

char *lra_probe_cells_drawn(int n, const lra_probe_cell *cells)
{
    bool alike = true, several = false;
    for (int c = 0; c < n; c++) {
        several = several || cells[c].n_seeds > 1;
        alike = alike && cells[c].n_seeds == cells[0].n_seeds &&
                cells[c].seed[0]->seed == cells[0].seed[0]->seed;
    }
    if (!several) return lra_copy_text("");
    if (!alike) return lra_copy_text(", first seed of each");
    return lra_format(", seed %lld of %d", (long long)cells[0].seed[0]->seed, cells[0].n_seeds);
}

bool lra_probe_cell_measurement(const lra_probe_cell *c, const char *unit, const char *id,
                                lra_measurement *out)
{
    lra_measurement *by_seed = lra_alloc_array((size_t)c->n_seeds + 1, sizeof *by_seed);
    int n = 0;
    for (int s = 0; s < c->n_seeds; s++) {
        const lra_probe_unit *u = lra_probe_unit_find(c->seed[s], unit);
        const lra_measurement *f = u ? lra_probe_measurement(u, id) : NULL;
        if (f) by_seed[n++] = *f;
    }
    if (n) *out = lra_measurement_of_seeds(n, by_seed);
    lra_free(by_seed);
    return n > 0;
}
