/* Compares the gradients of a model with changes of its inputs.
 * For a position i in the middle of an example and a random vector v, vjp returns
 *   G_j = || d (v . h_i) / d e_j ||^2
 * Real inputs: G_j is compared with E_j, the sum of squared central differences along the F
 * channels. With more than 8 channels, E_j is the mean over 8 random directions u, because
 * E (u . g)^2 = ||g||^2 for u ~ N(0,1).
 * Tokens cannot be changed by a small amount. E_j is then the largest squared change of v . h_i if
 * the token at j is replaced, by two different tokens.
 * The check fails if more than 10 % of E are at positions with G_j = 0, or of G at positions with
 * E_j = 0; for tokens also if the mean rank correlation of E and G is below -0.3. */
#include <math.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "kernels/base/core/mem.h"
#include "probes/audit/check_work.h"

enum { EXAMPLES = 4, TRIED = 24, OTHERS = 2, CHANNELS = 8, DIRECTIONS = 0x4744 };
static const int64_t most_features = 1 << 26; /* maximum number of features of one request */

/* An example: evaluated position i, vector v, gradients G, and effects E of changed positions. */
typedef struct {
    lra_check_work *w;
    int64_t row, i, L, D;
    float *v, *grad; /* v (D): the random vector; grad (T): G_j */
    lra_rng rng;
    int64_t n, at[TRIED]; /* positions that are changed */
    double effect[TRIED]; /* E_j of these positions */
} subject;

static float *vector(lra_rng *rng, int64_t D)
{
    float *v = lra_alloc_array((size_t)D, sizeof *v);
    for (int64_t d = 0; d < D; d++) {
        double x, y;
        uint32_t a = lra_rng_u32(rng), b = lra_rng_u32(rng);
        lra_normal2(a, b, &x, &y);
        v[d] = (float)x;
    }
    return v;
}

/* Chooses the positions that are changed: half of them near i, half anywhere. */
static void choose_positions(subject *s)
{
    int64_t near = s->i - TRIED / 4 > 0 ? s->i - TRIED / 4 : 0;
    for (int64_t j = near; j < s->L && s->n < TRIED / 2; j++) s->at[s->n++] = j;
    for (int tries = 0; tries < 8 * TRIED && s->n < TRIED && s->n < s->L; tries++) {
        int64_t j = lra_rng_below(&s->rng, (uint32_t)s->L);
        bool there = false;
        for (int64_t k = 0; k < s->n; k++) there = there || s->at[k] == j;
        if (!there) s->at[s->n++] = j;
    }
}

static int ask_gradient(subject *s, lra_err *e)
{
    const lra_request *x = s->w->s->examples;
    int64_t towers = x->towers, T = x->T;
    lra_check_batch b = lra_check_batch_new(s->w, &s->row, 1, T);
    int32_t position[2] = {(int32_t)s->i, -1};
    float *v = lra_alloc_array((size_t)(towers * s->D), sizeof *v);
    float *grad = lra_alloc_array((size_t)(towers * T), sizeof *grad);
    memcpy(v, s->v, (size_t)s->D * sizeof *v);
    int rc = s->w->r->is->vjp(s->w->r, &b.q, NULL, position, 1, v, grad, e);
    s->grad = grad;
    lra_free(v);
    lra_check_batch_free(&b);
    return rc;
}

/* Returns v . h_i for n copies of the example, where change() has changed copy k: (n), which the
 * caller frees; NULL and a message on failure. */
