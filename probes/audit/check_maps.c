/* Checks attention matrices and kernels (check.h). Rows of four examples are requested, of half
 * their length (unless the model takes inputs of one length alone), so that there is padding: the
 * first two rows and four in the middle. */
#include <math.h>
#include <string.h>

#include "kernels/base/core/mem.h"
#include "probes/audit/check_work.h"
#include "probes/audit/kernel_arrays.h"
#include "probes/shared/map_block.h"

enum { EXAMPLES = 4 };

/* The largest violations over all rows, and the rows with them. */
typedef struct {
    int64_t rows, heads;
    /* sum: largest deviation of a row's sum from 1; negative, padding, future: largest magnitude of
     * a negative weight, of the weights of a row on padding, and on later tokens */
    double sum, negative, padding, future;
    char *bad; /* the first weight that is not finite; NULL: none */
    /* layer, head and row of these values. NULL: none */
    char *worst_sum, *worst_padding, *worst_future, *worst_negative;
} found;

static char *place_of(const char *layer, int64_t head, int64_t i)
{
    return lra_format("layer '%s', head %lld, row %lld", layer, (long long)head, (long long)i);
}

/* If value exceeds *most, sets *most to it and *place to the text "layer .., head .., row ..". */
static void keep_largest(double value, double *most, char **place, const char *layer, int64_t head,
                         int64_t i)
{
    if (!(value > *most)) return;
    *most = value;
    lra_free(*place);
    *place = place_of(layer, head, i);
}

/* Adds row i of an example with n positions: w (P). */
static void add_row(const lra_check_work *c, const char *layer, int64_t head, int64_t i, int64_t n,
                    int64_t P, const float *w, found *f)
{
    double sum = 0, padding = 0, future = 0, negative = 0;
    int64_t keys = 0;
    f->rows++;
    for (int64_t j = 0; j < P; j++) {
        if (w[j] == LRA_MASKED_WEIGHT) continue;
        double x = (double)w[j];
        if (!isfinite(w[j])) {
            char *place = f->bad ? NULL : place_of(layer, head, i);
            if (place) f->bad = lra_format("%s, key %lld: %g", place, (long long)j, x);
            lra_free(place);
            return;
        }
        sum += x, keys++;
        if (j >= n) padding += fabs(x);
        if (j > i && j < n && c->r->facts.causal) future += fabs(x);
        if (-x > negative) negative = -x;
    }
    if (keys && sum != 0) keep_largest(fabs(sum - 1), &f->sum, &f->worst_sum, layer, head, i);
    keep_largest(padding, &f->padding, &f->worst_padding, layer, head, i);
    keep_largest(future, &f->future, &f->worst_future, layer, head, i);
    keep_largest(negative, &f->negative, &f->worst_negative, layer, head, i);
}

static int ask_rows(const lra_check_work *c, const lra_request *q, const char *layer, int64_t from,
                    int64_t to, found *f, lra_err *e)
{
    lra_answer a;
    int rc = c->r->is->attention(c->r, q, layer, from, to, &a, e);
    if (rc != 0) return rc;
    const int64_t *d = a.dims, P = q->T + c->r->facts.prepended;
    rc = lra_map_check_shape(&a, lra_request_sequences(q), to - from, P, e);
    if (from == 0) f->heads += d[1];
    for (int64_t s = 0; s < d[0] && rc == 0; s++) {
        int64_t n = q->length[s] + c->r->facts.prepended;
        for (int64_t h = 0; h < d[1]; h++)
            for (int64_t i = from; i < to && i < n; i++)
                add_row(c, layer, h, i, n, d[3],
                        a.value + ((s * d[1] + h) * d[2] + i - from) * d[3], f);
    }
    lra_free(a.value);
    return rc;
}

