/* Part context-curve: loss of a language model by the number c of tokens before the predicted token
 * (analysis/context_curve.h, documents.h).
 *   context-curve   arrays x (points): c in tokens, the last one is the full context; loss, kl,
 *                   gain, key (points, 3): estimate, lower and upper end; unigram (3): loss by
 *                   token frequencies; targets (1): number of predicted tokens.
 *                   context.c50 .c90 .c95 .c99: smallest c that keeps this share of the gain;
 *                   loss.full
 *   context-curve.key   key.share.C; arrays length (1): C, given by --key-context; token (n, 5):
 *                   row of the split (of a stream: window), index of the token in the row, token,
 *                   ln p with the full context, ln p with C tokens, by descending difference: the
 *                   predicted tokens that lose more than 2 nats
 * The values of c are 1, 2, 4, .. up to --context, and lengths between the points around c95 and
 * c99, until these are exact to one token, or to 1/16 above 16 tokens. Every predicted token has at
 * least --context tokens before it in its row, so that all c are measured on the same tokens; rows
 * that are too short are left out and counted (undefined). At most 16 tokens of a row are
 * predicted, evenly spaced with a random start. Default of --context: the largest power of two that
 * is at most half of the median length.
 * Tested (tests/probes/next_token_test.c): models of known context. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/context_curve.h"
#include "analysis/quantile.h"
#include "kernels/base/core/log.h"
#include "kernels/base/core/mem.h"
#include "kernels/base/core/philox.h"
#include "probes/influence/documents.h"
#include "probes/influence/part.h"
#include "probes/influence/probabilities.h"

enum { EXAMPLES = 256, TARGETS = 16, STREAM = 0x4343, KEY_CONTEXT = 16, FACTS = 5 };
static const double key_nats = 2;

const lra_option lra_part_context_curve_options[] = {
    {.name = "context",
     .kind = LRA_OPTION_INT,
     .value = "0",
     .min = 0,
     .max = 1 << 24,
     .arg = "N",
     .help = "part 'context-curve': longest context in tokens; every predicted token has at least "
             "as many tokens before it (0 = half of the median length of the rows)"},
    {.name = "key-context",
     .kind = LRA_OPTION_INT,
     .value = "16",
     .min = 1,
     .max = 1 << 24,
     .arg = "N",
     .help = "part 'context-curve': list the predicted tokens whose loss grows by more than 2 nats "
             "if the model sees only N tokens before them"},
    {.name = NULL}};

static int64_t asked_context(const lra_influence *p)
{
    return p->options ? lra_option_int(p->options, "context") : 0;
}

static int64_t asked_key(const lra_influence *p)
{
    return p->options ? lra_option_int(p->options, "key-context") : KEY_CONTEXT;
}

static void context_setting(const lra_influence *p, char text[LRA_SETTING_TEXT])
{
    snprintf(text, LRA_SETTING_TEXT, "%lld", (long long)asked_context(p));
}

static void key_setting(const lra_influence *p, char text[LRA_SETTING_TEXT])
{
    snprintf(text, LRA_SETTING_TEXT, "%lld", (long long)asked_key(p));
}

static const lra_part_setting settings[] = {{"context-curve-context", "0", context_setting},
                                            {"context-curve-key", "16", key_setting},
                                            {.name = NULL}};

/* ---- targets --------------------------------------------------------------------------------- */

/* The predicted tokens, grouped by row, and their losses in nats. */
typedef struct {
    lra_documents docs;
    int64_t context; /* longest context length */
    int64_t n, rows, left_out;
    lra_target *target; /* (n) the predicted tokens */
    int64_t *row;       /* (n) rank of the row among the rows with targets */
    double *part;       /* (n) 1 / number of targets of the row */
    int points;         /* the last point is the full context */
    double x[LRA_GAIN_POINTS];
    double *loss, *kl; /* (points,n) losses, and divergences from the full context */
} curve;

static int64_t default_context(const lra_documents *d)
{
    double *length = lra_alloc_array((size_t)d->n + 1, sizeof *length);
    for (int64_t i = 0; i < d->n; i++) length[i] = (double)lra_document_context(&d->row[i]);
    lra_sort(d->n, length);
    int64_t half = d->n ? (int64_t)lra_quantile(d->n, length, 0.5) / 2 : 0, c = 1;
    while (2 * c <= half) c *= 2;
    lra_free(length);
    return c;
}

