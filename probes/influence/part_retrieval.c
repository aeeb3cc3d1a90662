/* Part retrieval: accuracy of retrieval by the length of the input and the depth of the fact, for
 * language models.
 *   input   haystack .. KEY VALUE .. haystack KEY       the next token is VALUE
 * KEY is a sequence of random tokens, VALUE a random token, the haystack consists of test rows, one
 * after another; depth is the share of the haystack before the fact. The model retrieves if VALUE
 * has the largest probability of M candidates, VALUE and M - 1 other random tokens (ties count in
 * proportion): chance is 1 / M, whatever the frequencies of tokens are. M = 10, or the number of
 * tokens that occur in the training split, if it is smaller. KEY has the smallest number of tokens,
 * 2 to 8, for which V^n is at least 1000 times the length, and does not occur in the haystack.
 *   retrieval   arrays x (lengths): tokens of the input; depth (depths); accuracy (lengths, depths,
 *               3), value, gain (lengths, 3): means over depths. retrieval.length: the longest
 *               length up to which the gain, relative to the shortest length, is at least 95 %;
 *               its interval covers the lengths between those measured. retrieval.accuracy
 * Intervals are over inputs: each input has one haystack, key and value for all lengths and depths.
 * Tested (tests/probes/next_token_test.c): for a model that copies within a window,
 * retrieval.length is the largest measured length that is not above the window. */
#include <math.h>
#include <string.h>

#include "analysis/gain.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/documents.h"
#include "probes/influence/part.h"

enum { EXAMPLES = 64, DEPTHS = 5, CANDIDATES = 10, KEY = 8, STREAM = 0x4E44, ATTEMPTS = 100 };
static const double depths[DEPTHS] = {0, 0.25, 0.5, 0.75, 1};

typedef struct {
    lra_documents docs;
    int64_t n_used; /* token ids that can be part of a key, a value or a candidate */
    int32_t *used;
    int n_key, n_candidates;
    int n_lengths;
    double length[LRA_GAIN_POINTS];
    int64_t n;
    double *right; /* (lengths,depths,n) share of the VALUE in the decision: 1, 0, or 1 / ties */
} retrieval;

/* ---- inputs ---------------------------------------------------------------------------------- */

static void find_used(const lra_influence *p, retrieval *w)
{
    const lra_sequences *train = &p->subject.data->split[LRA_TRAIN_SPLIT];
    const lra_responder_facts *f = &p->subject.model->facts;
    int64_t n = train->n ? train->start[train->n] : 0;
    bool *seen = lra_alloc_array((size_t)f->classes + 1, sizeof *seen);
    for (int64_t i = 0; i < n; i++) {
        int64_t token = (int64_t)lra_token_at(train->token, train->width, i);
        if (token < f->classes) seen[token] = true;
    }
    w->used = lra_alloc_array((size_t)f->classes + 1, sizeof *w->used);
    for (int32_t v = p->subject.data->task->input.first_word; v < f->classes; v++)
        if (seen[v] && !(f->has_bos && v == f->bos)) w->used[w->n_used++] = v;
    w->n_candidates = w->n_used < CANDIDATES ? (int)w->n_used : CANDIDATES;
    lra_free(seen);
}

static void set_lengths(retrieval *w)
{
    double longest = (double)w->docs.longest, V = (double)w->n_used;
    for (w->n_key = 2; w->n_key < KEY && pow(V, w->n_key) < 1000 * longest;) w->n_key++;
    int64_t x = 1;
    while (x < 4 * (w->n_key + 1)) x *= 2;
    for (; (double)x <= longest && w->n_lengths < LRA_GAIN_POINTS; x *= 2)
        w->length[w->n_lengths++] = (double)x;
}

/* Writes n tokens of the rows from row `from` on, one after another. */
static void fill_haystack(const retrieval *w, int64_t from, int64_t n, int32_t *to)
{
    for (int64_t row = from, at = 0; at < n; row++) {
        const lra_document *d = &w->docs.row[row % w->docs.n];
        for (int64_t t = d->first; t < d->n && at < n; t++) to[at++] = d->token[t];
    }
}

static bool occurs(const int32_t *key, int n_key, const int32_t *in, int64_t n)
{
    for (int64_t i = 0; i + n_key <= n; i++)
        if (memcmp(in + i, key, (size_t)n_key * sizeof *in) == 0) return true;
    return false;
}

/* Draws key, value and candidates; candidate[0] is the value. */
static void draw(const lra_influence *p, const retrieval *w, int64_t i, const int32_t *haystack,
                 int64_t n, int32_t *key, int32_t *candidate)
{
    lra_rng rng = lra_rng_new(p->subject.seed, STREAM, (uint64_t)i);
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        for (int k = 0; k < w->n_key; k++)
            key[k] = w->used[lra_rng_below(&rng, (uint32_t)w->n_used)];
        if (!occurs(key, w->n_key, haystack, n)) break;
    }
    for (int k = 0; k < w->n_candidates;) {
        const int32_t token = w->used[lra_rng_below(&rng, (uint32_t)w->n_used)];
        bool taken = false;
        for (int c = 0; c < k; c++) taken = taken || candidate[c] == token;
        if (!taken) candidate[k++] = token;
    }
}

