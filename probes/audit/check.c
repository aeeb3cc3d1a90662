/* Checks a model before it is measured (check.h). */
#include "probes/audit/check.h"

#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "kernels/base/os/terminal.h"
#include "probes/audit/check_work.h"

enum { SEVERAL = 8, REPEATS = 3, REPLACED = 0x4348, MORE_PADDING = 8, MOST_TIMED = 64 };
static const double tolerance = 1e-4; /* relative to the largest output */
static const double timed_seconds = 2;

static const char of_windows[] = "keep swap token mask bag length drop drop-token prune shift";

/* ---- handshake, finite ----------------------------------------------------------------------- */

/* Computes the outputs of all examples, in batches: w->logits. */
static int evaluate_pairs(lra_check_work *w, lra_err *e)
{
    const lra_request *x = w->s->examples;
    int64_t C = w->r->facts.classes, row[MOST_TIMED * 4];
    w->logits = lra_alloc_array((size_t)(x->B * C) + 1, sizeof *w->logits);
    int64_t size = w->s->batch < MOST_TIMED * 4 ? w->s->batch : MOST_TIMED * 4;
    for (int64_t from = 0; from < x->B; from += size) {
        int64_t n = from + size < x->B ? size : x->B - from;
        for (int64_t i = 0; i < n; i++) row[i] = from + i;
        lra_check_batch b = lra_check_batch_new(w, row, n, x->T);
        float *logits = lra_check_forward(w, &b.q, e);
        lra_check_batch_free(&b);
        if (!logits) return LRA_FAILED;
        memcpy(w->logits + from * C, logits, (size_t)(n * C) * sizeof *logits);
        lra_free(logits);
    }
    return 0;
}

static int check_answers(lra_check_work *w, lra_err *e)
{
    const lra_responder_facts *f = &w->r->facts;
    int64_t n = w->s->examples->B, bad = 0;
    if (evaluate_pairs(w, e) != 0) {
        lra_check_fail(w, LRA_CHECK_handshake, lra_copy_text(e->msg),
                       "the model does not answer requests as the protocol says",
                       "correct the model's program", "all");
        return LRA_FAILED;
    }
    lra_check_pass(w, LRA_CHECK_handshake,
                   lra_format("%lld examples, %lld outputs%s%s", (long long)n,
                              (long long)f->classes, f->model ? ", " : "",
                              f->model ? f->model : ""));
    for (int64_t i = 0; i < n; i++) {
        bool finite = true;
        for (int64_t c = 0; c < f->classes; c++)
            finite = finite && isfinite(w->logits[i * f->classes + c]);
        bad += !finite;
    }
    if (bad == 0)
        lra_check_pass(w, LRA_CHECK_finite, lra_format("all outputs are finite"));
    else
        lra_check_fail(
            w, LRA_CHECK_finite,
            lra_format("%lld of %lld examples with outputs that are NaN or infinite",
                       (long long)bad, (long long)n),
            "the model diverged in training, or an operation overflows (float16, a division by 0)",
            "evaluate in float32; check the weights", "all");
    return 0;
}

/* ---- invariances ----------------------------------------------------------------------------- */

/* Returns the largest difference that rounding or the noise of the model can explain. size: largest
 * output. */
static double allowed(const lra_check_work *w, double size)
{
    return fmax(tolerance * size, 4 * w->out->noise);
}

/* Marks the check as failed because the model did not answer one of its requests. */
static void fail_asked(lra_check_work *w, int check, const lra_err *e, const char *disables)
{
    lra_check_fail(w, check, lra_copy_text(e->msg), "the model could not answer this request",
                   "correct the model's program", disables);
}

/* Sets the outcome of the check `deterministic`. size: largest output; changes: the differences
 * grow from call to call, which shows that each call changes the model. */
static void judge_noise(lra_check_work *w, double size, bool changes)
{
    char *found = w->out->noise == 0
                      ? lra_format("equal requests have equal answers")
                      : lra_format("equal requests differ by %.2g, outputs are up to %.2g",
                                   w->out->noise, size);
    if (w->out->noise <= tolerance * size)
        lra_check_pass(w, LRA_CHECK_deterministic, found);
    else
        lra_check_fail(w, LRA_CHECK_deterministic, found,
                       changes ? "the model changes with each call: weights or batch statistics "
                                 "are updated, or state is kept"
                               : "dropout or another random operation is active",
                       "set evaluation mode (PyTorch: model.eval()); the difference is used as "
                       "noise floor",
                       "interaction position occlusion");
}

