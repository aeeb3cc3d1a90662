/* Blocks around mixers, and the list of mixers of a model (mixer.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/graph/op.h"
#include "models/layers.h"
#include "models/matrix_state_layer.h"
#include "models/mixer.h"

enum { MOST_REPEATS = 1 << 20 }; /* maximum number of layers */

static const lra_mixer *const mixers[] = {
#define LRA_MIXER(name) &lra_mixer_##name,
#include "models/mixers.def"
#undef LRA_MIXER
};

/* True if a model has the settings of the mixer. */
static bool has_settings(const lra_config *c, const lra_mixer *m)
{
    char key[64];
    snprintf(key, sizeof key, "%s.heads", m->name);
    return lra_config_has(c, key);
}

static const lra_mixer *find(const lra_config *c, const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof mixers / sizeof *mixers; i++)
        if (strlen(mixers[i]->name) == n && strncmp(mixers[i]->name, name, n) == 0)
            return has_settings(c, mixers[i]) ? mixers[i] : NULL;
    return NULL;
}

/* Reports an invalid list. */
static void refuse(const lra_build *b)
{
    lra_text all = {0};
    for (size_t i = 0; i < sizeof mixers / sizeof *mixers; i++)
        if (has_settings(b->config, mixers[i]))
            lra_text_add(&all, "%s%s", all.n ? ", " : "", mixers[i]->name);
    lra_graph_fail(
        b->graph, "mixers is '%s', expected a list of NAME or NAME*N (N from 1), with names of: %s",
        lra_config_text(b->config, "mixers"), all.n ? all.s : "(none)");
    lra_text_free(&all);
}

/* Reads the next entry NAME or NAME*N, N from 1, of a list; *at: the rest of the list. Returns NULL
 * if it is invalid. */
static const lra_mixer *next(const lra_config *c, const char **at, long *repeats)
{
    size_t n = strcspn(*at, ",*");
    const lra_mixer *m = find(c, *at, n);
    char *end = (char *)(uintptr_t)(*at + n);
    *repeats = 1;
    if (*end == '*') {
        if (end[1] < '1' || end[1] > '9') return NULL;
        *repeats = strtol(end + 1, &end, 10);
    }
    bool last = *end == 0;
    if (!m || *repeats > MOST_REPEATS || (!last && (*end != ',' || !end[1]))) return NULL;
    *at = last ? end : end + 1;
    return m;
}

/* Mixer of block i, in a list that is repeated; NULL: the list is invalid. */
static const lra_mixer *mixer_at(const lra_config *c, int64_t i)
{
    const char *list = lra_config_text(c, "mixers");
    int64_t all = 0;
    for (const char *at = list; *at;) {
        long n;
        const lra_mixer *m = next(c, &at, &n);
        if (!m) return NULL;
        if (i < n) return m;
        i -= n, all += n;
        if (!*at) i %= all, at = list, all = 0;
    }
    return NULL;
}

/* Returns x + W3 (SiLU(W1 u) * W2 u), u = RMSNorm(x). */
static lra_tensor *feed_forward(const lra_build *b, lra_tensor *x, double dropout)
{
    int64_t hidden = lra_config_int(b->config, "hidden");
    if (hidden == 0) return x;
    lra_tensor *u = lra_layer_of_stream(lra_state_norm(x, "norm2"));
    lra_tensor *h = lra_gate(lra_state_dense(u, "gate", hidden), LRA_GATE_SILU,
                             lra_state_dense(u, "up", hidden));
    h = lra_state_dense(lra_dropout(h, dropout, false), "down", lra_width(x));
    return lra_layer_stream_add(x, lra_dropout(h, dropout, false));
}

lra_tensor *lra_mixer_blocks(const lra_build *b, lra_tensor *x)
{
    const lra_config *c = b->config;
    lra_graph *g = b->graph;
    double dropout = lra_config_real(c, "dropout");
    x = lra_layer_stream(x);
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        const lra_mixer *m = mixer_at(c, i);
        if (!m) {
            refuse(b);
            break;
        }
        lra_push(g, "layer%d", (int)i);
        lra_tensor *u = lra_layer_of_stream(lra_state_norm(x, "norm1"));
        lra_push(g, "%s", m->name);
        u = m->build(b, u);
        lra_pop(g);
        x = lra_layer_stream_add(x, lra_dropout(u, dropout, false));
        x = feed_forward(b, x, dropout);
        lra_pop(g);
    }
    return lra_state_norm(x, "norm");
}

int64_t lra_mixer_blocks_reach(const lra_config *c)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < lra_config_int(c, "layers"); i++) {
        const lra_mixer *m = mixer_at(c, i);
        int64_t own = m && m->reach ? m->reach(c) : -1;
        if (own < 0) return -1;
        sum += own;
    }
    return sum;
}

bool lra_mixer_blocks_causal(const lra_config *c)
{
    return lra_config_int(c, "causal") != 0;
}

const lra_model_preset lra_mixer_presets[] = {
    {NULL, "quick", NULL, "layers=2 width=32 hidden=64 rate=0.002 decay=0.01", NULL},
    {NULL, "small", NULL, "layers=4 width=64 hidden=128 rate=0.001 decay=0.05", NULL},
    {NULL, NULL, NULL, NULL, NULL}};
