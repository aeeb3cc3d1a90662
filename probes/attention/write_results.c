/* Writes attention measurements as units of a result file (write_results.h). */
#include "probes/attention/write_results.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/distributions.h"
#include "analysis/radius.h"
#include "kernels/base/core/mem.h"

enum { MOST = 3 * LRA_PROFILE_MEASUREMENTS + LRA_SHARES_MEASUREMENTS + 3 * LRA_RELATIONS + 8 };

/* ---- numbers of a head ----------------------------------------------------------------------- */

/* Mean over examples with its 95 % interval; examples with NAN are left out. */
static lra_measurement mean_of(const char *id, int64_t n, const double *x)
{
    double sum = 0, squares = 0, known = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i])) sum += x[i], known++;
    double mean = known > 0 ? sum / known : NAN;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(x[i])) squares += (x[i] - mean) * (x[i] - mean);
    lra_measurement f = lra_measurement_of(id, mean);
    double half = known > 1 ? lra_normal_quantile(0.975) * sqrt(squares / (known - 1) / known)
                            : NAN;
    f.lo = mean - half, f.hi = mean + half, f.examples = (int64_t)known;
    return f;
}

/* Adds sink.max, the mean largest weight of a key, and sink.at, the position that most often is
 * this key. */
static int add_sinks(const lra_attention_head *h, uint64_t key, lra_measurement *out)
{
    out[0] = mean_of("sink.max", h->examples, h->sink);
    lra_head_sink(h, &out[0].null[LRA_NULL_UNIFORM]);
    lra_estimate at = lra_modal_position(h->examples, h->sink_at, key);
    out[1] = lra_measurement_of("sink.at", at.value);
    out[1].lo = at.lo, out[1].hi = at.hi;
    out[1].examples = h->examples;
    return 2;
}

/* Adds tree.parent ..: weight on keys with a relation, with its uniform baseline as null value. */
static int add_relations(const lra_head_maps *h, lra_measurement *out)
{
    double *x = lra_alloc_array((size_t)h->n_related + 1, sizeof *x);
    for (int r = 0; r < LRA_RELATIONS; r++) {
        char id[LRA_MEASUREMENT_ID];
        for (int64_t i = 0; i < h->n_related; i++) x[i] = h->related[r][i].equal;
        double equal = mean_of("", h->n_related, x).value;
        for (int64_t i = 0; i < h->n_related; i++) x[i] = h->related[r][i].mass;
        snprintf(id, sizeof id, "tree.%s", lra_relation_names[r]);
        out[r] = mean_of(id, h->n_related, x);
        out[r].null[LRA_NULL_UNIFORM] = equal;
    }
    lra_free(x);
    return LRA_RELATIONS;
}

/* Adds tree.lift.parent .., tree.lift.class.parent ..: lifts of all relations. */
static int add_lifts(const lra_maps *m, const lra_head_maps *h, lra_measurement *out)
{
    for (int k = 0; k < 2 * LRA_RELATIONS; k++) {
        int r = k % LRA_RELATIONS;
        bool by_class = k >= LRA_RELATIONS;
        out[k] = by_class ? h->lift_by_class[r] : h->lift[r];
        snprintf(out[k].id, sizeof out[k].id, "tree.lift.%s%s", by_class ? "class." : "",
                 lra_relation_names[r]);
        if (m->lifts_sampled) out[k].flags |= LRA_APPROX;
    }
    return 2 * LRA_RELATIONS;
}