static void check_deterministic(lra_check_work *w, const lra_check_batch *b)
{
    lra_err e;
    int64_t n = b->q.B * w->r->facts.classes;
    float *first = lra_check_forward(w, &b->q, &e);
    bool ok = first != NULL, grows = true;
    double difference[REPEATS] = {0};
    for (int i = 0; i < REPEATS && ok; i++) {
        float *again = lra_check_forward(w, &b->q, &e);
        ok = again != NULL;
        if (ok) difference[i] = lra_check_difference(first, again, n);
        w->out->noise = fmax(w->out->noise, difference[i]);
        grows = grows && (i == 0 || difference[i] > difference[i - 1]);
        lra_free(again);
    }
    if (ok)
        judge_noise(w, lra_check_size(first, n),
                    grows && difference[REPEATS - 1] > 2 * difference[0]);
    else
        fail_asked(w, LRA_CHECK_deterministic, &e, "all");
    lra_free(first);
}

/* Compares the outputs of a batch with those of other batches of the same examples. *alone,
 * *reversed: largest difference for examples in batches of one, and for the batch in reverse
 * order. */
static int compare_batches(lra_check_work *w, const lra_check_batch *b, const int64_t *row,
                           double *alone, double *reversed, double *size, lra_err *e)
{
    int64_t n = b->q.B, C = w->r->facts.classes, back[SEVERAL];
    float *all = lra_check_forward(w, &b->q, e);
    int rc = all ? 0 : LRA_FAILED;
    *alone = *reversed = *size = 0;
    if (all) *size = lra_check_size(all, n * C);
    for (int64_t i = 0; i < n; i++) back[i] = row[n - 1 - i];
    /* i = n: evaluates all examples in reverse order */
    for (int64_t i = 0; i <= n && rc == 0; i++) {
        lra_check_batch one = lra_check_batch_new(w, i < n ? &row[i] : back, i < n ? 1 : n, b->q.T);
        float *x = lra_check_forward(w, &one.q, e);
        if (x && i < n) *alone = fmax(*alone, lra_check_difference(x, all + i * C, C));
        for (int64_t k = 0; k < n && x && i == n; k++)
            *reversed = fmax(*reversed, lra_check_difference(x + k * C, all + (n - 1 - k) * C, C));
        if (!x) rc = LRA_FAILED;
        lra_free(x);
        lra_check_batch_free(&one);
    }
    lra_free(all);
    return rc;
}

static void check_batch(lra_check_work *w, const lra_check_batch *b, const int64_t *row)
{
    lra_err e;
    double alone, reversed, size;
    if (b->q.B < 2) {
        lra_check_leave_out(w, LRA_CHECK_batch, "requests have one row");
    } else if (compare_batches(w, b, row, &alone, &reversed, &size, &e) != 0) {
        fail_asked(w, LRA_CHECK_batch, &e, "all");
    } else if (fmax(alone, reversed) <= allowed(w, size)) {
        lra_check_pass(w, LRA_CHECK_batch,
                       lra_format("largest difference %.2g", fmax(alone, reversed)));
    } else {
        lra_check_fail(
            w, LRA_CHECK_batch,
            lra_format("difference alone %.2g, in reverse order %.2g; outputs are up to "
                       "%.2g",
                       alone, reversed, size),
            "statistics of the batch (batch norm in training mode), or time as the first "
            "axis of the inputs",
            "set evaluation mode; put the batch first; or use --batch 1", "all");
    }
}

/* Returns outputs for examples that are truncated to half of their length. more: number of padding
 * positions added to T; random: the padding contains random tokens. */
static float *ask_padded(lra_check_work *w, const int64_t *row, int64_t n, int64_t more,
                         bool random, lra_err *e)
{
    const lra_request *x = w->s->examples;
    lra_check_batch b = lra_check_batch_new(w, row, n, x->T + more);
    lra_rng rng = lra_rng_new(w->s->seed, REPLACED, 1);
    for (int64_t s = 0; s < n * x->towers; s++) {
        b.length[s] = b.length[s] > 1 ? b.length[s] / 2 : b.length[s];
        for (int64_t t = b.length[s]; t < b.q.T; t++) {
            if (b.token) b.token[s * b.q.T + t] = w->s->pad;
            for (int64_t f = 0; b.value && f < x->width; f++)
                b.value[(s * b.q.T + t) * x->width + f] = 0;
            if (random) lra_check_replace(w, &b, s, t, &rng);
        }
    }
    float *logits = lra_check_forward(w, &b.q, e);
    lra_check_batch_free(&b);
    return logits;
}