/* Requests rows of all layers. */
static int ask_maps(lra_check_work *c, found *f, lra_err *e)
{
    const lra_responder_facts *x = &c->r->facts;
    int64_t row[EXAMPLES], n = c->s->examples->B < EXAMPLES ? c->s->examples->B : EXAMPLES;
    for (int64_t i = 0; i < n; i++) row[i] = i;
    lra_check_batch b = lra_check_batch_new(c, row, n, c->s->examples->T);
    int64_t longest = 1;
    for (int64_t s = 0; s < n * b.q.towers; s++) {
        if (b.length[s] > 1 && !x->fixed_length) b.length[s] /= 2;
        longest = b.length[s] > longest ? b.length[s] : longest;
    }
    int64_t P = b.q.T + x->prepended, middle = longest / 2 > 2 ? longest / 2 : 2;
    int rc = x->n_attention_layers ? 0 : lra_fail(e, "the model names no attention layers");
    for (int k = 0; k < x->n_attention_layers && rc == 0; k++) {
        rc = ask_rows(c, &b.q, x->attention_layer[k], 0, P < 2 ? P : 2, f, e);
        int64_t to = middle + 4 < P ? middle + 4 : P;
        if (rc == 0 && middle < to) rc = ask_rows(c, &b.q, x->attention_layer[k], middle, to, f, e);
    }
    lra_check_batch_free(&b);
    return rc;
}

static void judge_values(lra_check_work *c, const found *f)
{
    static const char usual[] = "a row without any visible key, or scores instead of weights";
    bool signs = c->r->facts.row_sums == LRA_ROWS_ONE && f->negative > lra_map_tolerance;
    if (f->bad)
        lra_check_fail(c, LRA_CHECK_map_values, lra_copy_text(f->bad), usual,
                       "return the weights after the softmax, in float32", "attention");
    else if (signs)
        lra_check_fail(c, LRA_CHECK_map_values,
                       lra_format("%s: a weight of %.3g", f->worst_negative, -f->negative),
                       "scores instead of weights, or signed weights",
                       "return the weights after the softmax; or use --renormalise (Python: "
                       "renormalise=True), which measures magnitudes",
                       "attention");
    else
        lra_check_pass(
            c, LRA_CHECK_map_values,
            lra_format("all weights are finite%s", f->negative > 0 ? "" : ", none is negative"));
}

static void judge_sums(lra_check_work *c, const found *f)
{
    if (c->r->facts.row_sums != LRA_ROWS_ONE)
        lra_check_pass(c, LRA_CHECK_map_sums,
                       lra_format("declared: any sum; rows are divided by it (largest deviation "
                                  "from 1: %.2g)",
                                  f->sum));
    else if (f->sum <= lra_map_tolerance)
        lra_check_pass(c, LRA_CHECK_map_sums, lra_format("largest deviation from 1: %.2g", f->sum));
    else
        lra_check_fail(c, LRA_CHECK_map_sums,
                       lra_format("%s: the sum differs from 1 by %.3g", f->worst_sum, f->sum),
                       "scores instead of weights, a mean or sum over heads, or weights that are "
                       "not normalised (linear attention, gates)",
                       "return the weights after the softmax; or use --renormalise (Python: "
                       "renormalise=True)",
                       "attention");
}

static void judge_mask(lra_check_work *c, const found *f)
{
    bool causal = c->r->facts.causal;
    if (f->padding > lra_map_tolerance)
        lra_check_fail(c, LRA_CHECK_map_mask,
                       lra_format("%s: weight %.3g on padding", f->worst_padding, f->padding),
                       "the model ignores 'length' in its attention",
                       "mask positions >= length in the attention", "attention");
    else if (f->future > lra_map_tolerance)
        lra_check_fail(c, LRA_CHECK_map_mask,
                       lra_format("declared causal; %s: weight %.3g on later tokens",
                                  f->worst_future, f->future),
                       "the attention mask is wrong, or rows and columns are exchanged",
                       "row = query, column = key; correct the mask, or declare causal=0",
                       "attention");
    else if (c->r->facts.fixed_length && !causal)
        lra_check_leave_out(c, LRA_CHECK_map_mask,
                            "the model takes inputs of one length alone, and is not causal");
    else
        lra_check_pass(c, LRA_CHECK_map_mask,
                       lra_format(causal ? "largest weight on padding %.2g, on later tokens %.2g"
                                         : "largest weight on padding %.2g",
                                  f->padding, f->future));
}