static int measurements_of(const lra_attention_measured *m, int i, uint64_t key,
                           lra_measurement out[MOST])
{
    const lra_attention_head *h = &m->heads.head[i];
    int n = lra_profile_measurements(h->tokens, &(lra_profile_options){.key = key}, out);
    if (h->pixels)
        n += lra_profile_measurements(h->pixels,
                                      &(lra_profile_options){.key = key, .suffix = ".px"}, out + n);
    if (h->nosink)
        n += lra_profile_measurements(
            h->nosink, &(lra_profile_options){.key = key, .suffix = ".nosink"}, out + n);
    n += add_sinks(h, key, out + n);
    if (m->maps.shares) {
        memcpy(out + n, m->maps.head[i].share, sizeof m->maps.head[i].share);
        n += LRA_SHARES_MEASUREMENTS;
    }
    if (m->maps.related && m->maps.n_heads) {
        n += add_relations(&m->maps.head[i], out + n);
        n += add_lifts(&m->maps, &m->maps.head[i], out + n);
    }
    return n;
}

/* ---- units ----------------------------------------------------------------------------------- */

/* Adds the curves by distance as arrays PREFIX and name; names with ".init" belong to the initial
 * weights. */
static void add_curves(lra_probe_unit *u, const char *prefix, const lra_profile *p,
                       const lra_profile *initial)
{
    static const char *const name[] = {"mass",      "equal", "rel",         "rel.lo",    "rel.hi",
                                       "mass.init", "other", "other.equal", "other.init"};
    enum { N = sizeof name / sizeof *name };
    int64_t n = lra_profile_distances(p);
    double *x = lra_alloc_array((size_t)(N * n) + 1, sizeof *x);
    lra_profile_curves(p, x, x + n, x + 2 * n, x + 3 * n, x + 4 * n);
    lra_profile_others(p, x + 6 * n, x + 7 * n);
    if (initial) {
        lra_profile_curves(initial, x + 5 * n, NULL, NULL, NULL, NULL);
        lra_profile_others(initial, x + 8 * n, NULL);
    }
    for (int k = 0; k < N; k++) {
        if (!initial && strstr(name[k], ".init")) continue;
        char *own = lra_format("%s%s", prefix, name[k]);
        lra_probe_unit_array(u, own, 1, &n, x + k * n);
        lra_free(own);
    }
    lra_free(x);
}

static void add_measurements(lra_probe_unit *u, int n, lra_measurement *found, bool sampled)
{
    for (int i = 0; i < n && sampled; i++) found[i].flags |= LRA_APPROX;
    lra_probe_unit_measurements(u, n, found);
}

/* Adds array "eld" if any head of the layer decays: the factor of the scores by distance, at
 * initialisation. */
static void add_decay(lra_probe_unit *u, const lra_heads *all, const lra_attention_head *h)
{
    bool decays = false;
    for (int i = 0; i < all->n_heads; i++)
        decays |= all->head[i].layer == h->layer && all->head[i].decay > 0;
    if (!decays) return;
    int64_t n = lra_profile_distances(h->tokens);
    double *x = lra_alloc_array((size_t)n + 1, sizeof *x);
    for (int64_t d = 0; d < n; d++) x[d] = exp(-h->decay * (double)d);
    lra_probe_unit_array(u, "eld", 1, &n, x);
    lra_free(x);
}

/* Number of heads of each kind: after training (is), at initialisation (was), and after training
 * the heads that are of the kind with certainty (surely) or possibly (perhaps), given their
 * intervals. */
typedef struct {
    int is[LRA_HEAD_KINDS], was[LRA_HEAD_KINDS];
    int surely[LRA_HEAD_KINDS], perhaps[LRA_HEAD_KINDS];
} kind_counts;

static void count_kinds(unsigned kinds, int count[LRA_HEAD_KINDS])
{
    for (int k = 0; k < LRA_HEAD_KINDS; k++) count[k] += (int)(kinds >> k & 1);
}

/* Adds the null values and the shifts of a head from its measurements with the initial weights;
 * returns the new number of measurements. n: number of measurements in `found`; was: counts of the
 * kinds of heads at initialisation, to which those of this head are added; *kind: its kind. */