/* Draws the targets: indices first + context .. last of each row, evenly spaced. */
static void draw_targets(const lra_influence *p, curve *c)
{
    size_t most = (size_t)c->docs.n * TARGETS + 1;
    c->target = lra_alloc_array(most, sizeof *c->target);
    c->row = lra_alloc_array(most, sizeof *c->row);
    c->part = lra_alloc_array(most, sizeof *c->part);
    for (int64_t i = 0; i < c->docs.n; i++) {
        const lra_document *d = &c->docs.row[i];
        int64_t from = d->first + c->context, left = lra_document_context(d) - c->context + 1;
        if (left < 1) {
            c->left_out++;
            continue;
        }
        int64_t n = left < TARGETS ? left : TARGETS;
        lra_rng rng = lra_rng_new(p->subject.seed, STREAM, (uint64_t)d->index);
        double start = lra_rng_u01(&rng);
        for (int64_t k = 0; k < n; k++) {
            int64_t at = (int64_t)(((double)k + start) * (double)left / (double)n);
            c->target[c->n] = (lra_target){d, from + (at < left ? at : left - 1)};
            c->row[c->n] = c->rows, c->part[c->n++] = 1 / (double)n;
        }
        c->rows++;
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Losses of targets [from, from + n) at the points [first, end); whole: (n,C) logits with the full
 * context. */
static int measure_points(lra_influence *p, curve *c, int64_t from, int64_t n, int first, int end,
                          const float *whole, float *logits, lra_err *e)
{
    int64_t C = p->subject.model->facts.classes;
    int rc = 0;
    for (int k = first; k < end && rc == 0; k++) {
        bool full = k == c->points - 1;
        const float *out = full ? whole : logits;
        if (!full)
            rc = lra_documents_predict(&p->subject, n, c->target + from, (int64_t)c->x[k], logits,
                                       e);
        for (int64_t i = 0; i < n && rc == 0; i++) {
            const lra_target *of = &c->target[from + i];
            c->loss[k * c->n + from + i] = lra_token_loss(C, out + i * C, of->row->token[of->at]);
            c->kl[k * c->n + from + i] = full ? 0 : lra_kl(C, whole + i * C, out + i * C);
        }
    }
    return rc;
}

/* Measures the points [first, end). */
static int measure_all(lra_influence *p, curve *c, int first, int end, lra_steps *steps, lra_err *e)
{
    int64_t C = p->subject.model->facts.classes, chunk = lra_documents_chunk(&p->subject);
    float *whole = lra_alloc_array((size_t)(chunk * C), sizeof *whole);
    float *logits = lra_alloc_array((size_t)(chunk * C), sizeof *logits);
    int rc = 0;
    for (int64_t from = 0; from < c->n && rc == 0; from += chunk) {
        int64_t n = c->n - from < chunk ? c->n - from : chunk;
        rc = lra_documents_predict(&p->subject, n, c->target + from, 0, whole, e);
        if (rc == 0) rc = measure_points(p, c, from, n, first, end, whole, logits, e);
        lra_steps_add(steps, 3 * (double)n);
    }
    lra_free(whole);
    lra_free(logits);
    return rc;
}

/* Writes means over the targets of each row: to (rows). value: (n). */
static void add_means(const curve *c, const double *value, double scale, double *to)
{
    for (int64_t i = 0; i < c->n; i++) to[c->row[i]] += scale * value[i] * c->part[i];
}

static void compute(const lra_influence *p, const curve *c, lra_context_curve *out)
{
    size_t cells = (size_t)(c->points * c->rows) + 1;
    double *loss = lra_alloc_array(cells, sizeof *loss), *kl = lra_alloc_array(cells, sizeof *kl);
    double *key = lra_alloc_array(cells, sizeof *key);
    double *unigram = lra_alloc_array((size_t)c->rows + 1, sizeof *unigram);
    double *is_key = lra_alloc_array((size_t)c->n + 1, sizeof *is_key);
    double *by_token = lra_documents_unigram(&p->subject);
    const double *full = c->loss + (c->points - 1) * c->n;
    for (int k = 0; k < c->points; k++) {
        const double *own = c->loss + k * c->n;
        for (int64_t i = 0; i < c->n; i++) is_key[i] = own[i] - full[i] > key_nats;
        add_means(c, own, 1 / log(2), loss + k * c->rows);
        add_means(c, c->kl + k * c->n, 1, kl + k * c->rows);
        add_means(c, is_key, 1, key + k * c->rows);
    }
    for (int64_t i = 0; i < c->n; i++)
        is_key[i] = by_token[c->target[i].row->token[c->target[i].at]];
    add_means(c, is_key, 1, unigram);
    lra_context_curve_compute(c->rows, c->points, c->x, loss, kl, key, unigram, p->subject.seed,
                              out);
    lra_free(loss);
    lra_free(kl);
    lra_free(key);
    lra_free(unigram);
    lra_free(is_key);
    lra_free(by_token);
}

/* Inserts context length x before point k. */
static void insert(curve *c, int k, double x)
{
    size_t after = (size_t)(c->points - k);
    memmove(c->x + k + 1, c->x + k, after * sizeof *c->x);
    memmove(c->loss + (k + 1) * c->n, c->loss + k * c->n, after * (size_t)c->n * sizeof *c->loss);
    memmove(c->kl + (k + 1) * c->n, c->kl + k * c->n, after * (size_t)c->n * sizeof *c->kl);
    c->x[k] = x, c->points++;
}

static int refine(lra_influence *p, curve *c, lra_context_curve *out, lra_err *e)
{
    static const double share[] = {0.99, 0.95};
    for (int i = 0; i < 2;) {
        int k = lra_influence_coarse(&out->gain, share[i]);
        if (k == 0 || k == c->points - 1 || c->points == LRA_GAIN_POINTS) {
            i++;
            continue;
        }
        insert(c, k, floor((c->x[k - 1] + c->x[k]) / 2));
        if (measure_all(p, c, k, k + 1, NULL, e) != 0) return LRA_FAILED;
        compute(p, c, out);
    }
    return 0;
}

/* ---- results --------------------------------------------------------------------------------- */

static void add_estimates(lra_probe_unit *u, const char *name, int n, const lra_estimate *list)
{
    double x[3 * LRA_GAIN_POINTS];
    for (int i = 0; i < n; i++)
        x[3 * i] = list[i].value, x[3 * i + 1] = list[i].lo, x[3 * i + 2] = list[i].hi;
    lra_probe_unit_array(u, name, 2, (int64_t[]){n, 3}, x);
}

static void add_curve(lra_influence *p, const curve *c, const lra_context_curve *r)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, "context-curve");
    const double targets = (double)c->n,
                 unigram[3] = {r->unigram.value, r->unigram.lo, r->unigram.hi};
    lra_probe_unit_array(u, "x", 1, (int64_t[]){r->n}, c->x);
    add_estimates(u, "loss", r->n, r->loss);
    add_estimates(u, "kl", r->n, r->kl);
    add_estimates(u, "gain", r->n, r->gain.gain);
    add_estimates(u, "key", r->n, r->key);
    lra_probe_unit_array(u, "unigram", 1, (int64_t[]){3}, unigram);
    lra_probe_unit_array(u, "targets", 1, (int64_t[]){1}, &targets);
    for (int k = 0; k < LRA_GAIN_SHARES; k++) {
        lra_measurement f = lra_influence_least("context.c", k, &r->gain, c->rows);
        f.undefined = c->left_out;
        lra_probe_unit_measurements(u, 1, &f);
    }
    lra_measurement f = lra_measurement_of("loss.full", r->full.value);
    f.lo = r->full.lo, f.hi = r->full.hi, f.null[LRA_NULL_UNIFORM] = r->unigram.value;
    f.examples = c->rows, f.undefined = c->left_out;
    lra_probe_unit_measurements(u, 1, &f);
    if (r->gain.at_chance)
        lra_note(
            "%s: the loss with the full context, %.3f bits, is not clearly below that of token "
            "frequencies, %.3f bits: the model has no context, and context.c95 is undefined",
            p->subject.title, r->full.value, r->unigram.value);
}