void lra_check_attention(lra_check_work *c)
{
    lra_err e;
    found f = {.rows = 0};
    if (!lra_responder_answers(c->r, LRA_ANSWERS_ATTENTION)) return;
    int rc = ask_maps(c, &f, &e);
    if (rc == LRA_ABSENT) { /* not supported, or no answer in the folder of a plan */
        for (int i = LRA_CHECK_maps; i <= LRA_CHECK_map_mask; i++) lra_check_leave_out(c, i, e.msg);
    } else if (rc != 0) {
        lra_check_fail(
            c, LRA_CHECK_maps, lra_copy_text(e.msg),
            "the matrices of other inputs, without batch or heads, or of other positions "
            "(patches)",
            "return (batch, heads, rows, positions) for the inputs of the request", "attention");
        for (int i = LRA_CHECK_map_values; i <= LRA_CHECK_map_mask; i++)
            lra_check_leave_out(c, i, "there are no attention maps");
    } else {
        lra_check_pass(c, LRA_CHECK_maps,
                       lra_format("%d layers, %lld heads, %lld rows tried",
                                  c->r->facts.n_attention_layers, (long long)f.heads,
                                  (long long)f.rows));
        judge_values(c, &f);
        judge_sums(c, &f);
        judge_mask(c, &f);
        if (f.bad) {
            lra_check_leave_out(c, LRA_CHECK_map_sums, "weights are not finite");
            lra_check_leave_out(c, LRA_CHECK_map_mask, "weights are not finite");
        }
    }
    char *text[] = {f.bad, f.worst_sum, f.worst_padding, f.worst_future, f.worst_negative};
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) lra_free(text[i]);
}

void lra_check_kernels(lra_check_work *c)
{
    const lra_responder_facts *x = &c->r->facts;
    lra_err e;
    int64_t channels = 0, zero = 0;
    if (!lra_responder_answers(c->r, LRA_ANSWERS_KERNELS)) return;
    int rc = x->n_kernel_layers ? 0 : lra_fail(&e, "the model names no layers with kernels");
    for (int k = 0; k < x->n_kernel_layers && rc == 0; k++) {
        lra_kernels_answer a;
        rc = c->r->is->kernels(c->r, x->kernel_layer[k], c->s->examples->T, &a, &e);
        if (rc != 0) break;
        int64_t n = a.components * (a.behind + a.ahead);
        for (int64_t i = 0; i < a.channels; i++) {
            bool any = false;
            for (int64_t j = 0; j < n; j++) any = any || a.value[i * n + j] != 0;
            channels++, zero += !any;
        }
        lra_kernels_answer_free(&a);
    }
    if (rc == LRA_ABSENT)
        lra_check_leave_out(c, LRA_CHECK_kernels, e.msg);
    else if (rc != 0)
        lra_check_fail(c, LRA_CHECK_kernels, lra_copy_text(e.msg),
                       "another array than the kernel of a convolution, or a model that diverged",
                       "return (channels, lags) with lag 0 first, in float32", "kernels");
    else if (zero == channels)
        lra_check_fail(c, LRA_CHECK_kernels, lra_format("all %lld kernels are 0", (long long)zero),
                       "a buffer that is filled by the first call", "call the model before",
                       "kernels");
    else
        lra_check_pass(c, LRA_CHECK_kernels,
                       lra_format("%d layers, %lld channels, %lld of them 0", x->n_kernel_layers,
                                  (long long)channels, (long long)zero));
}