static int add_initial(const lra_attention_measured *best, const lra_attention_measured *initial,
                       int i, uint64_t key, int n, lra_measurement *found, int *kind,
                       int was[LRA_HEAD_KINDS])
{
    const lra_attention_head *h = &best->heads.head[i], *before = &initial->heads.head[i];
    lra_measurement init[MOST];
    int n_init = measurements_of(initial, i, key, init);
    lra_head_kinds_found kinds = lra_head_kinds(n_init, init);
    count_kinds(kinds.is, was);
    was[LRA_HEAD_MIXED] += !kinds.is;
    *kind = (int)lra_head_kind_of(kinds.is);
    lra_measurements_null(n, found, n_init, init, LRA_NULL_INIT);
    n += lra_profile_shift(before->tokens, h->tokens, &(lra_profile_options){.key = key},
                           found + n);
    found[n++] = lra_profile_peak(before->tokens, h->tokens, false,
                                  &(lra_profile_options){.key = key});
    return n;
}

static void add_arrays(lra_probe_unit *u, const lra_attention_measured *best,
                       const lra_attention_measured *initial, int i)
{
    const lra_attention_head *h = &best->heads.head[i];
    const lra_attention_head *before = initial ? &initial->heads.head[i] : NULL;
    add_curves(u, "", h->tokens, before ? before->tokens : NULL);
    add_decay(u, &best->heads, h);
    if (h->pixels) add_curves(u, "px.", h->pixels, before ? before->pixels : NULL);
    if (best->maps.n_heads == 0 || best->maps.head[i].T == 0) return;
    int64_t T = best->maps.head[i].T;
    lra_probe_unit_array(u, "map", 2, (int64_t[]){T, T}, best->maps.head[i].map);
    if (initial)
        lra_probe_unit_array(u, "map.init", 2, (int64_t[]){T, T}, initial->maps.head[i].map);
}

static void add_head(lra_probe_result *r, const lra_attention_measured *best,
                     const lra_attention_measured *initial, int i, uint64_t key, bool sampled,
                     kind_counts *kinds)
{
    const lra_attention_head *h = &best->heads.head[i];
    lra_measurement found[MOST];
    int n = measurements_of(best, i, key, found), kind = 0;
    lra_head_kinds_found is = lra_head_kinds(n, found);
    count_kinds(is.is, kinds->is);
    count_kinds(is.surely, kinds->surely);
    count_kinds(is.perhaps, kinds->perhaps);
    kinds->is[LRA_HEAD_MIXED] += !is.is;
    kinds->surely[LRA_HEAD_MIXED] += !is.perhaps, kinds->perhaps[LRA_HEAD_MIXED] += !is.surely;
    if (initial) n = add_initial(best, initial, i, key, n, found, &kind, kinds->was);
    found[n] = lra_measurement_of("head.kind", (double)lra_head_kind_of(is.is));
    if (initial) found[n].null[LRA_NULL_INIT] = (double)kind;
    found[n++].examples = h->examples;
    lra_probe_unit *u = lra_probe_unit_new(r, h->name);
    add_arrays(u, best, initial, i);
    add_measurements(u, n, found, sampled);
}

/* Adds the profile p of several heads combined: measurements and arrays, whose names begin with
 * `prefix`. initial: the same profile at initialisation, for null values and for the shift (W1).
 * Nullable: initial */
static void add_profile(lra_probe_unit *u, const char *prefix, const lra_profile *p,
                        const lra_profile *initial, uint64_t key, bool sampled)
{
    lra_measurement found[LRA_PROFILE_MEASUREMENTS + 4], init[LRA_PROFILE_MEASUREMENTS];
    const lra_profile_options o = {.key = key, .prefix = prefix};
    int n = lra_profile_measurements(p, &o, found);
    if (initial) {
        int n_init = lra_profile_measurements(initial, &o, init);
        lra_measurements_null(n, found, n_init, init, LRA_NULL_INIT);
        n += lra_profile_shift(initial, p, &o, found + n);
    }
    add_curves(u, prefix, p, initial);
    add_measurements(u, n, found, sampled);
}

/* Divergence head.js between the profiles of the heads of a layer, or of all layers if layer is
 * -1. */