static int by_difference(const void *a, const void *b)
{
    const double *x = a, *y = b;
    double left = x[3] - x[4], right = y[3] - y[4];
    return left > right ? -1 : left < right;
}

static void add_key_tokens(lra_influence *p, const curve *c, int at, const lra_context_curve *r)
{
    lra_probe_unit *u = lra_probe_unit_new(p->out, "context-curve.key");
    const double *full = c->loss + (c->points - 1) * c->n, *own = c->loss + at * c->n;
    double *fact = lra_alloc_array((size_t)(FACTS * c->n) + 1, sizeof *fact);
    int64_t n = 0;
    for (int64_t i = 0; i < c->n; i++) {
        const lra_target *of = &c->target[i];
        if (!(own[i] - full[i] > key_nats)) continue;
        const double one[FACTS] = {(double)of->row->index, (double)of->at,
                                   (double)of->row->token[of->at], -full[i], -own[i]};
        memcpy(fact + FACTS * n++, one, sizeof one);
    }
    qsort(fact, (size_t)n, FACTS * sizeof *fact, by_difference);
    lra_probe_unit_array(u, "length", 1, (int64_t[]){1}, &c->x[at]);
    if (n) lra_probe_unit_array(u, "token", 2, (int64_t[]){n, FACTS}, fact);
    char id[LRA_MEASUREMENT_ID];
    snprintf(id, sizeof id, "key.share.%.0f", c->x[at]);
    lra_measurement f = lra_measurement_of(id, r->key[at].value);
    f.lo = r->key[at].lo, f.hi = r->key[at].hi, f.examples = c->rows, f.undefined = c->left_out;
    lra_probe_unit_measurements(u, 1, &f);
    lra_free(fact);
}