/* Makes the input of a length and depth: to (length), after a bos token if rows have one. */
static void make_input(const retrieval *w, const int32_t *haystack, int64_t length, double depth,
                       const int32_t *key, int32_t value, int32_t *to)
{
    const lra_document *d = &w->docs.row[0];
    size_t size = (size_t)w->n_key * sizeof *to;
    int64_t hay = length - 2 * w->n_key - 1, before = (int64_t)(depth * (double)hay + 0.5);
    if (d->first) *to++ = d->token[0];
    memcpy(to, haystack, (size_t)before * sizeof *to);
    memcpy(to + before, key, size);
    to[before + w->n_key] = value;
    memcpy(to + before + w->n_key + 1, haystack + before, (size_t)(hay - before) * sizeof *to);
    memcpy(to + length - w->n_key, key, size);
}

/* ---- answers --------------------------------------------------------------------------------- */

static double decide(const float *logits, int n, const int32_t *candidate)
{
    int larger = 0, ties = 1;
    for (int k = 1; k < n; k++) {
        larger += logits[candidate[k]] > logits[candidate[0]];
        ties += logits[candidate[k]] == logits[candidate[0]];
    }
    return larger ? 0 : 1 / (double)ties;
}

/* Evaluates example i at all depths of length number l. */
static int ask(lra_influence *p, retrieval *w, int64_t i, int l, const int32_t *haystack,
               float *logits, lra_err *e)
{
    lra_responder *r = p->subject.model;
    int64_t L = (int64_t)w->length[l], C = r->facts.classes, T = L + w->docs.row[0].first;
    int32_t key[KEY], candidate[CANDIDATES] = {0}, length[DEPTHS];
    int32_t *token = lra_alloc_array((size_t)(DEPTHS * T), sizeof *token);
    draw(p, w, i, haystack, (int64_t)w->length[w->n_lengths - 1], key, candidate);
    for (int d = 0; d < DEPTHS; d++) {
        length[d] = (int32_t)T;
        make_input(w, haystack, L, depths[d], key, candidate[0], token + d * T);
    }
    const lra_request q = {.B = DEPTHS, .T = T, .towers = 1, .token = token, .length = length};
    int rc = r->is->forward(r, &q, logits, e);
    for (int d = 0; d < DEPTHS && rc == 0; d++)
        w->right[(l * DEPTHS + d) * w->n + i] = decide(logits + d * C, w->n_candidates, candidate);
    lra_steps_add(&p->steps, DEPTHS * w->length[l] / w->length[w->n_lengths - 1]);
    lra_free(token);
    return rc;
}

static int ask_all(lra_influence *p, retrieval *w, lra_err *e)
{
    int64_t C = p->subject.model->facts.classes, length[LRA_GAIN_POINTS];
    int64_t longest = (int64_t)w->length[w->n_lengths - 1];
    int32_t *haystack = lra_alloc_array((size_t)longest, sizeof *haystack);
    float *logits = lra_alloc_array((size_t)(DEPTHS * C), sizeof *logits);
    for (int l = 0; l < w->n_lengths; l++) length[l] = (int64_t)w->length[l] + w->docs.row[0].first;
    int rc = lra_documents_prepare(&p->subject, LRA_ANSWERS_FORWARD, w->n_lengths, length, e);
    for (int64_t i = 0; i < w->n && rc == 0; i++) {
        fill_haystack(w, i, longest, haystack);
        for (int l = 0; l < w->n_lengths && rc == 0; l++) rc = ask(p, w, i, l, haystack, logits, e);
    }
    lra_subject_release(&p->subject);
    lra_free(logits);
    lra_free(haystack);
    return rc;
}

/* ---- results --------------------------------------------------------------------------------- */

/* Mean over depths of each example: to (n). */
static void mean_over_depths(const retrieval *w, int l, double *to)
{
    for (int64_t i = 0; i < w->n; i++) {
        to[i] = 0;
        for (int d = 0; d < DEPTHS; d++) to[i] += w->right[(l * DEPTHS + d) * w->n + i] / DEPTHS;
    }
}

static void add_gains(const lra_influence *p, const retrieval *w, lra_gain *g)
{
    double *row = lra_alloc_array((size_t)w->n + 1, sizeof *row);
    lra_sample *s = lra_sample_new(w->n, true);
    for (int l = 0; l <= w->n_lengths; l++) { /* the last series is the shortest length again */
        mean_over_depths(w, l == w->n_lengths ? 0 : l, row);
        lra_sample_add_rows(s, 1, (const double *const[]){row});
    }
    lra_sample_add_number(s, 1 / (double)w->n_candidates);
    lra_gain_compute(s, w->length, p->subject.seed, g);
    lra_sample_free(s);
    lra_free(row);
}

/* The largest measured length below x; the shortest length if there is none. */
static double length_below(const retrieval *w, double x)
{
    double below = w->length[0];
    for (int l = 0; l < w->n_lengths && w->length[l] < x; l++) below = w->length[l];
    return below;
}