static lra_measurement difference(const lra_heads *h, int layer, uint64_t key)
{
    const lra_profile **p = lra_alloc_array((size_t)h->n_heads, sizeof(lra_profile *));
    int n = 0;
    for (int i = 0; i < h->n_heads; i++)
        if (layer < 0 || h->head[i].layer == layer) p[n++] = h->head[i].tokens;
    lra_measurement f = lra_profile_difference(n, p, "head.js", key);
    lra_free(p);
    return f;
}

static void add_difference(lra_probe_unit *u, const lra_heads *best, const lra_heads *initial,
                           int layer, uint64_t key, bool sampled)
{
    lra_measurement f = difference(best, layer, key);
    if (initial) f.null[LRA_NULL_INIT] = difference(initial, layer, key).value;
    if (!isnan(f.value)) add_measurements(u, 1, &f, sampled);
}

static void add_model(lra_probe_unit *u, const lra_heads *best, bool has_initial, bool sampled,
                      kind_counts *kinds)
{
    for (int k = 0; k < LRA_HEAD_KINDS; k++) {
        char id[LRA_MEASUREMENT_ID];
        snprintf(id, sizeof id, "heads.%s", lra_head_kind_names[k]);
        lra_measurement f = lra_measurement_of(id, kinds->is[k] / (double)best->n_heads);
        f.lo = kinds->surely[k] / (double)best->n_heads;
        f.hi = kinds->perhaps[k] / (double)best->n_heads;
        if (has_initial) f.null[LRA_NULL_INIT] = kinds->was[k] / (double)best->n_heads;
        f.null[LRA_NULL_UNIFORM] = k == LRA_HEAD_UNIFORM; /* null value: all heads are uniform */
        f.examples = best->head[0].examples;
        add_measurements(u, 1, &f, sampled);
    }
}

/* Adds the Toeplitz shares of the position table: how far products of its rows depend on distance
 * alone. */
static void add_places(lra_probe_unit *u, const lra_heads *best, const lra_heads *initial)
{
    const lra_toeplitz *x = &best->places, *y = &initial->places;
    const struct {
        const char *id;
        double value, init;
    } all[] = {{"positions.toeplitz", x->r2, y->r2},
               {"positions.toeplitz.adj", x->adjusted, y->adjusted},
               {"positions.toeplitz.off", x->off, y->off}};
    for (size_t k = 0; k < sizeof all / sizeof *all && best->placed; k++) {
        lra_measurement f = lra_measurement_of(all[k].id, all[k].value);
        f.null[LRA_NULL_INIT] = all[k].init;
        lra_probe_unit_measurements(u, 1, &f);
    }
}

void lra_attention_units(lra_probe_result *r, const lra_attention_measured *best,
                         const lra_attention_measured *initial, uint64_t key, bool sampled)
{
    kind_counts kinds = {.is = {0}};
    const lra_heads *h = &best->heads, *before = initial ? &initial->heads : NULL;
    for (int i = 0; i < h->n_heads; i++) add_head(r, best, initial, i, key, sampled, &kinds);
    for (int k = 0; k < h->n_layers; k++) {
        lra_probe_unit *u = lra_probe_unit_new(r, h->layer[k].name);
        if (h->layer[k].value)
            add_profile(u, "value.", h->layer[k].value, before ? before->layer[k].value : NULL, key,
                        sampled);
        add_difference(u, h, before, k, key, sampled);
    }
    lra_probe_unit *u = lra_probe_unit_new(r, "model");
    add_model(u, h, initial != NULL, sampled, &kinds);
    add_difference(u, h, before, -1, key, sampled);
    if (before) add_places(u, h, before);
    if (best->rollout)
        add_profile(u, "rollout.", best->rollout, initial ? initial->rollout : NULL, key, sampled);
}

void lra_attention_measured_free(lra_attention_measured *m)
{
    lra_heads_free(&m->heads);
    lra_maps_free(&m->maps);
    lra_profile_free(m->rollout);
    m->rollout = NULL;
}