static void check_padding(lra_check_work *w, const int64_t *row, int64_t n)
{
    lra_err e;
    int64_t T = w->s->examples->T, C = w->r->facts.classes;
    if (w->r->facts.fixed_length) {
        char *why = lra_format("the model takes inputs of %lld tokens alone, without padding",
                               (long long)w->r->facts.fixed_length);
        lra_check_leave_out(w, LRA_CHECK_padding, why);
        lra_free(why);
        return;
    }
    bool longer = w->s->longest == 0 || T + MORE_PADDING <= w->s->longest;
    /* T / 4 fewer positions still hold the examples, which have at most T / 2 tokens */
    int64_t more = longer ? MORE_PADDING : -(T / 4);
    float *plain = ask_padded(w, row, n, 0, false, &e);
    float *values = plain ? ask_padded(w, row, n, 0, true, &e) : NULL;
    float *count = values ? ask_padded(w, row, n, more, false, &e) : NULL;
    if (!count) {
        fail_asked(w, LRA_CHECK_padding, &e, of_windows);
    } else {
        double by_value = lra_check_difference(plain, values, n * C);
        double by_count = lra_check_difference(plain, count, n * C);
        double size = lra_check_size(plain, n * C);
        if (fmax(by_value, by_count) <= allowed(w, size))
            lra_check_pass(w, LRA_CHECK_padding,
                           lra_format("largest difference %.2g", fmax(by_value, by_count)));
        else
            lra_check_fail(
                w, LRA_CHECK_padding,
                lra_format("other padding values change outputs by %.2g, %s padding by "
                           "%.2g; outputs are up to %.2g",
                           by_value, longer ? "more" : "less", by_count, size),
                "the model ignores 'length': padding enters its pool or its attention",
                "mask positions >= length in every layer that mixes positions and in the "
                "pool",
                of_windows);
    }
    lra_free(plain);
    lra_free(values);
    lra_free(count);
}

/* Returns outputs with every third position hidden. replaced: the tokens of these positions are
 * replaced. */
static float *ask_hidden(lra_check_work *w, const int64_t *row, int64_t n, bool replaced,
                         lra_err *e)
{
    lra_check_batch b = lra_check_batch_new(w, row, n, w->s->examples->T);
    lra_rng rng = lra_rng_new(w->s->seed, REPLACED, 2);
    for (int64_t s = 0; s < n * b.q.towers; s++)
        for (int64_t t = 0; t < b.q.T; t++) {
            b.keep[s * b.q.T + t] = t % 3 != 1;
            if (replaced && t % 3 == 1 && t < b.length[s]) lra_check_replace(w, &b, s, t, &rng);
        }
    b.q.keep = b.keep;
    float *logits = lra_check_forward(w, &b.q, e);
    lra_check_batch_free(&b);
    return logits;
}

static void check_keep(lra_check_work *w, const int64_t *row, int64_t n)
{
    lra_err e;
    int64_t C = w->r->facts.classes;
    if (!w->r->facts.mask) {
        lra_check_leave_out(w, LRA_CHECK_keep,
                            "the model has no 'keep' input: tokens are cropped or replaced instead "
                            "(flag fallback)");
        return;
    }
    float *plain = ask_hidden(w, row, n, false, &e);
    float *other = plain ? ask_hidden(w, row, n, true, &e) : NULL;
    double difference = other ? lra_check_difference(plain, other, n * C) : 0;
    if (!other)
        fail_asked(w, LRA_CHECK_keep, &e, "");
    else if (difference <= allowed(w, lra_check_size(plain, n * C)))
        lra_check_pass(w, LRA_CHECK_keep, lra_format("largest difference %.2g", difference));
    else
        lra_check_fail(
            w, LRA_CHECK_keep,
            lra_format("replacing hidden tokens changes outputs by %.2g", difference),
            "hidden positions are visible to a layer or to the pool",
            "apply 'keep' as attention mask and as pooling mask, or declare mask=0; tokens "
            "are cropped or replaced instead (flag fallback)",
            "");
    lra_free(plain);
    lra_free(other);
}

/* ---- causal ---------------------------------------------------------------------------------- */

/* Replaces all tokens after the middle. *change: largest change of a feature of the positions up to
 * the middle; *size: largest feature. */
