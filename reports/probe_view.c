/* Probe files by seed. */
#include "reports/probe_view.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/base/config.h"
#include "kernels/base/mem.h"

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

bool lra_probe_equal_ahead(const lra_probe_result *r)
{
    for (int u = 0; u < r->n_units; u++) {
        const lra_finding *f = lra_probe_finding(r->unit[u], "side");
        bool asks = strcmp(r->probe, "influence") == 0 && f;
        if (asks && f->value > 1 - 1e-4 && f->null[LRA_NULL_UNIFORM] < 0.5) return true;
    }
    return false;
}

/* The configuration without its seed, and what was measured; caller frees. */
static char *without_seed(const lra_probe_result *r)
{
    lra_text t = {0};
    lra_text_add(&t, "%s\nskip=%d\n", r->fingerprint, lra_probe_skip(r));
    for (const char *at = r->config; *at;) {
        size_t n = strcspn(at, "\n");
        if (strncmp(at, "seed=", 5) != 0) lra_text_bytes(&t, at, n + (at[n] == '\n'));
        at += n + (at[n] == '\n');
    }
    return t.s;
}

static bool has_seed(const lra_probe_cell *c, int64_t seed)
{
    for (int s = 0; s < c->n_seeds; s++)
        if (c->seed[s]->seed == seed) return true;
    return false;
}

/* Keeps them ascending. */
static void add_seed(lra_probe_cell *c, const lra_probe_result *r)
{
    if (c->n_seeds == LRA_PROBE_SEEDS) return;
    int at = c->n_seeds++;
    for (; at > 0 && c->seed[at - 1]->seed > r->seed; at--) c->seed[at] = c->seed[at - 1];
    c->seed[at] = r;
}

static void add_word(lra_text *t, const char *key, const char *value)
{
    const char *dot = strchr(key, '.');
    lra_text_add(t, " %s=%s", dot ? dot + 1 : key, value);
}

/* Does another cell of this model and task have another value of a setting (NULL: not set)? */
static bool differs(int c, int n, const lra_cell_identity *all, const char *key, const char *value)
{
    bool other = false;
    for (int i = 0; i < n && !other; i++) {
        if (strcmp(all[i].model, all[c].model) != 0 || strcmp(all[i].task, all[c].task) != 0)
            continue;
        lra_config *config = lra_config_parse(all[i].config, NULL);
        other = config && strcmp(lra_config_text_or(config, key, ""), value) != 0;
        lra_config_free(config);
    }
    return other;
}

char *lra_cell_name(int c, int n, const lra_cell_identity *all)
{
    static const char *const not_said[] = {
        "seed", "version", "data", "model.kernel", "train.related", "train.from", "train.matched"};
    lra_text t = {0};
    lra_text_add(&t, "%s", all[c].model);
    if (all[c].kernel) lra_text_add(&t, " K = %lld", (long long)all[c].kernel);
    lra_config *config = lra_config_parse(all[c].config, NULL);
    for (int i = 0; config && lra_config_key(config, i); i++) {
        const char *key = lra_config_key(config, i), *value = lra_config_value(config, i);
        bool said = true;
        for (size_t k = 0; k < sizeof not_said / sizeof *not_said; k++)
            said = said && strcmp(key, not_said[k]) != 0;
        if (said && differs(c, n, all, key, value)) add_word(&t, key, value);
        if (strcmp(key, "train.from") == 0) lra_text_add(&t, " pretrained");
    }
    lra_config_free(config);
    return t.s;
}

char *lra_result_group_name(int i, int n, const lra_result_group *all)
{
    lra_cell_identity *who = lra_alloc_array((size_t)n + 1, sizeof *who);
    for (int k = 0; k < n; k++) {
        const lra_result *r = all[k].run[0];
        who[k] = (lra_cell_identity){r->model, r->task, r->config, r->kernel};
    }
    char *name = lra_cell_name(i, n, who);
    lra_free(who);
    return name;
}

static void name_cells(int n, lra_probe_cell *cells)
{
    lra_cell_identity *who = lra_alloc_array((size_t)n + 1, sizeof *who);
    for (int c = 0; c < n; c++) {
        const lra_probe_result *r = cells[c].seed[0];
        who[c] = (lra_cell_identity){r->model, r->task, r->config, r->kernel};
    }
    for (int c = 0; c < n; c++) {
        char *name = lra_cell_name(c, n, who);
        bool skip = lra_probe_skip(cells[c].seed[0]);
        cells[c].name = skip ? lra_format("%s with D u", name) : lra_copy_text(name);
        lra_free(name);
    }
    lra_free(who);
}

int lra_probe_cells(int n, lra_probe_result *const *list, lra_probe_cell **cells)
{
    char **key = lra_alloc_array((size_t)n + 1, sizeof *key);
    int n_cells = 0;
    *cells = lra_alloc_array((size_t)n + 1, sizeof **cells);
    for (int i = 0; i < n; i++) {
        char *own = without_seed(list[i]);
        int c = 0;
        while (c < n_cells && (strcmp(key[c], own) != 0 || has_seed(&(*cells)[c], list[i]->seed)))
            c++;
        if (c == n_cells) key[n_cells++] = lra_copy_text(own);
        add_seed(&(*cells)[c], list[i]);
        lra_free(own);
    }
    for (int c = 0; c < n_cells; c++) lra_free(key[c]);
    name_cells(n_cells, *cells);
    lra_free(key);
    return n_cells;
}

void lra_probe_cells_free(lra_probe_cell *cells, int n)
{
    for (int c = 0; c < n; c++) lra_free(cells[c].name);
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

bool lra_probe_cell_finding(const lra_probe_cell *c, const char *unit, const char *id,
                            lra_finding *out)
{
    lra_finding by_seed[LRA_PROBE_SEEDS];
    int n = 0;
    for (int s = 0; s < c->n_seeds; s++) {
        const lra_probe_unit *u = lra_probe_unit_find(c->seed[s], unit);
        const lra_finding *f = u ? lra_probe_finding(u, id) : NULL;
        if (f) by_seed[n++] = *f;
    }
    if (n) *out = lra_finding_of_seeds(n, by_seed);
    return n > 0;
}