static double *ask_copies(subject *s, int64_t n,
                          void (*change)(subject *, lra_check_batch *, int64_t k, int64_t copy),
                          lra_err *e)
{
    const lra_request *x = s->w->s->examples;
    int64_t each = x->T * s->D * x->towers, size = s->w->s->batch;
    if (size > most_features / (each + 1)) size = most_features / (each + 1);
    if (size < 1) size = 1;
    double *to = lra_alloc_array((size_t)n, sizeof *to);
    int64_t *row = lra_alloc_array((size_t)size, sizeof *row);
    for (int64_t k = 0; k < size; k++) row[k] = s->row;
    bool ok = true;
    for (int64_t from = 0; from < n && ok; from += size) {
        int64_t k = from + size < n ? size : n - from;
        lra_check_batch b = lra_check_batch_new(s->w, row, k, x->T);
        for (int64_t c = 0; c < k; c++) change(s, &b, from + c, c);
        float *h = lra_check_features(s->w, &b.q, e);
        for (int64_t c = 0; c < k && h; c++)
            for (int64_t d = 0; d < s->D; d++)
                to[from + c] += (double)s->v[d] * (double)h[(c * x->T + s->i) * s->D + d];
        ok = h != NULL;
        lra_free(h);
        lra_check_batch_free(&b);
    }
    lra_free(row);
    if (ok) return to;
    lra_free(to);
    return NULL;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

/* Replaces one token of copy k; copy 0 is the unchanged example. */
static void change_token(subject *s, lra_check_batch *b, int64_t k, int64_t copy)
{
    if (k > 0) lra_check_replace(s->w, b, copy, s->at[(k - 1) / OTHERS], &s->rng);
}

static int occlude(subject *s, lra_err *e)
{
    double *y = ask_copies(s, 1 + s->n * OTHERS, change_token, e);
    for (int64_t k = 0; k < s->n * OTHERS && y; k++) {
        double d = y[1 + k] - y[0];
        s->effect[k / OTHERS] = fmax(s->effect[k / OTHERS], d * d);
    }
    lra_free(y);
    return y ? 0 : LRA_FAILED;
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t directions(const subject *s)
{
    int64_t F = s->w->s->examples->width;
    return F < CHANNELS ? F : CHANNELS;
}

static double step_of(const subject *s)
{
    const lra_request *x = s->w->s->examples;
    int64_t F = x->width;
    return 1e-2 * fmax(lra_check_size(x->value + s->row * x->T * F, s->L * F), 1e-3);
}

/* Changes the values of one position. Copies 2 m and 2 m + 1 have a step forward and backward along
 * direction number m % directions, at changed position number m / directions. */
static void change_value(subject *s, lra_check_batch *b, int64_t k, int64_t copy)
{
    int64_t F = s->w->s->examples->width, m = k / 2, j = s->at[m / directions(s)];
    float *to = b->value + (copy * b->q.T + j) * F;
    double step = k % 2 ? -step_of(s) : step_of(s);
    lra_rng rng = lra_rng_new(s->w->s->seed, DIRECTIONS, (uint64_t)m);
    for (int64_t f = 0; f < F; f++) {
        double x, y;
        uint32_t p = lra_rng_u32(&rng), q = lra_rng_u32(&rng);
        lra_normal2(p, q, &x, &y);
        if (F > CHANNELS) to[f] += (float)(step * x);
    }
    if (F <= CHANNELS) to[m % F] += (float)step;
}

static int differentiate(subject *s, lra_err *e)
{
    int64_t F = s->w->s->examples->width, m = directions(s);
    double *y = ask_copies(s, 2 * s->n * m, change_value, e);
    for (int64_t k = 0; k < s->n * m && y; k++) {
        double d = (y[2 * k] - y[2 * k + 1]) / (2 * step_of(s));
        s->effect[k / m] += d * d / (F > CHANNELS ? (double)m : 1);
    }
    lra_free(y);
    return y ? 0 : LRA_FAILED;
}

/* ---- comparison ------------------------------------------------------------------------------ */

/* Sums over examples. */
typedef struct {
    int64_t n;
    double largest_gradient, largest_effect;
    double gradient, gradient_without_effect, effect, effect_without_gradient;
    double rank; /* sum of the rank correlations of `ranked` examples */
    int ranked;
    double worst; /* real inputs: largest |sqrt(E) - sqrt(G)| / largest sqrt(G) */
    bool finite;
} comparison;

static double rank_correlation(int64_t n, const double *a, const double *b)
{
    double work[2 * TRIED];
    return gsl_stats_spearman(a, 1, b, 1, (size_t)n, work);
}

static void compare(const subject *s, comparison *c)
{
    double g[TRIED], most_g = 0, most_e = 0, noise = 1e-12;
    for (int64_t j = 0; j < s->L; j++) {
        c->finite = c->finite && isfinite(s->grad[j]);
        most_g = fmax(most_g, (double)s->grad[j]);
    }
    for (int64_t k = 0; k < s->n; k++) most_e = fmax(most_e, s->effect[k]);
    bool varied = false;
    for (int64_t k = 0; k < s->n; k++) {
        g[k] = (double)s->grad[s->at[k]];
        varied = varied || (g[k] != g[0] && s->effect[k] != s->effect[0]);
        if (s->effect[k] <= noise * most_e)
            c->gradient_without_effect += most_g > 0 ? g[k] / most_g : 0;
        if (g[k] <= noise * most_g && most_e > 0)
            c->effect_without_gradient += s->effect[k] / most_e;
        if (most_g > 0) {
            c->gradient += g[k] / most_g;
            c->worst = fmax(c->worst, fabs(sqrt(s->effect[k]) - sqrt(g[k])) / sqrt(most_g));
        }
        if (most_e > 0) c->effect += s->effect[k] / most_e;
    }
    c->largest_gradient = fmax(c->largest_gradient, most_g);
    c->largest_effect = fmax(c->largest_effect, most_e);
    if (varied && s->n >= 4) c->rank += rank_correlation(s->n, g, s->effect), c->ranked++;
    c->n++;
}

static int measure(lra_check_work *w, comparison *c, lra_err *e)
{
    const lra_request *x = w->s->examples;
    int rc = 0;
    for (int64_t row = 0; row < x->B && c->n < EXAMPLES && rc == 0; row++) {
        subject s = {.w = w, .row = row, .L = x->length[row], .D = w->r->facts.width};
        if (s.L < 2) continue;
        s.i = s.L / 2;
        s.rng = lra_rng_new(w->s->seed, DIRECTIONS + 1, (uint64_t)row);
        s.v = vector(&s.rng, s.D);
        choose_positions(&s);
        rc = ask_gradient(&s, e);
        if (rc == 0) rc = x->value ? differentiate(&s, e) : occlude(&s, e);
        if (rc == 0) compare(&s, c);
        lra_free(s.v);
        lra_free(s.grad);
    }
    return rc;
}

static void fail(lra_check_work *w, char *found)
{
    lra_check_fail(
        w, LRA_CHECK_gradient, found,
        "gradients of another layer or of a detached graph, or with respect to something "
        "else than the embedded inputs",
        "return the squared norm of d(cotangent . h[position]) / d e_j; leave 'vjp' out to "
        "use occlusion",
        "jacobian field");
}

static void judge(lra_check_work *w, const comparison *c)
{
    bool values = w->s->examples->value != NULL;
    double rank = c->ranked ? c->rank / c->ranked : 0;
    /* limit of c->worst: 3 with random directions u, because the error of E is then large */
    double few = w->s->examples->width > CHANNELS ? 3 : 0.1;
    if (!c->finite)
        fail(w, lra_format("gradients are NaN or infinite"));
    else if (c->largest_gradient == 0 && c->largest_effect > 0)
        fail(w, lra_format("all gradients are zero, but other inputs change the features"));
    else if (c->largest_effect == 0)
        lra_check_pass(w, LRA_CHECK_gradient, lra_format("no input changes the features"));
    else if (c->effect_without_gradient > 0.1 * c->effect)
        fail(w, lra_format("%.0f %% of the effect of other inputs is at positions without gradient",
                           100 * c->effect_without_gradient / c->effect));
    else if (c->gradient_without_effect > 0.1 * c->gradient)
        fail(w, lra_format("%.0f %% of the gradient is at positions whose inputs have no effect",
                           100 * c->gradient_without_effect / c->gradient));
    else if (values && c->worst > few)
        fail(w, lra_format("central differences and gradients differ by %.2g of the largest",
                           c->worst));
    else if (values)
        lra_check_pass(w, LRA_CHECK_gradient,
                       lra_format("central differences agree to %.2g of the largest", c->worst));
    else if (c->ranked >= 2 && rank < -0.3)
        fail(w, lra_format("rank correlation of gradients with effects of replaced tokens: %.2f",
                           rank));
    else
        lra_check_pass(
            w, LRA_CHECK_gradient,
            lra_format("rank correlation with the effects of replaced tokens: %.2f", rank));
}

void lra_check_gradient(lra_check_work *w)
{
    lra_err e;
    comparison c = {.finite = true};
    const uint32_t needed = LRA_ANSWERS_VJP | LRA_ANSWERS_FEATURES;
    if (!lra_responder_answers(w->r, LRA_ANSWERS_VJP))
        lra_check_leave_out(w, LRA_CHECK_gradient, "the model does not answer 'vjp'");
    else if (!lra_responder_answers(w->r, needed) || w->r->facts.width == 0)
        lra_check_leave_out(w, LRA_CHECK_gradient, "the model does not answer 'features'");
    else if (measure(w, &c, &e) != 0)
        fail(w, lra_copy_text(e.msg));
    else if (c.n == 0)
        lra_check_leave_out(w, LRA_CHECK_gradient, "all examples are shorter than 2");
    else
        judge(w, &c);
}
