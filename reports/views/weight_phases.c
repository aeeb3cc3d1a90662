/* Finds the phases of self-pretraining in files of probes (weight_phases.h). */
#include "reports/views/weight_phases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernels/base/core/config.h"
#include "kernels/base/core/mem.h"
#include "reports/views/model_names.h"

const char *const lra_phase_names[LRA_PHASES] = {"random", "pretrained", "fine-tuned",
                                                 "from scratch"};

/* ---- pairs ----------------------------------------------------------------------------------- */

char *lra_probe_setting(const lra_probe_result *r, const char *name)
{
    lra_err e;
    lra_config *c = lra_config_parse(r->config, &e);
    char *text = lra_copy_text(c ? lra_config_text_or(c, name, "") : "");
    lra_config_free(c);
    return text;
}

bool lra_probe_has_setting(const lra_probe_result *r, const char *name)
{
    char *text = lra_probe_setting(r, name);
    bool there = *text != '\0';
    lra_free(text);
    return there;
}

/* The settings "model.KEY=value" of a run as text. The caller frees it. */
static char *model_settings(const lra_probe_result *r)
{
    lra_text t = {0};
    lra_text_add(&t, "%s", "");
    for (const char *line = r->config; *line;) {
        size_t n = strcspn(line, "\n");
        if (strncmp(line, "model", 5) == 0) lra_text_add(&t, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
    return t.s;
}

static bool same_model(const lra_probe_result *a, const lra_probe_result *b)
{
    char *x = model_settings(a), *y = model_settings(b);
    bool same = strcmp(x, y) == 0 && strcmp(a->probe, b->probe) == 0 &&
                strcmp(a->task, b->task) == 0 && strcmp(a->preset, b->preset) == 0 &&
                strcmp(a->model, b->model) == 0 && strcmp(a->fingerprint, b->fingerprint) == 0;
    lra_free(x);
    lra_free(y);
    return same;
}

/* Suitability of cell c as the cell from scratch: 0: not comparable; 1: comparable; 2: control. */
static int worth(const lra_probe_cell *c, const lra_probe_cell *tuned)
{
    const lra_probe_result *r = c->seed[0];
    if (!same_model(r, tuned->seed[0]) || lra_probe_has_setting(r, "train.from") ||
        lra_probe_has_setting(r, "train.objective"))
        return 0;
    char *matched = lra_probe_setting(r, "train.matched");
    int own = *matched == 0;
    for (int s = 0; s < tuned->n_seeds && *matched; s++) {
        char *from = lra_probe_setting(tuned->seed[s], "train.from");
        if (strcmp(from, matched) == 0) own = 2;
        lra_free(from);
    }
    lra_free(matched);
    return own;
}

/* Finds the objective of the run from which the first fine-tuned run started. */
static void find_objective(int n, const lra_probe_cell *cells, lra_phase_pair *p)
{
    char *from = lra_probe_setting(p->tuned->seed[0], "train.from");
    for (int i = 0; i < n; i++)
        for (int s = 0; s < cells[i].n_seeds; s++) {
            if (strcmp(cells[i].seed[s]->run, from) != 0) continue;
            char *objective = lra_probe_setting(cells[i].seed[s], "train.objective");
            snprintf(p->objective, sizeof p->objective, "%s", objective);
            lra_free(objective);
        }
    lra_free(from);
}

int lra_phase_pairs(int n, const lra_probe_cell *cells, lra_phase_pair **pairs)
{
    int found = 0;
    *pairs = lra_alloc_array((size_t)n + 1, sizeof **pairs);
    for (int i = 0; i < n; i++) {
        const lra_probe_cell *scratch = NULL;
        int best = 0;
        if (!lra_probe_has_setting(cells[i].seed[0], "train.from")) continue;
        for (int k = 0; k < n; k++) {
            int w = worth(&cells[k], &cells[i]);
            if (w > best) best = w, scratch = &cells[k];
        }
        if (!scratch) continue;
        (*pairs)[found] = (lra_phase_pair){
            .tuned = &cells[i], .scratch = scratch, .control = best > 1};
        find_objective(n, cells, &(*pairs)[found++]);
    }
    return found;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Number of characters that name the layer of a unit: of a head "LAYER.headN", of a kernel all; 0:
 * not a measured part. */
static size_t layer_of(const lra_probe_result *r, int unit)
{
    const char *name = r->unit[unit]->name, *head = strstr(name, ".head");
    if (strcmp(r->probe, "attention") == 0) return head ? (size_t)(head - name) : 0;
    if (strcmp(r->probe, "influence") == 0) return strcmp(name, "jacobian") == 0 ? strlen(name) : 0;
    return strcmp(name, "model") == 0 ? 0 : strlen(name);
}

char *lra_phase_model(const lra_phase_pair *p)
{
    const lra_probe_result *r = p->tuned->seed[0];
    char *name = lra_copy_text(p->scratch->name), *at = strstr(name, " epochs=");
    if (at) {
        size_t n = 1 + strcspn(at + 1, " ");
        memmove(at, at + n, strlen(at + n) + 1);
    }
    char *shown = lra_model_shown(name, r->model, r->config);
    lra_free(name);
    return shown;
}

const char *lra_phase_parts(const lra_phase_pair *p)
{
    const char *probe = p->tuned->seed[0]->probe;
    return strcmp(probe, "attention") == 0   ? "attention heads"
           : strcmp(probe, "influence") == 0 ? "Jacobian"
                                             : "kernels";
}

/* True if part u of a run begins a new layer. */
static bool begins_layer(const lra_probe_result *r, int u, int before)
{
    size_t n = layer_of(r, u);
    return before < 0 || n != layer_of(r, before) ||
           strncmp(r->unit[u]->name, r->unit[before]->name, n) != 0;
}

/* Mean over the parts of a layer of one run; *layers: number of layers. Nullable: id, layers */
static double over_parts(const lra_probe_result *r, bool initial, const char *id, int layer,
                         int *layers)
{
    double sum = 0;
    int known = 0, at = -1, before = -1;
    for (int u = 0; u < r->n_units; u++) {
        if (!layer_of(r, u)) continue;
        at += begins_layer(r, u, before);
        before = u;
        const lra_measurement *f = id ? lra_probe_measurement(r->unit[u], id) : NULL;
        double x = f ? (initial ? f->null[LRA_NULL_INIT] : f->value) : NAN;
        if ((layer >= 0 && at != layer) || isnan(x)) continue;
        sum += x, known++;
    }
    if (layers) *layers = at + 1;
    return known ? sum / known : NAN;
}

int lra_phase_layers(const lra_phase_pair *p)
{
    int layers;
    over_parts(p->tuned->seed[0], false, NULL, -1, &layers);
    return layers;
}

static const lra_probe_cell *cell_of(const lra_phase_pair *p, lra_phase phase)
{
    return phase == LRA_PHASE_RANDOM || phase == LRA_PHASE_SCRATCH ? p->scratch : p->tuned;
}

static double value_of(const lra_probe_result *r, lra_phase phase, const char *id, int layer)
{
    return over_parts(r, phase == LRA_PHASE_RANDOM || phase == LRA_PHASE_PRETRAINED, id, layer,
                      NULL);
}

lra_measurement lra_phase_value(const lra_phase_pair *p, lra_phase phase, const char *id, int layer)
{
    const lra_probe_cell *c = cell_of(p, phase);
    lra_measurement *by_seed = lra_alloc_array((size_t)c->n_seeds, sizeof *by_seed);
    for (int s = 0; s < c->n_seeds; s++)
        by_seed[s] = lra_measurement_of(id, value_of(c->seed[s], phase, id, layer));
    lra_measurement f = lra_measurement_of_seeds(c->n_seeds, by_seed);
    lra_free(by_seed);
    return f;
}

lra_measurement lra_phase_change(const lra_phase_pair *p, lra_phase phase, lra_phase from,
                                 const char *id)
{
    const lra_probe_cell *a = cell_of(p, phase), *b = cell_of(p, from);
    lra_measurement *by_seed = lra_alloc_array((size_t)a->n_seeds, sizeof *by_seed);
    int n = 0;
    for (int s = 0; s < a->n_seeds; s++)
        for (int k = 0; k < b->n_seeds; k++)
            if (a->seed[s]->seed == b->seed[k]->seed) {
                by_seed[n] = lra_measurement_of("", value_of(a->seed[s], phase, id, -1) -
                                                        value_of(b->seed[k], from, id, -1));
                n++;
            }
    lra_measurement f = n ? lra_measurement_of_seeds(n, by_seed) : lra_measurement_of("", NAN);
    lra_free(by_seed);
    return f;
}

static const char *initial_of(int n, int tuned)
{
    return tuned == 0   ? "at initialisation"
           : tuned == n ? "before fine-tuning, with the pretrained weights"
                        : "at initialisation, with random weights; of pretrained runs, before "
                          "fine-tuning";
}

const char *lra_phase_initial(int n, const lra_probe_cell *cells)
{
    int tuned = 0;
    for (int i = 0; i < n; i++) tuned += lra_probe_has_setting(cells[i].seed[0], "train.from");
    return initial_of(n, tuned);
}

const char *lra_phase_initial_of(int n, lra_probe_result *const *list)
{
    int tuned = 0;
    for (int i = 0; i < n; i++) tuned += lra_probe_has_setting(list[i], "train.from");
    return initial_of(n, tuned);
}

void lra_phase_caption(lra_plot *p, int n, lra_probe_result *const *list)
{
    static const char text[] =
        "of fine-tuned runs, 'at initialisation' is before fine-tuning, with "
        "the pretrained weights";
    bool drawn = false;
    if (!p->script.s || !strstr(p->script.s, "at initialisation")) return;
    for (int i = 0; i < n; i++)
        drawn = drawn || (p->sources.s && strstr(p->sources.s, list[i]->run) &&
                          lra_probe_has_setting(list[i], "train.from"));
    if (!drawn) return;
    char *caption = p->caption && *p->caption ? lra_format("%s; %s", p->caption, text)
                                              : lra_copy_text(text);
    lra_free(p->caption);
    p->caption = caption;
}