static int compare_causal(lra_check_work *w, const int64_t *row, int64_t n, double *change,
                          double *size, lra_err *e)
{
    lra_check_batch b = lra_check_batch_new(w, row, n, w->s->examples->T);
    int64_t D = w->r->facts.width, T = b.q.T, all = n * b.q.towers;
    lra_rng rng = lra_rng_new(w->s->seed, REPLACED, 3);
    float *before = lra_check_features(w, &b.q, e);
    for (int64_t s = 0; s < all; s++)
        for (int64_t t = b.length[s] / 2 + 1; t < b.length[s]; t++)
            lra_check_replace(w, &b, s, t, &rng);
    float *after = before ? lra_check_features(w, &b.q, e) : NULL;
    *change = *size = 0;
    for (int64_t s = 0; s < all && after; s++) {
        int64_t at = s * T * D, k = (b.length[s] / 2 + 1 < T ? b.length[s] / 2 + 1 : T) * D;
        *change = fmax(*change, lra_check_difference(before + at, after + at, k));
        *size = fmax(*size, lra_check_size(before + at, k));
    }
    int rc = after ? 0 : LRA_FAILED;
    lra_free(before);
    lra_free(after);
    lra_check_batch_free(&b);
    return rc;
}

static void check_causal(lra_check_work *w, const int64_t *row, int64_t n)
{
    lra_err e;
    double change, size;
    bool causal = w->r->facts.causal;
    if (!lra_responder_answers(w->r, LRA_ANSWERS_FEATURES) || w->r->facts.width == 0) {
        lra_check_leave_out(w, LRA_CHECK_causal, "the model does not answer 'features'");
    } else if (compare_causal(w, row, n < 4 ? n : 4, &change, &size, &e) != 0) {
        fail_asked(w, LRA_CHECK_causal, &e, "jacobian field occlusion");
    } else if (causal && change > allowed(w, size)) {
        lra_check_fail(w, LRA_CHECK_causal,
                       lra_format("declared causal; later tokens change features by %.2g, features "
                                  "are up to %.2g",
                                  change, size),
                       "the attention mask or the padding of a convolution is wrong",
                       "correct the mask, or declare causal=0", "jacobian field occlusion");
    } else {
        lra_check_pass(w, LRA_CHECK_causal,
                       lra_format(causal ? "declared causal; largest change %.2g"
                                  : change == 0
                                      ? "declared bidirectional; found causal (change %.2g)"
                                      : "declared bidirectional; later tokens change "
                                        "features by %.2g",
                                  change));
    }
}

/* ---- head ------------------------------------------------------------------------------------ */

static void check_head(lra_check_work *w, const lra_check_batch *b)
{
    lra_err e;
    if (!lra_responder_answers(w->r, LRA_ANSWERS_HEAD)) return;
    if (!lra_responder_answers(w->r, LRA_ANSWERS_FEATURES) || w->r->facts.width == 0) {
        lra_check_leave_out(w, LRA_CHECK_head, "the model does not answer 'features'");
        return;
    }
    int64_t n = b->q.B * w->r->facts.classes;
    float *given = lra_alloc_array((size_t)n, sizeof *given);
    float *plain = lra_check_forward(w, &b->q, &e),
          *h = plain ? lra_check_features(w, &b->q, &e) : NULL;
    if (!h || w->r->is->head(w->r, &b->q, h, given, &e) != 0) {
        fail_asked(w, LRA_CHECK_head, &e, "context");
    } else {
        double difference = lra_check_difference(plain, given, n);
        if (difference <= allowed(w, lra_check_size(plain, n)))
            lra_check_pass(w, LRA_CHECK_head, lra_format("largest difference %.2g", difference));
        else
            lra_check_fail(w, LRA_CHECK_head,
                           lra_format("outputs of the model's own features differ from those of "
                                      "forward by %.2g; outputs are up to %.2g",
                                      difference, lra_check_size(plain, n)),
                           "the features are not those before the pool, or the head has further "
                           "inputs",
                           "name the module after which only the pool and the classifier follow",
                           "context");
    }
    lra_free(given);
    lra_free(plain);
    lra_free(h);
}

/* ---- speed ----------------------------------------------------------------------------------- */