/* ---- the part -------------------------------------------------------------------------------- */

static const char *undefined(const lra_influence *p)
{
    return lra_documents_undefined(&p->subject);
}

static double passes(const lra_influence *p, int64_t examples)
{
    return 3 * TARGETS * (double)lra_influence_rows(p, examples);
}

/* Sets the points: 1, 2, 4, .. up to the longest context, the context of the list of key tokens,
 * and the full context. */
static void set_points(const lra_influence *p, curve *c)
{
    int64_t key = asked_key(p);
    if (key > c->context) key = c->context;
    double last = 0, longest = (double)c->docs.longest;
    for (int64_t x = 1; x <= c->context && (double)x < longest; x *= 2) {
        if (c->points >= LRA_GAIN_POINTS - 3) break;
        if ((double)key > last && key < x) c->x[c->points++] = (double)key;
        c->x[c->points++] = last = (double)x;
    }
    if (last < (double)key && (double)key < longest) c->x[c->points++] = (double)key;
    if (last < (double)c->context && (double)c->context < longest && key != c->context)
        c->x[c->points++] = (double)c->context;
    c->x[c->points++] = longest;
}

static int point_of(const curve *c, int64_t x)
{
    int k = 0;
    while (k < c->points - 2 && c->x[k] < (double)x) k++;
    return k;
}

static int prepare(const lra_influence *p, const curve *c, lra_err *e)
{
    int64_t length[LRA_GAIN_POINTS + 1];
    int n = 0;
    for (int k = 0; k < c->points; k++) length[n++] = (int64_t)c->x[k];
    length[n - 1] = p->subject.buckets.length[p->subject.buckets.n - 1];
    return lra_documents_prepare(&p->subject, LRA_ANSWERS_FORWARD, n, length, e);
}

static int measure_curve(lra_influence *p, curve *c, lra_err *e)
{
    lra_context_curve r;
    size_t cells = (size_t)(LRA_GAIN_POINTS * c->n) + 1;
    c->loss = lra_alloc_array(cells, sizeof *c->loss);
    c->kl = lra_alloc_array(cells, sizeof *c->kl);
    int rc = prepare(p, c, e);
    if (rc == 0) rc = measure_all(p, c, 0, c->points, &p->steps, e);
    if (rc == 0) compute(p, c, &r);
    if (rc == 0) rc = refine(p, c, &r, e);
    if (rc == 0) add_curve(p, c, &r);
    if (rc == 0) add_key_tokens(p, c, point_of(c, asked_key(p)), &r);
    lra_subject_release(&p->subject);
    return rc;
}

static int measure(lra_influence *p, int64_t examples, lra_err *e)
{
    curve c = {.n = 0};
    int rc = lra_documents_load(&p->subject, examples, &c.docs, e);
    if (rc == 0) {
        c.context = asked_context(p) ? asked_context(p) : default_context(&c.docs);
        draw_targets(p, &c);
        set_points(p, &c);
        if (c.left_out)
            lra_note("%s: %lld of %lld rows have fewer than %lld tokens before their last token; "
                     "they are left out ('--context N' sets a shorter context)",
                     p->subject.title, (long long)c.left_out, (long long)c.docs.n,
                     (long long)c.context);
    }
    if (rc == 0 && c.rows < 2)
        rc = lra_fail(e,
                      "%lld rows have more than %lld tokens, expected at least 2 ('--context N')",
                      (long long)c.rows, (long long)c.context);
    if (rc == 0) rc = measure_curve(p, &c, e);
    lra_documents_free(&c.docs);
    lra_free(c.target);
    lra_free(c.row);
    lra_free(c.part);
    lra_free(c.loss);
    lra_free(c.kl);
    return rc;
}

const lra_influence_part lra_part_context_curve = {
    .name = "context-curve",
    .summary = "language models: loss by the number of tokens before a token, and key tokens",
    .examples = EXAMPLES,
    .least = 2,
    .units = (const char *const[]){"context-curve.key", NULL},
    .nulls = LRA_NULL_BIT(LRA_NULL_UNIFORM),
    .settings = settings,
    .needs = LRA_ANSWERS_FORWARD,
    .undefined = undefined,
    .passes = passes,
    .measure = measure};