static lra_measurement effective_length(const retrieval *w, const lra_gain *g)
{
    double longest = w->length[w->n_lengths - 1];
    lra_measurement f = lra_measurement_of("retrieval.length", NAN);
    f.examples = w->n;
    if (g->at_chance) return f;
    const lra_estimate *fails = &g->costs_from;
    f.value = isinf(fails->value) ? longest : length_below(w, fails->value);
    f.lo = isinf(fails->lo) ? longest : length_below(w, fails->lo);
    f.hi = isinf(fails->hi) ? longest : fails->hi - 1;
    if (isinf(fails->value)) f.flags |= LRA_CENSORED;
    if (isinf(fails->hi)) f.flags |= LRA_CENSORED_HI;
    return f;
}

static lra_measurement accuracy_of(const retrieval *w)
{
    double *row = lra_alloc_array((size_t)w->n + 1, sizeof *row);
    double *sum = lra_alloc_array((size_t)w->n + 1, sizeof *sum);
    for (int l = 0; l < w->n_lengths; l++) {
        mean_over_depths(w, l, row);
        for (int64_t i = 0; i < w->n; i++) sum[i] += row[i] / w->n_lengths;
    }
    lra_estimate e = lra_share_interval(w->n, sum);
    lra_measurement f = lra_measurement_of("retrieval.accuracy", e.value);
    f.lo = e.lo, f.hi = e.hi, f.examples = w->n;
    f.null[LRA_NULL_UNIFORM] = 1 / (double)w->n_candidates;
    lra_free(row);
    lra_free(sum);
    return f;
}

static void write_estimate(double *to, lra_estimate e)
{
    to[0] = e.value, to[1] = e.lo, to[2] = e.hi;
}

static void add_unit(lra_influence *p, const retrieval *w)
{
    enum { MOST = LRA_GAIN_POINTS };
    double map[3 * MOST * DEPTHS], value[3 * MOST], gain[3 * MOST];
    double *row = lra_alloc_array((size_t)w->n + 1, sizeof *row);
    int64_t n = w->n_lengths;
    lra_gain g;
    add_gains(p, w, &g);
    for (int l = 0; l < w->n_lengths; l++) {
        for (int d = 0; d < DEPTHS; d++)
            write_estimate(map + 3 * (l * DEPTHS + d),
                           lra_share_interval(w->n, w->right + (l * DEPTHS + d) * w->n));
        mean_over_depths(w, l, row);
        write_estimate(value + 3 * l, lra_share_interval(w->n, row));
        write_estimate(gain + 3 * l, g.gain[l]);
    }
    lra_probe_unit *u = lra_probe_unit_new(p->out, "retrieval");
    lra_probe_unit_array(u, "x", 1, &n, w->length);
    lra_probe_unit_array(u, "depth", 1, (int64_t[]){DEPTHS}, depths);
    lra_probe_unit_array(u, "accuracy", 3, (int64_t[]){n, DEPTHS, 3}, map);
    lra_probe_unit_array(u, "value", 2, (int64_t[]){n, 3}, value);
    lra_probe_unit_array(u, "gain", 2, (int64_t[]){n, 3}, gain);
    const lra_measurement both[] = {effective_length(w, &g), accuracy_of(w)};
    lra_probe_unit_measurements(u, 2, both);
    if (g.at_chance)
        lra_note("%s: retrieval from %.0f tokens is not clearly above chance (%.1f %%, chance %.1f "
                 "%%): the model has no retrieval length",
                 p->subject.title, w->length[0], 100 * value[0], 100 / (double)w->n_candidates);
    lra_free(row);
}

/* ---- the part -------------------------------------------------------------------------------- */

static const char *undefined(const lra_influence *p)
{
    return lra_documents_undefined(&p->subject);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return 2 * DEPTHS * (double)lra_influence_rows(p, examples);
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    retrieval w = {.n_lengths = 0};
    int rc = lra_documents_load(&p->subject, examples, &w.docs, e);
    find_used(p, &w);
    if (rc == 0) set_lengths(&w);
    if (rc == 0 && w.n_used < 2) rc = lra_fail(e, "the training rows have fewer than two tokens");
    if (rc == 0 && w.n_lengths == 0)
        rc = lra_fail(e, "rows of %lld tokens are too short for a key of %d tokens",
                      (long long)w.docs.longest, w.n_key);
    if (rc == 0) {
        w.n = w.docs.n;
        w.right = lra_alloc_array((size_t)(w.n_lengths * DEPTHS * w.n) + 1, sizeof *w.right);
        rc = ask_all(p, &w, e);
    }
    if (rc == 0) add_unit(p, &w);
    lra_free(w.right);
    lra_free(w.used);
    lra_documents_free(&w.docs);
    return rc;
}

const lra_influence_part lra_part_retrieval = {
    .name = "retrieval",
    .summary = "language models: retrieval of a random fact by length of the input and its depth",
    .examples = EXAMPLES,
    .least = 2,
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .needs = LRA_ANSWERS_FORWARD,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