static void check_speed(lra_check_work *w)
{
    lra_err e;
    int64_t row[MOST_TIMED];
    double begin = lra_now();
    for (int64_t n = 1; n <= w->s->batch && n <= MOST_TIMED; n *= 2) {
        for (int64_t i = 0; i < n; i++) row[i] = i % w->s->examples->B;
        lra_check_batch b = lra_check_batch_new(w, row, n, w->s->examples->T);
        double from = lra_now();
        float *logits = lra_check_forward(w, &b.q, &e);
        double rate = (double)n / fmax(lra_now() - from, 1e-9);
        lra_check_batch_free(&b);
        if (!logits) break;
        lra_free(logits);
        if (rate > w->out->examples_per_second)
            w->out->examples_per_second = rate, w->out->best_batch = n;
        if (lra_now() - begin > timed_seconds) break;
    }
    if (w->out->best_batch)
        lra_check_pass(w, LRA_CHECK_speed,
                       lra_format("%.3g examples/s with %lld rows per request",
                                  w->out->examples_per_second, (long long)w->out->best_batch));
    else
        fail_asked(w, LRA_CHECK_speed, &e, "");
}

/* ---- all ------------------------------------------------------------------------------------- */

static int prepare(lra_check_work *w, lra_err *e)
{
    const uint32_t used = LRA_ANSWERS_FORWARD | LRA_ANSWERS_FEATURES | LRA_ANSWERS_VJP |
                          LRA_ANSWERS_HEAD;
    lra_preparation p = {.answers = w->r->facts.answers & used,
                         .exact = true,
                         .draws = 1,
                         .longest = w->s->examples->T + MORE_PADDING};
    if (w->s->longest && p.longest > w->s->longest) p.longest = w->s->longest;
    return w->r->is->prepare ? w->r->is->prepare(w->r, &p, e) : 0;
}

/* Removes the rows of checks that do not apply to the model. */
static void hide_others(lra_check_work *w)
{
    bool maps = lra_responder_answers(w->r, LRA_ANSWERS_ATTENTION);
    bool kernels = lra_responder_answers(w->r, LRA_ANSWERS_KERNELS);
    bool head = lra_responder_answers(w->r, LRA_ANSWERS_HEAD);
    for (int i = LRA_CHECK_maps; i <= LRA_CHECK_head; i++) {
        if (i == LRA_CHECK_head ? head : i == LRA_CHECK_kernels ? kernels : maps) continue;
        lra_free(w->out->row[i].found);
        w->out->row[i].found = NULL;
    }
}

int lra_check_model(lra_responder *r, const lra_check_spec *s, lra_check *out, lra_err *e)
{
    static const char *const labels[] = {
#define LRA_CHECK(id, label) label,
        LRA_CHECKS(LRA_CHECK)
#undef LRA_CHECK
    };
    lra_check_work w = {.r = r, .s = s, .out = out};
    *out = (lra_check){.noise = 0};
    for (int i = 0; i < LRA_N_CHECKS; i++) out->row[i].label = labels[i];
    for (int i = 0; i < LRA_N_CHECKS; i++) lra_check_leave_out(&w, i, "the model does not answer");
    if (s->examples->B < 1) return lra_fail(e, "there are no examples to check the model with");
    int rc = prepare(&w, e);
    if (rc == 0) rc = check_answers(&w, e);
    bool finite = out->row[LRA_CHECK_finite].outcome == LRA_CHECK_PASSED;
    for (int i = LRA_CHECK_finite + 1; i < LRA_N_CHECKS && rc == 0 && !finite; i++)
        lra_check_leave_out(&w, i, "outputs are not finite");
    if (rc == 0 && finite) {
        int64_t row[SEVERAL], n = s->batch < SEVERAL ? s->batch : SEVERAL;
        if (s->examples->B < n) n = s->examples->B;
        for (int64_t i = 0; i < n; i++) row[i] = i;
        lra_check_batch b = lra_check_batch_new(&w, row, n, s->examples->T);
        check_deterministic(&w, &b);
        check_batch(&w, &b, row);
        check_padding(&w, row, n);
        check_keep(&w, row, n);
        check_causal(&w, row, n);
        lra_check_gradient(&w);
        lra_check_attention(&w);
        lra_check_kernels(&w);
        check_head(&w, &b);
        lra_check_accuracy(&w);
        if (s->untimed)
            lra_check_leave_out(&w, LRA_CHECK_speed, "the answers are read from files");
        else
            check_speed(&w);
        lra_check_batch_free(&b);
    }
    hide_others(&w);
    if (r->is->prepare) {
        lra_err ignored;
        if (r->is->prepare(r, NULL, rc == 0 ? e : &ignored) != 0) rc = LRA_FAILED;
    }
    lra_free(w.logits);
    return rc;
}
